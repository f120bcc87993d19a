# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Profiles against the truth, and bits chosen from them against uniform ones.

For small models that have learnt real data for a while: the rank correlation of what
`act.profile` predicts for each saved value with its error alone at 4 bits, the mean
over seeds; the same for the model that act uses without a profile; how many passes
that took beside GACT's three per value; and by how many bits the error falls when the
bytes of uniform bits are distributed by the profile.
"""

import argparse
import dataclasses
import json
import math
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.stats import spearmanr

import act
import parity_tasks
from act.contributions import profile_probe
from act.probe import Probe
from act.profile_data import Profile
from models import convolve

#: Steps of Adam before measuring.
STEPS = 150


def deep_cnn(layers: int = 10, channels: int = 16, batch: int = 128) -> Any:
    """Returns the CNN of the parity tasks with more layers, pooled once."""
    task = parity_tasks.cnn(channels, batch)
    widths = [1, *[channels] * layers]

    def initialise(key: jax.Array) -> Any:
        keys = jax.random.split(key, layers + 1)
        convolutions = [
            {
                "kernel": jax.random.normal(k, (3, 3, a, b)) * math.sqrt(2 / (9 * a)),
                "scale": jnp.ones(b),
                "bias": jnp.zeros(b),
            }
            for k, a, b in zip(keys, widths, widths[1:], strict=False)
        ]
        head = jax.random.normal(keys[-1], (channels, 10)) / math.sqrt(channels)
        return {"convolutions": convolutions, "head": head}

    def apply(parameters: Any, images: jax.Array, _: Any, _key: Any) -> Any:
        x = images[..., None]
        for number, p in enumerate(parameters["convolutions"]):
            x = convolve(p, x)
            normal = (x - x.mean((0, 1, 2))) / jnp.sqrt(x.var((0, 1, 2)) + 1e-5)
            x = jax.nn.relu(normal * p["scale"] + p["bias"])
            if number == layers // 2:
                window = (1, 2, 2, 1)
                x = jax.lax.reduce_window(
                    x, -jnp.inf, jax.lax.max, window, window, "VALID"
                )
        return x.mean((1, 2)) @ parameters["head"], []

    return dataclasses.replace(task, initialise=initialise, apply=apply)


MODELS: dict[str, Callable[[], Any]] = {
    "mlp": lambda: parity_tasks.mlp(layers=12, width=128, batch=256),
    "gpt": lambda: parity_tasks.gpt(layers=4, sequences=16),
    "cnn": deep_cnn,
    "vit": lambda: parity_tasks.vit(layers=4, batch=64),
}


def learn(task: Any, steps: int) -> tuple[Callable, Any, Any]:
    """Returns a step (loss, gradients), parameters after some learning, and a batch."""

    def step(parameters: Any, batch: Any) -> tuple[jax.Array, Any]:
        value_and_grad = jax.value_and_grad(task.loss, has_aux=True)
        (loss, _), gradients = value_and_grad(parameters, batch)
        return loss, gradients

    @jax.jit
    def update(state: Any, time: jax.Array, batch: Any) -> Any:
        parameters, first, second = state
        gradients = step(parameters, batch)[1]
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, second, gradients)

        def moved(p: jax.Array, m: jax.Array, v: jax.Array) -> jax.Array:
            size = jnp.sqrt(v / (1 - 0.99**time)) + 1e-8
            return p - task.rate / 3 * m / (1 - 0.9**time) / size

        return jax.tree.map(moved, parameters, first, second), first, second

    selections = task.draw(np.random.default_rng(0), steps + 1)

    def batch(number: int) -> dict[str, Any]:
        inputs, labels = task.select(task.data, jnp.asarray(selections[number]))
        return {"inputs": inputs, "labels": labels, "key": jax.random.key(number)}

    parameters = task.initialise(jax.random.key(0))
    zero = jax.tree.map(jnp.zeros_like, parameters)
    state = (parameters, zero, zero)
    for number in range(steps):
        state = update(state, jnp.float32(number + 1), batch(number))
    return step, state[0], batch(steps)


def true_contributions(probe: Probe, seeds: int) -> np.ndarray:
    """Returns the squared error of each value alone at 4 bits, mean over seeds."""
    range_of_seeds = range(500, 500 + seeds)
    return np.array(
        [probe.error(15 * row, range_of_seeds) ** 2 for row in np.eye(probe.survivors)]
    )


def static_contributions(probe: Probe) -> np.ndarray:
    """Returns what the model without a profile says, up to a factor.

    Elements, twice where the value enters a product of activations, which here are
    the operands of attention.
    """
    weights = [
        2.0 if "transpose" in s.name or "exp" in s.name else 1.0
        for s in probe.step.survivors
    ]
    return np.array(weights) * [s.elements for s in probe.step.survivors]


def correlation(predicted: np.ndarray, expected: np.ndarray) -> float:
    """Returns Spearman's rank correlation, 0 where nothing varies."""
    if np.ptp(predicted) == 0:
        return 0.0
    return float(spearmanr(predicted, expected)[0])


