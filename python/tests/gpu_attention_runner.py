# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs linear attention as PTX on act's emulator of a GPU.

`act-opt` turns one operation on buffers into launches of kernels and the kernels
into PTX. The host function is read here: it consists of addresses and launches.
"""

import ctypes
import dataclasses
import functools
import os
import re
import subprocess
from pathlib import Path

import numpy as np
from attention_runner import DTYPES, element, signature
from encoding_runner import act_opt
from reference_attention import Case, Tensors

LIBRARY = Path(
    os.environ.get(
        "ACT_GPU_EMULATOR_LIBRARY",
        Path(__file__).parents[2] / "build" / "lib" / "libact_gpu_emu.so",
    )
)
_OPERATIONS = {
    "forward": "act.linear_attention",
    "grad": "act.linear_attention_grad",
    "state": "act.linear_attention_state",
}
_POLICIES = {"rescan": "#act.rescan", "reverse": "#act.reverse"}
#: What buffers hold before kernels write them: NaN, as every scratch memory.
_UNSET = 0xFF


@dataclasses.dataclass(frozen=True)
class Program:
    """Launches on the host and the text of kernels."""

    host: str
    ptx: str


def _in_place(kind: str) -> tuple[str, ...]:
    """Names of results that are given in the buffers of operands: states."""
    return ("d_state", "d_key_sum") if kind == "grad" else ("state", "key_sum")


def buffers(case: Case, kind: str) -> list[str]:
    """Names of all buffers; destinations that are not read are `out_NAME`."""
    operands, results = signature(case, kind)
    return operands + [f"out_{n}" for n in results if n not in _in_place(kind)]


def _plain(name: str) -> str:
    return name.removeprefix("out_").removeprefix("d_")


def _type(case: Case, name: str) -> str:
    sizes = "".join(f"{size}x" for size in case.shapes[_plain(name)])
    return f"memref<{sizes}{element(case, _plain(name))}>"


def operation_module(case: Case, kind: str) -> str:
    """A module whose main is one operation on buffers."""
    _, results = signature(case, kind)
    outs = [n if n in _in_place(kind) else f"out_{n}" for n in results]
    states = [n for n in ("state", "key_sum") if n in case.shapes]

    def clause(keyword: str, names: list[str]) -> str:
        names = [n for n in names if _plain(n) in case.shapes]
        if not names:
            return ""
        values = ", ".join(f"%{n}" for n in names)
        return f"{keyword}({values} : {', '.join(_type(case, n) for n in names)}) "

    rows = ["key", "value"] if kind == "state" else ["query", "key", "value"]
    text = clause("ins", rows) + clause("decay", ["decay"])
    if kind == "grad":
        saved = ["output", "denominator"] if case.normalize else []
        text += "".join(clause(name, [name]) for name in saved)
        text += clause("gradient", ["d_output"]) + clause("states", states)
    text += clause("outs", outs)
    attributes = [f"feature_map = #act.{case.feature_map}"]
    if case.normalize:
        attributes.append("normalize")
    if kind == "state":
        attributes += ["subtract"] if case.subtract else []
    else:
        attributes.append(f"scale = {case.scale:e} : f64")
        epsilon = case.epsilon if case.normalize else 0
        attributes.append(f"epsilon = {epsilon:e} : f64")
    if kind == "grad":
        policy = _POLICIES.get(
            case.state_policy, f"#act.checkpoint<segment = {case.segment}>"
        )
        attributes.append(f"state_policy = {policy}")
    names = buffers(case, kind)
    arguments = ", ".join(f"%{n}: {_type(case, n)}" for n in names)
    return f"""func.func @main({arguments}) {{
  {_OPERATIONS[kind]} {text}{{{", ".join(attributes)}}}
  return
}}"""


@functools.lru_cache(maxsize=64)
def compile_kernels(case: Case, kind: str, segments: int) -> Program:
    """Runs act-opt."""
    pipeline = (
        f"builtin.module(convert-linear-attention-to-gpu{{segments={segments}}},"
        "canonicalize,cse,gpu.module(act-lower-gpu-kernels),act-gpu-to-binary)"
    )
    done = subprocess.run(
        [act_opt(), f"--pass-pipeline={pipeline}"],
        input=operation_module(case, kind),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', done.stdout)
    ptx = re.sub(
        r"\\([0-9A-F]{2}|\\)",
        lambda m: "\\" if m[1] == "\\" else chr(int(m[1], 16)),
        text[1],
    )
    start = done.stdout.index("func.func @main")
    return Program(done.stdout[start:], ptx.rstrip("\0"))


@functools.lru_cache(maxsize=1)
def emulator() -> ctypes.CDLL:
    """The emulator's driver API, with all checks on."""
    library = ctypes.CDLL(str(LIBRARY))
    library.act_gpu_emulator_last_error.restype = ctypes.c_char_p
    assert library.act_gpu_emulator_configure(b"check=1,schedule=forward") == 0
    assert library.cuInit(0) == 0
    context = ctypes.c_void_p()
    assert library.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert library.cuCtxSetCurrent(context) == 0
    return library


def _check(status: int) -> None:
    message = emulator().act_gpu_emulator_last_error()
    assert status == 0, (message or b"").decode()


