# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Encodes and decodes by act's kernels for the CPU, through libActRuntime."""

import ctypes
import functools
from collections.abc import Sequence

import numpy as np
from encoding_runner import Loaded, Save

from act.runtime import find_library

_REASON_BYTES = 1024


class _Signature(ctypes.Structure):
    """`ActCodecSignature` of act-c/Codec.h."""

    _fields_ = (("encoding", ctypes.c_char_p), ("type", ctypes.c_char_p))


@functools.cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(find_library()))
    for name in ("actCodecEncode", "actCodecDecode"):
        getattr(library, name).restype = ctypes.c_bool
    return library


def _call(name: str, encoding: str, tensor: str, *arguments: object) -> None:
    reason = ctypes.create_string_buffer(_REASON_BYTES)
    signature = _Signature(encoding.encode(), tensor.encode())
    if not getattr(_library(), name)(
        ctypes.byref(signature), *arguments, reason, ctypes.c_size_t(_REASON_BYTES)
    ):
        raise ValueError(reason.value.decode())


def _pointer(array: np.ndarray) -> ctypes.c_void_p:
    assert array.flags.c_contiguous
    return ctypes.c_void_p(array.ctypes.data)


def _pointers(arrays: Sequence[np.ndarray]) -> ctypes.Array:
    pointers = [_pointer(array).value for array in arrays]
    return (ctypes.c_void_p * len(pointers))(*pointers)


def encode(
    save: Save,
    tensor: np.ndarray,
    storage: Sequence[np.ndarray],
    salt: int = 0,
    threads: int = 1,
) -> None:
    """Writes what `save` stores for `tensor` to `storage`.

    Raises:
        ValueError: there is no kernel.
    """
    _call(
        "actCodecEncode",
        f"#act.{save.encoding}",
        save.tensor,
        _pointer(tensor),
        ctypes.c_uint32(salt),
        _pointers(storage),
        ctypes.c_int64(threads),
    )


def decode(
    save: Save, storage: Sequence[np.ndarray], tensor: np.ndarray, threads: int = 1
) -> None:
    """Writes the value that `storage` holds to `tensor`.

    Raises:
        ValueError: there is no kernel.
    """
    _call(
        "actCodecDecode",
        f"#act.{save.encoding}",
        save.tensor,
        _pointers(storage),
        _pointer(tensor),
        ctypes.c_int64(threads),
    )


def guarded(like: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An array like `like`, not aligned, within bytes that nothing may change.

    Returns the array, filled with a pattern, and all bytes around and in it.
    """
    size, margin = like.nbytes, 64 + like.itemsize
    memory = np.full(size + 2 * margin, 0xA5, np.uint8)
    return memory[margin : margin + size].view(like.dtype).reshape(like.shape), memory


def untouched(memory: np.ndarray, array: np.ndarray) -> bool:
    """True if the bytes around an array that `guarded` made are as they were."""
    margin = (memory.size - array.nbytes) // 2
    return bool(np.all(memory[:margin] == 0xA5) and np.all(memory[-margin:] == 0xA5))


def round_trip(
    save: Save,
    tensor: np.ndarray,
    like: Sequence[np.ndarray],
    salt: int = 0,
    threads: int = 1,
) -> Loaded:
    """What kernels store, in arrays like those in `like`, and what they decode."""
    source, _ = guarded(tensor)
    source[...] = tensor
    storage = [guarded(part) for part in like]
    encode(save, source, [part for part, _ in storage], salt, threads)
    value, memory = guarded(tensor)
    decode(save, [part for part, _ in storage], value, threads)
    assert all(untouched(around, part) for part, around in storage)
    assert untouched(memory, value)
    return Loaded(tuple(part for part, _ in storage), value)
