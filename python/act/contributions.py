# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What each saved value adds to the error of the gradient, from a few passes."""

import numpy as np

from act.errors import ActOptionError
from act.probe import Probe
from act.profile_data import BITS, Measured, Profile
from act.unmixing import Group, draw_masks, least_runs, unmix

#: Seeds of the noise that the runs of a profile are divided over.
SEEDS = 2

#: The fewest runs with each seed, unless there are fewer values.
LEAST_RUNS = 8


def default_passes(values: int) -> int:
    """Returns how many runs a profile of so many values takes by default.

    With each seed there are as many pairs of runs as values, or a run for each value
    if these are few.
    """
    return SEEDS * min(max(LEAST_RUNS, least_runs(values)), values)


def profile_probe(probe: Probe, passes: int | None, seed: int) -> Profile:
    """Measures with a step that is instrumented already; see `profile`."""
    if passes is None:
        passes = default_passes(probe.survivors)
    least = 2 * SEEDS
    if isinstance(passes, bool) or not isinstance(passes, int) or passes < least:
        raise ActOptionError(
            f"passes must be an int of at least {least}, got {passes!r}"
        )
    random = np.random.default_rng(seed)
    groups = []
    for number in range(SEEDS):
        runs = passes // SEEDS + (number < passes % SEEDS)
        masks = draw_masks(random, runs, probe.survivors)
        groups.append(_run_group(probe, masks, seed + 1 + number))
    squares, fit = unmix(groups)
    return Profile(
        step=probe.step.name,
        survivors=_merge(probe, squares),
        gradient_norm=probe.norm,
        passes=probe.passes,
        fit=fit,
    )


def _run_group(probe: Probe, masks: np.ndarray, seed: int) -> Group:
    """Runs a step with one seed, rounding to `BITS` bits what the masks say."""
    differences = [probe.differences(row * (2**BITS - 1), seed) for row in masks]
    products = []
    for tensor in zip(*differences, strict=True):
        rows = np.stack(tensor).astype(np.float64)
        products.append(rows @ rows.T)
    return Group(masks, np.stack(products))


def _merge(probe: Probe, squares: np.ndarray) -> tuple[Measured, ...]:
    """Returns one entry per key; values of one key are the same expression."""
    found: dict[str, Measured] = {}
    for survivor, square in zip(probe.step.survivors, squares, strict=True):
        before = found.get(survivor.key)
        found[survivor.key] = Measured(
            survivor.key,
            survivor.name,
            survivor.shape,
            survivor.copies + (before.copies if before else 0),
            float(square) + (before.contribution if before else 0.0),
        )
    return tuple(found.values())
