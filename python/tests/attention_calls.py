# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs `act.linear_attention` on the cases of attention_cases.py."""

from typing import Any

import attention_cases
import jax
import jax.numpy as jnp
import numpy as np
from attention_cases import Case

import act


def arguments_of(case: Case, dtype: Any = np.float32) -> dict[str, jax.Array]:
    """Returns the arrays of a case; decays and states stay as precise as they can."""
    exact = jnp.promote_types(dtype, np.float32)
    return {
        name: jnp.asarray(array, exact if name in ("decay", "S", "z") else dtype)
        for name, array in case.arrays.items()
    }


def attend(arrays: dict[str, jax.Array], **options: Any) -> Any:
    """Calls `act.linear_attention` with arrays by name."""
    state = None
    if "S" in arrays:
        state = arrays["S"], arrays.get("z")
    return act.linear_attention(
        arrays["q"],
        arrays["k"],
        arrays["v"],
        decay=arrays.get("decay"),
        features=arrays.get("features"),
        initial_state=state,
        **options,
    )


def run(case: Case, dtype: Any = np.float32, **options: Any) -> dict[str, np.ndarray]:
    """Returns output, final state and gradients: o, S, z, d_q, ..., in float64."""
    arrays = arguments_of(case, dtype)
    constant = {n: arrays.pop(n) for n in ("features",) if n in arrays}
    d_o = jnp.asarray(case.d_o, dtype)
    exact = jnp.promote_types(dtype, np.float32)
    d_state = [jnp.asarray(part, exact) for part in case.d_state]

    def loss(arrays: dict[str, jax.Array]) -> Any:
        o, state = attend(
            arrays | constant, return_state=True, **case.options, **options
        )
        parts = [part for part in state if part is not None]
        total = (o.astype(exact) * d_o.astype(exact)).sum()
        for part, d_part in zip(parts, d_state, strict=True):
            total += (part * d_part).sum()
        return total, (o, *parts)

    step = jax.jit(jax.value_and_grad(loss, has_aux=True))
    (_, results), gradients = step(arrays)
    named = dict(zip(("o", "S", "z"), results, strict=False))
    named |= {f"d_{name}": value for name, value in gradients.items()}
    return {name: np.asarray(value, np.float64) for name, value in named.items()}


def expected(case: Case) -> dict[str, np.ndarray]:
    """Returns what `run` should."""
    o, state = attention_cases.recurrent(case)
    gradients = attention_cases.gradients(case)
    return (
        {"o": o}
        | dict(zip(("S", "z"), state, strict=False))
        | {f"d_{name}": value for name, value in gradients.items()}
    )


def rms_errors(
    got: dict[str, np.ndarray], wanted: dict[str, np.ndarray]
) -> dict[str, float]:
    """Returns the root mean square of each difference over that of what is wanted."""
    assert got.keys() == wanted.keys()
    return {
        name: float(
            np.sqrt(np.mean((got[name] - value) ** 2) / np.mean(value**2))
            if np.isfinite(got[name]).all()
            else np.inf
        )
        for name, value in wanted.items()
    }
