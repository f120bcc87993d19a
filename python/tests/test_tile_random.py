# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""act-tile-random by execution: the same bits as before, in less memory."""

import re
import subprocess
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

import act
from act import stablehlo, tool

PIPELINE = "builtin.module(act-inline,func.func(act-tile-random{{tile-bytes={}}}))"


def tile(function: Callable, *arguments, tile_bytes: int = 4096):
    """Returns the tiled module's text, and results before and after."""
    exported = export.export(jax.jit(function))(*arguments)
    before, _ = stablehlo.exported_module(exported)
    after = subprocess.run(
        [
            str(tool.find_tool()),
            f"--pass-pipeline={PIPELINE.format(tile_bytes)}",
            "--mlir-print-debuginfo",
        ],
        input=before,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    tiled = stablehlo.with_module(exported, after)
    results = [
        [np.asarray(r) for r in jax.tree.leaves(jax.jit(e.call)(*arguments))]
        for e in (exported, tiled)
    ]
    return after, *results


def check(function: Callable, *arguments, loops: int = 1, tile_bytes: int = 4096):
    """Checks that the results are the same bits, computed in so many loops."""
    text, before, after = tile(function, *arguments, tile_bytes=tile_bytes)
    assert text.count("act.tiled_random") == loops
    for expected, actual in zip(before, after, strict=True):
        assert expected.dtype == actual.dtype
        np.testing.assert_array_equal(expected, actual, strict=True)
        assert len(np.unique(expected)) > 1
    return text


# Sizes that tiles divide, prime ones, long inner dimensions.
SHAPES = [(8192,), (16, 8, 64), (2, 4, 32, 33), (8191,), (97, 101), (1, 8199)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_mask(shape):
    check(lambda key: jax.random.bernoulli(key, 0.7, shape), jax.random.key(0))


# What is drawn and the loops that leaves.
DRAWS = {
    "uniform": lambda key, shape: jax.random.uniform(key, shape),
    "normal": lambda key, shape: jax.random.normal(key, shape),
    "bits": lambda key, shape: jax.random.bits(key, shape),
    "bits8": lambda key, shape: jax.random.bits(key, shape, jnp.uint8),
    "randint": lambda key, shape: jax.random.randint(key, shape, -5, 100),
    "bf16": lambda key, shape: jax.random.normal(key, shape, jnp.bfloat16),
    "low rate": lambda key, shape: jax.random.bernoulli(key, 0.3, shape, mode="high"),
    "range": lambda key, shape: jax.random.uniform(key, shape, minval=-0.3) < 0.1,
    "rates": lambda key, shape: jax.random.bernoulli(
        key, jnp.linspace(0, 1, shape[1]), shape
    ),
    "several": lambda key, shape: (
        lambda u: (u < 0.3, u < 0.5, ~(u < 0.3), jnp.broadcast_to(u < 0.5, (2, *shape)))
    )(jax.random.uniform(key, shape)),
    "value and mask": lambda key, shape: (lambda u: (u, u < 0.5))(
        jax.random.uniform(key, shape)
    ),
    "keys": lambda key, shape: jax.vmap(
        lambda k: jax.random.bernoulli(k, 0.5, shape[1:])
    )(jax.random.split(key, shape[0])),
}


@pytest.mark.parametrize("draw", DRAWS)
def test_draw(draw):
    check(lambda key: DRAWS[draw](key, (67, 128)), jax.random.key(0))


def test_raw_key():
    check(lambda key: jax.random.bernoulli(key, 0.7, (64, 128)), jax.random.PRNGKey(1))


def test_64_bits():
    with jax.enable_x64(True):
        check(
            lambda key: jax.random.bits(key, (65, 128), jnp.uint64),
            jax.random.key(0),
        )
        check(
            lambda key: jax.random.bernoulli(key, np.float64(0.4), (65, 128)),
            jax.random.key(0),
        )


@pytest.mark.parametrize("draw", ["uniform", "several", "randint", "keys"])
def test_halves_drawn_together(draw):
    with jax.threefry_partitionable(False):
        check(lambda key: DRAWS[draw](key, (66, 128)), jax.random.key(0))


def test_odd_size_drawn_together_is_left_alone():
    with jax.threefry_partitionable(False):
        check(
            lambda key: jax.random.bernoulli(key, 0.7, (67, 129)),
            jax.random.key(0),
            loops=0,
        )


@pytest.mark.parametrize("kind", ["rbg", "unsafe_rbg"])
def test_other_generators_are_left_alone(kind):
    check(
        lambda key: jax.random.bernoulli(key, 0.7, (64, 128)),
        jax.random.key(0, impl=kind),
        loops=0,
    )


def test_small_masks_are_left_alone():
    check(
        lambda key: jax.random.bernoulli(key, 0.7, (64, 128)),
        jax.random.key(0),
        loops=0,
        tile_bytes=1 << 18,
    )


def test_rates_that_are_there_are_read_where_they_are():
    rates = np.random.default_rng(0).random((64, 128), np.float32)
    check(
        lambda key, p: jax.random.bernoulli(key, p, (64, 128)),
        jax.random.key(0),
        rates,
    )


def test_rounding_in_the_chain_ends_it():
    """A product plus a sum may be rounded once: only the bits are tiled."""
    text = check(
        lambda key, low: jax.random.uniform(key, (64, 128), minval=low) < 0.4,
        jax.random.key(0),
        np.float32(0.1),
    )
    assert "tensor<64x128xui32>" in text
    exact = check(
        lambda key, low: jax.random.uniform(key, (64, 128)) < 0.4 + low,
        jax.random.key(0),
        np.float32(0.1),
    )
    assert "tensor<64x128xui32>" not in exact


def test_in_a_loop_and_a_branch():
    def draw(key):
        def body(count, key):
            keep = jax.random.bernoulli(key, 0.7, (64, 128))
            return count + jnp.where(keep, 1.5, 0), keep.sum()

        totals = lax.scan(body, jnp.zeros((64, 128)), jax.random.split(key, 3))
        return totals, lax.cond(
            totals[1][0] > 1000,
            lambda: jax.random.bernoulli(key, 0.5, (8192,)),
            lambda: jnp.zeros(8192, bool),
        )

    check(draw, jax.random.key(0), loops=2)


def dropout_loss(parameters, x, key):
    """A network with a mask of 1 MiB of bits in each layer."""
    for number, weight in enumerate(parameters):
        x = jnp.tanh(x @ weight)
        keep = jax.random.bernoulli(jax.random.fold_in(key, number), 0.9, x.shape)
        x = jnp.where(keep, x / 0.9, 0)
    return jnp.mean(x**2)


def scanned_dropout_loss(parameters, x, key):
    """The same with one layer in a loop."""

    def layer(x, both):
        weight, key = both
        x = jnp.tanh(x @ weight)
        keep = jax.random.bernoulli(key, 0.9, x.shape)
        return jnp.where(keep, x / 0.9, 0), None

    keys = jax.vmap(lambda n: jax.random.fold_in(key, n))(np.arange(len(parameters)))
    return jnp.mean(lax.scan(layer, x, (jnp.stack(parameters), keys))[0] ** 2)


@pytest.fixture(scope="module")
def arguments():
    generator = np.random.default_rng(0)
    weights = [generator.standard_normal((256, 256)) / 12 for _ in range(4)]
    x = generator.standard_normal((1024, 256))
    cast = jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), (weights, x))
    return *cast, jax.random.key(5)


