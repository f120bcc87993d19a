# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Budgets: how they are written, and that the engine confirms them."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import act
from act import xla
from act.budget import parse_bytes
from act.compare import identical


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (1, 1),
        (8 << 30, 8 << 30),
        ("8GiB", 8 << 30),
        ("8 gib", 8 << 30),
        ("1.5GiB", 3 << 29),
        ("500MB", 500_000_000),
        ("500 MB", 500_000_000),
        ("12kb", 12_000),
        ("12KiB", 12_288),
        ("1024", 1024),
        ("7B", 7),
        ("2TiB", 2 << 40),
    ],
)
def test_bytes_are_read(text, count):
    assert parse_bytes("memory_budget", text) == count


@pytest.mark.parametrize(
    "text", [0, -1, True, 1.5, "", "GiB", "-1GiB", "8 Gibi", "8GiB!", "0.1B", None]
)
def test_bad_bytes_are_rejected(text):
    with pytest.raises(act.ActOptionError, match=r"memory_budget must be a positive"):
        parse_bytes("memory_budget", text)


@pytest.mark.parametrize(
    "options", [{"search": "full"}, {"average_bits": 4.0}, {"search": "default"}]
)
def test_budget_excludes_other_searches(options):
    with pytest.raises(act.ActOptionError, match=r"memory_budget decides what"):
        act.compress(lambda x: x, memory_budget="1GiB", **options)


def _loss(weights, x):
    for w in weights:
        x = jax.nn.gelu(x @ w)
    return jnp.mean(x**2)


@pytest.fixture(scope="module")
def problem():
    """A step with six layers of 256 at batch 2048, and its arguments."""
    keys = jax.random.split(jax.random.key(0), 7)
    weights = [jax.random.normal(k, (256, 256)) / 12 for k in keys[:6]]
    x = jax.random.normal(keys[6], (2048, 256))
    return jax.value_and_grad(_loss), (weights, x)


@pytest.fixture(scope="module")
def original(problem):
    """The step as it is, compiled."""
    step, arguments = problem
    return jax.jit(step).lower(*arguments).compile()


@pytest.fixture(scope="module")
def least(problem):
    """The error for a budget that cannot be met."""
    step, arguments = problem
    with pytest.raises(act.ActBudgetError) as caught:
        act.compress(step, memory_budget=1, progress=False).mlir(*arguments)
    return caught.value


def test_infeasible_budget_names_the_least(problem, original, least):
    assert least.budget == 1
    assert least.original == xla.peak_bytes(original)
    assert 0 < least.least < least.original / 2
    assert f"{least.least:,} bytes" in str(least)
    step, arguments = problem
    with pytest.raises(act.ActBudgetError) as caught:
        act.compress(step, memory_budget=least.least - 1, progress=False).mlir(
            *arguments
        )
    assert caught.value.least == least.least


def test_least_budget_is_met(problem, least):
    step, arguments = problem
    planned = act.compress(step, memory_budget=least.least, progress=False)
    compiled = planned.lower(*arguments).compile()
    assert xla.peak_bytes(compiled) <= least.least


def test_budgets_are_met_used_and_monotone(problem, original, least):
    step, arguments = problem
    top = xla.peak_bytes(original)
    previous = top
    reference = original(*arguments)
    for part in (0.9, 0.7, 0.5, 0.25):
        budget = int(least.least + part * (top - least.least))
        planned = act.compress(step, memory_budget=budget, progress=False)
        compiled = planned.lower(*arguments).compile()
        peak = xla.peak_bytes(compiled)
        assert 0.8 * budget <= peak <= budget
        assert peak <= previous
        previous = peak
        value, gradients = compiled(*arguments)
        assert identical(np.asarray(value), np.asarray(reference[0]))
        for ours, exact in zip(gradients, reference[1], strict=True):
            assert np.linalg.norm(ours - exact) < 0.2 * np.linalg.norm(exact)


def test_step_within_its_budget_stays_as_it_is(problem, original):
    step, arguments = problem
    planned = act.compress(step, memory_budget=xla.peak_bytes(original), progress=False)
    report = planned.report(*arguments)
    assert report.untouched == "it is within its memory budget"
    assert report.budget["peak"] == xla.peak_bytes(original)
    assert report.temp_bytes_after == xla.temp_bytes(original)
    assert "memory budget" in str(report)


