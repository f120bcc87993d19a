#!/usr/bin/env python
# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Speed of act's quantizer kernels for the CPU.

    benchmarks/quantize [--json FILE] [--only f32_4,...] [--threads N]
                        [--repeat N] [--group N]

Encodes and decodes 16 Mi elements under `#act.group_quant` and compares with what
else there is: memcpy of the tensor, the same in plain C++ loops, a quantizer
written in JAX, and the functions that `convert-act-to-stablehlo` builds, run by
XLA. All use the same threads and take turns; times are the least of all turns.
"""

import argparse
import ctypes
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "python" / "tests")]

BF16 = np.dtype(ml_dtypes.bfloat16)
DTYPES = {"f32": np.dtype(np.float32), "bf16": BF16}
ALL_BITS = (8, 4, 2, 1)
#: The groups that act-choose-encodings gives rows of 1024 elements.
GROUPS = {8: 256, 4: 128, 2: 128, 1: 128}
ROWS, COLUMNS = 1 << 14, 1024
SALT = 12345
#: What is timed, in this order, in every turn.
COMPETITORS = ("act", "plain_cpp", "jax", "xla")


@dataclasses.dataclass(frozen=True)
class Row:
    """One element type and number of bits."""

    name: str
    bits: int
    group: int
    rows: int = ROWS

    @property
    def dtype(self) -> np.dtype:
        """The element type."""
        return DTYPES[self.name.split("_")[0]]

    @property
    def num_groups(self) -> int:
        """Groups of the tensor."""
        return self.rows * COLUMNS // self.group


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy that starts at a page, as memory for large tensors does."""
    page = 4096
    memory = np.zeros(array.nbytes + page, np.uint8)
    start = -memory.ctypes.data % page
    copy = memory[start : start + array.nbytes].view(array.dtype)
    copy = copy.reshape(array.shape)
    copy[...] = array
    return copy


def pointer(array: np.ndarray) -> ctypes.c_void_p:
    """Where an array lies."""
    return ctypes.c_void_p(array.ctypes.data)


def compile_plain(folder: Path) -> ctypes.CDLL:
    """Compiles and loads the plain loops."""
    compiler = os.environ.get("CXX") or next(
        filter(None, map(shutil.which, ("clang++-22", "clang++"))), None
    )
    if compiler is None:
        sys.exit("quantize: expects clang++ on PATH, or its path in CXX")
    library = folder / "plain_quantizer.so"
    source = Path(__file__).with_name("plain_quantizer.cpp")
    flags = ["-std=c++17", "-O3", "-march=native", "-shared", "-fPIC", "-pthread"]
    subprocess.run([compiler, *flags, source, "-o", library], check=True)
    return ctypes.CDLL(str(library))


