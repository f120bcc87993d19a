# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The native kernels of act for the CPU, in the library libActRuntime.

XLA calls them through its foreign function interface, under the names of
`act.attention_config.TARGETS`.
"""

import ctypes
import functools
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax

from act.attention_config import FORWARD, GRADIENT, STATE, Config, sizes_of
from act.errors import ActToolError

_HANDLERS = {
    FORWARD: "ActLinearAttention",
    GRADIENT: "ActLinearAttentionGrad",
    STATE: "ActLinearAttentionState",
}
#: Of the enumerations in act-c/LinearAttention.h.
_OPERATIONS = {FORWARD: 0, STATE: 1, GRADIENT: 2}
_ELEMENT_TYPES = {"float32": 0, "float16": 1, "bfloat16": 2, "float64": 3}
_DECAYS = {"none": 0, "head": 1, "token": 2, "channel": 3}
_REASON_BYTES = 1024
_SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"


def find_library() -> Path | None:
    """Returns the native library, or None if there is none.

    Looks at the environment variable ACT_RUNTIME, which may be empty to use none,
    then at build/lib of the checkout this package lies in.

    Raises:
        ActToolError: ACT_RUNTIME names no file.
    """
    named = os.environ.get("ACT_RUNTIME")
    if named is not None:
        if named and not Path(named).is_file():
            raise ActToolError(
                f"ACT_RUNTIME names {named}, which is not a file; set it to the path "
                "of libActRuntime, or to nothing to use no native kernels"
            )
        return Path(named) if named else None
    build = Path(__file__).resolve().parents[2] / "build"
    path = build / "lib" / f"libActRuntime{_SUFFIX}"
    return path if path.is_file() else None


class Signature(ctypes.Structure):
    """`ActLinearAttentionSignature` of act-c/LinearAttention.h."""

    _fields_ = (
        ("batch", ctypes.c_int64),
        ("tokens", ctypes.c_int64),
        ("query_heads", ctypes.c_int64),
        ("key_heads", ctypes.c_int64),
        ("value_heads", ctypes.c_int64),
        ("features", ctypes.c_int64),
        ("values", ctypes.c_int64),
        ("element_type", ctypes.c_int),
        ("feature_map", ctypes.c_char_p),
        ("scale", ctypes.c_double),
        ("epsilon", ctypes.c_double),
        ("decay", ctypes.c_int),
        ("chunk", ctypes.c_int64),
        ("normalize", ctypes.c_bool),
        ("subtract", ctypes.c_bool),
        ("reverse", ctypes.c_bool),
    )


def signature_of(config: Config, operands: Mapping[str, Any]) -> Signature:
    """Returns what the native library calls an attention.

    Args:
        config: of the attention.
        operands: anything with shapes and dtypes, by name.
    """
    sizes = sizes_of(config, {n: tuple(o.shape) for n, o in operands.items()})
    return Signature(
        *(sizes[letter] for letter in "BTqkvMD"),
        _ELEMENT_TYPES[str(operands["q"].dtype)],
        config.feature_map.encode(),
        config.scale,
        config.epsilon,
        _DECAYS[config.decay],
        config.chunk,
        config.normalize,
        False,
        config.state_policy == "reverse",
    )


@functools.lru_cache(maxsize=1)
def load(path: Path) -> ctypes.CDLL:
    """Loads the native library and gives its kernels to XLA.

    Raises:
        ActToolError: it cannot be loaded or lacks a kernel.
    """
    try:
        library = ctypes.CDLL(str(path))
        handlers = {
            target: getattr(library, name) for target, name in _HANDLERS.items()
        }
        library.actLinearAttentionIsSupported.restype = ctypes.c_bool
        library.actMeasurePeak.restype = ctypes.c_double
    except (OSError, AttributeError) as error:
        raise ActToolError(
            f"cannot use {path}: {error}; build it again with `cmake --build --preset "
            "release`, or set ACT_RUNTIME to nothing to use no native kernels"
        ) from error
    for target, handler in handlers.items():
        jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(handler), platform="cpu")
    return library


def why_not(target: str, config: Config, operands: Mapping[str, Any]) -> str | None:
    """Returns why there is no native kernel for an attention, or None.

    Args:
        target: forward or gradient.
        config: of the attention.
        operands: anything with shapes and dtypes, by name.

    Raises:
        ActToolError: there is a library, but it cannot be used.
    """
    path = find_library()
    if path is None:
        return "the library libActRuntime was not found"
    reason = ctypes.create_string_buffer(_REASON_BYTES)
    is_supported = load(path).actLinearAttentionIsSupported(
        _OPERATIONS[target],
        ctypes.byref(signature_of(config, operands)),
        reason,
        ctypes.c_size_t(_REASON_BYTES),
    )
    return None if is_supported else reason.value.decode(errors="replace")