def test_report_says_what_was_planned(problem, original, least):
    step, arguments = problem
    budget = (least.least + xla.peak_bytes(original)) // 2
    planned = act.compress(step, memory_budget=budget, progress=False)
    figures = planned.report(*arguments).budget
    assert figures["asked"] == budget
    assert figures["peak"] <= budget
    assert figures["lower_bound"] <= figures["model"]
    assert figures["cost_bound"] <= figures["cost"] + 1e-12
    assert abs(figures["model"] / figures["temp"] - 1) < 0.1
    assert figures["kept"] > 0
    assert "plans compiled" in str(planned.report(*arguments))


@pytest.mark.parametrize("budget", [1, "1GiB"])
def test_step_without_gradient_is_said_to_have_none(budget):
    def step(w, x):
        y = jnp.tanh(x @ w)
        return jnp.sum(y), jnp.arange(4.0)

    arguments = (jnp.ones((256, 256)), jnp.ones((512, 256)))
    with pytest.raises(act.ActStepError, match=r"computes no gradient"):
        act.compress(step, memory_budget=budget, progress=False).mlir(*arguments)


def test_more_bits_make_a_larger_least(problem, least):
    step, arguments = problem
    with pytest.raises(act.ActBudgetError, match=r"at least 8 bits") as caught:
        act.compress(step, memory_budget=1, bits=8, progress=False).mlir(*arguments)
    assert caught.value.least > least.least


def test_plans_go_by_measured_sensitivities(problem, least):
    step, arguments = problem
    profile = act.profile(step, *arguments)
    budget = least.least + (least.original - least.least) // 10
    predicted = {}
    for name, known in (("measured", profile), ("static", None)):
        planned = act.compress(
            step, memory_budget=budget, profile=known, progress=False
        )
        figures = planned.report(*arguments).budget
        assert figures["peak"] <= budget
        predicted[name] = figures["predicted_error"]
    assert 0 < predicted["measured"] != predicted["static"] > 0


def test_error_budget_holds_within_a_memory_budget(problem, least):
    step, arguments = problem
    budget = least.least + (least.original - least.least) // 8
    planned = act.compress(
        step, memory_budget=budget, error_budget=0.05, progress=False
    )
    assert planned.report(*arguments).budget["predicted_error"] <= 0.05


def test_native_step_is_planned_to_its_arena(problem):
    step, arguments = problem
    plain = act.native(step, *arguments)
    fixed = sum(x.nbytes for x in jax.tree.leaves(arguments))
    fixed += sum(x.nbytes for x in jax.tree.leaves(plain(*arguments)))
    with pytest.raises(act.ActBudgetError) as caught:
        act.native(step, *arguments, memory_budget=1)
    least = caught.value.least
    assert caught.value.original == fixed + plain.arena_bytes
    assert fixed < least < caught.value.original / 2
    budget = (least + caught.value.original) // 2
    planned = act.native(step, *arguments, memory_budget=budget)
    assert 0.8 * budget <= fixed + planned.arena_bytes <= budget
    assert planned.peak(*arguments) == planned.arena_bytes
    assert identical(planned(*arguments)[0], plain(*arguments)[0])


def test_command_line_plans(tmp_path, problem, original, least):
    step, arguments = problem
    path = tmp_path / "step.mlir"
    path.write_text(jax.jit(step).lower(*arguments).as_text())
    middle = (least.least + xla.peak_bytes(original)) // 2

    def run(*options):
        return subprocess.run(
            [sys.executable, "-m", "act", path, "--run", *options],
            capture_output=True,
            text=True,
            check=False,
        )

    done = run("--memory-budget", str(middle))
    assert done.returncode == 0, done.stderr
    assert "primal results: bit-identical" in done.stdout
    assert "memory budget:" in done.stdout
    failed = run("--memory-budget", "1KiB")
    assert failed.returncode == 1
    assert "cannot be met: the least peak reached" in failed.stderr
    bad = run("--memory-budget", "much")
    assert bad.returncode == 2
    assert "must be a positive number of bytes" in bad.stderr
