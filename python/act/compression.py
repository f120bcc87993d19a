# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`act.compress` and `act.value_and_grad`."""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax

from act.budget import parse_bytes
from act.errors import ActOptionError
from act.options import CompressOptions, check_reprofiling
from act.profile_data import Profile
from act.step import CompressedStep


def compress(
    step: Callable,
    *,
    primal_results: int = 1,
    bits: int = 4,
    window: int = 1,
    cut: str = "sink",
    recompute: str = "none",
    unremat: bool = False,
    rederive: bool = False,
    search: str | None = None,
    slice: bool | int | None = None,
    slice_states: str = "stored",
    rules: str | os.PathLike | None = None,
    average_bits: float | None = None,
    error_budget: float | None = None,
    profile: Profile | str | os.PathLike | None = None,
    seed: int | None = None,
    running_ranges: bool = False,
    range_decay: float | None = None,
    reprofile_every: int | None = None,
    exact_bf16: bool = False,
    memory_budget: int | str | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    progress: bool | None = None,
) -> CompressedStep:
    """Makes a training step keep its saved values in a few bits.

    Args:
        step: function, jitted or not, that returns a tuple: primal results
            (loss, auxiliary values), then gradients or an updated state.
        primal_results: number of leading elements of that tuple that are
            primal; each may be a pytree. They stay bit-identical. With
            `jax.value_and_grad(..., has_aux=True)` the first element is
            (loss, aux), so 1 is right there too.
        bits: bits per stored element of a lossy value: 8, 4, 2, 1; 0 keeps
            values exact and only recomputes.
        window: see `CompressOptions`, like cut, recompute and search.
        cut: see `CompressOptions`.
        recompute: see `CompressOptions`.
        unremat: see `CompressOptions`.
        rederive: see `CompressOptions`.
        search: "none", "default" or "full": how many configurations to compile
            and compare; see `CompressOptions`.
        slice: True, or a number of tokens, runs the loss head, attention, wide layers
            and models with `act.linear_attention` in parts; see `CompressOptions`.
        slice_states: see `CompressOptions`.
        rules: JSON file of encoding rules per kind of value.
        average_bits: mean bits per compressed element to aim for.
        error_budget: bound on the estimated relative error of the gradient.
        profile: measured sensitivities that average_bits or error_budget go by,
            from `act.profile` or a file it wrote.
        seed: changes the rounding noise; not needed for training.
        running_ranges: keep the running ranges that `rules` ask for: the step is
            called by `with_ranges` and begins with `init_ranges`.
        range_decay: part of its running ranges that a step keeps [0.9].
        reprofile_every: profile the step with the arguments of the first call and of
            every so many after it, and distribute average_bits or error_budget
            anew. A profile takes some passes; where bits change, the step is
            compiled again. Calls inside other transformations (`jax.jit`) do not
            count.
        exact_bf16: compile without excess precision, so that bf16 and f16
            steps give bit-identical primal results if the original is compiled
            that way too.
        memory_budget: bytes, or text such as "8GiB", that arguments, results and
            temporaries may take together as XLA reports it. What is kept, encoded (in
            `bits` bits or more), computed again and sliced is then decided per value,
            for the least time and gradient error; see docs/Budget.md. With the first
            call for some shapes several plans are compiled, and ActBudgetError names
            the least budget if none fits.
        donate_argnums: as in `jax.jit`.
        donate_argnames: as in `jax.jit`.
        static_argnums: as in `jax.jit`.
        static_argnames: as in `jax.jit`.
        progress: show progress on stderr; None shows it on a terminal only.

    Returns:
        A callable like the jitted step, with `.lower`, `.report` and `.mlir`.

    Raises:
        ActOptionError: an option has a bad value.
    """
    if isinstance(primal_results, bool) or not isinstance(primal_results, int):
        raise ActOptionError(f"primal_results must be an int, got {primal_results!r}")
    if primal_results < 1:
        raise ActOptionError(f"primal_results must be at least 1, got {primal_results}")
    if not callable(step):
        raise ActOptionError(f"step must be callable, got {type(step).__name__}")
    check_reprofiling(reprofile_every, average_bits, error_budget)
    options = CompressOptions(
        bits=bits,
        window=window,
        cut=cut,
        recompute=recompute,
        unremat=unremat,
        rederive=rederive,
        search=search,
        slice=slice,
        slice_states=slice_states,
        rules=rules,
        average_bits=average_bits,
        error_budget=error_budget,
        profile=profile,
        seed=seed,
        memory_budget=(
            None
            if memory_budget is None
            else parse_bytes("memory_budget", memory_budget)
        ),
        running_ranges=running_ranges,
        range_decay=range_decay,
    )
    jit_options = {
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
    }
    return CompressedStep(
        step,
        primal_results,
        options,
        jit_options,
        exact_bf16,
        progress,
        reprofile_every,
    )


def value_and_grad(
    loss: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    **options: Any,
) -> CompressedStep:
    """Returns a compressed `jax.value_and_grad(loss, argnums, has_aux)`.

    Args:
        loss: scalar function, with `has_aux` one that returns (loss, aux).
        argnums: positions to differentiate with respect to.
        has_aux: whether `loss` returns auxiliary values.
        **options: options of `compress`, except `primal_results`.
    """
    if "primal_results" in options:
        raise ActOptionError(
            "value_and_grad knows its primal results; use act.compress to name them"
        )
    step = jax.value_and_grad(loss, argnums=argnums, has_aux=has_aux)
    return compress(step, primal_results=1, **options)
