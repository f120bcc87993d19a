# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rewrites an exported step with act-opt and picks the smallest candidate."""

import dataclasses
import re
import time
import warnings
from collections.abc import Callable
from typing import Any

import jax
from jax import export

from act import attention_lowering, tool, xla
from act.budget import BudgetSearch, XlaEngine
from act.errors import ActBudgetError, ActStepError, ActWarning
from act.options import CompressOptions
from act.progress import Stages
from act.ranges import RangeState, range_states, with_states
from act.stablehlo import with_module

#: What the original step is called among the candidates.
AS_IT_IS = "as it is"


@dataclasses.dataclass(frozen=True)
class Rewritten:
    """A compressed step.

    Attributes:
        exported: the step with the module act-opt made.
        text: that module.
        report: what act-opt reports about it.
        options: the configuration that was taken.
        candidates: temporary bytes XLA reported for each configuration tried,
            by its summary; empty when there was only one.
        seconds: time act-opt took.
        untouched: whether the step stays as it is because no configuration
            needs less memory.
        compiled: the step as compiled for the comparison of candidates, if
            there was one.
        compile_seconds: time that took.
        budget: what was done for a memory budget, None without one.
        temp_budget: bytes of temporary memory that it was planned for, or None.
        states: running ranges that it takes behind its arguments and returns
            behind its results; with any, both are flat.
    """

    exported: export.Exported
    text: str
    report: dict[str, Any]
    options: CompressOptions
    candidates: dict[str, int]
    seconds: float
    untouched: bool = False
    compiled: jax.stages.Compiled | None = None
    compile_seconds: float | None = None
    budget: dict[str, Any] | None = None
    temp_budget: int | None = None
    states: tuple[RangeState, ...] = ()


def rewrite(
    exported: export.Exported,
    text: str,
    primal_results: int,
    options: CompressOptions,
    compile_candidate: Callable[[Rewritten], jax.stages.Compiled],
    stages: Stages,
) -> Rewritten:
    """Compresses a step.

    Args:
        exported: the original step.
        text: its module in generic form.
        primal_results: flat number of leading results that are primal.
        options: what to do; with `search` other than "none" the candidates that
            may be smaller are compiled, and the smallest is returned.
        compile_candidate: compiles a rewritten step, called only to compare.
        stages: shows progress; its total counts no candidate yet.

    Raises:
        ActToolError: act-opt failed.
        ActStepError: the step has no gradient, or jaxlib rejects the result.
    """
    if options.memory_budget is not None:
        return _rewrite_to_budget(
            exported, text, primal_results, options, compile_candidate, stages
        )
    rematerialised = "stablehlo.optimization_barrier" in text
    random = "threefry" in text
    attention = attention_lowering.form_in_step(exported, text)
    candidates = list(options.candidates(rematerialised, random))
    compare = len(candidates) > 1
    stages.extend(len(candidates) * (2 if compare else 1))
    best: Rewritten | None = None
    sizes: dict[str, int] = {}
    modules: set[str] = set()
    for candidate in candidates:
        stages.start(f"act-opt {candidate.summary()}")
        started = time.perf_counter()
        result = tool.run_compress(text, primal_results, candidate, attention)
        seconds = time.perf_counter() - started
        _require_gradient(text, result.report, primal_results)
        states = range_states(result.text)
        rewritten = Rewritten(
            with_states(exported, result.text, states),
            result.text,
            result.report,
            candidate,
            sizes,
            seconds,
            states=states,
        )
        if result.text in modules or (
            best and not _may_be_smaller(rewritten, best, sizes, options)
        ):
            stages.start(f"skipping {candidate.summary()}")
            continue
        modules.add(result.text)
        if compare:
            stages.start(f"compiling {candidate.summary()}")
            rewritten = _compile(rewritten, compile_candidate)
            size = xla.temp_bytes(rewritten.compiled)
            if not sizes or size < (1 - options.margin) * min(sizes.values()):
                best = rewritten
            sizes[candidate.summary()] = size
        else:
            best = rewritten
    assert best is not None
    if compare and (rematerialised or not _saves_much(best, sizes, options)):
        stages.extend(1)
        stages.start("compiling the step as it is")
        if attention is not None:
            text = attention_lowering.lower_in_step(text, attention)
            exported = with_module(exported, text)
        original = dataclasses.replace(
            best,
            exported=exported,
            text=text,
            report=_report_untouched(best.report),
            untouched=True,
            states=(),
        )
        original = _compile(original, compile_candidate)
        sizes[AS_IT_IS] = xla.temp_bytes(original.compiled)
        if sizes[AS_IT_IS] <= min(sizes.values()):
            best = original
    _warn_about_profile(best)
    return best


