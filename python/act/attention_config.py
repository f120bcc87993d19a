# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a linear attention computes, and which operands and results it has.

Everything that deals with its primitives names operands as in this module and never
counts positions: which of them exist depends on the configuration.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

FEATURE_MAPS = ("identity", "relu", "elu_plus_one", "square", "exp", "favor_plus")
STATE_POLICIES = ("rescan", "reverse", "checkpoint")
IMPLEMENTATIONS = (None, "native", "loop")
ELEMENT_TYPES = ("float16", "bfloat16", "float32", "float64")

#: Custom call targets, also the names of the native kernels in XLA's registry.
FORWARD = "act_linear_attention"
GRADIENT = "act_linear_attention_grad"
STATE = "act_linear_attention_state"
TARGETS = (FORWARD, GRADIENT, STATE)

#: Dimensions of each operand and result, one letter each: batch B, time T, query
#: heads q, key heads k, value heads v, all heads H, heads with a state s, inputs P
#: and outputs M of the feature map, values D.
DIMENSIONS = {
    "q": "BTqP",
    "k": "BTkP",
    "v": "BTvD",
    "features": "MP",
    "o": "BTHD",
    "d": "BTH",
    "sums": "BsMD",
    "normalizer": "BsM",
}
DECAY_DIMENSIONS = {"head": "s", "token": "BTs", "channel": "BTsM"}


@dataclasses.dataclass(frozen=True)
class Config:
    """Attributes of a linear attention; see `act.linear_attention`.

    Attributes:
        feature_map: one of `FEATURE_MAPS`.
        scale: factor of the products of queries and keys.
        normalize: whether the output is divided by the sum of the weights.
        epsilon: what is added to that sum; 0 without `normalize`.
        chunk: tokens taken together, 0 for what suits the target.
        decay: "none", "head", "token" or "channel".
        state_policy: one of `STATE_POLICIES`.
        segment: tokens between kept states with "checkpoint", else 0.
        implementation: one of `IMPLEMENTATIONS`.
    """

    feature_map: str = "elu_plus_one"
    scale: float = 1.0
    normalize: bool = True
    epsilon: float = 1e-6
    chunk: int = 0
    decay: str = "none"
    state_policy: str = "rescan"
    segment: int = 0
    implementation: str | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the operands before the state."""
        decay = () if self.decay == "none" else ("decay",)
        features = ("features",) if self.feature_map == "favor_plus" else ()
        return ("q", "k", "v", *decay, *features)

    @property
    def state(self) -> tuple[str, ...]:
        """Names of the parts of the state."""
        return ("sums", "normalizer") if self.normalize else ("sums",)

    @property
    def forward_operands(self) -> tuple[str, ...]:
        """Names of the operands of the forward primitive."""
        return (*self.inputs, *self.state)

    @property
    def forward_results(self) -> tuple[str, ...]:
        """Names of the results of the forward primitive."""
        return (*(("o", "d") if self.normalize else ("o",)), *self.state)

    @property
    def gradient_operands(self) -> tuple[str, ...]:
        """Names of the operands of the gradient primitive; d_x is a gradient."""
        saved = ("o", "d") if self.normalize else ()
        return (
            *self.inputs,
            *saved,
            "d_o",
            *self.state,
            *(f"d_{name}" for name in self.state),
        )

    @property
    def gradient_results(self) -> tuple[str, ...]:
        """Names of the results of the gradient primitive."""
        wanted = [name for name in self.inputs if name != "features"]
        return tuple(f"d_{name}" for name in (*wanted, *self.state))

    def dimensions(self, name: str) -> str:
        """Returns the dimensions of an operand or result, a letter each."""
        name = name.removeprefix("d_")
        return DECAY_DIMENSIONS[self.decay] if name == "decay" else DIMENSIONS[name]

    def attributes(self, gradient: bool) -> dict[str, Any]:
        """Returns the attributes of a custom call: str, float, bool and int.

        Args:
            gradient: whether it is the gradient's.
        """
        return {
            "feature_map": self.feature_map,
            "scale": self.scale,
            "normalize": self.normalize,
            "epsilon": self.epsilon,
            "chunk": self.chunk,
            "decay": self.decay,
        } | (
            {"state_policy": self.state_policy, "segment": self.segment}
            if gradient
            else {}
        )


def state_dtype(dtype: Any) -> np.dtype:
    """Returns the element type of sums, denominators and decays.

    Args:
        dtype: that of queries, keys and values.
    """
    return np.dtype(np.float64 if jnp.dtype(dtype) == np.float64 else np.float32)


def dtype_of(name: str, dtype: Any) -> np.dtype:
    """Returns the element type of an operand or result.

    Args:
        name: of the operand or result.
        dtype: that of queries, keys and values.
    """
    plain = name.removeprefix("d_") in ("q", "k", "v", "o", "features")
    return jnp.dtype(dtype) if plain else state_dtype(dtype)


def sizes_of(config: Config, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    """Returns the size of each dimension letter.

    Args:
        config: of the attention.
        shapes: of q, k and v, and of features if there are any.
    """
    sizes: dict[str, int] = {}
    for name in ("q", "k", "v", "features"):
        if name in config.inputs:
            sizes |= zip(config.dimensions(name), shapes[name], strict=True)
    sizes["s"] = max(sizes["k"], sizes["v"])
    sizes["H"] = max(sizes["q"], sizes["s"])
    sizes.setdefault("M", sizes["P"])
    return sizes


def shape_of(config: Config, name: str, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """Returns the shape of an operand or result."""
    return tuple(sizes[letter] for letter in config.dimensions(name))
