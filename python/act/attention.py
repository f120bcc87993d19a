# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`act.linear_attention`."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from act.attention_arguments import check_arrays, make_config
from act.attention_config import Config, shape_of, sizes_of, state_dtype
from act.attention_primitives import bind, forward_p, gradient_p


class AttentionState(NamedTuple):
    """What linear attention remembers of the tokens it has seen.

    Attributes:
        sums: sum of the outer products of key features and values,
            [batch, heads, features, value dim].
        normalizer: sum of the key features, [batch, heads, features]; None without
            `normalize`.
    """

    sums: jax.Array
    normalizer: jax.Array | None = None


class _Inputs(NamedTuple):
    """Arguments that may have gradients, except features."""

    q: jax.Array
    k: jax.Array
    v: jax.Array
    decay: jax.Array | None
    features: jax.Array | None


def linear_attention(
    q: jax.Array,
    k: jax.Array,
    v: jax.Array,
    *,
    decay: jax.Array | None = None,
    feature_map: str = "elu_plus_one",
    features: jax.Array | None = None,
    scale: float = 1.0,
    normalize: bool = True,
    epsilon: float = 1e-6,
    initial_state: AttentionState | Sequence[jax.Array | None] | None = None,
    return_state: bool = False,
    chunk: int | None = None,
    state_policy: str | tuple[str, int] = "rescan",
    implementation: str | None = None,
) -> Any:
    """Computes causal linear attention, in memory linear in the length.

    For each sequence and head, with the feature map f, state (S, z) and g = exp(decay):

        S_t = g_t S_{t-1} + f(k_t) v_t^T          z_t = g_t z_{t-1} + f(k_t)
        n_t = scale S_t^T f(q_t)                  d_t = scale z_t . f(q_t) + epsilon
        o_t = n_t / d_t with `normalize`, else n_t

    (Katharopoulos et al., Transformers are RNNs, arXiv 2006.16236; with decay: gated
    linear attention, arXiv 2312.06635.) Backward keeps the arguments, the output and
    d, and runs over the tokens twice more: no state is stored per token or chunk.
    Usable under `jax.jit`, `jax.grad` (once, reverse mode), `jax.vmap`,
    `jax.lax.scan` and on arrays sharded over batch and heads.

    Sums, d and states are float32 for 16-bit and float32 arguments, else float64.

    Args:
        q: queries [batch, length, heads, dim], or [length, heads, dim]; float16,
            bfloat16, float32 or float64.
        k: keys, likewise; q, k and v may have different numbers of heads, of which
            the greatest is a multiple of the others: head h of the greatest number
            H reads head h // (H / n) of an array with n.
        v: values [batch, length, heads, value dim].
        decay: logarithm of what the state is multiplied by before each token, not
            positive, -inf to forget: [state heads] (one for all tokens),
            [batch, length, state heads] or [batch, length, state heads, features].
            There are as many state heads as heads of k or v, the greater number.
        feature_map: "identity", "relu", "elu_plus_one", "square" or "exp", element by
            element, or "favor_plus": exp(w_m . x - |x|^2 / 2) / sqrt(M) for each of
            M random features w_m, an estimate of softmax attention. For its usual
            temperature multiply q and k by dim ** -0.25 first.
        features: [M, dim] for "favor_plus", as from `act.orthogonal_features`, taken
            as constant: their gradient is zero.
        scale: factor of the products of queries and keys.
        normalize: whether to divide by d.
        epsilon: what d starts with; not used without `normalize`.
        initial_state: (S, z), or (S, None) without `normalize`, before the first
            token, as returned by an earlier call; None for zeros. S is
            [batch, state heads, features, value dim], z without the last.
        return_state: return the state after the last token too.
        chunk: how many tokens to take together, None for what suits the machine; it
            changes results by rounding only.
        state_policy: how backward gets states: "rescan" sums them up again;
            ("checkpoint", tokens) keeps one per that many tokens; "reverse" subtracts
            from the last one, which is less accurate, and goes without decay only.
        implementation: "native" for the CPU kernels of act, "loop" for StableHLO,
            which runs anywhere, None for the kernels where they can be used. In
            steps that act rewrites None and "native" are the same.

    Returns:
        The output [batch, length, heads, value dim] in the type of q, with
        `return_state` a tuple of it and an `AttentionState`.

    Raises:
        ActOptionError: an argument has a wrong value, shape or element type.
        ActToolError: there is no native kernel for this and act-opt, which writes
            the loop, is missing or failed.
    """
    config = make_config(
        feature_map, scale, normalize, epsilon, chunk, state_policy, implementation
    )
    inputs = _Inputs(*map(_as_array, (q, k, v, decay, features)))
    if isinstance(initial_state, tuple | list):
        initial_state = tuple(map(_as_array, initial_state))
    config, is_batched = check_arrays(config, inputs._asdict(), initial_state)
    state = None if initial_state is None else AttentionState(*initial_state)
    if not is_batched:
        inputs = inputs._replace(**_add_batch(config, inputs))
        state = jax.tree.map(lambda part: part[None], state)
    inputs = _cast(inputs)
    if state is not None:
        state = _cast_state(config, state, inputs.q.dtype)
    output, final = _attend(config, inputs, state)
    if not is_batched:
        # Not by indexing, whose gradient fills an array.
        squeeze = functools.partial(jnp.squeeze, axis=0)
        output, final = squeeze(output), jax.tree.map(squeeze, final)
    return (output, final) if return_state else output


