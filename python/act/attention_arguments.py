# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the arguments of `act.linear_attention`; every message names one."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from act.attention_config import (
    DECAY_DIMENSIONS,
    ELEMENT_TYPES,
    FEATURE_MAPS,
    IMPLEMENTATIONS,
    STATE_POLICIES,
    Config,
    shape_of,
    sizes_of,
)
from act.errors import ActOptionError

_WORDS = {
    "B": "batch",
    "T": "length",
    "q": "heads",
    "k": "heads",
    "v": "heads",
    "s": "state heads",
    "P": "dim",
    "M": "features",
    "D": "value dim",
}


def make_config(
    feature_map: Any,
    scale: Any,
    normalize: Any,
    epsilon: Any,
    chunk: Any,
    state_policy: Any,
    implementation: Any,
) -> Config:
    """Checks the options of an attention; `decay` is left to `check_arrays`.

    Raises:
        ActOptionError: one of them has a bad value.
    """
    _require_choice("feature_map", feature_map, FEATURE_MAPS)
    _require_choice("implementation", implementation, IMPLEMENTATIONS)
    if not isinstance(normalize, bool):
        raise ActOptionError(f"normalize must be True or False, got {normalize!r}")
    _require_finite("scale", scale)
    _require_finite("epsilon", epsilon)
    if epsilon < 0:
        raise ActOptionError(f"epsilon must not be negative, got {epsilon!r}")
    if chunk is not None:
        _require_positive("chunk", chunk)
    policy, segment = _policy(state_policy)
    return Config(
        feature_map=feature_map,
        scale=float(scale),
        normalize=normalize,
        epsilon=float(epsilon) if normalize else 0.0,
        chunk=chunk or 0,
        state_policy=policy,
        segment=segment,
        implementation=implementation,
    )


def _policy(state_policy: Any) -> tuple[str, int]:
    """Returns name and segment of a state policy."""
    if isinstance(state_policy, tuple) and len(state_policy) == 2:
        name, segment = state_policy
        if name == "checkpoint":
            _require_positive(
                'the tokens of state_policy=("checkpoint", tokens)', segment
            )
            return name, segment
    elif state_policy in STATE_POLICIES and state_policy != "checkpoint":
        return state_policy, 0
    raise ActOptionError(
        'state_policy must be "rescan", "reverse" or ("checkpoint", tokens), got '
        f"{state_policy!r}"
    )


def check_arrays(
    config: Config, inputs: Mapping[str, Any], initial_state: Any
) -> tuple[Config, bool]:
    """Checks shapes and element types.

    Args:
        config: with the options.
        inputs: q, k, v, decay and features, the latter None if absent.
        initial_state: parts of the initial state, or None.

    Returns:
        The configuration with the kind of the decay, and whether there is a batch.

    Raises:
        ActOptionError: an array does not fit.
    """
    arrays = {name: inputs[name] for name in ("q", "k", "v")}
    decay, features = inputs["decay"], inputs["features"]
    rank = _check_ranks(arrays)
    _check_types(arrays)
    if (features is not None) != (config.feature_map == "favor_plus"):
        needs = "needs" if features is None else "takes no"
        raise ActOptionError(
            f'features: feature_map="{config.feature_map}" {needs} random features'
        )
    if features is not None:
        _require_rank("features", features, (2,), "[features, dim]")
        _require_float("features", features)
        arrays["features"] = features
    config = dataclasses.replace(config, decay=_decay_kind(decay, rank == 4))
    if config.state_policy == "reverse":
        _check_reverse(config)
    is_batched = rank == 4
    batch = () if is_batched else (1,)
    shapes = {
        name: tuple(array.shape) if name == "features" else (*batch, *array.shape)
        for name, array in arrays.items()
    }
    sizes = _check_sizes(config, shapes, is_batched)
    if decay is not None:
        _require_float("decay", decay)
        _require_shape(config, "decay", decay, sizes, is_batched)
    if initial_state is not None:
        _check_state(config, initial_state, sizes, is_batched)
    return config, is_batched


def _check_ranks(arrays: Mapping[str, Any]) -> int:
    """Returns the common rank of queries, keys and values."""
    expected = "[batch, length, heads, dim] or [length, heads, dim]"
    for name, array in arrays.items():
        _require_rank(name, array, (3, 4), expected)
    rank = np.ndim(arrays["q"])
    for name, array in arrays.items():
        if np.ndim(array) != rank:
            raise ActOptionError(
                f"{name} must have the rank of q, which has the shape "
                f"{np.shape(arrays['q'])}, got the shape {np.shape(array)}"
            )
    return rank


def _check_types(arrays: Mapping[str, Any]) -> None:
    """Requires one of the known element types, the same for all."""
    expected = ", ".join(ELEMENT_TYPES)
    for name, array in arrays.items():
        dtype = str(jnp.result_type(array))
        if dtype not in ELEMENT_TYPES:
            raise ActOptionError(f"{name} must be of {expected}, got {dtype}")
        if array.dtype != arrays["q"].dtype:
            raise ActOptionError(
                f"{name} must have the element type of q, {arrays['q'].dtype}, got "
                f"{array.dtype}"
            )


