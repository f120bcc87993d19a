# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models whose heads, attention or sequences can run in parts."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import act


class Draw:
    """Draws arrays, one after the other."""

    def __init__(self, seed: int = 0, dtype: Any = jnp.float32) -> None:
        self._generator = np.random.default_rng(seed)
        self._dtype = dtype

    def normal(self, *shape: int) -> jax.Array:
        """Normal numbers, divided by the root of the first size."""
        values = self._generator.standard_normal(shape) / np.sqrt(shape[0])
        return jnp.asarray(values, self._dtype)

    def tokens(self, count: int, *shape: int) -> jax.Array:
        """Integers below `count`."""
        return jnp.asarray(self._generator.integers(0, count, shape), jnp.int32)

    def weights(self, *shape: int) -> jax.Array:
        """0 for a fifth of the elements, else between 1/2 and 1, in float32."""
        values = self._generator.uniform(0.5, 1, shape)
        keep = self._generator.random(shape) > 0.2
        return jnp.asarray(values * keep, jnp.float32)


def normalize(x: jax.Array) -> jax.Array:
    """Layer norm without parameters, over the last axis."""
    centred = x - x.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def drop(x: jax.Array, rate: float, key: jax.Array) -> jax.Array:
    """Dropout; no random numbers at rate 0."""
    if rate == 0:
        return x
    return jnp.where(jax.random.bernoulli(key, 1 - rate, x.shape), x / (1 - rate), 0.0)


def cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """Of each token, in float32."""
    logits = logits.astype(jnp.float32)
    picked = jnp.take_along_axis(logits, labels[..., None], -1)[..., 0]
    return jax.nn.logsumexp(logits, -1) - picked


# What the losses of tokens become, given a weight of each.
def mean(losses: jax.Array, weights: jax.Array) -> jax.Array:
    """All tokens alike."""
    del weights
    return losses.mean()


def weighted_mean(losses: jax.Array, weights: jax.Array) -> jax.Array:
    """Weights that are given."""
    return (losses * weights).sum() / weights.sum()


def hard_mean(losses: jax.Array, weights: jax.Array) -> jax.Array:
    """Weights that depend on the losses of all tokens."""
    hardness = jnp.tanh(losses) * weights
    return (losses * hardness).sum() / hardness.sum()


def head(
    reduce: Callable = mean,
    tokens: int = 512,
    width: int = 32,
    vocabulary: int = 1024,
    dtype: Any = jnp.float32,
    tied: bool = False,
) -> tuple[Callable, Any, Any]:
    """One hidden layer and a softmax; returns (loss, parameters, batch)."""
    draw = Draw(dtype=dtype)
    parameters = {"hidden": draw.normal(width, width)}
    parameters["embedding"] = draw.normal(vocabulary, width) * 8
    if not tied:
        parameters["head"] = draw.normal(width, vocabulary)
    batch = (
        draw.tokens(vocabulary, tokens),
        draw.tokens(vocabulary, tokens),
        draw.weights(tokens),
    )

    def loss(parameters: Any, batch: Any) -> jax.Array:
        tokens, labels, weights = batch
        x = jnp.tanh(parameters["embedding"][tokens] @ parameters["hidden"])
        logits = x @ (parameters["embedding"].T if tied else parameters["head"])
        return reduce(cross_entropy(logits, labels), weights)

    return loss, parameters, batch


