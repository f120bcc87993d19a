# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans a step to a memory budget that the engine confirms.

`act-opt` plans by a model of the memory (`act-plan`). Whether a plan holds, only the
engine can tell: plans for a fixed ladder of limits are compiled, from the one that the
model suggests up and down, until the loosest rung is found whose peak, as the engine
reports it, is within the budget.

The rungs do not depend on the budget, and the loosest rung that fits is taken. So a
smaller budget never gives a larger peak: of two budgets a < b let i and j be the rungs
taken. Rung j is i or looser. If it is looser it does not fit a, so the peak of j is
above a, and that of i is not. Rungs above one that does not fit are not looked at,
which is right as long as peaks do not fall where limits rise.
"""

import dataclasses
import functools
import hashlib
import math
import re
from collections.abc import Callable
from typing import Any, Protocol

import jax
from jax import export

from act import tool, xla
from act.errors import ActBudgetError, ActOptionError, ActToolError
from act.options import CompressOptions
from act.progress import Stages
from act.stablehlo import with_module

#: Limit of a rung over that of the rung above.
RUNG = 0.96
#: The loosest rung, as a multiple of the original step's temporary memory. The model
#: may be too high by as much.
LOOSEST = 1.5
#: Plans compiled for one budget and way to partition.
MAX_TRIALS = 14

_UNITS = {
    "": 1,
    "b": 1,
    **{u: 1000**n for n, u in enumerate(("kb", "mb", "gb", "tb"), 1)},
    **{u: 1024**n for n, u in enumerate(("kib", "mib", "gib", "tib"), 1)},
}


def parse_bytes(name: str, value: Any) -> int:
    """Returns a number of bytes.

    Args:
        name: of the option, for errors.
        value: an int, or text such as "8GiB", "500 MB" or "1.5GiB" (GB is 1e9 bytes,
            GiB is 2**30).

    Raises:
        ActOptionError: it is neither, or not positive.
    """
    count = 0
    if isinstance(value, int) and not isinstance(value, bool):
        count = value
    elif isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", value)
        if match and match[2].lower() in _UNITS:
            count = int(float(match[1]) * _UNITS[match[2].lower()])
    if count < 1:
        raise ActOptionError(
            f"{name} must be a positive number of bytes, or text such as '8GiB' or "
            f"'500MB', got {value!r}"
        )
    return count


@dataclasses.dataclass(frozen=True)
class Footprint:
    """What an engine says of a compiled step.

    Attributes:
        peak: bytes of arguments, results and temporaries.
        temp: those of temporaries.
    """

    peak: int
    temp: int


class Engine(Protocol):
    """What plans, compiles and executes steps."""

    def plan(self, options: CompressOptions, limit: int) -> tool.ToolResult:
        """Plans for a limit of temporary bytes, by the model."""

    def measure(
        self, options: CompressOptions, limit: int, planned: tool.ToolResult
    ) -> Footprint:
        """Compiles a plan."""

    def measure_original(self) -> Footprint:
        """Compiles the step as it is."""


class XlaEngine:
    """XLA, as JAX runs it.

    Args:
        exported: the step as act-opt takes it.
        original: the step as it is, as it can be compiled.
        text: its module in generic form.
        primal_results: flat number of leading results that are primal.
        compile_candidate: compiles a step.
        linear_attention: what act.linear_attention becomes, None if there is none.
    """

    def __init__(
        self,
        exported: export.Exported,
        original: export.Exported,
        text: str,
        primal_results: int,
        compile_candidate: Callable[[export.Exported], jax.stages.Compiled],
        linear_attention: str | None,
    ) -> None:
        self._exported = exported
        self._original = original
        self._text = text
        self._primal_results = primal_results
        self._compile = compile_candidate
        self._linear_attention = linear_attention
        self._known: dict[str, Footprint] = {}

    def plan(self, options: CompressOptions, limit: int) -> tool.ToolResult:
        """Plans for a limit of temporary bytes, by the model."""
        return tool.run_compress(
            self._text,
            self._primal_results,
            options,
            self._linear_attention,
            temp_budget=limit,
        )

    def measure(
        self, options: CompressOptions, limit: int, planned: tool.ToolResult
    ) -> Footprint:
        """Compiles a plan; equal modules once."""
        del options, limit  # the module is what they led to
        digest = hashlib.sha256(planned.text.encode()).hexdigest()
        if digest not in self._known:
            self._known[digest] = _footprint(self.compile(planned.text))
        return self._known[digest]

    def measure_original(self) -> Footprint:
        """Compiles the step as it is."""
        return _footprint(self.compile(None))

    def compile(self, text: str | None) -> jax.stages.Compiled:
        """Compiles a module that act-opt made, with None the step as it is."""
        if text is None:
            return self._compile(self._original)
        return self._compile(with_module(self._exported, text))


def _footprint(compiled: jax.stages.Compiled) -> Footprint:
    return Footprint(xla.peak_bytes(compiled), xla.temp_bytes(compiled))


@dataclasses.dataclass(frozen=True)
class Trial:
    """A plan that the engine has compiled.

    Attributes:
        lever: what was allowed besides keeping and encoding, for people.
        limit: bytes of temporary memory that act-plan was asked for.
        text: the module.
        report: what act-opt says about it, with the figures of the plan.
        options: of the pipeline.
        model: temporary bytes that the model predicts.
        temp: temporary bytes that the engine reports.
        peak: bytes with arguments and results.
        expected: temporary bytes expected of this plan before it was compiled: the
            model's, corrected by what the nearest plan compiled before was off by.
    """

    lever: str
    limit: int
    text: str
    report: dict[str, Any]
    options: CompressOptions
    model: int
    temp: int
    peak: int
    expected: int


@dataclasses.dataclass(frozen=True)
class BudgetResult:
    """A plan within a budget.

    Attributes:
        trial: the plan taken, None if the step stays as it is.
        original: of the step as it is.
        trials: all plans compiled for this budget, in order.
    """

    trial: Trial | None
    original: Footprint
    trials: tuple[Trial, ...]

    def to_dict(self, budget: int) -> dict[str, Any]:
        """Returns what a report says about the budget.

        Args:
            budget: bytes asked for.
        """
        trial = self.trial
        figures: dict[str, Any] = {
            "asked": budget,
            "peak": trial.peak if trial else self.original.peak,
            "original_peak": self.original.peak,
            "plans_compiled": len(self.trials),
        }
        if trial is None:
            return figures
        plan = trial.report["plan"]
        return figures | {
            "lever": trial.lever,
            "temp": trial.temp,
            "model": trial.model,
            "expected": trial.expected,
            "lower_bound": plan["lower_bound"],
            "predicted_error": plan["error"],
            "cost": plan["cost"],
            "cost_bound": plan["bound"],
            "window": plan["window"],
            "recompute": plan["recompute"],
            "kept": plan["kept"],
            "recomputed": plan["recomputed"],
        }


class BudgetSearch:
    """Finds plans for budgets of one step; plans compiled once are remembered.

    Args:
        engine: compiles and measures.
        text: module of the step in generic form.
        options: what plans may do.
    """

    def __init__(self, engine: Engine, text: str, options: CompressOptions) -> None:
        self.engine = engine
        self._bits = options.bits
        self._ladders = [
            _Ladder(self, name, choice) for name, choice in _levers(options, text)
        ]

    def find(self, budget: int, stages: Stages) -> BudgetResult:
        """Returns the plan for a budget.

        Args:
            budget: bytes for arguments, results and temporaries together.
            stages: shows progress; counts one stage already.

        Raises:
            ActBudgetError: no plan is within the budget.
            ActToolError: act-opt failed.
        """
        stages.start("compiling the step as it is")
        original = self.original
        if original.peak <= budget:
            return BudgetResult(None, original, ())
        room = budget - (original.peak - original.temp)
        for ladder in self._ladders:
            trial = ladder.find(budget, room, stages)
            if trial is not None:
                return BudgetResult(trial, original, self.trials)
        least = min(original.peak, *(trial.peak for trial in self.trials))
        raise ActBudgetError(budget, least, original.peak, self._bits)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All plans compiled so far."""
        return tuple(t for ladder in self._ladders for t in ladder.trials.values())

    @functools.cached_property
    def original(self) -> Footprint:
        """What the step needs as it is."""
        return self.engine.measure_original()


