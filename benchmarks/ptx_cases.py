# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels that benchmarks/ptx measures: a table, and how modules are written."""

import dataclasses
import functools
import math
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp

#: Of tensors that are compressed: what a training step has, many blocks of threads.
ELEMENTS = 1 << 24
BYTES = {"f32": 4, "bf16": 2, "f16": 2}
_STEP = "act-to-kernels,act-plan-memory,convert-act-kernels-to-gpu"


@dataclasses.dataclass(frozen=True)
class Case:
    """One kernel.

    Attributes:
        name: its key.
        text: a module.
        elements: that it goes through.
        bytes: that it cannot but move.
        flops: of sums of products.
        arithmetic: of these, a key of `sass.Device.flops`.
        trips: how often loops of its SASS run, in the order in which they end, as far
            as counts of the emulator do not tell.
        skips: what its branches jump over is for rare cases.
        passes: make functions of `gpu.module @kernels` of the text.
        kernel: its name, if the text has several.
    """

    name: str
    text: str
    elements: int
    bytes: int
    flops: float = 0
    arithmetic: str = "bf16"
    trips: tuple[float | None, ...] = ()
    skips: bool = False
    passes: str = "test-emit-gpu-codecs"
    kernel: str = ""


@dataclasses.dataclass(frozen=True)
class Storage:
    """Buffers of an encoding, as MLIR spells their types, and their bytes."""

    types: tuple[str, ...]
    bytes: int


