# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small programs of StableHLO operations, in generic form."""

import dataclasses
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

#: Element types of MLIR by names of dtypes.
ELEMENTS = {
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
}


@dataclasses.dataclass(frozen=True)
class Value:
    """A value of a program: its name, shape and the name of its dtype."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def type(self) -> str:
        """The MLIR type."""
        return tensor_type(self.dtype, self.shape)


def tensor_type(dtype: str, shape: Sequence[int]) -> str:
    """Returns the MLIR type of arrays."""
    return f"tensor<{''.join(f'{size}x' for size in shape)}{ELEMENTS[dtype]}>"


def integers(values: Sequence[int]) -> str:
    """Returns an attribute that lists integers."""
    return f"array<i64: {', '.join(map(str, values))}>" if len(values) else "array<i64>"


class Program:
    """Builds the function `main`."""

    def __init__(self):
        self.arguments: list[Value] = []
        self.lines: list[str] = []
        self.results: list[Value] = []
        self._count = 0

    def fresh(self) -> str:
        """Returns a new name."""
        self._count += 1
        return f"%v{self._count}"

    def argument(self, dtype: str, shape: Sequence[int]) -> Value:
        """Adds an argument."""
        value = Value(self.fresh(), dtype, tuple(shape))
        self.arguments.append(value)
        return value

    def add(
        self,
        name: str,
        operands: Sequence[Value],
        results: Sequence[tuple[str, Sequence[int]]],
        attributes: str = "",
        regions: Sequence[str] = (),
    ) -> list[Value]:
        """Adds an operation.

        Args:
            name: with the prefix of the dialect.
            operands: its operands.
            results: dtypes and shapes of the results.
            attributes: text inside of <{...}>.
            regions: texts of regions, as `region` makes them.
        """
        first = self.fresh()
        names = [f"{first}_{i}" for i in range(len(results))]
        values = [
            Value(n, d, tuple(s)) for n, (d, s) in zip(names, results, strict=True)
        ]
        text = f'{", ".join(names)} = "{name}"({", ".join(v.name for v in operands)})'
        if attributes:
            text += f" <{{{attributes}}}>"
        if regions:
            text += f" ({', '.join(regions)})"
        kinds = ", ".join(v.type for v in operands)
        self.lines.append(
            f"{text} : ({kinds}) -> ({', '.join(v.type for v in values)})"
        )
        return values

    def region(self, arguments: Sequence[Value], lines: str, results: str) -> str:
        """Returns a region.

        Args:
            arguments: of its block.
            lines: its operations.
            results: operands and types of its return: "%a : tensor<f32>".
        """
        header = ", ".join(f"{v.name}: {v.type}" for v in arguments)
        block = f"^bb0({header}):\n" if arguments else ""
        names, _, kinds = results.partition(" : ")
        return f'{{\n{block}{lines}\n"stablehlo.return"({names}) : ({kinds}) -> ()\n}}'

    def combiner(self, name: str, dtype: str) -> str:
        """Returns a region that applies a binary operation to two scalars."""
        a, b = (Value(self.fresh(), dtype, ()) for _ in range(2))
        result = self.fresh()
        line = f'{result} = "stablehlo.{name}"({a.name}, {b.name})'
        line += f" : ({a.type}, {a.type}) -> {a.type}"
        return self.region([a, b], line, f"{result} : {a.type}")

    def output(self, *values: Value) -> None:
        """Makes values results of the program."""
        self.results += values

    def text(self) -> str:
        """Returns the module."""
        header = ", ".join(f"{v.name}: {v.type}" for v in self.arguments)
        kinds = ", ".join(v.type for v in self.arguments)
        outs = ", ".join(v.type for v in self.results)
        lines = "\n".join(self.lines)
        return f"""
"builtin.module"() ({{
  "func.func"() <{{function_type = ({kinds}) -> ({outs}), sym_name = "main",
                   sym_visibility = "public"}}> ({{
  ^bb0({header}):
{lines}
    "func.return"({", ".join(v.name for v in self.results)}) : ({outs}) -> ()
  }}) : () -> ()
}}) {{mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32}} : () -> ()
"""


def random_array(
    generator: np.random.Generator, dtype: str, shape: Sequence[int]
) -> np.ndarray:
    """Draws numbers of which no sum or product overflows."""
    kind = jnp.dtype(dtype)
    if dtype == "bool":
        return generator.integers(0, 2, shape).astype(kind)
    if kind.kind in "iu":
        return generator.integers(0 if kind.kind == "u" else -9, 10, shape).astype(kind)
    return generator.standard_normal(shape).astype(kind)


def special_array(dtype: str) -> np.ndarray:
    """Returns numbers at which functions are apt to go wrong, in one dimension."""
    kind = jnp.dtype(dtype)
    if dtype == "bool":
        return np.array([False, True])
    if kind.kind in "iu":
        info = jnp.iinfo(kind)
        bits = info.bits
        values = [info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 3, 5, 7]
        values += [bits - 1, bits, bits + 1, 100]
        if kind.kind == "i":
            values += [-1, -2, -3, -7]
        return np.array(values, kind)
    info = jnp.finfo(kind)
    values = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 0.1, 7.3, 88.0, 1e4, 1e-3, 300.7]
    values += [float(info.max), float(info.tiny), np.inf]
    values = [sign * value for value in values for sign in (1, -1)] + [np.nan]
    with np.errstate(over="ignore"):
        return np.array(values, kind)
