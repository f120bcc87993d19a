# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole training steps through `act.native`, against XLA."""

import math
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import act
from act.compare import identical, relative_error


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACT_CACHE_DIR", str(tmp_path))


def assert_close(actual, expected, tolerance=1e-5):
    assert jax.tree.structure(actual) == jax.tree.structure(expected)
    pairs = zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True)
    for number, (a, e) in enumerate(pairs):
        e = np.asarray(e)
        assert a.shape == e.shape and a.dtype == e.dtype
        error = relative_error(e.astype(np.float64), np.asarray(a, np.float64))
        assert error <= tolerance, f"result {number}: {error}"


def test_gradients(mlp):
    step = jax.value_and_grad(mlp.loss)
    native = act.native(step)
    assert_close(native(*mlp.arguments), jax.jit(step)(*mlp.arguments))
    assert native.peak(*mlp.arguments) == native.arena_bytes
    assert native.bound_bytes <= native.arena_bytes


def test_results_do_not_depend_on_threads(mlp):
    step = jax.value_and_grad(mlp.loss)
    one = act.native(step, threads=1)(*mlp.arguments)
    two = act.native(step, threads=2)(*mlp.arguments)
    pairs = zip(jax.tree.leaves(one), jax.tree.leaves(two), strict=True)
    assert all(identical(a, b) for a, b in pairs)


@pytest.mark.parametrize("bits", [8, 4, 0])
def test_compressed(mlp, bits):
    step = jax.value_and_grad(mlp.loss)
    plain, compressed = act.native(step), act.native(step, bits=bits)
    (loss, gradients) = compressed(*mlp.arguments)
    (expected, exact) = plain(*mlp.arguments)
    assert identical(loss, expected)
    assert compressed.peak(*mlp.arguments) == compressed.arena_bytes
    assert compressed.arena_bytes < plain.arena_bytes
    tolerance = {8: 0.02, 4: 0.3, 0: 1e-6}[bits]
    assert_close(gradients, exact, tolerance)


def test_training(mlp):
    """State that comes from the step before, in memory that is used again."""

    def step(parameters, batch):
        loss, gradients = jax.value_and_grad(mlp.loss)(parameters, batch)
        update = jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)
        return loss, update

    native, reference = act.native(step), jax.jit(step)
    actual = expected = mlp.parameters
    losses = []
    for _ in range(6):
        loss, actual = native(actual, mlp.batch)
        _, expected = reference(expected, mlp.batch)
        losses.append(float(loss))
    assert losses == sorted(losses, reverse=True)
    assert_close(actual, expected)


def test_keys_and_integers():
    def step(key, table, tokens):
        def loss(table):
            rows = table[tokens]
            mask = jax.random.bernoulli(key, 0.5, rows.shape)
            return jnp.sum(jnp.where(mask, rows, 0) ** 2)

        value, gradient = jax.value_and_grad(loss)(table)
        return value, gradient, jax.random.split(key)[0], tokens + 1

    arguments = (
        jax.random.key(3),
        jax.random.normal(jax.random.key(1), (30, 8)),
        np.array([[3, 29, 0], [3, 3, 7]], np.int32),
    )
    value, gradient, key, tokens = act.native(step)(*arguments)
    expected = jax.jit(step)(*arguments)
    assert_close((value, gradient), expected[:2])
    assert jnp.issubdtype(key.dtype, jax.dtypes.prng_key)
    assert (jax.random.key_data(key) == jax.random.key_data(expected[2])).all()
    np.testing.assert_array_equal(tokens, expected[3])


def test_bfloat16(mlp):
    arguments = jax.tree.map(lambda a: a.astype(jnp.bfloat16), mlp.arguments)
    step = jax.value_and_grad(mlp.loss)
    actual = act.native(step)(*arguments)
    assert actual[0].dtype == jnp.bfloat16
    assert_close(actual, jax.jit(step)(*arguments), 2e-2)


def test_unused_arguments(mlp):
    def step(parameters, batch, _unused):
        return jax.value_and_grad(mlp.loss)(parameters, batch)

    actual = act.native(step)(*mlp.arguments, np.zeros(7))
    assert_close(actual, jax.jit(step)(*mlp.arguments, np.zeros(7)))


def test_what_cannot_be_lowered_is_named():
    def step(x):
        return jnp.linalg.cholesky(x)

    with pytest.raises(act.ActToolError, match=r"lapack_spotrf|cholesky"):
        act.native(step)(np.eye(3, dtype=np.float32))


def test_composite_operations():
    x = np.linspace(-4, 4, 1001, dtype=np.float32)
    got = act.native(lambda x: jax.lax.erf(x))(x)
    np.testing.assert_allclose(got, [math.erf(v) for v in x], atol=3e-7)
