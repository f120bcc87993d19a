# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The evidence behind the default encodings, see docs/Benchmarks.md.

masks: a relu predicate recomputed from a rounded value, or kept in one bit.
groups: size and shape of the groups that share a minimum and a step.
bias: error of one gradient and of the mean over seeds of the rounding noise.
drift: distance from the exact trajectory after SGD steps.
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
from rich.progress import track
from rich.table import Table

import act
import models
from rounding import Rounding, rounded_relu_layer

SMALL_MODELS: dict[str, Callable[[], models.Model]] = {
    "mlp": lambda: models.mlp(3, samples=256, width=256),
    "gpt": lambda: models.gpt(2, 256, width=64, heads=4, length=64, sequences=4),
    "cnn": lambda: models.cnn(images=16, size=32, channels=16),
}

#: Rates at which SGD descends steadily; beyond them all trajectories part.
LEARNING_RATES = {"mlp": 0.05, "gpt": 0.05, "cnn": 0.002}


def flat(gradients: Any) -> np.ndarray:
    """Returns all gradients as one f64 vector."""
    leaves = [
        np.asarray(leaf, np.float64).ravel() for leaf in jax.tree.leaves(gradients)
    ]
    return np.concatenate(leaves)


def error(reference: np.ndarray, value: np.ndarray) -> float:
    """Returns the relative Euclidean error."""
    return float(np.linalg.norm(value - reference) / np.linalg.norm(reference))


def masks_and_groups(_: argparse.Namespace) -> list[dict[str, Any]]:
    """Measures the CNN with relu predicates and groups of each kind."""
    model = models.cnn(images=16, size=32, channels=16)
    exact = flat(jax.jit(model.step())(model.parameters, model.batch)[1])
    rows = []
    for bits in (8, 4, 2):
        for group, within in ((256, False), (64, True)):
            row: dict[str, Any] = {
                "bits": bits,
                "groups": f"{group} {'on the last axis' if within else 'flat'}",
            }
            for exact_mask in (False, True):
                step = jax.jit(
                    _rounded_cnn_step(Rounding(bits, group, within), exact_mask)
                )
                samples = [
                    flat(step(model.parameters, model.batch, jax.random.key(seed))[1])
                    for seed in range(8)
                ]
                kind = "kept" if exact_mask else "recomputed"
                row[f"mask {kind}"] = float(
                    np.median([error(exact, sample) for sample in samples])
                )
                row[f"mask {kind}, mean of 8"] = error(exact, np.mean(samples, 0))
            rows.append(row)
    return rows


def _rounded_cnn_step(rounding: Rounding, exact_mask: bool) -> Callable:
    """Returns `step(parameters, batch, key)` of the CNN with rounded saves."""
    layer = rounded_relu_layer(models.convolve, rounding, exact_mask)

    def loss(parameters: Any, batch: Any, key: jax.Array) -> jax.Array:
        keys = iter(jax.random.split(key, len(parameters["convolutions"])))

        def wrap(_: Callable) -> Callable:
            return lambda p, x: layer(p, x, next(keys))

        return models.cnn_loss(parameters, batch, wrap)

    return jax.value_and_grad(loss)


