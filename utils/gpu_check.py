# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What utils/gpu-check.sh executes: recorded steps on a GPU, launch by launch."""

import argparse
import array
import ctypes
import json
import math
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from cuda_driver import (
    MULTIPROCESSORS,
    Driver,
    DriverError,
    Kernel,
    Module,
)

#: The largest error of a result relative to its largest element, by type. Exact
#: agreement is asked for where there is none.
TOLERANCES = {"f64": 1e-5, "f32": 1e-4, "f16": 5e-3, "bf16": 4e-2}
#: What one launch may change: the error where bytes are read as floats, and the share
#: of bytes where they are codes or indices, of which few may be rounded differently.
LAUNCH_ERROR = 1e-3
LAUNCH_SHARE = 1e-3
_ROUNDS = 20
_RECORDINGS = Path(__file__).resolve().parent.parent / "build" / "recordings"
_COPY_BYTES = 1 << 30
_EMULATED_COPY_BYTES = 1 << 16
#: Products of mma.sync.m16n8k16: multiplications and additions.
_MMA_FLOPS = 2 * 16 * 8 * 16
_MMA_CHAINS = 8
_MMA_WARPS = 8

#: `iterations` rounds of independent products per warp. The store keeps them.
_MMA_PTX = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry mma_rate(
    .param .u64 mma_rate_param_0,
    .param .u32 mma_rate_param_1
)
{
    .reg .pred %p;
    .reg .b32 %n, %a;
    .reg .f32 %f<32>, %s;
    .reg .b64 %x;
    mov.u32 %a, %tid.x;
    ld.param.u32 %n, [mma_rate_param_1];
INIT
LOOP:
PRODUCTS
    sub.u32 %n, %n, 1;
    setp.ne.u32 %p, %n, 0;
    @%p bra LOOP;
    ld.param.u64 %x, [mma_rate_param_0];
    mov.f32 %s, 0f00000000;
SUMS
    st.global.f32 [%x], %s;
    ret;
}
"""


def mma_ptx() -> bytes:
    """Returns the text of a kernel that does nothing but products of bf16."""
    count = 4 * _MMA_CHAINS
    products = [
        "    mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        f"{{{regs}}}, {{%a, %a, %a, %a}}, {{%a, %a}}, {{{regs}}};"
        for regs in (
            ", ".join(f"%f{4 * chain + i}" for i in range(4))
            for chain in range(_MMA_CHAINS)
        )
    ]
    text = _MMA_PTX.replace(
        "INIT", "\n".join(f"    mov.f32 %f{i}, 0f00000000;" for i in range(count))
    )
    text = text.replace("PRODUCTS", "\n".join(products))
    text = text.replace(
        "SUMS", "\n".join(f"    add.rn.f32 %s, %s, %f{i};" for i in range(count))
    )
    return text.encode()


def floats(data: bytes, kind: str) -> list[float]:
    """Returns bytes as floats of a type."""
    if kind in ("f32", "f64"):
        values = array.array("f" if kind == "f32" else "d")
        values.frombytes(data[: len(data) // values.itemsize * values.itemsize])
        return values.tolist()
    bits = array.array("H")
    bits.frombytes(data[: len(data) // 2 * 2])
    if kind == "bf16":
        wide = array.array("I", (value << 16 for value in bits))
        return floats(wide.tobytes(), "f32")
    return [half(value) for value in bits]


def half(bits: int) -> float:
    """Returns the f16 of 16 bits."""
    sign = -1.0 if bits >> 15 else 1.0
    exponent, mantissa = bits >> 10 & 31, bits & 1023
    if exponent == 31:
        return math.nan if mantissa else sign * math.inf
    if exponent == 0:
        return sign * mantissa * 2.0**-24
    return sign * (1 + mantissa / 1024) * 2.0 ** (exponent - 15)


def error_of(found: bytes, expected: bytes, kind: str) -> float:
    """Returns the largest difference relative to the largest expected element."""
    if found == expected:
        return 0.0
    if kind not in TOLERANCES:
        return math.inf
    pairs = list(zip(floats(found, kind), floats(expected, kind), strict=True))
    # A NaN or infinity in one place only is as wrong as can be.
    differences = [
        abs(x - y) if math.isfinite(x) and math.isfinite(y) else math.inf
        for x, y in pairs
        if x != y and not (math.isnan(x) and math.isnan(y))
    ]
    largest = max((abs(y) for _, y in pairs if math.isfinite(y)), default=0.0)
    worst = max(differences, default=0.0)
    return worst / largest if largest > 0 else math.inf if worst > 0 else 0.0


class Recording:
    """A recorded step on a device.

    Args:
        driver: of the device.
        folder: what act-run --record wrote.
    """

    def __init__(self, driver: Driver, folder: Path):
        self._driver = driver
        launches = json.loads((folder / "launches.json").read_text())
        manifest = json.loads((folder / "manifest.json").read_text())
        self.name = folder.name
        self._buffers = launches["buffers"]
        self._launches = launches["launches"]
        self._expected = (folder / "expected.bin").read_bytes()
        self._arguments = (folder / "arguments.bin").read_bytes()
        self._entries = {entry["name"]: entry for entry in manifest["kernels"]}
        self._module = Module(driver, (folder / "kernels.ptx").read_bytes())
        self._kernels: dict[str, Kernel] = {}
        self._memory = [driver.allocate(item["bytes"]) for item in self._buffers]
        self._reset()

    def _reset(self) -> None:
        position = 0
        for item, pointer in zip(self._buffers, self._memory, strict=True):
            data = bytes(item["bytes"])
            if item["kind"] == "argument":
                data = self._arguments[position : position + item["bytes"]]
                position += item["bytes"]
            self._driver.write(pointer, data)

    def _launch(self, launch: dict) -> None:
        name = launch["kernel"]
        if name not in self._kernels:
            self._kernels[name] = self._module.kernel(self._entries[name])
        self._kernels[name].launch(
            [
                self._memory[value["buffer"]] + value["offset"]
                if isinstance(value, dict)
                else value
                for value in launch["parameters"]
            ]
        )

    def _compare(self, launch: dict, failures: list[str]) -> float:
        """Compares what a launch wrote, and puts right what is wrong."""
        total = different = 0
        worst = 0.0
        for buffer, offset, nbytes, position in launch["changes"]:
            expected = self._expected[position : position + nbytes]
            found = self._driver.read(self._memory[buffer] + offset, nbytes)
            total += nbytes
            if found == expected:
                continue
            different += sum(x != y for x, y in zip(found, expected, strict=True))
            worst = max(
                worst, min(error_of(found, expected, kind) for kind in ("f32", "bf16"))
            )
            self._driver.write(self._memory[buffer] + offset, expected)
        if worst > LAUNCH_ERROR and different > LAUNCH_SHARE * total:
            failures.append(
                f"{launch['kernel']}: {different} of {total} bytes differ, error "
                f"{worst:.1e}"
            )
        return different / total if total else 0.0

    def check_launches(self) -> dict:
        """Executes every launch on what the emulator had before it."""
        self._reset()
        failures: list[str] = []
        shares = []
        for launch in self._launches:
            self._launch(launch)
            self._driver.synchronize()
            shares.append(self._compare(launch, failures))
        return {
            "kernels": len({launch["kernel"] for launch in self._launches}),
            "launches": len(shares),
            "identical_launches": sum(share == 0 for share in shares),
            "failures": failures,
        }

    def _final_results(self) -> dict[int, bytes]:
        """Returns the bytes of each result by the number of its buffer."""
        results = {
            number: bytearray(item["bytes"])
            for number, item in enumerate(self._buffers)
            if item["kind"] == "result"
        }
        for launch in self._launches:
            for buffer, offset, nbytes, position in launch["changes"]:
                if buffer in results:
                    data = self._expected[position : position + nbytes]
                    results[buffer][offset : offset + nbytes] = data
        return {number: bytes(data) for number, data in results.items()}

    def check_results(self) -> dict:
        """Executes the step as a whole and compares its results."""
        self._reset()
        for launch in self._launches:
            self._launch(launch)
        self._driver.synchronize()
        worst, failures = 0.0, []
        for place, (number, expected) in enumerate(self._final_results().items()):
            item = self._buffers[number]
            found = self._driver.read(self._memory[number], item["bytes"])
            error = error_of(found, expected, item["type"])
            worst = max(worst, error)
            if error > TOLERANCES.get(item["type"], 0.0):
                failures.append(f"result {place} ('{item['name']}'): error {error:.1e}")
        return {"worst_error": worst, "failures": failures}

    def seconds(self, rounds: int) -> float:
        """Returns the median time of a step, without copies."""
        times = []
        for _ in range(rounds):
            start, end = self._driver.event(), self._driver.event()
            self._driver.record(start)
            for launch in self._launches:
                self._launch(launch)
            self._driver.record(end)
            times.append(self._driver.seconds(start, end))
        return sorted(times)[len(times) // 2]

    def close(self) -> None:
        """Frees the memory of the device."""
        for pointer in self._memory:
            self._driver.free(pointer)


def copy_rate(driver: Driver, nbytes: int, rounds: int) -> float:
    """Returns bytes that copies on the device read and write in a second."""
    source, target = driver.allocate(nbytes), driver.allocate(nbytes)
    times = []
    for _ in range(rounds):
        start, end = driver.event(), driver.event()
        driver.record(start)
        driver.call(
            "cuMemcpyDtoDAsync_v2",
            ctypes.c_uint64(target),
            ctypes.c_uint64(source),
            ctypes.c_size_t(nbytes),
            None,
        )
        driver.record(end)
        times.append(driver.seconds(start, end))
    driver.free(source)
    driver.free(target)
    return 2 * nbytes / max(min(times), 1e-9)


def mma_rate(driver: Driver, blocks: int, iterations: int) -> float:
    """Returns operations of bf16 products in a second."""
    entry = {
        "name": "mma_rate",
        "parameters": [{"kind": "pointer"}, {"kind": "i32"}],
        "grid": [blocks, 1, 1],
        "block": [32 * _MMA_WARPS, 1, 1],
        "dynamic_shared_bytes": 0,
    }
    kernel = Module(driver, mma_ptx()).kernel(entry)
    memory = driver.allocate(4)
    times = []
    for _ in range(3):
        start, end = driver.event(), driver.event()
        driver.record(start)
        kernel.launch([memory, iterations])
        driver.record(end)
        times.append(driver.seconds(start, end))
    driver.free(memory)
    products = blocks * _MMA_WARPS * iterations * _MMA_CHAINS
    return products * _MMA_FLOPS / max(min(times), 1e-9)


def check(driver: Driver, folders: dict[str, Path], deadline: float) -> dict:
    """Checks and measures all recordings, by name, that there is time for."""
    emulated = "emulator" in driver.name().lower()
    rounds = 2 if emulated else _ROUNDS
    nbytes = _EMULATED_COPY_BYTES if emulated else _COPY_BYTES
    blocks = 1 if emulated else 4 * driver.attribute(MULTIPROCESSORS)
    report: dict = {
        "device": driver.name(),
        "architecture": driver.architecture(),
        "copy_bytes_per_second": copy_rate(driver, nbytes, rounds),
        "mma_bf16_flops": mma_rate(driver, blocks, 2 if emulated else 20000),
        "steps": {},
        "not_started": [],
    }
    for name, folder in folders.items():
        if time.monotonic() > deadline:
            report["not_started"].append(name)
            continue
        recording = Recording(driver, folder)
        step = recording.check_launches()
        results = recording.check_results()
        step["failures"] += results["failures"]
        step["worst_error"] = results["worst_error"]
        step["step_seconds"] = recording.seconds(rounds)
        recording.close()
        report["steps"][name] = step
        print(
            f"{name}: {step['launches']} launches, "
            f"{step['identical_launches']} identical, worst error of a result "
            f"{step['worst_error']:.1e}, {1e3 * step['step_seconds']:.3f} ms"
        )
        for failure in step["failures"]:
            print(f"{name}: error: {failure}")
    return report


def main() -> int:
    """Reads the command line; the exit status is 1 if something differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "folder",
        type=Path,
        nargs="?",
        default=_RECORDINGS,
        help="a recording, or a folder of them [build/recordings]",
    )
    parser.add_argument("--json", type=Path, help="file for all figures")
    parser.add_argument("--driver", default=os.environ.get("ACT_GPU_DRIVER"))
    parser.add_argument("--seconds", type=float, default=280.0)
    options = parser.parse_args()
    try:
        driver = Driver(options.driver or "libcuda.so.1")
    except DriverError as error:
        if options.driver:
            sys.exit(f"error: {error}")
        print(f"skipped: {error}")
        report: dict = {"skipped": str(error)}
    else:
        found = sorted(path.parent for path in options.folder.rglob("launches.json"))
        folders = {
            path.relative_to(options.folder).as_posix()
            if path != options.folder
            else path.name: path
            for path in found
        }
        if not folders:
            sys.exit(
                f"error: no recording in {options.folder}; "
                "utils/gpu-check.sh --prepare STEP.mlir... makes some"
            )
        try:
            report = check(driver, folders, time.monotonic() + options.seconds)
        except DriverError as error:
            sys.exit(f"error: {error}")
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n")
    failures = [step for step in report.get("steps", {}).values() if step["failures"]]
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
