# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps with loops of every kind, executed as they are and compressed."""

import dataclasses
from typing import Any

import jax
import numpy as np
import pytest
from loop_variants import CONTRACTED, LARGER, NOT_SMALLER, SLOW, VARIANTS, Step

import act
from act import rewrite, xla
from act.compare import Comparison, compare_results

#: Bound on the relative error of a gradient by bits: of the median, and of any.
ERRORS = {0: (1e-6, 1e-5), 8: (0.015, 0.03), 4: (0.2, 0.3)}

#: Temporary memory that a step may take, as a factor of the original's: XLA
#: schedules anew what is left alone.
SLACK = 1.02

CONFIGURATIONS = (
    {"bits": 0},
    {"bits": 8},
    {"bits": 4},
    {"bits": 4, "recompute": "growing"},
)

UNOPTIMIZED = {"xla_backend_optimization_level": 0}


@pytest.fixture
def rewrites(monkeypatch: pytest.MonkeyPatch) -> list[rewrite.Rewritten]:
    """What act-opt made during the test, in order."""
    made = []

    def record(*arguments: Any) -> rewrite.Rewritten:
        made.append(rewrite.rewrite(*arguments))
        return made[-1]

    monkeypatch.setattr("act.step.rewrite", record)
    return made


@dataclasses.dataclass
class Run:
    """A step compiled and executed."""

    results: list[jax.Array]
    temp_bytes: int


def run(lowered: jax.stages.Lowered, step: Step, options: dict | None = None) -> Run:
    options = (options or {}) | (xla.EXACT_SHORT_FLOATS if step.short_floats else {})
    compiled = lowered.compile(options)
    results = jax.block_until_ready(jax.tree.leaves(compiled(*step.arguments)))
    return Run(results, xla.temp_bytes(compiled))


def compare(step: Step, original: Run, ours: Run) -> Comparison:
    primal = len(jax.tree.leaves(jax.eval_shape(step.function, *step.arguments)[0]))
    return compare_results(original.results, ours.results, primal)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in SLOW else ())
        for name in VARIANTS
    ],
)
def test_loop(name: str, rewrites: list[rewrite.Rewritten]):
    step = VARIANTS[name]()
    function = jax.jit(step.function)
    lowered = function.lower(*step.arguments)
    original = run(lowered, step)
    assert all(np.isfinite(result).all() for result in floats(original.results))
    for configuration in CONFIGURATIONS:
        compressed = act.compress(
            function, search="none", exact_bf16=step.short_floats, **configuration
        )
        ours_lowered = compressed.lower(*step.arguments)
        if rewrites[-1].text in [made.text for made in rewrites[:-1]]:
            continue
        ours = run(ours_lowered, step)
        comparison = compare(step, original, ours)
        exact = comparison
        if name in CONTRACTED:
            runs = (run(side, step, UNOPTIMIZED) for side in (lowered, ours_lowered))
            exact = compare(step, *runs)
        assert exact.primal_identical, configuration
        check_errors(comparison, configuration["bits"])
        smaller = configuration["bits"] == 4 and name not in NOT_SMALLER
        bound = 0.9 if smaller else LARGER.get(name, SLACK)
        assert ours.temp_bytes <= bound * original.temp_bytes, configuration
        report = rewrites[-1].report
        values = report["survivors"] + report["not_compressed"]
        assert all(value["reason"] for value in values)


def check_errors(comparison: Comparison, bits: int):
    assert not comparison.not_finite
    errors = [
        error
        for number, error in comparison.gradient_errors.items()
        if number not in comparison.vanishing
    ]
    median, largest = ERRORS[bits]
    assert np.median(errors) <= median, (bits, errors)
    assert max(errors) <= largest, (bits, errors)


def floats(results: list[jax.Array]) -> list[np.ndarray]:
    return [
        np.asarray(result, np.float32)
        for result in results
        if jax.numpy.issubdtype(result.dtype, jax.numpy.floating)
    ]


def test_compressed_step_in_a_loop():
    step = VARIANTS["mlp-scan"]()
    parameters, batch = step.arguments

    def descend(step):
        def update(parameters, _):
            loss, gradients = step(parameters, batch)
            moved = jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)
            return moved, loss

        return jax.jit(lambda p: jax.lax.scan(update, p, length=3)[1])(parameters)

    exact = descend(step.function)
    ours = descend(act.compress(step.function, search="none"))
    assert ours[0] == exact[0]
    np.testing.assert_allclose(ours, exact, rtol=5e-3)
