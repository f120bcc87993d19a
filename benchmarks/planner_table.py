#!/usr/bin/env python
# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Costs, bounds and times of act-planner on generated problems.

    benchmarks/planner [--json FILE] [--tensors N,...] [--error RATIO,...]
                       [--seeds N] [--monotone] [--highs SECONDS]
                       [--highs-tensors N]

Tensors are used in nested or in scattered order, or in nested order with pairs of
options that cost more together; the budget is a part of the bytes of all. Seconds
are those of the processor, with reading and writing the problem. With --highs,
problems of at most so many tensors are also solved by HiGHS, as a proof.
"""

import argparse
import dataclasses
import itertools
import json
import resource
from pathlib import Path

import planner_families as families

KINDS = (("nested", False), ("scattered", False), ("nested", True))
BUDGETS = (0.5, 0.25, 0.12)
#: The widest gap that counts as met.
MOST_GAP = 0.005
COLUMNS = "{:28}{:>6}{:>6}{:>12}{:>12}{:>9}{:>8}{:>12}"


@dataclasses.dataclass(frozen=True)
class Row:
    """A line of the table; costs in ms, `highs_cost` None where it was not run."""

    family: families.Family
    rows: int
    cost: float
    bound: float
    gap: float
    seconds: float
    highs_cost: float | None


def get_processor_seconds() -> float:
    """Returns the time that programs that ended have taken."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def measure(family: families.Family, options: argparse.Namespace) -> Row:
    """Solves the problem of a family."""
    problem = families.make_problem(family)
    limit = repr(problem["limits"][-1])
    arguments = ["--monotone", "--limit", limit] if options.monotone else []
    started = get_processor_seconds()
    solution = families.run_planner(problem, *arguments)
    seconds = get_processor_seconds() - started
    proof = None
    if options.highs and family.tensors <= options.highs_tensors:
        proof = families.prove(problem, options.highs).cost
    return Row(
        family,
        len(problem["limits"]),
        solution["cost"],
        solution["bound"],
        solution["gap"],
        seconds,
        proof,
    )


def print_row(row: Row) -> None:
    """Prints a line of the table."""
    proof = "" if row.highs_cost is None else f"{row.highs_cost:.4f}"
    print(
        COLUMNS.format(
            row.family.name,
            f"{row.family.error:g}",
            row.family.seed,
            f"{row.cost:.4f}",
            f"{row.bound:.4f}",
            f"{100 * row.gap:.3f} %",
            f"{row.seconds:.2f}",
            proof,
        ),
        flush=True,
    )


def list_families(options: argparse.Namespace) -> list[families.Family]:
    """Lists what is measured."""
    tensors = [int(count) for count in options.tensors.split(",")]
    errors = [float(error) for error in options.error.split(",")]
    return [
        families.Family(count, budget, order, pairs, error, seed)
        for count, (order, pairs), budget, error, seed in itertools.product(
            tensors, KINDS, BUDGETS, errors, range(options.seeds)
        )
    ]


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    parser.add_argument(
        "--tensors", default="168,448,1008", help="multiples of 14 [168,448,1008]"
    )
    parser.add_argument("--seeds", type=int, default=1, help="problems per family [1]")
    parser.add_argument("--error", default="0.05", help="limits of the error [0.05]")
    parser.add_argument(
        "--monotone", action="store_true", help="choose among plans of fixed limits"
    )
    parser.add_argument("--highs", type=float, metavar="SECONDS", help="run HiGHS, too")
    parser.add_argument("--highs-tensors", type=int, metavar="N", default=168)
    options = parser.parse_args()
    header = ("tensors", "error", "seed", "cost", "bound", "gap", "s", "HiGHS")
    print(COLUMNS.format(*header))
    rows = []
    for family in list_families(options):
        rows.append(measure(family, options))
        print_row(rows[-1])
    missed = sum(row.gap > MOST_GAP for row in rows)
    widest = 100 * max(row.gap for row in rows)
    print(f"widest gap: {widest:.3f} %; above {100 * MOST_GAP:g} %: {missed}")
    if options.json:
        text = json.dumps([dataclasses.asdict(row) for row in rows], indent=2)
        Path(options.json).write_text(text + "\n")


if __name__ == "__main__":
    main()
