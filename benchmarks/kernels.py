#!/usr/bin/env python
# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products and convolutions of the step runtime against XLA's, one by one.

    benchmarks/kernels.py [--only gemm,convolution] [--threads N] [--seconds S]
                          [--json FILE]

Both sides run alternately in one process on the same arrays, and their results
must agree. Times are the least of all repetitions, in microseconds; `ratio` is
that of the runtime over that of XLA. A convolution has three rows: forward, the
gradient with respect to its input and that with respect to its weights.
"""

import argparse
import ctypes
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
TYPES = {"float32": 0, "float64": 1, "bfloat16": 2, "float16": 3}

# m, n, k, whether a and b are transposed, batch, type
GEMMS = [
    (4096, 1024, 1024, False, False, 1, "float32"),
    (4096, 1024, 1024, False, True, 1, "float32"),
    (1024, 1024, 4096, True, False, 1, "float32"),
    (2048, 256, 1024, False, False, 1, "float32"),
    (2048, 1024, 256, False, True, 1, "float32"),
    (256, 1024, 2048, True, False, 1, "float32"),
    (256, 256, 32, False, True, 64, "float32"),
    (256, 32, 256, False, False, 64, "float32"),
    (256, 32, 256, True, False, 64, "float32"),
    (64, 64, 64, False, False, 64, "float32"),
    (16, 16, 16, False, False, 256, "float32"),
    (128, 10, 2048, False, False, 1, "float32"),
    (1, 1024, 1024, False, False, 1, "float32"),
    (2, 2048, 512, False, False, 1, "float32"),
    (1024, 1024, 1024, False, False, 1, "bfloat16"),
]

# batch, size, input and output features, window, stride, padding; channels last
CONVOLUTIONS = [
    (16, 32, 3, 16, 3, 1, 1),
    (16, 16, 16, 32, 3, 1, 1),
    (64, 32, 64, 64, 3, 1, 1),
    (2, 38, 3, 64, 7, 2, 0),
    (2, 8, 64, 64, 3, 1, 1),
    (2, 8, 64, 256, 1, 1, 0),
    (2, 8, 256, 128, 1, 2, 0),
    (2, 4, 128, 128, 3, 1, 1),
    (2, 2, 256, 256, 3, 1, 1),
    (2, 2, 1024, 256, 1, 1, 0),
    (2, 1, 512, 512, 3, 1, 1),
    (2, 1, 512, 2048, 1, 1, 0),
    (8, 56, 64, 64, 3, 1, 1),
    (8, 56, 64, 256, 1, 1, 0),
    (8, 14, 256, 256, 3, 1, 1),
]


class Runtime:
    """The functions of act-c/StepRuntime.h."""

    def __init__(self, threads: int) -> None:
        path = ROOT / "build" / "lib" / "libActStepRuntime.so"
        if not path.exists():
            sys.exit(f"benchmarks/kernels.py: error: {path} is not built")
        self.library = ctypes.CDLL(str(path))
        self.library.act_cpu_context_create.restype = ctypes.c_void_p
        self.library.act_cpu_context_error.restype = ctypes.c_char_p
        self.library.act_cpu_convolution_scratch.restype = ctypes.c_int64
        self.threads = threads
        self.context = ctypes.c_void_p(
            self.library.act_cpu_context_create(ctypes.c_int64(threads))
        )

    def check(self) -> None:
        """Exits if a call has failed."""
        error = self.library.act_cpu_context_error(self.context)
        if error:
            sys.exit(f"benchmarks/kernels.py: error: {error.decode()}")

    def gemm(self, desc: list[int], *arrays: np.ndarray) -> Callable:
        """A function that multiplies a and b into c."""
        numbers = (ctypes.c_int64 * len(desc))(*desc)

        def run() -> None:
            pointers = [ctypes.c_void_p(x.ctypes.data) for x in arrays]
            self.library.act_cpu_gemm(self.context, b"gemm", numbers, *pointers)

        return run

    def convolution(self, desc: list[int], *arrays: np.ndarray) -> Callable:
        """A function that convolves lhs and rhs into out."""
        numbers = (ctypes.c_int64 * len(desc))(*desc)
        size = self.library.act_cpu_convolution_scratch(
            numbers, ctypes.c_int64(self.threads)
        )
        numbers[15] = size
        scratch = np.empty(size + 64, np.uint8)
        aligned = scratch[-scratch.ctypes.data % 64 :]

        def run() -> None:
            pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*arrays, aligned)]
            self.library.act_cpu_convolution(
                self.context, b"convolution", numbers, *pointers
            )

        return run


@dataclass
class Case:
    """One row: `ours` fills `result` with what `theirs` returns."""

    name: str
    flops: float
    ours: Callable
    theirs: Callable
    result: np.ndarray


def normal(seed: int, shape: tuple[int, ...], dtype: str = "float32") -> np.ndarray:
    """Normally distributed numbers."""
    values = np.random.default_rng(seed).standard_normal(shape, np.float32)
    return np.asarray(jnp.asarray(values).astype(dtype))


def gemm_case(runtime: Runtime, spec: tuple) -> Case:
    """The case of an entry of GEMMS."""
    m, n, k, ta, tb, batch, dtype = spec
    a = normal(1, (batch, k, m) if ta else (batch, m, k), dtype)
    b = normal(2, (batch, n, k) if tb else (batch, k, n), dtype)
    c = np.empty((batch, m, n), np.float32)
    strides = [1, m] if ta else [k, 1]
    strides += [1, k] if tb else [n, 1]
    desc = [
        1,
        TYPES[dtype],
        0,
        m,
        n,
        k,
        *strides,
        n,
        1,
        0,
        1,
        batch,
        m * k,
        k * n,
        m * n,
    ]
    dims = (([1] if ta else [2], [2] if tb else [1]), ([0], [0]))
    if batch == 1:
        dims = (([0] if ta else [1], [1] if tb else [0]), ([], []))
    x, y = (jnp.asarray(v[0] if batch == 1 else v) for v in (a, b))
    dot = jax.jit(
        lambda x, y: jax.lax.dot_general(x, y, dims, preferred_element_type=jnp.float32)
    )
    layout = ("T" if ta else "N") + ("T" if tb else "N")
    name = f"{m}x{n}x{k} {layout}" + (f" x{batch}" if batch > 1 else "")
    name += "" if dtype == "float32" else f" {dtype}"
    flops = 2.0 * batch * m * n * k
    return Case(name, flops, runtime.gemm(desc, a, b, c), lambda: dot(x, y), c)


def row_major(shape: tuple[int, ...]) -> list[int]:
    """Strides in elements."""
    return [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]


def convolution_descriptor(
    arrays: list[np.ndarray], roles: list[list[int]], spatial: list[list[int]]
) -> list[int]:
    """The descriptor of a convolution without groups.

    `roles` has the dimensions of (batch, features, spatial...) for each array;
    `spatial` stride, paddings, dilations and reversal for each dimension.
    """
    lhs, rhs, out = (
        [(x.shape[d], row_major(x.shape)[d]) for d in dims]
        for x, dims in zip(arrays, roles, strict=True)
    )
    desc = [1, 0, 0, len(spatial), lhs[0][0], lhs[1][0], rhs[1][0], 1, 1]
    desc += [lhs[0][1], lhs[1][1], rhs[0][1], rhs[1][1], out[0][1], out[1][1], 0]
    for i, numbers in enumerate(spatial):
        role = i + 2
        desc += [lhs[role][0], rhs[role][0], out[role][0], *numbers]
        desc += [lhs[role][1], rhs[role][1], out[role][1]]
    return desc


def convolution_cases(runtime: Runtime, spec: tuple) -> list[Case]:
    """The cases of an entry of CONVOLUTIONS."""
    batch, size, inputs, outputs, window, stride, padding = spec
    positions = (size + 2 * padding - window) // stride + 1
    x = normal(1, (batch, size, size, inputs))
    w = normal(2, (window, window, inputs, outputs))
    y = normal(3, (batch, positions, positions, outputs))

    def forward(x: jax.Array, w: jax.Array) -> jax.Array:
        return jax.lax.conv_general_dilated(
            x,
            w,
            (stride,) * 2,
            [(padding,) * 2] * 2,
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
        )

    dilated = (positions - 1) * stride + 1
    low = window - 1 - padding
    high = size + window - 1 - dilated - low
    last = [0, 3, 1, 2]
    forms = {
        "forward": (
            (x, w, y),
            [last, [2, 3, 0, 1], last],
            [stride, padding, padding, 1, 1, 0],
            lambda x, w: forward(x, w),
        ),
        "input gradient": (
            (y, w, x),
            [last, [3, 2, 0, 1], last],
            [1, low, high, stride, 1, 1],
            lambda y, w: jax.vjp(lambda x: forward(x, w), x)[1](y)[0],
        ),
        "weight gradient": (
            (x, y, w),
            [[3, 0, 1, 2], [0, 3, 1, 2], [2, 3, 0, 1]],
            [1, padding, window - 1 + dilated - size - padding, 1, stride, 0],
            lambda x, y: jax.vjp(lambda w: forward(x, w), w)[1](y)[0],
        ),
    }
    flops = 2.0 * batch * positions**2 * inputs * outputs * window**2
    cases = []
    for form, (arrays, roles, numbers, function) in forms.items():
        lhs, rhs = arrays[:2]
        out = np.empty_like(arrays[2])
        desc = convolution_descriptor([lhs, rhs, out], roles, [numbers] * 2)
        compiled = jax.jit(function)
        left, right = jnp.asarray(lhs), jnp.asarray(rhs)
        shape = f"{batch}x{size}x{size}x{inputs}->{outputs}"
        name = f"{shape} {window}x{window}/{stride} {form}"
        cases.append(
            Case(
                name,
                flops,
                runtime.convolution(desc, lhs, rhs, out),
                lambda f=compiled, a=left, b=right: f(a, b),
                out,
            )
        )
    return cases


def measure(runtime: Runtime, case: Case, seconds: float) -> dict[str, float]:
    """Times of both sides, alternating, after comparing their results."""
    expected = np.asarray(case.theirs()).reshape(case.result.shape)
    case.ours()
    runtime.check()
    error = np.linalg.norm(case.result - expected) / np.linalg.norm(expected)
    if not error < 1e-5:
        sys.exit(f"benchmarks/kernels.py: error: {case.name} is off by {error:.1e}")
    ours, theirs = [], []
    end = time.perf_counter() + seconds
    while len(ours) < 5 or time.perf_counter() < end:
        start = time.perf_counter()
        case.ours()
        middle = time.perf_counter()
        jax.block_until_ready(case.theirs())
        ours.append(middle - start)
        theirs.append(time.perf_counter() - middle)
    return {
        "act": min(ours) * 1e6,
        "xla": min(theirs) * 1e6,
        "ratio": min(ours) / min(theirs),
        "gflops": case.flops / min(ours) * 1e-9,
        "error": float(error),
    }


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="gemm,convolution")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    runtime = Runtime(options.threads)
    kinds = options.only.split(",")
    if unknown := set(kinds) - {"gemm", "convolution"}:
        parser.error(f"expects gemm or convolution, got {', '.join(sorted(unknown))}")
    cases: list[Case] = []
    if "gemm" in kinds:
        cases += [gemm_case(runtime, spec) for spec in GEMMS]
    if "convolution" in kinds:
        for spec in CONVOLUTIONS:
            cases += convolution_cases(runtime, spec)
    print(f"{'':46}{'act us':>10}{'XLA us':>10}{'ratio':>8}{'GFLOP/s':>9}")
    results = {}
    for case in cases:
        row = measure(runtime, case, options.seconds)
        results[case.name] = row
        print(
            f"{case.name:46}{row['act']:10.1f}{row['xla']:10.1f}"
            f"{row['ratio']:8.2f}{row['gflops']:9.0f}",
            flush=True,
        )
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
