# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory, time and gradient error of training steps, see docs/Benchmarks.md.

Models of this folder are compared with plain JAX, `jax.checkpoint` per block and
one checkpoint with `dots_saveable`; steps from files with themselves.
"""

import argparse
import gc
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
from rich.console import Console
from rich.table import Table

import act
from act import stablehlo, xla
from act.compare import Comparison, compare_results
from act.errors import ActError
from act.file_step import FileStep
from act.options import BITS, SEARCHES, CompressOptions
from act.progress import Stages
from act.rewrite import rewrite
from measure import Compiled, caller, compile_step, median_time_ratio, warm_up_compiler
from models import MODELS, Model

INPUTS = Path(__file__).resolve().parents[2] / "shared" / "inputs"

COLUMNS = {
    "temp_plain": "{:,.1f}",
    "temp_act": "{:,.1f}",
    "temp_checkpoint": "{:,.1f}",
    "temp_dots_saveable": "{:,.1f}",
    "time_ratio": "{:.2f}",
    "time_ratio_checkpoint": "{:.2f}",
    "compile_ratio": "{:.2f}",
    "gradient_error_median": "{:.4f}",
    "gradient_error_max": "{:.4f}",
    "primal_identical": "{}",
}


def measure_model(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Measures a model of this folder; memory in MiB, times as ratios."""
    model = MODELS[name]()
    arguments = (model.parameters, model.batch)
    compressed = act.compress(
        model.step(), bits=options.bits, search=options.search, progress=False
    )
    started = time.perf_counter()
    compressed.mlir(*arguments)
    rewrite_seconds = time.perf_counter() - started
    plain = compile_step(jax.jit(model.step()).lower(*arguments))
    ours = compile_step(compressed.lower(*arguments))
    checkpoint = compile_step(jax.jit(model.step(jax.checkpoint)).lower(*arguments))
    result = {
        **_memory(plain, ours),
        "temp_checkpoint": checkpoint.temp_mib,
        "temp_dots_saveable": _dots_saveable(model, arguments),
        "rewrite_seconds": rewrite_seconds,
    }
    if not options.compile_only:
        run = {
            side: caller(compiled.executable, arguments)
            for side, compiled in (
                ("plain", plain),
                ("act", ours),
                ("checkpoint", checkpoint),
            )
        }
        comparison = compare_results(
            jax.tree.leaves(run["plain"]()), jax.tree.leaves(run["act"]()), 1
        )
        result |= _errors(comparison)
        if options.seconds:
            result |= {
                f"time_ratio{suffix}": median_time_ratio(
                    run["plain"], run[side], options.seconds
                )
                for suffix, side in (("", "act"), ("_checkpoint", "checkpoint"))
            }
    return result