def measure_gains(
    step: Callable, arguments: tuple, profile: Profile, all_bits: tuple[int, ...]
) -> dict[str, Any]:
    """Returns errors of uniform bits and of bits from the profile at the same bytes."""
    found = {}
    for bits in all_bits:
        uniform = act.compress(step, search="none", bits=bits)
        auto = act.auto_bits(uniform, *arguments, profile=profile)
        found[str(bits)] = {
            "uniform": auto.uniform_error,
            "profile": auto.profile_error,
            "gain": auto.gain,
            "takes_profile": auto.takes_profile,
            "average_bits": auto.average_bits,
            "bits_by_kind": bits_by_kind(auto),
        }
    return found


def bits_by_kind(auto: act.AutoBits) -> dict[str, float]:
    """Returns the mean of the bits chosen from a profile, by operation and shape."""
    kinds = defaultdict(list)
    for entry in auto.profile.survivors:
        operation = entry.name.rpartition("/")[2]
        kind = f"{operation} {'x'.join(map(str, entry.shape))}"
        if entry.key in auto.bits:
            kinds[kind].append(auto.bits[entry.key])
    return {kind: float(np.mean(bits)) for kind, bits in sorted(kinds.items())}


def measure(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Returns the figures of one model."""
    step, *arguments = learn(MODELS[name](), options.steps)
    probe = act.compress(step, search="none").probe(tuple(arguments), {})
    before = probe.passes
    profile = profile_probe(probe, options.passes, seed=0)
    passes = probe.passes - before
    expected = true_contributions(probe, options.seeds)
    by_key = profile.contributions()
    predicted = np.array([by_key[s.key] for s in probe.step.survivors])
    repeated = [
        profile_probe(probe, options.passes, seed=10 * number).contributions()
        for number in range(1, options.repeats)
    ]
    correlations = [correlation(predicted, expected)] + [
        correlation(np.array([c[s.key] for s in probe.step.survivors]), expected)
        for c in repeated
    ]
    return {
        "survivors": probe.survivors,
        "passes": passes,
        "passes_gact": 3 * probe.survivors,
        "spearman": correlations[0],
        "spearman_least": min(correlations),
        "spearman_static": correlation(static_contributions(probe), expected),
        "sum_ratio": float(predicted.sum() / expected.sum()),
        "bits": measure_gains(step, tuple(arguments), profile, options.bits),
    }


def show(console: Console, rows: dict[str, dict[str, Any]]) -> None:
    """Prints two tables."""
    table = Table(title="Predicted and true gradient error of each saved value")
    for heading in ("model", "values", "passes", "3 L", "Spearman", "least", "static"):
        table.add_column(heading, justify="left" if heading == "model" else "right")
    for name, row in rows.items():
        table.add_row(
            name,
            str(row["survivors"]),
            str(row["passes"]),
            str(row["passes_gact"]),
            f"{row['spearman']:.3f}",
            f"{row['spearman_least']:.3f}",
            f"{row['spearman_static']:.3f}",
        )
    console.print(table)
    table = Table(title="Bits from the profile, at the bytes of uniform bits")
    for heading in ("model", "bits", "uniform", "profile", "gain", "bits by kind"):
        table.add_column(heading, justify="left" if heading == "model" else "right")
    for name, row in rows.items():
        for bits, figures in row["bits"].items():
            kinds = [f"{kind}: {b:.3g}" for kind, b in figures["bits_by_kind"].items()]
            table.add_row(
                name,
                f"{bits} ({figures['average_bits']:.2f})",
                f"{figures['uniform']:.4f}",
                f"{figures['profile']:.4f}",
                f"{figures['gain']:.2f}",
                "\n".join(kinds),
            )
    console.print(table)


def main() -> int:
    """Runs the benchmark; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", help="some of " + ",".join(MODELS))
    parser.add_argument("--json", type=Path, metavar="F", help="write the figures")
    parser.add_argument("--steps", type=int, default=STEPS, help="of Adam before")
    parser.add_argument("--seeds", type=int, default=8, help="of the truth [8]")
    parser.add_argument("--passes", type=int, help="of a profile")
    parser.add_argument("--repeats", type=int, default=5, help="profiles compared [5]")
    parser.add_argument("--bits", default="4,2", help="uniform bits to beat [4,2]")
    options = parser.parse_args()
    options.bits = tuple(int(bits) for bits in options.bits.split(",") if bits)
    names = options.only.split(",") if options.only else list(MODELS)
    unknown = [name for name in names if name not in MODELS]
    if unknown:
        parser.error(f"--only expects some of {', '.join(MODELS)}, got {unknown[0]}")
    rows = {}
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        rows[name] = measure(name, options)
        if options.json:
            options.json.write_text(json.dumps(rows, indent=2) + "\n")
    show(Console(), rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
