# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""act-expose-masks and act-inline by execution: the same results as before."""

import subprocess
from collections.abc import Callable

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import export, lax

from act import stablehlo, tool

EXPOSE = "builtin.module(act-inline,func.func(act-expose-masks))"
INLINE = "builtin.module(act-inline)"


def run_pipeline(text: str, pipeline: str) -> str:
    return subprocess.run(
        [str(tool.find_tool()), f"--pass-pipeline={pipeline}"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def before_and_after(step: Callable, arguments: tuple, pipeline: str):
    """Returns the module's text before and after, and both compiled."""
    exported = export.export(jax.jit(step))(*arguments)
    before, _ = stablehlo.exported_module(exported)
    after = run_pipeline(before, pipeline)
    compiled = [
        jax.jit(one.call).lower(*arguments).compile()
        for one in (exported, stablehlo.with_module(exported, after))
    ]
    return before, after, compiled


def run(compiled: jax.stages.Compiled, arguments: tuple) -> list[np.ndarray]:
    return [np.asarray(value) for value in jax.tree.leaves(compiled(*arguments))]


def pool_step(window, strides, padding, minimum=False) -> Callable:
    """A loss that sends a different cotangent to each window of a pool."""

    def loss(x, scale):
        h = jax.nn.relu(x * scale)
        worst = np.array(np.inf if minimum else -np.inf).astype(h.dtype)
        combine = lax.min if minimum else lax.max
        h = -h if minimum else h
        y = lax.reduce_window(h, worst, combine, window, strides, padding)
        weight = (jnp.arange(y.size).reshape(y.shape) % 7 + 1).astype(y.dtype)
        return jnp.sum(y * y * weight + y * weight * 0.5)

    return jax.value_and_grad(loss, argnums=(0, 1))


# Shape, window, strides, padding, element type, smallest values are pooled.
POOLS = {
    "2x2": ((2, 8, 8, 3), (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
    "2x2 with remainder": ((2, 9, 7, 3), (1, 2, 2, 1), (1, 2, 2, 1), "VALID"),
    "2x2 padded": ((2, 9, 7, 3), (1, 2, 2, 1), (1, 2, 2, 1), "SAME"),
    "2x2 with gaps": ((2, 11, 11, 3), (1, 2, 2, 1), (1, 3, 3, 1), "VALID"),
    "3x3 by 2": ((2, 9, 9, 3), (1, 3, 3, 1), (1, 2, 2, 1), "VALID"),
    "3x3 by 2 padded": ((2, 10, 11, 3), (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
    "3x3 by 1 padded": ((2, 10, 11, 3), (1, 3, 3, 1), (1, 1, 1, 1), "SAME"),
    "5x3 by 2x3": ((2, 17, 17, 3), (1, 5, 3, 1), (1, 2, 3, 1), "SAME"),
    "7x7": ((2, 14, 14, 2), (1, 7, 7, 1), (1, 7, 7, 1), "VALID"),
    "channels first": ((2, 3, 9, 9), (1, 1, 3, 3), (1, 1, 2, 2), "SAME"),
    "one axis": ((4, 33, 5), (1, 2, 1), (1, 2, 1), "VALID"),
    "three axes": ((2, 6, 6, 6, 2), (1, 3, 3, 3, 1), (1, 2, 2, 2, 1), "SAME"),
    "bf16": ((2, 9, 9, 3), (1, 3, 3, 1), (1, 2, 2, 1), "SAME", ml_dtypes.bfloat16),
    "minimum": ((2, 9, 9, 3), (1, 3, 3, 1), (1, 2, 2, 1), "SAME", np.float32, True),
}


def check_pool(values: np.ndarray, step: Callable) -> tuple[list, list]:
    """Rewrites the step and returns results before and after."""
    arguments = values, np.ones_like(values)
    before, after, compiled = before_and_after(step, arguments, EXPOSE)
    assert "stablehlo.select_and_scatter" in before
    assert "stablehlo.select_and_scatter" not in after
    old, new = (run(one, arguments) for one in compiled)
    assert old[0].tobytes() == new[0].tobytes()
    return old, new


@pytest.mark.parametrize("name", POOLS)
def test_pool_with_ties(name):
    """Small integers: windows full of equal values, sums without rounding."""
    shape, window, strides, padding, *rest = POOLS[name]
    kind, minimum = (*rest, *(np.float32, False)[len(rest) :])
    values = np.random.default_rng(0).integers(-3, 3, shape).astype(kind)
    old, new = check_pool(values, pool_step(window, strides, padding, minimum))
    for expected, actual in zip(old, new, strict=True):
        np.testing.assert_array_equal(expected, actual)


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_pool_of_random_values(padding):
    """Overlapping windows add up in another order: the last bits may differ."""
    values = np.random.default_rng(0).standard_normal((2, 16, 15, 8))
    step = pool_step((1, 3, 3, 1), (1, 2, 2, 1), padding)
    old, new = check_pool(values.astype(np.float32), step)
    for expected, actual in zip(old[1:], new[1:], strict=True):
        error = np.abs(expected - actual).max() / np.abs(expected).max()
        assert error < 1e-6


@pytest.mark.parametrize("window", [2, 3])
def test_pool_of_special_values(window):
    """NaN, infinities and zeros of both signs select as in the original."""
    generator = np.random.default_rng(0)
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], np.float32)
    values = special[generator.integers(0, 6, (2, 15, 15, 3))]

    def loss(x):
        # Not relu, which hides the sign of zero and the negative infinities.
        h = lax.reduce_precision(x, 8, 20)
        size = (1, window, window, 1)
        y = lax.reduce_window(
            h, np.float32(-np.inf), lax.max, size, (1, 2, 2, 1), "VALID"
        )
        weight = (jnp.arange(y.size).reshape(y.shape) % 7 + 1).astype(y.dtype)
        return jnp.sum(y * weight)

    arguments = (values,)
    step = jax.value_and_grad(loss)
    before, after, compiled = before_and_after(step, arguments, EXPOSE)
    assert "stablehlo.select_and_scatter" in before
    assert "stablehlo.select_and_scatter" not in after
    old, new = (run(one, arguments) for one in compiled)
    np.testing.assert_array_equal(old[0], new[0])
    np.testing.assert_array_equal(old[1], new[1])
    assert np.abs(old[1]).sum() > 0


def test_pool_padded_by_the_operation():
    """The attribute `padding`, which JAX does not emit on CPU."""
    shape = (2, 9, 9, 3)
    values = np.random.default_rng(0).integers(-3, 3, shape).astype(np.float32)
    step = pool_step((1, 3, 3, 1), (1, 2, 2, 1), "VALID")
    exported = export.export(jax.jit(step))(values, values)
    text, _ = stablehlo.exported_module(exported)
    # One more row above and one more column behind leave as many windows.
    header, _, rest = text.partition('"stablehlo.select_and_scatter"')
    line, _, tail = rest.partition("<{")
    padding = "padding = dense<[[0, 0], [1, 0], [0, 1], [0, 0]]> : tensor<4x2xi64>, "
    padded = f'{header}"stablehlo.select_and_scatter"{line}<{{{padding}{tail}'
    after = run_pipeline(padded, EXPOSE)
    assert "stablehlo.select_and_scatter" not in after
    arguments = values, np.ones_like(values)
    old, new = (
        run(
            jax.jit(stablehlo.with_module(exported, one).call)
            .lower(*arguments)
            .compile(),
            arguments,
        )
        for one in (padded, after)
    )
    for expected, actual in zip(old, new, strict=True):
        np.testing.assert_array_equal(expected, actual)


@pytest.mark.parametrize("strides", [1, 2, 3])
def test_pool_needs_less_memory(strides):
    arguments = (np.zeros((4, 56, 56, 32), np.float32),) * 2
    step = pool_step((1, 3, 3, 1), (1, strides, strides, 1), "SAME")
    _, _, compiled = before_and_after(step, arguments, EXPOSE)
    old, new = (one.memory_analysis().temp_size_in_bytes for one in compiled)
    assert new < old / 2


def test_predicates_of_backward():
    """A gradient that compares in backward, of which one bit is enough."""

    @jax.custom_vjp
    def clip(x):
        return jnp.clip(x, -0.5, 0.5)

    def backward(x, g):
        return (jnp.where((x > -0.5) & (x < 0.5), g, 0.1 * g),)

    clip.defvjp(lambda x: (clip(x), x), backward)
    step = jax.value_and_grad(lambda x: jnp.sum(clip(jnp.sin(x)) ** 2))
    arguments = (np.random.default_rng(0).standard_normal((64, 33)),)
    _, after, compiled = before_and_after(step, arguments, EXPOSE)
    loss = after.index("stablehlo.reduce")
    assert after.index("comparison_direction GT") < loss
    assert after.rindex("comparison_direction LT") < loss
    old, new = (run(one, arguments) for one in compiled)
    for expected, actual in zip(old, new, strict=True):
        assert expected.tobytes() == actual.tobytes()


def test_inlining_changes_no_bit():
    """Calls at top level, in a loop and of functions that call others."""

    def loss(w, x, key):
        def layer(h, w):
            h = jax.nn.silu(h @ w)
            return jax.nn.relu(h - jnp.var(h)), jax.nn.logsumexp(h)

        keep = jax.random.bernoulli(key, 0.9, x.shape)
        h, norms = lax.scan(layer, jnp.where(keep, x, 0), w)
        return jnp.mean(jax.nn.softmax(h) ** 2) + norms.sum()

    generator = np.random.default_rng(0)
    w = generator.standard_normal((3, 64, 64)).astype(np.float32) / 8
    x = generator.standard_normal((32, 64)).astype(np.float32)
    arguments = w, x, jax.random.PRNGKey(0)
    before, after, compiled = before_and_after(
        jax.value_and_grad(loss), arguments, INLINE
    )
    assert "func.call" in before
    assert "call @" not in after
    assert "func.call" not in after
    old, new = (run(one, arguments) for one in compiled)
    for expected, actual in zip(old, new, strict=True):
        assert expected.tobytes() == actual.tobytes()
