# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear attention and its gradient on 8 virtual devices; prints findings as JSON.

Run as a program by test_linear_attention_transforms.py, because the number of devices
is fixed when JAX starts.
"""

import collections
import json
import re
import sys
from typing import Any

import attention_cases as reference
import jax
import numpy as np
from attention_calls import arguments_of, attend
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import act

COLLECTIVES = "all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter"
LAYOUTS = {
    "heads": ((4, 4, 4), ("data", "model")),
    "groups of queries": ((8, 4, 4), ("data", "model")),
    "groups of values": ((4, 2, 4), ("data", "model")),
    "batch only": ((3, 3, 3), ("data", None)),
}


def step(arrays: dict[str, jax.Array]) -> Any:
    """Returns a loss and its gradients."""

    def loss(arrays: dict[str, jax.Array]) -> jax.Array:
        return (attend(arrays) ** 2).mean()

    return jax.value_and_grad(loss)(arrays)


def largest_error(got: Any, wanted: Any) -> float:
    """Returns the greatest difference over the greatest value of each array."""
    return max(
        float(abs(np.asarray(a) - np.asarray(b)).max() / abs(np.asarray(b)).max())
        for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True)
    )


def measure(mesh: jax.sharding.Mesh, decay: str, name: str) -> dict[str, Any]:
    """Compares a step on all devices with that on one."""
    heads, (batch_axis, head_axis) = LAYOUTS[name]
    arrays = arguments_of(reference.make_case(20, batch=8, heads=heads, decay=decay))
    specs = dict.fromkeys(("q", "k", "v", "decay"), P(batch_axis, None, head_axis))
    if decay == "head":
        specs["decay"] = P(head_axis)
    placed = {
        name: jax.device_put(array, NamedSharding(mesh, specs[name]))
        for name, array in arrays.items()
    }
    compiled = jax.jit(step).lower(placed).compile()
    got = compiled(placed)
    found = re.findall(rf" ({COLLECTIVES})(?:-start)?\(", compiled.as_text())
    return {
        "error": largest_error(got, jax.jit(step)(arrays)),
        "collectives": collections.Counter(found),
        "divided": all(
            got[1][name].sharding.is_equivalent_to(placed[name].sharding, array.ndim)
            for name, array in arrays.items()
        ),
    }


def main(decay: str, shardy: str) -> None:
    """Measures all layouts, then `jax.shard_map`."""
    jax.config.update("jax_use_shardy_partitioner", bool(int(shardy)))
    mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
    layouts = {name: measure(mesh, decay, name) for name in LAYOUTS}
    case = reference.make_case(20, batch=8, decay="token")
    arrays = arguments_of(case)
    spec = P("data", None, "model")

    def loss(arrays: dict[str, jax.Array]) -> jax.Array:
        mapped = jax.shard_map(attend, mesh=mesh, in_specs=(spec,), out_specs=spec)
        return (mapped(arrays) ** 2).mean()

    compiled = jax.jit(jax.value_and_grad(loss)).lower(arrays).compile()
    placed = jax.device_put(arrays, NamedSharding(mesh, spec))
    native_error = ""
    try:
        jax.jit(lambda x: attend(x, implementation="native")).lower(placed)
    except act.ActOptionError as error:
        native_error = str(error)
    figures = {
        "devices": jax.device_count(),
        "layouts": layouts,
        "shard_map_error": largest_error(compiled(arrays), step(arrays)),
        "kernels_in_shard_map": '"act_linear_attention_grad"' in compiled.as_text(),
        "native_error": native_error,
    }
    json.dump(figures, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
