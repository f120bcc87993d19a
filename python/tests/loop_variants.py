# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small training steps with loops: bases crossed with ways to write a loop.

A base takes a `Loop` and returns a problem whose loss runs its body in it. What a
body computes has 16384 elements, the least that act saves.
"""

import dataclasses
import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from conftest import Problem
from jax import lax
from jax.ad_checkpoint import checkpoint_name

#: `loop(body, carry, xs)` applies `carry = body(carry, x)` for each x.
Body = Callable[[Any, Any], Any]
Loop = Callable[[Body, Any, Any], Any]
Base = Callable[[Loop], Problem]

policies = jax.checkpoint_policies


@dataclasses.dataclass(frozen=True)
class Step:
    """A step with arguments.

    Attributes:
        function: returns a tuple; its first element is primal.
        arguments: of the function.
        short_floats: whether it computes in bf16.
    """

    function: Callable
    arguments: tuple
    short_floats: bool = False


def gradient_step(problem: Problem, **options: Any) -> Step:
    """Returns the step that computes loss and gradients of a problem."""
    return Step(jax.value_and_grad(problem.loss, **options), problem.arguments)


# Loops


def scan(body: Body, carry: Any, xs: Any, **options: Any) -> Any:
    """Loops with `lax.scan`; options are its `reverse` and `unroll`."""
    return lax.scan(lambda carry, x: (body(carry, x), None), carry, xs, **options)[0]


def unrolled(body: Body, carry: Any, xs: Any) -> Any:
    """Repeats the body in Python."""
    for number in range(_length(xs)):
        carry = body(carry, _at(xs, number))
    return carry


def fori(body: Body, carry: Any, xs: Any) -> Any:
    """Loops with static bounds and reads x at the counter."""
    return lax.fori_loop(
        0, _length(xs), lambda number, carry: body(carry, _at(xs, number)), carry
    )


def nested(body: Body, carry: Any, xs: Any) -> Any:
    """Scans over scans of two iterations."""
    pairs = jax.tree.map(lambda leaf: leaf.reshape(-1, 2, *leaf.shape[1:]), xs)
    return scan(functools.partial(scan, body), carry, pairs)


def sequential(body: Body, carry: Any, xs: Any) -> Any:
    """Scans twice, over one half each."""
    half = _length(xs) // 2
    carry = scan(body, carry, jax.tree.map(lambda leaf: leaf[:half], xs))
    return scan(body, carry, jax.tree.map(lambda leaf: leaf[half:], xs))


def jitted(body: Body, carry: Any, xs: Any) -> Any:
    """Scans in a private function that calls another one in its body."""
    return jax.jit(functools.partial(scan, jax.jit(body)))(carry, xs)


def counted(body: Body, carry: Any, xs: Any) -> Any:
    """Carries an integer, which scales every second result."""

    def scaled(state: tuple[Any, jax.Array], x: Any) -> tuple[Any, jax.Array]:
        carry, count = state
        factor = 1 - 0.25 * (count % 2)
        return jax.tree.map(lambda leaf: leaf * factor, body(carry, x)), count + 1

    return scan(scaled, (carry, jnp.int32(0)), xs)[0]


def conditional(body: Body, carry: Any, xs: Any) -> Any:
    """Skips the body in every third iteration."""

    def choose(carry: Any, numbered: tuple[jax.Array, Any]) -> Any:
        number, x = numbered
        return lax.cond(number % 3 == 2, lambda carry, x: carry, body, carry, x)

    return scan(choose, carry, (jnp.arange(_length(xs)), xs))


def fenced(body: Body, carry: Any, xs: Any) -> Any:
    """Puts what the body reads and returns behind barriers of the user."""

    def fence(carry: Any, x: Any) -> Any:
        carry, x = lax.optimization_barrier((carry, x))
        return lax.optimization_barrier(body(carry, x))

    return scan(fence, carry, xs)


def checkpointed(policy: Callable, body: Body, carry: Any, xs: Any) -> Any:
    """Scans over a checkpointed body."""
    return scan(jax.checkpoint(body, policy=policy), carry, xs)


# Bases


def mlp(loop: Loop, dtype: Any = jnp.float32) -> Problem:
    """Eight residual layers whose weights are looped over."""
    normal = _normals(0, dtype)

    def loss(parameters: list, batch: tuple) -> jax.Array:
        x, y = batch
        x = loop(_layer, x, tuple(parameters))
        return jnp.mean((x - y).astype(jnp.float32) ** 2)

    parameters = [normal(8, 64, 64, scale=1 / 8), normal(8, 64)]
    return Problem(loss, parameters, (normal(256, 64), normal(256, 64)))


def transformer(loop: Loop) -> Problem:
    """Four blocks of attention and a gelu layer whose weights are looped over."""
    normal = _normals(1)
    width, heads, length, sequences, layers = 64, 2, 64, 4, 4

    def norm(x: jax.Array) -> jax.Array:
        x = x - x.mean(-1, keepdims=True)
        return x * lax.rsqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-5)

    def block(x: jax.Array, p: dict[str, jax.Array]) -> jax.Array:
        split = (sequences, length, 3, heads, width // heads)
        qkv = (norm(x) @ p["qkv"]).reshape(split)
        q, k, v = qkv.transpose(2, 0, 3, 1, 4)
        scores = jnp.einsum("bhtd,bhsd->bhts", q, k) / math.sqrt(width // heads)
        scores = jnp.where(jnp.tri(length, dtype=bool), scores, -1e30)
        mixed = jnp.einsum("bhts,bhsd->bthd", jax.nn.softmax(scores, -1), v)
        x = x + mixed.reshape(x.shape) @ p["project"]
        hidden = checkpoint_name(norm(x) @ p["up"] + p["bias"], "hidden")
        return x + jax.nn.gelu(hidden) @ p["down"]

    def loss(parameters: list, batch: tuple) -> jax.Array:
        x, y = batch
        return jnp.mean((norm(loop(block, x, parameters[0])) - y) ** 2)

    blocks = {
        "qkv": normal(layers, width, 3 * width, scale=1 / 8),
        "project": normal(layers, width, width, scale=1 / 8),
        "up": normal(layers, width, 2 * width, scale=1 / 8),
        "bias": normal(layers, 2 * width, scale=1 / 8),
        "down": normal(layers, 2 * width, width, scale=1 / 8),
    }
    shape = (sequences, length, width)
    return Problem(loss, [blocks], (normal(*shape), normal(*shape)))


def lstm(loop: Loop) -> Problem:
    """A long short-term memory over eight steps; its weights are captured."""
    normal = _normals(2)

    def loss(parameters: list, batch: tuple) -> jax.Array:
        xs, y = batch
        zero = jnp.zeros(xs.shape[1:])
        cell = functools.partial(_lstm_cell, parameters[:3])
        hidden, _ = loop(cell, (zero, zero), xs)
        return jnp.mean((hidden @ parameters[3] - y) ** 2)

    parameters = [
        normal(64, 256, scale=1 / 8),
        normal(64, 256, scale=1 / 8),
        normal(256),
        normal(64, 16),
    ]
    return Problem(loss, parameters, (normal(8, 256, 64), normal(256, 16)))


def linear_attention(loop: Loop) -> Problem:
    """A decaying state of outer products carried over twelve steps."""
    normal = _normals(3)
    heads, size = 4, 32

    def loss(parameters: list, batch: tuple) -> jax.Array:
        projection, decay = parameters
        x, y = batch
        split = (*x.shape[:2], 3, heads, size)
        qkv = (x @ projection).reshape(split).transpose(2, 0, 1, 3, 4)
        keep = jax.nn.sigmoid(decay)[:, None, None]

        def step(state: tuple, at: tuple) -> tuple:
            memory, total = state
            (q, k, v), target = at
            memory = keep * memory + k[..., :, None] * v[..., None, :]
            out = jnp.einsum("bhi,bhij->bhj", q, memory) / size
            return memory, total + jnp.mean((out - target) ** 2)

        zero = jnp.zeros((x.shape[1], heads, size, size)), jnp.float32(0)
        return loop(step, zero, (tuple(qkv), y))[1] / len(x)

    parameters = [normal(64, 3 * heads * size, scale=1 / 8), normal(heads)]
    return Problem(loss, parameters, (normal(12, 4, 64), normal(12, 4, heads, size)))


def vae(loop: Loop) -> Problem:
    """Encoder and decoder of four layers each around a random code."""
    normal = _normals(4)

    def loss(parameters: list, batch: tuple) -> jax.Array:
        encoder, to_code, decoder = parameters
        x, key = batch
        mean, spread = jnp.split(loop(_layer, x, encoder) @ to_code, 2, -1)
        noise = jax.random.normal(key, mean.shape)
        decoded = loop(_layer, mean + jnp.exp(spread / 2) * noise, decoder)
        divergence = jnp.mean(mean**2 + jnp.exp(spread) - spread)
        return jnp.mean((decoded - x) ** 2) + 0.1 * divergence

    def layers() -> tuple[jax.Array, jax.Array]:
        return normal(4, 64, 64, scale=1 / 8), normal(4, 64)

    parameters = [layers(), normal(64, 128, scale=1 / 16), layers()]
    return Problem(loss, parameters, (normal(256, 64), jax.random.key(5)))


# Steps that are no base in a loop


def dropout(key: jax.Array) -> Step:
    """Dropout in each of eight scanned layers; the key is an argument."""
    problem = mlp(scan)

    def loss(parameters: list, batch: tuple, key: jax.Array) -> jax.Array:
        x, y = batch

        def layer(x: jax.Array, at: tuple) -> jax.Array:
            weights, key = at
            keep = jax.random.bernoulli(key, 0.9, x.shape)
            return _layer(jnp.where(keep, x / 0.9, 0), weights)

        x = scan(layer, x, (tuple(parameters), jax.random.split(key, 8)))
        return jnp.mean((x - y) ** 2)

    return Step(jax.value_and_grad(loss), (*problem.arguments, key))


def carried_key() -> Step:
    """Noise from a key that the loop carries and the step returns."""
    problem = mlp(scan)

    def loss(parameters: list, batch: tuple, key: jax.Array) -> tuple:
        x, y = batch

        def layer(state: tuple, weights: tuple) -> tuple:
            x, key = state
            key, use = jax.random.split(key)
            noise = jax.random.normal(use, x.shape)
            return _layer(x, weights) * (1 + 0.1 * noise), key

        x, key = scan(layer, (x, key), tuple(parameters))
        return jnp.mean((x - y) ** 2), key

    arguments = (*problem.arguments, jax.random.key(6))
    return Step(jax.value_and_grad(loss, has_aux=True), arguments)


def recurrent_outputs(reverse: bool) -> Step:
    """Returns the hidden states of a scan, which backward reads as well."""
    normal = _normals(7)

    def loss(parameters: list, batch: tuple) -> tuple:
        xs, y = batch

        def cell(hidden: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
            hidden = jnp.tanh(x @ parameters[0] + hidden @ parameters[1])
            return hidden, hidden

        zero = jnp.zeros(xs.shape[1:])
        last, states = lax.scan(cell, zero, xs, reverse=reverse)
        return jnp.mean((last - y) ** 2) + jnp.mean(states**2), states

    parameters = [normal(64, 64, scale=1 / 8), normal(64, 64, scale=1 / 8)]
    problem = Problem(loss, parameters, (normal(8, 256, 64), normal(256, 64)))
    return gradient_step(problem, has_aux=True)


def layers_over_time() -> Step:
    """Two scanned layers, each a scan over time that returns the sequence."""
    normal = _normals(8)

    def loss(parameters: list, batch: tuple) -> jax.Array:
        xs, y = batch

        def layer(xs: jax.Array, weights: tuple) -> tuple[jax.Array, None]:
            def cell(state: tuple, x: jax.Array) -> tuple[tuple, jax.Array]:
                state = _lstm_cell(weights, state, x)
                return state, state[0]

            zero = jnp.zeros(xs.shape[1:])
            return lax.scan(cell, (zero, zero), xs)[1], None

        return jnp.mean((lax.scan(layer, xs, tuple(parameters))[0][-1] - y) ** 2)

    parameters = [
        normal(2, 64, 256, scale=1 / 8),
        normal(2, 64, 256, scale=1 / 8),
        normal(2, 256),
    ]
    return gradient_step(Problem(loss, parameters, (normal(4, 256, 64), normal(64))))


def forward_then_reverse(differentiate: bool) -> Step:
    """A reverse scan over the results of a scan, both part of forward.

    Args:
        differentiate: whether the gradient flows through the second scan.
    """
    normal = _normals(9)

    def loss(parameters: list, batch: tuple) -> tuple:
        first, second, head = parameters
        xs, y = batch

        def filtered(hidden: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
            hidden = jnp.tanh(x + hidden @ first)
            return hidden, hidden

        def smoothed(hidden: jax.Array, x: jax.Array) -> tuple[jax.Array, jax.Array]:
            hidden = jnp.tanh(hidden @ second) * jnp.cos(x)
            return hidden, hidden

        zero = jnp.zeros(xs.shape[1:])
        _, states = lax.scan(filtered, zero, xs)
        read = states if differentiate else lax.stop_gradient(states)
        last, both = lax.scan(smoothed, zero, read, reverse=True)
        error = jnp.mean((states @ head - both @ head + last - y) ** 2)
        return error, jnp.mean(both, (1, 2))

    parameters = [
        normal(64, 64, scale=1 / 8),
        normal(64, 64, scale=1 / 8),
        normal(64, 64, scale=1 / 8),
    ]
    problem = Problem(loss, parameters, (normal(6, 256, 64), normal(256, 64)))
    return gradient_step(problem, has_aux=True)


def mapped() -> Step:
    """Loss of four parts of a batch one after another, with `lax.map`."""
    problem = mlp(unrolled)

    def loss(parameters: list, batch: tuple) -> jax.Array:
        losses = lax.map(functools.partial(problem.loss, parameters), batch)
        return losses.mean()

    return gradient_step(Problem(loss, problem.parameters, _several(problem.batch, 4)))


def accumulated(base: Base, loop: Loop, count: int) -> Step:
    """The mean gradient of several micro-batches, in a scan around all of it."""
    problem = base(loop)

    def step(parameters: list, batches: tuple) -> tuple:
        def add(total: tuple, batch: tuple) -> tuple:
            results = jax.value_and_grad(problem.loss)(parameters, batch)
            return jax.tree.map(jnp.add, total, results)

        zero = jnp.float32(0), jax.tree.map(jnp.zeros_like, parameters)
        total = scan(add, zero, batches)
        return jax.tree.map(lambda leaf: leaf / count, total)

    return Step(step, (problem.parameters, _several(problem.batch, count)))


def descent(loop: Loop) -> Step:
    """Three steps of gradient descent in a loop; returns the first loss."""
    problem = mlp(scan)

    def step(parameters: list, batches: tuple) -> tuple:
        def update(state: tuple, batch: tuple) -> tuple:
            parameters, first, count = state
            loss, gradients = jax.value_and_grad(problem.loss)(parameters, batch)
            parameters = jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)
            return parameters, jnp.where(count == 0, loss, first), count + 1

        start = parameters, jnp.float32(0), jnp.int32(0)
        parameters, first, _ = loop(update, start, batches)
        return first, parameters

    return Step(step, (problem.parameters, _several(problem.batch, 3)))


def custom_residual(dtype: Any) -> Step:
    """Layers whose own differentiation rule keeps the result as int8 or fp8."""
    scale = 127 if dtype == jnp.int8 else 1

    @jax.custom_vjp
    def tanh(x: jax.Array) -> jax.Array:
        return jnp.tanh(x)

    def forward(x: jax.Array) -> tuple[jax.Array, jax.Array]:
        y = jnp.tanh(x)
        kept = jnp.round(y * scale) if scale > 1 else y
        return y, kept.astype(dtype)

    def backward(kept: jax.Array, gradient: jax.Array) -> tuple[jax.Array]:
        return (gradient * (1 - (kept.astype(jnp.float32) / scale) ** 2),)

    tanh.defvjp(forward, backward)
    problem = mlp(scan)

    def loss(parameters: list, batch: tuple) -> jax.Array:
        x, y = batch
        x = scan(lambda x, p: x + tanh(x @ p[0] + p[1]), x, tuple(parameters))
        return jnp.mean((x - y) ** 2)

    return gradient_step(Problem(loss, problem.parameters, problem.batch))


def accumulated_in_python(count: int) -> Step:
    """The mean gradient of micro-batches, one scan behind another's backward."""
    problem = mlp(scan)

    def step(parameters: list, batches: tuple) -> tuple:
        results = [
            jax.value_and_grad(problem.loss)(parameters, _at(batches, number))
            for number in range(count)
        ]
        return jax.tree.map(lambda *leaves: sum(leaves) / count, *results)

    return Step(step, (problem.parameters, _several(problem.batch, count)))


