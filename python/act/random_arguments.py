# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random arguments of the right kind for a step known only as StableHLO.

What an argument stands for is read off its uses: an integer that selects rows
must stay below their number, a value whose root is taken must not be negative,
a weight should keep the variance of what it is multiplied with.
"""

import dataclasses
import math
import re
from collections.abc import Iterator

import jax
import numpy as np
from jax.extend.mlir import ir

from act.stablehlo import main_function, signature

#: Operations that hand the elements of their first operand on unchanged.
_VIEWS = frozenset(
    {
        "sdy.sharding_constraint",
        "stablehlo.bitcast_convert",
        "stablehlo.broadcast_in_dim",
        "stablehlo.convert",
        "stablehlo.dynamic_slice",
        "stablehlo.optimization_barrier",
        "stablehlo.reduce_precision",
        "stablehlo.reshape",
        "stablehlo.reverse",
        "stablehlo.slice",
        "stablehlo.transpose",
    }
)
#: Operations through which an index, or an index plus a constant, passes.
_INDEX_STEPS = _VIEWS | {
    "stablehlo.add",
    "stablehlo.and",
    "stablehlo.clamp",
    "stablehlo.concatenate",
    "stablehlo.maximum",
    "stablehlo.minimum",
    "stablehlo.remainder",
    "stablehlo.select",
    "stablehlo.subtract",
}
#: Operations whose result is non-negative if their operands are.
_SIGN_STEPS = _VIEWS | {
    "stablehlo.add",
    "stablehlo.concatenate",
    "stablehlo.divide",
    "stablehlo.maximum",
    "stablehlo.multiply",
    "stablehlo.power",
    "stablehlo.select",
}
_ROOTS = frozenset({"stablehlo.sqrt", "stablehlo.rsqrt", "stablehlo.log"})
_MAX_VISITED = 4000
_DEFAULT_INDEX_BOUND = 2
_STATE_SCALE = 1e-2


@dataclasses.dataclass(frozen=True)
class ArgumentKind:
    """How to draw one argument.

    Attributes:
        role: "weight", "scale", "state", "second moment", "data", "index",
            "counter", "key" or "mask"; for messages and tests.
        mean: of the normal distribution floats are drawn from.
        deviation: of the same.
        bound: integers are drawn from [0, bound).
    """

    role: str
    mean: float = 0.0
    deviation: float = 1.0
    bound: int = _DEFAULT_INDEX_BOUND


def random_arguments(
    module: ir.Module, seed: int
) -> tuple[tuple[np.ndarray, ...], tuple[ArgumentKind, ...]]:
    """Draws one value per argument of `main`.

    Args:
        module: the step.
        seed: of the generator; the same seed gives the same values.

    Returns:
        The values and how each was drawn.
    """
    kinds = argument_kinds(module)
    generator = np.random.default_rng(seed)
    structs = signature(module).arguments
    values = tuple(
        _draw(generator, struct, kind)
        for struct, kind in zip(structs, kinds, strict=True)
    )
    return values, kinds


def argument_kinds(module: ir.Module) -> tuple[ArgumentKind, ...]:
    """Tells for each argument of `main` how to draw it."""
    uses = _Uses(module)
    main = main_function(module)
    return tuple(
        _kind(struct, value, uses)
        for struct, value in zip(
            signature(module).arguments,
            main.regions[0].blocks[0].arguments,
            strict=True,
        )
    )


def _draw(
    generator: np.random.Generator, struct: jax.ShapeDtypeStruct, kind: ArgumentKind
) -> np.ndarray:
    """Draws a value of the given shape, element type and kind."""
    dtype = np.dtype(struct.dtype)
    if kind.role == "mask":
        return generator.integers(0, 2, struct.shape).astype(np.bool_)
    if kind.role == "key":
        bits = 8 * dtype.itemsize
        return generator.integers(0, 2**bits, struct.shape, np.uint64).astype(dtype)
    if kind.role == "counter":
        return np.ones(struct.shape, dtype)
    if kind.role == "index":
        return generator.integers(0, kind.bound, struct.shape).astype(dtype)
    values = generator.standard_normal(struct.shape)
    if dtype.kind == "c":
        values = values + 1j * generator.standard_normal(struct.shape)
    values = kind.mean + kind.deviation * values
    return (np.abs(values) if kind.role == "second moment" else values).astype(dtype)


def _kind(struct: jax.ShapeDtypeStruct, value: ir.Value, uses: "_Uses") -> ArgumentKind:
    dtype = np.dtype(struct.dtype)
    if dtype == np.bool_:
        return ArgumentKind("mask")
    if dtype in (np.uint32, np.uint64):
        return ArgumentKind("key")
    if np.issubdtype(dtype, np.integer) or dtype.name in ("int4", "uint4"):
        bound = _index_bound(value, uses)
        if bound is None and not struct.shape:
            return ArgumentKind("counter")
        limit = 2 ** (7 if dtype.itemsize == 1 else 15)
        return ArgumentKind("index", bound=min(bound or _DEFAULT_INDEX_BOUND, limit))
    if any(user.name in _ROOTS for user, _ in uses.reached(value, _SIGN_STEPS)):
        return ArgumentKind("second moment", deviation=_STATE_SCALE**2)
    return _float_kind(struct, value, uses)


def _float_kind(
    struct: jax.ShapeDtypeStruct, value: ir.Value, uses: "_Uses"
) -> ArgumentKind:
    """Classifies a float argument by what first computes with it."""
    scaled_by_constant = False
    users = uses.reached(value, _VIEWS | {"stablehlo.concatenate"})
    # In program order: what forward does with a weight comes before its gradient.
    for user, operand in sorted(users, key=lambda use: uses.position(use[0])):
        if user.name == "stablehlo.concatenate":
            continue
        if user.name == "stablehlo.dot_general":
            size = _contracted_size(user, operand)
            return ArgumentKind("weight", deviation=1 / math.sqrt(size))
        if user.name == "stablehlo.convolution":
            if operand == 0:
                return ArgumentKind("data")
            return ArgumentKind("weight", deviation=math.sqrt(2 / _fan_in(user)))
        if user.name in ("stablehlo.multiply", "stablehlo.divide"):
            if _is_constant(user.operands[1 - operand]):
                scaled_by_constant = True
            elif len(struct.shape) <= 1:
                return ArgumentKind("scale", mean=1.0, deviation=0.1)
        if user.name == "stablehlo.gather" and operand == 0:
            return ArgumentKind("weight", deviation=0.5)
    if scaled_by_constant:
        return ArgumentKind("state", deviation=_STATE_SCALE)
    return ArgumentKind("data", deviation=0.1 if len(struct.shape) <= 1 else 1.0)


def _index_bound(value: ir.Value, uses: "_Uses") -> int | None:
    """Returns below what an integer must stay, None if nothing says so."""
    bounds = []
    for user, operand in uses.reached(value, _INDEX_STEPS):
        if user.name in ("stablehlo.gather", "stablehlo.scatter") and operand == 1:
            shape = ir.RankedTensorType(user.operands[0].type).shape
            bounds += [shape[d] for d in _indexed_dimensions(user)]
        elif user.name == "stablehlo.compare" and _comes_from_iota(
            user.operands[1 - operand]
        ):
            bounds.append(ir.RankedTensorType(user.results[0].type).shape[-1])
    return min((bound for bound in bounds if bound > 1), default=None)


def _indexed_dimensions(user: ir.Operation) -> list[int]:
    """Returns the dimensions that a gather's or scatter's indices select."""
    text = str(
        user.attributes[
            "dimension_numbers"
            if user.name == "stablehlo.gather"
            else "scatter_dimension_numbers"
        ]
    )
    match = re.search(
        r"(?:start_index_map|scatter_dims_to_operand_dims) = \[([\d, ]*)\]", text
    )
    return [int(d) for d in match[1].split(",")] if match and match[1] else []


def _contracted_size(user: ir.Operation, operand: int) -> int:
    """Returns the number of products a dot_general adds up."""
    side = ("lhs", "rhs")[operand]
    text = str(user.attributes["dot_dimension_numbers"])
    match = re.search(rf"{side}_contracting_dimensions = \[([\d, ]*)\]", text)
    shape = ir.RankedTensorType(user.operands[operand].type).shape
    dimensions = [int(d) for d in match[1].split(",")] if match else []
    return max(1, math.prod(shape[d] for d in dimensions))


def _fan_in(user: ir.Operation) -> int:
    """Returns the number of products per output element of a convolution."""
    shape = ir.RankedTensorType(user.operands[1].type).shape
    text = str(user.attributes["dimension_numbers"])
    kernel = re.search(r"x\[([^\]]*)\]", text)
    labels = [label.strip() for label in kernel[1].split(",")] if kernel else []
    outputs = shape[labels.index("o")] if "o" in labels else shape[-1]
    return max(1, math.prod(shape) // max(1, outputs))


def _is_constant(value: ir.Value) -> bool:
    """Tells whether a value is a constant, seen through views."""
    return _producer(value) == "stablehlo.constant"


def _comes_from_iota(value: ir.Value) -> bool:
    return _producer(value) == "stablehlo.iota"


def _producer(value: ir.Value) -> str:
    """Returns the name of what makes a value, seen through views."""
    while isinstance(value.owner, ir.OpView | ir.Operation):
        operation = value.owner
        if operation.name not in _VIEWS or len(operation.operands) == 0:
            return operation.name
        value = operation.operands[0]
    return ""


class _Uses:
    """Follows values forward, through calls and into loops."""

    def __init__(self, module: ir.Module) -> None:
        self._functions: dict[str, ir.Operation] = {}
        self._calls: dict[str, list[ir.Operation]] = {}
        self._positions: dict[ir.Operation, int] = {}
        for function in module.body:
            if function.operation.name == "func.func":
                name = ir.StringAttr(function.attributes["sym_name"]).value
                self._functions[name] = function.operation
                self._record(function.operation)

    def _record(self, operation: ir.Operation) -> None:
        """Notes the order of operations and the calls of each function."""
        for region in operation.regions:
            for block in region:
                for inner in block:
                    self._positions[inner.operation] = len(self._positions)
                    if inner.operation.name == "func.call":
                        callee = _callee(inner.operation)
                        self._calls.setdefault(callee, []).append(inner.operation)
                    self._record(inner.operation)

    def position(self, operation: ir.Operation) -> int:
        """Returns where an operation stands in the text of the module."""
        return self._positions[operation]

    def reached(
        self, value: ir.Value, steps: frozenset[str]
    ) -> Iterator[tuple[ir.Operation, int]]:
        """Yields users of a value, and of what `steps` make of it.

        Args:
            value: where to start.
            steps: operations whose results are followed too.

        Yields:
            A user that is no view, call or return, and the operand's number.
        """
        waiting = [value]
        seen = {value}
        while waiting and len(seen) < _MAX_VISITED:
            for use in waiting.pop(0).uses:
                user, number = use.owner.operation, use.operand_number
                follow = list(self._targets(user, number))
                if user.name in steps:
                    follow += user.results
                if (
                    user.name not in _VIEWS and not follow
                ) or user.name in steps - _VIEWS:
                    yield user, number
                for target in follow:
                    if target not in seen:
                        seen.add(target)
                        waiting.append(target)

    def _targets(self, user: ir.Operation, number: int) -> Iterator[ir.Value]:
        """Yields the values that become an operand across a region or call."""
        if user.name == "func.call":
            yield self._functions[_callee(user)].regions[0].blocks[0].arguments[number]
        elif user.name == "func.return":
            function = user.parent.operation
            name = ir.StringAttr(function.attributes["sym_name"]).value
            for call in self._calls.get(name, ()):
                yield call.results[number]
        elif user.name == "stablehlo.while":
            for region in user.regions:
                yield region.blocks[0].arguments[number]


def _callee(call: ir.Operation) -> str:
    return ir.FlatSymbolRefAttr(call.attributes["callee"]).value
