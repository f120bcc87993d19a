# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""StableHLO modules between JAX's export and act-opt's text.

Text in generic form with locations is the exchange format: the MLIR inside
jaxlib and the one act-opt is built on read each other's generic text, but
neither reads the other's bytecode, and pretty StableHLO parses only in jaxlib.
"""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import export
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo
from jax.interpreters import mlir as jax_mlir
from jaxlib.mlir.passmanager import PassManager

from act.errors import ActStepError

_ELEMENT_TYPES = {
    "f64": np.float64,
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "i1": np.bool_,
    "i4": ml_dtypes.int4,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ui4": ml_dtypes.uint4,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
    "ui64": np.uint64,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}
_DONATION_ATTRIBUTES = ("tf.aliasing_output", "jax.buffer_donor")


@dataclasses.dataclass(frozen=True)
class Signature:
    """Arguments and results of a module's `main`.

    Attributes:
        arguments: shape and element type of each argument.
        results: shape and element type of each result.
        donated: indices of the arguments whose buffers the step may reuse.
        partitions: number of devices the module is partitioned over.
    """

    arguments: tuple[jax.ShapeDtypeStruct, ...]
    results: tuple[jax.ShapeDtypeStruct, ...]
    donated: tuple[int, ...]
    partitions: int

    @property
    def needs_x64(self) -> bool:
        """Whether a 64-bit type occurs, which JAX truncates by default."""
        return any(
            np.dtype(value.dtype).itemsize >= 8 and value.dtype != np.complex64
            for value in (*self.arguments, *self.results)
        )


def exported_module(exported: export.Exported) -> tuple[str, tuple[int, ...]]:
    """Returns an exported step's module and the arguments it donates.

    The module is in generic form, with locations; the arguments are indices of
    those of its `main`.
    """
    with jax_mlir.make_ir_context(), ir.Location.unknown() as location:
        module = stablehlo.deserialize_portable_artifact(
            location.context, exported.mlir_module_serialized
        )
        text = module.operation.get_asm(
            enable_debug_info=True, print_generic_op_form=True
        )
        return text, _donated_arguments(main_function(module))


def with_module(exported: export.Exported, text: str) -> export.Exported:
    """Returns `exported` with its module replaced by another one.

    Args:
        exported: gives the calling convention: trees, shapes, shardings.
        text: module whose `main` has the same signature.

    Raises:
        ActStepError: jaxlib does not accept the module.
    """
    with jax_mlir.make_ir_context(), ir.Location.unknown():
        module = parse_module(text)
        version = stablehlo.get_version_from_compatibility_requirement(
            stablehlo.StablehloCompatibilityRequirement.WEEK_4
        )
        # True: operations of other dialects may stay. A typed PRNG key among
        # the arguments alone makes JAX insert an sdy.sharding_constraint.
        serialized = stablehlo.serialize_portable_artifact(module, version, True)
    return dataclasses.replace(
        exported, mlir_module_serialized=serialized, _get_vjp=None
    )


def with_more_arguments(
    exported: export.Exported, text: str, added: Sequence[jax.ShapeDtypeStruct]
) -> export.Exported:
    """Returns `exported` with a module that takes further arguments, on one device.

    Args:
        exported: gives the rest of the calling convention.
        text: module whose `main` has the same signature but for arguments at its
            end.
        added: those. The step then takes the flat leaves of its arguments, one by
            one, and these behind them.

    Raises:
        ActStepError: jaxlib does not accept the module.
    """
    number = len(exported.in_avals)
    total = number + len(added)
    fields: dict[str, Any] = {
        "in_tree": jax.tree.structure(((0,) * total, {})),
        "in_avals": (
            *exported.in_avals,
            *(jax.core.ShapedArray(struct.shape, struct.dtype) for struct in added),
        ),
        "module_kept_var_idx": (
            *exported.module_kept_var_idx,
            *range(number, total),
        ),
    }
    for name in ("in_shardings_hlo", "_in_named_shardings"):
        fields[name] = (*getattr(exported, name), *(None for _ in added))
    return dataclasses.replace(with_module(exported, text), **fields)


def parse_module(text: str) -> ir.Module:
    """Parses and verifies a module in the current MLIR context.

    Raises:
        ActStepError: the text is not a module that jaxlib accepts.
    """
    try:
        module = ir.Module.parse(text)
        module.operation.verify()
        if '"chlo.' in text or " chlo." in text:
            stablehlo.register_stablehlo_passes()
            passes = "builtin.module(func.func(chlo-legalize-to-stablehlo))"
            PassManager.parse(passes).run(module.operation)
    except (ir.MLIRError, ValueError) as error:
        raise ActStepError(f"jaxlib does not accept the module: {error}") from error
    return module


def main_function(module: ir.Module) -> ir.Operation:
    """Returns the function `main`.

    Raises:
        ActStepError: there is none.
    """
    for operation in module.body:
        function = operation.operation
        if function.name == "func.func":
            name = ir.StringAttr(function.attributes["sym_name"]).value
            if name == "main":
                return function
    raise ActStepError("the module has no function @main")


def signature(module: ir.Module) -> Signature:
    """Reads the signature of `main`.

    Raises:
        ActStepError: a type is not a statically shaped tensor JAX can pass.
    """
    main = main_function(module)
    kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    partitions = 1
    if "mhlo.num_partitions" in module.operation.attributes:
        attribute = module.operation.attributes["mhlo.num_partitions"]
        partitions = ir.IntegerAttr(attribute).value
    return Signature(
        tuple(
            struct_of(t, f"argument {i} of @main") for i, t in enumerate(kind.inputs)
        ),
        tuple(struct_of(t, f"result {i} of @main") for i, t in enumerate(kind.results)),
        _donated_arguments(main),
        partitions,
    )


def _donated_arguments(main: ir.Operation) -> tuple[int, ...]:
    """Returns the indices of the arguments whose buffers may be reused."""
    if "arg_attrs" not in main.attributes:
        return ()
    dictionaries = map(ir.DictAttr, ir.ArrayAttr(main.attributes["arg_attrs"]))
    return tuple(
        index
        for index, attributes in enumerate(dictionaries)
        if any(name in attributes for name in _DONATION_ATTRIBUTES)
    )


def struct_of(kind: ir.Type, where: str = "a value") -> jax.ShapeDtypeStruct:
    """Converts a ranked tensor type.

    Args:
        kind: the type.
        where: names it in errors.

    Raises:
        ActStepError: JAX has no arrays of this type.
    """
    try:
        tensor = ir.RankedTensorType(kind)
    except ValueError as error:
        raise ActStepError(
            f"{where} has the type {kind}; only tensors can be passed"
        ) from error
    element = str(tensor.element_type)
    if not tensor.has_static_shape:
        raise ActStepError(f"{where} has the dynamic shape {kind}")
    if element not in _ELEMENT_TYPES:
        raise ActStepError(f"{where} has the unsupported type {kind}")
    return jax.ShapeDtypeStruct(tuple(tensor.shape), np.dtype(_ELEMENT_TYPES[element]))


def stub_export(step: Signature, name: str) -> export.Exported:
    """Exports a function that has a given signature and computes nothing.

    Replacing its module by another of that signature makes any StableHLO text
    callable through JAX's public interface.
    """

    def stub(*_arguments: jax.Array) -> tuple[jax.Array, ...]:
        return tuple(jnp.zeros(r.shape, r.dtype) for r in step.results)

    stub.__name__ = re.sub(r"\W", "_", name) or "step"
    return export.export(jax.jit(stub, keep_unused=True))(*step.arguments)


def uses_short_floats(text: str) -> bool:
    """Tells whether a module computes in bf16 or f16."""
    return re.search(r"tensor<(?:\d+x)*b?f16>", text) is not None


def operation_count(text: str) -> int:
    """Returns the number of StableHLO operations of a generic-form module."""
    return len(re.findall(r'"stablehlo\.\w+"\(', text))
