# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the tasks of benchmarks/parity, compressed and as they are."""

import dataclasses
import inspect
import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import act
from act.errors import ActStepError
from parity_tasks import Batch, Task

#: Stands for the sensitivities of the task's own step.
MEASURED = "measured"

#: Options of `act.compress` by the name of the policy; None does not compress. Rules
#: are files of this folder.
POLICIES: dict[str, dict[str, Any] | None] = {
    "exact": None,
    "8": {"bits": 8},
    "4": {"bits": 4},
    "2": {"bits": 2},
    "auto": {"average_bits": 4},
}
if hasattr(act, "profile"):
    POLICIES["profile"] = {"average_bits": 4, "profile": MEASURED}
if "running_ranges" in inspect.signature(act.compress).parameters:
    POLICIES["running"] = {"rules": "parity_running.json", "running_ranges": True}

#: Part of the steps of exact training after which sensitivities are measured.
PROFILED = 0.1

#: Decay of Adam's moments, and what is added to the root of the second.
FIRST_DECAY, SECOND_DECAY, EPSILON = 0.9, 0.95, 1e-8
#: Decay of the means and variances that batch norm predicts with.
STATISTICS_DECAY = 0.9
#: Part of the steps in which the learning rate rises.
WARM_UP = 0.05
#: How often a training is validated.
VALIDATIONS = 20


@dataclasses.dataclass(frozen=True)
class Run:
    """One training.

    Attributes:
        validation_steps: after how many steps each validation took place; the first
            was at the start.
        train_loss: mean loss of the batches between two validations.
        validation_loss: mean cross entropy of each.
        accuracy: part that is classified right, of each.
    """

    validation_steps: list[int]
    train_loss: list[float]
    validation_loss: list[float]
    accuracy: list[float]


@dataclasses.dataclass(frozen=True)
class Stored:
    """What a compressed step keeps for backward.

    Attributes:
        raw_bytes: of the saved values as they are.
        stash_bytes: of them as stored.
        lossy_values: how many are rounded.
        lossy_bits: mean bits of their elements, with the parameters of groups.
        lossy_part: part of the elements that is rounded.
    """

    raw_bytes: int
    stash_bytes: int
    lossy_values: int
    lossy_bits: float
    lossy_part: float


class Trainer:
    """Trains a task with one policy, for any number of seeds.

    Args:
        task: what to train.
        options: of `act.compress`; None trains it as it is.
        steps: of each training.

    Raises:
        ActStepError: act leaves the step as it is, so there is nothing to compare.
    """

    def __init__(self, task: Task, options: dict[str, Any] | None, steps: int) -> None:
        self._task = task
        self._steps = steps
        step = jax.value_and_grad(task.loss, has_aux=True)
        self.stored: Stored | None = None
        self._ranges: dict[str, jax.Array] = {}
        if options is not None:
            arguments = task.initialise(jax.random.key(0)), self._batch()
            step = act.compress(step, progress=False, **self._complete(options, step))
            self.stored = _stored(step.report(*arguments))
            if options.get("running_ranges"):
                self._ranges = step.init_ranges(*arguments)
        self._iterate = jax.jit(self._iteration(step), donate_argnums=0)
        self._validate = jax.jit(task.validate)

    def run(self, seed: int) -> Run:
        """Trains from the start and with the batches that a seed gives.

        Args:
            seed: equal for runs that are compared.
        """
        state, selections = self._start(seed)
        validations = [self._validate(state["parameters"], state["statistics"])]
        losses = []
        ends = validation_steps(self._steps)
        for start, end in itertools.pairwise(ends):
            state, batch_losses = self._advance(state, selections[start:end])
            losses.append(float(np.mean(batch_losses)))
            validations.append(self._validate(state["parameters"], state["statistics"]))
        loss, accuracy = np.asarray(validations, np.float64).T.tolist()
        return Run(ends, losses, loss, accuracy)

    def parameters_after(self, steps: int, seed: int) -> Any:
        """Returns the parameters after some steps of the training of a seed."""
        state, selections = self._start(seed)
        return self._advance(state, selections[:steps])[0]["parameters"]

    def _start(self, seed: int) -> tuple[dict[str, Any], np.ndarray]:
        """Returns the state before the first step, and the selections of all steps."""
        key = jax.random.key(seed)
        # The state is donated, so no two parameters may share a buffer.
        parameters = jax.tree.map(jnp.copy, self._task.initialise(key))
        state = {
            "parameters": parameters,
            "first": jax.tree.map(jnp.zeros_like, parameters),
            "second": jax.tree.map(jnp.zeros_like, parameters),
            "statistics": jax.tree.map(jnp.copy, self._task.statistics),
            "ranges": jax.tree.map(jnp.copy, self._ranges),
            "key": key,
            "number": jnp.zeros((), jnp.int32),
        }
        return state, self._task.draw(np.random.default_rng(seed), self._steps)

    def _advance(
        self, state: dict[str, Any], selections: np.ndarray
    ) -> tuple[dict[str, Any], list[jax.Array]]:
        """Returns the state after a step for each selection, and their losses."""
        losses = []
        for selection in selections:
            state, loss = self._iterate(state, self._task.data, selection)
            losses.append(loss)
        return state, losses

    def _batch(self) -> Batch:
        """Returns a batch to compress or measure a step with."""
        selection = self._task.draw(np.random.default_rng(0), 1)[0]
        inputs, labels = self._task.select(self._task.data, jnp.asarray(selection))
        return {"inputs": inputs, "labels": labels, "key": jax.random.key(0)}

    def _complete(self, options: dict[str, Any], step: Callable) -> dict[str, Any]:
        """Returns options with the profile and the file of rules that they name.

        What rounding each value does to the gradient is measured where exact training
        is after `PROFILED` of its steps: the start of a training is not typical of it.
        """
        options = dict(options)
        if "rules" in options:
            options["rules"] = Path(__file__).with_name(options["rules"])
        if options.get("profile") == MEASURED:
            exact = Trainer(self._task, None, self._steps)
            parameters = exact.parameters_after(round(PROFILED * self._steps), 0)
            options["profile"] = act.profile(step, parameters, self._batch())
        return options

    def _iteration(self, step: Callable) -> Callable:
        """Returns `iterate(state, data, selection)`: (next state, loss)."""

        def iterate(state: Any, data: Any, selection: Any) -> Any:
            number = state["number"]
            inputs, labels = self._task.select(data, selection)
            key = jax.random.fold_in(state["key"], number)
            batch = {"inputs": inputs, "labels": labels, "key": key}
            arguments = state["parameters"], batch
            ranges = state["ranges"]
            if ranges:
                results, ranges = step.with_ranges(ranges, *arguments)
            else:
                results = step(*arguments)
            (loss, found), gradients = results
            rate = self._task.rate * schedule(number, self._steps)
            # The first batch has no past to be averaged with.
            decay = jnp.where(number == 0, 0.0, STATISTICS_DECAY)
            statistics = jax.tree.map(
                lambda old, new: decay * old + (1 - decay) * new,
                state["statistics"],
                found,
            )
            updated = adam(state, gradients, rate)
            updated |= {"statistics": statistics, "ranges": ranges}
            return state | updated, loss

        return iterate


