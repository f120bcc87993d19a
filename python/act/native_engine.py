# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory budgets of native steps, whose arena is planned exactly."""

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from act import tool
from act.budget import Footprint
from act.native_library import LoadedStep
from act.options import CompressOptions


class HasStep(Protocol):
    """What holds a loaded step."""

    step: LoadedStep


Compiled = TypeVar("Compiled", bound=HasStep)


class NativeEngine(Generic[Compiled]):
    """Native steps, whose arena is their temporary memory.

    Args:
        text: the module in generic form.
        primal_results: flat number of leading results that are primal.
        compile_with: compiles it with options of act-compress, None for none.
    """

    def __init__(
        self,
        text: str,
        primal_results: int,
        compile_with: Callable[[str | None], Compiled],
    ) -> None:
        self._text = text
        self._primal_results = primal_results
        self._compile_with = compile_with
        self._results: list[tuple[Footprint, Compiled]] = []

    def plan(self, options: CompressOptions, limit: int) -> tool.ToolResult:
        """Plans for a limit of temporary bytes, by the model of XLA."""
        return tool.run_compress(
            self._text, self._primal_results, options, temp_budget=limit
        )

    def measure(
        self, options: CompressOptions, limit: int, planned: tool.ToolResult
    ) -> Footprint:
        """Compiles a plan."""
        del planned  # is made again on the way to kernels
        pipeline = options.pipeline_options(self._primal_results, temp_budget=limit)
        return self._note(self._compile_with(pipeline))

    def measure_original(self) -> Footprint:
        """Compiles the step as it is."""
        return self._note(self._compile_with(None))

    def find(self, peak: int) -> Compiled:
        """Returns a step that was measured to have this peak."""
        return next(step for known, step in self._results if known.peak == peak)

    def _note(self, compiled: Compiled) -> Footprint:
        info = compiled.step.info
        fixed = sum(value.nbytes for value in (*info.arguments, *info.results))
        footprint = Footprint(fixed + info.arena_bytes, info.arena_bytes)
        self._results.append((footprint, compiled))
        return footprint
