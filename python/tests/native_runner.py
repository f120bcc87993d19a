# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs StableHLO text natively, and by XLA for comparison."""

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import jax
import numpy as np
from jax.extend.mlir import ir
from jax.interpreters import mlir as jax_mlir

from act import stablehlo, tool
from act.file_step import x64_if_needed


def run_native(
    text: str, arguments: Sequence[np.ndarray], *options: str
) -> list[np.ndarray]:
    """Compiles `main` of a module by act, without XLA, and executes it.

    Args:
        text: a module of StableHLO in generic form.
        arguments: one array per argument.
        options: further options of act-run.

    Returns:
        One array per result.
    """
    with jax_mlir.make_ir_context(), ir.Location.unknown():
        signature = stablehlo.signature(ir.Module.parse(text))
    with tempfile.TemporaryDirectory() as directory:
        step, inputs, outputs = (
            Path(directory) / name for name in ("step.mlir", "in.npz", "out.npz")
        )
        step.write_text(text)
        values = {
            f"arg_{number}": np.array(value, dtype=struct.dtype, order="C")
            for number, (value, struct) in enumerate(
                zip(arguments, signature.arguments, strict=True)
            )
        }
        np.savez(inputs, **values)
        command = [tool.find_tool("act-run"), step, "--args", inputs]
        done = subprocess.run(
            [*command, "--results", outputs, *options],
            capture_output=True,
            text=True,
            timeout=300,
        )
        if done.returncode != 0:
            raise RuntimeError(f"act-run failed:\n{done.stderr[:3000]}")
        with np.load(outputs) as results:
            return [
                results[f"result_{number}"].view(struct.dtype)
                for number, struct in enumerate(signature.results)
            ]


def run_xla(text: str, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Compiles and calls the same module by JAX."""
    with jax_mlir.make_ir_context(), ir.Location.unknown():
        signature = stablehlo.signature(stablehlo.parse_module(text))
    with x64_if_needed(signature):
        stub = stablehlo.stub_export(signature, "step")
        step = stablehlo.with_module(stub, text)
        return [np.asarray(value) for value in jax.jit(step.call)(*arguments)]


def lower_text(function, *structs: jax.ShapeDtypeStruct) -> str:
    """Returns the StableHLO of a JAX function, in generic form."""
    module = jax.jit(function, keep_unused=True).lower(*structs).compiler_ir()
    return module.operation.get_asm(print_generic_op_form=True)


def check_results(
    got: list[np.ndarray], expected: list[np.ndarray], tolerance: float
) -> None:
    """Integers are the same; floats within `tolerance` of the size of each result.

    Gradients that vanish but for rounding have no direction, and are left out.
    """
    pairs = []
    for a, b in zip(got, expected, strict=True):
        b = np.asarray(b)
        assert a.dtype == b.dtype
        assert a.shape == b.shape
        if a.dtype.kind in "biu":
            np.testing.assert_array_equal(a, b)
        else:
            pairs.append((a.astype(np.float64), b.astype(np.float64)))
    largest = max(np.abs(b).max(initial=0) for _, b in pairs)
    errors = [
        np.linalg.norm(a - b) / np.linalg.norm(b)
        for a, b in pairs
        if np.abs(b).max(initial=0) > 1e-6 * min(largest, 1)
    ]
    assert len(errors) >= len(pairs) // 2
    assert max(errors) < tolerance
