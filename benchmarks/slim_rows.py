# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training in slices of the sequence against training at once, as in SLiM Performers.

Each step returns a loss and gradients, for one sequence. Memory is XLA's temporary
memory, and time the least process time of alternated calls, both over those of the
same model differentiated as a whole; the gradient's difference is the greatest over all
parameters of its largest element's over the largest element.
"""

import argparse
import dataclasses
import gc
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from rich.console import Console
from rich.table import Table

import act
from act.errors import ActError
from act.progress import Stages
from slim_model import (
    ROWS,
    Row,
    batch_of,
    parameters_of,
    step_sliced_by_hand,
    training_step,
)

#: Tokens in a slice where memory is drawn over the length.
CURVE_CHUNK = 64

Step = Callable[[Any, Any], Any]
#: Makes a step in slices of a number of tokens for a row.
Variant = Callable[[Row, int], Step]


def _act(states: str, wrap: Callable = lambda block: block) -> Variant:
    def sliced(row: Row, chunk: int) -> Step:
        step = training_step(row, wrap)
        return act.compress(
            step, bits=0, slice=chunk, slice_states=states, progress=False
        )

    return sliced


#: `stored` keeps the states between slices, `reverse` subtracts from the last ones,
#: `checkpoint` is `stored` with `jax.checkpoint` around each block of the source.
VARIANTS: dict[str, Variant] = {
    "stored": _act("stored"),
    "reverse": _act("reverse"),
    "checkpoint": _act("stored", jax.checkpoint),
}
#: What one can write without act's rewriting.
BY_HAND: dict[str, Variant] = {
    "stored by hand": step_sliced_by_hand,
    "checkpoint by hand": lambda row, chunk: step_sliced_by_hand(
        row, chunk, jax.checkpoint
    ),
}


def compile_step(step: Step, arguments: tuple) -> jax.stages.Compiled:
    """Compiles a step, which may be compressed, for its arguments."""
    lowerable = step if hasattr(step, "lower") else jax.jit(step)
    return lowerable.lower(*arguments).compile()


def temp_bytes(compiled: jax.stages.Compiled) -> int:
    """Returns the temporary memory of a compiled step."""
    return int(compiled.memory_analysis().temp_size_in_bytes)


def gradient_difference(gradients: Any, wanted: Any) -> float:
    """Returns the largest difference over the largest element, of all parameters."""
    ratios = jax.tree.map(
        lambda a, b: float(jnp.abs(a - b).max() / jnp.abs(b).max()), gradients, wanted
    )
    return max(jax.tree.leaves(ratios))


def least_process_seconds(
    calls: dict[str, Callable[[], Any]], rounds: int
) -> dict[str, float]:
    """Calls steps in turn and returns the least process time each of them took."""
    least = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            started = time.process_time()
            jax.block_until_ready(call())
            least[name] = min(least[name], time.process_time() - started)
    return least


def measure(row: Row, variants: dict[str, Variant], rounds: int) -> dict[str, Any]:
    """Returns the figures of a row by variant."""
    parameters = parameters_of(row)
    whole = (parameters, batch_of(row))
    padded = (parameters, batch_of(row, row.chunk))
    base = compile_step(training_step(row), whole)
    compiled = {
        name: compile_step(variant(row, row.chunk), padded)
        for name, variant in variants.items()
    }
    _, wanted = base(*whole)
    differences = {
        name: gradient_difference(step(*padded)[1], wanted)
        for name, step in compiled.items()
    }
    calls: dict[str, Callable] = {"base": lambda: base(*whole)}
    calls |= {name: lambda step=step: step(*padded) for name, step in compiled.items()}
    seconds = least_process_seconds(calls, rounds)
    parameter_bytes = 16 * sum(leaf.size for leaf in jax.tree.leaves(parameters))
    base_temp = temp_bytes(base)
    return {
        "base": {
            "temp_bytes": base_temp,
            "process_seconds": seconds["base"],
            "parameter_bytes": parameter_bytes,
        },
        "published_memory_ratio": row.published_memory,
        "published_time_ratio": row.published_time,
        "load": os.getloadavg()[0],
    } | {
        name: {
            "temp_ratio": temp_bytes(step) / base_temp,
            "total_ratio": (temp_bytes(step) + parameter_bytes)
            / (base_temp + parameter_bytes),
            "time_ratio": seconds[name] / seconds["base"],
            "gradient_difference": differences[name],
            "temp_bytes": temp_bytes(step),
        }
        for name, step in compiled.items()
    }


def memory_curve(
    row: Row, lengths: list[int], chunks: list[int], variants: dict[str, Variant]
) -> Iterator[dict[str, Any]]:
    """Yields temporary bytes of a model: for the last length with all chunks.

    Other lengths have slices of CURVE_CHUNK tokens only.
    """
    for length in lengths:
        longer = dataclasses.replace(row, length=length)
        parameters = jax.eval_shape(lambda r=longer: parameters_of(r))
        batch = jax.eval_shape(lambda r=longer: batch_of(r))
        point = {"length": length, "variant": "at once", "chunk": length}
        whole = compile_step(training_step(longer), (parameters, batch))
        yield point | {"temp_bytes": temp_bytes(whole)}
        for name, variant in variants.items():
            for chunk in chunks if length == lengths[-1] else [CURVE_CHUNK]:
                if chunk >= length:
                    continue
                step = compile_step(variant(longer, chunk), (parameters, batch))
                point = {"length": length, "variant": name, "chunk": chunk}
                yield point | {"temp_bytes": temp_bytes(step)}


def plot_memory(points: list[dict[str, Any]], path: Path) -> None:
    """Draws temporary memory over the slice, and over the length."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    over_chunk, over_length = figure.subplots(1, 2)
    length = max(p["length"] for p in points)
    for name in dict.fromkeys(p["variant"] for p in points):
        mine = [p for p in points if p["variant"] == name]
        of_length = [p for p in mine if p["length"] == length]
        if name == "at once":
            level = of_length[0]["temp_bytes"] / 2**20
            over_chunk.axhline(level, color="black", linestyle=":", label=name)
            small = mine
        else:
            _line(over_chunk, of_length, "chunk", name)
            small = [p for p in mine if p["chunk"] == CURVE_CHUNK]
        _line(over_length, small, "length", name)
    over_chunk.set_xlabel("tokens in a slice")
    over_chunk.set_title(f"{length} tokens")
    over_length.set_xlabel("tokens in the sequence")
    over_length.set_title(f"slices of {CURVE_CHUNK}")
    for axes in (over_chunk, over_length):
        axes.set_ylabel("temporary memory, MiB")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def _line(axes: Any, points: list[dict[str, Any]], over: str, name: str) -> None:
    axes.plot(
        [p[over] for p in points],
        [p["temp_bytes"] / 2**20 for p in points],
        "o-",
        label=name,
    )


