# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Encodes and decodes by act's kernels for GPUs, on the emulator."""

import dataclasses
import functools
import math
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import numpy as np
from encoding_runner import Loaded, Save, act_opt
from gpu_emulator import Emulator

_NAMES = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "bool": "i1",
    "uint8": "i8",
    "int8": "i8",
    "uint16": "i16",
    "int16": "i16",
    "int32": "i32",
}
_CODES = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f32": np.float32,
}


def emulator_library() -> Path:
    """The emulator under test."""
    default = Path(__file__).parents[2] / "build" / "lib" / "libact_gpu_emu.so"
    return Path(os.environ.get("ACT_GPU_EMULATOR_LIBRARY", default))


@dataclasses.dataclass(frozen=True)
class Fields:
    """The parameters of an encoding, as written."""

    kind: str
    values: dict[str, str]

    @classmethod
    def of(cls, save: Save) -> "Fields":
        """Those of a save."""
        kind, _, rest = save.encoding.partition("<")
        pairs = (item.split(" = ") for item in rest.rstrip(">").split(", ") if item)
        return cls(kind, dict(pairs))

    def number(self, name: str, default: int = 0) -> int:
        """An integer."""
        return int(self.values.get(name, default))

    @property
    def salted(self) -> bool:
        """True if codes are rounded with noise."""
        return self.kind.endswith("quant") and (
            self.values.get("rounding") != "nearest"
        )


def storage(save: Save) -> list[np.ndarray]:
    """Arrays of zeros with the types of what `save` stores."""
    fields, shape = Fields.of(save), list(save.shape)
    bits, group = fields.number("bits", 1), fields.number("group")
    if fields.kind == "raw":
        return [np.zeros(shape, save.dtype)]
    if fields.kind == "axis_quant":
        one = [1] * len(shape)
        axis = fields.number("axis")
        one[axis] = shape[axis]
        codes = [*shape[:-1], math.ceil(shape[-1] * bits / 8)]
        return [np.zeros(codes, np.uint8), *(np.zeros(one, np.float32) for _ in "ms")]
    if fields.kind == "float":
        code = _CODES[fields.values["type"]]
        if not group:
            return [np.zeros(shape, code)]
        group = min(group, shape[-1])
        outer = [*shape[:-1], math.ceil(shape[-1] / group)]
        return [np.zeros([*outer, group], code), np.zeros([*outer, 1], np.float32)]
    merge, axis = fields.number("merge", 1), fields.number("axis", -1)
    outer, inner = shape[:-merge], []
    extent = math.prod(shape[-merge:])
    if axis >= 0:
        outer, extent, inner = shape[:axis], shape[axis], shape[axis + 1 :]
    if fields.kind == "group_quant":
        group = min(group, extent)
        outer = [*outer, math.ceil(extent / group)]
        params = np.zeros(
            [*outer, 1, *inner], _CODES[fields.values.get("params", "bf16")]
        )
        codes = [*outer, math.ceil(group * bits / 8), *inner]
        return [np.zeros(codes, np.uint8), params, params.copy()]
    if bits >= 8:
        return [np.zeros(shape, np.uint8 if bits == 8 else np.uint16)]
    if group:
        outer, extent = [*outer, math.ceil(extent / group)], group
    return [np.zeros([*outer, math.ceil(extent * bits / 8)], np.uint8)]


def _memref(array: np.ndarray) -> str:
    sizes = "".join(f"{size}x" for size in array.shape)
    return f"memref<{sizes}{_NAMES[array.dtype.name]}>"


def _function(name: str, types: Sequence[str], operation: str) -> str:
    def arguments(prefix: str) -> str:
        return ", ".join(f"%{prefix}{i}: {type}" for i, type in enumerate(types))

    names = ", ".join(f"%a{i}" for i in range(len(types)))
    return (
        f"func.func @{name}({arguments('a')}) {{\n"
        f"act.kernel codec [1] ({names} : {', '.join(types)}) {{\n"
        f"^bb0({arguments('')}):\n{operation}\n}}\nreturn\n}}\n"
    )