def _decay_kind(decay: Any, is_batched: bool) -> str:
    """Tells from the rank what a decay is given for."""
    if decay is None:
        return "none"
    kinds = {
        len(dimensions) - (dimensions[0] == "B" and not is_batched): kind
        for kind, dimensions in DECAY_DIMENSIONS.items()
    }
    batch = "batch, " if is_batched else ""
    expected = (
        f"[state heads], [{batch}length, state heads] or "
        f"[{batch}length, state heads, features]"
    )
    _require_rank("decay", decay, tuple(kinds), expected)
    return kinds[np.ndim(decay)]


def _check_reverse(config: Config) -> None:
    """Requires what subtracting from states needs."""
    if config.decay != "none":
        raise ActOptionError(
            'state_policy="reverse" cannot be used with decay: what a state has '
            "forgotten does not come back by subtraction"
        )


def _check_sizes(
    config: Config, shapes: Mapping[str, tuple[int, ...]], is_batched: bool
) -> dict[str, int]:
    """Requires that dimensions of the same meaning have the same size."""
    sizes: dict[str, int] = {}
    owner: dict[str, str] = {}
    for name, shape in shapes.items():
        for letter, size in zip(config.dimensions(name), shape, strict=True):
            # Features of dimension M and P occur in one array only, or are checked.
            if sizes.setdefault(letter, size) != size:
                shown = shape if is_batched or name == "features" else shape[1:]
                raise ActOptionError(
                    f"{name} must have the {_WORDS[letter]} of {owner[letter]}, "
                    f"{sizes[letter]}, got {size} in the shape {shown}"
                )
            owner.setdefault(letter, name)
            if size == 0:
                raise ActOptionError(f"{name} must not be empty, got {shape}")
    _check_heads(sizes)
    return sizes_of(config, shapes)


def _check_heads(sizes: Mapping[str, int]) -> None:
    """Requires that each number of heads divides the greatest, and k's and v's."""
    least, state_heads = sorted((sizes["k"], sizes["v"]))
    most = max(sizes["q"], state_heads)
    if state_heads % least or most % state_heads or most % sizes["q"]:
        raise ActOptionError(
            "q, k and v must have numbers of heads of which the greatest is a "
            "multiple of the others, and those of k and v one of the other, got "
            f"{sizes['q']}, {sizes['k']} and {sizes['v']}"
        )


def _check_state(
    config: Config, state: Any, sizes: Mapping[str, int], is_batched: bool
) -> None:
    """Requires (S, z), or (S, None) and (S,) without `normalize`."""
    parts = tuple(state) if isinstance(state, Sequence) else (state,)
    given = [part is not None for part in parts]
    if not isinstance(state, Sequence) or given not in (
        [[True, True]] if config.normalize else [[True], [True, False]]
    ):
        expected = "(S, z)" if config.normalize else "(S, None), as normalize=False,"
        raise ActOptionError(
            f"initial_state must be {expected} as an earlier call returned it, got "
            f"{type(state).__name__} of {len(parts)}"
        )
    for name, part in zip(config.state, parts, strict=False):
        _require_float(_STATE_NAMES[name], part)
        _require_shape(config, name, part, sizes, is_batched)


_STATE_NAMES = {
    "sums": "initial_state[0]",
    "normalizer": "initial_state[1]",
    "decay": "decay",
}


def _require_shape(
    config: Config,
    name: str,
    array: Any,
    sizes: Mapping[str, int],
    is_batched: bool,
) -> None:
    dimensions = config.dimensions(name)
    expected = shape_of(config, name, sizes)
    if dimensions[0] == "B" and not is_batched:
        dimensions, expected = dimensions[1:], expected[1:]
    if np.shape(array) != expected:
        words = ", ".join(_WORDS[letter] for letter in dimensions)
        raise ActOptionError(
            f"{_STATE_NAMES[name]} must have the shape [{words}] = {expected}, got "
            f"{np.shape(array)}"
        )


def _require_rank(name: str, array: Any, ranks: tuple[int, ...], expected: str) -> None:
    if not hasattr(array, "shape") or not hasattr(array, "dtype"):
        raise ActOptionError(
            f"{name} must be an array {expected}, got {type(array).__name__}"
        )
    if len(array.shape) not in ranks:
        raise ActOptionError(
            f"{name} must have the shape {expected}, got {tuple(array.shape)}"
        )


def _require_float(name: str, array: Any) -> None:
    if not hasattr(array, "dtype") or str(array.dtype) not in ELEMENT_TYPES:
        found = getattr(array, "dtype", type(array).__name__)
        raise ActOptionError(
            f"{name} must be of {', '.join(ELEMENT_TYPES)}, got {found}"
        )


def _require_choice(name: str, value: Any, choices: tuple) -> None:
    if not isinstance(value, str | None) or value not in choices:
        expected = ", ".join(repr(choice) for choice in choices)
        raise ActOptionError(f"{name} must be one of {expected}, got {value!r}")


def _require_finite(name: str, value: Any) -> None:
    is_number = isinstance(value, int | float | np.number)
    if isinstance(value, bool) or not is_number or not math.isfinite(value):
        raise ActOptionError(f"{name} must be a finite number, got {value!r}")


def _require_positive(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ActOptionError(f"{name} must be a positive int, got {value!r}")
