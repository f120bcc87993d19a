# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Families of planning problems like those of training steps, and their solution.

A problem has 14 tensors per layer, saved by a forward pass and used by a backward
pass. Each is kept, encoded with 8, 4, 2 or 1 bits, recomputed, or copied to the
host. Rows: the error of all encodings, the bytes that are copied, and the memory at
every position of the backward pass, where a tensor that is used and not kept is
there in full. docs/Planner.md describes the format.
"""

import dataclasses
import json
import random
import subprocess
from pathlib import Path
from typing import Any

import highspy
import numpy as np

PLANNER = Path(__file__).resolve().parents[1] / "build" / "bin" / "act-planner"
TENSORS_PER_LAYER = 14
MIB = 2**20
#: Sizes of a layer's tensors are drawn from these, in units of 8 MiB.
SIZES = (1, 1, 1, 2, 2, 4, 4, 8, 16, 0.03, 0.03)
#: What recomputing costs, in ms per MiB, is drawn from these.
RECOMPUTE_MS = (0.002, 0.004, 0.05, 0.2)
RECOMPUTE = 5  # the number of that option
ERROR_ROW, COPY_ROW, FIRST_POSITION = 0, 1, 2


@dataclasses.dataclass(frozen=True)
class Family:
    """What a problem is made of.

    Attributes:
        tensors: number of saved tensors, a multiple of 14.
        budget: limit of the memory, as a part of the bytes of all tensors.
        order: "nested", where tensors are used in the reverse of the order they are
            saved in, or "scattered", where some are used once more later.
        pairs: whether recomputing neighbours costs more than each alone.
        error: limit of the error, as a part of that of 1 bit for all tensors.
        seed: of all random numbers.
    """

    tensors: int
    budget: float
    order: str = "nested"
    pairs: bool = False
    error: float = 0.05
    seed: int = 0

    @property
    def name(self) -> str:
        """A short name."""
        kind = "pairs" if self.pairs else self.order
        return f"{self.tensors} {kind} {100 * self.budget:g} %"


def _make_sizes(family: Family) -> list[int]:
    """Draws the bytes of each tensor: layers are equal up to 2 %."""
    generator = random.Random(family.seed)
    layer = [8 * generator.choice(SIZES) for _ in range(TENSORS_PER_LAYER)]
    return [
        round(MIB * layer[i % TENSORS_PER_LAYER] * (1 + 0.02 * generator.random()))
        for i in range(family.tensors)
    ]


def _make_options(size: int, generator: random.Random) -> list[dict]:
    """Draws a tensor's options with their bytes while it is saved ("resident")."""
    sensitivity = generator.lognormvariate(0, 1)
    mebibytes = size / MIB
    options = [{"cost": 0.0, "resident": size, "error": 0.0}]
    for bits in (8, 4, 2, 1):
        # Of 16-bit elements, with a little for scales.
        resident = round(size * (bits / 16 + 1 / 256))
        error = sensitivity * mebibytes * 64 * 4.0**-bits
        # 2.2 passes at 1500 MiB per ms.
        cost = 2.2 * mebibytes / 1500
        options.append({"cost": cost, "resident": resident, "error": error})
    recompute = mebibytes * generator.choice(RECOMPUTE_MS)
    options.append({"cost": recompute, "resident": 0, "error": 0.0})
    copy = 0.3 * mebibytes / 25
    options.append({"cost": copy, "resident": 0, "error": 0.0, "copied": size})
    return options


def _make_item(options: list[dict], size: int, uses: list[int]) -> dict:
    """Makes an item whose tensor is live from the first position to its last use."""
    result = []
    for number, option in enumerate(options):
        rows = []
        if option["error"]:
            rows.append([ERROR_ROW, option["error"]])
        if "copied" in option:
            rows.append([COPY_ROW, option["copied"]])
        if option["resident"]:
            last = FIRST_POSITION + uses[-1]
            rows.append([FIRST_POSITION, last, option["resident"]])
        if number > 0:
            rows += [[FIRST_POSITION + position, size] for position in uses]
        result.append({"cost": option["cost"], "uses": rows})
    return {"options": result}