@dataclasses.dataclass(frozen=True)
class Gpt:
    """A transformer with softmax attention.

    Attributes:
        causal: whether later tokens are masked.
        key_heads: of keys and values; less than `heads` for grouped queries.
        dropout: part of attention weights and residuals dropped.
        wrap: applied to each block.
        scanned: loop over blocks.
    """

    layers: int = 1
    vocabulary: int = 64
    width: int = 32
    heads: int = 4
    key_heads: int = 4
    length: int = 256
    sequences: int = 2
    causal: bool = True
    dropout: float = 0.0
    wrap: Callable = lambda block: block
    scanned: bool = False

    def make(self) -> tuple[Callable, Any, Any]:
        """Returns (loss, parameters, batch)."""
        draw = Draw(1)
        width, size = self.width, self.width // self.heads
        blocks = [
            {
                "q": draw.normal(width, self.heads, size),
                "k": draw.normal(width, self.key_heads, size),
                "v": draw.normal(width, self.key_heads, size),
                "o": draw.normal(width, width),
                "up": draw.normal(width, 4 * width),
                "down": draw.normal(4 * width, width),
            }
            for _ in range(self.layers)
        ]
        if self.scanned:
            blocks = jax.tree.map(lambda *leaves: jnp.stack(leaves), *blocks)
        parameters = {
            "embedding": draw.normal(self.vocabulary, width) * 8,
            "position": draw.normal(self.length, width) * 8,
            "blocks": blocks,
            "head": draw.normal(width, self.vocabulary),
        }
        shape = (self.sequences, self.length)
        batch = (
            draw.tokens(self.vocabulary, *shape),
            draw.tokens(self.vocabulary, *shape),
            jax.random.key(3),
        )
        return self.loss, parameters, batch

    def loss(self, parameters: Any, batch: Any) -> jax.Array:
        """Mean cross-entropy."""
        tokens, labels, key = batch
        x = parameters["embedding"][tokens] + parameters["position"]
        block = self.wrap(self._block)
        keys = jax.random.split(key, self.layers)
        if self.scanned:
            x, _ = jax.lax.scan(
                lambda x, layer: (block(layer[0], x, layer[1]), None),
                x,
                (parameters["blocks"], keys),
            )
        else:
            for p, block_key in zip(parameters["blocks"], keys, strict=True):
                x = block(p, x, block_key)
        return cross_entropy(normalize(x) @ parameters["head"], labels).mean()

    def _block(self, p: Any, x: jax.Array, key: jax.Array) -> jax.Array:
        keys = jax.random.split(key)
        x = x + self._drop(self._attend(p, normalize(x), keys[0]), keys[1])
        return x + jax.nn.gelu(normalize(x) @ p["up"]) @ p["down"]

    def _attend(self, p: Any, x: jax.Array, key: jax.Array) -> jax.Array:
        groups = self.heads // self.key_heads
        q = jnp.einsum("btw,whd->bthd", x, p["q"])
        q = q.reshape(*q.shape[:2], self.key_heads, groups, -1)
        k = jnp.einsum("btw,whd->bthd", x, p["k"])
        v = jnp.einsum("btw,whd->bthd", x, p["v"])
        scores = jnp.einsum("btkgd,bskd->bkgts", q, k) / np.sqrt(q.shape[-1])
        if self.causal:
            mask = jnp.tril(jnp.ones((self.length, self.length), bool))
            scores = jnp.where(mask, scores, -1e30)
        weights = self._drop(jax.nn.softmax(scores, -1), key)
        mixed = jnp.einsum("bkgts,bskd->btkgd", weights, v)
        return mixed.reshape(x.shape) @ p["o"]

    def _drop(self, x: jax.Array, key: jax.Array) -> jax.Array:
        return drop(x, self.dropout, key)