def checkpointed_scans() -> Step:
    """Scans that are checkpointed as a whole, in a scan."""

    def loop(body: Body, carry: Any, xs: Any) -> Any:
        pairs = jax.tree.map(lambda leaf: leaf.reshape(-1, 2, *leaf.shape[1:]), xs)
        return scan(jax.checkpoint(functools.partial(scan, body)), carry, pairs)

    return gradient_step(mlp(loop))


def meta_gradient() -> Step:
    """The gradient through a step of gradient descent."""
    problem = mlp(scan)

    def loss(parameters: list, batch: tuple) -> jax.Array:
        gradients = jax.grad(problem.loss)(parameters, batch)
        moved = jax.tree.map(lambda p, g: p - 0.1 * g, parameters, gradients)
        return problem.loss(moved, batch)

    return gradient_step(Problem(loss, problem.parameters, problem.batch))


def hessian_product() -> Step:
    """The derivative of the gradient along a direction, besides the gradient."""
    problem = mlp(scan)

    def step(parameters: list, batch: tuple, direction: list) -> tuple:
        (loss, gradients), (_, product) = jax.jvp(
            lambda parameters: jax.value_and_grad(problem.loss)(parameters, batch),
            (parameters,),
            (direction,),
        )
        return loss, gradients, product

    direction = jax.tree.map(jnp.cos, problem.parameters)
    return Step(step, (*problem.arguments, direction))


