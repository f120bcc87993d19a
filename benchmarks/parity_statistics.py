# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Paired comparison of trainings that differ in nothing but the compression."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

CONFIDENCE = 0.95

#: Part of the seeds' standard deviation that a mean difference may be.
SMALL = 0.5

WITHIN, WORSE, BETTER, UNCLEAR = "within", "worse", "better", "unclear"


@dataclasses.dataclass(frozen=True)
class Interval:
    """A mean and its confidence interval, in the unit of the values."""

    mean: float
    low: float
    high: float


@dataclasses.dataclass(frozen=True)
class Difference:
    """How trainings differ from the exact ones with the same seeds.

    Attributes:
        interval: of the mean difference, other minus exact.
        seed_deviation: standard deviation of the exact ones over seeds.
        verdict: see `judge`.
    """

    interval: Interval
    seed_deviation: float
    verdict: str


def mean_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval:
    """Returns the mean of independent values and its interval by Student's t.

    Args:
        values: at least two, thought to be normally distributed.
        confidence: probability that the interval holds the true mean.

    Raises:
        ValueError: there are fewer than two values.
    """
    # Imported here: it takes half a second.
    from scipy.stats import t

    if len(values) < 2:
        raise ValueError(f"expects at least 2 values, got {len(values)}")
    mean = float(np.mean(values))
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    reach = float(t.ppf((1 + confidence) / 2, len(values) - 1)) * error
    return Interval(mean, mean - reach, mean + reach)


def judge(interval: Interval, seed_deviation: float, higher_is_worse: bool) -> str:
    """Says what a mean difference amounts to beside the noise of seeds.

    Args:
        interval: of the mean difference, other minus exact.
        seed_deviation: standard deviation of the exact trainings over seeds.
        higher_is_worse: true for a loss, false for an accuracy.

    Returns:
        `WITHIN` if the interval lies within one deviation of zero and the mean
        within half of one; otherwise `WORSE` or `BETTER` if the interval does not
        hold zero, and `UNCLEAR` if it does: more seeds would tell.
    """
    reach = max(-interval.low, interval.high)
    if reach <= seed_deviation and abs(interval.mean) <= SMALL * seed_deviation:
        return WITHIN
    if interval.low <= 0 <= interval.high:
        return UNCLEAR
    return WORSE if (interval.low > 0) == higher_is_worse else BETTER


def compare(
    exact: Sequence[float], other: Sequence[float], higher_is_worse: bool
) -> Difference:
    """Compares trainings by seed.

    Args:
        exact: a figure of each exact training.
        other: the same of the compressed ones, in the same order of seeds.
        higher_is_worse: true for a loss, false for an accuracy.

    Raises:
        ValueError: their numbers differ, or there are fewer than two.
    """
    if len(exact) != len(other):
        raise ValueError(f"expects {len(exact)} values as of exact, got {len(other)}")
    interval = mean_interval(np.subtract(other, exact))
    deviation = float(np.std(exact, ddof=1))
    return Difference(interval, deviation, judge(interval, deviation, higher_is_worse))