def kernels(save: Save) -> str:
    """A module that encodes (`@encode`) and decodes (`@decode`)."""
    plain = _memref(np.zeros(save.shape, save.dtype))
    parts = [_memref(part) for part in storage(save)]
    salted = Fields.of(save).salted
    types = [plain, *(["memref<i32>"] if salted else []), *parts]
    first = len(types) - len(parts)
    outs = ", ".join(f"%{first + i}" for i in range(len(parts)))
    salt = "salt(%1 : memref<i32>) " if salted else ""
    ins = ", ".join(f"%{i}" for i in range(len(parts)))
    listed, attribute = ", ".join(parts), f"{{encoding = #act.{save.encoding}}}"
    return _function(
        "encode",
        types,
        f"act.encode ins(%0 : {plain}) {salt}outs({outs} : {listed}) {attribute}",
    ) + _function(
        "decode",
        [*parts, plain],
        f"act.decode ins({ins} : {listed}) outs(%{len(parts)} : {plain}) {attribute}",
    )


@dataclasses.dataclass(frozen=True)
class Compiled:
    """PTX, and grid and block of each kernel."""

    ptx: str
    extents: dict[str, tuple[tuple[int, ...], tuple[int, ...]]]


@functools.cache
def compile_save(save: Save, options: str = "") -> Compiled:
    """The kernels of a save; `options` are those of `test-emit-gpu-codecs`."""
    emit = f"test-emit-gpu-codecs{{{options}}}" if options else "test-emit-gpu-codecs"
    passes = (
        f"builtin.module({emit},canonicalize,cse,"
        "gpu.module(act-lower-gpu-kernels),act-gpu-to-binary)"
    )
    done = subprocess.run(
        [act_opt(), f"--pass-pipeline={passes}"],
        input=kernels(save),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    escaped = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', done.stdout)
    assert escaped
    ptx = re.sub(r"\\([0-9A-Fa-f]{2})", lambda code: chr(int(code[1], 16)), escaped[1])
    extents = {}
    for name, metadata in re.findall(
        r'kernel_metadata<"(\w+)".*?metadata = \{(.*?)\}', done.stdout
    ):
        sizes = dict(re.findall(r"(\w+) = array<i32: ([\d, ]+)>", metadata))
        extents[name] = tuple(
            tuple(int(size) for size in sizes[key].split(", "))
            for key in ("grid", "block")
        )
    return Compiled(ptx.rstrip("\0"), extents)


def round_trip(
    save: Save,
    tensor: np.ndarray,
    given: Sequence[np.ndarray] | None = None,
    salt: int = 0,
    options: str = "",
    schedule: str = "forward",
) -> Loaded:
    """What kernels store for `tensor`, and what they decode.

    Args:
        save: the encoding and the type of the tensor.
        tensor: its values.
        given: storage to decode instead of what was stored.
        salt: of the noise.
        options: those of `test-emit-gpu-codecs`.
        schedule: of the emulator, which checks every access.
    """
    compiled = compile_save(save, options)
    parts = storage(save)
    with Emulator(emulator_library(), f"check=1,schedule={schedule}") as emulator:
        module = emulator.load(compiled.ptx)
        # Another pattern than zeros, which tells what was not written.
        stored = [
            emulator.upload(np.full(part.nbytes, 0xA5, np.uint8)) for part in parts
        ]
        salts = [emulator.upload(np.array(salt, np.uint32))]
        inputs = [emulator.upload(tensor), *(salts if Fields.of(save).salted else [])]
        emulator.launch(
            module.kernel("encode"), *compiled.extents["encode"], [*inputs, *stored]
        )
        found = tuple(
            emulator.download(buffer, part)
            for buffer, part in zip(stored, parts, strict=True)
        )
        if given is not None:
            stored = [emulator.upload(np.ascontiguousarray(part)) for part in given]
        value = emulator.upload(np.full(tensor.nbytes, 0xA5, np.uint8))
        emulator.launch(
            module.kernel("decode"), *compiled.extents["decode"], [*stored, value]
        )
        return Loaded(found, emulator.download(value, tensor))