def scanned_rule() -> Step:
    """Attention by parts with a differentiation rule that scans as well."""
    normal = _normals(10)

    @jax.custom_vjp
    def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        return forward(q, k, v)[0]

    def weights(q: jax.Array, k: jax.Array) -> jax.Array:
        return jax.nn.softmax(q @ k.T / 8, -1)

    def forward(q: jax.Array, k: jax.Array, v: jax.Array) -> tuple:
        parts = q.reshape(4, -1, q.shape[-1])
        return lax.map(lambda q: weights(q, k) @ v, parts).reshape(q.shape), (q, k, v)

    def backward(kept: tuple, gradient: jax.Array) -> tuple:
        q, k, v = kept
        parts = tuple(x.reshape(4, -1, x.shape[-1]) for x in (q, gradient))

        def part(sums: tuple, at: tuple) -> tuple[tuple, jax.Array]:
            q, gradient = at
            w = weights(q, k)
            down = gradient @ v.T
            scores = w * (down - jnp.sum(w * down, -1, keepdims=True)) / 8
            return (sums[0] + scores.T @ q, sums[1] + w.T @ gradient), scores @ k

        zero = jnp.zeros_like(k), jnp.zeros_like(v)
        (for_k, for_v), for_q = lax.scan(part, zero, parts)
        return for_q.reshape(q.shape), for_k, for_v

    attend.defvjp(forward, backward)

    def loss(parameters: jax.Array, batch: tuple) -> jax.Array:
        x, y = batch
        x = scan(lambda x, w: x + attend(x @ w[0], x @ w[1], x @ w[2]), x, parameters)
        return jnp.mean((x - y) ** 2)

    batch = normal(256, 64), normal(256, 64)
    return gradient_step(Problem(loss, normal(4, 3, 64, 64, scale=1 / 8), batch))


