# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches kernels through the CUDA driver API of act's emulator of a GPU."""

import ctypes
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

import numpy as np

# Of the driver API.
_MAX_DYNAMIC_SHARED_BYTES = 8


@dataclasses.dataclass(frozen=True)
class Buffer:
    """Memory of the device."""

    address: int
    bytes: int


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A function of a module."""

    handle: int
    num_parameters: int


class Emulator:
    """A device with a context, and memory that is freed at the end.

    Args:
        library: libact_gpu_emu.so.
        options: as in the environment variable ACT_GPU_EMULATOR.
    """

    def __init__(self, library: Path, options: str) -> None:
        self._library = ctypes.CDLL(str(library))
        self._library.act_gpu_emulator_last_error.restype = ctypes.c_char_p
        self._library.act_gpu_emulator_statistics.restype = ctypes.c_char_p
        self._library.act_gpu_emulator_num_parameters.restype = ctypes.c_int64
        self._call("act_gpu_emulator_configure", options.encode())
        self._library.act_gpu_emulator_clear_statistics()
        self._buffers: list[int] = []
        self._call("cuInit", 0)
        self._device = ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(self._device), 0)
        context = ctypes.c_void_p()
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        self._call("cuCtxSetCurrent", context)

    def __enter__(self) -> "Emulator":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for address in self._buffers:
            self._library.cuMemFree_v2(ctypes.c_uint64(address))
        self._library.cuDevicePrimaryCtxRelease_v2(self._device)

    def _call(self, name: str, *arguments: object) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            message = self._library.act_gpu_emulator_last_error() or b""
            raise RuntimeError(f"{name} returned {status}: {message.decode()}")

    def load(self, ptx: str) -> "Module":
        """Loads PTX text."""
        handle = ctypes.c_void_p()
        self._call("cuModuleLoadData", ctypes.byref(handle), ptx.encode() + b"\0")
        return Module(self, handle)

    def allocate(self, size: int) -> Buffer:
        """Memory of `size` bytes, zeros."""
        address = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
        self._buffers.append(address.value)
        self._call("cuMemsetD8_v2", address, 0, ctypes.c_size_t(size))
        return Buffer(address.value, size)

    def upload(self, array: np.ndarray) -> Buffer:
        """A copy of an array."""
        assert array.flags.c_contiguous
        buffer = self.allocate(array.nbytes)
        self._call(
            "cuMemcpyHtoD_v2",
            ctypes.c_uint64(buffer.address),
            ctypes.c_void_p(array.ctypes.data),
            ctypes.c_size_t(array.nbytes),
        )
        return buffer

    def download(self, buffer: Buffer, like: np.ndarray) -> np.ndarray:
        """The contents of a buffer, as an array like another one."""
        array = np.empty_like(like)
        self._call(
            "cuMemcpyDtoH_v2",
            ctypes.c_void_p(array.ctypes.data),
            ctypes.c_uint64(buffer.address),
            ctypes.c_size_t(array.nbytes),
        )
        return array

    def launch(
        self,
        kernel: Kernel,
        grid: Sequence[int],
        block: Sequence[int],
        buffers: Sequence[Buffer],
        shared: int = 0,
    ) -> None:
        """Runs a kernel whose parameters are addresses, and waits for it.

        Args:
            kernel: what to launch.
            grid: blocks in each dimension.
            block: threads of a block in each dimension.
            buffers: one for each parameter.
            shared: bytes of dynamic shared memory.

        Raises:
            RuntimeError: the emulator found a fault.
        """
        values = [ctypes.c_uint64(buffer.address) for buffer in buffers]
        pointers = [ctypes.addressof(value) for value in values]
        parameters = (ctypes.c_void_p * len(values))(*pointers)
        self._call(
            "cuFuncSetAttribute",
            ctypes.c_void_p(kernel.handle),
            _MAX_DYNAMIC_SHARED_BYTES,
            shared,
        )
        self._call(
            "cuLaunchKernel",
            ctypes.c_void_p(kernel.handle),
            *grid,
            *block,
            shared,
            None,
            parameters,
            None,
        )
        self._call("cuCtxSynchronize")

    def statistics(self) -> dict:
        """What kernels have done since the emulator was made, by their names."""
        return json.loads(self._library.act_gpu_emulator_statistics())


class Module:
    """Kernels that were loaded together."""

    def __init__(self, emulator: Emulator, handle: ctypes.c_void_p) -> None:
        self._emulator = emulator
        self._handle = handle

    def kernel(self, name: str) -> Kernel:
        """The kernel of this name."""
        handle = ctypes.c_void_p()
        self._emulator._call(
            "cuModuleGetFunction", ctypes.byref(handle), self._handle, name.encode()
        )
        assert handle.value is not None
        count = self._emulator._library.act_gpu_emulator_num_parameters(handle)
        return Kernel(handle.value, count)
