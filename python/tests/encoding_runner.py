# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs saves and loads that act-opt has lowered, on XLA."""

import dataclasses
import functools
import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import export
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func

from act import stablehlo

_NAMES = {
    np.dtype(np.float64): "f64",
    np.dtype(np.float32): "f32",
    np.dtype(np.float16): "f16",
    np.dtype(ml_dtypes.bfloat16): "bf16",
    np.dtype(np.bool_): "i1",
    np.dtype(np.int8): "i8",
    np.dtype(np.int16): "i16",
    np.dtype(np.int32): "i32",
    np.dtype(np.int64): "i64",
    np.dtype(np.uint16): "ui16",
    np.dtype(np.uint32): "ui32",
}


@dataclasses.dataclass(frozen=True)
class Save:
    """A tensor to be saved: `encoding` as in `#act.ENCODING`."""

    shape: tuple[int, ...]
    dtype: np.dtype
    encoding: str
    id: int = 0

    @property
    def tensor(self) -> str:
        """The tensor type, as MLIR spells it."""
        sizes = "".join(f"{size}x" for size in self.shape)
        return f"tensor<{sizes}{_NAMES[np.dtype(self.dtype)]}>"

    @property
    def compressed(self) -> str:
        """The compressed type."""
        return f"!act.compressed<{self.tensor}, #act.{self.encoding}>"


@dataclasses.dataclass(frozen=True)
class Loaded:
    """What one save stored, and what its load returned."""

    storage: tuple[np.ndarray, ...]
    value: np.ndarray


def act_opt() -> Path:
    """The act-opt under test: $ACT_OPT or the one in build/."""
    default = Path(__file__).parents[2] / "build" / "bin" / "act-opt"
    return Path(os.environ.get("ACT_OPT", default))


def lower(text: str, seed: int = 0) -> str:
    """Lowers a module's act operations; returns generic text."""
    command = [
        act_opt(),
        "--mlir-print-op-generic",
        f"--convert-act-to-stablehlo=seed={seed}",
    ]
    return subprocess.run(
        command, input=text, capture_output=True, text=True, check=True
    ).stdout


def round_trip(saves: Sequence[Save]) -> str:
    """A module whose main saves every argument and loads it again.

    A barrier that waits for all saves and one more argument, `%gate`, stands
    between, as the boundary between forward and backward does in a step.
    """
    n = range(len(saves))
    arguments = [f"%x{i}: {saves[i].tensor}" for i in n] + ["%gate: tensor<f32>"]
    tensors = ", ".join(save.tensor for save in saves)
    lines = [f"func.func public @main({', '.join(arguments)}) -> ({tensors}) {{"]
    lines += [
        f"  %c{i} = act.compressed_save %x{i} {{id = {s.id} : i64}}"
        f" : {s.tensor} to {s.compressed}"
        for i, s in enumerate(saves)
    ]
    lines.append(
        f"  {', '.join(f'%d{i}' for i in n)}, %gate1 = act.barrier"
        f" {', '.join(f'%c{i}' for i in n)}, %gate"
        f" : {', '.join(s.compressed for s in saves)}, tensor<f32>"
    )
    lines += [
        f"  %y{i} = act.dequantize_load %d{i} : {s.compressed} to {s.tensor}"
        for i, s in enumerate(saves)
    ]
    lines.append(f"  return {', '.join(f'%y{i}' for i in n)} : {tensors}\n}}")
    return "\n".join(lines)


def _return_storage(text: str) -> tuple[str, list[int]]:
    """Makes main return what its saves store, too.

    Returns the module and the number of tensors of each save.
    """
    with stablehlo.jax_mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        main = stablehlo.main_function(module)
        block = main.regions[0].blocks[0]
        terminator = block.operations[len(block.operations) - 1]
        calls = [
            op.operation
            for op in block.operations
            if op.operation.name == "func.call"
            and str(op.operation.attributes["callee"]).startswith("@act_save")
        ]
        values = [*terminator.operands, *(r for call in calls for r in call.results)]
        with ir.InsertionPoint(terminator):
            func.ReturnOp(values)
        terminator.erase()
        inputs = [argument.type for argument in block.arguments]
        main.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get(inputs, [value.type for value in values])
        )
        module.operation.verify()
        return str(module), [len(call.results) for call in calls]