def _as_array(value: Any) -> Any:
    """Gives numpy arrays the element types that JAX has for them."""
    return jnp.asarray(value) if hasattr(value, "dtype") else value


def _add_batch(config: Config, inputs: _Inputs) -> dict[str, jax.Array]:
    """Returns the inputs with a batch, which an unbatched call leaves out."""
    return {
        name: getattr(inputs, name)[None]
        for name in config.inputs
        if config.dimensions(name)[0] == "B"
    }


def _cast(inputs: _Inputs) -> _Inputs:
    """Gives decay and features the element types that the primitives need."""
    dtype = inputs.q.dtype
    decay, features = inputs.decay, inputs.features
    return inputs._replace(
        decay=None if decay is None else decay.astype(state_dtype(dtype)),
        features=None if features is None else features.astype(dtype),
    )


def _cast_state(config: Config, state: AttentionState, dtype: Any) -> AttentionState:
    parts = [getattr(state, n).astype(state_dtype(dtype)) for n in config.state]
    return AttentionState(*parts)


def _zeros(config: Config, inputs: _Inputs) -> AttentionState:
    """Returns the state before any token, on the devices of the inputs."""
    shapes = {name: getattr(inputs, name).shape for name in config.inputs}
    sizes = sizes_of(config, shapes)
    dtype = state_dtype(inputs.q.dtype)
    return AttentionState(
        *(
            jax.lax.full_like(inputs.q, 0, dtype, shape_of(config, name, sizes))
            for name in config.state
        )
    )


def _forward(
    config: Config, inputs: _Inputs, state: AttentionState | None
) -> dict[str, jax.Array]:
    """Returns all results of the forward primitive by name."""
    if state is None:
        state = _zeros(config, inputs)
    return bind(forward_p, config, inputs._asdict() | state._asdict())


@functools.partial(jax.custom_vjp, nondiff_argnums=(0,))
def _attend(
    config: Config, inputs: _Inputs, state: AttentionState | None
) -> tuple[jax.Array, AttentionState]:
    """Returns output and final state, for arguments that have been checked."""
    results = _forward(config, inputs, state)
    return results["o"], AttentionState(*(results[name] for name in config.state))


def _attend_forward(
    config: Config, inputs: _Inputs, state: AttentionState | None
) -> tuple[Any, Any]:
    """Returns the results and what backward needs.

    Backward makes the zeros of an absent state itself, so that none are saved.
    """
    results = _forward(config, inputs, state)
    final = AttentionState(*(results[name] for name in config.state))
    saved = {name: results[name] for name in ("o", "d") if config.normalize}
    kept = final if config.state_policy == "reverse" else state
    return (results["o"], final), (inputs, kept, state is None, saved)


def _attend_backward(
    config: Config, residuals: Any, cotangents: Any
) -> tuple[_Inputs, AttentionState | None]:
    """Returns the gradients of inputs and initial state."""
    inputs, state, starts_empty, saved = residuals
    d_output, d_final = cotangents
    if state is None:
        state = _zeros(config, inputs)
    operands = inputs._asdict() | state._asdict() | saved | {"d_o": d_output}
    operands |= {f"d_{name}": getattr(d_final, name) for name in config.state}
    results = bind(gradient_p, config, operands)
    gradients = _Inputs(*(results.get(f"d_{name}") for name in _Inputs._fields))
    if starts_empty:
        return gradients, None
    return gradients, AttentionState(*(results[f"d_{name}"] for name in config.state))


_attend.defvjp(_attend_forward, _attend_backward)