def _rewrite_to_budget(
    exported: export.Exported,
    text: str,
    primal_results: int,
    options: CompressOptions,
    compile_candidate: Callable[[Rewritten], jax.stages.Compiled],
    stages: Stages,
) -> Rewritten:
    """Compresses a step such that it fits `options.memory_budget`.

    Raises:
        ActBudgetError: it does not.
    """
    assert options.memory_budget is not None
    attention = attention_lowering.form_in_step(exported, text)
    original = text
    if attention is not None:
        original = attention_lowering.lower_in_step(text, attention)
    started = time.perf_counter()
    engine = XlaEngine(
        exported,
        with_module(exported, original),
        text,
        primal_results,
        lambda new: compile_candidate(Rewritten(new, "", {}, options, {}, 0.0)),
        attention,
    )
    stages.extend(2)
    search = BudgetSearch(engine, text, options)
    try:
        found = search.find(options.memory_budget, stages)
    except ActBudgetError:
        for tried in search.trials[:1]:
            _require_gradient(text, tried.report, primal_results)
        raise
    trial = found.trial
    if trial is None:
        report = tool.run_compress(
            text, primal_results, dataclasses.replace(options, search="none"), attention
        ).report
        _require_gradient(text, report, primal_results)
        report, new_text = _report_untouched(report), original
    else:
        report, new_text = trial.report, trial.text
        _require_gradient(text, report, primal_results)
    stages.start("compiling the step within its budget")
    compile_started = time.perf_counter()
    compiled = engine.compile(trial.text if trial else None)
    return Rewritten(
        with_module(exported, new_text),
        new_text,
        report,
        trial.options if trial else options,
        {},
        time.perf_counter() - started,
        untouched=trial is None,
        compiled=compiled,
        compile_seconds=time.perf_counter() - compile_started,
        budget=found.to_dict(options.memory_budget),
        temp_budget=trial.limit if trial else None,
    )


def _require_gradient(text: str, report: dict[str, Any], primal_results: int) -> None:
    """Raises ActStepError if a step computes no gradient."""
    if not _has_gradient(text, report):
        raise ActStepError(
            "the step computes no gradient: besides its first "
            f"{primal_results} flat results, which are taken as primal, nothing "
            "is computed that reads values of theirs; compress a function that "
            "returns (loss, gradients), such as jax.value_and_grad(loss), or "
            "lower primal_results"
        )


def _warn_about_profile(rewritten: Rewritten) -> None:
    """Warns if the profile does not know some of what is stored with a loss."""
    profile = rewritten.options.profile
    if profile is None:
        return
    survivors = rewritten.report["survivors"]
    keys = [entry["key"] for entry in survivors if not entry["lossless"]]
    unknown = profile.unknown(keys)
    if unknown:
        warnings.warn(
            f"the profile of {profile.step} does not know {len(unknown)} of "
            f"{len(keys)} values that are stored with a loss, {unknown[0]} for one; "
            "their sensitivity is estimated. Profile this step and configuration "
            "with act.profile",
            ActWarning,
            stacklevel=2,
        )


def _compile(
    rewritten: Rewritten,
    compile_candidate: Callable[[Rewritten], jax.stages.Compiled],
) -> Rewritten:
    """Returns a step with what it compiles to, and how long that takes."""
    started = time.perf_counter()
    compiled = compile_candidate(rewritten)
    seconds = time.perf_counter() - started
    return dataclasses.replace(rewritten, compiled=compiled, compile_seconds=seconds)


def _saves_much(
    best: Rewritten, sizes: dict[str, int], options: CompressOptions
) -> bool:
    """Tells whether a rewritten step is sure to need less memory."""
    spared = best.report["raw_bytes"] - best.report["stash_bytes"]
    return spared >= options.margin * min(sizes.values(), default=0) > 0


def _report_untouched(report: dict[str, Any]) -> dict[str, Any]:
    """Returns a report of a step that was not rewritten after all."""
    return report | {
        "raw_bytes": 0,
        "stash_bytes": 0,
        "survivors": [],
        "not_compressed": [],
        "cloned_operations": 0,
        "recomputed_contractions": 0,
        "recomputed_flops": 0,
    }


def _may_be_smaller(
    rewritten: Rewritten,
    best: Rewritten,
    sizes: dict[str, int],
    options: CompressOptions,
) -> bool:
    """Tells whether a candidate is worth compiling, by what it saves.

    Args:
        rewritten: the candidate.
        best: the smallest one so far.
        sizes: temporary bytes of those compiled so far.
        options: decides by how much it must be smaller.
    """
    if rewritten.options.unremat and not best.options.unremat:
        return True  # saves more, but computes less at once
    spared = best.report["stash_bytes"] - rewritten.report["stash_bytes"]
    return options.margin == 0 or spared >= options.margin * min(sizes.values())


def _has_gradient(text: str, report: dict[str, Any]) -> bool:
    """Tells whether a step looks differentiated.

    Args:
        text: the original module; its locations name JAX's transformations.
        report: what act-opt found in it.
    """
    if report["sliced_steps"]:
        return True  # act-slice found forward and backward
    if report["backward_operations"] == 0:
        return False
    if report["survivors"] or report["not_compressed"]:
        return True
    # A gradient may need no saved value, that of a sum for instance.
    named_by_jax = re.search(r'loc\("jit\(', text) is not None
    transposed = re.search(r'["/](?:\w+\()*transpose\(', text) is not None
    return transposed or not named_by_jax