def private_function(text: str, prefix: str) -> str:
    """A module whose `main` is the first function of `text` named `prefix`..."""
    with stablehlo.jax_mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        for operation in list(module.body.operations):
            function = operation.operation
            name = ir.StringAttr(function.attributes["sym_name"]).value
            if name.startswith(prefix):
                function.attributes["sym_name"] = ir.StringAttr.get("main")
                function.attributes["sym_visibility"] = ir.StringAttr.get("public")
            else:
                function.erase()
        module.operation.verify()
        return str(module)


def encoder(save: Save) -> Callable:
    """Compiles what one save calls: `(tensor, salt) -> storage`."""
    return compile_module(private_function(lower(round_trip([save])), "act_save"))


def decoder(save: Save) -> Callable:
    """Compiles what one load calls: `(storage...) -> tensor`."""
    return compile_module(private_function(lower(round_trip([save])), "act_load"))


def fused_decoder(save: Save) -> Callable:
    """Compiles a load that another tensor is combined with, element by element."""
    text = private_function(lower(round_trip([save])), "act_load")
    combine = "stablehlo.and" if save.dtype == np.bool_ else "stablehlo.multiply"
    with stablehlo.jax_mlir.make_ir_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        main = stablehlo.main_function(module)
        block = main.regions[0].blocks[0]
        terminator = block.operations[len(block.operations) - 1]
        (value,) = terminator.operands
        factor = block.add_argument(value.type, ir.Location.unknown())
        with ir.InsertionPoint(terminator):
            used = ir.Operation.create(
                combine, results=[value.type], operands=[value, factor]
            )
            func.ReturnOp([used.results[0]])
        terminator.erase()
        inputs = [argument.type for argument in block.arguments]
        main.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get(inputs, [value.type])
        )
        return compile_module(str(module))


def compile_module(text: str) -> Callable:
    """Compiles `main` of a module; returns a function of its arguments."""
    with stablehlo.jax_mlir.make_ir_context(), ir.Location.unknown():
        signature = stablehlo.signature(ir.Module.parse(text))

    def stub(*arguments: jax.Array) -> tuple[jax.Array, ...]:
        return tuple(jnp.zeros(r.shape, r.dtype) for r in signature.results)

    exported = export.export(jax.jit(stub, keep_unused=True))(*signature.arguments)
    step = stablehlo.with_module(exported, text)
    return jax.jit(step.call).lower(*signature.arguments).compile()


@functools.cache
def _compile(saves: tuple[Save, ...], seed: int) -> tuple[Callable, list[int]]:
    text, counts = _return_storage(lower(round_trip(saves), seed))
    return compile_module(text), counts


def run(
    saves: Sequence[Save], tensors: Sequence[np.ndarray], seed: int = 0
) -> list[Loaded]:
    """Saves and loads `tensors` on XLA. Raw saves have no storage of their own."""
    compiled, counts = _compile(tuple(saves), seed)
    outputs = compiled(*tensors, np.float32(0))
    results = [np.asarray(output) for output in outputs]
    values, parts = results[: len(saves)], results[len(saves) :]
    loaded, sizes = [], iter(counts)
    for save, value in zip(saves, values, strict=True):
        count = 0 if save.encoding == "raw" else next(sizes)
        loaded.append(Loaded(tuple(parts[:count]), value))
        parts = parts[count:]
    return loaded


def salt(save_id: int, seed: int = 0) -> int:
    """The salt of a save: splitmix64 of its id and the seed, upper half."""
    mask = 0xFFFFFFFFFFFFFFFF
    state = (seed + (save_id + 1) * 0x9E3779B97F4A7C15) & mask
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & mask
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & mask
    return (state ^ (state >> 31)) >> 32
