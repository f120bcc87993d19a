# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libActRuntime.so next to jaxlib: its handlers, called through XLA's FFI."""

import ctypes
import os
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

LIBRARY = Path(
    os.environ.get("ACT_RUNTIME")
    or Path(__file__).parents[2] / "build/lib/libActRuntime.so"
)

_HANDLERS = {
    "act_linear_attention": "ActLinearAttention",
    "act_linear_attention_grad": "ActLinearAttentionGrad",
    "act_linear_attention_state": "ActLinearAttentionState",
}

B, T, H, M, D = 2, 70, 2, 12, 20


@pytest.fixture(scope="module", autouse=True)
def _handlers() -> None:
    if not LIBRARY.exists():
        pytest.skip(f"no {LIBRARY}")
    library = ctypes.CDLL(str(LIBRARY))
    for target, symbol in _HANDLERS.items():
        jax.ffi.register_ffi_target(
            target, jax.ffi.pycapsule(getattr(library, symbol)), platform="cpu"
        )


def _shape(*sizes: int, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(sizes, dtype)


def _config(**changes: Any) -> dict[str, Any]:
    return {
        "feature_map": "square",
        "scale": np.float64(0.5),
        "normalize": True,
        "chunk": np.int64(0),
        "decay": "none",
    } | changes


def _forward(*operands: jax.Array, **changes: Any) -> list[jax.Array]:
    config = _config(epsilon=np.float64(1e-6), **changes)
    dtype = operands[0].dtype
    results = [
        _shape(B, T, H, D, dtype=dtype),
        _shape(B, T, H),
        _shape(B, H, M, D),
        _shape(B, H, M),
    ]
    return jax.ffi.ffi_call("act_linear_attention", results)(*operands, **config)


def _grad(*operands: jax.Array) -> list[jax.Array]:
    results = [_shape(B, T, H, M), _shape(B, T, H, M), _shape(B, T, H, D)]
    results += [_shape(B, H, M, D), _shape(B, H, M)]
    config = _config(state_policy="rescan", segment=np.int64(0))
    return jax.ffi.ffi_call("act_linear_attention_grad", results)(*operands, **config)


def _reference(q, k, v, s, z):
    """The same, in one piece."""
    pairs = 0.5 * jnp.tril(
        jnp.einsum("bthm,bshm->bhts", q**2, k**2, precision="highest")
    )
    numerator = jnp.einsum("bhts,bshd->bthd", pairs, v, precision="highest")
    numerator += 0.5 * jnp.einsum("bthm,bhmd->bthd", q**2, s, precision="highest")
    denominator = jnp.transpose(pairs.sum(-1), (0, 2, 1)) + 1e-6
    denominator += 0.5 * jnp.einsum("bthm,bhm->bth", q**2, z, precision="highest")
    last = s + jnp.einsum("bshm,bshd->bhmd", k**2, v, precision="highest")
    return numerator / denominator[..., None], last, z + (k**2).sum(1)


def _operands() -> list[jax.Array]:
    keys = jax.random.split(jax.random.key(0), 5)
    shapes = [(B, T, H, M), (B, T, H, M), (B, T, H, D), (B, H, M, D), (B, H, M)]
    arrays = [
        jax.random.normal(key, shape) for key, shape in zip(keys, shapes, strict=True)
    ]
    arrays[4] = jnp.abs(arrays[4])
    return arrays


def _assert_close(actual: jax.Array, expected: jax.Array) -> None:
    scale = float(jnp.abs(expected).max())
    np.testing.assert_allclose(actual, expected, rtol=0, atol=2e-6 * scale)


def test_forward():
    operands = _operands()
    o, _, s, z = jax.jit(_forward)(*operands)
    for actual, expected in zip((o, s, z), _reference(*operands), strict=True):
        _assert_close(actual, expected)


def test_gradients():
    operands = _operands()
    (o, last, sums), vjp = jax.vjp(_reference, *operands)
    cotangents = [
        jax.random.normal(jax.random.key(9 + i), x.shape)
        for i, x in enumerate((o, last, sums))
    ]
    o, d, _, _ = _forward(*operands)
    q, k, v, s, z = operands
    actual = jax.jit(_grad)(
        q, k, v, o, d, cotangents[0], s, z, cotangents[1], cotangents[2]
    )
    for gradient, expected in zip(actual, vjp(tuple(cotangents)), strict=True):
        _assert_close(gradient, expected)


def test_state_and_back():
    _, k, v, s, z = _operands()
    config = {key: value for key, value in _config().items() if key != "scale"}
    call = jax.ffi.ffi_call(
        "act_linear_attention_state", [_shape(B, H, M, D), _shape(B, H, M)]
    )
    last = call(k, v, s, z, subtract=False, **config)
    _assert_close(last[0], _reference(k, k, v, s, z)[1])
    back = call(k, v, *last, subtract=True, **config)
    np.testing.assert_allclose(back[0], s, rtol=0, atol=1e-3)
    np.testing.assert_allclose(back[1], z, rtol=0, atol=1e-3)


def test_bfloat16():
    q, k, v, s, z = _operands()
    q, k, v = (x.astype(jnp.bfloat16) for x in (q, k, v))
    o = _forward(q, k, v, s, z)[0]
    assert o.dtype == jnp.bfloat16
    expected = _reference(*(x.astype(jnp.float32) for x in (q, k, v)), s, z)[0]
    error = jnp.sqrt(jnp.mean((o.astype(jnp.float32) - expected) ** 2))
    assert error <= 4e-3 * jnp.sqrt(jnp.mean(expected**2))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"feature_map": "favor_plus"}, "UNIMPLEMENTED.*got favor_plus"),
        ({"feature_map": "cube"}, 'UNIMPLEMENTED.*got "cube"'),
        ({"decay": "channel"}, "UNIMPLEMENTED.*per channel"),
        ({"decay": "sometimes"}, 'INVALID_ARGUMENT.*got "sometimes"'),
        ({"decay": "token"}, r"INVALID_ARGUMENT.*decay of shape \[2, 70, 2\]"),
        ({"chunk": np.int64(-1)}, "UNIMPLEMENTED.*chunk that is not negative"),
    ],
)
def test_bad_config(changes: dict[str, Any], message: str):
    with pytest.raises(jax.errors.JaxRuntimeError, match=message):
        jax.block_until_ready(_forward(*_operands(), **changes))


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (0, r"query of shape \[2, 70, 2, 12\], got \[2, 70, 2, 11\]"),
        (2, r"expects state of shape \[2, 2, 12, 19\], got \[2, 2, 12, 20\]"),
        (3, r"expects state of shape \[2, 2, 12, 20\], got \[2, 2, 12, 19\]"),
    ],
)
def test_bad_shapes(number: int, message: str):
    operands = _operands()
    operands[number] = operands[number][..., :-1]
    with pytest.raises(jax.errors.JaxRuntimeError, match=message):
        jax.block_until_ready(_forward(*operands))


def test_bad_types_and_counts():
    operands = _operands()
    mixed = [operands[0].astype(jnp.bfloat16), *operands[1:]]
    with pytest.raises(jax.errors.JaxRuntimeError, match="query of type f32, got bf16"):
        jax.block_until_ready(_forward(*mixed))
    with pytest.raises(jax.errors.JaxRuntimeError, match="got 4 operands"):
        jax.block_until_ready(_forward(*operands[:4]))
    with pytest.raises(jax.errors.JaxRuntimeError, match="expects 5 operands, got 6"):
        jax.block_until_ready(_forward(*operands, operands[0]))