@dataclasses.dataclass(frozen=True)
class Performer:
    """A transformer with `act.linear_attention`.

    Attributes:
        key_heads: of keys and values; less than `heads` for grouped queries.
        decay: "none", or what has a decay: "head", "token" or "channel".
        dropout: part of the residuals dropped.
        learnt: whether positions are learnt; else none are added.
        state_in_loss: whether the final state of the last layer is part of the loss.
        chunk: tokens that linear attention takes together; None for its choice.
        softmax: whether the last layer has softmax attention instead.
        wrap: applied to each block.
    """

    layers: int = 1
    vocabulary: int = 48
    width: int = 32
    heads: int = 4
    key_heads: int = 4
    length: int = 96
    sequences: int = 1
    decay: str = "none"
    feature_map: str = "square"
    dropout: float = 0.0
    learnt: bool = False
    state_in_loss: bool = False
    chunk: int | None = None
    softmax: bool = False
    wrap: Callable = lambda block: block

    def make(self) -> tuple[Callable, Any, Any]:
        """Returns (loss, parameters, batch)."""
        draw = Draw(2)
        width, size = self.width, self.width // self.heads
        parameters = {
            "embedding": draw.normal(self.vocabulary, width) * 8,
            "blocks": [
                {
                    "q": draw.normal(width, self.heads, size),
                    "k": draw.normal(width, self.key_heads, size),
                    "v": draw.normal(width, self.key_heads, size),
                    "decay": self._decay_weights(draw, size),
                    "o": draw.normal(width, width),
                    "up": draw.normal(width, 4 * width),
                    "down": draw.normal(4 * width, width),
                }
                for _ in range(self.layers)
            ],
            "head": draw.normal(width, self.vocabulary),
        }
        if self.learnt:
            parameters["position"] = draw.normal(self.length, width)
        shape = (self.sequences, self.length)
        batch = (
            draw.tokens(self.vocabulary, *shape),
            draw.tokens(self.vocabulary, *shape),
            draw.weights(*shape),
            jax.random.key(4),
        )
        return self.loss, parameters, batch

    def loss(self, parameters: Any, batch: Any) -> jax.Array:
        """Weighted cross-entropy."""
        losses, state = self.losses_and_state(parameters, batch)
        loss = weighted_mean(losses, batch[2])
        if self.state_in_loss:
            loss = loss + 1e-3 * (state.sums**2).sum() / self.length
        return loss

    def losses_and_state(self, parameters: Any, batch: Any) -> tuple[jax.Array, Any]:
        """Cross-entropy of each token, and the final state of the last layer."""
        tokens, labels, _, key = batch
        x = parameters["embedding"][tokens]
        if self.learnt:
            x = x + parameters["position"]
        state = None
        keys = jax.random.split(key, self.layers)
        for number, p in enumerate(parameters["blocks"]):
            is_softmax = self.softmax and number + 1 == self.layers
            block = self.wrap(functools.partial(self._block, is_softmax))
            x, state = block(p, x, keys[number])
        return cross_entropy(normalize(x) @ parameters["head"], labels), state

    def _decay_weights(self, draw: Draw, size: int) -> jax.Array:
        shapes = {
            "head": (1, self.key_heads),
            "token": (self.width, self.key_heads),
            "channel": (self.width, self.key_heads, size),
        }
        return draw.normal(*shapes.get(self.decay, (1,)))

    def _decay(self, weights: jax.Array, x: jax.Array) -> jax.Array | None:
        """Returns logarithms of decays, or None."""
        if self.decay == "none":
            return None
        if self.decay == "head":
            return jax.nn.log_sigmoid(weights[0] + 3)
        return jax.nn.log_sigmoid(jnp.tensordot(x, weights, 1) + 3)

    def _block(
        self, is_softmax: bool, p: Any, x: jax.Array, key: jax.Array
    ) -> tuple[jax.Array, Any]:
        h = normalize(x)
        q, k, v = (jnp.einsum("btw,whd->bthd", h, p[name]) for name in "qkv")
        state = None
        if is_softmax:
            o = jax.nn.dot_product_attention(q, k, v, is_causal=True)
        else:
            o, state = act.linear_attention(
                q,
                k,
                v,
                decay=self._decay(p["decay"], h),
                feature_map=self.feature_map,
                features=self._features(q.shape[-1]),
                return_state=True,
                chunk=self.chunk,
            )
        x = x + self._drop(o.reshape(x.shape) @ p["o"], key)
        return x + jax.nn.gelu(normalize(x) @ p["up"]) @ p["down"], state

    def _drop(self, x: jax.Array, key: jax.Array) -> jax.Array:
        return drop(x, self.dropout, key)

    def _features(self, size: int) -> jax.Array | None:
        if self.feature_map != "favor_plus":
            return None
        return act.orthogonal_features(jax.random.key(5), 2 * size, size)
