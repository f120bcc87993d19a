# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Linear attention in numpy and float64, token by token: what act is compared with.

Arrays and options are those of `act.linear_attention`, always with a batch.
"""

import dataclasses
from typing import Any

import numpy as np


@dataclasses.dataclass(frozen=True)
class Case:
    """Arguments of an attention, and of its gradient.

    Attributes:
        arrays: q, k, v and, if present, decay, features, S and z.
        options: feature_map, scale, normalize and epsilon.
        d_o: gradient of the output.
        d_state: gradients of the final S and z.
    """

    arrays: dict[str, np.ndarray]
    options: dict[str, Any]
    d_o: np.ndarray
    d_state: tuple[np.ndarray, ...]

    @property
    def normalize(self) -> bool:
        """Whether outputs are divided by the sum of weights."""
        return self.options.get("normalize", True)


def make_case(
    length: int,
    *,
    batch: int = 2,
    heads: tuple[int, int, int] = (2, 2, 2),
    dim: int = 5,
    value_dim: int = 3,
    feature_map: str = "elu_plus_one",
    num_features: int = 7,
    decay: str = "none",
    normalize: bool = True,
    scale: float = 0.7,
    epsilon: float = 1e-6,
    with_state: bool = False,
    seed: int = 0,
) -> Case:
    """Draws arguments; decays are about -0.1, some are -1e4 and -inf."""
    random = np.random.default_rng(seed)
    normal = random.standard_normal
    q_heads, k_heads, v_heads = heads
    state_heads, most = max(heads[1:]), max(heads)
    features = num_features if feature_map == "favor_plus" else dim
    arrays = {
        "q": normal((batch, length, q_heads, dim)) * 0.5,
        "k": normal((batch, length, k_heads, dim)) * 0.5,
        "v": normal((batch, length, v_heads, value_dim)),
    }
    if not normalize or feature_map in ("elu_plus_one", "exp", "favor_plus"):
        pass
    else:  # keep denominators away from zero
        arrays["q"], arrays["k"] = abs(arrays["q"]) + 0.1, abs(arrays["k"]) + 0.1
    if feature_map == "favor_plus":
        arrays["features"] = normal((features, dim))
    if decay != "none":
        shape = {
            "head": (state_heads,),
            "token": (batch, length, state_heads),
            "channel": (batch, length, state_heads, features),
        }[decay]
        arrays["decay"] = -0.1 * random.exponential(size=shape)
        if decay != "head":
            # Not the first token: the state before it would not count.
            arrays["decay"][:, length // 2 + 1 : length // 2 + 2] = -1e4
            arrays["decay"][:, length // 3 + 1 : length // 3 + 2] = -np.inf
    if with_state:
        arrays["S"] = normal((batch, state_heads, features, value_dim))
        if normalize:
            arrays["z"] = abs(normal((batch, state_heads, features))) + 0.5
    d_state = [normal((batch, state_heads, features, value_dim))]
    if normalize:
        d_state.append(normal((batch, state_heads, features)))
    options = {"feature_map": feature_map, "scale": scale, "normalize": normalize}
    if normalize:
        options["epsilon"] = epsilon
    return Case(
        arrays, options, normal((batch, length, most, value_dim)), tuple(d_state)
    )


def apply_map(case: Case, x: np.ndarray) -> np.ndarray:
    """Returns the features of rows."""
    match case.options["feature_map"]:
        case "identity":
            return x
        case "relu":
            return np.maximum(x, 0)
        case "elu_plus_one":
            return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))
        case "square":
            return x * x
        case "exp":
            return np.exp(x)
    w = case.arrays["features"]
    exponents = x @ w.T - (x * x).sum(-1, keepdims=True) / 2
    return np.exp(exponents) / np.sqrt(len(w))


def pull_back(case: Case, x: np.ndarray, d_features: np.ndarray) -> np.ndarray:
    """Returns the gradient of rows from that of their features."""
    match case.options["feature_map"]:
        case "identity":
            return d_features
        case "relu":
            return np.where(x > 0, d_features, 0)
        case "elu_plus_one":
            return np.where(x > 0, d_features, np.exp(np.minimum(x, 0)) * d_features)
        case "square":
            return 2 * x * d_features
        case "exp":
            return np.exp(x) * d_features
    weighted = apply_map(case, x) * d_features
    return weighted @ case.arrays["features"] - x * weighted.sum(-1, keepdims=True)


def _spread(array: np.ndarray, heads: int, axis: int = 2) -> np.ndarray:
    """Repeats heads up to their greatest number."""
    return np.repeat(array, heads // array.shape[axis], axis)


def _gather(array: np.ndarray, heads: int, axis: int = 2) -> np.ndarray:
    """Sums what was repeated."""
    shape = array.shape
    parts = (*shape[:axis], heads, shape[axis] // heads, *shape[axis + 1 :])
    return array.reshape(parts).sum(axis + 1)


def _expanded(case: Case) -> tuple[np.ndarray, ...]:
    """Returns features of q and k, v, decays and initial states of all heads."""
    arrays, heads = case.arrays, case.d_o.shape[2]
    q, k = (_spread(apply_map(case, arrays[name]), heads) for name in "qk")
    v = _spread(arrays["v"], heads)
    decay = np.zeros(k.shape)
    if "decay" in arrays:
        given = arrays["decay"]
        if given.ndim == 1:
            given = given[None, None]
        given = np.broadcast_to(
            given[..., None] if given.ndim == 3 else given,
            (*k.shape[:2], given.shape[2], k.shape[-1]),
        )
        decay = _spread(given, heads)
    sums = np.zeros((k.shape[0], heads, k.shape[-1], v.shape[-1]))
    normalizer = np.zeros(sums.shape[:3])
    if "S" in arrays:
        sums = _spread(arrays["S"], heads, 1)
    if "z" in arrays:
        normalizer = _spread(arrays["z"], heads, 1)
    return q, k, v, decay, sums, normalizer


def recurrent(case: Case) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Returns the output and the final state, computed token by token."""
    q, k, v, decay, sums, normalizer = _expanded(case)
    scale = case.options["scale"]
    outputs = []
    for t in range(q.shape[1]):
        g = np.exp(decay[:, t])
        sums = g[..., None] * sums + k[:, t, :, :, None] * v[:, t, :, None]
        normalizer = g * normalizer + k[:, t]
        n = scale * np.einsum("bhm,bhmd->bhd", q[:, t], sums)
        if case.normalize:
            d = scale * (q[:, t] * normalizer).sum(-1) + case.options["epsilon"]
            n = n / d[..., None]
        outputs.append(n)
    every = q.shape[2] // case.d_state[0].shape[1]
    state = (sums[:, ::every], normalizer[:, ::every])
    return np.stack(outputs, 1), state if case.normalize else state[:1]


