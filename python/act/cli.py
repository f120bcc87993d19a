# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m act STEP.mlir`: compress a step given as StableHLO text."""

import argparse
import functools
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
from rich.console import Console

from act import stablehlo, xla
from act.budget import parse_bytes
from act.compare import Comparison, compare_results
from act.errors import ActError, ActOptionError, ActStepError
from act.file_step import FileStep
from act.options import (
    BITS,
    CUTS,
    RECOMPUTES,
    SEARCHES,
    SLICE_STATES,
    WINDOWS,
    CompressOptions,
)
from act.progress import Stages
from act.report import Report
from act.rewrite import Rewritten, rewrite
from act.version import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    options = _parse_arguments(argv)
    try:
        return _run(options)
    except (ActError, OSError, jax.errors.JaxRuntimeError) as error:
        print(f"act: error: {options.step}: {error}", file=sys.stderr)
        return 1


def _run(options: argparse.Namespace) -> int:
    compress = CompressOptions(
        bits=options.bits,
        window=options.window,
        cut=options.cut,
        recompute=options.recompute,
        unremat=options.unremat,
        rederive=options.rederive,
        search=options.search,
        slice=options.slice,
        slice_states=options.slice_states,
        rules=options.rules,
        average_bits=options.average_bits,
        error_budget=options.error_budget,
        profile=options.profile,
        seed=options.seed,
        memory_budget=options.memory_budget,
        running_ranges=options.running_ranges,
        range_decay=options.range_decay,
    )
    with Stages(2 + 2 * options.run, options.progress) as stages:
        stages.start(f"reading {options.step}")
        step = FileStep.read(options.step, options.argument_seed)
        step.check_primal_results(options.primal_results)
        result = _compress_and_compile(step, options, compress, stages)
    report, comparison, figures = result
    document = _document(options, report, comparison, figures)
    if options.json is not None:
        options.json.write_text(json.dumps(document, indent=2) + "\n")
    if options.plot is not None:
        report.plot(options.plot)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    console.print(report)
    for line in _verdict(document):
        console.print(line)
    if document["primal_identical"] is False:
        raise ActStepError("the primal results of the compressed step differ")
    return 0


def _compress_and_compile(
    step: FileStep,
    options: argparse.Namespace,
    compress: CompressOptions,
    stages: Stages,
) -> tuple[Report, Comparison | None, dict[str, Any]]:
    """Returns the report, the comparison after a run, and further figures."""
    exact = options.run and stablehlo.uses_short_floats(step.text)
    flags = xla.EXACT_SHORT_FLOATS if exact else None
    result = rewrite(
        step.exported,
        step.text,
        options.primal_results,
        compress,
        lambda new: step.lower(new.exported, flags, new.states).compile(),
        stages,
    )
    figures: dict[str, Any] = {
        "excess_precision": not exact,
        "executed": options.run,
        "rewrite_seconds": result.seconds,
    }
    if options.output is not None:
        options.output.write_text(result.text)
    lowered = {"after": step.lower(result.exported, flags, result.states)}
    if not options.no_baseline:
        lowered = {"before": step.lower(step.exported, flags), **lowered}
        stages.extend(1)
    compiled, seconds = _compile_all(lowered, result, stages)
    figures |= {f"compile_seconds_{side}": s for side, s in seconds.items()}
    temps = {side: xla.temp_bytes(c) for side, c in compiled.items()}
    results = {}
    for side, what in compiled.items() if options.run else ():
        stages.start(f"running the step {_SIDES[side]}")
        results[side] = step.run(what, result.states if side == "after" else ())
    comparison = None
    if len(results) == 2:
        comparison = compare_results(
            results["before"], results["after"], options.primal_results
        )
    compilers = {
        side: functools.partial(xla.compile_with_dump, what, None)
        for side, what in lowered.items()
    }
    report = Report.build(
        step.name,
        result,
        temps.get("before"),
        temps["after"],
        (compilers.get("before"), compilers["after"]),
    )
    return report, comparison, figures


_SIDES = {"before": "as it is", "after": "compressed"}


def _compile_all(
    lowered: dict[str, jax.stages.Lowered], result: Rewritten, stages: Stages
) -> tuple[dict[str, jax.stages.Compiled], dict[str, float]]:
    """Compiles each side, unless a search did; returns what it took in seconds."""
    compiled, seconds = {}, {}
    for side, what in lowered.items():
        stages.start(f"compiling the step {_SIDES[side]}")
        if side == "after" and result.compiled is not None:
            compiled[side], seconds[side] = result.compiled, result.compile_seconds
            continue
        started = time.perf_counter()
        compiled[side] = what.compile()
        seconds[side] = time.perf_counter() - started
    return compiled, seconds


