# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which part of the processor's arithmetic peak linear attention reaches.

    python benchmarks/linear_attention_peak.py --tokens 1024,2048 --heads 1,8

Prints, for one thread, time per token and head and the percentage of the most
multiplications and additions per second that code generated the same way gets done
in registers. Operations are counted without those above the diagonal: per token
C(M+D) + 4MD forward and 3C(M+D) + 10MD backward, for chunks of C tokens.
"""

import argparse
import ctypes
import time
from pathlib import Path

import numpy as np

LIBRARY = Path(__file__).parents[1] / "build/lib/libActRuntime.so"
FEATURES = VALUES = 64


class Signature(ctypes.Structure):
    """ActLinearAttentionSignature of act-c/LinearAttention.h."""

    _fields_ = [
        ("batch", ctypes.c_int64),
        ("tokens", ctypes.c_int64),
        ("queryHeads", ctypes.c_int64),
        ("keyHeads", ctypes.c_int64),
        ("valueHeads", ctypes.c_int64),
        ("features", ctypes.c_int64),
        ("values", ctypes.c_int64),
        ("elementType", ctypes.c_int),
        ("featureMap", ctypes.c_char_p),
        ("scale", ctypes.c_double),
        ("epsilon", ctypes.c_double),
        ("decay", ctypes.c_int),
        ("chunk", ctypes.c_int64),
        ("normalize", ctypes.c_bool),
        ("subtract", ctypes.c_bool),
        ("reverse", ctypes.c_bool),
    ]


def _aligned(*shape: int) -> np.ndarray:
    """Random floats, aligned as XLA does."""
    size = int(np.prod(shape))
    memory = np.empty(size + 16, np.float32)
    start = -memory.ctypes.data // 4 % 16
    array = memory[start : start + size].reshape(shape)
    array[...] = np.random.default_rng(0).standard_normal(shape)
    return array


class Case:
    """Arrays of one size, and the calls that work on them."""

    def __init__(self, library: ctypes.CDLL, tokens: int, heads: int, chunk: int):
        self.library = library
        self.signature = Signature(
            batch=1,
            tokens=tokens,
            queryHeads=heads,
            keyHeads=heads,
            valueHeads=heads,
            features=FEATURES,
            values=VALUES,
            featureMap=b"square",
            scale=1.0,
            epsilon=1e-6,
            chunk=chunk,
            normalize=True,
        )
        rows = (1, tokens, heads, FEATURES)
        state = (1, heads, FEATURES, VALUES)
        sums = (1, heads, FEATURES)
        self.q, self.k, self.v, self.o, self.do = (_aligned(*rows) for _ in range(5))
        self.grads = [_aligned(*rows) for _ in range(3)]
        self.d = _aligned(*rows[:3])
        self.s, self.final, self.ds = (_aligned(*state) for _ in range(3))
        self.z, self.final_z, self.dz = (_aligned(*sums) for _ in range(3))
        self.z[...] = np.abs(self.z)
        inputs = [self.q, self.k, self.v, None]
        state = [self.s, self.z]
        results = [self.o, self.d, self.final, self.final_z]
        saved = [self.o, self.d, self.do]
        gradients = [*self.grads, None, self.ds, self.dz]
        self.forward = self._pack([*inputs, *state, *results])
        self.backward = self._pack([*inputs, *saved, *state, *state, *gradients])

    @staticmethod
    def _pack(arrays: list[np.ndarray | None]) -> ctypes.Array:
        pointers = [None if a is None else a.ctypes.data for a in arrays]
        return (ctypes.c_void_p * len(arrays))(*pointers)

    def _call(self, function: ctypes._CFuncPtr, buffers: ctypes.Array) -> float:
        reason = ctypes.create_string_buffer(200)
        started = time.perf_counter()
        done = function(
            ctypes.byref(self.signature),
            ctypes.byref(buffers),
            ctypes.c_int64(1),
            reason,
            ctypes.c_size_t(len(reason)),
        )
        if not done:
            raise RuntimeError(reason.value.decode())
        return time.perf_counter() - started

    def measure(self, rounds: int) -> tuple[float, float]:
        """Seconds of the quickest calls, forward and backward."""
        times = []
        for _ in range(rounds + 1):
            times.append(
                (
                    self._call(self.library.actLinearAttentionForward, self.forward),
                    self._call(self.library.actLinearAttentionGrad, self.backward),
                )
            )
        return min(t[0] for t in times[1:]), min(t[1] for t in times[1:])


def _integers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> None:
    """Measures what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=_integers, default=[1024, 2048])
    parser.add_argument("--heads", type=_integers, default=[1, 8])
    parser.add_argument("--chunks", type=_integers, default=[16, 32])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--library", type=Path, default=LIBRARY)
    options = parser.parse_args()
    library = ctypes.CDLL(str(options.library))
    library.actMeasurePeak.restype = ctypes.c_double
    for name in ("Forward", "Grad"):
        getattr(library, f"actLinearAttention{name}").restype = ctypes.c_bool
    peak = max(library.actMeasurePeak(ctypes.c_int64(200)) for _ in range(3))
    print(f"peak of one thread: {peak / 1e9:.1f} GFLOP/s")
    print("tokens heads chunk  forward ns  % of peak  backward ns  % of peak")
    for heads in options.heads:
        for tokens in options.tokens:
            for chunk in options.chunks:
                times = Case(library, tokens, heads, chunk).measure(options.rounds)
                pairs = chunk * (FEATURES + VALUES)
                product = FEATURES * VALUES
                flops = (pairs + 4 * product, 3 * pairs + 10 * product)
                cells = [
                    f"{t * 1e9 / (tokens * heads):11.1f}"
                    f"{100 * f * tokens * heads / (t * peak):11.1f}"
                    for t, f in zip(times, flops, strict=True)
                ]
                print(f"{tokens:6} {heads:5} {chunk:5} {' '.join(cells)}", flush=True)


if __name__ == "__main__":
    main()
