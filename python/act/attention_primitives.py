# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX primitives of linear attention: types, evaluation and vmap.

`forward_p` computes output, denominators and final state, `gradient_p` the
gradients of inputs and initial state. Both take and return flat arrays in the order
`Config` names them. How they become code is in `act.attention_lowering`.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching

from act.attention_config import Config, dtype_of, shape_of, sizes_of
from act.errors import ActStepError

forward_p = Primitive("act_linear_attention")
gradient_p = Primitive("act_linear_attention_grad")


def operand_names(primitive: Primitive, config: Config) -> tuple[str, ...]:
    """Returns the names of the operands of a primitive."""
    if primitive is forward_p:
        return config.forward_operands
    return config.gradient_operands


def result_names(primitive: Primitive, config: Config) -> tuple[str, ...]:
    """Returns the names of the results of a primitive."""
    if primitive is forward_p:
        return config.forward_results
    return config.gradient_results


def bind(
    primitive: Primitive, config: Config, operands: Mapping[str, jax.Array]
) -> dict[str, jax.Array]:
    """Applies a primitive to operands by name and returns its results by name."""
    arrays = [operands[name] for name in operand_names(primitive, config)]
    results = primitive.bind(*arrays, config=config)
    return dict(zip(result_names(primitive, config), results, strict=True))


def result_structs(
    primitive: Primitive, config: Config, operands: Sequence[Any]
) -> dict[str, jax.ShapeDtypeStruct]:
    """Returns shape and element type of each result.

    Args:
        primitive: forward or gradient.
        config: of the attention.
        operands: anything with shapes and dtypes, in order.
    """
    names = operand_names(primitive, config)
    shapes = {
        name: tuple(operand.shape)
        for name, operand in zip(names, operands, strict=True)
    }
    sizes = sizes_of(config, shapes)
    return {
        name: jax.ShapeDtypeStruct(
            shape_of(config, name, sizes), dtype_of(name, operands[0].dtype)
        )
        for name in result_names(primitive, config)
    }


def _abstract(primitive: Primitive, *avals: Any, config: Config) -> list[Any]:
    """Types the results; they vary over the manual axes that the queries vary over."""
    structs = result_structs(primitive, config, avals)
    like = avals[0]
    return [
        like.update(
            shape=struct.shape,
            dtype=struct.dtype,
            weak_type=False,
            sharding=_replicated(like.sharding, len(struct.shape)),
        )
        for struct in structs.values()
    ]


def _replicated(sharding: Any, rank: int) -> Any:
    """Returns a sharding of the same mesh with no dimension divided."""
    return sharding.update(spec=jax.sharding.PartitionSpec(*[None] * rank))


@functools.lru_cache(maxsize=256)
def _jitted(primitive: Primitive, config: Config) -> Any:
    """Returns a primitive as a compiled function, for calls outside of jit."""

    def attend(*operands: jax.Array) -> list[jax.Array]:
        return primitive.bind(*operands, config=config)

    attend.__name__ = primitive.name
    return jax.jit(attend)


def _evaluate(
    primitive: Primitive, *operands: jax.Array, config: Config
) -> list[jax.Array]:
    return _jitted(primitive, config)(*operands)


def _batch(
    primitive: Primitive,
    operands: Sequence[jax.Array],
    axes: Sequence[int | None],
    *,
    config: Config,
) -> tuple[list[jax.Array], list[int]]:
    """Folds a mapped axis into the batch."""
    names = operand_names(primitive, config)
    mapped = {
        name: operand if axis is None else jnp.moveaxis(operand, axis, 0)
        for name, operand, axis in zip(names, operands, axes, strict=True)
    }
    is_mapped = {name: axis is not None for name, axis in zip(names, axes, strict=True)}
    if is_mapped.get("features"):
        results = _one_after_another(primitive, config, mapped, is_mapped)
        return results, [0] * len(results)
    count = next(mapped[name].shape[0] for name in names if is_mapped[name])
    # The gradient of a decay per head is summed over the batch, so that the
    # elements of a mapped axis need decays of their own.
    per_token = config.decay == "head" and (
        primitive is gradient_p or is_mapped["decay"]
    )
    inner = config
    if per_token:
        inner = _with_decay_per_token(config)
        batch, length = mapped["q"].shape[-4:-2]
        mapped["decay"] = jnp.broadcast_to(
            mapped["decay"][..., None, None, :],
            (*mapped["decay"].shape[:-1], batch, length, mapped["decay"].shape[-1]),
        )
    folded = {
        name: _fold(array, count, is_mapped[name], inner.dimensions(name))
        for name, array in mapped.items()
    }
    results = bind(primitive, inner, folded)
    unfolded = {
        name: result.reshape(count, -1, *result.shape[1:])
        for name, result in results.items()
    }
    if per_token and "d_decay" in unfolded:
        unfolded["d_decay"] = unfolded["d_decay"].sum((1, 2))
    return list(unfolded.values()), [0] * len(unfolded)


def _fold(array: jax.Array, count: int, is_mapped: bool, dimensions: str) -> jax.Array:
    """Makes a leading mapped axis part of the batch, if there is a batch."""
    if dimensions[0] != "B":
        return array
    if not is_mapped:
        array = jnp.broadcast_to(array[None], (count, *array.shape))
    return array.reshape(count * array.shape[1], *array.shape[2:])


def _with_decay_per_token(config: Config) -> Config:
    from dataclasses import replace

    return replace(config, decay="token")


def _one_after_another(
    primitive: Primitive,
    config: Config,
    operands: Mapping[str, jax.Array],
    is_mapped: Mapping[str, bool],
) -> list[jax.Array]:
    """Maps over random features in a loop, for all sequences share theirs."""
    constant = {name: a for name, a in operands.items() if not is_mapped[name]}
    moving = {name: a for name, a in operands.items() if is_mapped[name]}

    def attend(slices: dict[str, jax.Array]) -> list[jax.Array]:
        return list(bind(primitive, config, constant | slices).values())

    return jax.lax.map(attend, moving)


def _reject_derivative(*_primals: Any, **_parameters: Any) -> Any:
    raise ActStepError(
        "act.linear_attention can be differentiated once, in reverse mode: by "
        "jax.grad, jax.vjp or jax.value_and_grad"
    )


for _primitive in (forward_p, gradient_p):
    _primitive.multiple_results = True
    _primitive.def_impl(functools.partial(_evaluate, _primitive))
    _primitive.def_abstract_eval(functools.partial(_abstract, _primitive))
    batching.primitive_batchers[_primitive] = functools.partial(_batch, _primitive)
    ad.primitive_jvps[_primitive] = _reject_derivative
