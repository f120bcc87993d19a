# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""StableHLO text in and out, and the arguments drawn for it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from jax.extend.mlir import ir
from jax.interpreters import mlir as jax_mlir

import act
from act import stablehlo
from act.random_arguments import random_arguments


def parse(text: str) -> stablehlo.Signature:
    with jax_mlir.make_ir_context(), ir.Location.unknown():
        return stablehlo.signature(stablehlo.parse_module(text))


def draw(function, *structs, seed=0):
    text, _ = stablehlo.exported_module(export.export(jax.jit(function))(*structs))
    with jax_mlir.make_ir_context(), ir.Location.unknown():
        return random_arguments(stablehlo.parse_module(text), seed)


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def i32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def test_round_trip_keeps_results_and_donation():
    jitted = jax.jit(lambda x, y: (jnp.sum(x * y), x + y), donate_argnums=1)
    exported = export.export(jitted)(f32(8), f32(8))
    text, donated = stablehlo.exported_module(exported)
    assert donated == (1,)
    assert "loc(" in text
    again = stablehlo.with_module(exported, text)
    x = jnp.arange(8.0)
    np.testing.assert_array_equal(again.call(x, x)[1], x + x)


def test_signature():
    signature = parse(
        "func.func @main(%a: tensor<2x3xbf16>, %b: tensor<ui32> "
        "{tf.aliasing_output = 0 : i32}) -> tensor<ui32> {return %b : tensor<ui32>}"
    )
    assert [str(a.dtype) for a in signature.arguments] == ["bfloat16", "uint32"]
    assert signature.arguments[0].shape == (2, 3)
    assert signature.donated == (1,)
    assert signature.partitions == 1
    assert not signature.needs_x64
    assert parse("func.func @main(%a: tensor<i64>) {return}").needs_x64


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @main(", "jaxlib does not accept the module"),
        ("func.func @other() {return}", "no function @main"),
        ("func.func @main(%a: tensor<?xf32>) {return}", r"argument 0 .* dynamic shape"),
        ("func.func @main(%a: tensor<4xi7>) {return}", r"argument 0 .* unsupported"),
        ("func.func @main(%a: i32) {return}", r"only tensors can be passed"),
    ],
)
def test_bad_modules(text, message):
    with pytest.raises(act.ActStepError, match=message):
        parse(text)


def test_short_floats():
    assert stablehlo.uses_short_floats("tensor<8x4xbf16>")
    assert stablehlo.uses_short_floats("tensor<f16>")
    assert not stablehlo.uses_short_floats("tensor<8x4xf32>, tensor<16xf32>")


def test_labels_and_tokens_stay_in_range():
    def loss(table, weight, tokens, labels):
        logits = jax.nn.gelu(table[tokens]) @ weight
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
        return -jnp.mean(picked)

    step = jax.value_and_grad(loss, argnums=(0, 1))
    values, kinds = draw(step, f32(50, 32), f32(32, 7), i32(256), i32(256))
    assert [kind.role for kind in kinds] == ["weight", "weight", "index", "index"]
    assert 40 <= values[2].max() < 50
    assert values[3].max() == 6
    assert values[1].std() == pytest.approx(32**-0.5, rel=0.2)


def test_one_hot_labels_stay_in_range():
    def loss(weight, x, labels):
        return jnp.sum(jax.nn.log_softmax(x @ weight) * jax.nn.one_hot(labels, 5))

    values, _ = draw(jax.value_and_grad(loss), f32(8, 5), f32(64, 8), i32(64))
    assert values[2].max() == 4


def test_adam_state():
    def step(w, mu, nu, count, x):
        loss, g = jax.value_and_grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        mu, nu = 0.9 * mu + 0.1 * g, 0.99 * nu + 0.01 * g * g
        correction = 1 - 0.99 ** (count + 1).astype(jnp.float32)
        w = w - 1e-3 * mu / (jnp.sqrt(nu / correction) + 1e-8)
        return loss, w, mu, nu, count + 1

    values, kinds = draw(step, f32(16, 4), f32(16, 4), f32(16, 4), i32(), f32(8, 16))
    roles = [kind.role for kind in kinds]
    assert roles == ["weight", "state", "second moment", "counter", "weight"]
    assert values[2].min() >= 0
    assert all(np.isfinite(r).all() for r in map(np.asarray, step(*values)))


def test_scales_keys_and_masks():
    def loss(scale, weight, x, key, mask):
        x = x - x.mean(-1, keepdims=True)
        x = x * jax.lax.rsqrt((x**2).mean(-1, keepdims=True) + 1e-5) * scale
        keep = jax.random.bernoulli(key, 0.5, x.shape)
        return jnp.sum(jnp.where(mask, keep * x @ weight, 0))

    key = jax.eval_shape(lambda: jax.random.key(0))
    mask = jax.ShapeDtypeStruct((8, 4), jnp.bool_)
    values, kinds = draw(loss, f32(16), f32(16, 4), f32(8, 16), key, mask)
    assert [k.role for k in kinds] == ["scale", "weight", "data", "key", "mask"]
    assert values[0].mean() == pytest.approx(1, abs=0.2)
    assert values[3].shape == (2,)
    assert values[3].max() > 2**24


def test_convolution_weights_and_images():
    def loss(kernel, images):
        return jnp.sum(
            jax.lax.conv_general_dilated(
                images,
                kernel,
                (1, 1),
                "SAME",
                dimension_numbers=("NHWC", "HWIO", "NHWC"),
            )
        )

    values, kinds = draw(loss, f32(3, 3, 8, 16), f32(2, 8, 8, 8))
    assert [kind.role for kind in kinds] == ["weight", "data"]
    assert values[0].std() == pytest.approx((2 / 72) ** 0.5, rel=0.1)


def test_same_seed_same_values():
    values = [draw(lambda x: x @ x, f32(4, 4), seed=s)[0][0] for s in (0, 0, 1)]
    np.testing.assert_array_equal(values[0], values[1])
    assert not np.array_equal(values[0], values[2])
