# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options of a compression and the act-opt pipeline they stand for."""

import dataclasses
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from act.errors import ActOptionError
from act.profile_data import Profile, load_profile

BITS = (0, 1, 2, 4, 8)
WINDOWS = (1, 3)
CUTS = ("sink", "source")
RECOMPUTES = ("none", "batch", "growing", "all", "auto")
SEARCHES = ("none", "default", "full")
SLICE_STATES = ("stored", "reverse")

#: Configurations (window, cut, recompute) that `search="default"` considers.
DEFAULT_CANDIDATES = (
    (1, "sink", "none"),
    (1, "sink", "growing"),
)

#: What `search="full"` recomputes; `auto` is one of these.
_FULL_RECOMPUTES = RECOMPUTES[:4]

#: Part of the temporary memory that a configuration behind the first of
#: `DEFAULT_CANDIDATES` has to spare: it costs time and a little accuracy.
DEFAULT_MARGIN = 0.1


@dataclasses.dataclass(frozen=True)
class CompressOptions:
    """How a step is compressed; the same for every shape it is called with.

    Attributes:
        bits: bits per element of a lossy survivor: 8, 4, 2, 1, or 0 to only
            recompute and keep survivors as they are.
        window: contractions over which a recomputed value is shared.
        cut: which minimum cut to take, the one nearest the `sink` or `source`.
        recompute: which contractions backward may repeat: `none`, those with
            batch dimensions (`batch`), those whose result is larger than
            their operands (`growing`), `all`, or as many of these as spare a byte
            for at most 1000 floating-point operations (`auto`).
        unremat: whether to undo the rematerialisation of a step that uses
            `jax.checkpoint` before deciding what to save.
        rederive: whether backward draws dropout masks again from their keys
            instead of saving a bit per element; never another mask.
        search: `default` recomputes contractions if that spares a tenth of the
            temporary memory that XLA reports; it compiles the step a second time
            only where it may. For a step with `jax.checkpoint` it also undoes
            that, and for one with random masks it also considers `rederive`.
            `full` compiles all combinations and keeps the smallest. Both leave a
            step as it is if none is smaller than it. `none` uses window, cut,
            recompute, unremat and rederive as given. None stands for `none` if
            one of these was given, else for `default`.
        memory_budget: bytes that arguments, results and temporaries of the step may
            take together, as the engine reports it, or None. Then `bits` is the least
            that a value is stored in, and what window, recompute, unremat, rederive
            and slice leave open is up to the plan.
        slice: whether the loss head, softmax attention, wide layers, and models
            with `act.linear_attention` run in parts, so that their largest values
            exist for one part at a time; a number is how many tokens a part of a
            head or sequence has, True lets act choose. None is False, with a memory
            budget as the plan needs it.
        slice_states: where the states of linear attention before each part come
            from: `stored` keeps them all, `reverse` subtracts what the parts added
            from the last ones, for memory that does not grow with their number.
        rules: file with per-kind encoding rules (JSON), or None.
        average_bits: mean bits per compressed element to aim for, or None.
        error_budget: bound on the estimated relative gradient error, or None.
        profile: measured sensitivities that average_bits or error_budget go by, a
            `Profile` or a file that holds one (docs/Profile.md); or None.
        seed: changes the rounding noise; steps never need it.
        running_ranges: whether the step takes and returns the running ranges that
            rules with `"range": "running"` ask for.
        range_decay: part of its running ranges that a step keeps, at least 0 and
            less than 1, or None for 0.9.
    """

    bits: int = 4
    window: int = 1
    cut: str = "sink"
    recompute: str = "none"
    unremat: bool = False
    rederive: bool = False
    search: str | None = None
    slice: bool | int | None = None
    slice_states: str = "stored"
    rules: Path | None = None
    average_bits: float | None = None
    error_budget: float | None = None
    profile: Profile | None = None
    seed: int | None = None
    memory_budget: int | None = None
    running_ranges: bool = False
    range_decay: float | None = None

    def __post_init__(self) -> None:
        _require_choice("bits", self.bits, BITS)
        _require_choice("window", self.window, WINDOWS)
        _require_choice("cut", self.cut, CUTS)
        _require_choice("recompute", self.recompute, RECOMPUTES)
        _require_flag("unremat", self.unremat)
        _require_flag("rederive", self.rederive)
        if self.memory_budget is not None:
            self._check_budget()
        if self.search is None:
            given = (self.window, self.cut, self.recompute) != DEFAULT_CANDIDATES[0]
            given = given or self.unremat or self.rederive
            object.__setattr__(self, "search", "none" if given else "default")
        _require_choice("search", self.search, SEARCHES)
        is_flag = isinstance(self.slice, bool)
        if (
            self.slice is not None
            and not is_flag
            and not (isinstance(self.slice, int) and self.slice >= 1)
        ):
            raise ActOptionError(
                "slice must be True, False or a number of tokens of at least 1, "
                f"got {self.slice!r}"
            )
        _require_choice("slice_states", self.slice_states, SLICE_STATES)
        _require_positive("average_bits", self.average_bits)
        _require_positive("error_budget", self.error_budget)
        if self.rules is not None:
            path = Path(os.fspath(self.rules)).resolve()
            if not path.is_file():
                raise ActOptionError(f"rules: no such file: {path}")
            object.__setattr__(self, "rules", path)
        if self.profile is not None:
            self._load_profile()
        self._check_ranges()

    def _load_profile(self) -> None:
        object.__setattr__(self, "profile", load_profile(self.profile))
        budgets = (self.average_bits, self.error_budget, self.memory_budget)
        if all(budget is None for budget in budgets):
            raise ActOptionError(
                "profile needs average_bits, error_budget or memory_budget: it says "
                "where bits go, not how many there are"
            )

    def _check_ranges(self) -> None:
        _require_flag("running_ranges", self.running_ranges)
        if self.running_ranges and self.rules is None:
            raise ActOptionError(
                "running_ranges needs rules that say which values have running "
                'ranges, such as [{"axis": "head", "bits": 8, "range": "running"}]'
            )
        decay = self.range_decay
        if decay is None:
            return
        if isinstance(decay, bool) or not isinstance(decay, int | float):
            raise ActOptionError(f"range_decay must be a number, got {decay!r}")
        if not 0 <= decay < 1:
            raise ActOptionError(
                f"range_decay must be at least 0 and less than 1, got {decay!r}"
            )
        if not self.running_ranges:
            raise ActOptionError("range_decay needs running_ranges=True")

    def _check_budget(self) -> None:
        """Raises ActOptionError for options that a memory budget excludes."""
        for name in ("search", "average_bits", "running_ranges"):
            value = getattr(self, name)
            if value not in (None, "none", False):
                raise ActOptionError(
                    f"memory_budget decides what {name}={value!r} would; give one of "
                    "the two"
                )

    @property
    def margin(self) -> float:
        """Part of the memory by which a later candidate must be smaller."""
        return DEFAULT_MARGIN if self.search == "default" else 0.0

    def candidates(
        self, rematerialised: bool = False, random: bool = False
    ) -> Iterator[Self]:
        """Yields the configurations that `search` asks to compile.

        Args:
            rematerialised: whether the step computes things again already.
            random: whether it draws random numbers.
        """
        if self.search == "none":
            yield self
            return
        if self.search == "default":
            choices = [
                (*choice, rematerialised and number > 0, False)
                for number, choice in enumerate(DEFAULT_CANDIDATES)
            ]
            if random:
                choices.append((*choices[-1][:-1], True))
        else:
            undo = (False, True) if rematerialised else (False,)
            draw = (False, True) if random else (False,)
            choices = list(
                itertools.product(WINDOWS, CUTS, _FULL_RECOMPUTES, undo, draw)
            )
        for window, cut, recompute, unremat, rederive in choices:
            yield dataclasses.replace(
                self,
                window=window,
                cut=cut,
                recompute=recompute,
                unremat=unremat,
                rederive=rederive,
                search="none",
            )

    def pipeline(
        self,
        primal_results: int,
        report: Path,
        linear_attention: str | None = None,
        temp_budget: int | None = None,
        instrument: bool = False,
    ) -> str:
        """Returns the textual pass pipeline; see `pipeline_options`."""
        text = self.pipeline_options(
            primal_results, report, linear_attention, temp_budget, instrument
        )
        return f"builtin.module(act-compress{{{text}}})"

    def pipeline_options(
        self,
        primal_results: int,
        report: Path | None = None,
        linear_attention: str | None = None,
        temp_budget: int | None = None,
        instrument: bool = False,
    ) -> str:
        """Returns the options of the act-compress pipeline.

        Args:
            primal_results: flat number of leading results that are primal.
            report: file that act-opt writes its JSON report to; None for none.
            linear_attention: what `act.linear_attention` becomes, "call" or "loop";
                None if the step has none.
            temp_budget: bytes of temporary memory to plan for, None for no plan. If
                the model finds no plan within them it takes the one with the least
                peak. The plan chooses window and recompute unless they are given.
            instrument: whether arguments of the step say how much it rounds
                (`act-instrument`).
        """
        options: dict[str, Any] = {
            "primal-results": primal_results,
            "bits": self.bits,
            "window": self.window,
            "cut": self.cut,
            "recompute": self.recompute,
            "unremat": "true" if self.unremat else None,
            "rederive": "true" if self.rederive else None,
            "slice": "true" if self.slice else None,
            "slice-chunk": None if isinstance(self.slice, bool) else self.slice,
            "slice-states": self.slice_states if self.slice else None,
            "rules": self.rules,
            "average-bits": self.average_bits,
            "error-budget": self.error_budget,
            "profile": self.profile and self.profile.as_file(),
            "seed": self.seed,
            "running-ranges": "true" if self.running_ranges else None,
            "range-decay": self.range_decay,
            "linear-attention": linear_attention,
            "memory-budget": temp_budget,
            "least": None if temp_budget is None else "true",
            "instrument": "true" if instrument else None,
            "report": report,
        }
        if temp_budget is not None:
            defaults = zip(("window", "recompute"), (1, "none"), strict=True)
            for name, default in defaults:
                if options[name] == default:
                    options[name] = None
        return " ".join(
            f"{name}={value}" for name, value in options.items() if value is not None
        )

    def summary(self) -> str:
        """Returns the configuration on one line, for people."""
        parts = [f"bits={self.bits}", f"window={self.window}", f"cut={self.cut}"]
        parts.append(f"recompute={self.recompute}")
        if self.unremat:
            parts.append("unremat")
        if self.rederive:
            parts.append("rederive")
        if self.slice:
            parts.append("slice" if self.slice is True else f"slice={self.slice}")
            if self.slice_states != "stored":
                parts.append(f"slice_states={self.slice_states}")
        if self.memory_budget is not None:
            parts = [f"memory_budget={self.memory_budget}", f"bits>={self.bits}"]
        if self.running_ranges:
            parts.append("running_ranges")
        if self.profile is not None:
            parts.append(f"profile={self.profile.step}")
        for name in ("rules", "average_bits", "error_budget", "seed", "range_decay"):
            value = getattr(self, name)
            if value is not None:
                parts.append(f"{name}={value}")
        return " ".join(parts)


def check_reprofiling(
    every: int | None, average_bits: float | None, error_budget: float | None
) -> None:
    """Raises ActOptionError unless a step can be profiled every so many calls."""
    if every is None:
        return
    if isinstance(every, bool) or not isinstance(every, int) or every < 1:
        raise ActOptionError(
            f"reprofile_every must be an int of at least 1, got {every!r}"
        )
    if average_bits is None and error_budget is None:
        raise ActOptionError(
            "reprofile_every needs average_bits or error_budget: it distributes them "
            "anew"
        )


def _require_choice(name: str, value: Any, choices: tuple) -> None:
    if isinstance(value, bool) or value not in choices:
        expected = ", ".join(repr(choice) for choice in choices)
        raise ActOptionError(f"{name} must be one of {expected}, got {value!r}")


def _require_flag(name: str, value: bool) -> None:
    if not isinstance(value, bool):
        raise ActOptionError(f"{name} must be True or False, got {value!r}")


def _require_positive(name: str, value: float | None) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise ActOptionError(f"{name} must be a positive number, got {value!r}")