def quadratic(case: Case) -> np.ndarray:
    """Returns the output from weights of all pairs of tokens, without a state."""
    q, k, v, decay, sums, normalizer = _expanded(case)
    length, scale = q.shape[1], case.options["scale"]
    outputs = []
    since = np.zeros((q.shape[0], 0, *q.shape[2:]))  # decay since token s
    since_start = np.zeros(normalizer.shape)
    for t in range(length):
        step = decay[:, t]
        since = np.concatenate(
            [since + step[:, None], np.zeros((q.shape[0], 1, *q.shape[2:]))], 1
        )
        since_start = since_start + step
        read = q[:, t] * np.exp(since_start)
        weights = np.einsum("bhm,bshm->bsh", q[:, t], k[:, : t + 1] * np.exp(since))
        n = np.einsum("bsh,bshd->bhd", weights, v[:, : t + 1])
        n = scale * (n + np.einsum("bhm,bhmd->bhd", read, sums))
        if case.normalize:
            d = weights.sum(1) + (read * normalizer).sum(-1)
            n = n / (scale * d + case.options["epsilon"])[..., None]
        outputs.append(n)
    return np.stack(outputs, 1)


def gradients(case: Case) -> dict[str, np.ndarray]:
    """Returns the gradients of <o, d_o> + <final state, d_state> by argument."""
    q, k, v, decay, sums, normalizer = _expanded(case)
    arrays, scale = case.arrays, case.options["scale"]
    heads, state_heads = q.shape[2], case.d_state[0].shape[1]
    states = [(sums, normalizer)]
    for t in range(q.shape[1]):
        g = np.exp(decay[:, t])
        sums = g[..., None] * sums + k[:, t, :, :, None] * v[:, t, :, None]
        normalizer = g * normalizer + k[:, t]
        states.append((sums, normalizer))
    # Only one of the heads that share a state passes its gradient on.
    first = (np.arange(heads) % (heads // state_heads) == 0).astype(float)
    d_sums = _spread(case.d_state[0], heads, 1) * first[:, None, None]
    d_normalizer = np.zeros(normalizer.shape)
    if case.normalize:
        d_normalizer = _spread(case.d_state[1], heads, 1) * first[:, None]
    d_q, d_k, d_v, d_decay = (np.zeros(x.shape) for x in (q, k, v, decay))
    for t in reversed(range(q.shape[1])):
        sums, normalizer = states[t + 1]
        d_n, d_d = case.d_o[:, t], np.zeros((*q.shape[:1], heads))
        if case.normalize:
            n = scale * np.einsum("bhm,bhmd->bhd", q[:, t], sums)
            d = scale * (q[:, t] * normalizer).sum(-1) + case.options["epsilon"]
            d_d = -(d_n * n).sum(-1) / d**2
            d_n = d_n / d[..., None]
        d_q[:, t] = scale * (
            np.einsum("bhmd,bhd->bhm", sums, d_n) + normalizer * d_d[..., None]
        )
        d_sums = d_sums + scale * q[:, t, :, :, None] * d_n[:, :, None]
        d_normalizer = d_normalizer + scale * q[:, t] * d_d[..., None]
        d_k[:, t] = np.einsum("bhmd,bhd->bhm", d_sums, v[:, t]) + d_normalizer
        d_v[:, t] = np.einsum("bhmd,bhm->bhd", d_sums, k[:, t])
        g = np.exp(decay[:, t])
        before, before_normalizer = states[t]
        d_decay[:, t] = g * (
            (before * d_sums).sum(-1) + before_normalizer * d_normalizer
        )
        d_sums, d_normalizer = g[..., None] * d_sums, g * d_normalizer
    result = {
        "q": pull_back(case, arrays["q"], _gather(d_q, arrays["q"].shape[2])),
        "k": pull_back(case, arrays["k"], _gather(d_k, arrays["k"].shape[2])),
        "v": _gather(d_v, arrays["v"].shape[2]),
        "S": _gather(d_sums, state_heads, 1),
        "z": _gather(d_normalizer, state_heads, 1),
    }
    if "decay" in arrays:
        d_decay = _gather(d_decay, state_heads)
        rank = arrays["decay"].ndim
        if rank < 4:
            d_decay = d_decay.sum(-1)
        result["decay"] = d_decay.sum((0, 1)) if rank == 1 else d_decay
    return {name: result[name] for name in arrays if name != "features"}
