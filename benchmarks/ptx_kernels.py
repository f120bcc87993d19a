#!/usr/bin/env python
# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What act's kernels for GPUs cost, by their instructions: no GPU is needed.

    benchmarks/ptx [--json FILE] [--only quantize_bf16_4,...] [--chips sm_80,...]

Compiles kernels to PTX and assembles them with ptxas for each chip, which says how
many registers they use and spill. Instructions are counted in what nvdisasm prints
and give a prediction of how close a kernel comes to the bandwidth of the memory (or
to the rate of tensor cores): see docs/Benchmarks.md. Both tools come from a CUDA
toolkit ($CUDA_HOME or /usr/local/cuda), else from the packages nvidia-cuda-nvcc and
nvidia-cuda-nvdisasm; without ptxas there is nothing to do, without nvdisasm only
registers and spills are printed.
"""

import argparse
import dataclasses
import functools
import json
import math
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

import sass
from ptx_cases import Case, all_cases

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "python" / "tests")]

import gpu_emulator  # noqa: E402

CHIPS = ("sm_80", "sm_90", "sm_100", "sm_120")
DEVICES = (sass.A100, sass.H200)
#: Of the largest buffer of a kernel.
MOST_BYTES = 1 << 27
#: That the emulator executes of each kernel: all of them do the same.
EMULATED_BLOCKS = 4
#: Mnemonics of accesses to global and shared memory.
ACCESSES = "LD[GS](?!DEPBAR)|ST[GS]|ATOM|RED"
#: By how much accesses may differ from those that the emulator counts.
TRUSTED = 0.2


def run(command: Sequence[str | Path], text: str = "") -> str:
    """Runs a tool; its output. Ends with its message if it fails."""
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"benchmarks/ptx: {Path(command[0]).name} failed:\n{done.stderr}")
    return done.stdout


@dataclasses.dataclass(frozen=True)
class Launch:
    """A compiled kernel and how it is launched."""

    name: str
    ptx: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    #: Of each parameter, whether it is an address.
    addresses: tuple[bool, ...]

    @property
    def blocks(self) -> int:
        """Of the grid."""
        return math.prod(self.grid)

    @property
    def threads(self) -> int:
        """Of all blocks."""
        return self.blocks * math.prod(self.block)


@functools.cache
def compile_text(text: str, passes: str) -> str:
    """The module with a `gpu.binary` that act-opt makes of a text."""
    act_opt = os.environ.get("ACT_OPT", ROOT / "build" / "bin" / "act-opt")
    pipeline = (
        f"builtin.module({passes},canonicalize,cse,"
        "gpu.module(act-lower-gpu-kernels),act-gpu-to-binary)"
    )
    return run([act_opt, f"--pass-pipeline={pipeline}"], text)


def make_launches(case: Case) -> list[Launch]:
    """Compiles the kernels of a case."""
    binary = compile_text(case.text, case.passes)
    escaped = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', binary)
    kernels = [
        re.match(r'(\w+)", !llvm\.func<void \((.*?)\)>.*?metadata = \{(.*?)\}', part)
        for part in binary.partition("assembly =")[0].split('kernel_metadata<"')[1:]
    ]
    chosen = [kernel for kernel in kernels if case.kernel in ("", kernel[1])]
    if not escaped or not chosen:
        sys.exit(
            f"benchmarks/ptx: {case.name} expects a kernel {case.kernel}, "
            f"got {[kernel[1] for kernel in kernels]}"
        )
    ptx = re.sub(r"\\([0-9A-Fa-f]{2})", lambda code: chr(int(code[1], 16)), escaped[1])
    return [read_launch(ptx.rstrip("\0"), *kernel.groups()) for kernel in chosen]


def read_launch(ptx: str, name: str, parameters: str, metadata: str) -> Launch:
    """How a kernel is launched, from its entry of the table of kernels."""
    sizes = dict(re.findall(r"(\w+) = array<i32: ([\d, ]+)>", metadata))
    grid, block = (
        tuple(int(size) for size in sizes[key].split(", ")) for key in ("grid", "block")
    )
    shared = re.search(r"dynamic_shared_bytes = (\d+)", metadata)
    addresses = tuple(one.startswith("ptr") for one in parameters.split(", "))
    return Launch(name, ptx, grid, block, int(shared[1]) if shared else 0, addresses)


def find_tool(name: str) -> Path | None:
    """A tool of a CUDA toolkit, or of a package of Python."""
    home = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda"))
    packages = Path(sysconfig.get_path("purelib")) / "nvidia"
    places = [home / "bin" / name, *sorted(packages.glob(f"*/bin/{name}"))]
    if on_path := shutil.which(name):
        places.append(Path(on_path))
    return next((place for place in places if place.is_file()), None)


@dataclasses.dataclass(frozen=True)
class Assembled:
    """What ptxas says of a kernel, and its instructions if there is nvdisasm."""

    registers: int
    spills: int
    shared: int
    instructions: list[sass.Instruction] | None


def assemble(launch: Launch, chip: str, folder: Path) -> Assembled:
    """Assembles one kernel for a chip."""
    ptxas, nvdisasm = find_tool("ptxas"), find_tool("nvdisasm")
    assert ptxas is not None
    source, binary = folder / "kernel.ptx", folder / "kernel.cubin"
    source.write_text(launch.ptx)
    done = subprocess.run(
        [ptxas, "-v", "-O3", f"-arch={chip}", "-o", binary, source],
        capture_output=True,
        text=True,
    )
    # Messages of other kernels of the text may surround those of this one.
    log = (done.stdout + done.stderr).partition(f"entry function '{launch.name}'")[2]
    log = log.partition("Compiling entry function")[0]
    used = re.search(r"Used (\d+) registers(?:.*?(\d+) bytes smem)?", log)
    spilled = re.findall(r"(\d+) bytes spill (?:stores|loads)", log)
    if done.returncode or not used:
        sys.exit(f"benchmarks/ptx: ptxas failed for {chip}:\n{done.stderr}")
    instructions = None
    if nvdisasm and chip in {device.chip for device in DEVICES}:
        listing = run([nvdisasm, "-c", binary])
        section = listing.partition(f"\n.text.{launch.name}:")[2]
        instructions = sass.parse(section.partition("\n\t.section\t")[0])
    return Assembled(
        int(used[1]),
        sum(map(int, spilled)),
        int(used[2] or 0) + launch.shared,
        instructions,
    )


def emulate(launch: Launch) -> dict | None:
    """What blocks of a kernel do on average, as act's emulator of a GPU counts it.

    What several lanes of a warp read together counts once. None without the emulator.
    """
    library = ROOT / "build" / "lib" / "libact_gpu_emu.so"
    path = Path(os.environ.get("ACT_GPU_EMULATOR_LIBRARY", library))
    if not path.is_file():
        return None
    blocks = min(launch.grid[0], EMULATED_BLOCKS)
    with gpu_emulator.Emulator(path, "check=0,statistics=1") as emulator:
        kernel = emulator.load(launch.ptx).kernel(launch.name)
        buffer = emulator.allocate(MOST_BYTES)
        nothing = gpu_emulator.Buffer(0, 0)
        emulator.launch(
            kernel,
            (blocks, *launch.grid[1:]),
            launch.block,
            [buffer if address else nothing for address in launch.addresses],
            launch.shared,
        )
        counts = emulator.statistics()[launch.name]
    blocks *= math.prod(launch.grid[1:])
    counts |= {f"{name}_instructions": n for name, n in counts["instructions"].items()}
    return {
        name: number / blocks
        for name, number in counts.items()
        if not isinstance(number, dict)
    }


def find_trips(
    case: Case, instructions: Sequence[sass.Instruction], emulated: dict, warps: int
) -> list[float]:
    """How often loops of a kernel run, from what the emulator counts."""
    copies = emulated["global_requests"]
    copies -= sum(
        emulated[f"global_{kind}_instructions"] / sass.WARP
        for kind in ("load", "store")
    )
    requests = emulated["global_requests"] + emulated["shared_requests"]
    executed = (
        ("HMMA|LDSM", emulated["matrix_instructions"] / sass.WARP),
        ("LDS(?!M)", emulated["shared_load_instructions"] / sass.WARP),
        ("LDGSTS", copies),
        (ACCESSES, requests),
    )
    return sass.find_trips(
        instructions,
        case.trips,
        [(pattern, number / warps) for pattern, number in executed],
    )


@dataclasses.dataclass(frozen=True)
class Kernel:
    """A kernel of a case with what ptxas and the emulator say of it."""

    launch: Launch
    #: For each chip.
    assembled: dict[str, Assembled]
    emulated: dict | None

    def total(self, name: str) -> float:
        """A count of the emulator, of all blocks."""
        return self.emulated[name] * self.launch.blocks if self.emulated else 0

    def work(self, moved: float) -> sass.Work:
        """What it does, moving so many bytes."""
        conflicts = self.total("bank_conflict_cycles")
        return sass.Work(
            self.launch.threads,
            self.launch.blocks,
            moved,
            self.total("global_sectors"),
            conflicts * sass.WARP / self.launch.threads,
        )


def count_kernel(
    case: Case, kernel: Kernel, chip: str
) -> tuple[dict[str, float], float]:
    """Instructions of a thread by their pipes, and how many accesses it makes."""
    instructions = kernel.assembled[chip].instructions or []
    trips: Sequence[float] = ()
    if kernel.emulated:
        warps = math.prod(kernel.launch.block) // sass.WARP
        trips = find_trips(case, instructions, kernel.emulated, warps)
    accesses = sass.count_matches(instructions, trips, ACCESSES)
    return sass.count(instructions, trips, case.skips), accesses


def predict(case: Case, kernels: Sequence[Kernel], device: sass.Device) -> dict:
    """Figures for one device."""
    seconds, instructions, accesses, limits = 0.0, 0.0, 0.0, []
    for kernel in kernels:
        counts, in_thread = count_kernel(case, kernel, device.chip)
        accesses += in_thread * kernel.launch.threads / sass.WARP
        instructions += sass.total(counts.values()) * kernel.launch.threads
        # One kernel moves the least at best; several move intermediate results, too.
        moved = (
            case.bytes if len(kernels) == 1 else kernel.total("global_bytes_distinct")
        )
        parts = sass.predicted_seconds(counts, kernel.work(moved), device)
        seconds += max(parts.values())
        limits.append(max(parts, key=lambda name: parts[name]))
    least = sass.least_seconds(device, case.bytes, case.flops, case.arithmetic)
    name = device.name.lower()
    return {
        f"instructions_per_element_{name}": instructions / case.elements,
        f"predicted_fraction_{name}": least / max(least, seconds),
        f"accesses_{name}": accesses,
        f"limits_{name}": limits,
    }


def measure(case: Case, chips: Sequence[str], folder: Path) -> dict:
    """The figures of a case."""
    kernels = [
        Kernel(launch, {c: assemble(launch, c, folder) for c in chips}, emulate(launch))
        for launch in make_launches(case)
    ]
    built = [one for kernel in kernels for one in kernel.assembled.values()]
    figures: dict = {
        "registers": max(one.registers for one in built),
        "spills": sum(one.spills for one in built),
        "shared": max(one.shared for one in built),
        "kernels": len(kernels),
        "blocks": min(kernel.launch.blocks for kernel in kernels),
        "ideal_bytes_per_element": case.bytes / case.elements,
        "wide_loads": len(
            re.findall(r"ld\.global(?:\.nc)?\.v4", kernels[0].launch.ptx)
        ),
    }
    if all(kernel.emulated for kernel in kernels):
        totals = {
            name: sum(kernel.total(name) for kernel in kernels)
            for name in kernels[0].emulated or {}
        }
        moved, requests = totals["global_bytes_distinct"], totals["shared_requests"]
        figures["bytes_per_element"] = moved / case.elements
        sectors = totals["global_sectors"]
        figures["sector_bytes_per_element"] = 32 * sectors / case.elements
        conflicts = totals["bank_conflict_cycles"]
        figures["bank_conflicts_per_request"] = conflicts / max(1, requests)
    for device in DEVICES:
        if device.chip in chips and find_tool("nvdisasm"):
            figures |= predict(case, kernels, device)
    if "bytes_per_element" in figures:
        emulated = totals["global_requests"] + totals["shared_requests"]
        figures["trusted"] = all(
            abs(value / emulated - 1) <= TRUSTED
            for name, value in figures.items()
            if name.startswith("accesses_")
        )
    for key, worst in (("instructions_per_element", max), ("predicted_fraction", min)):
        values = [value for name, value in figures.items() if name.startswith(key)]
        if values:
            figures[key] = worst(values)
    return figures


COLUMNS = (
    ("registers", "registers", "d"),
    ("spills", "spills", "d"),
    ("instructions_per_element", "instr/elem", ".2f"),
    ("bytes_per_element", "B/elem", ".3f"),
    ("ideal_bytes_per_element", "ideal", ".3f"),
    ("sector_bytes_per_element", "sectors", ".3f"),
    ("predicted_fraction_a100", "A100", ".2f"),
    ("predicted_fraction_h200", "H200", ".2f"),
)


def print_row(name: str, figures: dict | None) -> None:
    """One line of the table; the heading without figures."""
    cells = [
        title
        if figures is None
        else format(figures[key], form)
        if key in figures
        else ""
        for key, title, form in COLUMNS
    ]
    doubt = "" if figures is None or figures.get("trusted", True) else "  ?"
    print(f"{name:29}" + "".join(f"{cell:>11}" for cell in cells) + doubt, flush=True)


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    parser.add_argument("--only", metavar="NAMES", help="kernels, with commas between")
    parser.add_argument("--chips", default=",".join(CHIPS), help="default: all")
    options = parser.parse_args()
    cases = all_cases()
    if options.only:
        names = options.only.split(",")
        if unknown := set(names) - {case.name for case in cases}:
            parser.error(f"there is no kernel {', '.join(sorted(unknown))}")
        cases = [case for case in cases if case.name in names]
    if find_tool("ptxas") is None:
        print("benchmarks/ptx: skipped: there is no ptxas")
        return
    print_row("", None)
    results: dict = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            results[case.name] = measure(case, options.chips.split(","), Path(folder))
            print_row(case.name, results[case.name])
    results["spills"] = sum(figures["spills"] for figures in results.values())
    print(f"spills: {results['spills']}")
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