def bias(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measures error and bias of compressed gradients, through act."""
    rows = []
    for name, build in SMALL_MODELS.items():
        model = build()
        arguments = (model.parameters, model.batch)
        exact = flat(jax.jit(model.step())(*arguments)[1])
        for bits in (8, 4):
            samples = []
            for seed in track(
                range(options.seeds),
                f"bias {name} {bits} bits",
                console=Console(stderr=True),
                disable=not sys.stderr.isatty(),
            ):
                step = act.compress(model.step(), bits=bits, seed=seed)
                samples.append(flat(step(*arguments)[1]))
            one = float(np.median([error(exact, sample) for sample in samples]))
            mean = np.mean(samples, 0)
            # The mean still holds 1/n of the variance, estimated by the samples.
            variance = np.var(samples, axis=0, ddof=1).sum() / len(samples)
            squared = ((mean - exact) ** 2).sum() - variance
            unbiased = float(np.sqrt(max(squared, 0)) / np.linalg.norm(exact))
            rows.append(
                {
                    "model": name,
                    "bits": bits,
                    "error": one,
                    f"mean of {len(samples)}": error(exact, mean),
                    "bias": unbiased,
                    "bias / error": unbiased / one,
                }
            )
    return rows


def drift(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measures how far SGD with compressed gradients ends from exact SGD."""
    rows = []
    for name, build in SMALL_MODELS.items():
        model = build()
        stream = batches(name, model, options.steps)
        rate = LEARNING_RATES[name]
        exact_step = jax.jit(model.step())
        start = flat(model.parameters)
        exact = _train(exact_step, model.parameters, stream, rate)
        travelled = np.linalg.norm(exact - start)
        row: dict[str, Any] = {"model": name, "steps": options.steps}
        runs = {
            "other batch order": (exact_step, stream[::-1]),
            "8 bits": (act.compress(model.step(), bits=8), stream),
            "4 bits": (act.compress(model.step(), bits=4), stream),
        }
        for label, (step, order) in runs.items():
            end = _train(step, model.parameters, order, rate)
            row[label] = float(np.linalg.norm(end - exact) / travelled)
        rows.append(row)
    return rows


def batches(name: str, model: models.Model, steps: int) -> list[Any]:
    """Returns batches with something to learn: targets of a fixed teacher."""
    generator = np.random.default_rng(0)
    result = []
    for number in range(steps):
        if name == "gpt":
            tokens, _, key = model.batch
            shape = np.asarray(tokens).shape
            first = generator.integers(0, 256, (shape[0], 1))
            noise = generator.integers(0, 3, shape)
            walk = (first + np.cumsum(noise + 1, 1)) % 256
            inputs = jnp.asarray(walk, jnp.int32)
            labels = jnp.roll(inputs, -1, 1)
            result.append((inputs, labels, jax.random.fold_in(key, number)))
        else:
            x, y = model.batch
            inputs = jnp.asarray(generator.standard_normal(x.shape), x.dtype)
            if name == "mlp":
                result.append((inputs, jnp.sin(inputs * 2)))
            else:
                strength = jnp.abs(inputs).mean((1, 2, 3))
                order = jnp.argsort(jnp.argsort(strength))
                result.append((inputs, (order * 10 // len(y)).astype(y.dtype)))
    return result


def _train(
    step: Callable, parameters: Any, batches: list[Any], rate: float
) -> np.ndarray:
    """Runs SGD at a learning rate; returns the parameters it ends at."""
    for batch in batches:
        _, gradients = step(parameters, batch)
        parameters = jax.tree.map(lambda p, g: p - rate * g, parameters, gradients)
    return flat(parameters)


PARTS: dict[str, tuple[str, Callable]] = {
    "masks": ("CNN gradient error: relu predicate, groups", masks_and_groups),
    "bias": ("Error of one gradient, and bias", bias),
    "drift": ("Distance from the exact trajectory / distance travelled", drift),
}


def main() -> int:
    """Runs the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="benchmarks/encodings", description=__doc__)
    parser.add_argument("--only", choices=PARTS, action="append", help="a part of it")
    parser.add_argument("--seeds", type=int, default=32, help="for the bias [32]")
    parser.add_argument("--steps", type=int, default=200, help="for the drift [200]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    options = parser.parse_args()
    results = {}
    for part in options.only or PARTS:
        title, measure = PARTS[part]
        results[part] = measure(options)
        Console(highlight=False).print(table(title, results[part]))
        if options.json is not None:
            options.json.write_text(json.dumps(results, indent=2) + "\n")
    return 0


def table(title: str, rows: list[dict[str, Any]]) -> Table:
    """Returns rows of figures as a table."""
    result = Table(title=title)
    for heading in rows[0]:
        result.add_column(heading, justify="right")
    for row in rows:
        cells = (f"{v:.4f}" if isinstance(v, float) else str(v) for v in row.values())
        result.add_row(*cells)
    return result


if __name__ == "__main__":
    sys.exit(main())
