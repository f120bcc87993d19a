# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs instrumented steps and measures by how much their gradients differ."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from act.errors import ActOptionError, ActProfileError
from act.instrument import Instrumented

#: Elements that the difference of a larger result is folded into.
FOLDED = 2**16

#: Picks gradients from the results of a step: any pytree of some of them.
Results = Callable[[Any], Any]


class Probe:
    """An instrumented step with its arguments and its exact gradient.

    Args:
        step: the instrumented step.
        leaves: of its arguments.
        results: picks the gradients from the results of the step; None takes all
            floats behind the primal ones.

    Raises:
        ActOptionError: `results` picks no float.
        ActProfileError: the gradient is zero or not finite.
    """

    def __init__(
        self, step: Instrumented, leaves: Sequence[Any], results: Results | None = None
    ) -> None:
        self.step = step
        self._leaves = leaves
        self._results = results
        self.passes = 1
        self._exact = self._gradients(np.zeros(self.survivors), 0)
        if not self._exact:
            raise ActOptionError(
                f"results must pick float results of {step.name}, got none"
            )
        squares = [float(jnp.sum(jnp.square(leaf))) for leaf in self._exact]
        self.norm = math.sqrt(sum(squares))
        if self.norm == 0 or not math.isfinite(self.norm):
            raise ActProfileError(
                f"the gradient of {step.name} has the norm {self.norm} for these "
                "arguments, so errors relative to it mean nothing"
            )

    @property
    def survivors(self) -> int:
        """How many values the step rounds."""
        return len(self.step.survivors)

    def differences(self, levels: np.ndarray, seed: int) -> list[np.ndarray]:
        """Runs the step and returns what rounding does to each gradient.

        Differences are relative to the norm of the whole gradient. Large ones are
        folded: sums of elements with random signs, which keep inner products on
        average, with a relative error of about `FOLDED`^-1/2.

        Args:
            levels: f32 [survivors], the largest code of each or 0.
            seed: of the noise.

        Raises:
            ActProfileError: a gradient is not finite.
        """
        self.passes += 1
        rounded = self._gradients(levels, seed)
        found = [np.asarray(d) for d in _fold(self._exact, rounded, self.norm)]
        if not all(np.isfinite(d).all() for d in found):
            raise ActProfileError(
                f"a gradient of {self.step.name} is not finite once values are rounded"
            )
        return found

    def error(self, levels: np.ndarray, seeds: Sequence[int]) -> float:
        """Returns the relative error of the gradient, the root mean square.

        Args:
            levels: f32 [survivors], the largest code of each or 0.
            seeds: of the noise, one run each.
        """
        squares = []
        for seed in seeds:
            self.passes += 1
            rounded = self._gradients(levels, seed)
            squares.append(float(_squared_distance(self._exact, rounded)))
        return math.sqrt(sum(squares) / len(squares)) / self.norm

    def _gradients(self, levels: np.ndarray, seed: int) -> list[jax.Array]:
        """Runs the step and returns the float gradients as f32."""
        flat = self.step.run(levels, seed, self._leaves)
        picked = flat[self.step.primal :]
        if self._results is not None:
            results = jax.tree.unflatten(self.step.out_tree, flat)
            picked = jax.tree.leaves(self._results(results))
        return [
            leaf.astype(jnp.float32)
            for leaf in picked
            if jnp.issubdtype(leaf.dtype, jnp.floating) and leaf.size
        ]


@jax.jit
def _fold(
    exact: list[jax.Array], rounded: list[jax.Array], norm: float
) -> list[jax.Array]:
    """Returns differences, relative to `norm`, of at most `FOLDED` elements each."""
    folded = []
    for number, (a, b) in enumerate(zip(exact, rounded, strict=True)):
        difference = (b - a).ravel() / norm
        if difference.size > FOLDED:
            rows = -(-difference.size // FOLDED)
            padded = jnp.pad(difference, (0, rows * FOLDED - difference.size))
            key = jax.random.key(number)
            signs = jax.random.rademacher(key, (rows, FOLDED), jnp.float32)
            difference = jnp.sum(signs * padded.reshape(rows, FOLDED), 0)
        folded.append(difference)
    return folded


@jax.jit
def _squared_distance(exact: list[jax.Array], rounded: list[jax.Array]) -> jax.Array:
    return sum(jnp.sum(jnp.square(b - a)) for a, b in zip(exact, rounded, strict=True))