def normalised_memory() -> Step:
    """A decaying mean with exponential weights: numerator and denominator carried."""
    normal = _normals(11)

    def loss(parameters: list, batch: tuple) -> jax.Array:
        *projections, decay = parameters
        xs, y = batch

        def step(state: tuple, at: tuple) -> tuple[tuple, jax.Array]:
            total, divisor = state
            key, value = at
            weight = jnp.exp(key)
            total = decay * total + weight * value
            divisor = decay * divisor + weight
            return (total, divisor), total / divisor

        zero = jnp.zeros(xs.shape[1:])
        keys_and_values = tuple(xs @ p for p in projections)
        _, means = lax.scan(step, (zero, zero), keys_and_values)
        return jnp.mean((means - y) ** 2)

    parameters = [normal(64, 64, scale=1 / 8), normal(64, 64, scale=1 / 8)]
    parameters.append(jax.nn.sigmoid(normal(64)))
    batch = normal(8, 256, 64), normal(8, 256, 64)
    return gradient_step(Problem(loss, parameters, batch))


def complex_state() -> Step:
    """A rotating complex state, as in linear recurrent units."""
    normal = _normals(12)

    def loss(angles: jax.Array, batch: tuple) -> jax.Array:
        xs, y = batch

        def rotate(state: jax.Array, x: jax.Array) -> jax.Array:
            return state * (0.9 * jnp.exp(1j * angles)) + x

        zero = jnp.zeros(xs.shape[1:], jnp.complex64)
        return jnp.mean((jnp.real(scan(rotate, zero, xs)) - y) ** 2)

    return gradient_step(Problem(loss, normal(64), (normal(8, 256, 64), normal(64))))


