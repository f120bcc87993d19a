# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rounding of saved values in plain JAX, independent of act-opt.

Used to measure choices that act does not offer, such as a relu predicate that is
recomputed from a rounded value.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp


@dataclasses.dataclass(frozen=True)
class Rounding:
    """How values are rounded: groups share a bf16 minimum and step.

    Attributes:
        bits: per code.
        group: elements per group.
        within_last_axis: groups do not cross rows of the last axis, unless it is
            shorter than a group.
        stochastic: round up with the probability that makes it unbiased.
    """

    bits: int
    group: int
    within_last_axis: bool
    stochastic: bool = True

    def __call__(self, x: jax.Array, key: jax.Array) -> jax.Array:
        """Returns what decoding gives back; shape and type as `x`."""
        in_rows = self.within_last_axis and x.shape[-1] >= self.group
        rows = x.reshape(-1, x.shape[-1] if in_rows else x.size)
        padding = -rows.shape[1] % self.group
        padded = jnp.pad(rows, ((0, 0), (0, padding)), mode="edge")
        groups = padded.reshape(len(rows), -1, self.group)
        levels = 2**self.bits - 1
        low = _to_bf16(groups.min(-1, keepdims=True), towards=-1)
        width = groups.max(-1, keepdims=True) - low
        step = jnp.maximum(_to_bf16(width / levels, towards=1), 1e-30)
        noise = jax.random.uniform(key, groups.shape) if self.stochastic else 0.5
        codes = jnp.clip(jnp.floor((groups - low) / step + noise), 0, levels)
        decoded = (codes * step + low).reshape(padded.shape)
        return decoded[:, : rows.shape[1]].reshape(x.shape)


def _to_bf16(x: jax.Array, towards: int) -> jax.Array:
    """Rounds to bf16 towards minus (-1) or plus (1) infinity, returned as f32."""
    short = x.astype(jnp.bfloat16)
    wrong = short.astype(jnp.float32) * towards < x * towards
    next_one = jnp.nextafter(short, jnp.bfloat16(towards * jnp.inf))
    return jnp.where(wrong, next_one, short).astype(jnp.float32)


def rounded_relu_layer(
    convolve: Callable[[Any, jax.Array], jax.Array],
    rounding: Rounding,
    exact_mask: bool,
) -> Callable[[Any, jax.Array, jax.Array], jax.Array]:
    """Returns `layer(p, x, key)`: convolution, batch norm, relu.

    Forward is exact. Backward reads rounded copies of the layer's input and of
    the norm's input, exact statistics, and the relu's predicate either as it was
    or recomputed from the rounded copy.

    Args:
        convolve: `convolve(p, x)`; `p` has "scale" and "bias" for the norm.
        rounding: of what is saved.
        exact_mask: whether the predicate is saved, in one bit.
    """

    def normalise(z: jax.Array, mean: jax.Array, variance: jax.Array) -> jax.Array:
        return (z - mean) * jax.lax.rsqrt(variance + 1e-5)

    def relu_input(p: Any, z: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
        mean = z.mean((0, 1, 2))
        variance = jnp.mean((z - mean) ** 2, (0, 1, 2))
        normal = normalise(z, mean, variance)
        return normal * p["scale"] + p["bias"], mean, variance

    @jax.custom_vjp
    def layer(p: Any, x: jax.Array, key: jax.Array) -> jax.Array:
        return jax.nn.relu(relu_input(p, convolve(p, x))[0])

    def forward(p: Any, x: jax.Array, key: jax.Array) -> tuple[jax.Array, Any]:
        z = convolve(p, x)
        a, mean, variance = relu_input(p, z)
        key_x, key_z = jax.random.split(key)
        saved = (rounding(x, key_x), rounding(z, key_z), a > 0, mean, variance)
        return jax.nn.relu(a), (p, *saved)

    def backward(saved: Any, cotangent: jax.Array) -> tuple[Any, jax.Array, None]:
        p, x, z, mask, mean, variance = saved
        normal = normalise(z, mean, variance)
        if not exact_mask:
            mask = normal * p["scale"] + p["bias"] > 0
        g = cotangent * mask
        by_scale, by_bias = (g * normal).sum((0, 1, 2)), g.sum((0, 1, 2))
        centred = g - (by_bias + normal * by_scale) / (z.size // z.shape[-1])
        by_z = centred * p["scale"] * jax.lax.rsqrt(variance + 1e-5)
        by_p, by_x = jax.vjp(convolve, p, x)[1](by_z)
        by_p = {**by_p, "scale": by_scale, "bias": by_bias}
        return by_p, by_x, None

    layer.defvjp(forward, backward)
    return layer
