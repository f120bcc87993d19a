# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time and memory of act.linear_attention against JAX forms of it, on the CPU.

8 heads of 64 features x^2 and 64 values, f32, divided by the sum of weights. All forms
run alternately in one process; a figure is the least wall time of all rounds, one with
`process` the least time that all threads together were at work.
"""

import argparse
import ctypes
import gc
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.console import Console
from rich.table import Table

import act
from act import runtime
from act.errors import ActError, ActToolError
from act.progress import Stages
from linear_attention_forms import FORMS
from linear_attention_peak import FEATURES, VALUES, Case

HEADS, DIM = 8, 64
LENGTHS = (2048, 8192)
PEAK_LENGTH, PEAK_CHUNK = 1024, 16
#: What the results of different forms may differ by, over the greatest value.
TOLERANCE = 2e-5

Call = Callable[[], Any]


def _act(implementation: str) -> Callable:
    def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        return act.linear_attention(
            q, k, v, feature_map="square", implementation=implementation
        )

    return attend


OURS = {"act native": _act("native"), "act loop": _act("loop")}


def with_gradients(function: Callable) -> Callable:
    """Returns a function of q, k, v and a gradient that computes all gradients."""

    def both(
        q: jax.Array, k: jax.Array, v: jax.Array, d_o: jax.Array
    ) -> tuple[jax.Array, ...]:
        o, pull = jax.vjp(function, q, k, v)
        return (o, *pull(d_o))

    return both


class Contender:
    """A form of attention, compiled for one length.

    Attributes:
        forward: computes the output.
        both: computes output and gradients.
        temp_bytes: temporary memory of `both`.
    """

    def __init__(self, function: Callable, arrays: list[np.ndarray]) -> None:
        self._arrays = [jax.device_put(array) for array in arrays]
        forward = jax.jit(function).lower(*self._arrays[:3]).compile()
        both = jax.jit(with_gradients(function)).lower(*self._arrays).compile()
        self.forward: Call = lambda: forward(*self._arrays[:3])
        self.both: Call = lambda: both(*self._arrays)
        self.temp_bytes = int(both.memory_analysis().temp_size_in_bytes)


def contenders(length: int) -> dict[str, Contender]:
    """Compiles all forms for a length, each in its own layout, on equal numbers."""
    random = np.random.default_rng(0)
    shape = (HEADS, length, DIM)
    arrays = [random.standard_normal(shape, np.float32) for _ in range(4)]
    ours = [array.swapaxes(0, 1)[None].copy() for array in arrays]
    found = {name: Contender(form, arrays) for name, form in FORMS.items()}
    return {n: Contender(form, ours) for n, form in OURS.items()} | found


def largest_difference(forms: dict[str, Contender]) -> float:
    """Returns by how much results differ from the two-sweep form's at most."""
    wanted = [np.asarray(x) for x in forms["two sweeps"].both()]
    worst = 0.0
    for name, form in forms.items():
        for a, b in zip(form.both(), wanted, strict=True):
            a = np.asarray(a)[0].swapaxes(0, 1) if name in OURS else np.asarray(a)
            worst = max(worst, float(abs(a - b).max() / abs(b).max()))
    return worst


def least_seconds(
    calls: dict[Any, Call], seconds: float
) -> tuple[dict[Any, float], dict[Any, float]]:
    """Calls functions in turn; returns the least wall and process time of each.

    Args:
        calls: the functions; their results are waited for.
        seconds: how long to go on, at least three rounds. A function that takes more
            than a twentieth of that is left out of later rounds.
    """
    least = dict.fromkeys(calls, float("inf"))
    process = dict(least)
    started = time.perf_counter()
    rounds = 0
    while rounds < 3 or time.perf_counter() - started < seconds:
        for name, call in calls.items():
            if rounds >= 3 and least[name] > seconds / 20:
                continue
            begin, worked = time.perf_counter(), time.process_time()
            jax.block_until_ready(call())
            least[name] = min(least[name], time.perf_counter() - begin)
            process[name] = min(process[name], time.process_time() - worked)
        rounds += 1
    return least, process