def adam(state: dict[str, Any], gradients: Any, rate: jax.Array) -> dict[str, Any]:
    """Returns parameters, moments and number of the next state.

    As in algorithm 1 of arXiv 1412.6980.

    Args:
        state: pytrees `parameters`, `first` and `second` (moments), and the `number`
            of steps made.
        gradients: pytree like the parameters.
        rate: learning rate.
    """
    number = state["number"] + 1
    first = jax.tree.map(
        lambda m, g: FIRST_DECAY * m + (1 - FIRST_DECAY) * g, state["first"], gradients
    )
    second = jax.tree.map(
        lambda v, g: SECOND_DECAY * v + (1 - SECOND_DECAY) * g * g,
        state["second"],
        gradients,
    )
    first_scale = rate / (1 - FIRST_DECAY**number)
    second_scale = 1 / (1 - SECOND_DECAY**number)
    parameters = jax.tree.map(
        lambda p, m, v: p - first_scale * m / (jnp.sqrt(second_scale * v) + EPSILON),
        state["parameters"],
        first,
        second,
    )
    return {
        "parameters": parameters,
        "first": first,
        "second": second,
        "number": number,
    }


def validation_steps(steps: int) -> list[int]:
    """Returns 0, `steps` and what is in between at equal distances, without repetition.

    Args:
        steps: of a training, at least 1.
    """
    places = np.linspace(0, steps, min(steps, VALIDATIONS) + 1)
    return [int(place) for place in places.round()]


def schedule(number: Any, steps: int) -> jax.Array:
    """Returns the learning rate of a step over the greatest one.

    It rises linearly in the first `WARM_UP` of the steps and then falls as half a
    cosine, which reaches 0 one step behind the last.

    Args:
        number: of the step, from 0.
        steps: of the training.
    """
    warm_up = max(1, round(WARM_UP * steps))
    rise = (number + 1) / warm_up
    progress = (number + 1 - warm_up) / (steps + 1 - warm_up)
    fall = 0.5 * (1 + jnp.cos(math.pi * progress))
    return jnp.where(number < warm_up, rise, fall)


def _stored(report: act.Report) -> Stored:
    """Returns what a report says is stored.

    Raises:
        ActStepError: nothing is rounded.
    """
    elements = {True: 0, False: 0}
    lossy_bits = 0.0
    lossy_values = 0
    for survivor in report.survivors:
        count = survivor["copies"] * math.prod(survivor["shape"])
        lossy = not survivor["lossless"]
        elements[lossy] += count
        if lossy:
            lossy_values += 1
            lossy_bits += 8 * survivor["bytes_after"]
    if not lossy_values:
        reason = report.untouched or "it saves only what has to be exact"
        raise ActStepError(f"{report.step} is not rounded anywhere: {reason}")
    return Stored(
        report.raw_bytes,
        report.stash_bytes,
        lossy_values,
        lossy_bits / elements[True],
        elements[True] / sum(elements.values()),
    )