def short_floats() -> Step:
    """Layers in bf16."""
    step = gradient_step(mlp(scan, jnp.bfloat16))
    return dataclasses.replace(step, short_floats=True)


# Parts


def _layer(x: jax.Array, weights: tuple[jax.Array, jax.Array]) -> jax.Array:
    weight, bias = weights
    hidden = checkpoint_name(x @ weight + bias, "hidden")
    return x + jnp.tanh(hidden)


def _lstm_cell(weights: Any, state: tuple, x: jax.Array) -> tuple[jax.Array, jax.Array]:
    from_input, from_hidden, bias = weights
    hidden, memory = state
    gates = x @ from_input + hidden @ from_hidden + bias
    put, forget, update, emit = jnp.split(gates, 4, -1)
    memory = jax.nn.sigmoid(forget + 1) * memory + jax.nn.sigmoid(put) * jnp.tanh(
        update
    )
    return jax.nn.sigmoid(emit) * jnp.tanh(memory), memory


def _normals(seed: int, dtype: Any = jnp.float32) -> Callable[..., jax.Array]:
    """Returns a function that makes arrays of a shape, each different."""
    generator = np.random.default_rng(seed)

    def normal(*shape: int, scale: float = 1.0) -> jax.Array:
        return jnp.asarray(scale * generator.standard_normal(shape), dtype)

    return normal


