# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A progress line on stderr for work that takes seconds to minutes."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)


class Stages:
    """Shows which of a number of stages runs and for how long.

    Nothing is shown when stderr is not a terminal, unless asked for; a log file
    then gets one line per stage.

    Args:
        total: number of stages to come.
        enabled: False shows nothing, True always, None only on a terminal.
    """

    def __init__(self, total: int, enabled: bool | None = None) -> None:
        console = Console(stderr=True)
        self._plain = bool(enabled) and not console.is_terminal
        self._console = console
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=enabled is False or not console.is_terminal,
        )
        self._task = self._progress.add_task("", total=total)
        self._started = False

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def extend(self, stages: int) -> None:
        """Announces `stages` more stages than were known at the start."""
        total = self._progress.tasks[self._task].total or 0
        self._progress.update(self._task, total=total + stages)

    def start(self, what: str) -> None:
        """Ends the stage that runs and starts the next one."""
        if self._started:
            self._progress.advance(self._task)
        self._started = True
        self._progress.update(self._task, description=what)
        if self._plain:
            self._console.print(f"act: {what}", highlight=False)
