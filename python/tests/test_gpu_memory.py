# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What compressed steps keep in the memory of a GPU: planned bytes, and copies."""

import dataclasses
import re
import subprocess
import sys
from pathlib import Path

import jax
import pytest
from native_runner import lower_text

from act import tool

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import models  # noqa: E402

COMPRESS = "--act-compress=bits=4 codecs=ops primal-results=1"


@dataclasses.dataclass(frozen=True)
class Kernel:
    """An act.kernel.

    Attributes:
        kind: such as "row_program".
        operands: names of its operands outside.
        arguments: the same inside.
        body: its text.
    """

    kind: str
    operands: list[str]
    arguments: list[str]
    body: str

    def outer(self, value: str) -> str | None:
        """The operand that `value` of the body is, None if it is private."""
        if value in self.arguments:
            return self.operands[self.arguments.index(value)]
        return None

    def operations(self) -> list[tuple[str, list[str], list[str]]]:
        """Name, inputs and destinations of each operation on buffers."""
        found = []
        for line in self.body.splitlines():
            name = re.search(r"\b(linalg\.generic|act\.encode|act\.decode)\b", line)
            if name:
                ins, outs = (
                    re.findall(r"%\w+", part[1]) if part else []
                    for part in (
                        re.search(rf"\b{group}\((.*?) :", line)
                        for group in ("ins", "outs")
                    )
                )
                found.append((name[1], ins, outs))
        return found


def lower_gpt(layers: int, **sizes: int) -> str:
    """The step of a GPT of benchmarks/models.py as text."""
    model = models.gpt(layers, 1024, **sizes)
    structs = jax.tree.map(
        lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype),
        (model.parameters, model.batch),
    )
    return lower_text(model.step(), *structs)


def run_passes(text: str, *passes: str) -> str:
    """What act-opt makes of a module."""
    done = subprocess.run(
        [tool.find_tool(), *passes],
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[:3000]
    return done.stdout


def find_kernels(text: str) -> list[Kernel]:
    """All kernels of a module, in order."""
    return [
        Kernel(
            kind,
            re.findall(r"%\w+", operands),
            re.findall(r"(%\w+):", arguments),
            body,
        )
        for kind, operands, arguments, body in re.findall(
            r"^ *act\.kernel +(\w+) \[[\d, ]*\]\((.*?) :.*\{\n"
            r" *\^bb0\((.*)\):\n((?:.*\n)*?)    \}$",
            text,
            re.MULTILINE,
        )
    ]


def find_views(text: str) -> dict[str, str]:
    """The buffer that each view is directly a part of."""
    return dict(
        re.findall(
            r"(%\w+) = memref\.(?:subview|expand_shape|collapse_shape|cast) (%\w+)",
            text,
        )
    )


def test_arena_of_a_deep_gpt():
    text = lower_gpt(6)
    arenas = []
    for passes in ([], [COMPRESS]):
        lowered = run_passes(text, *passes, "--act-to-ptx")
        arenas.append(int(re.search(r"arena_bytes = (\d+)", lowered)[1]))
    plain, compressed = arenas
    assert compressed <= 0.2 * plain


@pytest.fixture(scope="module")
def compressed_gpt() -> str:
    """Kernels of a compressed GPT of three layers."""
    text = lower_gpt(3, width=64, heads=4, length=64, sequences=2)
    return run_passes(text, COMPRESS, "--act-to-kernels")


def test_saves_are_stored_where_they_are_made(compressed_gpt):
    kernels = [k for k in find_kernels(compressed_gpt) if "act.encode" in k.body]
    assert len(kernels) >= 3 * 3
    assert {kernel.kind for kernel in kernels} == {"row_program"}
    for kernel in kernels:
        made = set()
        for name, inputs, outputs in kernel.operations():
            if name == "act.encode":
                assert inputs[0] in made
            made.update(outputs)


def test_saves_are_loaded_where_they_are_used(compressed_gpt):
    """Decoded copies are factors of products, or read by their own row, too.

    The latter have other readers, whose rows are shorter than a group of codes.
    """
    kernels = find_kernels(compressed_gpt)
    views = find_views(compressed_gpt)

    def buffer_of(value: str) -> str:
        while value in views:
            value = views[value]
        return value

    factors = {
        buffer_of(operand)
        for kernel in kernels
        if kernel.kind == "contraction"
        for operand in kernel.operands
    }
    loads = [k for k in kernels if "act.decode" in k.body]
    fused = [kernel for kernel in loads if kernel.kind == "row_program"]
    assert len(fused) >= 3 * 3
    for kernel in loads:
        operations = kernel.operations()
        for number, (name, _, outputs) in enumerate(operations):
            if name != "act.decode":
                continue
            (decoded,) = outputs
            later = operations[number + 1 :]
            overwritten = any(decoded in outputs for _, _, outputs in later)
            outer = kernel.outer(decoded)
            if outer is None or overwritten or kernel.kind == "row_program":
                assert any(decoded in inputs for _, inputs, _ in later)
            else:
                assert buffer_of(outer) in factors
