# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random features that make linear attention an estimate of softmax attention."""

from typing import Any

import jax
import jax.numpy as jnp

from act.errors import ActOptionError


def orthogonal_features(
    key: jax.Array, num_features: int, dim: int, dtype: Any = jnp.float32
) -> jax.Array:
    """Draws the random features of FAVOR+.

    Rows are distributed like independent standard normal vectors, each for itself,
    but are orthogonal to each other within blocks of `dim`: for each block the
    orthogonal factor of a normal matrix, with its rows as long as those of another
    one, which is to say chi distributed with `dim` degrees of freedom. The estimate of
    softmax attention stays unbiased and varies less than with independent rows:
    Choromanski et al., Rethinking Attention with Performers, arXiv 2009.14794,
    section 2.4.

    Args:
        key: PRNG key, as from `jax.random.key`. Equal keys give equal features: keep
            them for a step, and draw new ones between steps if at all.
        num_features: number of rows, M; the estimate varies like 1 / M.
        dim: size of queries and keys, P.
        dtype: floating-point type, that of queries and keys.

    Returns:
        An array [num_features, dim] for the argument `features` of
        `act.linear_attention`.

    Raises:
        ActOptionError: a size is not a positive int, or `dtype` no float type.
    """
    for name, size in (("num_features", num_features), ("dim", dim)):
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise ActOptionError(f"{name} must be a positive int, got {size!r}")
    if not jnp.issubdtype(dtype, jnp.floating):
        raise ActOptionError(f"dtype must be a floating-point type, got {dtype!r}")
    precise = jnp.promote_types(dtype, jnp.float32)  # 16 bits leave no orthogonality
    blocks = -(-num_features // dim)
    direction_key, length_key = jax.random.split(key)
    normal = jax.random.normal(direction_key, (blocks, dim, dim), precise)
    factor, triangle = jnp.linalg.qr(normal)
    # QR as LAPACK computes it fixes signs; undone, the factor is uniformly
    # distributed over the rotations and reflections.
    signs = jnp.sign(jnp.diagonal(triangle, axis1=-2, axis2=-1))
    rows = (factor * signs[:, None, :]).reshape(blocks * dim, dim)[:num_features]
    lengths = jax.random.normal(length_key, (num_features, dim), precise)
    return (rows * jnp.linalg.norm(lengths, axis=1, keepdims=True)).astype(dtype)