def make_problem(family: Family) -> dict[str, Any]:
    """Makes the problem of a family, as act-planner reads it."""
    count = family.tensors
    sizes = _make_sizes(family)
    generator = random.Random(family.seed + 1)
    options = [_make_options(size, generator) for size in sizes]
    items = []
    for number, (size, choices) in enumerate(zip(sizes, options, strict=True)):
        uses = [count - 1 - number]
        if family.order == "scattered":
            delay = generator.choice((0, 0, 0, 1, 5, 20, count // 2))
            uses = sorted({uses[0], min(count - 1, uses[0] + delay)})
        items.append(_make_item(choices, size, uses))
    one_bit = sum(choices[4]["error"] for choices in options)
    limits = [family.error * one_bit, float(round(0.35 * sum(sizes)))]
    limits += [float(round(family.budget * sum(sizes)))] * count
    pairs = [
        {
            "first": [number, RECOMPUTE],
            "second": [number - 1, RECOMPUTE],
            "cost": options[number - 1][RECOMPUTE]["cost"],
        }
        for number in range(1, count)
        if family.pairs and number % TENSORS_PER_LAYER
    ]
    peak_rows = list(range(FIRST_POSITION, FIRST_POSITION + count))
    return {"limits": limits, "items": items, "pairs": pairs, "peak_rows": peak_rows}


def run_planner(problem: dict[str, Any], *arguments: str) -> dict[str, Any]:
    """Solves a problem with act-planner.

    Raises:
        RuntimeError: act-planner failed; with its message.
    """
    done = subprocess.run(
        [PLANNER, *arguments],
        input=json.dumps(problem),
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def sum_uses(problem: dict[str, Any], choices: list[int]) -> list[float]:
    """Sums what a plan uses of each row."""
    sums = np.zeros(len(problem["limits"]))
    for item, choice in zip(problem["items"], choices, strict=True):
        for use in item["options"][choice]["uses"]:
            sums[use[0] : use[-2] + 1] += use[-1]
    return sums.tolist()


def sum_costs(problem: dict[str, Any], choices: list[int]) -> float:
    """Sums what a plan costs."""
    cost = sum(
        item["options"][choice]["cost"]
        for item, choice in zip(problem["items"], choices, strict=True)
    )
    for pair in problem.get("pairs", []):
        ends = (pair["first"], pair["second"])
        if all(choices[item] == option for item, option in ends):
            cost += pair["cost"]
    return cost


@dataclasses.dataclass(frozen=True)
class Proof:
    """What HiGHS found: the cost of a plan, and a bound of all plans' costs.

    Both are infinite if there is no plan.
    """

    cost: float
    bound: float


def _add_rows(model: highspy.Highs, problem: dict[str, Any], first: list[int]) -> None:
    """Adds the rows, with item i's options in the columns from first[i] on."""
    rows: list[dict[int, float]] = [{} for _ in problem["limits"]]
    for begin, item in zip(first, problem["items"], strict=True):
        columns = np.arange(begin, begin + len(item["options"]), dtype=np.int32)
        model.addRow(1, 1, len(columns), columns, np.ones(len(columns)))
        for column, option in zip(columns, item["options"], strict=True):
            for use in option["uses"]:
                for row in range(use[0], use[-2] + 1):
                    rows[row][column] = rows[row].get(column, 0) + use[-1]
    for row, limit in zip(rows, problem["limits"], strict=True):
        # In parts of the limit: bytes would be far from the tolerances.
        unit = abs(limit) or 1
        columns = np.array(list(row), dtype=np.int32)
        amounts = np.array(list(row.values())) / unit
        model.addRow(-highspy.kHighsInf, limit / unit, len(row), columns, amounts)


def prove(problem: dict[str, Any], seconds: float, gap: float = 1e-4) -> Proof:
    """Solves a problem with HiGHS, for at most `seconds`."""
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("time_limit", seconds)
    model.setOptionValue("mip_rel_gap", gap)
    costs = [o["cost"] for item in problem["items"] for o in item["options"]]
    first = np.cumsum([0] + [len(i["options"]) for i in problem["items"]]).tolist()
    pairs = problem.get("pairs", [])
    numbers = np.arange(len(costs) + len(pairs), dtype=np.int32)
    model.addVars(len(numbers), np.zeros(len(numbers)), np.ones(len(numbers)))
    all_costs = np.array(costs + [pair["cost"] for pair in pairs])
    model.changeColsCost(len(numbers), numbers, all_costs)
    kinds = np.array([highspy.HighsVarType.kInteger] * len(costs))
    model.changeColsIntegrality(len(costs), numbers[: len(costs)], kinds)
    _add_rows(model, problem, first[:-1])
    for column, pair in enumerate(pairs, len(costs)):
        ends = [
            first[item] + option for item, option in (pair["first"], pair["second"])
        ]
        columns = np.array([*ends, column], dtype=np.int32)
        model.addRow(-highspy.kHighsInf, 1, 3, columns, np.array([1.0, 1.0, -1.0]))
    model.run()
    if model.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return Proof(float("inf"), float("inf"))
    info = model.getInfo()
    return Proof(info.objective_function_value, info.mip_dual_bound)
