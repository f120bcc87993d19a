# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Timing and comparison of compiled steps."""

import dataclasses
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax

MIB = 2**20


@dataclasses.dataclass(frozen=True)
class Compiled:
    """A compiled step with what compiling it cost.

    Attributes:
        executable: the step.
        temp_mib: temporary memory XLA needs for it.
        seconds: time XLA took, without tracing and rewriting.
    """

    executable: jax.stages.Compiled
    temp_mib: float
    seconds: float


def compile_step(lowered: jax.stages.Lowered) -> Compiled:
    """Compiles a lowered step."""
    started = time.perf_counter()
    executable = lowered.compile()
    seconds = time.perf_counter() - started
    temp = executable.memory_analysis().temp_size_in_bytes
    return Compiled(executable, temp / MIB, seconds)


def warm_up_compiler() -> None:
    """Compiles something small, so that start-up costs fall on no model."""
    jax.jit(lambda x: x @ x + 1).lower(
        jax.ShapeDtypeStruct((8, 8), "float32")
    ).compile()


def median_time_ratio(
    first: Callable[[], Any], second: Callable[[], Any], seconds: float
) -> float:
    """Returns how much longer `second` takes than `first`.

    They run alternately, so that a change of the machine's speed meets both; the
    median of the ratios of neighbours is robust against single disturbances.

    Args:
        first: runs a step and returns its results.
        second: the same for another step.
        seconds: time to spend, with at least three pairs.
    """
    first_seconds, second_seconds = _seconds(first), _seconds(second)  # warm up
    pairs = int(seconds / max(first_seconds + second_seconds, 1e-9))
    ratios = []
    for number in range(min(max(pairs, 3), 51)):
        if number % 2:
            divisor = _seconds(first)
            ratios.append(_seconds(second) / divisor)
        else:
            dividend = _seconds(second)
            ratios.append(dividend / _seconds(first))
    return statistics.median(ratios)


def _seconds(run: Callable[[], Any]) -> float:
    started = time.perf_counter()
    jax.block_until_ready(run())
    return time.perf_counter() - started


def caller(executable: jax.stages.Compiled, arguments: Sequence[Any]) -> Callable:
    """Returns a function without arguments that runs a step."""
    return lambda: executable(*arguments)
