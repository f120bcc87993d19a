# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The whole way on XLA: exact loss, small gradient error, less memory."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest import Problem

import act
from act import cli
from act.compare import compare_results


def compare(problem: Problem, **options):
    """Compares a compressed step with the original, both compiled by XLA."""
    original = jax.jit(jax.value_and_grad(problem.loss))
    compressed = act.value_and_grad(problem.loss, **options)
    results = [jax.tree.leaves(f(*problem.arguments)) for f in (original, compressed)]
    return compare_results(*results, 1)


@pytest.fixture
def deep() -> Problem:
    """Eight layers of 256 on 1024 samples: saved values dominate."""
    generator = np.random.default_rng(1)

    def normal(*shape: int) -> jax.Array:
        return jnp.asarray(generator.standard_normal(shape), jnp.float32)

    parameters = [normal(256, 256) / 16 for _ in range(8)]

    def loss(parameters, x):
        for weight in parameters:
            x = jax.nn.gelu(x @ weight) * 1.5
        return jnp.mean(x**2)

    return Problem(loss, parameters, normal(1024, 256))


@pytest.mark.parametrize(("bits", "error"), [(8, 0.01), (4, 0.15), (0, 1e-5)])
def test_loss_is_exact_and_error_small(mlp, bits, error):
    comparison = compare(mlp, bits=bits)
    assert comparison.primal_identical
    assert comparison.gradient_error_max < error
    if bits:
        assert comparison.gradient_error_max > 1e-6


def test_fewer_bits_mean_less_memory_and_more_error(deep):
    reports = {
        bits: act.value_and_grad(deep.loss, bits=bits).report(*deep.arguments)
        for bits in (8, 4)
    }
    before = reports[4].temp_bytes_before
    assert reports[8].temp_bytes_before == before
    assert reports[4].stash_bytes < 0.6 * reports[8].stash_bytes
    assert reports[4].stash_bytes < reports[4].raw_bytes / 6
    # What one layer needs while it runs comes on top of what is stored.
    for report in reports.values():
        assert report.temp_bytes_after < before / 2
    errors = [compare(deep, bits=b).gradient_error_median for b in (8, 4)]
    assert errors[0] < errors[1] / 8


def test_noise_depends_on_the_seed_only(mlp):
    gradients = [
        act.value_and_grad(mlp.loss, seed=seed)(*mlp.arguments)[1][0][0]
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(gradients[0], gradients[1])
    assert not np.array_equal(gradients[0], gradients[2])


def test_training_goes_the_same_way(mlp):
    def train(value_and_grad):
        parameters, losses = mlp.parameters, []
        for _ in range(30):
            loss, gradients = value_and_grad(parameters, mlp.batch)
            losses.append(float(loss))
            parameters = jax.tree.map(lambda p, g: p - 3.0 * g, parameters, gradients)
        return np.array(losses)

    exact = train(jax.jit(jax.value_and_grad(mlp.loss)))
    ours = train(act.value_and_grad(mlp.loss))
    assert exact[0] == ours[0]
    drop = exact[0] - exact[-1]
    assert drop > 0.1 * exact[0]
    assert abs(ours[-1] - exact[-1]) < 0.02 * drop


def test_relu_masks_are_exact(mlp):
    def loss(parameters, batch):
        x, y = batch
        for weight, bias in parameters:
            x = jax.nn.relu(x @ weight + bias)
        return jnp.mean((x - y) ** 2)

    relu = Problem(loss, mlp.parameters, mlp.batch)
    bias_of_last_layer = compare(relu).gradient_errors[6]
    assert bias_of_last_layer < 0.02
    report = act.value_and_grad(loss).report(*mlp.arguments)
    assert any("mask" in s["encoding"] for s in report.survivors)


def test_donation_and_integer_state_through_the_compiler(mlp):
    def step(state, batch):
        parameters, count = state
        loss, gradients = jax.value_and_grad(mlp.loss)(parameters, batch)
        parameters = jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)
        return loss, (parameters, count + 1)

    compressed = act.compress(step, donate_argnums=0)
    fresh = jax.tree.map(jnp.copy, mlp.parameters)
    loss, (parameters, count) = compressed((fresh, jnp.int32(4)), mlp.batch)
    expected = jax.jit(step)((mlp.parameters, jnp.int32(4)), mlp.batch)
    assert loss == expected[0]
    assert count == 5
    assert fresh[0][0].is_deleted()
    assert (
        compare_results(
            jax.tree.leaves(expected[1]), jax.tree.leaves((parameters, count)), 0
        ).gradient_error_max
        < 0.01
    )


def test_dropout_key_and_aux(mlp):
    def loss(parameters, batch, key):
        x, y = batch
        for weight, bias in parameters:
            x = jax.nn.gelu(x @ weight + bias)
            key, use = jax.random.split(key)
            x = jnp.where(jax.random.bernoulli(use, 0.9, x.shape), x / 0.9, 0)
        return jnp.mean((x - y) ** 2), {"mean": x.mean(), "key": key}

    arguments = (*mlp.arguments, jax.random.key(3))
    original = jax.jit(jax.value_and_grad(loss, has_aux=True))
    (value, aux), gradients = act.value_and_grad(loss, has_aux=True)(*arguments)
    (expected, expected_aux), expected_gradients = original(*arguments)
    assert value == expected
    assert aux["mean"] == expected_aux["mean"]
    assert aux["key"] == expected_aux["key"]
    assert (
        compare_results(
            jax.tree.leaves(expected_gradients), jax.tree.leaves(gradients), 0
        ).gradient_error_max
        < 0.2
    )


