# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the primitives of linear attention become StableHLO.

* In a step that act rewrites: a custom call, which act-opt raises to its operation
  (`step_lowering_rules`).
* On the CPU: a custom call to the kernel of the native library, if that is there and
  knows the case.
* Else: the chunked loop that act-opt writes for the operation. It runs on every
  platform, and it is what `jax.export` gets.

Compilers divide the loop over devices by sequences and heads. They cannot divide a
custom call, so that kernels are for one device, or for each of them in `jax.shard_map`.
"""

import dataclasses
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax import export
from jax.extend.core import Primitive
from jax.extend.mlir import ir
from jax.extend.mlir.dialects import func, stablehlo
from jax.interpreters import mlir

from act import runtime, tool
from act.attention_config import FORWARD, GRADIENT, STATE, TARGETS, Config
from act.attention_primitives import (
    forward_p,
    gradient_p,
    operand_names,
    result_structs,
)
from act.errors import ActOptionError
from act.stablehlo import parse_module, signature, struct_of

_TARGET_OF = {forward_p: FORWARD, gradient_p: GRADIENT}

#: What `jax.export` has to accept in a step that `step_lowering_rules` lowered.
ALLOWED_CALLS = tuple(
    export.DisabledSafetyCheck.custom_call(target) for target in TARGETS
)


def step_lowering_rules() -> tuple[tuple[Primitive, Callable], ...]:
    """Returns the lowering rules for steps that act-opt rewrites."""
    return tuple(
        (primitive, functools.partial(_lower_to_call, primitive))
        for primitive in _TARGET_OF
    )


def uses_linear_attention(text: str) -> bool:
    """Tells whether a step lowered by `step_lowering_rules` holds an attention."""
    return re.search(rf'call_target_name = "({"|".join(TARGETS)})"', text) is not None


def form_in_step(exported: export.Exported, text: str) -> str | None:
    """Returns what the attentions of a step should become.

    Args:
        exported: the step, for its platforms and devices.
        text: its module, lowered by `step_lowering_rules`.

    Returns:
        "call" if the native library has kernels for all of them, which one device
        must run; else "loop"; None if there are none.
    """
    if not uses_linear_attention(text):
        return None
    if tuple(exported.platforms) != ("cpu",):
        return "loop"
    with mlir.make_ir_context(), ir.Location.unknown():
        calls: list[ir.Operation] = []
        module = parse_module(text)  # owns the operations
        if signature(module).partitions > 1:
            return "loop"
        module.operation.walk(functools.partial(_collect, calls))
        return "call" if all(map(_is_native, calls)) else "loop"


def _collect(calls: list[ir.Operation], operation: ir.Operation) -> ir.WalkResult:
    """Remembers the custom calls that compute attention."""
    if operation.name == "stablehlo.custom_call":
        target = ir.StringAttr(operation.attributes["call_target_name"]).value
        if target in TARGETS:
            calls.append(operation)
    return ir.WalkResult.ADVANCE


def _is_native(call: ir.Operation) -> bool:
    """Tells whether the native library can compute a custom call."""
    target = ir.StringAttr(call.attributes["call_target_name"]).value
    if target == STATE:
        return False  # of a step that act has rewritten already
    config = _config_of(ir.DictAttr(call.attributes["backend_config"]))
    names = {
        FORWARD: config.forward_operands,
        GRADIENT: config.gradient_operands,
    }[target]
    structs = [struct_of(operand.type) for operand in call.operands]
    operands = dict(zip(names, structs, strict=True))
    return runtime.why_not(target, config, operands) is None


def _config_of(attributes: ir.DictAttr) -> Config:
    """Reads what `_attributes` wrote."""
    values = {}
    for field in dataclasses.fields(Config):
        if field.name in attributes:
            attribute = attributes[field.name]
            values[field.name] = attribute.value
    return Config(**values)


def lower_in_step(text: str, form: str) -> str:
    """Lowers the attentions of a step that stays as it is otherwise.

    Args:
        text: the step, lowered by `step_lowering_rules`.
        form: "call" or "loop".
    """
    return tool.run_passes(
        text,
        "builtin.module(act-raise-linear-attention,"
        f"convert-act-to-stablehlo{{linear-attention={form}}})",
    )


def _lower(
    primitive: Primitive,
    context: mlir.LoweringRuleContext,
    *operands: ir.Value,
    config: Config,
) -> Sequence[ir.Value]:
    """Lowers a primitive outside of steps that act rewrites."""
    exporting = context.module_context.lowering_parameters.for_export
    if config.implementation != "loop" and not exporting:
        reason = _why_not_native(primitive, context, config)
        if reason is None:
            return _lower_to_native(primitive, context, *operands, config=config)
        if config.implementation == "native":
            raise ActOptionError(f'implementation="native" is not available: {reason}')
    return _lower_to_loop(primitive, context, *operands, config=config)


def _why_not_native(
    primitive: Primitive, context: mlir.LoweringRuleContext, config: Config
) -> str | None:
    """Returns what keeps the native kernel from being used, or None."""
    platforms = tuple(context.module_context.platforms)
    if platforms != ("cpu",):
        return f"it runs on the CPU only, and this is compiled for {platforms}"
    if _is_divided(context.module_context.axis_context):
        return "it runs on one device; call it in jax.shard_map on several"
    return runtime.why_not(
        _TARGET_OF[primitive],
        config,
        dict(zip(operand_names(primitive, config), context.avals_in, strict=True)),
    )


def _is_divided(axis_context: Any) -> bool:
    """Tells whether the compiler divides a computation over devices.

    Args:
        axis_context: of the lowering: how many devices there are, and which axes of
            their mesh are in the hands of `jax.shard_map`.
    """
    manual = getattr(axis_context, "manual_axes", None)
    if manual is not None:
        return set(manual) != set(axis_context.mesh.axis_names)
    return axis_context.num_devices != 1


def _lower_to_native(
    primitive: Primitive,
    context: mlir.LoweringRuleContext,
    *operands: ir.Value,
    config: Config,
) -> Sequence[ir.Value]:
    """Calls the kernel; arrays are row-major."""
    lowering = jax.ffi.ffi_lowering(_TARGET_OF[primitive])
    return lowering(context, *operands, **_attributes(primitive, config))


def _lower_to_call(
    primitive: Primitive,
    context: mlir.LoweringRuleContext,
    *operands: ir.Value,
    config: Config,
) -> Sequence[ir.Value]:
    """Writes the custom call that act-opt reads."""
    types = [_tensor_type(aval) for aval in context.avals_out]
    return _call(primitive, config, types, operands).results


def _call(
    primitive: Primitive,
    config: Config,
    results: Sequence[ir.Type],
    operands: Sequence[ir.Value],
) -> ir.Operation:
    """Writes the custom call that stands for a primitive."""
    return stablehlo.CustomCallOp(
        results,
        list(operands),
        call_target_name=ir.StringAttr.get(_TARGET_OF[primitive]),
        api_version=ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 4),
        backend_config=ir.DictAttr.get(_attributes(primitive, config)),
    )


def _attributes(primitive: Primitive, config: Config) -> dict[str, ir.Attribute]:
    """Returns the attributes of a custom call, in MLIR's types."""

    def attribute(value: str | bool | int | float) -> ir.Attribute:
        match value:
            case str():
                return ir.StringAttr.get(value)
            case bool():
                return ir.BoolAttr.get(value)
            case int():
                return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
            case _:
                return ir.FloatAttr.get(ir.F64Type.get(), value)

    values = config.attributes(gradient=primitive is gradient_p)
    return {name: attribute(value) for name, value in values.items()}