def group_storage(bits: int, group: int) -> Storage:
    """Of `group_quant` with bf16 parameters."""
    groups = ELEMENTS // group
    params = f"memref<{groups}x1x1xbf16>"
    codes = f"memref<{groups}x1x{group * bits // 8}xi8>"
    return Storage((codes, params, params), ELEMENTS * bits // 8 + 4 * groups)


def function(name: str, operands: Sequence[str], operation: str) -> str:
    """A function of one codec kernel with operands `%0`, `%1`, ... of these types."""

    def arguments(prefix: str) -> str:
        return ", ".join(f"%{prefix}{i}: {t}" for i, t in enumerate(operands))

    names = ", ".join(f"%a{i}" for i in range(len(operands)))
    return (
        f"func.func @{name}({arguments('a')}) {{\n"
        f"  act.kernel codec [1] ({names} : {', '.join(operands)}) {{\n"
        f"  ^bb0({arguments('')}):\n    {operation}\n  }}\n  return\n}}\n"
    )


def codec_case(
    name: str, plain: str, encoding: str, storage: Storage, size: int
) -> Case:
    """Encodes (`quantize_...`) or decodes a tensor of elements of `size` bytes."""
    parts, salted = storage.types, "quant" in encoding and "nearest" not in encoding
    listed = ", ".join(parts)
    attribute = f"{{encoding = #act.{encoding}}}"
    if name.startswith("quantize"):
        operands = (plain, *(["memref<i32>"] if salted else []), *parts)
        first = len(operands) - len(parts)
        names = ", ".join(f"%{first + i}" for i in range(len(parts)))
        salt = "salt(%1 : memref<i32>) " if salted else ""
        operation = (
            f"act.encode ins(%0 : {plain}) {salt}outs({names} : {listed}) {attribute}"
        )
    else:
        operands = (*parts, plain)
        names = ", ".join(f"%{i}" for i in range(len(parts)))
        operation = (
            f"act.decode ins({names} : {listed}) "
            f"outs(%{len(parts)} : {plain}) {attribute}"
        )
    moved = ELEMENTS * size + storage.bytes
    # Reciprocals of denormal numbers, and codes that rounding made too large.
    skips = name.startswith("quantize") and "group_quant" in encoding
    text = function(name, operands, operation)
    return Case(name, text, ELEMENTS, moved, skips=skips)


def codec_cases() -> list[Case]:
    """Kernels that compress and decompress."""
    cases = []
    for way in ("quantize", "dequantize"):
        for element, size in BYTES.items():
            for bits, group in ((8, 256), (4, 256), (2, 256), (1, 256), (4, 128)):
                key = f"{way}_{element}_{bits}" + ("" if group == 256 else f"_{group}")
                cases.append(
                    codec_case(
                        key,
                        f"memref<{ELEMENTS // group}x{group}x{element}>",
                        f"group_quant<bits = {bits}, group = {group}>",
                        group_storage(bits, group),
                        size,
                    )
                )
    for element, size in BYTES.items():
        cases.append(
            codec_case(
                f"quantize_{element}_4_nearest",
                f"memref<{ELEMENTS // 256}x256x{element}>",
                "group_quant<bits = 4, group = 256, rounding = nearest>",
                group_storage(4, 256),
                size,
            )
        )
    return cases + other_codec_cases()


def other_codec_cases() -> list[Case]:
    """Those of encodings that do not quantize groups."""
    sizes = (ELEMENTS // 1024, 1024)
    rows = f"{sizes[0]}x{sizes[1]}"
    codes = {"f8E4M3FN": 1, "f8E5M2": 1, "bf16": 2, "f16": 2}
    # Key, type of elements, their size, encoding, storage.
    table = [
        (f"f32_{code}", "f32", 4, f"float<type = {code}>", [f"{rows}x{code}"], size)
        for code, size in codes.items()
    ]
    scaled = [f"{sizes[0]}x8x128xf8E4M3FN", f"{sizes[0]}x8x1xf32"]
    encoding = "float<type = f8E4M3FN, group = 128>"
    table.append(("f32_f8E4M3FN_128", "f32", 4, encoding, scaled, 1 + 4 / 128))
    for axis in (0, 1):
        ranges = f"{sizes[0]}x1" if axis == 0 else f"1x{sizes[1]}"
        storage = [f"{sizes[0]}x512xi8", f"{ranges}xf32", f"{ranges}xf32"]
        encoding = f"axis_quant<bits = 4, axis = {axis}>"
        size = 0.5 + 8 * sizes[axis] / ELEMENTS
        table.append((f"f32_4_axis{axis}", "f32", 4, encoding, storage, size))
    table.append(("mask", "i1", 1, "mask", [f"{sizes[0]}x128xi8"], 1 / 8))
    table.append(("i32_narrow8", "i32", 4, "narrow<bits = 8>", [f"{rows}xi8"], 1))
    packed = [f"{sizes[0]}x512xi8"]
    table.append(("i32_narrow4", "i32", 4, "narrow<bits = 4>", packed, 0.5))
    return [
        codec_case(
            f"{way}_{key}",
            f"memref<{rows}x{element}>",
            encoding,
            Storage(tuple(f"memref<{t}>" for t in storage), round(ELEMENTS * stored)),
            size,
        )
        for way in ("quantize", "dequantize")
        for key, element, size, encoding, storage, stored in table
    ]


def step_text(function: Callable, *arguments: tuple[tuple[int, ...], str]) -> str:
    """StableHLO of a function of tensors with these shapes and types."""
    shapes = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in arguments]
    module = jax.jit(function).lower(*shapes).compiler_ir("stablehlo")
    return module.operation.get_asm(print_generic_op_form=True)


def product(spec: str, left: jax.Array, right: jax.Array) -> jax.Array:
    """A product of matrices in f32."""
    return jnp.einsum(f"{spec}->mn", left, right, preferred_element_type=jnp.float32)


def product_cases() -> list[Case]:
    """Products of matrices whose blocks compute 128 by 128 or 128 by 256."""
    k = 1024
    cases = []
    layouts = {"nn": "mk,kn", "nt": "mk,nk", "tn": "km,kn", "tt": "km,nk"}
    kinds = [(kind, 128, layout) for kind in ("bf16", "tf32") for layout in layouts]
    kinds += [("f32", 128, "nn"), ("bf16", 256, "nn"), ("tf32", 256, "nn")]
    for kind, width, layout in kinds:
        # Blocks of 128 by 256 are for matrices that have enough of them.
        extent = 4096 if width == 256 else 1408
        extents = {"m": extent, "n": extent, "k": k}
        element = "bfloat16" if kind == "bf16" else "float32"
        size = 2 if kind == "bf16" else 4
        spec = layouts[layout]
        arguments = [
            (tuple(extents[axis] for axis in axes), element) for axes in spec.split(",")
        ]
        outputs = extents["m"] * extents["n"]
        moved = size * k * (extents["m"] + extents["n"]) + 4 * outputs
        math_mode = "{math=tf32}" if kind == "tf32" else ""
        cases.append(
            Case(
                f"matmul_{kind}_128x{width}_{layout}",
                step_text(functools.partial(product, spec), *arguments),
                outputs,
                moved,
                flops=2.0 * outputs * k,
                arithmetic=kind,
                passes=_STEP + math_mode,
            )
        )
    return cases


def layer_norm(x: jax.Array, scale: jax.Array, bias: jax.Array) -> jax.Array:
    """Rows with mean 0 and variance 1, scaled and shifted."""
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt(variance + 1e-5) * scale + bias


def layer_norm_rows_backward(
    x: jax.Array, scale: jax.Array, gradient: jax.Array
) -> jax.Array:
    """The gradient of `x`."""
    return jax.vjp(lambda x: layer_norm(x, scale, scale), x)[1](gradient)[0]


def softmax_backward(output: jax.Array, gradient: jax.Array) -> jax.Array:
    """The gradient of what `softmax` was taken of."""
    product = output * gradient
    return product - output * product.sum(-1, keepdims=True)


def loop_cases() -> list[Case]:
    """Loops, row programs and reductions of steps, rows of 1024."""
    rows, row = (4096, 1024), (1024,)
    gelu = lambda x, b: jax.nn.gelu(x + b)  # noqa: E731
    # Key, function, shapes of arguments, type, rows that are moved, trips.
    table = [
        ("bias_gelu_f32", gelu, (rows, row), "f32", 2, ()),
        ("bias_gelu_bf16", gelu, (rows, row), "bf16", 2, ()),
        ("softmax_f32", lambda x: jax.nn.softmax(x), (rows,), "f32", 2, ()),
        ("softmax_backward_f32", softmax_backward, (rows, rows), "f32", 3, ()),
        ("layer_norm_f32", layer_norm, (rows, row, row), "f32", 2, ()),
        (
            "layer_norm_backward_f32",
            layer_norm_rows_backward,
            (rows, row, rows),
            "f32",
            3,
            (),
        ),
        ("column_sum_f32", lambda x: x.sum(0), (rows,), "f32", 1, ()),
        ("transpose_f32", lambda x: x.T, (rows,), "f32", 2, ()),
        ("transpose_bf16", lambda x: x.T, (rows,), "bf16", 2, ()),
    ]
    names = {"f32": "float32", "bf16": "bfloat16"}
    elements = math.prod(rows)
    cases = [
        Case(
            name,
            step_text(function, *((shape, names[dtype]) for shape in shapes)),
            elements,
            moved * elements * BYTES[dtype],
            trips=trips,
            passes=_STEP,
        )
        for name, function, shapes, dtype, moved, trips in table
    ]
    table_shape, indices = ((8192, 1024), "float32"), ((4096,), "int32")
    text = step_text(lambda t, i: t[i], table_shape, indices)
    moved = 8 * elements + 4 * rows[0]
    return [*cases, Case("gather_f32", text, elements, moved, passes=_STEP)]


def attention_cases() -> list[Case]:
    """Linear attention with 64 features: forward, and each kernel of the gradient."""
    tokens, heads = 1024, 256
    rows = f"memref<8x{tokens}x32x64xbf16>"
    sums = f"memref<8x{tokens}x32xf32>"
    states = ("memref<8x32x64x64xf32>", "memref<8x32x64xf32>")
    listed = ", ".join(states)
    attributes = "{feature_map = #act.elu_plus_one, normalize, epsilon = 1.0e-06 : f64}"
    forward = (
        f"func.func @forward(%q: {rows}, %k: {rows}, %v: {rows}, %o: {rows}, "
        f"%d: {sums}, %s: {states[0]}, %z: {states[1]}) {{\n"
        f"  act.linear_attention ins(%q, %k, %v : {rows}, {rows}, {rows})\n"
        f"      outs(%o, %d, %s, %z : {rows}, {sums}, {listed})\n"
        f"      {attributes}\n  return\n}}\n"
    )
    gradient = (
        f"func.func @gradient(%q: {rows}, %k: {rows}, %v: {rows}, %o: {rows},\n"
        f"    %d: {sums}, %g: {rows}, %s: {states[0]}, %z: {states[1]},\n"
        f"    %gq: {rows}, %gk: {rows}, %gv: {rows}, %gs: {states[0]},\n"
        f"    %gz: {states[1]}) {{\n"
        f"  act.linear_attention_grad ins(%q, %k, %v : {rows}, {rows}, {rows})\n"
        f"      output(%o : {rows}) denominator(%d : {sums}) gradient(%g : {rows})\n"
        f"      states(%s, %z : {listed})\n"
        f"      outs(%gq, %gk, %gv, %gs, %gz : {rows}, {rows}, {rows}, {listed})\n"
        f"      {attributes}\n  return\n}}\n"
    )
    # Of the gradient, and the rows of 64 that each token moves.
    gradients = {"query_grad": 5, "value_grad": 4, "key_grad": 5}
    table = [("attention_bf16_64", "linear_attention_forward", forward, 4)]
    table += [
        (f"attention_bf16_64_{kind}", f"linear_attention_{kind}", gradient, moved)
        for kind, moved in gradients.items()
    ]
    vectors = tokens * heads
    return [
        Case(
            name,
            text,
            64 * vectors,
            vectors * (128 * moved + 4),
            # Four products of a chunk of 64: with itself twice, with the state twice.
            flops=4.0 * 2 * 64 * 64 * vectors,
            # Of products with tokens before: a fourth of the warps each up to three.
            trips=(1.5,),
            passes="convert-linear-attention-to-gpu{segments=1}",
            kernel=kernel,
        )
        for name, kernel, text, moved in table
    ]


def all_cases() -> list[Case]:
    """Everything that is measured."""
    return codec_cases() + product_cases() + loop_cases() + attention_cases()