def test_inside_an_outer_jit(mlp):
    step = act.value_and_grad(mlp.loss)
    expected = step(*mlp.arguments)
    got = jax.jit(lambda p, b: step(p, b))(*mlp.arguments)
    assert got[0] == expected[0]
    np.testing.assert_allclose(got[1][0][0], expected[1][0][0], rtol=1e-5, atol=1e-6)


def test_exact_bf16(mlp):
    short = jax.tree.map(lambda a: a.astype(jnp.bfloat16), mlp.arguments)

    def loss(parameters, batch):
        return mlp.loss(parameters, batch).astype(jnp.float32)

    original = jax.jit(
        jax.value_and_grad(loss), compiler_options={"xla_allow_excess_precision": False}
    )
    compressed = act.value_and_grad(loss, exact_bf16=True)
    assert compressed(*short)[0] == original(*short)[0]


def odd_loss(w, x):
    """Reads an empty, a rank-0 and a complex value besides a large f32 one."""
    empty = jnp.exp(w[:0])
    scalar = jnp.sin(w[0, 0])
    wave = jnp.abs(jnp.sin(jax.lax.complex(x, 2 * x) @ jax.lax.complex(w, x)))
    return jnp.mean(jnp.tanh(wave @ w) @ w) + empty.sum() * scalar


def test_empty_scalar_and_complex_values():
    w, x = (jax.random.normal(jax.random.key(i), (256, 256)) / 16 for i in (0, 1))
    loss, gradient = act.value_and_grad(odd_loss)(w, x)
    exact, expected = jax.jit(jax.value_and_grad(odd_loss))(w, x)
    # XLA expands complex functions into products and sums, see docs/Python.md.
    assert abs(loss - exact) <= 1e-6 * abs(exact)
    assert jnp.linalg.norm(gradient - expected) < 0.1 * jnp.linalg.norm(expected)


def test_divisors_are_exact():
    def loss(w, x):
        z = x @ w
        return jnp.mean((z / jnp.abs(z) * jnp.log(jnp.abs(z)) @ w) ** 2)

    w, x = (jax.random.normal(jax.random.key(i), (256, 256)) / 16 for i in (0, 1))
    _, gradient = act.value_and_grad(loss)(w, x)
    _, expected = jax.jit(jax.value_and_grad(loss))(w, x)
    assert jnp.linalg.norm(gradient - expected) < 1e-5 * jnp.linalg.norm(expected)


def test_nan_activations_are_not_hidden(mlp):
    x, y = mlp.batch
    poisoned = (x.at[3, 5].set(jnp.nan), y)
    loss, gradients = act.value_and_grad(mlp.loss)(mlp.parameters, poisoned)
    assert jnp.isnan(loss)
    assert all(bool(jnp.isnan(g).any()) for g in jax.tree.leaves(gradients))


def test_step_without_gradient():
    step = act.compress(lambda x: (jnp.sum(jnp.tanh(x)), x + 1.0))
    with pytest.raises(act.ActError, match=r"computes no gradient|backward"):
        step(jnp.ones((64, 64)))


def test_scalars_and_empty_arrays(mlp):
    def loss(parameters, batch, scale, empty):
        return scale * mlp.loss(parameters, batch) + jnp.sum(empty**2)

    arguments = (*mlp.arguments, jnp.float32(2), jnp.zeros((0, 4)))
    step = jax.value_and_grad(loss, argnums=(0, 2, 3))
    results = act.compress(step)(*arguments), jax.jit(step)(*arguments)
    assert results[0][0] == results[1][0]
    assert results[0][1][2].shape == (0, 4)


def test_report(deep, tmp_path):
    report = act.value_and_grad(deep.loss).report(*deep.arguments)
    document = json.loads(report.to_json(tmp_path / "r.json"))
    assert document == json.loads((tmp_path / "r.json").read_text())
    assert document["temp_bytes_after"] == report.temp_bytes_after
    stored = sum(s["bytes_after"] for s in report.survivors)
    assert stored == report.stash_bytes
    for survivor in document["survivors"]:
        assert survivor["reason"]
        elements = int(np.prod(survivor["shape"]))
        bits = 8 * survivor["bytes_after"] / elements
        assert bits == pytest.approx(survivor["bits_per_element"], rel=0.05)
    for value in document["not_compressed"]:
        assert value["reason"]
    text = str(report)
    assert "Saved for backward" in text
    assert "f32[1024,256]" in text
    assert "temporary memory" in text
    assert report.plot(tmp_path / "memory.svg").read_text().count("<path") > 4


def test_full_search_is_no_worse_than_any_candidate(mlp):
    report = act.value_and_grad(mlp.loss, search="full").report(*mlp.arguments)
    assert report.temp_bytes_after == min(report.candidates.values())
    assert len(report.candidates) > 1


def test_rules_file(mlp, tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text("{")
    with pytest.raises(act.ActToolError, match=r"rules"):
        act.value_and_grad(mlp.loss, rules=rules)(*mlp.arguments)


def test_average_bits(mlp):
    reports = [
        act.value_and_grad(mlp.loss, average_bits=bits).report(*mlp.arguments)
        for bits in (8.5, 5.0)
    ]
    assert reports[1].stash_bytes < reports[0].stash_bytes


def test_command_line_entry_point():
    with pytest.raises(SystemExit) as exit_info:
        cli.main(["--version"])
    assert exit_info.value.code == 0
