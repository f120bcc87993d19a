# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running ranges: what one call of a compressed step leaves to the next."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jax import export
from jax.extend.mlir import ir
from jax.interpreters import mlir as jax_mlir

from act import stablehlo
from act.errors import ActStepError

#: Attribute of the arguments and results of `main` that are such a state.
_ATTRIBUTE = "act.range"


@dataclasses.dataclass(frozen=True)
class RangeState:
    """The running ranges of one saved value.

    Attributes:
        name: names the value; the same whenever the step is traced again.
        shape: (2, indices), with a leading axis for each loop whose iterations
            have ranges of their own. Row 0 of the last two axes holds widths, row
            1 minima, f32.
    """

    name: str
    shape: tuple[int, ...]

    @property
    def struct(self) -> jax.ShapeDtypeStruct:
        """Shape and element type."""
        return jax.ShapeDtypeStruct(self.shape, jnp.float32)

    def initial(self) -> jax.Array:
        """Returns ranges that have seen nothing: all NaN."""
        return jnp.full(self.shape, jnp.nan, jnp.float32)


def range_states(text: str) -> tuple[RangeState, ...]:
    """Returns the states that a rewritten step takes behind its own arguments.

    Args:
        text: the module that act-opt made.
    """
    if f"{_ATTRIBUTE} =" not in text:
        return ()
    with jax_mlir.make_ir_context(), ir.Location.unknown():
        module = stablehlo.parse_module(text)  # owns the operations
        main = stablehlo.main_function(module)
        kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
        attributes = map(ir.DictAttr, ir.ArrayAttr(main.attributes["arg_attrs"]))
        return tuple(
            RangeState(
                ir.StringAttr(named[_ATTRIBUTE]).value, stablehlo.struct_of(t).shape
            )
            for t, named in zip(kind.inputs, attributes, strict=True)
            if _ATTRIBUTE in named
        )


def with_states(
    exported: export.Exported, text: str, states: tuple[RangeState, ...]
) -> export.Exported:
    """Returns `exported` with another module that also takes and returns states.

    With states, the arguments and results are flat: the leaves of those of
    `exported`, then the states.

    Args:
        exported: gives the calling convention for all but the states.
        text: the module.
        states: those it takes, in order.
    """
    replaced = stablehlo.with_module(exported, text)
    if not states:
        return replaced
    avals = tuple(jax.core.ShapedArray(s.shape, jnp.float32) for s in states)
    unknown = (None,) * len(states)
    first = len(exported.in_avals)
    added = tuple(range(first, first + len(states)))
    results = len(exported.out_avals) + len(states)
    return dataclasses.replace(
        replaced,
        in_tree=jax.tree.structure(((*range(first), *added), {})),
        in_avals=(*exported.in_avals, *avals),
        _in_named_shardings=(*exported._in_named_shardings, *unknown),
        in_shardings_hlo=(*exported.in_shardings_hlo, *unknown),
        out_tree=jax.tree.structure(tuple(range(results))),
        out_avals=(*exported.out_avals, *avals),
        _out_named_shardings=(*exported._out_named_shardings, *unknown),
        out_shardings_hlo=(*exported.out_shardings_hlo, *unknown),
        module_kept_var_idx=(*exported.module_kept_var_idx, *added),
    )


def stateful(
    flat: Callable,
    states: tuple[RangeState, ...],
    results: jax.tree_util.PyTreeDef,
) -> Callable:
    """Returns a step that takes and returns its ranges by name.

    Args:
        flat: takes the leaves of arguments, then states; returns the leaves of
            results, then states. Without states it has the trees of the original.
        states: those it takes.
        results: the structure of the original's results.
    """

    def call(ranges: Mapping[str, jax.Array], *args: Any, **kwargs: Any) -> Any:
        leaves = jax.tree.leaves((args, kwargs))
        returned = jax.tree.leaves(flat(*leaves, *(ranges[s.name] for s in states)))
        count = len(returned) - len(states)
        names = [state.name for state in states]
        return (
            jax.tree.unflatten(results, returned[:count]),
            dict(zip(names, returned[count:], strict=True)),
        )

    return call


def check_ranges(
    ranges: Mapping[str, jax.Array], states: tuple[RangeState, ...]
) -> None:
    """Checks that ranges are those of a step.

    Raises:
        ActStepError: a name, shape or element type is another one.
    """
    if not isinstance(ranges, Mapping):
        raise ActStepError(
            "ranges must be what step.init_ranges or a step before returned, a "
            f"mapping of names to arrays, got {type(ranges).__name__}"
        )
    expected = {state.name: state for state in states}
    if ranges.keys() != expected.keys():
        missing = ", ".join(sorted(expected.keys() - ranges.keys())) or "none"
        unknown = ", ".join(sorted(map(str, ranges.keys() - expected.keys()))) or "none"
        raise ActStepError(
            "ranges are those of another step or of other shapes: call "
            f"step.init_ranges with these arguments (missing: {missing}; unknown: "
            f"{unknown})"
        )
    for name, state in expected.items():
        got = jax.typeof(ranges[name])
        if got.shape != state.shape or got.dtype != jnp.float32:
            raise ActStepError(
                f"ranges[{name!r}] must be float32{list(state.shape)}, got "
                f"{got.dtype}{list(got.shape)}"
            )