def measure(length: int, seconds: float) -> dict[str, Any]:
    """Returns the figures of a length, ratios to the best form without act."""
    forms = contenders(length)
    difference = largest_difference(forms)
    if not difference < TOLERANCE:
        raise ActError(f"results at length {length} differ by {difference:.1e}")
    calls = {
        (name, way): getattr(form, way)
        for name, form in forms.items()
        for way in ("forward", "both")
    }
    times = dict(zip(("", "process_"), least_seconds(calls, seconds), strict=True))
    result: dict[str, Any] = {
        name: {"temp_bytes": form.temp_bytes} for name, form in forms.items()
    }
    for kind, least in times.items():
        for way in ("forward", "both"):
            best = min(least[name, way] for name in FORMS)
            for name, row in result.items():
                row[f"{kind}{way}_ms"] = least[name, way] * 1e3
                row[f"{kind}{way}_ratio"] = least[name, way] / best
    native = result["act native"]
    return {
        **{key: value for key, value in native.items() if not key.endswith("_ms")},
        "largest_difference": difference,
        "load": os.getloadavg()[0],
        "forms": result,
    }


def peak_fractions(rounds: int = 20) -> dict[str, float]:
    """Returns what part of a core's peak kernels reach, forward and backward.

    One head, PEAK_LENGTH tokens in chunks of PEAK_CHUNK, one thread. Operations are
    those that causality leaves; kernels and the loop that measures the peak run in
    turn, and each counts with its best round.

    Raises:
        ActToolError: there is no native library.
    """
    path = runtime.find_library()
    if path is None:
        raise ActToolError("libActRuntime was not found: build act")
    library = runtime.load(path)
    for name in ("Forward", "Grad"):
        getattr(library, f"actLinearAttention{name}").restype = ctypes.c_bool
    case = Case(library, PEAK_LENGTH, 1, PEAK_CHUNK)
    peak, least = 0.0, (float("inf"),) * 2
    for _ in range(rounds):
        peak = max(peak, library.actMeasurePeak(ctypes.c_int64(20)))
        least = tuple(map(min, least, case.measure(20)))
    pairs, product = PEAK_CHUNK * (FEATURES + VALUES), FEATURES * VALUES
    flops = pairs + 4 * product, 3 * pairs + 10 * product
    forward, backward = (
        count * PEAK_LENGTH / seconds / peak
        for count, seconds in zip(flops, least, strict=True)
    )
    return {
        "peak_gflops": peak / 1e9,
        "peak_fraction_forward": forward,
        "peak_fraction_backward": backward,
    }


def results_table(length: int, figures: dict[str, Any]) -> Table:
    """Returns the figures of a length as a table."""
    title = f"length {length:,}, least of alternated calls, load {figures['load']:.1f}"
    table = Table(title=title)
    table.add_column("form", no_wrap=True)
    for column in (
        "forward, ms",
        "of the best",
        "process",
        "with gradients, ms",
        "of the best",
        "process",
        "temporary, MiB",
    ):
        table.add_column(column, justify="right")
    for name, row in figures["forms"].items():
        table.add_row(
            name,
            f"{row['forward_ms']:.1f}",
            f"{row['forward_ratio']:.2f}",
            f"{row['process_forward_ratio']:.2f}",
            f"{row['both_ms']:.1f}",
            f"{row['both_ratio']:.2f}",
            f"{row['process_both_ratio']:.2f}",
            f"{row['temp_bytes'] / 2**20:.2f}",
        )
    return table


def main() -> int:
    """Runs the command; returns its exit status."""
    options = _parse_arguments()
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    results: dict[str, Any] = {}
    with Stages(1 + len(options.lengths), options.progress) as stages:
        try:
            stages.start("peak of a core")
            results |= peak_fractions()
            for length in options.lengths:
                stages.start(f"length {length}")
                results[f"l{length}"] = measure(length, options.seconds)
                jax.clear_caches()
                gc.collect()
        except ActError as error:
            print(f"benchmarks/linear_attention: error: {error}", file=sys.stderr)
            return 1
    for length in options.lengths:
        console.print(results_table(length, results[f"l{length}"]))
    console.print(
        "one core, one head in the cache, least of calls alternated with the peak "
        f"loop: {results['peak_fraction_forward']:.0%} of "
        f"{results['peak_gflops']:.0f} Gflop/s forward, "
        f"{results['peak_fraction_backward']:.0%} backward"
    )
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/linear_attention", description=__doc__
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    parser.add_argument(
        "--lengths",
        type=lambda text: [int(part) for part in text.split(",")],
        default=LENGTHS,
        metavar="L,L",
        help="multiples of 64 [2048,8192]",
    )
    parser.add_argument(
        "--seconds", type=float, default=60, help="time per length [60]"
    )
    parser.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, default=None
    )
    options = parser.parse_args()
    if any(length < 64 or length % 64 for length in options.lengths):
        parser.error(f"--lengths: expects multiples of 64, got {options.lengths}")
    return options


if __name__ == "__main__":
    sys.exit(main())