def _document(
    options: argparse.Namespace,
    report: Report,
    comparison: Comparison | None,
    figures: dict[str, Any],
) -> dict[str, Any]:
    """Returns everything known as JSON-compatible values."""
    notes = []
    errors: dict[int, float] = {}
    if comparison is not None:
        errors = comparison.gradient_errors
        if comparison.all_nan:
            notes.append("every float result of the original step is NaN")
        if comparison.not_finite:
            numbers = ", ".join(map(str, comparison.not_finite))
            notes.append(f"not finite in the original step: results {numbers}")
        if comparison.vanishing:
            numbers = ", ".join(map(str, comparison.vanishing))
            notes.append(
                "zero but for rounding in the original step, so that a relative error "
                f"says little: results {numbers}"
            )
        for number, error in errors.items():
            if math.isinf(error):
                notes.append(f"result {number} differs without bound from the original")
    if not figures["excess_precision"]:
        notes.append(
            "computes in bf16 or f16: both sides compiled with "
            "--xla_allow_excess_precision=false"
        )
    return {
        **report.to_dict(),
        "file": str(options.step),
        "primal_identical": comparison.primal_identical if comparison else None,
        "gradient_error_median": _finite(
            comparison.gradient_error_median if comparison else None
        ),
        "gradient_error_max": _finite(
            comparison.gradient_error_max if comparison else None
        ),
        "gradient_errors": {n: _finite(error) for n, error in errors.items()},
        "notes": notes,
        "act_version": __version__,
        **figures,
    }


def _verdict(document: dict[str, Any]) -> list[str]:
    """Returns the outcome of a run and the notes, one line each."""
    lines = []
    if document["primal_identical"] is not None:
        same = "bit-identical" if document["primal_identical"] else "DIFFERENT"
        lines.append(f"primal results: {same}")
    errors = document["gradient_errors"]
    if errors:
        lines.append(
            f"relative gradient error: median {_number(document, 'median')}, "
            f"max {_number(document, 'max')} over {len(errors)} results"
        )
    elif document["executed"] and document["primal_identical"] is None:
        lines.append("executed; nothing to compare with")
    return lines + [f"note: {note}" for note in document["notes"]]


def _number(document: dict[str, Any], which: str) -> str:
    """Formats the median or the maximum of the gradient errors."""
    value = document[f"gradient_error_{which}"]
    return "unbounded" if value is None else f"{value:.4g}"


def _finite(value: float | None) -> float | None:
    """Returns the value if JSON can hold it, else None."""
    return value if value is not None and math.isfinite(value) else None


def _positive(text: str) -> int:
    """Reads a number of tokens."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expects at least 1 token, got {text}")
    return number


def _bytes(text: str) -> int:
    """Reads a number of bytes."""
    try:
        return parse_bytes("--memory-budget", text)
    except ActOptionError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m act",
        description="Compress a training step given as StableHLO text, compile it "
        "with XLA before and after, and report the memory both need.",
    )
    parser.add_argument("step", type=Path, metavar="STEP.mlir")
    add = parser.add_argument
    add(
        "--primal-results",
        type=int,
        default=1,
        metavar="N",
        help="number of leading results that are primal: loss, auxiliary values [1]",
    )
    add("--bits", type=int, choices=BITS, default=4, help="bits per saved element [4]")
    add("-o", "--output", type=Path, metavar="OUT.mlir", help="write the new module")
    add("--json", type=Path, metavar="R.json", help="write the report as JSON")
    add("--plot", type=Path, metavar="P.png", help="draw memory over the step")
    add("--run", action="store_true", help="execute both steps on random arguments")
    add("--no-baseline", action="store_true", help="do not compile the original step")
    add(
        "--memory-budget",
        type=_bytes,
        metavar="SIZE",
        help="bytes for arguments, results and temporaries together, such as 4GiB; "
        "--bits is then the least that values are stored in",
    )
    add("--search", choices=SEARCHES, help="configurations to try")
    add("--window", type=int, choices=WINDOWS, default=1)
    add("--cut", choices=CUTS, default="sink")
    add("--recompute", choices=RECOMPUTES, default="none")
    add("--unremat", action="store_true", help="undo jax.checkpoint first")
    add("--rederive", action="store_true", help="draw masks again in backward")
    add(
        "--slice",
        type=_positive,
        nargs="?",
        const=True,
        default=None,
        metavar="CHUNK",
        help="run heads, attention and sequences in parts, of CHUNK tokens",
    )
    add("--slice-states", choices=SLICE_STATES, default="stored")
    add("--rules", type=Path, metavar="FILE", help="encoding rules (JSON)")
    add("--average-bits", type=float, metavar="X")
    add("--error-budget", type=float, metavar="X")
    add("--running-ranges", action="store_true", help="keep those that rules ask for")
    add(
        "--range-decay", type=float, metavar="X", help="what a step keeps of them [0.9]"
    )
    add("--profile", type=Path, metavar="FILE", help="measured sensitivities (JSON)")
    add("--seed", type=int, metavar="N", help="of the rounding noise")
    add("--argument-seed", type=int, default=0, metavar="N", help="of --run's values")
    add(
        "--progress",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="show progress on stderr [on a terminal]",
    )
    add("--version", action="version", version=f"act {__version__}")
    return parser.parse_args(argv)