def _several(batch: tuple, count: int) -> tuple:
    """Stacks different versions of a batch of floats."""
    factors = 1 - 0.1 * np.arange(count)
    return jax.tree.map(
        lambda leaf: jnp.asarray(np.multiply.outer(factors, leaf), leaf.dtype), batch
    )


def _length(xs: Any) -> int:
    return len(jax.tree.leaves(xs)[0])


def _at(xs: Any, number: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf[number], xs)


BASES: dict[str, Base] = {
    "mlp": mlp,
    "transformer": transformer,
    "lstm": lstm,
    "linear_attention": linear_attention,
    "vae": vae,
}

POLICIES: dict[str, Callable] = {
    "nothing": policies.nothing_saveable,
    "everything": policies.everything_saveable,
    "dots": policies.dots_saveable,
    "dots_no_batch": policies.dots_with_no_batch_dims_saveable,
    "only_named": policies.save_only_these_names("hidden"),
    "all_but_named": policies.save_anything_except_these_names("hidden"),
    "offload_named": policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[],
        names_which_can_be_offloaded=["hidden"],
        offload_src="device",
        offload_dst="pinned_host",
    ),
    "offload_dots": policies.offload_dot_with_no_batch_dims("device", "pinned_host"),
}

LOOPS: dict[str, Loop] = {
    "scan": scan,
    "reverse": functools.partial(scan, reverse=True),
    "unroll2": functools.partial(scan, unroll=2),
    # Eight is no multiple: the rest runs behind the loop.
    "unroll3": functools.partial(scan, unroll=3),
    "fori": fori,
    "nested": nested,
    "sequential": sequential,
    "jitted": jitted,
    "counted": counted,
    "conditional": conditional,
    "fenced": fenced,
    **{
        f"checkpoint_{name}": functools.partial(checkpointed, policy)
        for name, policy in POLICIES.items()
    },
}

