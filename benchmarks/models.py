# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models to measure: plain JAX, with the layers that dominate real steps."""

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp

#: Wraps a layer, such as `jax.checkpoint`.
Wrapper = Callable[[Callable], Callable]


@dataclasses.dataclass(frozen=True)
class Model:
    """A training problem.

    Attributes:
        loss: `loss(parameters, batch, wrap)`, where `wrap` is applied to each
            layer or block.
        parameters: pytree of f32 arrays.
        batch: pytree of arrays; with several micro-batches their axis is first.
        micro_batches: how many the step takes the mean gradient of, in a loop;
            0 if the batch is not divided.
    """

    loss: Callable[[Any, Any, Wrapper], jax.Array]
    parameters: Any
    batch: Any
    micro_batches: int = 0

    def step(self, wrap: Wrapper = lambda layer: layer) -> Callable:
        """Returns `step(parameters, batch) -> (loss, gradients)`."""

        def loss(parameters: Any, batch: Any) -> jax.Array:
            return self.loss(parameters, batch, wrap)

        return self._accumulate(jax.value_and_grad(loss))

    def policy_step(self, policy: Callable) -> Callable:
        """Returns the step with one checkpoint around all of it."""

        def loss(parameters: Any, batch: Any) -> jax.Array:
            return self.loss(parameters, batch, lambda layer: layer)

        return self._accumulate(jax.value_and_grad(jax.checkpoint(loss, policy=policy)))

    def _accumulate(self, step: Callable) -> Callable:
        """Returns the step, or its mean over the micro-batches if there are any."""
        if self.micro_batches == 0:
            return step

        def accumulated(parameters: Any, batches: Any) -> Any:
            def add(total: Any, batch: Any) -> tuple[Any, None]:
                return jax.tree.map(jnp.add, total, step(parameters, batch)), None

            zero = jnp.zeros(()), jax.tree.map(jnp.zeros_like, parameters)
            total, _ = jax.lax.scan(add, zero, batches)
            return jax.tree.map(lambda leaf: leaf / self.micro_batches, total)

        return accumulated


def mlp(layers: int, samples: int = 4096, width: int = 1024) -> Model:
    """A multilayer perceptron with gelu and squared error."""
    keys = _keys(0)
    sizes = [256, *[width] * layers, 256]
    parameters = [
        (
            jax.random.normal(next(keys), (a, b)) * (1.4 / math.sqrt(a)),
            jnp.zeros(b),
        )
        for a, b in itertools.pairwise(sizes)
    ]
    batch = (
        jax.random.normal(next(keys), (samples, 256)),
        jax.random.normal(next(keys), (samples, 256)),
    )

    def hidden(x: jax.Array, weight: jax.Array, bias: jax.Array) -> jax.Array:
        return jax.nn.gelu(x @ weight + bias)

    def loss(parameters: Any, batch: Any, wrap: Wrapper) -> jax.Array:
        x, y = batch
        for weight, bias in parameters[:-1]:
            x = wrap(hidden)(x, weight, bias)
        weight, bias = parameters[-1]
        return jnp.mean((x @ weight + bias - y) ** 2)

    return Model(loss, parameters, batch)


