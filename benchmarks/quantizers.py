#!/usr/bin/env python
# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time and temporary memory of every encoding on XLA, one tensor at a time.

    benchmarks/quantizers.py [--repeat N] [--only NAME,...] [--json FILE]

Encode and decode are the private functions that `convert-act-to-stablehlo`
builds. `decode+use` multiplies the decoded value by another tensor, which shows
whether the decoder fuses into what reads it. The row `flat256` is the form that
GACT and others use, groups of 256 of the flattened tensor, written in JAX. Times
are the least of all repetitions; GB/s counts the bytes of the tensor once.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path += [str(ROOT / "python"), str(ROOT / "python" / "tests")]

from encoding_runner import Save, decoder, encoder, fused_decoder  # noqa: E402

SHAPES = [(4096, 1024), (8, 8, 256, 256), (64, 32, 32, 64)]
ENCODINGS = {
    "4 bits, 64": "group_quant<bits = 4, group = 64>",
    "4 bits, 64, nearest": "group_quant<bits = 4, group = 64, rounding = nearest>",
    "8 bits, 256": "group_quant<bits = 8, group = 256>",
    "2 bits, 64": "group_quant<bits = 2, group = 64>",
    "4 bits, axis 1": "axis_quant<bits = 4, axis = 1>",
    "f8E4M3FN": "float<type = f8E4M3FN>",
    "f8E4M3FN, 128": "float<type = f8E4M3FN, group = 128>",
    "bf16": "float<type = bf16>",
    "mask": "mask",
    "narrow, 4 bits": "narrow<bits = 4>",
}
DTYPES = {"mask": np.bool_, "narrow, 4 bits": np.int32}


def flat_encode(bits: int, group: int = 256) -> Callable:
    """Codes, minimum and step, f32, of groups of the flattened tensor."""
    largest, planes = 2**bits - 1, 8 // bits

    def encode(x: jax.Array, salt: jax.Array) -> tuple[jax.Array, ...]:
        groups = x.astype(jnp.float32).reshape(-1, group)
        low = groups.min(1, keepdims=True)
        step = jnp.maximum((groups.max(1, keepdims=True) - low) / largest, 1e-30)
        hashed = jax.lax.broadcasted_iota(jnp.uint32, groups.shape, 0) * group
        hashed += jax.lax.broadcasted_iota(jnp.uint32, groups.shape, 1)
        hashed = hashed * jnp.uint32(0x9E3779B1) ^ salt
        for shift, factor in ((15, 0x85EBCA77), (13, 0xC2B2AE3D)):
            hashed = (hashed ^ (hashed >> shift)) * jnp.uint32(factor)
        noise = ((hashed ^ (hashed >> 16)) >> 8).astype(jnp.float32) * 2.0**-24
        codes = jnp.clip(jnp.floor((groups - low) / step + noise), 0, largest)
        codes = codes.astype(jnp.uint8)
        packed = codes[:, : group // planes]
        for plane in range(1, planes):
            part = codes[:, plane * group // planes : (plane + 1) * group // planes]
            packed |= part << jnp.uint8(plane * bits)
        return packed, low, step

    return encode


def flat_decode(
    bits: int, shape: tuple[int, ...], dtype: np.dtype = np.float32
) -> Callable:
    """The inverse of `flat_encode`."""
    planes = 8 // bits

    def decode(packed: jax.Array, low: jax.Array, step: jax.Array) -> jax.Array:
        spread = jnp.broadcast_to(
            packed[:, None, :], (packed.shape[0], planes, packed.shape[1])
        )
        shift = jax.lax.broadcasted_iota(jnp.uint8, spread.shape, 1)
        codes = (spread >> (shift * jnp.uint8(bits))) & jnp.uint8(2**bits - 1)
        values = codes.astype(jnp.float32) * step[..., None] + low[..., None]
        return values.reshape(shape).astype(dtype)

    return decode


def measure(compiled: Callable, arguments: tuple, repeat: int) -> dict[str, float]:
    """Least milliseconds of a call, and MiB of temporary memory."""
    jax.block_until_ready(compiled(*arguments))
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        jax.block_until_ready(compiled(*arguments))
        seconds.append(time.perf_counter() - start)
    temp = compiled.memory_analysis().temp_size_in_bytes
    return {"ms": 1e3 * min(seconds), "temp_mib": temp / 2**20}


def benchmark(
    name: str, shape: tuple[int, ...], dtype: type, functions: tuple, repeat: int
) -> dict:
    """Measures `(encode, decode, decode and use)` of one encoding."""
    encode, decode, use = functions
    values = 4 * jax.random.normal(jax.random.key(0), shape)
    tensor = (jnp.abs(values) if dtype == np.int32 else values).astype(dtype)
    salted = (tensor, jnp.uint32(12345))
    try:
        storage, arguments = encode(*salted), salted
    except TypeError:
        storage, arguments = encode(tensor), (tensor,)
    factor = jnp.ones(shape, tensor.dtype)
    row = {
        "encoding": name,
        "shape": "x".join(map(str, shape)),
        "bytes": tensor.nbytes,
        "stored": sum(part.nbytes for part in storage),
        "encode": measure(encode, arguments, repeat),
        "decode": measure(decode, storage, repeat),
        "use": measure(use, (*storage, factor), repeat),
    }
    print(_format(row), flush=True)
    return row


def _format(row: dict) -> str:
    cells = [f"{row['encoding']:20s} {row['shape']:14s}"]
    cells.append(f"{8 * row['stored'] * 4 / row['bytes']:6.2f}")
    for what in ("encode", "decode", "use"):
        gbps = row["bytes"] / row[what]["ms"] / 1e6
        cells.append(f"{row[what]['ms']:7.2f} {gbps:6.1f} {row[what]['temp_mib']:6.1f}")
    return " | ".join(cells)


def flat_functions(bits: int, shape: tuple[int, ...]) -> tuple[Callable, ...]:
    """Compiles the flattened form."""
    tensor = jax.ShapeDtypeStruct(shape, np.float32)
    salt = jax.ShapeDtypeStruct((), np.uint32)
    encode, decode = flat_encode(bits), flat_decode(bits, shape)
    stored = jax.eval_shape(encode, tensor, salt)

    def use(*arguments: jax.Array) -> jax.Array:
        return decode(*arguments[:-1]) * arguments[-1]

    return (
        jax.jit(encode).lower(tensor, salt).compile(),
        jax.jit(decode).lower(*stored).compile(),
        jax.jit(use).lower(*stored, tensor).compile(),
    )


def main() -> None:
    """Prints the table, writes JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--only", help="names of encodings, separated by ';'")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    chosen = options.only.split(";") if options.only else None

    print(
        f"{'':35s} |   bits | {'encode':^21s} | {'decode':^21s} | {'decode+use':^21s}"
    )
    print(f"{'':35s} |  /f32  |" + "      ms   GB/s    MiB |" * 3)
    rows = []
    for shape in SHAPES:
        for bits in (4, 8):
            name = f"flat256, {bits} bits"
            if chosen is None or name in chosen:
                functions = flat_functions(bits, shape)
                rows.append(
                    benchmark(name, shape, np.float32, functions, options.repeat)
                )
        for name, encoding in ENCODINGS.items():
            if chosen is not None and name not in chosen:
                continue
            dtype = DTYPES.get(name, np.float32)
            save = Save(shape, np.dtype(dtype), encoding)
            functions = encoder(save), decoder(save), fused_decoder(save)
            rows.append(benchmark(name, shape, dtype, functions, options.repeat))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2))


if __name__ == "__main__":
    main()
