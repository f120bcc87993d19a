# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""act's model of temporary memory (`act-memory`) against what XLA allocates.

Every step is compared as it is and compressed in several ways; nothing is executed.
"""

import argparse
import dataclasses
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
from jax import export
from rich.console import Console
from rich.table import Table

from act import stablehlo, tool, xla
from act.errors import ActError
from act.file_step import FileStep
from act.options import CompressOptions
from act.progress import Stages
from measure import MIB, warm_up_compiler
from models import MODELS
from steps import INPUTS

#: What is done to a step before it is compared; None leaves it as it is.
VARIANTS: dict[str, CompressOptions | None] = {
    "plain": None,
    "bits=0": CompressOptions(bits=0),
    "bits=8": CompressOptions(bits=8),
    "bits=4": CompressOptions(bits=4),
    "growing": CompressOptions(bits=4, recompute="growing"),
    "slice": CompressOptions(bits=4, slice=True),
}

#: Compared unless others are named.
DEFAULT_STEPS = (
    "mlp6",
    "mlp12",
    "gpt6",
    "gpt",
    "gpt_dropout",
    "cnn",
    "gpt_scan6",
    "gpt_scan24",
    "lstm128",
)

#: How far from 1 a ratio of model and XLA may be.
TOLERANCE = 0.1


@dataclasses.dataclass(frozen=True)
class Step:
    """A step to compare.

    Attributes:
        text: its module in generic form.
        primal_results: number of leading results that forward computes.
        temp_bytes: compiles a module in its place and returns the bytes of
            temporary memory that XLA allocates.
    """

    text: str
    primal_results: int
    temp_bytes: Callable[[str], int]


def load_step(name: str) -> Step:
    """Returns a model of this folder, or with `input:` a step from a file."""
    if name.startswith("input:"):
        return _load_file(INPUTS / f"{name.removeprefix('input:')}.mlir")
    model = MODELS[name]()
    arguments = (model.parameters, model.batch)
    exported = export.export(jax.jit(model.step()))(*arguments)
    text, _ = stablehlo.exported_module(exported)

    def temp_bytes(module: str) -> int:
        step = stablehlo.with_module(exported, module)
        return xla.temp_bytes(jax.jit(step.call).lower(*arguments).compile())

    return Step(text, 1, temp_bytes)


def _load_file(path: Path) -> Step:
    step = FileStep.read(path)
    primal = json.loads(path.with_suffix(".json").read_text())["primal_results"]

    def temp_bytes(module: str) -> int:
        exported = stablehlo.with_module(step.exported, module)
        return xla.temp_bytes(step.lower(exported, None).compile())

    return Step(step.text, primal, temp_bytes)


def partition(step: Step, options: CompressOptions | None) -> str:
    """Returns a step with saves and loads that are not lowered yet."""
    if options is None:
        return tool.run_passes(step.text, "builtin.module(act-inline)")
    primal = f"primal-results={step.primal_results}"
    functions = []
    if options.slice:
        functions.append(f"act-slice{{{primal}}}")
    functions += [
        "act-tile-random",
        f"act-expose-masks{{{primal}}}",
        f"act-partition{{{primal} bits={options.bits} window={options.window} "
        f"cut={options.cut} recompute={options.recompute}}}",
    ]
    passes = ["act-inline", *(f"func.func({name})" for name in functions)]
    passes.append(f"act-choose-encodings{{bits={options.bits}}}")
    passes.append("func.func(act-delay-random)")
    if options.slice:
        passes.append("func.func(act-sequence-updates)")
    return tool.run_passes(step.text, f"builtin.module({','.join(passes)})")


def model_memory(module: str) -> dict[str, Any]:
    """Returns what `act-memory` reports about a module."""
    with tempfile.TemporaryDirectory(prefix="act-") as directory:
        report = Path(directory) / "memory.json"
        tool.run_passes(module, f"builtin.module(act-memory{{output={report}}})")
        return json.loads(report.read_text())


def compare(step: Step, options: CompressOptions | None) -> dict[str, Any]:
    """Returns the figures of one step and variant; memory in MiB."""
    module = partition(step, options)
    started = time.perf_counter()
    model = model_memory(module)
    seconds = time.perf_counter() - started
    lowered = module
    if options is not None:
        lowered = tool.run_passes(module, "builtin.module(convert-act-to-stablehlo)")
    temp = step.temp_bytes(lowered)
    return {
        "xla": temp / MIB,
        "model": model["packed"] / MIB,
        "peak": model["peak"] / MIB,
        "lower_bound": model["lower_bound"] / MIB,
        "ratio": model["packed"] / temp if temp else None,
        "model_seconds": seconds,
    }


def compare_all(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Yields the figures of every chosen step and variant."""
    names = options.only or DEFAULT_STEPS
    with Stages(len(names) * len(options.variants), options.progress) as stages:
        for name in names:
            step = load_step(name)
            for variant in options.variants:
                stages.start(f"{name} {variant}")
                row = {"step": name, "variant": variant}
                try:
                    yield row | compare(step, VARIANTS[variant])
                except ActError as error:
                    yield row | {"error": str(error)}
            jax.clear_caches()


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns how close model and XLA are over all rows."""
    errors = [abs(row["ratio"] - 1) for row in rows if row.get("ratio")]
    return {
        "rows": len(rows),
        "within_tolerance": sum(error <= TOLERANCE for error in errors),
        "error_median": statistics.median(errors) if errors else None,
        "model_error_max": max(errors, default=None),
    }


def rows_table(rows: list[dict[str, Any]]) -> Table:
    """Returns the figures as a table; memory is in MiB."""
    table = Table(title="temporary memory in MiB: XLA, and act's model of it")
    for column in ("step", "variant"):
        table.add_column(column, no_wrap=True)
    for column in ("xla", "model", "peak", "lower bound", "ratio", "seconds"):
        table.add_column(column, justify="right")
    for row in rows:
        if "error" in row:
            table.add_row(row["step"], row["variant"], row["error"][:60])
            continue
        ratio = "-" if row["ratio"] is None else f"{row['ratio']:.3f}"
        table.add_row(
            row["step"],
            row["variant"],
            *(f"{row[key]:,.1f}" for key in ("xla", "model", "peak", "lower_bound")),
            ratio,
            f"{row['model_seconds']:.2f}",
        )
    return table


def main() -> int:
    """Runs the command; returns 1 if a ratio is out of bounds or a step failed."""
    options = _parse_arguments()
    warm_up_compiler()
    rows: list[dict[str, Any]] = []
    for row in compare_all(options):
        rows.append(row)
        if options.json is not None:
            result = {"summary": summary(rows), "rows": rows}
            options.json.write_text(json.dumps(result, indent=2) + "\n")
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    console.print(rows_table(rows))
    totals = summary(rows)
    print(
        f"{totals['within_tolerance']} of {totals['rows']} rows within "
        f"{TOLERANCE:.0%}, largest error {totals['model_error_max'] or 0:.1%}"
    )
    return 0 if totals["within_tolerance"] == len(rows) else 1


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="benchmarks/memory_model", description=__doc__
    )
    names = [*MODELS, *(f"input:{path.stem}" for path in sorted(INPUTS.glob("*.mlir")))]
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        metavar="A,B",
        help=f"what to compare, of {', '.join(names)} [{','.join(DEFAULT_STEPS)}]",
    )
    parser.add_argument(
        "--variants",
        type=lambda text: text.split(","),
        default=list(VARIANTS),
        metavar="A,B",
        help=f"how to compress it, of {', '.join(VARIANTS)} [all]",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    parser.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, default=None
    )
    options = parser.parse_args()
    for flag, given, known in (
        ("--only", options.only or (), names),
        ("--variants", options.variants, VARIANTS),
    ):
        unknown = [name for name in given if name not in known]
        if unknown:
            parser.error(f"{flag}: unknown {', '.join(unknown)}; of {', '.join(known)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