def results_table(results: dict[str, dict[str, Any]], variants: list[str]) -> Table:
    """Returns all figures as a table, next to the published ones."""
    table = Table(title="over training at once; published: memory with parameters")
    table.add_column("row", no_wrap=True)
    table.add_column("variant", no_wrap=True)
    columns = ("temp_ratio", "total_ratio", "time_ratio", "gradient_difference")
    for column in (*columns, "published memory", "published time"):
        table.add_column(column.replace("_", " "), justify="right")
    for name, figures in results.items():
        for variant in variants:
            found = figures[variant]
            table.add_row(
                name,
                variant,
                *(f"{found[column]:.3f}" for column in columns[:3]),
                f"{found['gradient_difference']:.1e}",
                f"{figures['published_memory_ratio'] or '-'}",
                f"{figures['published_time_ratio'] or '-'}",
            )
    return table


def main() -> int:
    """Runs the command; returns its exit status."""
    options = _parse_arguments()
    variants = BY_HAND if options.by_hand else VARIANTS
    results: dict[str, Any] = {}
    with Stages(len(options.only), options.progress) as stages:
        try:
            for name in options.only:
                stages.start(name)
                results[name] = measure(ROWS[name], variants, options.rounds)
                jax.clear_caches()
                gc.collect()
            if options.plot is not None:
                chunks = [32, 64, 128, 256, 512]
                lengths = [512, 1024, 2048, 4096]
                drawn = {n: v for n, v in variants.items() if "checkpoint" not in n}
                curve = memory_curve(ROWS["copy_c64"], lengths, chunks, drawn)
                results["curve"] = list(curve)
                plot_memory(results["curve"], options.plot)
        except ActError as error:
            print(f"benchmarks/slim: error: {error}", file=sys.stderr)
            return 1
    rows = {name: results[name] for name in options.only}
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    console.print(results_table(rows, list(variants)))
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/slim", description=__doc__)
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=list(ROWS),
        metavar="A,B",
        help=f"rows, of {', '.join(ROWS)}",
    )
    parser.add_argument("--rounds", type=int, default=3, help="calls of each step [3]")
    parser.add_argument(
        "--by-hand",
        action="store_true",
        help="measure slices written by hand in JAX instead of act's rewriting",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="draw memory over slices and lengths"
    )
    parser.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, default=None
    )
    options = parser.parse_args()
    unknown = [name for name in options.only if name not in ROWS]
    if unknown:
        parser.error(f"--only: unknown {', '.join(unknown)}; of {', '.join(ROWS)}")
    if options.rounds < 1:
        parser.error(f"--rounds: expects at least 1, got {options.rounds}")
    return options


if __name__ == "__main__":
    sys.exit(main())
