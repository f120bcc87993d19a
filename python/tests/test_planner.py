# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""act-planner on problems like those of training steps, checked by HiGHS."""

import copy
import resource
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from planner_families import (
    Family,
    make_problem,
    prove,
    run_planner,
    sum_costs,
    sum_uses,
)

KINDS = [("nested", False), ("scattered", False), ("nested", True)]
FAMILIES = [
    Family(tensors, budget, order, pairs)
    for tensors in (168, 448)
    for order, pairs in KINDS
    for budget in (0.5, 0.25, 0.12)
]
#: The widest gap of a plan.
MOST_GAP = 0.005


def check_plan(problem: dict, solution: dict) -> None:
    """Checks a solution by sums of its own."""
    assert len(solution["choices"]) == len(problem["items"])
    cost = sum_costs(problem, solution["choices"])
    assert solution["cost"] == pytest.approx(cost, rel=1e-12)
    sums = sum_uses(problem, solution["choices"])
    # The error row has fractions, the others bytes.
    assert sums[0] <= problem["limits"][0] * (1 + 1e-12)
    for used, limit in zip(sums[1:], problem["limits"][1:], strict=True):
        assert used <= limit
    assert solution["peak"] == max(sums[row] for row in problem["peak_rows"])
    assert solution["bound"] <= solution["cost"]
    gap = solution["cost"] - solution["bound"]
    assert solution["gap"] * solution["cost"] == pytest.approx(gap)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_gap_is_narrow(family: Family) -> None:
    problem = make_problem(family)
    solution = run_planner(problem)
    check_plan(problem, solution)
    assert solution["gap"] <= MOST_GAP


@pytest.mark.parametrize(
    "family",
    [
        Family(28, 0.25, order, pairs, error, seed)
        for order, pairs in KINDS
        for error in (0.01, 0.05)
        for seed in (0, 1)
    ]
    + [Family(168, 0.25, order, pairs) for order, pairs in KINDS],
    ids=lambda family: f"{family.name} {family.error} {family.seed}",
)
def test_highs_agrees(family: Family) -> None:
    problem = make_problem(family)
    proof = prove(problem, seconds=60, gap=1e-6)
    assert proof.cost == pytest.approx(proof.bound, rel=1e-5)
    solution = run_planner(problem, "--gap", "1e-4")
    if proof.cost == float("inf"):
        assert solution["status"] == "infeasible"
        return
    check_plan(problem, solution)
    # HiGHS may use 1e-6 of a limit too much.
    assert solution["bound"] <= proof.cost * (1 + 1e-5)
    assert solution["cost"] >= proof.bound * (1 - 1e-4)
    assert solution["cost"] <= proof.cost * (1 + MOST_GAP)


@pytest.mark.parametrize(("order", "pairs"), KINDS)
def test_a_thousand_tensors_take_less_than_five_seconds(
    order: str, pairs: bool
) -> None:
    problem = make_problem(Family(1008, 0.12, order, pairs))
    started = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    solution = run_planner(problem)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - started
    check_plan(problem, solution)
    assert solution["gap"] <= MOST_GAP
    assert seconds < 5


@pytest.mark.parametrize(("order", "pairs"), KINDS)
def test_less_budget_never_means_more_memory_or_less_time(
    order: str, pairs: bool
) -> None:
    problem = make_problem(Family(84, 1, order, pairs, seed=3))
    least = run_planner(problem, "--least")
    assert least["status"] == "optimal"
    free = run_planner(problem)["peak"]
    costs, peaks = [], []
    for step in range(11):
        limit = least["limit"] + (free - least["limit"]) * step / 10
        solution = run_planner(problem, "--monotone", "--limit", repr(limit))
        limited = copy.deepcopy(problem)
        for row in problem["peak_rows"]:
            limited["limits"][row] = limit
        check_plan(limited, solution)
        costs.append(solution["cost"])
        peaks.append(solution["peak"])
    assert costs == sorted(costs, reverse=True)
    assert peaks == sorted(peaks)
    assert costs[0] > costs[-1] and peaks[0] < peaks[-1]
    too_little = repr(least["bound"] * (1 - 1e-6))
    solution = run_planner(problem, "--monotone", "--limit", too_little)
    assert solution["status"] == "infeasible"
    assert solution["choices"] == [] and solution["cost"] is None


def test_nearby_budgets_are_monotone() -> None:
    # Searches that end with a gap find cheaper plans for some smaller limits.
    problem = make_problem(Family(84, 0.12, error=0.01, seed=2))
    middle = problem["limits"][-1]
    costs, peaks = [], []
    for step in range(-6, 7):
        limit = repr(middle * (1 + step * 4e-4))
        work = ("--work", "100000000")
        solution = run_planner(problem, "--monotone", "--limit", limit, *work)
        costs.append(solution["cost"])
        peaks.append(solution["peak"])
    assert costs == sorted(costs, reverse=True)
    assert peaks == sorted(peaks)


def test_results_do_not_change() -> None:
    problem = make_problem(Family(168, 0.12, "scattered", error=0.01))
    assert run_planner(problem) == run_planner(problem)


def repeat(problem: dict, count: int) -> dict:
    """Makes a problem of `count` times the same items, in the same rows."""
    limits = [count * limit for limit in problem["limits"]]
    return problem | {"items": problem["items"] * count, "limits": limits}


def test_equal_items_are_solved_once() -> None:
    # There is no plan, which the relaxation tells: nothing else is done.
    problem = make_problem(Family(14, 0.25, seed=2))
    one, fifty = run_planner(problem), run_planner(repeat(problem, 50))
    assert one["status"] == fifty["status"] == "infeasible"
    assert fifty["work"] < 5 * one["work"]


def test_many_equal_items() -> None:
    problem = repeat(make_problem(Family(14, 0.25, seed=1)), 50)
    solution = run_planner(problem)
    check_plan(problem, solution)
    assert solution["gap"] <= MOST_GAP
