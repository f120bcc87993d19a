# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`act.auto_bits`: measured bits for each value, unless uniform ones are better."""

import dataclasses
import math
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from act.contributions import profile_probe
from act.errors import ActOptionError, ActProfileError
from act.instrument import Survivor
from act.probe import Probe, Results
from act.profile_data import Profile, load_profile
from act.profiling import as_compressed
from act.step import CompressedStep

#: Runs with different noise that each assignment of bits is judged by.
SEEDS = 4


@dataclasses.dataclass(frozen=True)
class AutoBits:
    """A compressed step, and how its bits were found.

    Attributes:
        step: the better one of the two, to be called like the original.
        profile: what bits were chosen from.
        takes_profile: whether `step` has the bits chosen from the profile; else it
            has the uniform ones.
        error: measured relative error of the gradient of `step`.
        uniform_error: that of uniform bits at no fewer bytes.
        profile_error: that of the bits chosen from the profile.
        average_bits: bits per element, group parameters included.
        bits: chosen from the profile, by structural key.
    """

    step: CompressedStep
    profile: Profile
    takes_profile: bool
    error: float
    uniform_error: float
    profile_error: float
    average_bits: float
    bits: dict[str, int]

    @property
    def gain(self) -> float:
        """How many bits per element uniform ones would need more: never negative.

        A bit more halves the error.
        """
        return math.log2(self.uniform_error / self.error) if self.error else 0.0

    def __str__(self) -> str:
        """One line with the figures."""
        chosen = "bits from the profile" if self.takes_profile else "uniform bits"
        return (
            f"{self.profile.step}: {chosen}, gradient error {self.error:.3g} at "
            f"{self.average_bits:.2f} bits per element; uniform "
            f"{self.uniform_error:.3g}, from the profile {self.profile_error:.3g}; "
            f"gain {self.gain:.2f} bits"
        )


def auto_bits(
    step: Callable,
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    profile: Profile | str | os.PathLike | None = None,
    results: Results | None = None,
    seed: int = 0,
) -> AutoBits:
    """Distributes the bytes of a step over its values by what was measured.

    Bits are chosen from a profile such that the saved values take no more bytes than
    with the same number of bits for each. Both assignments are then measured, with
    the noise they have in training, and the better one is returned: it is never worse
    than uniform bits on these arguments.

    Args:
        step: a step made by `act.compress` with `bits`, which sets how many bytes
            there are, and without average_bits or error_budget; or a function, which
            is compressed to 4 bits.
        *args: its arguments, with parameters and a batch as in training. Nothing is
            donated.
        kwargs: its keyword arguments.
        profile: from `act.profile`, or its file; None measures.
        results: picks the gradients; see `act.profile`.
        seed: of the noise of all measurements.

    Raises:
        ActOptionError: the step has a budget of its own, or `results` picks nothing.
        ActProfileError: the step cannot be profiled, or the file is no profile.
        ActStepError: the step stores nothing with a loss.
    """
    uniform = as_compressed(step)
    if uniform.options.average_bits or uniform.options.error_budget:
        raise ActOptionError(
            "auto_bits takes the number of bytes from bits=; compress the step "
            "without average_bits and error_budget"
        )
    keywords = dict(kwargs or {})
    probe = uniform.probe(args, keywords, results)
    if profile is None:
        profile = profile_probe(probe, None, seed)
    profile = load_profile(profile)
    # The configuration is settled: only encodings differ from here on.
    options = uniform.chosen_options(*args, **keywords)
    average = _average_bits(probe.step.survivors)
    chosen = uniform.with_options(
        dataclasses.replace(options, average_bits=average, profile=profile)
    )
    chosen_probe = chosen.probe(args, keywords, results)
    survivors = chosen_probe.step.survivors
    if [s.key for s in survivors] != [s.key for s in probe.step.survivors]:
        raise ActProfileError(
            f"{profile.step} saves other values once bits differ between them"
        )
    seeds = [seed + 1000 + number for number in range(SEEDS)]
    uniform_error = probe.error(_levels(probe), seeds)
    profile_error = chosen_probe.error(_levels(chosen_probe), seeds)
    takes_profile = profile_error < uniform_error
    return AutoBits(
        step=chosen if takes_profile else uniform,
        profile=profile,
        takes_profile=takes_profile,
        error=min(profile_error, uniform_error),
        uniform_error=uniform_error,
        profile_error=profile_error,
        average_bits=_average_bits(
            survivors if takes_profile else probe.step.survivors
        ),
        bits={s.key: s.bits for s in survivors if s.bits is not None},
    )


def _average_bits(survivors: tuple[Survivor, ...]) -> float:
    """Returns bits per element, group parameters included."""
    elements = sum(survivor.elements for survivor in survivors)
    return 8 * sum(survivor.bytes for survivor in survivors) / elements


def _levels(probe: Probe) -> np.ndarray:
    """Returns the levels of the encodings that the step has."""
    return np.asarray([survivor.levels for survivor in probe.step.survivors])
