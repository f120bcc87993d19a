# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Saves and loads of sharded tensors, on eight virtual devices.

The number of devices is fixed when JAX starts, so a process of its own compiles
every layout: run as a script, this file prints one JSON object per case.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

# Shape, encoding, mesh axes of each dimension. The mesh is 4 x 2 ("data" and
# "tensor"); "all" is both, as FSDP shards. The group divides each shard.
LAYOUTS = {
    "data": ("all", None),
    "tensor": (None, "tensor"),
    "data_and_tensor": ("data", "tensor"),
    "last_axis_over_all": (None, "all"),
}
CASES = {
    "group_quant4": ((512, 1024), "group_quant<bits = 4, group = 64>"),
    "group_quant8": ((512, 2048), "group_quant<bits = 8, group = 256>"),
    "float8": ((512, 1024), "float<type = f8E4M3FN, group = 128>"),
    "mask_group": ((512, 1024), "mask<group = 64>"),
    "narrow_group": ((512, 1024), "narrow<bits = 4, group = 64>"),
}
# Packed along an axis that must stay whole, or with a tail on one.
DATA_CASES = {
    "mask": ((512, 1000), "mask"),
    "narrow": ((512, 1000), "narrow<bits = 4>"),
    "tail": ((512, 1000), "group_quant<bits = 4, group = 64>"),
    "merge": ((64, 8, 24), "group_quant<bits = 4, group = 64, merge = 2>"),
    "inner_axis": ((64, 32, 16), "group_quant<bits = 4, group = 32, axis = 1>"),
}
COLLECTIVES = r" (all-gather|all-reduce|all-to-all|collective-permute|reduce-scatter)"


def _compile_all() -> None:
    """Compiles and runs every case; prints its collectives and whether it agrees."""
    import jax
    import numpy as np
    from encoding_runner import Save, lower, round_trip
    from jax import export
    from jax.sharding import NamedSharding, PartitionSpec

    from act import stablehlo

    mesh = jax.make_mesh((4, 2), ("data", "tensor"), (jax.sharding.AxisType.Auto,) * 2)
    everything = ("data", "tensor")

    def run(save: Save, axes: tuple, tensor: np.ndarray) -> tuple:
        names = [everything if name == "all" else name for name in axes]
        sharded = NamedSharding(mesh, PartitionSpec(*names))
        whole = NamedSharding(mesh, PartitionSpec())
        arguments = (
            jax.ShapeDtypeStruct(save.shape, save.dtype, sharding=sharded),
            jax.ShapeDtypeStruct((), np.float32, sharding=whole),
        )

        def stub(x: jax.Array, _: jax.Array) -> tuple[jax.Array]:
            return (x,)

        shardings = {"in_shardings": (sharded, whole), "out_shardings": (sharded,)}
        exported = export.export(jax.jit(stub, keep_unused=True, **shardings))(
            *arguments
        )
        step = stablehlo.with_module(exported, lower(round_trip([save])))
        compiled = jax.jit(step.call, **shardings).lower(*arguments).compile()
        (value,) = compiled(
            jax.device_put(tensor, sharded), jax.device_put(np.float32(0), whole)
        )
        return compiled.as_text(), np.asarray(value)

    for case, (shape, encoding) in (CASES | DATA_CASES).items():
        kind = encoding.split("<")[0]
        dtypes = {"mask": np.bool_, "narrow": np.int32}
        save = Save(shape, np.dtype(dtypes.get(kind, np.float32)), encoding)
        rng = np.random.default_rng(0)
        tensor = (7 * rng.random(shape)).astype(save.dtype)
        _, want = run(save, (None,) * len(shape), tensor)
        for layout, axes in LAYOUTS.items() if case in CASES else [("data", ("all",))]:
            text, value = run(save, axes, tensor)
            result = {
                "name": f"{case}-{layout}",
                "partitioned": "num_partitions=8" in text,
                "collectives": re.findall(COLLECTIVES, text),
                "agrees": bool(np.array_equal(value, want)),
            }
            print(json.dumps(result), flush=True)


@pytest.fixture(scope="module")
def compiled() -> dict[str, dict]:
    """What happened to each case."""
    flags = "--xla_force_host_platform_device_count=8"
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    process = subprocess.run(
        [sys.executable, Path(__file__)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    results = map(json.loads, process.stdout.splitlines())
    return {result["name"]: result for result in results}


@pytest.mark.parametrize(
    "name",
    [f"{case}-{layout}" for case in CASES for layout in LAYOUTS]
    + [f"{case}-data" for case in DATA_CASES],
)
def test_no_collective_is_added(name: str, compiled: dict[str, dict]) -> None:
    """No shard needs another one, and noise depends on no partitioning."""
    result = compiled[name]
    assert result["partitioned"]
    assert result["collectives"] == []
    assert result["agrees"]


if __name__ == "__main__":
    _compile_all()