class _Host:
    """Executes the host function: addresses of buffers and launches."""

    _PATTERNS = (
        (r"(%\S+) = arith\.constant (-?\d+) :", "_constant"),
        (r"(%\S+) = memref\.alloc\(\).* memref<(\d+)xi8>", "_allocate"),
        (r"(%\S+) = memref\.extract_aligned_pointer_as_index (%\S+)", "_copy"),
        (r"(%\S+) = (?:arith\.index_cast|llvm\.inttoptr) (%\S+)", "_copy"),
        (r"(%\S+) = arith\.addi (%\S+), (%[^\s:]+)", "_add"),
        (
            r"gpu\.launch_func +@kernels::@(\S+) blocks in \((.*?)\) "
            r"threads in \((.*?)\) +(?:dynamic_shared_memory_size (\S+) )?"
            r"args\((.*)\)",
            "_launch",
        ),
    )

    def __init__(self, program: Program, addresses: list[int]) -> None:
        self.library = emulator()
        self.module = ctypes.c_void_p()
        text = program.ptx.encode()
        _check(self.library.cuModuleLoadData(ctypes.byref(self.module), text))
        names = re.findall(r"(%\w+): memref", program.host.split("{\n")[0])
        self.values = dict(zip(names, addresses, strict=True))
        self.scratch: list[int] = []
        self.launched: list[str] = []
        for line in program.host.splitlines()[1:]:
            for pattern, action in self._PATTERNS:
                if found := re.match(pattern, line.strip()):
                    getattr(self, action)(*found.groups())
            if line.strip() == "return":
                break
        for address in self.scratch:
            _check(self.library.cuMemFree_v2(ctypes.c_uint64(address)))
        _check(self.library.cuModuleUnload(self.module))

    def _constant(self, name: str, value: str) -> None:
        self.values[name] = int(value)

    def _allocate(self, name: str, size: str) -> None:
        self.values[name] = allocate(np.full(int(size), _UNSET, np.uint8))
        self.scratch.append(self.values[name])

    def _copy(self, name: str, other: str) -> None:
        self.values[name] = self.values[other]

    def _add(self, name: str, left: str, right: str) -> None:
        self.values[name] = self.values[left] + self.values[right]

    def _launch(
        self, name: str, blocks: str, threads: str, shared: str | None, arguments: str
    ) -> None:
        function = ctypes.c_void_p()
        _check(
            self.library.cuModuleGetFunction(
                ctypes.byref(function), self.module, name.encode()
            )
        )
        extents = [self.values[v] for v in f"{blocks}, {threads}".split(", ")]
        size = self.values[shared] if shared else 0
        pointers = [
            ctypes.c_uint64(self.values[v]) for v in re.findall(r"(%\S+) :", arguments)
        ]
        parameters = (ctypes.c_void_p * len(pointers))(
            *[ctypes.addressof(pointer) for pointer in pointers]
        )
        if size > 48 * 1024:
            # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            _check(self.library.cuFuncSetAttribute(function, 8, size))
        _check(
            self.library.cuLaunchKernel(
                function, *extents, size, None, parameters, None
            )
        )
        self.launched.append(name)


def allocate(array: np.ndarray) -> int:
    """Copies an array to the device."""
    pointer = ctypes.c_uint64()
    library = emulator()
    _check(library.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(array.nbytes)))
    source = ctypes.c_void_p(array.ctypes.data)
    _check(library.cuMemcpyHtoD_v2(pointer, source, ctypes.c_size_t(array.nbytes)))
    return pointer.value


def run(
    case: Case,
    kind: str,
    tensors: Tensors,
    cotangents: Tensors | None = None,
    *,
    segments: int = 1,
    schedule: str = "forward",
) -> Tensors:
    """Runs one operation; results in the types that it has."""
    _, results = signature(case, kind)
    program = compile_kernels(case, kind, segments)
    library = emulator()
    _check(library.act_gpu_emulator_configure(f"schedule={schedule}".encode()))
    given = tensors | {f"d_{k}": v for k, v in (cotangents or {}).items()}
    arrays = {}
    for name in buffers(case, kind):
        dtype = DTYPES[element(case, _plain(name))]
        if name.startswith("out_"):
            size = int(np.prod(case.shapes[_plain(name)])) * dtype.itemsize
            unset = np.full(size, _UNSET, np.uint8)
            arrays[name] = unset.view(dtype).reshape(case.shapes[_plain(name)])
        else:
            arrays[name] = np.array(given[name]).astype(dtype)
    addresses = [allocate(array) for array in arrays.values()]
    _Host(program, addresses)
    for address, array in zip(addresses, arrays.values(), strict=True):
        target = ctypes.c_void_p(array.ctypes.data)
        pointer = ctypes.c_uint64(address)
        _check(library.cuMemcpyDtoH_v2(target, pointer, ctypes.c_size_t(array.nbytes)))
        _check(library.cuMemFree_v2(pointer))
    wanted = [n if n in _in_place(kind) else f"out_{n}" for n in results]
    return {
        n.removeprefix("d_"): arrays[w] for n, w in zip(results, wanted, strict=True)
    }
