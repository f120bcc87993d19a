# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Budgets from what a step needs as it is down to what cannot be met.

Each budget is an `act.compress(step, memory_budget=...)` of its own; nothing is
shared between them. See docs/Benchmarks.md.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import jax
from rich.console import Console
from rich.table import Table

import act
from act import xla
from act.compare import compare_results
from measure import MIB, caller, median_time_ratio, warm_up_compiler
from models import MODELS

DEFAULT = ("mlp12", "gpt6", "gpt_dropout", "cnn", "gpt_scan24")

COLUMNS = {
    "asked": "{:,.1f}",
    "engine": "{:,.1f}",
    "used": "{:.2f}",
    "met": "{}",
    "time_ratio": "{:.2f}",
    "error": "{:.4f}",
    "predicted_error": "{:.4f}",
    "primal_identical": "{}",
    "model_error": "{:.3f}",
    "loop_error": "{:.4f}",
    "gap": "{:.4f}",
    "plans_compiled": "{}",
    "kept": "{}",
    "lever": "{}",
    "seconds": "{:.1f}",
}


def measure(name: str, options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Sweeps the budgets of one model; memory in MiB."""
    model = MODELS[name]()
    arguments = (model.parameters, model.batch)
    plain = jax.jit(model.step()).lower(*arguments).compile()
    original = xla.peak_bytes(plain)
    least = _least_reachable(model, arguments, options)
    reference = jax.tree.leaves(plain(*arguments))
    rows: list[dict[str, Any]] = []
    for budget in _budgets(original, least, options.budgets):
        console.print(f"{name}: {budget / MIB:,.1f} MiB", style="dim")
        row = _row(model, arguments, budget, options)
        compiled = row.pop("compiled", None)
        if compiled is not None and not options.compile_only:
            comparison = compare_results(
                reference, jax.tree.leaves(compiled(*arguments)), 1
            )
            row["primal_identical"] = comparison.primal_identical
            row["error"] = comparison.gradient_error_median
            row["error_max"] = comparison.gradient_error_max
            if options.seconds:
                row["time_ratio"] = median_time_ratio(
                    caller(plain, arguments),
                    caller(compiled, arguments),
                    options.seconds,
                )
        rows.append(row)
    return _summary(original, least, rows)


def _least_reachable(model: Any, arguments: tuple, options: argparse.Namespace) -> int:
    """Returns the budget that act names for one that cannot be met."""
    step = act.compress(
        model.step(), memory_budget=1, bits=options.bits, progress=False
    )
    try:
        step.mlir(*arguments)
    except act.ActBudgetError as error:
        return error.least
    raise AssertionError("a budget of one byte was met")


def _budgets(original: int, least: int, count: int) -> list[int]:
    """Returns budgets from the original peak to one below the least, in bytes."""
    ratio = least / original
    feasible = [
        int(original * ratio ** (number / (count - 2))) for number in range(count - 1)
    ]
    feasible[-1] = least
    return [*feasible, int(0.95 * least)]


def _row(
    model: Any, arguments: tuple, budget: int, options: argparse.Namespace
) -> dict[str, Any]:
    started = time.perf_counter()
    step = act.compress(
        model.step(), memory_budget=budget, bits=options.bits, progress=False
    )
    try:
        lowered = step.lower(*arguments)
    except act.ActBudgetError as error:
        return {
            "asked": budget / MIB,
            "met": False,
            "least": error.least / MIB,
            "seconds": time.perf_counter() - started,
        }
    seconds = time.perf_counter() - started
    compiled = lowered.compile()
    engine = xla.peak_bytes(compiled)
    figures = step.report(*arguments).budget
    row = {
        "asked": budget / MIB,
        "engine": engine / MIB,
        "used": engine / budget,
        "met": engine <= budget,
        "plans_compiled": figures["plans_compiled"],
        "seconds": seconds,
        "compiled": compiled,
    }
    if "model" in figures:
        temp = xla.temp_bytes(compiled)
        row |= {
            "model_error": abs(figures["model"] / temp - 1),
            "loop_error": abs(figures["expected"] / temp - 1),
            "cost": figures["cost"],
            "bound": figures["cost_bound"],
            "gap": figures["cost"] - figures["cost_bound"],
            "predicted_error": figures["predicted_error"],
            "kept": figures["kept"],
            "lever": figures["lever"],
        }
    return row


def _summary(original: int, least: int, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Returns what holds of all rows, which are in order of falling budgets."""
    feasible = [row for row in rows if row["asked"] * MIB >= least]
    engines = [row["engine"] for row in feasible if row["met"]]
    errors = [row["model_error"] for row in rows if "model_error" in row]
    corrected = [row["loop_error"] for row in rows if "loop_error" in row]
    return {
        "original": original / MIB,
        "least_reachable": least / MIB,
        "all_met": all(row["met"] for row in feasible),
        "infeasible_named": all(
            row["least"] >= row["asked"] for row in rows if "least" in row
        ),
        "monotone": engines == sorted(engines, reverse=True),
        "model_error_max": max(errors, default=None),
        "loop_error_max": max(corrected, default=None),
        "used_min": min((row["used"] for row in feasible if row["met"]), default=None),
        "rows": rows,
    }


def _table(name: str, result: dict[str, Any]) -> Table:
    title = ", ".join(
        f"{key} {_format(value)}" for key, value in result.items() if key != "rows"
    )
    table = Table(title=f"{name}: {title}", title_justify="left")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for row in result["rows"]:
        table.add_row(
            *(
                "" if row.get(column) is None else pattern.format(row[column])
                for column, pattern in COLUMNS.items()
            )
        )
    return table


def _format(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> int:
    """Runs the benchmark; returns its exit status."""
    parser = argparse.ArgumentParser(
        description="Plan training steps to memory budgets, from what they need as "
        "they are down to what cannot be met, and compare with what XLA reports."
    )
    add = parser.add_argument
    add("--only", default=",".join(DEFAULT), help="models, separated by commas")
    add("--budgets", type=int, default=10, help="budgets per model [10]")
    add("--bits", type=int, default=4, help="fewest bits per element [4]")
    add("--seconds", type=float, default=3, help="to spend on each time ratio [3]")
    add("--compile-only", action="store_true", help="execute nothing")
    add("--json", type=Path, metavar="F", help="write the figures")
    options = parser.parse_args()
    names = options.only.split(",")
    unknown = [name for name in names if name not in MODELS]
    if unknown or options.budgets < 4:
        parser.error(
            f"--only expects names among {', '.join(MODELS)}, got {unknown[0]}"
            if unknown
            else f"--budgets expects at least 4, got {options.budgets}"
        )
    warm_up_compiler()
    progress = Console(stderr=True)
    console = Console(width=None if sys.stdout.isatty() else 200)
    results = {}
    for name in names:
        results[name] = measure(name, options, progress)
        console.print(_table(name, results[name]))
        if options.json is not None:
            options.json.write_text(json.dumps(results, indent=2) + "\n")
    good = all(
        result["all_met"] and result["monotone"] and result["infeasible_named"]
        for result in results.values()
    )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
