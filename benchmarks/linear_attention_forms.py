# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Causal linear attention as it is written in JAX without act.

All forms take q, k and v as [heads, length, dim], the layout in which they are
fastest, use the feature map x^2 and divide by the sum of weights.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

EPSILON = 1e-6
CHUNK = 64

Carry = tuple[jax.Array, jax.Array]


def _zeros(q: jax.Array, v: jax.Array) -> Carry:
    """Returns sums and normalizer before the first token."""
    heads, _, dim = q.shape
    return jnp.zeros((heads, dim, v.shape[-1])), jnp.zeros((heads, dim))


def token_scan(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """A `lax.scan` over tokens; its gradient saves a state per token."""

    def step(state: Carry, token: Any) -> tuple[Carry, jax.Array]:
        q, k, v = token
        sums = state[0] + k[:, :, None] * v[:, None, :]
        normalizer = state[1] + k
        weight = (q * normalizer).sum(-1, keepdims=True) + EPSILON
        return (sums, normalizer), jnp.einsum("hm,hmd->hd", q, sums) / weight

    tokens = tuple(x.swapaxes(0, 1) for x in (q * q, k * k, v))
    _, output = jax.lax.scan(step, _zeros(q, v), tokens)
    return output.swapaxes(0, 1)


def _split(x: jax.Array) -> jax.Array:
    """[heads, length, ...] to [chunks, heads, CHUNK, ...]."""
    heads, length = x.shape[:2]
    return x.reshape(heads, length // CHUNK, CHUNK, *x.shape[2:]).swapaxes(0, 1)


def _join(x: jax.Array) -> jax.Array:
    """The inverse of `_split`."""
    chunks, heads, size = x.shape[:3]
    return x.swapaxes(0, 1).reshape(heads, chunks * size, *x.shape[3:])


def _attend_chunk(state: Carry, chunk: Any) -> tuple[Carry, tuple[jax.Array, ...]]:
    """Computes output and denominators of a chunk, and the state after it."""
    q, k, v = chunk
    q, k = q * q, k * k
    sums, normalizer = state
    weights = jnp.tril(jnp.einsum("htm,hsm->hts", q, k))
    denominators = weights.sum(-1) + jnp.einsum("htm,hm->ht", q, normalizer) + EPSILON
    output = (weights @ v + q @ sums) / denominators[..., None]
    return _advance(state, k, v), (output, denominators)


def _advance(state: Carry, k: jax.Array, v: jax.Array) -> Carry:
    """Adds the key features and values of a chunk to the state."""
    return state[0] + jnp.einsum("hsm,hsd->hmd", k, v), state[1] + k.sum(1)


def chunk_scan(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """A `lax.scan` over chunks, differentiated by JAX."""
    chunks = tuple(map(_split, (q, k, v)))
    _, (output, _) = jax.lax.scan(_attend_chunk, _zeros(q, v), chunks)
    return _join(output)


@jax.custom_vjp
def two_sweeps(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """A `lax.scan` over chunks, with a gradient of two scans that save no states."""
    return _two_sweeps_forward(q, k, v)[0]


def _two_sweeps_forward(q: jax.Array, k: jax.Array, v: jax.Array) -> tuple[Any, Any]:
    chunks = tuple(map(_split, (q, k, v)))
    _, (output, denominators) = jax.lax.scan(_attend_chunk, _zeros(q, v), chunks)
    output = _join(output)
    return output, (q, k, v, output, denominators)


def _two_sweeps_backward(saved: Any, d_output: jax.Array) -> tuple[jax.Array, ...]:
    q, k, v, output, denominators = saved
    zeros = _zeros(q, v)
    chunks = (*map(_split, (q, k, v, output, d_output)), denominators)
    _, d_q = jax.lax.scan(_query_gradient, zeros, chunks)
    _, (d_k, d_v) = jax.lax.scan(_key_gradient, zeros, chunks, reverse=True)
    return _join(d_q), _join(d_k), _join(d_v)


two_sweeps.defvjp(_two_sweeps_forward, _two_sweeps_backward)


def _quotient(
    output: jax.Array, d_output: jax.Array, denominators: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Returns the gradients of numerators and denominators."""
    d_numerators = d_output / denominators[..., None]
    return d_numerators, -(d_output * output).sum(-1) / denominators


def _query_gradient(state: Carry, chunk: Any) -> tuple[Carry, jax.Array]:
    """Computes the gradient of the queries of a chunk, in order."""
    q, k, v, *rest = chunk
    d_n, d_d = _quotient(*rest)
    features = k * k
    d_weights = jnp.tril(jnp.einsum("htd,hsd->hts", d_n, v) + d_d[..., None])
    d_features = d_weights @ features + jnp.einsum("htd,hmd->htm", d_n, state[0])
    d_features += d_d[..., None] * state[1][:, None]
    return _advance(state, features, v), 2 * q * d_features


def _key_gradient(d_state: Carry, chunk: Any) -> tuple[Carry, tuple[jax.Array, ...]]:
    """Computes the gradients of keys and values of a chunk, in reverse order."""
    q, k, v, *rest = chunk
    d_n, d_d = _quotient(*rest)
    q_features, k_features = q * q, k * k
    d_sums, d_normalizer = d_state
    weights = jnp.tril(jnp.einsum("htm,hsm->hts", q_features, k_features))
    d_weights = jnp.tril(jnp.einsum("htd,hsd->hts", d_n, v) + d_d[..., None])
    d_features = jnp.einsum("hts,htm->hsm", d_weights, q_features)
    d_features += jnp.einsum("hsd,hmd->hsm", v, d_sums) + d_normalizer[:, None]
    d_v = jnp.einsum("hts,htd->hsd", weights, d_n) + k_features @ d_sums
    d_sums = d_sums + jnp.einsum("htm,htd->hmd", q_features, d_n)
    d_normalizer = d_normalizer + (q_features * d_d[..., None]).sum(1)
    return (d_sums, d_normalizer), (2 * k * d_features, d_v)


def stored_states(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """All chunks at once, after a scan that stores the state before each of them."""
    heads, length, _ = q.shape

    def split(x: jax.Array) -> jax.Array:
        return x.reshape(heads, length // CHUNK, CHUNK, x.shape[-1])

    q, k, v = split(q * q), split(k * k), split(v)
    added = jnp.einsum("hnsm,hnsd->nhmd", k, v), k.sum(2).swapaxes(0, 1)

    def step(state: Carry, chunk: Carry) -> tuple[Carry, Carry]:
        return jax.tree.map(jnp.add, state, chunk), state

    start = jax.tree.map(lambda x: jnp.zeros(x.shape[1:]), added)
    _, before = jax.lax.scan(step, start, added)
    sums, normalizer = (x.swapaxes(0, 1) for x in before)
    weights = jnp.tril(jnp.einsum("hntm,hnsm->hnts", q, k))
    denominators = weights.sum(-1) + jnp.einsum("hntm,hnm->hnt", q, normalizer)
    output = (weights @ v + q @ sums) / (denominators[..., None] + EPSILON)
    return output.reshape(heads, length, -1)


FORMS: dict[str, Callable] = {
    "token scan": token_scan,
    "chunk scan": chunk_scan,
    "two sweeps": two_sweeps,
    "stored chunk states": stored_states,
}
