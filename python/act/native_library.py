# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled steps in this process, through the C functions of act-c/Step.h."""

import ctypes
import dataclasses
import functools
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from act.errors import ActOptionError, ActStepError, ActToolError
from act.runtime import find_library

#: Of the enumeration in act-c/StepInfo.h.
_DTYPES = tuple(
    np.dtype(kind)
    for kind in (
        np.bool_,
        np.int8,
        np.int16,
        np.int32,
        np.int64,
        np.uint8,
        np.uint16,
        np.uint32,
        np.uint64,
        np.float16,
        ml_dtypes.bfloat16,
        np.float32,
        np.float64,
        ml_dtypes.float8_e4m3fn,
        ml_dtypes.float8_e5m2,
    )
)
_REASON_BYTES = 4096


class _Value(ctypes.Structure):
    """`act_step_value` of act-c/StepInfo.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("bytes", ctypes.c_int64),
    )


class _Info(ctypes.Structure):
    """`act_step_info` of act-c/StepInfo.h."""

    _fields_ = (
        ("version", ctypes.c_int32),
        ("num_arguments", ctypes.c_int32),
        ("num_results", ctypes.c_int32),
        ("num_kernels", ctypes.c_int32),
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("arena_bytes", ctypes.c_int64),
        ("bound_bytes", ctypes.c_int64),
        ("arguments", ctypes.POINTER(_Value)),
        ("results", ctypes.POINTER(_Value)),
    )


@dataclasses.dataclass(frozen=True)
class ValueInfo:
    """An argument or result.

    Attributes:
        name: as the program has it, or "".
        shape: of the array.
        dtype: its element type.
        nbytes: its size.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype
    nbytes: int


@dataclasses.dataclass(frozen=True)
class StepInfo:
    """What a compiled step takes, returns and needs.

    Attributes:
        name: of its function in the program.
        arguments: what it takes.
        results: what it returns.
        arena_bytes: temporary memory, exactly.
        bound_bytes: the most that is in use at once, below which no plan can go.
        kernels: number of pieces of code that it launches.
    """

    name: str
    arguments: tuple[ValueInfo, ...]
    results: tuple[ValueInfo, ...]
    arena_bytes: int
    bound_bytes: int
    kernels: int


class LoadedStep:
    """A compiled step, with the arena and the threads that it keeps.

    It executes one call at a time.

    Args:
        path: an object file, or an archive of them. It may be deleted afterwards.
        name: of the step in it.
        threads: that execute the step, 0 for all processors.

    Raises:
        ActToolError: libActRuntime is missing or cannot load the file.
    """

    def __init__(self, path: Path, name: str, threads: int = 0) -> None:
        library = _load_library()
        reason = ctypes.create_string_buffer(_REASON_BYTES)
        handle = library.act_step_load(
            str(path).encode(), name.encode(), threads, reason, _REASON_BYTES
        )
        if not handle:
            raise ActToolError(f"cannot load the compiled step: {_text(reason)}")
        self._handle = ctypes.c_void_p(handle)
        self._library = library
        weakref.finalize(self, library.act_step_destroy, self._handle)
        info = library.act_step_get_info(self._handle).contents
        self.info = StepInfo(
            info.name.decode(),
            tuple(map(_value, info.arguments[: info.num_arguments])),
            tuple(map(_value, info.results[: info.num_results])),
            info.arena_bytes,
            info.bound_bytes,
            info.num_kernels,
        )

    @property
    def threads(self) -> int:
        """Number of threads that execute the step."""
        return self._library.act_step_get_threads(self._handle)

    def set_check(self, enabled: bool) -> None:
        """Makes infinities and NaN errors, or values as any others."""
        self._library.act_step_set_check(self._handle, enabled)

    def execute(
        self, arguments: Sequence[np.ndarray], results: Sequence[np.ndarray]
    ) -> None:
        """Executes the step.

        Args:
            arguments: arrays of the shapes and types of `info.arguments`, in
                row-major order. They are not copied and not written.
            results: arrays for the results, which overlap nothing else.

        Raises:
            ActOptionError: an array does not fit.
            ActStepError: the step failed.
        """
        self._call(self._library.act_step_execute, arguments, results)

    def peak(
        self, arguments: Sequence[np.ndarray], results: Sequence[np.ndarray]
    ) -> int:
        """Executes the step twice; returns the bytes of the arena it wrote to."""
        peak = ctypes.c_int64()
        measure = self._library.act_step_measure_peak
        self._call(measure, arguments, results, ctypes.byref(peak))
        return peak.value

    def trace(
        self,
        arguments: Sequence[np.ndarray],
        results: Sequence[np.ndarray],
        path: Path,
    ) -> None:
        """Executes the step and writes a Chrome trace."""
        trace = self._library.act_step_trace
        self._call(trace, arguments, results, str(path).encode())

    def _call(
        self,
        function: Any,
        arguments: Sequence[np.ndarray],
        results: Sequence[np.ndarray],
        *more: Any,
    ) -> None:
        """Calls a C function that executes the step."""
        _check_arrays("argument", self.info.arguments, arguments)
        _check_arrays("result", self.info.results, results)
        reason = ctypes.create_string_buffer(_REASON_BYTES)
        if not function(
            self._handle,
            _pointers(arguments),
            _pointers(results),
            *more,
            reason,
            _REASON_BYTES,
        ):
            raise ActStepError(f"the compiled step failed: {_text(reason)}")


