# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CUDA's driver API by ctypes: what is needed to launch kernels from PTX text.

Nothing but Python's own library is used, so that it runs wherever a driver is. The
library may be act's emulator of a GPU, which exports the same functions.
"""

import ctypes
from collections.abc import Sequence

#: cuModuleLoadDataEx: the buffer for messages about errors, and its size.
_JIT_ERROR_LOG = 5
_JIT_ERROR_LOG_BYTES = 6
_LOG_BYTES = 8192
#: cuDeviceGetAttribute.
MULTIPROCESSORS = 16
_COMPUTE_MAJOR = 75
_COMPUTE_MINOR = 76
#: cuFuncSetAttribute and cuFuncGetAttribute.
_STATIC_SHARED_BYTES = 1
_REGISTERS = 4
_MAX_DYNAMIC_SHARED_BYTES = 8
#: Shared memory that a kernel may use without asking.
_DEFAULT_SHARED_BYTES = 48 << 10

#: C types of scalar parameters by the kinds that manifests have.
SCALARS = {
    "i1": ctypes.c_uint8,
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}


class DriverError(Exception):
    """There is no driver, or one of its functions failed."""


class Driver:
    """A device, its primary context and its default stream.

    Args:
        path: of the library with the driver API.
        device: number of the device.

    Raises:
        DriverError: there is no such library or device.
    """

    def __init__(self, path: str = "libcuda.so.1", device: int = 0):
        try:
            self._library = ctypes.CDLL(path)
        except OSError as error:
            raise DriverError(f"there is no driver for a GPU: {error}") from error
        self.call("cuInit", ctypes.c_uint(0))
        self._device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(self._device), ctypes.c_int(device))
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self._device)
        self.call("cuCtxSetCurrent", context)

    def call(self, name: str, *arguments: object) -> None:
        """Calls a function.

        Raises:
            DriverError: it is missing or fails.
        """
        try:
            function = getattr(self._library, name)
        except AttributeError as error:
            raise DriverError(f"the driver has no {name}") from error
        result = function(*arguments)
        if result != 0:
            raise DriverError(f"{name}: {self._describe(result)}")

    def _describe(self, result: int) -> str:
        parts = []
        for name in ("cuGetErrorName", "cuGetErrorString"):
            text = ctypes.c_char_p()
            getattr(self._library, name)(ctypes.c_int(result), ctypes.byref(text))
            if text.value:
                parts.append(text.value.decode(errors="replace"))
        if hasattr(self._library, "act_gpu_emulator_last_error"):
            detail = self._library.act_gpu_emulator_last_error
            detail.restype = ctypes.c_char_p
            if message := detail():
                parts.append(message.decode(errors="replace"))
        return ": ".join(parts) or f"error {result}"

    def attribute(self, number: int) -> int:
        """Returns an attribute of the device, by its number in the driver API."""
        value = ctypes.c_int()
        self.call(
            "cuDeviceGetAttribute",
            ctypes.byref(value),
            ctypes.c_int(number),
            self._device,
        )
        return value.value

    def name(self) -> str:
        """Returns the name of the device."""
        text = ctypes.create_string_buffer(128)
        self.call("cuDeviceGetName", text, ctypes.c_int(len(text)), self._device)
        return text.value.decode(errors="replace")

    def architecture(self) -> int:
        """Returns 10 * major + minor of the compute capability."""
        return 10 * self.attribute(_COMPUTE_MAJOR) + self.attribute(_COMPUTE_MINOR)

    def allocate(self, nbytes: int) -> int:
        """Returns the address of `nbytes` bytes of the device."""
        pointer = ctypes.c_uint64()
        size = ctypes.c_size_t(max(nbytes, 1))
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), size)
        return pointer.value

    def free(self, pointer: int) -> None:
        """Gives memory back."""
        self.call("cuMemFree_v2", ctypes.c_uint64(pointer))

    def write(self, pointer: int, data: bytes) -> None:
        """Copies `data` to the device."""
        if data:
            size = ctypes.c_size_t(len(data))
            self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(pointer), data, size)

    def read(self, pointer: int, nbytes: int) -> bytes:
        """Returns bytes of the device, once all launches before are done."""
        buffer = ctypes.create_string_buffer(max(nbytes, 1))
        if nbytes:
            size = ctypes.c_size_t(nbytes)
            self.call("cuMemcpyDtoH_v2", buffer, ctypes.c_uint64(pointer), size)
        return buffer.raw[:nbytes]

    def synchronize(self) -> None:
        """Waits until everything is done."""
        self.call("cuCtxSynchronize")

    def event(self) -> ctypes.c_void_p:
        """Returns a new event."""
        event = ctypes.c_void_p()
        self.call("cuEventCreate", ctypes.byref(event), ctypes.c_uint(0))
        return event

    def record(self, event: ctypes.c_void_p) -> None:
        """Queues an event."""
        self.call("cuEventRecord", event, None)

    def seconds(self, start: ctypes.c_void_p, end: ctypes.c_void_p) -> float:
        """Returns the time between two events, once the second is done."""
        self.call("cuEventSynchronize", end)
        milliseconds = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(milliseconds), start, end)
        return milliseconds.value * 1e-3


class Module:
    """Kernels from PTX text or a cubin.

    Args:
        driver: of the device.
        code: the text or binary.

    Raises:
        DriverError: the driver cannot compile or load it, with its message.
    """

    def __init__(self, driver: Driver, code: bytes):
        self._driver = driver
        self._handle = ctypes.c_void_p()
        log = ctypes.create_string_buffer(_LOG_BYTES)
        options = (ctypes.c_int * 2)(_JIT_ERROR_LOG, _JIT_ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), _LOG_BYTES - 1)
        try:
            driver.call(
                "cuModuleLoadDataEx",
                ctypes.byref(self._handle),
                ctypes.create_string_buffer(code),
                ctypes.c_uint(2),
                options,
                values,
            )
        except DriverError as error:
            message = log.value.decode(errors="replace").strip()
            raise DriverError(
                f"{error}: {message}" if message else str(error)
            ) from None

    def kernel(self, entry: dict) -> "Kernel":
        """Returns the kernel that an entry of a manifest describes."""
        return Kernel(self._driver, self._handle, entry)


class Kernel:
    """A kernel with its entry in a manifest. Modules have them."""

    def __init__(self, driver: Driver, module: ctypes.c_void_p, entry: dict):
        self._driver = driver
        self.entry = entry
        self._function = ctypes.c_void_p()
        name = entry["name"].encode()
        driver.call("cuModuleGetFunction", ctypes.byref(self._function), module, name)
        dynamic = entry["dynamic_shared_bytes"]
        if dynamic + self._attribute(_STATIC_SHARED_BYTES) > _DEFAULT_SHARED_BYTES:
            driver.call(
                "cuFuncSetAttribute",
                self._function,
                ctypes.c_int(_MAX_DYNAMIC_SHARED_BYTES),
                ctypes.c_int(dynamic),
            )

    def _attribute(self, number: int) -> int:
        value = ctypes.c_int()
        self._driver.call(
            "cuFuncGetAttribute",
            ctypes.byref(value),
            ctypes.c_int(number),
            self._function,
        )
        return value.value

    def registers(self) -> int:
        """Returns the registers of a thread."""
        return self._attribute(_REGISTERS)

    def launch(self, arguments: Sequence[float]) -> None:
        """Queues the kernel.

        Args:
            arguments: an address of the device for a pointer, else a number, in the
                order of the manifest.

        Raises:
            ValueError: there are more or fewer than the kernel has parameters.
            DriverError: the kernel cannot be launched.
        """
        kinds = [parameter["kind"] for parameter in self.entry["parameters"]]
        if len(kinds) != len(arguments):
            raise ValueError(
                f"expects {len(kinds)} arguments of {self.entry['name']}, "
                f"got {len(arguments)}"
            )
        values = [
            ctypes.c_uint64(argument) if kind == "pointer" else SCALARS[kind](argument)
            for kind, argument in zip(kinds, arguments, strict=True)
        ]
        pointers = (ctypes.c_void_p * max(len(values), 1))(
            *(ctypes.addressof(value) for value in values)
        )
        sizes = [*self.entry["grid"], *self.entry["block"]]
        self._driver.call(
            "cuLaunchKernel",
            self._function,
            *(ctypes.c_uint(size) for size in sizes),
            ctypes.c_uint(self.entry["dynamic_shared_bytes"]),
            None,
            pointers,
            None,
        )
