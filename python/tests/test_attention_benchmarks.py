# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmarks of linear attention, on tiny instances."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import act

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import attention_speed  # noqa: E402
import copying  # noqa: E402
import slim_model  # noqa: E402
import slim_rows  # noqa: E402
from linear_attention_forms import FORMS  # noqa: E402

TINY = slim_model.Row(96, 2, 16, 2, 11, 32)


@pytest.mark.parametrize("name", FORMS)
def test_forms_compute_linear_attention(name):
    q, k, v, d_o = jax.random.normal(jax.random.key(0), (4, 2, 192, 8))

    def ours(q, k, v):
        q, k, v = (x.swapaxes(0, 1)[None] for x in (q, k, v))
        o = act.linear_attention(q, k, v, feature_map="square")
        return o[0].swapaxes(0, 1)

    form, wanted = (
        jax.jit(attention_speed.with_gradients(f))(q, k, v, d_o)
        for f in (FORMS[name], ours)
    )
    for a, b in zip(form, wanted, strict=True):
        np.testing.assert_allclose(a, b, atol=2e-5 * abs(b).max())


def test_slow_calls_are_left_out_of_later_rounds(monkeypatch):
    now = 0.0
    calls = {"fast": 0, "slow": 0}

    def run(name, seconds):
        nonlocal now
        now += seconds
        calls[name] += 1

    monkeypatch.setattr(attention_speed.time, "perf_counter", lambda: now)
    monkeypatch.setattr(attention_speed.time, "process_time", lambda: 2 * now)
    least, process = attention_speed.least_seconds(
        {"fast": lambda: run("fast", 0.01), "slow": lambda: run("slow", 1)}, 10
    )
    assert least == pytest.approx({"fast": 0.01, "slow": 1})
    assert process == pytest.approx({"fast": 0.02, "slow": 2})
    assert calls["slow"] == 3
    assert calls["fast"] > 100


@pytest.mark.parametrize("wrap", [lambda block: block, jax.checkpoint])
def test_slices_by_hand_compute_the_same_gradient(wrap):
    parameters = slim_model.parameters_of(TINY)
    batch = slim_model.batch_of(TINY, TINY.chunk)
    whole = jax.jit(slim_model.training_step(TINY, wrap))(parameters, batch)
    sliced = slim_model.step_sliced_by_hand(TINY, TINY.chunk, wrap)
    loss, gradients = jax.jit(sliced)(parameters, batch)
    assert loss == pytest.approx(float(whole[0]), rel=1e-6)
    assert slim_rows.gradient_difference(gradients, whole[1]) < 2e-6


def test_padding_does_not_count():
    parameters = slim_model.parameters_of(TINY)
    step = jax.jit(slim_model.training_step(TINY))
    loss, gradients = step(parameters, slim_model.batch_of(TINY))
    batch = slim_model.batch_of(TINY, 64)
    assert batch[0].shape == (1, 128)
    padded_loss, padded = step(parameters, batch)
    assert padded_loss == pytest.approx(float(loss), rel=1e-6)
    assert slim_rows.gradient_difference(padded, gradients) < 2e-6


def test_gradient_difference_is_that_of_the_worst_parameter():
    wanted = {"a": jnp.asarray([1.0, 4.0]), "b": jnp.asarray([2.0])}
    got = {"a": jnp.asarray([1.0, 4.4]), "b": jnp.asarray([1.0])}
    assert slim_rows.gradient_difference(got, wanted) == pytest.approx(0.5)


def test_rows_are_measured_and_drawn(tmp_path):
    found = slim_rows.measure(TINY, slim_rows.BY_HAND, 1)
    for name in slim_rows.BY_HAND:
        assert 0 < found[name]["temp_ratio"] < 1
        assert found[name]["temp_ratio"] < found[name]["total_ratio"] < 1
        assert found[name]["time_ratio"] > 0
        assert found[name]["gradient_difference"] < 2e-6
    variants = {"stored by hand": slim_rows.BY_HAND["stored by hand"]}
    points = list(slim_rows.memory_curve(TINY, [128, 256], [64, 128], variants))
    assert [(p["length"], p["chunk"]) for p in points] == [
        (128, 128),
        (128, 64),
        (256, 256),
        (256, 64),
        (256, 128),
    ]
    by_chunk = {(p["length"], p["chunk"]): p["temp_bytes"] for p in points}
    assert by_chunk[256, 64] < by_chunk[256, 128] < by_chunk[256, 256]
    slim_rows.plot_memory(points, tmp_path / "memory.png")
    assert (tmp_path / "memory.png").stat().st_size > 1000


def test_copying_task():
    tokens, targets, weights, positions = copying.draw_batch(
        np.random.default_rng(0), 3
    )
    tokens, targets, weights = (np.asarray(x) for x in (tokens, targets, weights))
    np.testing.assert_array_equal(tokens[:, :256], tokens[:, 256:])
    assert (tokens[:, 0] == 0).all()
    assert (tokens[:, 1:256] > 0).all()
    np.testing.assert_array_equal(targets[:, :-1], tokens[:, 1:])
    assert weights.sum() == pytest.approx(1)
    assert (weights[:, :256] == 0).all()
    assert (weights[:, 256:511] > 0).all()
    assert weights[0, 511] == 0
    assert positions.shape == (512,)


def run_command(*command):
    return subprocess.run(
        command,
        cwd=BENCHMARKS.parent,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )


def test_copy_command(tmp_path):
    losses, picture = tmp_path / "c.json", tmp_path / "c.png"
    done = run_command(
        "benchmarks/copy_task",
        "--by-hand",
        "--iterations=3",
        f"--json={losses}",
        f"--plot={picture}",
    )
    assert done.returncode == 0, done.stderr
    figures = json.loads(losses.read_text())
    for difference in figures["largest_difference"].values():
        assert difference < 1e-5
    assert len(figures["losses"]["at once"]) == 3
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize(
    ("message", "command"),
    [
        ("multiples of 64", ("benchmarks/linear_attention", "--lengths", "100")),
        ("unknown nothing", ("benchmarks/slim", "--only", "nothing")),
        ("expects at least 1", ("benchmarks/slim", "--rounds", "0")),
        ("a divisor of 512", ("benchmarks/copy_task", "--chunk", "100")),
    ],
)
def test_commands_say_what_is_wrong(message, command):
    done = run_command(*command)
    assert done.returncode == 2
    assert message in done.stderr