@functools.lru_cache(maxsize=1)
def _load_library() -> ctypes.CDLL:
    """Loads libActRuntime and declares the functions of act-c/Step.h.

    Raises:
        ActToolError: there is none, or it lacks them.
    """
    path = find_library()
    if path is None:
        raise ActToolError(
            "the library libActRuntime was not found; build it with `cmake --build "
            "--preset release`, or set ACT_RUNTIME to its path"
        )
    pointers = ctypes.POINTER(ctypes.c_void_p)
    reason = (ctypes.c_char_p, ctypes.c_size_t)
    execution = (ctypes.c_void_p, pointers, pointers)
    signatures = {
        "act_step_load": (
            ctypes.c_void_p,
            (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64, *reason),
        ),
        "act_step_destroy": (None, (ctypes.c_void_p,)),
        "act_step_get_info": (ctypes.POINTER(_Info), (ctypes.c_void_p,)),
        "act_step_get_threads": (ctypes.c_int64, (ctypes.c_void_p,)),
        "act_step_set_check": (None, (ctypes.c_void_p, ctypes.c_bool)),
        "act_step_execute": (ctypes.c_bool, (*execution, *reason)),
        "act_step_measure_peak": (
            ctypes.c_bool,
            (*execution, ctypes.POINTER(ctypes.c_int64), *reason),
        ),
        "act_step_trace": (ctypes.c_bool, (*execution, ctypes.c_char_p, *reason)),
    }
    try:
        library = ctypes.CDLL(str(path))
        for name, (result, arguments) in signatures.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise ActToolError(
            f"cannot use {path}: {error}; build it again with `cmake --build --preset "
            "release`"
        ) from error
    return library


def _value(value: _Value) -> ValueInfo:
    return ValueInfo(
        value.name.decode(errors="replace"),
        tuple(value.shape[: value.rank]),
        _DTYPES[value.type],
        value.bytes,
    )


def _text(reason: ctypes.Array) -> str:
    return reason.value.decode(errors="replace")


def _pointers(arrays: Sequence[np.ndarray]) -> ctypes.Array:
    """Returns the addresses of arrays as C takes them."""
    addresses = [array.__array_interface__["data"][0] for array in arrays]
    return (ctypes.c_void_p * len(addresses))(*addresses)


def _check_arrays(
    kind: str, values: Sequence[ValueInfo], arrays: Sequence[np.ndarray]
) -> None:
    """Raises ActOptionError unless the arrays are what the step takes."""
    if len(values) != len(arrays):
        raise ActOptionError(f"expects {len(values)} {kind}s, got {len(arrays)}")
    for number, (value, array) in enumerate(zip(values, arrays, strict=True)):
        where = f"{kind} {number}" + (f" ({value.name!r})" if value.name else "")
        if array.shape != value.shape or array.dtype != value.dtype:
            raise ActOptionError(
                f"{where}: expects {value.dtype}{list(value.shape)}, got "
                f"{array.dtype}{list(array.shape)}"
            )
        if not array.flags.c_contiguous:
            raise ActOptionError(f"{where}: expects an array in row-major order")
