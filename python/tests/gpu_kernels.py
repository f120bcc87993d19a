# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles single kernels to PTX and executes them on act's emulator of a GPU."""

import ctypes
import dataclasses
import functools
import re
import subprocess
from collections.abc import Sequence

import numpy as np

from act import tool

_LIBRARY = "libact_gpu_emu.so"
# Of the driver API.
_MAX_DYNAMIC_SHARED_BYTES = 8
_LAUNCH = re.compile(r"remark: (\w+): (\d+) blocks of (\d+) threads, (\d+) dynamic")
_TEXT = re.compile(r'assembly = "((?:[^"\\]|\\.)*)"')


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel and how it is launched.

    Attributes:
        ptx: text of its module.
        name: its name in the module.
        blocks, threads: of a launch, in one dimension.
        dynamic_shared: bytes of shared memory to ask for at the launch.
    """

    ptx: str
    name: str
    blocks: int
    threads: int
    dynamic_shared: int


def _find_library() -> str:
    return str(tool.find_tool().parents[1] / "lib" / _LIBRARY)


def has_emulator() -> bool:
    """Whether the emulator has been built."""
    try:
        ctypes.CDLL(_find_library())
    except (OSError, tool.ActToolError):
        return False
    return True


def compile_products(text: str, *options: str) -> list[Kernel]:
    """Compiles every kernel of a contraction or convolution.

    Args:
        text: a module with one such kernel in each of its functions.
        options: of test-emit-products.

    Returns:
        The kernels, named like their functions, in their order.

    Raises:
        RuntimeError: act-opt failed.
    """
    emit = "test-emit-products{" + " ".join(options) + "}"
    pipeline = (
        f"builtin.module({emit},gpu.module(act-lower-gpu-kernels),act-gpu-to-binary)"
    )
    done = subprocess.run(
        [tool.find_tool(), f"--pass-pipeline={pipeline}"],
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode != 0:
        raise RuntimeError(f"act-opt failed:\n{done.stderr[:3000]}")
    ptx = _unescape(_TEXT.search(done.stdout).group(1))
    return [
        Kernel(ptx, name, int(blocks), int(threads), int(shared))
        for name, blocks, threads, shared in _LAUNCH.findall(done.stderr)
    ]


def _unescape(text: str) -> str:
    """What a string of MLIR's assembly stands for."""
    return re.sub(
        r"\\([0-9A-Fa-f]{2}|[\"\\])",
        lambda match: match[1] if match[1] in ('"', "\\") else chr(int(match[1], 16)),
        text,
    )


@functools.cache
def _emulator() -> ctypes.CDLL:
    library = ctypes.CDLL(_find_library())
    library.act_gpu_emulator_last_error.restype = ctypes.c_char_p
    library.cuInit(0)
    context = ctypes.c_void_p()
    _check(library, library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    _check(library, library.cuCtxSetCurrent(context))
    return library


def _check(library: ctypes.CDLL, status: int) -> None:
    if status != 0:
        text = library.act_gpu_emulator_last_error().decode()
        raise RuntimeError(f"the driver returned {status}: {text}")


def run(
    kernel: Kernel, buffers: Sequence[np.ndarray], schedule: str = "forward"
) -> None:
    """Executes a kernel under all checks.

    Args:
        kernel: what to launch.
        buffers: one contiguous array per parameter; all are copied to the device
            and back, so that they hold afterwards what the kernel wrote.
        schedule: order of threads: "forward", "reverse" or "random:SEED".

    Raises:
        RuntimeError: the launch failed or a check found something.
    """
    library = _emulator()
    options = f"check=1,schedule={schedule}".encode()
    _check(library, library.act_gpu_emulator_configure(options))
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    image = kernel.ptx.encode() + b"\0"
    _check(library, library.cuModuleLoadData(ctypes.byref(module), image))
    name = kernel.name.encode()
    _check(library, library.cuModuleGetFunction(ctypes.byref(function), module, name))
    _check(
        library,
        library.cuFuncSetAttribute(
            function, _MAX_DYNAMIC_SHARED_BYTES, kernel.dynamic_shared
        ),
    )
    addresses = [ctypes.c_uint64() for _ in buffers]
    for address, buffer in zip(addresses, buffers, strict=True):
        size = ctypes.c_size_t(max(buffer.nbytes, 1))
        _check(library, library.cuMemAlloc_v2(ctypes.byref(address), size))
        _copy(library.cuMemcpyHtoD_v2, address, buffer, from_host=True)
    parameters = (ctypes.c_void_p * len(buffers))(
        *(ctypes.addressof(address) for address in addresses)
    )
    launch = (kernel.blocks, 1, 1, kernel.threads, 1, 1, kernel.dynamic_shared)
    status = library.cuLaunchKernel(function, *launch, None, parameters, None)
    if status == 0:
        status = library.cuCtxSynchronize()
    _check(library, status)
    for address, buffer in zip(addresses, buffers, strict=True):
        _copy(library.cuMemcpyDtoH_v2, address, buffer, from_host=False)
        _check(library, library.cuMemFree_v2(address))
    _check(library, library.cuModuleUnload(module))


def _copy(function, address, buffer: np.ndarray, *, from_host: bool) -> None:
    assert buffer.flags.c_contiguous
    host = ctypes.c_void_p(buffer.ctypes.data)
    size = ctypes.c_size_t(buffer.nbytes)
    if buffer.nbytes:
        operands = (address, host) if from_host else (host, address)
        _check(_emulator(), function(*operands, size))