def storage(row: Row) -> list[np.ndarray]:
    """Where codes, minimum and step are stored."""
    shape = (row.rows, COLUMNS // row.group)
    codes = np.zeros((*shape, row.group * row.bits // 8), np.uint8)
    return [aligned(a) for a in (codes, *[np.zeros((*shape, 1), BF16)] * 2)]


def contenders(
    row: Row, tensor: np.ndarray, plain: ctypes.CDLL, threads: int
) -> dict[str, tuple[Callable, Callable]]:
    """How each competitor encodes and decodes `tensor`."""
    import codec_kernels
    import jax
    import jax.numpy as jnp
    from encoding_runner import Save, decoder, encoder

    from quantizers import flat_decode, flat_encode

    encoding = f"group_quant<bits = {row.bits}, group = {row.group}>"
    save = Save(tensor.shape, row.dtype, encoding)
    ours, theirs = storage(row), storage(row)
    value = aligned(np.zeros_like(tensor))
    on_device = jnp.asarray(tensor)
    salt = jnp.uint32(SALT)

    suffix = f"{row.bits}_{row.group}_{row.name.split('_')[0]}"
    groups, workers = ctypes.c_int64(row.num_groups), ctypes.c_int64(threads)
    quantize = getattr(plain, f"quantize_{suffix}")
    dequantize = getattr(plain, f"dequantize_{suffix}")

    flat = jax.jit(flat_encode(row.bits, row.group)).lower(on_device, salt).compile()
    flat_stored = flat(on_device, salt)
    unflat = flat_decode(row.bits, tensor.shape, row.dtype)
    unflat = jax.jit(unflat).lower(*flat_stored).compile()
    on_xla, off_xla = encoder(save), decoder(save)
    xla_stored = on_xla(on_device, salt)

    def ready(function: Callable, *arguments: object) -> Callable:
        return lambda: jax.block_until_ready(function(*arguments))

    return {
        "act": (
            lambda: codec_kernels.encode(save, tensor, ours, SALT, threads),
            lambda: codec_kernels.decode(save, ours, value, threads),
        ),
        "plain_cpp": (
            lambda: quantize(
                *map(pointer, (tensor, *theirs)),
                groups,
                ctypes.c_uint32(SALT),
                workers,
            ),
            lambda: dequantize(*map(pointer, (value, *theirs)), groups, workers),
        ),
        "jax": (ready(flat, on_device, salt), ready(unflat, *flat_stored)),
        "xla": (ready(on_xla, on_device, salt), ready(off_xla, *xla_stored)),
    }


def least_seconds(functions: dict[str, Callable], repeat: int) -> dict[str, float]:
    """The least time of each function; they take turns."""
    best = dict.fromkeys(functions, float("inf"))
    for turn in range(repeat + 1):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            seconds = time.perf_counter() - start
            if turn > 0:  # the first is to warm up
                best[name] = min(best[name], seconds)
    return best


def measure(row: Row, plain: ctypes.CDLL, threads: int, repeat: int) -> dict:
    """The figures of one row."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal((row.rows, COLUMNS), np.float32)
    tensor = aligned(values.astype(row.dtype))
    copy = aligned(np.zeros_like(tensor))
    functions = {
        "memcpy": lambda: plain.copy(
            pointer(copy),
            pointer(tensor),
            ctypes.c_int64(tensor.nbytes),
            ctypes.c_int64(threads),
        )
    }
    for name, (encode, decode) in contenders(row, tensor, plain, threads).items():
        functions[f"quantize_{name}"] = encode
        functions[f"dequantize_{name}"] = decode
    seconds = least_seconds(functions, repeat)
    figures = {"group": row.group}
    for what in ("quantize", "dequantize"):
        ours = seconds[f"{what}_act"]
        figures[f"{what}_vs_memcpy"] = seconds["memcpy"] / ours
        for name in COMPETITORS[1:]:
            figures[f"{what}_vs_{name}"] = seconds[f"{what}_{name}"] / ours
    for name in COMPETITORS[1:]:
        figures[f"vs_{name}"] = min(
            figures[f"{what}_vs_{name}"] for what in ("quantize", "dequantize")
        )
    for name, time_taken in seconds.items():
        figures[f"{name}_gbps"] = tensor.nbytes / time_taken / 1e9
    return figures


def format_row(name: str, figures: dict) -> str:
    """A line of the table."""
    cells = [f"{name:7s} {figures['group']:4d} {figures['memcpy_gbps']:7.2f}"]
    for what in ("quantize", "dequantize"):
        numbers = [figures[f"{what}_act_gbps"], figures[f"{what}_vs_memcpy"]]
        numbers += [figures[f"{what}_vs_{other}"] for other in COMPETITORS[1:]]
        cells.append(" ".join(f"{number:7.2f}" for number in numbers))
    return " | ".join(cells)


def parse_options(names: list[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--only", help=f"rows, of {','.join(names)}")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=15, help="turns (default 15)")
    parser.add_argument(
        "--group", type=int, choices=(64, 128, 256), help="elements of a group"
    )
    options = parser.parse_args()
    options.only = options.only.split(",") if options.only else names
    for name in options.only:
        if name not in names:
            parser.error(f"--only expects names of {','.join(names)}, got {name}")
    if not 1 <= options.threads <= os.cpu_count():
        parser.error(f"--threads expects 1 to {os.cpu_count()}, got {options.threads}")
    if options.repeat < 1:
        parser.error(f"--repeat expects a positive number, got {options.repeat}")
    return options


def main() -> None:
    """Prints the table, writes JSON."""
    names = [f"{dtype}_{bits}" for dtype in DTYPES for bits in ALL_BITS]
    options = parse_options(names)
    # Before JAX starts its threads, one per processor.
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, allowed[: options.threads])
    print(
        f"{'':21s} | {'quantize':^39s} | {'dequantize':^39s}\n"
        f"{'':7s} {'G':>4s} {'memcpy':>7s} "
        + "| {:>7s} {:>7s} {:>7s} {:>7s} {:>7s} ".format(
            "GB/s", "/memcpy", "/C++", "/JAX", "/XLA"
        )
        * 2
    )
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        plain = compile_plain(Path(folder))
        for name in options.only:
            bits = int(name.split("_")[1])
            row = Row(name, bits, options.group or GROUPS[bits])
            results[name] = measure(row, plain, options.threads, options.repeat)
            print(format_row(name, results[name]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