def gpt(
    layers: int,
    vocabulary: int,
    dropout: float = 0.0,
    width: int = 256,
    heads: int = 8,
    length: int = 256,
    sequences: int = 8,
    scanned: bool = False,
) -> Model:
    """A decoder-only transformer with pre-norm blocks and learnt positions.

    Args:
        layers: number of blocks.
        vocabulary: number of tokens.
        dropout: part of the elements dropped, in attention and behind it.
        width: of the residual stream.
        heads: of attention.
        length: of a sequence.
        sequences: in a batch.
        scanned: stack the parameters of the blocks and loop over them with
            `jax.lax.scan`.
    """
    keys = _keys(1)

    def dense(*shape: int, scale: float | None = None) -> jax.Array:
        values = jax.random.normal(next(keys), shape)
        return values * (1 / math.sqrt(shape[0]) if scale is None else scale)

    def make_block() -> dict[str, jax.Array]:
        return {
            "norm1": jnp.stack([jnp.ones(width), jnp.zeros(width)]),
            "qkv": dense(width, 3 * width),
            "project": dense(width, width),
            "norm2": jnp.stack([jnp.ones(width), jnp.zeros(width)]),
            "up": dense(width, 4 * width),
            "up_bias": jnp.zeros(4 * width),
            "down": dense(4 * width, width),
            "down_bias": jnp.zeros(width),
        }

    blocks = [make_block() for _ in range(layers)]
    parameters = {
        "embedding": dense(vocabulary, width, scale=0.5),
        "position": dense(length, width, scale=0.5),
        "blocks": _stack(blocks) if scanned else blocks,
        "norm": jnp.stack([jnp.ones(width), jnp.zeros(width)]),
        "head": dense(width, vocabulary),
    }
    shape = (sequences, length)
    batch = (
        jax.random.randint(next(keys), shape, 0, vocabulary),
        jax.random.randint(next(keys), shape, 0, vocabulary),
        next(keys),
    )

    def drop(x: jax.Array, key: jax.Array) -> jax.Array:
        if dropout == 0:
            return x
        keep = jax.random.bernoulli(key, 1 - dropout, x.shape)
        return jnp.where(keep, x / (1 - dropout), 0.0)

    def block(p: dict[str, jax.Array], x: jax.Array, key: jax.Array) -> jax.Array:
        keys = jax.random.split(key, 3)
        x = x + drop(attention(p, layer_norm(x, p["norm1"]), keys[0]), keys[1])
        hidden = layer_norm(x, p["norm2"]) @ p["up"] + p["up_bias"]
        return x + drop(jax.nn.gelu(hidden) @ p["down"] + p["down_bias"], keys[2])

    def attention(p: dict[str, jax.Array], x: jax.Array, key: jax.Array) -> jax.Array:
        split = (*x.shape[:2], 3, heads, width // heads)
        q, k, v = (x @ p["qkv"]).reshape(split).transpose(2, 0, 3, 1, 4)
        scores = jnp.einsum("bhtd,bhsd->bhts", q, k) / math.sqrt(width // heads)
        mask = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
        weights = jax.nn.softmax(jnp.where(mask, scores, -1e30), -1)
        mixed = jnp.einsum("bhts,bhsd->bhtd", drop(weights, key), v)
        return mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ p["project"]

    def loss(parameters: Any, batch: Any, wrap: Wrapper) -> jax.Array:
        tokens, labels, key = batch
        x = parameters["embedding"][tokens] + parameters["position"]
        if scanned:
            layer_keys = jax.random.split(key, layers)
            x, _ = jax.lax.scan(
                lambda x, layer: (wrap(block)(layer[0], x, layer[1]), None),
                x,
                (parameters["blocks"], layer_keys),
            )
        else:
            for number, p in enumerate(parameters["blocks"]):
                x = wrap(block)(p, x, jax.random.fold_in(key, number))
        logits = layer_norm(x, parameters["norm"]) @ parameters["head"]
        picked = jnp.take_along_axis(
            jax.nn.log_softmax(logits, -1), labels[..., None], -1
        )
        return -jnp.mean(picked)

    return Model(loss, parameters, batch)


def checkpointed(model: Model) -> Model:
    """Returns a model whose source saves nothing inside of its blocks."""
    checkpoint = functools.partial(
        jax.checkpoint, policy=jax.checkpoint_policies.nothing_saveable
    )

    def loss(parameters: Any, batch: Any, _wrap: Wrapper) -> jax.Array:
        return model.loss(parameters, batch, checkpoint)

    return dataclasses.replace(model, loss=loss)


def accumulated(model: Model, micro_batches: int) -> Model:
    """Returns a model whose step loops over parts of the batch."""

    def divide(leaf: jax.Array) -> jax.Array:
        if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
            return jax.random.split(leaf, micro_batches)
        return leaf.reshape(micro_batches, -1, *leaf.shape[1:])

    batch = jax.tree.map(divide, model.batch)
    return dataclasses.replace(model, batch=batch, micro_batches=micro_batches)


def lstm(
    steps: int = 128, sequences: int = 64, width: int = 256, outputs: int = 16
) -> Model:
    """A long short-term memory over time, with squared error of its last output."""
    keys = _keys(3)

    def dense(*shape: int) -> jax.Array:
        return jax.random.normal(next(keys), shape) / math.sqrt(shape[0])

    parameters = {
        "input": dense(width, 4 * width),
        "hidden": dense(width, 4 * width),
        "bias": jnp.zeros(4 * width),
        "head": dense(width, outputs),
    }
    batch = (
        jax.random.normal(next(keys), (steps, sequences, width)),
        jax.random.normal(next(keys), (sequences, outputs)),
    )

    def cell(
        p: dict[str, jax.Array], state: tuple[jax.Array, jax.Array], x: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        hidden, memory = state
        gates = x @ p["input"] + hidden @ p["hidden"] + p["bias"]
        put, forget, update, emit = jnp.split(gates, 4, -1)
        memory = jax.nn.sigmoid(forget + 1) * memory
        memory += jax.nn.sigmoid(put) * jnp.tanh(update)
        return jax.nn.sigmoid(emit) * jnp.tanh(memory), memory

    def loss(parameters: Any, batch: Any, wrap: Wrapper) -> jax.Array:
        inputs, y = batch
        zero = jnp.zeros(inputs.shape[1:])
        (hidden, _), _ = jax.lax.scan(
            lambda state, x: (wrap(cell)(parameters, state, x), None),
            (zero, zero),
            inputs,
        )
        return jnp.mean((hidden @ parameters["head"] - y) ** 2)

    return Model(loss, parameters, batch)


def cnn(images: int = 64, size: int = 32, channels: int = 32) -> Model:
    """Six convolutions with batch norm and relu, max-pooled after every second."""
    keys = _keys(2)
    widths = [3] + [channels * factor for factor in (1, 1, 2, 2, 4, 4)]
    convolutions = [
        {
            "kernel": jax.random.normal(next(keys), (3, 3, a, b))
            * math.sqrt(2 / (9 * a)),
            "scale": jnp.ones(b),
            "bias": jnp.zeros(b),
        }
        for a, b in itertools.pairwise(widths)
    ]
    features = (size // 8) ** 2 * widths[-1]
    head = jax.random.normal(next(keys), (features, 10)) * math.sqrt(2 / features)
    batch = (
        jax.random.normal(next(keys), (images, size, size, 3)),
        jax.random.randint(next(keys), (images,), 0, 10),
    )

    return Model(cnn_loss, {"convolutions": convolutions, "head": head}, batch)


def cnn_loss(parameters: Any, batch: Any, wrap: Wrapper) -> jax.Array:
    """Loss of the convolutional network."""
    x, labels = batch
    for number, p in enumerate(parameters["convolutions"]):
        x = wrap(convolution_layer)(p, x)
        if number % 2 == 1:
            window = (1, 2, 2, 1)
            x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, window, "VALID")
    logits = x.reshape(len(labels), -1) @ parameters["head"]
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
    return -jnp.mean(picked)


def convolution_layer(p: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    """Convolution, batch norm, relu."""
    return jax.nn.relu(batch_norm(p, convolve(p, x)))


def convolve(p: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    """Convolves images [N, H, W, C] with the layer's kernel."""
    return jax.lax.conv_general_dilated(
        x, p["kernel"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def batch_norm(p: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    """Normalises each channel over batch and positions."""
    mean = x.mean((0, 1, 2))
    variance = jnp.mean((x - mean) ** 2, (0, 1, 2))
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * p["scale"] + p["bias"]


def layer_norm(x: jax.Array, scale_and_bias: jax.Array) -> jax.Array:
    """Normalises the last axis; `scale_and_bias` has shape [2, features]."""
    mean = x.mean(-1, keepdims=True)
    variance = jnp.mean((x - mean) ** 2, -1, keepdims=True)
    scale, bias = scale_and_bias
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias


def _stack(trees: list[Any]) -> Any:
    """Stacks equal pytrees of arrays along a new first axis."""
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


def _keys(seed: int) -> Iterator[jax.Array]:
    """Yields independent keys."""
    key = jax.random.key(seed)
    number = 0
    while True:
        yield jax.random.fold_in(key, number)
        number += 1


MODELS: dict[str, Callable[[], Model]] = {
    "mlp6": lambda: mlp(6),
    "mlp12": lambda: mlp(12),
    "gpt6": lambda: gpt(6, 1024),
    "gpt": lambda: gpt(4, 4096),
    "gpt_dropout": lambda: gpt(4, 1024, dropout=0.1),
    "gpt_scan6": lambda: gpt(6, 1024, scanned=True),
    "gpt_scan24": lambda: gpt(24, 1024, scanned=True),
    "gpt_scan_dropout": lambda: gpt(6, 1024, dropout=0.1, scanned=True),
    "gpt_remat6": lambda: checkpointed(gpt(6, 1024, scanned=True)),
    "lstm128": lstm,
    "accumulate": lambda: accumulated(gpt(6, 1024, sequences=16, scanned=True), 2),
    "accumulate_unrolled": lambda: accumulated(gpt(4, 1024, sequences=16), 2),
    "cnn": cnn,
}