@pytest.mark.parametrize(
    ("loss", "bits"), [(dropout_loss, 0), (dropout_loss, 4), (scanned_dropout_loss, 4)]
)
def test_step_with_dropout(loss, bits, arguments):
    compressed = act.value_and_grad(loss, bits=bits, search="none")
    assert "act.tiled_random" in compressed.mlir(*arguments)
    expected = jax.jit(jax.value_and_grad(loss))(*arguments)
    got = compressed(*arguments)
    assert got[0] == expected[0]
    for one, other in zip(expected[1], got[1], strict=True):
        error = jnp.linalg.norm(one - other) / jnp.linalg.norm(one)
        assert error < (0.3 if bits else 1e-5)


def test_masks_take_one_bit_and_little_memory(arguments):
    compressed = act.value_and_grad(dropout_loss, search="none")
    report = compressed.report(*arguments)
    masks = [s for s in report.survivors if "mask" in s["encoding"]]
    assert len(masks) == 3  # the last one is read at once
    # A mask is 256 KiB; its bits, counters and states would take 10 MiB.
    assert report.temp_bytes_after < 6 * 2**20


def test_masks_wait_for_their_layers(arguments):
    text = act.value_and_grad(dropout_loss, search="none").mlir(*arguments)
    loops = re.findall(r'"stablehlo.while"\((%\d+\S*), %\d+\) \(\{', text)
    barriers = re.findall(r'(%\d+):\d+ = "stablehlo.optimization_barrier"', text)
    assert len(loops) == 4
    assert all(start.partition("#")[0] in barriers for start in loops)


def input_dropout_loss(xs, weight, keys):
    """Drops elements of the inputs of two layers."""
    return sum(masked_square(*both, weight) for both in zip(xs, keys, strict=True))


def scanned_input_dropout_loss(xs, weight, keys):
    """The same in a loop."""

    def layer(total, both):
        return total + masked_square(*both, weight), None

    return lax.scan(layer, 0.0, (xs, keys))[0]


def masked_square(x, key, weight):
    keep = jax.random.bernoulli(key, 0.9, x.shape)
    return jnp.mean((jnp.where(keep, jnp.tanh(x), 0) @ weight) ** 2)


@pytest.mark.parametrize("bits", [0, 4])
@pytest.mark.parametrize("loss", [input_dropout_loss, scanned_input_dropout_loss])
def test_masks_drawn_again_are_the_same(loss, bits):
    generator = np.random.default_rng(1)
    xs = jnp.asarray(generator.standard_normal((2, 1024, 256)), jnp.float32)
    weight = jnp.asarray(generator.standard_normal((256, 256)), jnp.float32)
    arguments = xs, weight, jax.random.split(jax.random.key(7), 2)
    step = jax.jit(jax.value_and_grad(loss))
    saved = act.compress(step, bits=bits, search="none")
    drawn = act.compress(step, bits=bits, rederive=True)
    assert stored_masks(saved.report(*arguments))
    assert not stored_masks(drawn.report(*arguments))
    value, gradient = drawn(*arguments)
    expected_value, expected = step(*arguments)
    assert value == expected_value
    # Another mask would let other elements through.
    assert 0.09 < np.mean(expected == 0) < 0.11
    np.testing.assert_array_equal(gradient == 0, expected == 0)
    if bits == 0:
        np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-9)


def stored_masks(report: act.Report) -> list[dict]:
    """Returns the saved predicates."""
    return [value for value in report.survivors if value["element_type"] == "i1"]
