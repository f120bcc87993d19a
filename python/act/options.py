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
RECOMPUTES = ("none", "batch", "growing")
SEARCHES = ("none", "default", "full")

#: Configurations (window, cut, recompute) that `search="default"` considers.
DEFAULT_CANDIDATES = (
    (1, "sink", "none"),
    (1, "sink", "growing"),
)

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
            batch dimensions (`batch`), or those whose result is larger than
            their operands (`growing`).
        search: `default` recomputes contractions if that spares a tenth of the
            temporary memory that XLA reports; it compiles the step a second time
            only where it may. `full` compiles all twelve combinations and keeps
            the smallest. `none` uses window, cut and recompute as given. None
            stands for `none` if one of these was given, else for `default`.
        rules: file with per-kind encoding rules (JSON), or None.
        average_bits: mean bits per compressed element to aim for, or None.
        error_budget: bound on the estimated relative gradient error, or None.
        seed: changes the rounding noise; steps never need it.
    """

    bits: int = 4
    window: int = 1
    cut: str = "sink"
    recompute: str = "none"
    search: str | None = None
    rules: Path | None = None
    average_bits: float | None = None
    error_budget: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        _require_choice("bits", self.bits, BITS)
        _require_choice("window", self.window, WINDOWS)
        _require_choice("cut", self.cut, CUTS)
        _require_choice("recompute", self.recompute, RECOMPUTES)
        if self.search is None:
            given = (self.window, self.cut, self.recompute) != DEFAULT_CANDIDATES[0]
            object.__setattr__(self, "search", "none" if given else "default")
        _require_choice("search", self.search, SEARCHES)
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

    def candidates(self) -> Iterator[Self]:
        """Yields the configurations that `search` asks to compile."""
        if self.search == "none":
            yield self
            return
        choices = (
            DEFAULT_CANDIDATES
            if self.search == "default"
            else itertools.product(WINDOWS, CUTS, RECOMPUTES)
        )
        for window, cut, recompute in choices:
            yield dataclasses.replace(
                self, window=window, cut=cut, recompute=recompute, search="none"
            )

    def pipeline(self, primal_results: int, report: Path) -> str:
        """Returns the textual pass pipeline.

        Args:
            primal_results: flat number of leading results that are primal.
            report: file that act-opt writes its JSON report to.
        """
        options: dict[str, Any] = {
            "primal-results": primal_results,
            "bits": self.bits,
            "window": self.window,
            "cut": self.cut,
            "recompute": self.recompute,
            "rules": self.rules,
            "average-bits": self.average_bits,
            "error-budget": self.error_budget,
            "seed": self.seed,
            "report": report,
        }
        text = " ".join(
            f"{name}={value}" for name, value in options.items() if value is not None
        )
        return f"builtin.module(act-compress{{{text}}})"

    def summary(self) -> str:
        """Returns the configuration on one line, for people."""
        parts = [f"bits={self.bits}", f"window={self.window}", f"cut={self.cut}"]
        parts.append(f"recompute={self.recompute}")
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


def _require_positive(name: str, value: float | None) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        raise ActOptionError(f"{name} must be a positive number, got {value!r}")