def _lower_to_loop(
    primitive: Primitive,
    context: mlir.LoweringRuleContext,
    *operands: ir.Value,
    config: Config,
) -> Sequence[ir.Value]:
    """Calls a function that act-opt writes; equal cases of a module share it."""
    structs = tuple((aval.shape, str(aval.dtype)) for aval in context.avals_in)
    text = loop_text(primitive, config, structs)
    module_context = context.module_context
    names = _loop_names(module_context)
    if text not in names:
        names[text] = mlir.merge_mlir_modules(
            module_context.module,
            _TARGET_OF[primitive],
            parse_module(text),
            dst_symtab=module_context.symbol_table,
        )
    types = [_tensor_type(aval) for aval in context.avals_out]
    callee = ir.FlatSymbolRefAttr.get(names[text])
    return func.CallOp(types, callee, list(operands)).results


def _loop_names(module_context: mlir.ModuleContext) -> dict[str, str]:
    """Returns the functions of a module that hold a loop, by the loop's text."""
    cache = module_context.cached_primitive_lowerings
    return cache.setdefault("act_linear_attention", {})


@functools.lru_cache(maxsize=256)
def loop_text(
    primitive: Primitive,
    config: Config,
    operands: tuple[tuple[tuple[int, ...], str], ...],
) -> str:
    """Returns a StableHLO module whose `main` computes an attention in a loop.

    Args:
        primitive: forward or gradient.
        config: of the attention.
        operands: shape and element type of each operand.

    Raises:
        ActToolError: act-opt is missing or failed.
    """
    structs = [jax.ShapeDtypeStruct(*operand) for operand in operands]
    with mlir.make_ir_context(), ir.Location.unknown():
        arguments = [_tensor_type(struct) for struct in structs]
        results = [
            _tensor_type(struct)
            for struct in result_structs(primitive, config, structs).values()
        ]
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", (arguments, results))
            with ir.InsertionPoint(main.add_entry_block()):
                call = _call(primitive, config, results, main.arguments)
                func.ReturnOp(call.results)
        text = module.operation.get_asm(print_generic_op_form=True)
    return lower_in_step(text, "loop")


def _tensor_type(struct: Any) -> ir.Type:
    element = mlir.dtype_to_ir_type(struct.dtype)
    return ir.RankedTensorType.get(struct.shape, element)


for _primitive in _TARGET_OF:
    mlir.register_lowering(_primitive, functools.partial(_lower, _primitive))
