# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shardings of a module's arguments, as JAX needs them to call it."""

import re

import jax
import numpy as np
from jax.extend.mlir import ir
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from act.errors import ActStepError
from act.stablehlo import main_function


def argument_shardings(module: ir.Module, partitions: int) -> list[NamedSharding]:
    """Returns the sharding of each argument of `main`.

    Args:
        module: partitioned with Shardy, over one mesh.
        partitions: number of devices; as many have to exist.

    Raises:
        ActStepError: there are too few devices, or the mesh is not understood.
    """
    if jax.device_count() < partitions:
        raise ActStepError(
            f"the step is partitioned over {partitions} devices, of which there are "
            f"{jax.device_count()}; for virtual ones set "
            f"XLA_FLAGS=--xla_force_host_platform_device_count={partitions}"
        )
    mesh = _mesh(module, partitions)
    main = main_function(module)
    arguments = len(main.regions[0].blocks[0].arguments)
    if "arg_attrs" not in main.attributes:
        return [NamedSharding(mesh, PartitionSpec())] * arguments
    return [
        NamedSharding(mesh, _spec(str(ir.DictAttr(attributes))))
        for attributes in ir.ArrayAttr(main.attributes["arg_attrs"])
    ]


def _mesh(module: ir.Module, partitions: int) -> Mesh:
    """Makes the mesh that the module names, of the first devices."""
    for operation in module.body:
        if operation.operation.name != "sdy.mesh":
            continue
        axes = re.findall(r'"([^"]+)"=(\d+)', str(operation.attributes["mesh"]))
        sizes = [int(size) for _, size in axes]
        if int(np.prod(sizes)) == partitions and axes:
            devices = np.array(jax.devices()[:partitions]).reshape(sizes)
            names = tuple(name for name, _ in axes)
            return Mesh(devices, names, axis_types=(AxisType.Auto,) * len(names))
    raise ActStepError(
        f"the step is partitioned over {partitions} devices but declares no sdy.mesh "
        "of that size"
    )


def _spec(attributes: str) -> PartitionSpec:
    """Reads the partition of an argument from the text of its attributes."""
    match = re.search(r"#sdy\.sharding<@\w+, \[(.*?)\]", attributes)
    if match is None:
        return PartitionSpec()
    dimensions = re.findall(r"\{([^}]*)\}", match[1])
    return PartitionSpec(
        *(tuple(re.findall(r'"([^"]+)"', axes)) or None for axes in dimensions)
    )
