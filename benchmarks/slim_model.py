# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Language models of SLiM Performers (arXiv 2012.11346, section 4), in plain JAX."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import act

Parameters = dict[str, Any]
#: tokens, targets, weights in the loss, and positions: [batch, length] each, but
#: positions [length].
Batch = tuple[jax.Array, jax.Array, jax.Array, jax.Array]
States = list[act.AttentionState]


@dataclasses.dataclass(frozen=True)
class Row:
    """A model and how long its sequences and slices are.

    Attributes:
        length: tokens in a sequence.
        layers: number of blocks.
        width: of the residual stream; the MLP has four times that.
        heads: of attention.
        vocabulary: number of tokens.
        chunk: tokens in a slice.
        published_memory: memory of training in slices over that of training at once,
            in table 1 of the paper; None if it is not there.
        published_time: likewise time.
    """

    length: int
    layers: int
    width: int
    heads: int
    vocabulary: int
    chunk: int
    published_memory: float | None = None
    published_time: float | None = None


ROWS = {
    "copy_c64": Row(512, 1, 256, 4, 16, 64, 0.83, 2.59),
    "ptb_c256": Row(1024, 3, 512, 8, 50, 256, 0.77, 2.22),
    "enwik8_c1366": Row(4096, 3, 1024, 16, 205, 1366, 0.60, 1.88),
    "enwik8_c256": Row(4096, 3, 1024, 16, 205, 256),
}


def parameters_of(row: Row, seed: int = 0) -> Parameters:
    """Draws initial weights."""
    random = np.random.default_rng(seed)

    def normal(rows: int, columns: int, scale: float = 1.0) -> jax.Array:
        weight = random.standard_normal((rows, columns)) * scale / np.sqrt(rows)
        return jnp.asarray(weight, jnp.float32)

    def block() -> Parameters:
        width = row.width
        return {
            **{name: normal(width, width) for name in ("q", "k", "v", "o")},
            "up": normal(width, 4 * width),
            "up_bias": jnp.zeros(4 * width),
            "down": normal(4 * width, width),
            "down_bias": jnp.zeros(width),
        }

    return {
        "embedding": normal(row.vocabulary, row.width, np.sqrt(row.vocabulary)),
        "blocks": [block() for _ in range(row.layers)],
        "output": normal(row.width, row.vocabulary),
    }


def batch_of(row: Row, multiple: int = 1, seed: int = 1) -> Batch:
    """Draws a sequence of random tokens.

    Args:
        row: says how long it is.
        multiple: what its length is padded to a multiple of; padding does not count.
        seed: of the tokens.
    """
    tokens = np.random.default_rng(seed).integers(0, row.vocabulary, row.length + 1)
    weights = np.full(row.length, 1 / row.length, np.float32)
    padding = -row.length % multiple

    def pad(values: np.ndarray, dtype: Any) -> jax.Array:
        return jnp.asarray(np.pad(values, (0, padding)).astype(dtype))[None]

    return (
        pad(tokens[:-1], np.int32),
        pad(tokens[1:], np.int32),
        pad(weights, np.float32),
        jnp.arange(row.length + padding, dtype=jnp.float32),
    )


def loss(
    row: Row,
    parameters: Parameters,
    batch: Batch,
    wrap: Callable = lambda block: block,
    states: States | None = None,
) -> tuple[jax.Array, States]:
    """Returns the weighted negative log likelihood, and the states of attention.

    Args:
        row: the model.
        parameters: as from `parameters_of`.
        batch: all tokens, or the next slice of them.
        wrap: applied to each block, such as `jax.checkpoint`.
        states: of each layer, before the tokens of the batch; None for none.
    """
    tokens, targets, weights, positions = batch
    x = parameters["embedding"][tokens] + _encode(positions, row.width)
    after = []
    for number, block in enumerate(parameters["blocks"]):
        state = states[number] if states is not None else None
        x, state = wrap(functools.partial(_block, row.heads))(block, x, state)
        after.append(state)
    logits = _normalize(x) @ parameters["output"]
    picked = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
    return ((jax.nn.logsumexp(logits, -1) - picked) * weights).sum(), after


def _block(
    heads: int, block: Parameters, x: jax.Array, state: act.AttentionState | None
) -> tuple[jax.Array, act.AttentionState]:
    """Applies attention and an MLP to the residual stream."""
    h = _normalize(x)
    q, k, v = (
        (h @ block[name]).reshape(*x.shape[:2], heads, x.shape[2] // heads)
        for name in ("q", "k", "v")
    )
    o, state = act.linear_attention(
        q, k, v, feature_map="square", initial_state=state, return_state=True
    )
    x = x + o.reshape(x.shape) @ block["o"]
    hidden = jax.nn.gelu(_normalize(x) @ block["up"] + block["up_bias"])
    return x + hidden @ block["down"] + block["down_bias"], state


def _normalize(x: jax.Array) -> jax.Array:
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def _encode(positions: jax.Array, width: int) -> jax.Array:
    """Returns sines and cosines of positions, [length, width]."""
    frequencies = jnp.exp(-np.log(1e4) * jnp.arange(width // 2) / (width // 2))
    angles = positions[:, None] * frequencies
    return jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1)


def training_step(row: Row, wrap: Callable = lambda block: block) -> Callable:
    """Returns `step(parameters, batch) -> (loss, gradients)`, for whole sequences."""

    def whole(parameters: Parameters, batch: Batch) -> jax.Array:
        return loss(row, parameters, batch, wrap)[0]

    return jax.value_and_grad(whole)


def step_sliced_by_hand(
    row: Row, chunk: int, wrap: Callable = lambda block: block
) -> Callable:
    """Returns the same step, in slices, as one writes it without act's rewriting.

    A first sweep computes and stores the states before each slice; a second one goes
    backwards, computes each slice again and differentiates it. The length has to be
    a multiple of `chunk`.
    """

    def step(parameters: Parameters, batch: Batch) -> tuple[jax.Array, Parameters]:
        slices = jax.tree.map(functools.partial(_split, chunk), batch[:3])
        slices = (*slices, batch[3].reshape(-1, chunk))
        start = _empty_states(row, batch[0].shape[0])

        def first(states: States, piece: Batch) -> tuple[States, States]:
            return loss(row, parameters, piece, states=states)[1], states

        _, before = jax.lax.scan(first, start, slices)

        def second(carry: Any, piece: tuple[Batch, States]) -> tuple[Any, jax.Array]:
            total, d_states = carry
            part, pull = jax.vjp(
                lambda p, s: loss(row, p, piece[0], wrap, s), parameters, piece[1]
            )
            gradient, d_states = pull((jnp.ones(()), d_states))
            return (jax.tree.map(jnp.add, total, gradient), d_states), part[0]

        zero = jax.tree.map(jnp.zeros_like, (parameters, start))
        (gradients, _), parts = jax.lax.scan(
            second, zero, (slices, before), reverse=True
        )
        return parts.sum(), gradients

    return step


def _split(chunk: int, x: jax.Array) -> jax.Array:
    """[batch, length] to [slices, batch, chunk]."""
    return x.reshape(x.shape[0], -1, chunk).swapaxes(0, 1)


def _empty_states(row: Row, batch: int) -> States:
    dim = row.width // row.heads
    return [
        act.AttentionState(
            jnp.zeros((batch, row.heads, dim, dim)), jnp.zeros((batch, row.heads, dim))
        )
        for _ in range(row.layers)
    ]