class _Ladder:
    """Plans of one kind, from the loosest limit down."""

    def __init__(
        self, search: BudgetSearch, name: str, options: CompressOptions
    ) -> None:
        self._search = search
        self._name = name
        self._options = options
        self.trials: dict[int, Trial] = {}
        self._bottom: int | None = None

    def find(self, budget: int, room: int, stages: Stages) -> Trial | None:
        """Returns the loosest plan within a budget, None if there is none.

        Args:
            budget: bytes in all.
            room: those of them that are left for temporaries.
            stages: shows progress.
        """
        if room <= 0:
            self._try_bottom(stages)
            return None
        bottom = self._try_bottom(stages)
        if self.trials[bottom].peak > budget:
            return None
        fits, fails = bottom, -1
        for _ in range(MAX_TRIALS):
            for rung, trial in self.trials.items():
                if trial.peak <= budget:
                    fits = min(fits, rung)
            fails = max(
                (r for r, t in self.trials.items() if t.peak > budget and r < fits),
                default=-1,
            )
            if fits - fails <= 1:
                break
            self._try(self._suggest(room, fails, fits), stages)
        return self.trials[fits]

    def _suggest(self, room: int, fails: int, fits: int) -> int:
        """Returns a rung between two that the model says is just below the room."""
        known = [t for r, t in self.trials.items() if r in (fails, fits)]
        nearest = min(known, key=lambda t: abs(t.temp - room))
        rung = self._rung(nearest.model + room - nearest.temp)
        return min(max(rung, fails + 1), fits - 1)

    def _rung(self, limit: float) -> int:
        """Returns the loosest rung whose limit is not above `limit`."""
        steps = math.log(max(limit, 1) / self._top) / math.log(RUNG)
        return max(0, math.ceil(steps))

    @property
    def _top(self) -> float:
        """Limit of the loosest rung."""
        return LOOSEST * max(self._search.original.temp, 1)

    def _try_bottom(self, stages: Stages) -> int:
        """Compiles the plan with the least peak; returns its rung."""
        if self._bottom is None:
            result = self._plan(1, stages)
            plan = result.report.get("plan", {"peak": 1})
            self._bottom = self._rung(plan["peak"])
            self._note(self._bottom, 1, result, stages)
        return self._bottom

    def _try(self, rung: int, stages: Stages) -> None:
        limit = max(1, int(self._top * RUNG**rung))
        self._note(rung, limit, self._plan(limit, stages), stages)

    def _plan(self, limit: int, stages: Stages) -> tool.ToolResult:
        stages.extend(2)
        stages.start(f"planning for {limit / 2**20:,.1f} MiB ({self._name})")
        return self._search.engine.plan(self._options, limit)

    def _note(
        self, rung: int, limit: int, result: tool.ToolResult, stages: Stages
    ) -> None:
        plan = result.report.get("plan")
        if plan is None:
            raise ActToolError("act-opt did not report a plan for the memory budget")
        expected = self._expect(plan)
        stages.start(f"compiling a plan ({self._name})")
        measured = self._search.engine.measure(self._options, limit, result)
        self.trials[rung] = Trial(
            self._name,
            limit,
            result.text,
            result.report,
            self._options,
            plan["peak"],
            measured.temp,
            measured.peak,
            expected,
        )

    def _expect(self, plan: dict[str, Any]) -> int:
        """Corrects a prediction by what the model was off by for the nearest plan.

        That is a plan with the same partition: what the model does not know are
        buffers of single operations, whatever is saved.

        Args:
            plan: figures of act-plan.
        """
        alike = [
            trial
            for trial in self.trials.values()
            if all(
                trial.report["plan"][key] == plan[key]
                for key in ("window", "recompute")
            )
        ]
        if not alike:
            return plan["peak"]
        nearest = min(alike, key=lambda t: abs(t.model - plan["peak"]))
        return plan["peak"] + nearest.temp - nearest.model


def _levers(options: CompressOptions, text: str) -> list[tuple[str, CompressOptions]]:
    """Returns kinds of plans, those that change the least first."""
    base = dataclasses.replace(options, search="none", slice=options.slice or False)
    levers = [("keep, encode, recompute", base)]
    if "stablehlo.optimization_barrier" in text and not options.unremat:
        levers.append(("checkpoints undone", dataclasses.replace(base, unremat=True)))
    if "threefry" in text and not options.rederive:
        last = levers[-1][1]
        levers.append(("masks drawn again", dataclasses.replace(last, rederive=True)))
    if options.slice is None:
        last = levers[-1][1]
        levers.append(("in slices", dataclasses.replace(last, slice=True)))
    return levers
