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
        slice: whether the loss head, softmax attention, wide layers, and models
            with `act.linear_attention` run in parts, so that their largest values
            exist for one part at a time; a number is how many tokens a part of a
            head or sequence has, True lets act choose.
        slice_states: where the states of linear attention before each part come
            from: `stored` keeps them all, `reverse` subtracts what the parts added
            from the last ones, for memory that does not grow with their number.
        rules: file with per-kind encoding rules (JSON), or None.
        average_bits: mean bits per compressed element to aim for, or None.
        error_budget: bound on the estimated relative gradient error, or None.
        seed: changes the rounding noise; steps never need it.
    """

    bits: int = 4
    window: int = 1
    cut: str = "sink"
    recompute: str = "none"
    unremat: bool = False
    rederive: bool = False
    search: str | None = None
    slice: bool | int = False
    slice_states: str = "stored"
    rules: Path | None = None
    average_bits: float | None = None
    error_budget: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        _require_choice("bits", self.bits, BITS)
        _require_choice("window", self.window, WINDOWS)
        _require_choice("cut", self.cut, CUTS)
        _require_choice("recompute", self.recompute, RECOMPUTES)
        _require_flag("unremat", self.unremat)
        _require_flag("rederive", self.rederive)
        if self.search is None:
            given = (self.window, self.cut, self.recompute) != DEFAULT_CANDIDATES[0]
            given = given or self.unremat or self.rederive
            object.__setattr__(self, "search", "none" if given else "default")
        _require_choice("search", self.search, SEARCHES)
        is_flag = isinstance(self.slice, bool)
        if not is_flag and not (isinstance(self.slice, int) and self.slice >= 1):
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
        self, primal_results: int, report: Path, linear_attention: str | None = None
    ) -> str:
        """Returns the textual pass pipeline; see `pipeline_options`."""
        text = self.pipeline_options(primal_results, report, linear_attention)
        return f"builtin.module(act-compress{{{text}}})"

    def pipeline_options(
        self,
        primal_results: int,
        report: Path | None = None,
        linear_attention: str | None = None,
    ) -> str:
        """Returns the options of the act-compress pipeline.

        Args:
            primal_results: flat number of leading results that are primal.
            report: file that act-opt writes its JSON report to; None for none.
            linear_attention: what `act.linear_attention` becomes, "call" or "loop";
                None if the step has none.
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
            "seed": self.seed,
            "linear-attention": linear_attention,
            "report": report,
        }
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
        for name in ("rules", "average_bits", "error_budget", "seed"):
            value = getattr(self, name)
            if value is not None:
                parts.append(f"{name}={value}")
        return " ".join(parts)


def reject_memory_budget(memory_budget: Any) -> None:
    """Raises: ActOptionError unless `memory_budget` is None."""
    if memory_budget is not None:
        raise ActOptionError(
            f"memory_budget={memory_budget!r} is not available in this version of "
            'act; available are bits=8|4|2|1|0, average_bits=, search="full" '
            "(compiles all configurations and keeps the smallest), and "
            "step.report(*args), which shows the bytes reached"
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
