# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Comparison of results, bit by bit and in norm."""

import math

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from act.compare import compare_results, identical, relative_error

FLOATS = hnp.arrays(
    np.float32, hnp.array_shapes(max_side=5), elements=st.floats(width=32)
)


@settings(max_examples=50, deadline=None)
@given(FLOATS, st.integers(0, 31))
def test_identical_sees_every_bit(values, bit):
    assert identical(values, values.copy())
    changed = values.copy()
    changed.reshape(-1).view(np.uint32)[0] ^= np.uint32(1 << bit)
    same_nan = np.isnan(values.flat[0]) and np.isnan(changed.flat[0])
    assert identical(values, changed) == same_nan


def test_identical_tells_signed_zeros_types_and_shapes_apart():
    zero = np.zeros(2, np.float32)
    assert not identical(zero, -zero)
    assert not identical(zero, zero.astype(np.int32))
    assert not identical(zero, zero[:1])
    nan = np.array([np.nan, 1], ml_dtypes.bfloat16)
    assert identical(nan, -nan * np.array([1, -1], ml_dtypes.bfloat16))


@pytest.mark.parametrize(
    ("reference", "value", "expected"),
    [
        ([3.0, 4.0], [3.0, 4.0], 0.0),
        ([3.0, 4.0], [3.0, 4.5], 0.1),
        ([0.0, 0.0], [0.0, 0.0], 0.0),
        ([0.0, 0.0], [0.0, 1.0], math.inf),
        ([1.0, 0.0], [np.nan, 0.0], math.inf),
    ],
)
def test_relative_error(reference, value, expected):
    assert relative_error(np.array(reference), np.array(value)) == expected


def test_compare_results():
    loss, count = jnp.float32(1), jnp.int32(3)
    gradients = [jnp.ones(4), jnp.full(4, 2.0), jnp.full(4, jnp.nan)]
    others = [jnp.ones(4), jnp.full(4, 2.2), jnp.full(4, jnp.nan)]
    result = compare_results([loss, count, *gradients], [loss, count, *others], 1)
    assert result.primal_identical
    assert sorted(result.gradient_errors) == [2, 3]
    assert result.gradient_errors[3] == pytest.approx(0.1, rel=1e-6)
    assert result.gradient_error_median == pytest.approx(0.05, rel=1e-6)
    assert result.gradient_error_max == pytest.approx(0.1, rel=1e-6)
    assert result.not_finite == (4,)
    assert not result.all_nan
    count_differs = [loss, count + 1, *others]
    assert compare_results([loss, count, *gradients], count_differs, 1).primal_identical
    assert not compare_results(
        [loss, count, *gradients], count_differs, 2
    ).primal_identical


def test_all_nan():
    results = [jnp.float32(np.nan), jnp.full(3, np.nan)]
    result = compare_results(results, results, 1)
    assert result.all_nan
    assert result.primal_identical
    assert result.gradient_error_median is None


def test_gradients_that_vanish_are_named():
    loss, weight, bias = jnp.float32(1), jnp.ones(4), jnp.full(4, 1e-9)
    result = compare_results([loss, weight, bias], [loss, weight, -bias], 1)
    assert result.vanishing == (2,)
    assert compare_results([loss, weight], [loss, -weight], 1).vanishing == ()