SPECIAL: dict[str, Callable[[], Step]] = {
    "dropout": lambda: dropout(jax.random.key(0)),
    "dropout_raw_key": lambda: dropout(jax.random.PRNGKey(0)),
    "dropout_rbg": lambda: dropout(jax.random.key(0, impl="rbg")),
    "carried_key": carried_key,
    "outputs": lambda: recurrent_outputs(False),
    "outputs_reverse": lambda: recurrent_outputs(True),
    "layers_over_time": layers_over_time,
    "forward_then_reverse": lambda: forward_then_reverse(True),
    "forward_then_reverse_constant": lambda: forward_then_reverse(False),
    "map": mapped,
    "accumulate_scan": lambda: accumulated(transformer, scan, 2),
    "accumulate_unrolled": lambda: accumulated(mlp, unrolled, 3),
    "accumulate_lstm": lambda: accumulated(lstm, scan, 3),
    "accumulate_python": lambda: accumulated_in_python(2),
    "descent_scan": lambda: descent(scan),
    "descent_fori": lambda: descent(fori),
    "meta_gradient": meta_gradient,
    "hessian_product": hessian_product,
    "scanned_rule": scanned_rule,
    "normalised_memory": normalised_memory,
    "complex_state": complex_state,
    "checkpointed_scans": checkpointed_scans,
    "int8_residual": lambda: custom_residual(jnp.int8),
    "fp8_residual": lambda: custom_residual(jnp.float8_e4m3fn),
    "bf16": short_floats,
}


#: Loops to cross each base with.
CROSSED = {
    "mlp": (
        "scan reverse unroll2 unroll3 nested sequential jitted counted conditional "
        "fenced checkpoint_everything checkpoint_dots checkpoint_only_named "
        "checkpoint_all_but_named checkpoint_offload_named checkpoint_offload_dots"
    ),
    "transformer": (
        "scan unroll2 fori jitted checkpoint_nothing checkpoint_dots_no_batch"
    ),
    "lstm": "scan reverse unroll3 nested counted checkpoint_nothing",
    "linear_attention": "scan reverse unroll2 nested conditional",
    "vae": "scan fori fenced",
}


def cross(base: str, loop: str) -> Step:
    """Returns the step of a base with a way to loop."""
    return gradient_step(BASES[base](LOOPS[loop]))


#: Variants for which 4 bits need not spare a tenth of the memory. Stacks that are
#: joined with the rest of a partly unrolled loop are left alone; of a checkpointed
#: block nothing but its argument is saved.
NOT_SMALLER = frozenset({"mlp-unroll3", "transformer-checkpoint_nothing"})

#: Variants that may take more memory than the original, by factor: where little is
#: saved, it matters what XLA fuses.
LARGER = {
    "transformer-checkpoint_nothing": 1.2,
    "transformer-checkpoint_dots_no_batch": 1.25,
    "meta_gradient": 1.15,
}

#: Variants whose primal results are bit-identical in code that is not optimized
#: only: XLA contracts products and sums differently, see docs/Python.md.
CONTRACTED: frozenset[str] = frozenset()

#: Variants that take long.
SLOW = frozenset(
    {
        "accumulate_scan",
        "dropout_raw_key",
        "dropout_rbg",
        "linear_attention-nested",
        "linear_attention-unroll2",
        "lstm-unroll3",
        "transformer-checkpoint_dots_no_batch",
        "transformer-fori",
        "transformer-jitted",
        "transformer-unroll2",
        "vae-fenced",
        "vae-fori",
    }
)

VARIANTS: dict[str, Callable[[], Step]] = {
    f"{base}-{loop}": functools.partial(cross, base, loop)
    for base, loops in CROSSED.items()
    for loop in loops.split()
} | SPECIAL
