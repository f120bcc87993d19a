# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small models and the real data that they learn, for benchmarks/parity.

Images are scikit-learn's handwritten digits (1797 of 8 x 8 pixels), the text is what
Python's own documentation says about the language (`pydoc_data.topics`).
"""

import dataclasses
import functools
import itertools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from models import convolve, layer_norm

#: Part of the data that is learnt from, the rest validates.
LEARNT_IMAGES = 1000
LEARNT_TEXT = 0.9
#: Labelled nodes of the graph; the others are classified through their neighbours.
LEARNT_NODES = 360

#: Means and variances of batch norm by layer, empty for other models.
Statistics = list[tuple[jax.Array, jax.Array]]

#: `inputs`, `labels` and a `key` for dropout.
Batch = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Task:
    """A model and what it learns.

    Attributes:
        title: what it is, for people.
        initialise: `initialise(key)` returns parameters, a pytree of f32 arrays.
        apply: `apply(parameters, inputs, statistics, key)` returns logits and the
            statistics of this batch. Without a key it predicts: it uses the given
            statistics instead of the batch's and drops nothing.
        statistics: those to start from.
        data: pytree of arrays that batches are taken from.
        select: `select(data, selection)` returns inputs and labels of a batch.
        draw: `draw(random, steps)` returns what `select` takes for each step, with
            the steps as first axis.
        validation: inputs and labels that are not learnt.
        steps: of a training.
        rate: greatest learning rate of Adam.
    """

    title: str
    initialise: Callable[[jax.Array], Any]
    apply: Callable[..., tuple[jax.Array, Statistics]]
    statistics: Statistics
    data: Any
    select: Callable[[Any, jax.Array], tuple[Any, jax.Array]]
    draw: Callable[[np.random.Generator, int], np.ndarray]
    validation: tuple[Any, jax.Array]
    steps: int
    rate: float

    def loss(self, parameters: Any, batch: Batch) -> tuple[jax.Array, Statistics]:
        """Returns the mean cross entropy of a batch and its statistics."""
        logits, statistics = self.apply(
            parameters, batch["inputs"], self.statistics, batch["key"]
        )
        return cross_entropy(logits, batch["labels"]), statistics

    def validate(
        self, parameters: Any, statistics: Statistics
    ) -> tuple[jax.Array, jax.Array]:
        """Returns mean cross entropy and accuracy on what is not learnt."""
        inputs, labels = self.validation
        logits, _ = self.apply(parameters, inputs, statistics, None)
        right = jnp.argmax(logits, -1) == labels
        return cross_entropy(logits, labels), jnp.mean(right.astype(jnp.float32))


def cross_entropy(logits: jax.Array, labels: jax.Array) -> jax.Array:
    """Returns the mean of -log softmax(logits)[label]; logits [..., classes]."""
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1)
    return -jnp.mean(picked)


@functools.cache
def digits() -> tuple[np.ndarray, np.ndarray]:
    """Returns images f32[1797, 8, 8] from 0 to 1, in random order, and labels."""
    # Imported here: it takes a second, and language models do without it.
    from sklearn.datasets import load_digits

    found = load_digits()
    order = np.random.default_rng(0).permutation(len(found.target))
    images = (found.images[order] / found.images.max()).astype(np.float32)
    return images, found.target[order].astype(np.int32)


@functools.cache
def text() -> tuple[np.ndarray, int]:
    """Returns the text as numbers of characters, i32[492233], and how many there are.

    The length is that of Python 3.12 and differs in other versions.
    """
    from pydoc_data.topics import topics

    characters = "\n".join(topics[name] for name in sorted(topics))
    alphabet, numbers = np.unique(list(characters), return_inverse=True)
    return numbers.astype(np.int32), len(alphabet)


def _image_task(batch: int, shift: int, **fields: Any) -> Task:
    """Returns a task that classifies digits, moved by up to `shift` pixels."""
    images, labels = digits()
    size = images.shape[1]

    def draw(random: np.random.Generator, steps: int) -> np.ndarray:
        chosen = random.integers(0, LEARNT_IMAGES, (steps, batch, 1))
        offsets = random.integers(0, 2 * shift + 1, (steps, batch, 2))
        return np.concatenate([chosen, offsets], -1).astype(np.int32)

    def select(data: Any, selection: jax.Array) -> tuple[jax.Array, jax.Array]:
        padded, labels = data

        def window(row: jax.Array) -> jax.Array:
            start = (row[1], row[2])
            return jax.lax.dynamic_slice(padded[row[0]], start, (size, size))

        return jax.vmap(window)(selection), labels[selection[:, 0]]

    padding = ((0, 0), (shift, shift), (shift, shift))
    return Task(
        data=(
            jnp.asarray(np.pad(images[:LEARNT_IMAGES], padding)),
            jnp.asarray(labels[:LEARNT_IMAGES]),
        ),
        draw=draw,
        select=select,
        validation=(
            jnp.asarray(images[LEARNT_IMAGES:]),
            jnp.asarray(labels[LEARNT_IMAGES:]),
        ),
        **fields,
    )


def _dense(key: jax.Array, *shape: int, gain: float = 1.0) -> jax.Array:
    """Draws weights that keep the variance, times gain²."""
    return jax.random.normal(key, shape) * gain / math.sqrt(math.prod(shape[:-1]))


def mlp(layers: int = 4, width: int = 256, batch: int = 128) -> Task:
    """Returns a multilayer perceptron with gelu that classifies digits."""
    sizes = [64, *[width] * layers, 10]

    def initialise(key: jax.Array) -> Any:
        keys = jax.random.split(key, len(sizes))
        return [
            (_dense(k, a, b, gain=math.sqrt(2)), jnp.zeros(b))
            for k, (a, b) in zip(keys, itertools.pairwise(sizes), strict=False)
        ]

    def apply(
        parameters: Any, images: jax.Array, _: Statistics, _key: jax.Array | None
    ) -> tuple[jax.Array, Statistics]:
        x = images.reshape(len(images), -1)
        for weight, bias in parameters[:-1]:
            x = jax.nn.gelu(x @ weight + bias)
        weight, bias = parameters[-1]
        return x @ weight + bias, []

    return _image_task(
        batch,
        shift=1,
        title="MLP",
        initialise=initialise,
        apply=apply,
        statistics=[],
        steps=400,
        rate=1e-3,
    )


def cnn(channels: int = 16, batch: int = 64) -> Task:
    """Returns convolutions with batch norm, relu and pooling that classify digits."""
    widths = [1, channels, channels, 2 * channels, 2 * channels]

    def initialise(key: jax.Array) -> Any:
        keys = jax.random.split(key, len(widths))
        convolutions = [
            {
                "kernel": _dense(k, 3, 3, a, b, gain=math.sqrt(2)),
                "scale": jnp.ones(b),
                "bias": jnp.zeros(b),
            }
            for k, (a, b) in zip(keys, itertools.pairwise(widths), strict=False)
        ]
        return {
            "convolutions": convolutions,
            "head": _dense(keys[-1], widths[-1], 10),
            "bias": jnp.zeros(10),
        }

    def apply(
        parameters: Any,
        images: jax.Array,
        statistics: Statistics,
        key: jax.Array | None,
    ) -> tuple[jax.Array, Statistics]:
        x = images[..., None]
        found = []
        for number, p in enumerate(parameters["convolutions"]):
            x = convolve(p, x)
            mean, variance = statistics[number]
            if key is not None:
                mean = x.mean((0, 1, 2))
                variance = jnp.mean((x - mean) ** 2, (0, 1, 2))
            found.append((mean, variance))
            normal = (x - mean) * jax.lax.rsqrt(variance + 1e-5)
            x = jax.nn.relu(normal * p["scale"] + p["bias"])
            if number % 2 == 1:
                window = (1, 2, 2, 1)
                x = jax.lax.reduce_window(
                    x, -jnp.inf, jax.lax.max, window, window, "VALID"
                )
        return x.mean((1, 2)) @ parameters["head"] + parameters["bias"], found

    return _image_task(
        batch,
        shift=1,
        title="CNN",
        initialise=initialise,
        apply=apply,
        statistics=[(jnp.zeros(width), jnp.ones(width)) for width in widths[1:]],
        steps=300,
        rate=3e-3,
    )


def _transformer(
    key: jax.Array, layers: int, width: int, tokens: int
) -> dict[str, Any]:
    """Draws the blocks of a pre-norm transformer, its positions and last norm."""
    keys = iter(jax.random.split(key, 4 * layers + 1))
    residual = 1 / math.sqrt(2 * layers)
    norm = jnp.stack([jnp.ones(width), jnp.zeros(width)])
    blocks = [
        {
            "norm1": norm,
            "qkv": _dense(next(keys), width, 3 * width),
            "project": _dense(next(keys), width, width, gain=residual),
            "norm2": norm,
            "up": _dense(next(keys), width, 4 * width),
            "up_bias": jnp.zeros(4 * width),
            "down": _dense(next(keys), 4 * width, width, gain=residual),
            "down_bias": jnp.zeros(width),
        }
        for _ in range(layers)
    ]
    position = 0.3 * jax.random.normal(next(keys), (tokens, width))
    return {"blocks": blocks, "position": position, "norm": norm}


def _run_blocks(
    parameters: dict[str, Any], x: jax.Array, heads: int, causal: bool
) -> jax.Array:
    """Applies the blocks and the last norm to tokens f32[batch, tokens, width]."""
    x = x + parameters["position"]
    for p in parameters["blocks"]:
        x = x + _attention(p, layer_norm(x, p["norm1"]), heads, causal)
        hidden = jax.nn.gelu(layer_norm(x, p["norm2"]) @ p["up"] + p["up_bias"])
        x = x + hidden @ p["down"] + p["down_bias"]
    return layer_norm(x, parameters["norm"])


def _attention(
    p: dict[str, jax.Array], x: jax.Array, heads: int, causal: bool
) -> jax.Array:
    features = x.shape[-1] // heads
    split = (*x.shape[:2], 3, heads, features)
    q, k, v = (x @ p["qkv"]).reshape(split).transpose(2, 0, 3, 1, 4)
    scores = jnp.einsum("bhtd,bhsd->bhts", q, k) / math.sqrt(features)
    if causal:
        seen = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
        scores = jnp.where(seen, scores, -1e30)
    mixed = jnp.einsum("bhts,bhsd->bhtd", jax.nn.softmax(scores, -1), v)
    return mixed.transpose(0, 2, 1, 3).reshape(x.shape) @ p["project"]


def vit(layers: int = 2, width: int = 64, heads: int = 4, batch: int = 32) -> Task:
    """Returns a vision transformer over patches of 2 x 2 that classifies digits."""
    side, patch = 4, 2

    def initialise(key: jax.Array) -> Any:
        blocks, embedding, head = jax.random.split(key, 3)
        return _transformer(blocks, layers, width, side * side) | {
            "embedding": _dense(embedding, patch * patch, width, gain=2),
            "head": _dense(head, width, 10),
            "bias": jnp.zeros(10),
        }

    def apply(
        parameters: Any, images: jax.Array, _: Statistics, _key: jax.Array | None
    ) -> tuple[jax.Array, Statistics]:
        parts = images.reshape(-1, side, patch, side, patch).transpose(0, 1, 3, 2, 4)
        tokens = parts.reshape(-1, side * side, patch * patch)
        x = _run_blocks(parameters, tokens @ parameters["embedding"], heads, False)
        return x.mean(1) @ parameters["head"] + parameters["bias"], []

    return _image_task(
        batch,
        shift=1,
        title="ViT",
        initialise=initialise,
        apply=apply,
        statistics=[],
        steps=500,
        rate=1e-3,
    )


def gpt(
    layers: int = 2,
    width: int = 64,
    heads: int = 4,
    length: int = 64,
    sequences: int = 8,
    validated: int = 128,
) -> Task:
    """Returns a transformer that predicts the next character of a text."""
    characters, alphabet = text()
    learnt = int(LEARNT_TEXT * len(characters))

    def initialise(key: jax.Array) -> Any:
        blocks, embedding, head = jax.random.split(key, 3)
        return _transformer(blocks, layers, width, length) | {
            "embedding": 0.05 * jax.random.normal(embedding, (alphabet, width)),
            "head": _dense(head, width, alphabet),
        }

    def apply(
        parameters: Any, tokens: jax.Array, _: Statistics, _key: jax.Array | None
    ) -> tuple[jax.Array, Statistics]:
        x = _run_blocks(parameters, parameters["embedding"][tokens], heads, True)
        return x @ parameters["head"], []

    def draw(random: np.random.Generator, steps: int) -> np.ndarray:
        last = learnt - length
        return random.integers(0, last, (steps, sequences)).astype(np.int32)

    def select(data: Any, starts: jax.Array) -> tuple[jax.Array, jax.Array]:
        tokens = data[starts[:, None] + jnp.arange(length + 1)]
        return tokens[:, :-1], tokens[:, 1:]

    rest = jnp.asarray(characters[learnt:])
    starts = np.linspace(0, len(rest) - length - 1, validated).astype(np.int32)
    return Task(
        title="GPT",
        initialise=initialise,
        apply=apply,
        statistics=[],
        data=jnp.asarray(characters[:learnt]),
        draw=draw,
        select=select,
        validation=select(rest, jnp.asarray(starts)),
        steps=500,
        rate=4e-3,
    )


def gnn(
    layers: int = 3, width: int = 64, neighbours: int = 8, dropout: float = 0.2
) -> Task:
    """Returns a graph network on the digits, joined to those that look most alike.

    The layers are those of GraphSAGE with means (arXiv 1706.02216, algorithm 1) and
    dropout; all nodes are computed in every step.
    """
    images, labels = digits()
    features = images.reshape(len(images), -1)
    sizes = [features.shape[1], *[width] * layers]

    def initialise(key: jax.Array) -> Any:
        keys = jax.random.split(key, len(sizes))
        hidden = [
            (_dense(k, 2 * a, b, gain=math.sqrt(2)), jnp.zeros(b))
            for k, (a, b) in zip(keys, itertools.pairwise(sizes), strict=False)
        ]
        return [*hidden, (_dense(keys[-1], width, 10), jnp.zeros(10))]

    def apply(
        parameters: Any, inputs: Any, _: Statistics, key: jax.Array | None
    ) -> tuple[jax.Array, Statistics]:
        x = inputs["features"]
        for number, (weight, bias) in enumerate(parameters[:-1]):
            around = x[inputs["neighbours"]].mean(1)
            x = jax.nn.relu(jnp.concatenate([x, around], -1) @ weight + bias)
            if key is not None:
                kept = jax.random.bernoulli(
                    jax.random.fold_in(key, number), 1 - dropout, x.shape
                )
                x = jnp.where(kept, x / (1 - dropout), 0.0)
        weight, bias = parameters[-1]
        return x[inputs["nodes"]] @ weight + bias, []

    def draw(random: np.random.Generator, steps: int) -> np.ndarray:
        half = LEARNT_NODES // 2
        chosen = [random.permutation(LEARNT_NODES)[:half] for _ in range(steps)]
        return np.asarray(chosen, np.int32)

    def select(data: Any, nodes: jax.Array) -> tuple[Any, jax.Array]:
        return data["graph"] | {"nodes": nodes}, data["labels"][nodes]

    graph = {
        "features": jnp.asarray(features),
        "neighbours": jnp.asarray(nearest(features, neighbours)),
    }
    data = {"graph": graph, "labels": jnp.asarray(labels)}
    return Task(
        title="GNN",
        initialise=initialise,
        apply=apply,
        statistics=[],
        data=data,
        draw=draw,
        select=select,
        validation=select(data, jnp.arange(LEARNT_NODES, len(labels))),
        steps=200,
        rate=3e-3,
    )


def nearest(features: np.ndarray, count: int) -> np.ndarray:
    """Returns the `count` nearest other rows of each row, i32[rows, count]."""
    squares = (features**2).sum(1)
    distances = squares[:, None] + squares - 2 * features @ features.T
    np.fill_diagonal(distances, np.inf)
    return np.argsort(distances, 1, kind="stable")[:, :count].astype(np.int32)


TASKS: dict[str, Callable[[], Task]] = {
    "mlp": mlp,
    "cnn": cnn,
    "vit": vit,
    "gpt": gpt,
    "gnn": gnn,
}
