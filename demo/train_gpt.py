# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains a small GPT on Python's documentation, with and without act.

The same initial parameters and the same batches go to the original step and to
steps compressed to 8 and 4 bits; they take turns, so that their times compare.
"""

import argparse
import dataclasses
import pydoc_data.topics
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

import act
import models
from act import xla
from act.compare import compare_results
from act.file_step import FileStep
from act.options import CompressOptions
from act.progress import Stages
from act.report import format_bytes
from act.rewrite import rewrite

CHECKOUT = Path(__file__).resolve().parents[1]
REAL_STEP = CHECKOUT.parent / "shared" / "inputs" / "gpt.real.mlir"
LENGTH = 128
SEQUENCES = 8
LEARNING_RATE = 1e-3
MIB = 2**20


@dataclasses.dataclass
class Run:
    """One way to train.

    Attributes:
        name: for tables and pictures.
        step: `step(state, batch) -> (loss, state)`.
        state: parameters, Adam's moments and the step count.
        losses: of the steps done.
        seconds: they took.
        temp_bytes: temporary memory XLA needs for a step.
        gradient_error: median over parameters, against the original; None there.
        loss_identical: whether the first loss is the original's, bit for bit.
    """

    name: str
    step: Callable
    state: Any
    losses: list[float] = dataclasses.field(default_factory=list)
    seconds: list[float] = dataclasses.field(default_factory=list)
    temp_bytes: int = 0
    gradient_error: float | None = None
    loss_identical: bool | None = None


def main() -> int:
    """Runs the demo; returns its exit status."""
    options = _parse_arguments()
    options.output.mkdir(parents=True, exist_ok=True)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    tokens, vocabulary = documentation()
    model = models.gpt(
        layers=4,
        vocabulary=vocabulary,
        width=128,
        heads=4,
        length=LENGTH,
        sequences=SEQUENCES,
    )
    console.print(
        f"GPT of 4 layers, width 128, on {len(tokens):,} characters of Python's "
        f"documentation; {SEQUENCES} sequences of {LENGTH} per step, Adam"
    )
    runs, report = prepare(model, next(batches(tokens)))
    train(runs, batches(tokens), options.steps, options.seconds)
    console.print(summary_table(runs), loss_table(runs))
    console.print(report.headline())
    plot_losses(runs, options.output / "loss.png")
    report.plot(options.output / "memory.png")
    console.print(f"pictures: {options.output}/loss.png, {options.output}/memory.png")
    if options.skip_real:
        return 0
    if REAL_STEP.is_file():
        console.print(compile_real_step())
    else:
        console.print(f"gpt.real: skipped, {REAL_STEP.name} is not there")
    return 0


def documentation() -> tuple[np.ndarray, int]:
    """Returns the text of Python's help topics as tokens, and their number."""
    text = "\n".join(pydoc_data.topics.topics.values())
    characters = sorted(set(text))
    number = {character: index for index, character in enumerate(characters)}
    return np.array([number[c] for c in text], np.int32), len(characters)


def batches(tokens: np.ndarray) -> Iterator[tuple[jax.Array, jax.Array, jax.Array]]:
    """Yields inputs, next characters and an unused dropout key, always the same."""
    generator = np.random.default_rng(0)
    key = jax.random.key(0)
    while True:
        starts = generator.integers(0, len(tokens) - LENGTH - 1, SEQUENCES)
        window = tokens[starts[:, None] + np.arange(LENGTH + 1)]
        yield jnp.asarray(window[:, :-1]), jnp.asarray(window[:, 1:]), key


def make_step(value_and_grad: Callable) -> Callable:
    """Returns `step(state, batch) -> (loss, state)` with Adam inside."""

    def step(state: Any, batch: Any) -> tuple[jax.Array, Any]:
        parameters, mean, square, count = state
        loss, gradients = value_and_grad(parameters, batch)
        count = count + 1
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradients)
        square = jax.tree.map(lambda s, g: 0.99 * s + 0.01 * g * g, square, gradients)

        def update(p: jax.Array, m: jax.Array, s: jax.Array) -> jax.Array:
            m, s = m / (1 - 0.9**count), s / (1 - 0.99**count)
            return p - LEARNING_RATE * m / (jnp.sqrt(s) + 1e-8)

        return loss, (
            jax.tree.map(update, parameters, mean, square),
            mean,
            square,
            count,
        )

    return step


