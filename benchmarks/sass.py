# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts instructions of disassembled kernels and predicts how fast they run.

The model is that of docs/Benchmarks.md ("Kernels for GPUs"): every instruction of a
warp takes cycles of one pipe of a quarter of a multiprocessor and one of the issue
of instructions, pipes work at the same time, and the busiest one bounds the rate.
"""

import collections
import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence

WARP = 32
#: First pattern that matches a mnemonic names its pipe.
_PIPES = (
    ("half_matrix", r"HMMA\.1688\.F(32|16)(\.BF16)?$|HMMA\.1684"),
    ("matrix", r"HMMA|IMMA|QMMA|BMMA"),
    ("wide", r"IMAD\.(WIDE|HI)|IMAD\.U32\.WIDE"),
    ("multiply", r"IMAD|IMUL"),
    ("float", r"FADD|FMUL|FFMA"),
    ("half", r"HADD2|HMUL2|HFMA2"),
    ("special", r"MUFU|I2F(?!P)|F2I|F2F|FRND|POPC|FLO|BREV"),
    ("shuffle", r"SHFL|REDUX|MATCH"),
    ("other", r"LDC|LDGDEPBAR|LDSDEPBAR"),
    ("memory128", r"(LD|ST).*\.(128|M88\.4|MT88\.4)"),
    ("memory64", r"(LD|ST).*\.(64|M88\.2|MT88\.2)"),
    ("memory", r"LD|ST|ATOM|RED|CCTL"),
    (
        "integer",
        r"LOP|IADD|SHF|SHL|SHR|PRMT|LEA|[IFH]SETP|FMNMX|IMNMX|VIMNMX|VIADD|SEL|FSEL|"
        r"F2FP|I2FP|V?HMNMX|HSET|PLOP|SGXT|BMSK|IABS|MOV|FCHK|VABSDIFF|FSET|ISCADD|"
        r"P2R|R2P|VOTE|CS2R",
    ),
)


@dataclasses.dataclass(frozen=True)
class Device:
    """What the model knows of a GPU.

    Attributes:
        name: as printed.
        chip: of its instructions, `sm_90`.
        quarters: quarters of multiprocessors.
        clock: in Hz.
        bandwidth: of its memory, in bytes/s.
        flops: arithmetic per second, twice the multiplications: of tensor cores for
            factors of `bf16` and `tf32`, without them for `f32`.
        float_is_wide: f32 arithmetic has twice the lanes of integers.
        cycles: that an instruction of a warp takes of each pipe of a quarter.
    """

    name: str
    chip: str
    quarters: int
    clock: float
    bandwidth: float
    flops: Mapping[str, float]
    float_is_wide: bool
    cycles: Mapping[str, float]

    @property
    def multiprocessors(self) -> int:
        """Four quarters each."""
        return self.quarters // 4

    @property
    def cache_bandwidth(self) -> float:
        """What multiprocessors get from the second cache, in bytes/s."""
        return 5120 * self.clock


_CYCLES = {
    "integer": 2,
    "multiply": 2,
    "wide": 4,
    "half": 2,
    "special": 8,
    "shuffle": 4,
    # A multiprocessor moves 128 bytes per cycle, for all quarters.
    "memory": 4,
    "memory64": 8,
    "memory128": 16,
}
A100 = Device(
    "A100",
    "sm_80",
    quarters=108 * 4,
    clock=1.41e9,
    bandwidth=2.0e12,
    flops={"bf16": 312e12, "tf32": 156e12, "f32": 19.5e12},
    float_is_wide=False,
    cycles={**_CYCLES, "matrix": 8, "half_matrix": 4},
)
# Tensor cores reach their rate by wgmma only.
H200 = Device(
    "H200",
    "sm_90",
    quarters=132 * 4,
    clock=1.755e9,
    bandwidth=4.8e12,
    flops={"bf16": 989e12, "tf32": 495e12, "f32": 59e12},
    float_is_wide=True,
    cycles={**_CYCLES, "matrix": 6.4, "half_matrix": 3.2},
)


@dataclasses.dataclass(frozen=True)
class Instruction:
    """One instruction of a disassembly."""

    address: int
    mnemonic: str
    #: Where it branches to; none if it does not, or to an unknown place.
    target: int | None = None
    #: Only some threads run it.
    predicated: bool = False


_LINE = re.compile(r"/\*([0-9a-f]{4,})\*/\s+(@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)(.*?);")
_LABEL = re.compile(r"^(\.L_x_\d+|\$[\w$]+|\w+):", re.MULTILINE)
_BRANCH = re.compile(r"`\((\.L_x_\d+)\)")


def parse(text: str) -> list[Instruction]:
    """The instructions of one kernel, without what only fills up.

    Args:
        text: what nvdisasm prints for its section. What is called and stands behind
            the kernel, such as slow paths of divisions, is left out.
    """
    found: list[tuple[int, str, str | None, bool]] = []
    labels: dict[str, int] = {}
    pending: list[str] = []
    for line in text.splitlines():
        if label := _LABEL.match(line.strip()):
            if line.strip().startswith("$__internal"):
                break
            pending.append(label[1])
            continue
        if not (match := _LINE.search(line)):
            continue
        address = int(match[1], 16)
        labels.update((name, address) for name in pending)
        pending = []
        branch = _BRANCH.search(match[4]) if match[3].startswith("BRA") else None
        target = branch[1] if branch else None
        predicate = (match[2] or "").strip()
        # ptxas waits for accesses with loads that no thread executes.
        name = "NOP" if predicate == "@!PT" else match[3]
        found.append((address, name, target, predicate != ""))
    instructions = [
        Instruction(address, name, labels.get(target) if target else None, predicated)
        for address, name, target, predicated in found
    ]
    while instructions and (
        instructions[-1].mnemonic.startswith("NOP")
        or instructions[-1].target == instructions[-1].address
    ):
        instructions.pop()
    return instructions


def find_loops(instructions: Sequence[Instruction]) -> list[tuple[int, int]]:
    """Addresses of the first and last instruction of each loop, by the last one.

    What a loop jumps to behind its end and comes back from belongs to it.
    """
    loops: list[tuple[int, int]] = []
    for instruction in instructions:
        first, last = instruction.target, instruction.address
        if first is None or first >= last:
            continue
        inside = [i for i, loop in enumerate(loops) if loop[0] < first <= loop[1]]
        if inside:
            loops[inside[-1]] = (loops[inside[-1]][0], last)
        else:
            loops.append((first, last))
    return loops


def count(
    instructions: Sequence[Instruction],
    trips: Sequence[float] = (),
    skips: bool = False,
) -> collections.Counter[str]:
    """How often a thread runs instructions of each pipe (`other` if none).

    Args:
        instructions: of a kernel, by address.
        trips: how often its loops run, in the order of `find_loops`; a loop that is
            not listed runs once.
        skips: branches forward are taken: what they jump over is for rare cases.
    """
    if skips:
        instructions = _without_skipped(instructions)
    counts: collections.Counter[str] = collections.Counter()
    for instruction, times in _executions(instructions, trips):
        counts[pipe(instruction.mnemonic)] += times
    return counts


def count_matches(
    instructions: Sequence[Instruction], trips: Sequence[float], pattern: str
) -> float:
    """How many instructions whose mnemonics match a pattern a thread executes."""
    return sum(
        times
        for instruction, times in _executions(instructions, trips)
        if re.match(pattern, instruction.mnemonic)
    )


def _executions(
    instructions: Sequence[Instruction], trips: Sequence[float]
) -> Iterable[tuple[Instruction, float]]:
    """Every instruction and how often it is executed."""
    loops = find_loops(instructions)
    for instruction in instructions:
        times = 1.0
        for (first, last), repeats in zip(loops, trips, strict=False):
            if first <= instruction.address <= last:
                times *= repeats
        yield instruction, times


def find_trips(
    instructions: Sequence[Instruction],
    known: Sequence[float | None],
    executed: Sequence[tuple[str, float]],
) -> list[float]:
    """How often loops run, if it is known how often some instructions are executed.

    Args:
        instructions: of a kernel.
        known: how often its loops run, as far as that is known.
        executed: patterns of mnemonics, and how many of these a thread executes. Loops
            with the first pattern in them run equally often, those of the others with
            the second one, and so on.
    """
    loops = find_loops(instructions)
    trips: list[float | None] = [*known, *[None] * (len(loops) - len(known))]
    trips = trips[: len(loops)]

    def total(pattern: str, repeats: float, solved: Sequence[int]) -> float:
        guess = [
            repeats if i in solved else known or 1 for i, known in enumerate(trips)
        ]
        return count_matches(instructions, guess, pattern)

    for pattern, wanted in executed:
        solved = [
            i
            for i, (first, last) in enumerate(loops)
            if trips[i] is None
            and any(
                first <= one.address <= last and re.match(pattern, one.mnemonic)
                for one in instructions
            )
        ]
        low, high = 1.0, 1e6
        while solved and high - low > 1e-3 * low:
            middle = math.sqrt(low * high)
            if total(pattern, middle, solved) < wanted:
                low = middle
            else:
                high = middle
        for i in solved:
            trips[i] = low
    return [repeats or 1 for repeats in trips]


def _without_skipped(instructions: Sequence[Instruction]) -> list[Instruction]:
    """What is left if conditional branches forward are taken."""
    kept, resume = [], 0
    for instruction in instructions:
        if instruction.address < resume:
            continue
        kept.append(instruction)
        target = instruction.target
        if instruction.predicated and target and target > instruction.address:
            resume = target
    return kept


def pipe(mnemonic: str) -> str:
    """The pipe that runs an instruction."""
    for name, pattern in _PIPES:
        if re.match(rf"(?:{pattern})", mnemonic):
            return name
    return "other"


def cycles(
    counts: Mapping[str, float], device: Device, bank_conflicts: float = 0
) -> float:
    """Cycles that a warp takes of the busiest pipe of a quarter.

    Args:
        counts: instructions of each pipe, as of `count`.
        device: which GPU.
        bank_conflicts: cycles that its accesses to shared memory wait for each other.
    """

    def busy(*names: str) -> float:
        return sum(counts.get(name, 0) * device.cycles[name] for name in names)

    heavy = busy("multiply", "wide", "half")
    floats = 2 * counts.get("float", 0)
    # Integer products use one half of the wide float pipe.
    arithmetic = max(heavy, (heavy + floats) / 2)
    if not device.float_is_wide:
        arithmetic = heavy + floats
    return max(
        sum(counts.values()),
        arithmetic,
        busy("integer"),
        busy("special"),
        busy("shuffle"),
        busy("matrix", "half_matrix"),
        busy("memory", "memory64", "memory128") + 4 * bank_conflicts,
    )


@dataclasses.dataclass(frozen=True)
class Work:
    """What a kernel does, all blocks together.

    Attributes:
        threads: of all blocks.
        blocks: of the grid.
        bytes: that it moves from and to memory.
        sectors: of 32 bytes that its warps move from and to the caches.
        bank_conflicts: cycles that a warp waits in shared memory.
    """

    threads: float
    blocks: float
    bytes: float
    sectors: float = 0
    bank_conflicts: float = 0


def predicted_seconds(
    counts: Mapping[str, float], work: Work, device: Device
) -> dict[str, float]:
    """Seconds that each part of a device is busy; the greatest bounds the rate.

    Returns:
        Those of `memory`, `cache` and `instructions`.
    """
    busy = work.threads * cycles(counts, device, work.bank_conflicts)
    used = min(1, work.blocks / device.multiprocessors)
    return {
        "memory": work.bytes / device.bandwidth,
        "cache": 32 * work.sectors / (device.cache_bandwidth * used),
        "instructions": busy / (WARP * device.quarters * device.clock * used),
    }


def least_seconds(
    device: Device, moved: float, flops: float = 0, arithmetic: str = "bf16"
) -> float:
    """Seconds that moving so many bytes, or so much arithmetic, take at best."""
    return max(moved / device.bandwidth, flops / device.flops[arithmetic])


def total(counts: Iterable[float]) -> float:
    """Instructions of all pipes."""
    return sum(counts)
