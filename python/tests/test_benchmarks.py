# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmark's models and measurements, on tiny instances."""

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import measure  # noqa: E402
import models  # noqa: E402
from rounding import Rounding, rounded_relu_layer  # noqa: E402

TINY = {
    "mlp": lambda: models.mlp(2, samples=32, width=16),
    "gpt": lambda: models.gpt(1, 32, width=16, heads=2, length=8, sequences=2),
    "gpt_scan": lambda: small_gpt(scanned=True),
    "lstm": lambda: models.lstm(steps=5, sequences=2, width=8, outputs=4),
    "accumulate": lambda: models.accumulated(small_gpt(scanned=True), 2),
    "cnn": lambda: models.cnn(images=4, size=8, channels=4),
}


def small_gpt(**options):
    return models.gpt(2, 32, width=16, heads=2, length=8, sequences=2, **options)


def run_plain(model):
    return jax.jit(model.step())(model.parameters, model.batch)


def assert_close(expected, got):
    def check(a, b):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=1e-5)

    assert np.isfinite(expected[0])
    jax.tree.map(check, expected, got)


@pytest.mark.parametrize("name", TINY)
def test_checkpointed_step_computes_the_same(name):
    model = TINY[name]()
    arguments = (model.parameters, model.batch)
    plain, checkpointed = (
        jax.jit(step)(*arguments) for step in (model.step(), model.step(jax.checkpoint))
    )
    assert_close(plain, checkpointed)


def test_policy_step_computes_the_same():
    model = TINY["mlp"]()
    step = model.policy_step(jax.checkpoint_policies.dots_saveable)
    arguments = (model.parameters, model.batch)
    assert_close(jax.jit(model.step())(*arguments), jax.jit(step)(*arguments))


def test_scanned_blocks_compute_the_same():
    loss, gradients = run_plain(small_gpt())
    scanned_loss, scanned = run_plain(small_gpt(scanned=True))
    blocks = gradients.pop("blocks")
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *blocks)
    assert_close((loss, gradients | {"blocks": stacked}), (scanned_loss, scanned))


def test_accumulated_step_is_the_mean_over_the_batch():
    model = small_gpt(scanned=True)
    assert_close(run_plain(model), run_plain(models.accumulated(model, 2)))


def test_checkpointed_source_saves_nothing_inside_of_blocks():
    model = small_gpt(scanned=True)
    plain, checkpointed = (
        measure.compile_step(jax.jit(m.step()).lower(m.parameters, m.batch))
        for m in (model, models.checkpointed(model))
    )
    assert checkpointed.temp_mib < plain.temp_mib


def test_dropout_depends_on_the_key_only():
    model = models.gpt(1, 32, 0.5, width=16, heads=2, length=8, sequences=2)
    tokens, labels, key = model.batch
    loss = jax.jit(lambda key: model.step()(model.parameters, (tokens, labels, key))[0])
    assert loss(key) == loss(key)
    assert loss(key) != loss(jax.random.fold_in(key, 1))


def test_checkpoint_is_applied_per_layer():
    jaxpr = str(
        jax.make_jaxpr(TINY["mlp"]().step(jax.checkpoint))(
            TINY["mlp"]().parameters, TINY["mlp"]().batch
        )
    )
    assert jaxpr.count("checkpoint[") + jaxpr.count("remat") >= 2


def test_time_ratio(monkeypatch):
    now = 0.0
    # The machine gets slower and is disturbed once; the ratio stays.
    disturbed = iter([1, 1, 1, 1, 20] + [1] * 1000)

    def run(seconds):
        nonlocal now
        now += seconds * (1 + now / 100) * next(disturbed)
        return ()

    monkeypatch.setattr(measure.time, "perf_counter", lambda: now)
    ratio = measure.median_time_ratio(lambda: run(0.01), lambda: run(0.03), 2)
    assert ratio == pytest.approx(3, rel=0.02)


@pytest.mark.parametrize(("bits", "group"), itertools.product((2, 4, 8), (16, 64)))
def test_rounding_is_unbiased_and_bounded(bits, group):
    x = jax.random.normal(jax.random.key(0), (8, 64))
    keys = jax.random.split(jax.random.key(1), 256)
    samples = jax.vmap(lambda key: Rounding(bits, group, True)(x, key))(keys)
    # A step is about six deviations wide in the worst group; bf16 widens it.
    step = 7 / (2**bits - 1)
    assert jnp.abs(samples - x).max() < step
    assert jnp.abs(samples.mean(0) - x).max() < 6 * step / 2 / np.sqrt(len(keys))


def test_relu_layer_with_fine_rounding_has_the_exact_gradient():
    model = TINY["cnn"]()
    p = model.parameters["convolutions"][0]
    layer = rounded_relu_layer(models.convolve, Rounding(16, 64, False), True)

    def gradient(function):
        return jax.grad(lambda p, x: jnp.sum(function(p, x) ** 2), (0, 1))(
            p, model.batch[0]
        )

    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-2, atol=2e-2),
        gradient(models.convolution_layer),
        gradient(lambda p, x: layer(p, x, jax.random.key(0))),
    )


def test_command(tmp_path, monkeypatch, fake_tool):
    file = tmp_path / "b.json"
    command = [
        "benchmarks/run",
        "--only",
        "mlp6",
        "--compile-only",
        "--json",
        str(file),
    ]
    done = subprocess.run(
        command,
        cwd=BENCHMARKS.parent,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(file.read_text())["mlp6"]
    assert figures["temp_plain"] == figures["temp_act"]
    assert figures["temp_checkpoint"] < figures["temp_plain"]
    assert figures["time_ratio"] is None
    assert "mlp6" in done.stdout


def test_command_names_unknown_models():
    done = subprocess.run(
        ["benchmarks/run", "--only", "nothing"],
        cwd=BENCHMARKS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "unknown nothing" in done.stderr