def prepare(model: models.Model, batch: Any) -> tuple[list[Run], act.Report]:
    """Makes the runs, measures memory and the error of the first gradient."""
    step = make_step(model.step())
    steps = {
        "original": jax.jit(step, donate_argnums=0),
        "act, 8 bits": act.compress(step, bits=8, donate_argnums=0),
        "act, 4 bits": act.compress(step, bits=4, donate_argnums=0),
    }
    gradient_steps = {
        "original": jax.jit(model.step()),
        "act, 8 bits": act.compress(model.step(), bits=8),
        "act, 4 bits": act.compress(model.step(), bits=4),
    }
    exact = jax.tree.leaves(gradient_steps["original"](model.parameters, batch))
    runs = []
    for name, compiled in steps.items():
        zeros = jax.tree.map(jnp.zeros_like, model.parameters)
        parameters = jax.tree.map(jnp.copy, model.parameters)
        state = (parameters, zeros, jax.tree.map(jnp.copy, zeros), jnp.float32(0))
        run = Run(name, compiled, state)
        run.temp_bytes = xla.temp_bytes(compiled.lower(state, batch).compile())
        if name != "original":
            results = jax.tree.leaves(gradient_steps[name](model.parameters, batch))
            comparison = compare_results(exact, results, 1)
            run.gradient_error = comparison.gradient_error_median
            run.loss_identical = comparison.primal_identical
        runs.append(run)
    report = steps["act, 4 bits"].report(runs[-1].state, batch)
    return runs, report


def train(runs: list[Run], stream: Iterator[Any], steps: int, seconds: float) -> None:
    """Trains all runs, which take turns in changing order.

    Args:
        runs: to train.
        stream: of batches.
        steps: of each run.
        seconds: after which training ends before that.
    """
    console = Console(stderr=True)
    end = time.perf_counter() + seconds
    hide = not console.is_terminal
    for number in track(range(steps), "training", console=console, disable=hide):
        if time.perf_counter() > end and number > 10:
            break
        batch = next(stream)
        for run in runs if number % 2 else reversed(runs):
            started = time.perf_counter()
            loss, run.state = run.step(run.state, batch)
            run.losses.append(float(jax.block_until_ready(loss)))
            run.seconds.append(time.perf_counter() - started)


def summary_table(runs: list[Run]) -> Table:
    """Returns memory, time and error per run."""
    table = Table(title="One training step")
    for heading in ("", "XLA temporary memory", "", "time", "", "gradient error"):
        table.add_column(heading, justify="right" if heading else "left")
    table.add_column("first loss")
    original = runs[0]
    # The first steps include compiling.
    reference = np.array(original.seconds[2:])
    for run in runs:
        seconds = np.array(run.seconds[2:])
        table.add_row(
            run.name,
            format_bytes(run.temp_bytes),
            f"{original.temp_bytes / run.temp_bytes:.2f}x less",
            f"{1e3 * statistics.median(seconds):.0f} ms",
            f"{statistics.median(seconds / reference):.2f}x",
            "-" if run.gradient_error is None else f"{run.gradient_error:.4f}",
            {None: "-", True: "identical", False: "DIFFERENT"}[run.loss_identical],
        )
    return table


def loss_table(runs: list[Run]) -> Table:
    """Returns the losses at a dozen points, side by side."""
    table = Table(title="Training loss (mean of the last 10 steps)")
    table.add_column("step", justify="right")
    for run in runs:
        table.add_column(run.name, justify="right")
    total = len(runs[0].losses)
    for end in sorted({max(1, round(total * part / 10)) for part in range(11)}):
        means = [statistics.mean(run.losses[max(0, end - 10) : end]) for run in runs]
        table.add_row(str(end), *(f"{mean:.4f}" for mean in means))
    return table


def plot_losses(runs: list[Run], path: Path) -> None:
    """Draws the loss curves."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for run in runs:
        label = f"{run.name}: {run.temp_bytes / MIB:.1f} MiB"
        axes.plot(run.losses, label=label, linewidth=1)
    axes.set_xlabel("step")
    axes.set_ylabel("training loss, nats per character")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def compile_real_step() -> str:
    """Compiles a 12-layer GPT at real size; returns its memory as text."""
    step = FileStep.read(REAL_STEP)
    with Stages(2) as stages:
        result = rewrite(
            step.exported,
            step.text,
            1,
            CompressOptions(recompute="growing"),
            lambda exported: step.lower(exported, None).compile(),
            stages,
        )
        stages.start("compiling gpt.real as it is")
        before = xla.temp_bytes(step.lower(step.exported, None).compile())
        stages.start("compiling gpt.real compressed")
        after = xla.temp_bytes(step.lower(result.exported, None).compile())
    return (
        "gpt.real (12 layers, width 768, 8 sequences of 1024, 50,257 words, bf16), "
        f"compiled only: {format_bytes(before)} -> {format_bytes(after)} of temporary "
        f"memory, {before / after:.2f}x less"
    )


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="utils/demo", description=__doc__)
    parser.add_argument("--steps", type=int, default=200, help="to train [200]")
    parser.add_argument(
        "--seconds", type=float, default=150, help="to train at most [150]"
    )
    parser.add_argument(
        "--output", type=Path, default=Path("out/demo"), help="of pictures [out/demo]"
    )
    parser.add_argument(
        "--skip-real", action="store_true", help="do not compile gpt.real"
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
