# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the results of an original and a compressed step."""

import dataclasses
import math
import statistics
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

#: Results smaller than this, relative to the largest, may be zero but for rounding.
VANISHING = 1e-4


@dataclasses.dataclass(frozen=True)
class Comparison:
    """How the results of two steps differ.

    Attributes:
        primal_identical: whether the primal results agree bit for bit, where
            any NaN agrees with any other.
        gradient_errors: relative Euclidean error of each other float result
            whose reference is finite, by result number; infinite if only the
            compared one is not finite.
        all_nan: whether every float result of the reference is NaN throughout.
        not_finite: numbers of the results left out for a non-finite reference.
        vanishing: numbers of the results whose error is above 1 while the
            reference is tiny beside the others: often a gradient that is zero
            but for rounding, such as that of a bias before a softmax.
    """

    primal_identical: bool
    gradient_errors: dict[int, float]
    all_nan: bool
    not_finite: tuple[int, ...]
    vanishing: tuple[int, ...]

    @property
    def gradient_error_median(self) -> float | None:
        """The median of the errors, None without any."""
        errors = self.gradient_errors.values()
        return statistics.median(errors) if errors else None

    @property
    def gradient_error_max(self) -> float | None:
        """The largest error, None without any."""
        return max(self.gradient_errors.values(), default=None)


def compare_results(
    reference: Sequence[jax.Array], results: Sequence[jax.Array], primal_results: int
) -> Comparison:
    """Compares flat results.

    Args:
        reference: results of the original step.
        results: results of the compressed step, same shapes and element types.
        primal_results: number of leading results that have to be identical.
    """
    pairs = [
        (to_numpy(a), to_numpy(b)) for a, b in zip(reference, results, strict=True)
    ]
    errors: dict[int, float] = {}
    sizes: dict[int, float] = {}
    not_finite = []
    nan_results = []
    for number, (expected, got) in enumerate(pairs):
        if not is_float(expected):
            continue
        wide = expected.astype(np.complex128 if expected.dtype.kind == "c" else float)
        nan_results.append(bool(np.isnan(wide).all()))
        if number < primal_results:
            continue
        if np.isfinite(wide).all():
            errors[number] = relative_error(wide, got.astype(wide.dtype))
            sizes[number] = root_mean_square(wide)
        else:
            not_finite.append(number)
    return Comparison(
        all(identical(a, b) for a, b in pairs[:primal_results]),
        errors,
        bool(nan_results) and all(nan_results),
        tuple(not_finite),
        tuple(
            number
            for number, error in errors.items()
            if error > 1 and sizes[number] < VANISHING * max(sizes.values())
        ),
    )


def relative_error(reference: np.ndarray, value: np.ndarray) -> float:
    """Returns |value - reference| / |reference| in the Euclidean norm.

    Args:
        reference: finite floats of any shape.
        value: array of the same shape; infinite error if it is not finite.
    """
    if not np.isfinite(value).all():
        return math.inf
    difference = float(np.linalg.norm((value - reference).ravel()))
    norm = float(np.linalg.norm(reference.ravel()))
    if norm == 0:
        return 0.0 if difference == 0 else math.inf
    return difference / norm


def root_mean_square(values: np.ndarray) -> float:
    """Returns the root of the mean squared magnitude, 0 for no values."""
    return float(np.linalg.norm(values.ravel()) / max(values.size, 1) ** 0.5)


def identical(a: np.ndarray, b: np.ndarray) -> bool:
    """Tells whether arrays agree in type and bits; NaNs agree with each other."""
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.tobytes() == b.tobytes():
        return True
    if not is_float(a):
        return False
    both_nan = np.isnan(a) & np.isnan(b)
    return a[~both_nan].tobytes() == b[~both_nan].tobytes()


def is_float(value: np.ndarray) -> bool:
    """Tells whether the elements are real or complex floats of any width."""
    return bool(jnp.issubdtype(value.dtype, jnp.inexact))


def to_numpy(value: jax.Array) -> np.ndarray:
    """Returns the elements; of typed keys, their data."""
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    return np.asarray(value)
