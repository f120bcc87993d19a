# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small Performer to copy, in slices of the sequence and at once.

The task of SLiM Performers (arXiv 2012.11346, section 4): a sequence is a random word
of 255 letters written twice, a zero before each; only the second time counts. One
layer of width 256 with 4 heads, Adam, the same start and the same data for both.
"""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.table import Table

from act.errors import ActError
from act.progress import Stages
from slim_model import ROWS, Batch, Parameters, parameters_of, training_step
from slim_rows import BY_HAND, VARIANTS

ROW = ROWS["copy_c64"]
RATES = 0.9, 0.999, 1e-8


def draw_batch(random: np.random.Generator, sequences: int) -> Batch:
    """Draws sequences 0 w 0 w and what follows each token of them."""
    half = ROW.length // 2
    words = random.integers(1, ROW.vocabulary, (sequences, half - 1))
    once = np.pad(words, ((0, 0), (1, 0)))
    tokens = np.concatenate([once, once], 1)
    targets = np.pad(tokens[:, 1:], ((0, 0), (0, 1)))
    counts = (np.arange(ROW.length) >= half) & (np.arange(ROW.length) < ROW.length - 1)
    weights = np.broadcast_to(counts / (counts.sum() * sequences), tokens.shape)
    return (
        jnp.asarray(tokens, jnp.int32),
        jnp.asarray(targets, jnp.int32),
        jnp.asarray(weights, jnp.float32),
        jnp.arange(ROW.length, dtype=jnp.float32),
    )


@jax.jit
def update(
    parameters: Parameters, moments: Any, gradients: Parameters, number: Any, rate: Any
) -> tuple[Parameters, Any]:
    """Makes a step of Adam."""
    first_rate, second_rate, epsilon = RATES
    first = jax.tree.map(
        lambda m, g: first_rate * m + (1 - first_rate) * g, moments[0], gradients
    )
    second = jax.tree.map(
        lambda m, g: second_rate * m + (1 - second_rate) * g * g, moments[1], gradients
    )
    first_scale = 1 / (1 - first_rate**number)
    second_scale = 1 / (1 - second_rate**number)
    parameters = jax.tree.map(
        lambda p, a, b: (
            p - rate * a * first_scale / (jnp.sqrt(b * second_scale) + epsilon)
        ),
        parameters,
        first,
        second,
    )
    return parameters, (first, second)


def train(
    step: Callable, iterations: int, sequences: int, rate: float, on_step: Callable
) -> list[float]:
    """Returns the loss of each iteration."""
    parameters = parameters_of(ROW)
    moments = jax.tree.map(jnp.zeros_like, (parameters, parameters))
    random = np.random.default_rng(0)
    losses = []
    for number in range(iterations):
        on_step(number)
        loss, gradients = step(parameters, draw_batch(random, sequences))
        losses.append(float(loss))
        parameters, moments = update(
            parameters, moments, gradients, jnp.float32(number + 1), rate
        )
    return losses


def plot_losses(curves: dict[str, list[float]], path: Path) -> None:
    """Draws the loss of each way of training, and by how much it differs."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    axes, differences = figure.subplots(1, 2)
    whole = np.asarray(curves["at once"])
    for name, losses in curves.items():
        axes.plot(losses, label=name, linestyle="-" if name == "at once" else "--")
        if name != "at once":
            differences.semilogy(abs(np.asarray(losses) - whole) / whole, label=name)
    axes.set_ylabel("loss")
    differences.set_ylabel("relative difference from training at once")
    for part in (axes, differences):
        part.set_xlabel("iteration")
        part.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main() -> int:
    """Runs the command; returns its exit status."""
    options = _parse_arguments()
    variants = BY_HAND if options.by_hand else VARIANTS
    steps = {"at once": jax.jit(training_step(ROW))}
    curves: dict[str, list[float]] = {}
    with Stages((1 + len(variants)) * options.iterations, options.progress) as stages:
        try:
            for name, variant in variants.items():
                step = variant(ROW, options.chunk)
                steps[name] = step if hasattr(step, "lower") else jax.jit(step)
            for name, step in steps.items():
                curves[name] = train(
                    step,
                    options.iterations,
                    options.sequences,
                    options.rate,
                    lambda number, name=name: stages.start(f"{name}, step {number}"),
                )
        except ActError as error:
            print(f"benchmarks/copy_task: error: {error}", file=sys.stderr)
            return 1
    whole = np.asarray(curves["at once"])
    differences = {
        name: float((abs(np.asarray(losses) - whole) / whole).max())
        for name, losses in curves.items()
        if name != "at once"
    }
    table = Table(title=f"{options.iterations} iterations, slices of {options.chunk}")
    for column in ("training", "first loss", "last loss", "largest difference"):
        table.add_column(column, justify="right")
    for name, losses in curves.items():
        difference = f"{differences[name]:.1e}" if name in differences else "-"
        table.add_row(name, f"{losses[0]:.4f}", f"{losses[-1]:.4f}", difference)
    Console(highlight=False).print(table)
    if options.json is not None:
        figures = {"losses": curves, "largest_difference": differences}
        options.json.write_text(json.dumps(figures, indent=2) + "\n")
    if options.plot is not None:
        plot_losses(curves, options.plot)
    return 0


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/copy_task", description=__doc__)
    for name, kind, default, text in (
        ("iterations", int, 300, "steps of each training"),
        ("sequences", int, 1, "in a batch"),
        ("chunk", int, 64, "tokens in a slice"),
        ("rate", float, 1e-3, "learning rate"),
    ):
        parser.add_argument(
            f"--{name}", type=kind, default=default, help=f"{text} [{default}]"
        )
    parser.add_argument(
        "--by-hand",
        action="store_true",
        help="use slices written by hand in JAX instead of act's rewriting",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the losses")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw them")
    parser.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, default=None
    )
    options = parser.parse_args()
    if options.chunk < 1 or ROW.length % options.chunk:
        parser.error(f"--chunk: expects a divisor of {ROW.length}, got {options.chunk}")
    if options.iterations < 1 or options.sequences < 1:
        parser.error("--iterations and --sequences: expect at least 1")
    return options


if __name__ == "__main__":
    sys.exit(main())
