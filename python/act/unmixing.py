# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds what each of many values adds to an error from few runs that round several.

With one seed, rounding value i changes the gradient by the same vector e_i in every
run, up to second order. A run p that rounds a set of values sees d_p = sum_i a_pi e_i
with a_pi 0 or 1. Noise of different values is independent, so that <e_i, e_j> is near
0 in a gradient of many elements, and

    <d_p, d_q> = sum_i a_pi a_qi |e_i|^2 + small terms of mean zero.

P runs give P (P + 1) / 2 such equations for each tensor of the gradient, where
measuring the values one by one takes as many runs as there are values. They are solved
for non-negative |e_i|^2 by least squares, tensor by tensor: a value that backward uses
late does not reach every tensor, and its share there comes out as 0.
"""

import dataclasses
import itertools
import math

import numpy as np
from scipy.optimize import nnls

#: Products below this part of the mean square weigh as if they were as large.
_FLOOR = 1e-2


@dataclasses.dataclass(frozen=True)
class Group:
    """Runs with one seed.

    Attributes:
        masks: f64 [runs, values], 1 where a run rounds a value, else 0.
        products: f64 [tensors, runs, runs], inner products of the differences.
    """

    masks: np.ndarray
    products: np.ndarray


def least_runs(values: int) -> int:
    """Returns how many runs have a pair of them for each value."""
    return math.ceil((1 + math.sqrt(1 + 8 * values)) / 2)


def draw_masks(random: np.random.Generator, runs: int, values: int) -> np.ndarray:
    """Draws which values each run rounds, f64 [runs, values] of 0 and 1.

    With a run for each value, each is rounded alone. Else each is rounded by two
    runs, another two for each value where there are enough pairs (else by three, and
    so on): <d_p, d_q> is then what one value adds, but for the small terms, of which
    there are the fewer the fewer values a run rounds. Runs round equally many.

    Args:
        random: where from.
        runs: their number, at least 2.
        values: their number.
    """
    if runs >= values:
        return np.eye(runs, values)
    width = 1
    while math.comb(runs, width) < values and width < runs // 2:
        width += 1
    sets = np.array(list(itertools.combinations(range(runs), width)))
    random.shuffle(sets)
    masks = np.zeros((runs, values))
    loads, uses = np.zeros(runs), np.zeros(len(sets))
    for value in random.permutation(values):
        chosen = int(np.argmin(loads[sets].sum(1) + values * width * uses))
        uses[chosen] += 1
        loads[sets[chosen]] += 1
        masks[sets[chosen], value] = 1
    return masks


def unmix(groups: list[Group]) -> tuple[np.ndarray, float]:
    """Returns |e_i|^2 of each value, and the relative error of the fit.

    Args:
        groups: runs that all round the same values.
    """
    values = groups[0].masks.shape[1]
    found = np.zeros(values)
    residual = measured = 0.0
    for tensor in range(groups[0].products.shape[0]):
        parts = [_equations(group, tensor) for group in groups]
        matrix = np.concatenate([part[0] for part in parts])
        target = np.concatenate([part[1] for part in parts])
        if not target.any():
            continue
        solution, _ = nnls(matrix, target)
        found += solution
        for group in groups:
            squares = np.diagonal(group.products[tensor])
            residual += np.sum(np.abs(group.masks @ solution - squares))
            measured += np.sum(squares)
    return found, residual / measured if measured else 0.0


def _equations(group: Group, tensor: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the weighted equations of a group for one tensor of the gradient.

    The small terms of <d_p, d_q> are of the size of |d_p| |d_q|, so its weight is the
    inverse of that.
    """
    products = group.products[tensor]
    rows, columns = np.triu_indices(len(products))
    squares = np.maximum(np.diagonal(products), 0)
    floor = _FLOOR * squares.mean()
    if floor == 0:
        return np.zeros((0, group.masks.shape[1])), np.zeros(0)
    sizes = np.sqrt(squares[rows] * squares[columns])
    weights = 1 / np.maximum(sizes, floor)
    both = group.masks[rows] * group.masks[columns]
    return both * weights[:, None], products[rows, columns] * weights
