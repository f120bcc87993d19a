# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`act.profile`: measures what rounding each saved value does to the gradient."""

import dataclasses
import os
from collections.abc import Callable, Mapping
from typing import Any

from act.compression import compress
from act.contributions import profile_probe
from act.probe import Results
from act.profile_data import Profile
from act.step import CompressedStep


def profile(
    step: Callable,
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    passes: int | None = None,
    path: str | os.PathLike | None = None,
    seed: int = 0,
    results: Results | None = None,
) -> Profile:
    """Measures what storing each saved value in 4 bits does to the gradient.

    Compiles the step once more, instrumented (`act-instrument`), and runs it a few
    times; several values are rounded in each run, and their contributions told apart
    (`act.unmixing`). GACT (arXiv 2206.11357, section 4.2) measures the same with
    three runs for each value.

    The gradient is all float results behind the primal ones, taken together as one
    vector. If the step updates parameters itself, choose: differences of parameters
    after SGD are those of the gradient times the learning rate, and only their size
    relative to the parameters is wrong; after Adam they say little, so let `results`
    pick something that is linear in the gradient, such as the first moments.

    Args:
        step: made by `act.compress` or `act.value_and_grad`; any other function is
            compressed with the default options. Budgets of bits or error are left
            out.
        *args: its arguments, with parameters and a batch as in training. Nothing is
            donated.
        kwargs: its keyword arguments.
        passes: how often to run the step, besides once exactly; None chooses by the
            number of values. More are more precise.
        path: file to write the profile to.
        seed: of the noise.
        results: `results(step(*args))` returns the gradients, any pytree.

    Raises:
        ActOptionError: passes are too few, or `results` picks no float.
        ActProfileError: the gradient is zero or not finite, or the file cannot be
            written.
        ActStepError: the step stores nothing with a loss.
    """
    uniform = without_budgets(as_compressed(step))
    measured = profile_probe(
        uniform.probe(args, dict(kwargs or {}), results), passes, seed
    )
    if path is not None:
        measured.write(path)
    return measured


def as_compressed(step: Callable) -> CompressedStep:
    """Returns a step, compressed with the default options unless it is already.

    Raises:
        ActOptionError: it is nothing callable.
    """
    return step if isinstance(step, CompressedStep) else compress(step)


def without_budgets(step: CompressedStep) -> CompressedStep:
    """Returns a step whose values all have the same bits."""
    options = dataclasses.replace(
        step.options, average_bits=None, error_budget=None, profile=None
    )
    return step if options == step.options else step.with_options(options)
