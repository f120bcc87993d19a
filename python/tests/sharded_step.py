# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles and runs a step on 8 virtual devices; prints what it found as JSON.

Run as a program by test_sharding.py, because the number of devices is fixed
when JAX starts.
"""

import collections
import json
import re
import sys
from pathlib import Path

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import act
from act import stablehlo
from act.arguments import kind_of
from act.compare import compare_results

SAMPLES, WIDTH, HIDDEN = 512, 256, 1024
COLLECTIVES = "all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter"


def layout(name: str) -> tuple[list, NamedSharding, NamedSharding]:
    """Returns the shardings of up and down weights, of batch and hidden values."""
    shape, axes = ((4, 2), ("data", "model")) if name == "tensor" else ((8,), ("data",))
    mesh = jax.make_mesh(shape, axes, axis_types=(AxisType.Auto,) * len(shape))

    def on(*axes: str | None) -> NamedSharding:
        return NamedSharding(mesh, P(*axes))

    if name == "tensor":
        return [on(None, "model"), on("model")], on("data"), on("data", "model")
    return [on("data") if name == "fsdp" else on()] * 2, on("data"), on("data")


def collectives(compiled: jax.stages.Compiled) -> dict[str, int]:
    """Counts the collectives of a compiled step by kind."""
    found = re.findall(rf" ({COLLECTIVES})(?:-start)?\(", compiled.as_text())
    return dict(collections.Counter(found))


def main(name: str, file: str | None = None) -> None:
    """Compares original and compressed step, or writes the original to a file."""
    weights, batch, hidden = layout(name)
    generator = np.random.default_rng(0)

    def normal(*shape):
        return generator.standard_normal(shape).astype(np.float32)

    parameters = [
        jax.device_put(normal(*shape) / np.sqrt(shape[0]), sharding)
        for shape, sharding in zip(
            [(WIDTH, HIDDEN), (HIDDEN, WIDTH)] * 2, weights * 2, strict=True
        )
    ]
    x = jax.device_put(normal(SAMPLES, WIDTH), batch)

    def loss(parameters, x):
        for up, down in zip(parameters[::2], parameters[1::2], strict=True):
            z = jax.lax.with_sharding_constraint(x @ up, hidden)
            x = x + jax.nn.gelu(z) @ down
        return jnp.mean(x**2)

    step = jax.value_and_grad(loss)
    if file is not None:
        structs = [kind_of(leaf).struct for leaf in (*parameters, x)]
        exported = jax.export.export(jax.jit(step))(structs[:-1], structs[-1])
        Path(file).write_text(stablehlo.exported_module(exported)[0])
        return
    compressed = act.compress(step)
    before = jax.jit(step).lower(parameters, x).compile()
    after = compressed.lower(parameters, x).compile()
    results = [jax.tree.leaves(f(parameters, x)) for f in (before, compressed)]
    comparison = compare_results(*results, 1)
    report = compressed.report(parameters, x)
    json.dump(
        {
            "devices": jax.device_count(),
            "collectives_before": collectives(before),
            "collectives_after": collectives(after),
            "temp_before": report.temp_bytes_before,
            "temp_after": report.temp_bytes_after,
            "stash": report.stash_bytes,
            "primal_identical": comparison.primal_identical,
            "gradient_error": comparison.gradient_error_max,
            "shardings_kept": [
                a.sharding.is_equivalent_to(b.sharding, a.ndim)
                for a, b in zip(*results, strict=True)
            ],
        },
        sys.stdout,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