def measure_file(path: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Measures a step given as StableHLO; `NAME.real` is compiled, not run."""
    execute = not options.compile_only and not path.stem.endswith(".real")
    step = FileStep.read(path)
    described = json.loads(path.with_suffix(".json").read_text())
    primal = described["primal_results"]
    # Only without excess precision do bf16 steps have one right answer.
    exact = execute and stablehlo.uses_short_floats(step.text)
    flags = xla.EXACT_SHORT_FLOATS if exact else None
    with Stages(0, enabled=False) as stages:
        rewritten = rewrite(
            step.exported,
            step.text,
            primal,
            CompressOptions(bits=options.bits, search=options.search),
            lambda new: step.lower(new.exported, flags).compile(),
            stages,
        )
    plain = compile_step(step.lower(step.exported, flags))
    ours = compile_step(step.lower(rewritten.exported, flags))
    result = {**_memory(plain, ours), "rewrite_seconds": rewritten.seconds}
    if execute:
        comparison = compare_results(
            step.run(plain.executable), step.run(ours.executable), primal
        )
        result |= _errors(comparison)
        if options.seconds:
            result["time_ratio"] = median_time_ratio(
                lambda: step.run(plain.executable),
                lambda: step.run(ours.executable),
                options.seconds,
            )
    return result


def _dots_saveable(model: Model, arguments: tuple) -> float:
    step = model.policy_step(jax.checkpoint_policies.dots_saveable)
    return compile_step(jax.jit(step).lower(*arguments)).temp_mib


def _memory(plain: Compiled, ours: Compiled) -> dict[str, float]:
    return {
        "temp_plain": plain.temp_mib,
        "temp_act": ours.temp_mib,
        "compile_ratio": ours.seconds / plain.seconds,
        "compile_seconds_plain": plain.seconds,
        "compile_seconds_act": ours.seconds,
    }


def _errors(comparison: Comparison) -> dict[str, Any]:
    return {
        "gradient_error_median": comparison.gradient_error_median,
        "gradient_error_max": comparison.gradient_error_max,
        "primal_identical": comparison.primal_identical,
    }


def available() -> dict[str, Path | None]:
    """Returns what can be measured: models (None) and files by name."""
    files = {path.stem: path for path in sorted(INPUTS.glob("*.mlir"))}
    names: dict[str, Path | None] = dict.fromkeys(MODELS)
    for stem, path in files.items():
        # `gpt` is a model of this folder and a file as well.
        names[f"input:{stem}"] = path
    return names


def measure_all(options: argparse.Namespace) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the figures of each chosen model."""
    choices = available()
    chosen = options.only or list(choices)
    with Stages(len(chosen), options.progress) as stages:
        for name in chosen:
            stages.start(name)
            path = choices[name]
            empty = dict.fromkeys(COLUMNS)
            try:
                figures = (
                    measure_file(path, options)
                    if path
                    else measure_model(name, options)
                )
            except ActError as error:
                figures = {"error": str(error)}
            yield name, {"model": name, **empty, "bits": options.bits, **figures}
            jax.clear_caches()
            gc.collect()


def results_table(results: dict[str, dict[str, Any]]) -> Table:
    """Returns the figures as a table; memory is in MiB."""
    table = Table(title=f"XLA {jax.default_backend()}, temporary memory in MiB")
    table.add_column("model", no_wrap=True)
    for column in COLUMNS:
        table.add_column(column.replace("_", " "), justify="right")
    for name, figures in results.items():
        cells = [
            form.format(figures[column]) if figures[column] is not None else "-"
            for column, form in COLUMNS.items()
        ]
        table.add_row(name, *cells)
    return table


def main() -> int:
    """Runs the command; returns its exit status."""
    options = _parse_arguments()
    warm_up_compiler()
    results: dict[str, dict[str, Any]] = {}
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 150)
    for name, figures in measure_all(options):
        results[name] = figures
        if options.json is not None:
            options.json.write_text(json.dumps(results, indent=2) + "\n")
    console.print(results_table(results))
    failures = {n: f["error"] for n, f in results.items() if "error" in f}
    for name, error in failures.items():
        print(f"benchmarks/run: error: {name}: {error}", file=sys.stderr)
    if not any(path for path in available().values()):
        print("steps from files: skipped, ../shared/inputs is absent")
    return 1 if failures else 0


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/run", description=__doc__)
    names = list(available())
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        metavar="A,B",
        help=f"what to measure, of {', '.join(names)}",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    parser.add_argument("--bits", type=int, choices=BITS, default=4)
    parser.add_argument("--search", choices=SEARCHES, default="default")
    parser.add_argument(
        "--seconds",
        type=float,
        default=20,
        help="time per comparison of speed, 0 for errors only [20]",
    )
    parser.add_argument(
        "--compile-only", action="store_true", help="memory and compile time only"
    )
    parser.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, default=None
    )
    options = parser.parse_args()
    unknown = [name for name in options.only or () if name not in names]
    if unknown:
        parser.error(f"--only: unknown {', '.join(unknown)}; of {', '.join(names)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
