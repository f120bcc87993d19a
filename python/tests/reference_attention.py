# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Causal linear attention and its gradients token by token, in NumPy and float64.

As the text of `act.linear_attention` has it. The recurrence of gradients is that of
the states backwards; that of the decay is taken from G_t and S_{t-1} directly, not
from the sums over later tokens that act uses.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Case:
    """An attention: sizes as in `act.linear_attention`, and attributes."""

    length: int = 33
    batch: int = 2
    heads: tuple[int, int, int] = (2, 2, 2)  # of queries, keys, values
    row: int = 5
    value: int = 3
    feature_map: str = "elu_plus_one"
    directions: int = 0  # M with favor_plus
    decay: str = "none"
    normalize: bool = True
    scale: float = 1.0
    epsilon: float = 0.0
    chunk: int = 0
    state_policy: str = "rescan"
    segment: int = 0
    subtract: bool = False
    dtype: str = "f32"

    @property
    def features(self) -> int:
        """M."""
        return self.directions or self.row

    @property
    def state_heads(self) -> int:
        """Hs."""
        return max(self.heads[1:])

    @property
    def decay_shape(self) -> tuple[int, ...] | None:
        """The shape of the decay."""
        s = self.state_heads
        return {
            "none": None,
            "head": (s,),
            "token": (self.batch, self.length, s),
            "channel": (self.batch, self.length, s, self.features),
        }[self.decay]

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of all tensors that there are, by name."""
        b, t, (q, k, v) = self.batch, self.length, self.heads
        h, s = max(self.heads), self.state_heads
        shapes = {
            "query": (b, t, q, self.row),
            "key": (b, t, k, self.row),
            "value": (b, t, v, self.value),
            "decay": self.decay_shape,
            "features": (self.features, self.row) if self.directions else None,
            "output": (b, t, h, self.value),
            "denominator": (b, t, h) if self.normalize else None,
            "state": (b, s, self.features, self.value),
            "key_sum": (b, s, self.features) if self.normalize else None,
        }
        return {name: shape for name, shape in shapes.items() if shape is not None}


Tensors = dict[str, np.ndarray]


def _features(case: Case, rows: np.ndarray, w: np.ndarray | None) -> np.ndarray:
    match case.feature_map:
        case "identity":
            return rows
        case "relu":
            return np.maximum(rows, 0)
        case "elu_plus_one":
            return np.where(rows > 0, rows + 1, np.exp(np.minimum(rows, 0)))
        case "square":
            return rows**2
        case "exp":
            return np.exp(rows)
        case "favor_plus":
            norm = np.sum(rows**2, -1, keepdims=True) / 2
            return np.exp(rows @ w.T - norm) / np.sqrt(len(w))
    raise ValueError(case.feature_map)


def _row_gradient(
    case: Case, rows: np.ndarray, w: np.ndarray | None, gradient: np.ndarray
) -> np.ndarray:
    features = _features(case, rows, w)
    match case.feature_map:
        case "identity":
            return gradient
        case "relu":
            return gradient * (rows > 0)
        case "elu_plus_one":
            return gradient * np.where(rows > 0, 1, features)
        case "square":
            return 2 * gradient * rows
        case "exp":
            return gradient * features
        case "favor_plus":
            logarithms = gradient * features
            return logarithms @ w - logarithms.sum(-1, keepdims=True) * rows
    raise ValueError(case.feature_map)


def _repeat(x: np.ndarray, heads: int) -> np.ndarray:
    return np.repeat(x, heads // x.shape[2], axis=2)


def _fold(x: np.ndarray, heads: int) -> np.ndarray:
    """Adds up what `_repeat` repeats."""
    shape = (*x.shape[:2], heads, x.shape[2] // heads, *x.shape[3:])
    return x.reshape(shape).sum(3)


def _factors(case: Case, decay: np.ndarray | None) -> np.ndarray:
    """exp(decay) for each token, head and feature."""
    shape = (case.batch, case.length, case.state_heads, case.features)
    if decay is None:
        return np.ones(shape)
    if case.decay == "head":
        decay = decay[None, None, :, None]
    elif case.decay == "token":
        decay = decay[..., None]
    return np.exp(np.broadcast_to(decay, shape))


def _augmented(case: Case, tensors: Tensors) -> tuple[np.ndarray, np.ndarray]:
    """Initial [S, z] and values [v, 1]."""
    value = _repeat(tensors["value"], case.state_heads)
    ones = np.ones((*value.shape[:3], 1))
    z = tensors["key_sum"] if case.normalize else np.zeros(tensors["state"].shape[:3])
    return (
        np.concatenate([tensors["state"], z[..., None]], -1),
        np.concatenate([value, ones], -1),
    )


def states(case: Case, tensors: Tensors) -> np.ndarray:
    """[S, z] before each token and after the last: [T + 1, B, Hs, M, D + 1]."""
    state, value = _augmented(case, tensors)
    key = _features(case, tensors["key"], tensors.get("features"))
    key = _repeat(key, case.state_heads)
    factors = _factors(case, tensors.get("decay"))
    all_states = [state]
    for t in range(case.length):
        added = key[:, t, :, :, None] * value[:, t, :, None, :]
        state = factors[:, t, :, :, None] * state + added
        all_states.append(state)
    return np.stack(all_states)


def forward(case: Case, tensors: Tensors) -> Tensors:
    """o, d, S and z."""
    history = states(case, tensors)
    heads = max(case.heads)
    query = _features(case, tensors["query"], tensors.get("features"))
    query = case.scale * _repeat(query, heads)
    seen = np.moveaxis(history[1:], 0, 1)  # [B, T, Hs, M, D + 1]
    seen = _repeat(seen, heads)
    sums = np.einsum("bthm,bthmd->bthd", query, seen)
    output, denominator = sums[..., :-1], sums[..., -1] + case.epsilon
    results = {"output": output, "state": history[-1][..., :-1]}
    if case.normalize:
        results["output"] = output / denominator[..., None]
        results["denominator"] = denominator
        results["key_sum"] = history[-1][..., -1]
    return results


def gradients(case: Case, tensors: Tensors, cotangents: Tensors) -> Tensors:
    """Gradients of the inputs from those of `output`, `state` and `key_sum`."""
    history = states(case, tensors)
    results = forward(case, tensors)
    heads, w = max(case.heads), tensors.get("features")
    raw_query = _features(case, tensors["query"], w)
    raw_key = _features(case, tensors["key"], w)
    query = case.scale * _repeat(raw_query, heads)
    key = _repeat(raw_key, case.state_heads)
    _, value = _augmented(case, tensors)
    factors = _factors(case, tensors.get("decay"))
    given = cotangents["output"]
    of_sums = np.concatenate([given, np.zeros((*given.shape[:3], 1))], -1)
    if case.normalize:
        d = results["denominator"][..., None]
        of_d = -np.sum(given * results["output"], -1, keepdims=True) / d
        of_sums = np.concatenate([given / d, of_d], -1)

    z = (
        cotangents["key_sum"]
        if case.normalize
        else np.zeros(key.shape[:1] + key.shape[2:])
    )
    g = np.concatenate([cotangents["state"], z[..., None]], -1)
    dq = np.zeros((case.batch, case.length, heads, case.features))
    dk, da = np.zeros_like(key), np.zeros_like(factors)
    dv = np.zeros((*key.shape[:3], case.value))
    group = heads // case.state_heads
    for t in reversed(range(case.length)):
        state = np.repeat(history[t + 1], group, axis=1)
        dq[:, t] = np.einsum("bhmd,bhd->bhm", state, of_sums[:, t])
        added = query[:, t, :, :, None] * of_sums[:, t, :, None, :]
        g = g + added.reshape(
            case.batch, case.state_heads, group, *added.shape[2:]
        ).sum(2)
        dk[:, t] = np.einsum("bhmd,bhd->bhm", g, value[:, t])
        dv[:, t] = np.einsum("bhmd,bhm->bhd", g, key[:, t])[..., :-1]
        da[:, t] = factors[:, t] * np.einsum("bhmd,bhmd->bhm", g, history[t])
        g = factors[:, t, :, :, None] * g
    found = {
        "query": _row_gradient(
            case, tensors["query"], w, case.scale * _fold(dq, case.heads[0])
        ),
        "key": _row_gradient(case, tensors["key"], w, _fold(dk, case.heads[1])),
        "value": _fold(dv, case.heads[2]),
        "state": g[..., :-1],
    }
    if case.decay != "none":
        axes = {"head": (0, 1, 3), "token": (3,), "channel": ()}[case.decay]
        found["decay"] = da.sum(axes) if axes else da
    if case.normalize:
        found["key_sum"] = g[..., -1]
    return found
