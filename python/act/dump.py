# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads XLA's memory dump: which buffer lives when, and what made it.

With `--xla_dump_to=DIR --xla_dump_hlo_as_text` XLA writes, per module, the
scheduled HLO (`NAME.txt`), its buffers (`NAME-buffer-assignment.txt`), the live
range of each value (`NAME-live-range.txt`) and a summary
(`NAME-memory-usage-report.txt`).
"""

import collections
import dataclasses
import os
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from act.errors import ActDumpError
from act.hlo import Instruction, Module, parse_hlo

_LIVE_RANGE = "-live-range.txt"
_BUFFERS = "-buffer-assignment.txt"
_USAGE = "-memory-usage-report.txt"
_BUFFER = re.compile(
    r"\s*value: <\d+ (\S+)(?: \(phi\))? @\d+> "
    r"\(size=(\d+),offset=(\d+)\): (.*)"
)
_UNKNOWN = Instruction("", "", "", (), (), "")
_HOW_TO_DUMP = (
    "compile with XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_text' to make one"
)


@dataclasses.dataclass(frozen=True)
class Value:
    """A buffer of the compiled step, or a part of one.

    Attributes:
        name: HLO instruction, with a tuple index such as `while.1{3}` if any.
        kind: "temp", "argument", "output" or "constant".
        bytes: size of the buffer.
        slot: allocation and offset in it; values that share it at touching
            times are one buffer.
        start: schedule position of the definition.
        end: schedule position of the last use.
        shape: HLO shape such as `f32[8,64]`.
        opcode: what defines it, such as "fusion".
        defined_by: name of the JAX operation that it comes from, or ""; for
            what a loop carries, the one in its body.
        defined_at: source line of that operation as "file:line", or "".
        last_used_by: name of the HLO instruction that reads it last.
        last_used_in: name of the JAX operation of that instruction, or "".
        last_used_at: source line of that operation, or "".
    """

    name: str
    kind: str
    bytes: int
    slot: tuple[int, int]
    start: int
    end: int
    shape: str
    opcode: str
    defined_by: str
    defined_at: str
    last_used_by: str
    last_used_in: str
    last_used_at: str


@dataclasses.dataclass(frozen=True)
class Dump:
    """The memory behaviour of one compiled module.

    Attributes:
        module: name of the dumped module.
        values: every value with its live range.
        length: number of schedule positions.
        temp_bytes: size of the temporary allocations, as
            `memory_analysis().temp_size_in_bytes` counts them.
        schedule: name of the instruction at each position.
    """

    module: str
    values: tuple[Value, ...]
    length: int
    temp_bytes: int
    schedule: tuple[str, ...]

    def timeline(self) -> np.ndarray:
        """Returns the live temporary bytes at each schedule position, int64."""
        change = np.zeros(self.length + 1, np.int64)
        for start, end, size in self._buffers():
            change[start] += size
            change[min(end + 1, self.length)] -= size
        return np.cumsum(change[:-1])

    def peak(self) -> int:
        """Returns the schedule position with the most temporary bytes."""
        return int(self.timeline().argmax())

    def alive(self, position: int) -> list[Value]:
        """Returns the values alive at a position, largest first."""
        alive = [v for v in self.values if v.start <= position <= v.end]
        return sorted(alive, key=lambda value: (-value.bytes, value.start))

    def _buffers(self) -> Iterator[tuple[int, int, int]]:
        """Yields start, end and bytes of temporary buffers, shared slots merged."""
        slots = collections.defaultdict(list)
        for value in self.values:
            if value.kind == "temp" and value.bytes:
                slots[(*value.slot, value.bytes)].append((value.start, value.end))
        for (_, _, size), ranges in slots.items():
            ranges.sort()
            start, end = ranges[0]
            for next_start, next_end in ranges[1:]:
                if next_start <= end:
                    end = max(end, next_end)
                    continue
                yield start, end, size
                start, end = next_start, next_end
            yield start, end, size


def read_dump(directory: str | os.PathLike, module: str = "") -> Dump:
    """Reads the dump of one module.

    Args:
        directory: where XLA dumped to.
        module: part of the module's name; of several that match, the one with
            the longest schedule is read.

    Raises:
        ActDumpError: there is no such dump, or it is not understood.
    """
    stem = _find(Path(directory), module)
    files = {}
    for suffix in (_LIVE_RANGE, _BUFFERS, ".txt"):
        path = stem.with_name(stem.name + suffix)
        if not path.is_file():
            raise ActDumpError(f"{path} is missing; {_HOW_TO_DUMP}")
        files[suffix] = path.read_text(errors="replace")
    schedule, ranges = _parse_live_ranges(files[_LIVE_RANGE])
    buffers, temp_bytes = _parse_buffers(files[_BUFFERS])
    hlo = parse_hlo(files[".txt"])
    if not schedule or not buffers:
        raise ActDumpError(f"{stem.name}: no schedule or no buffers in the dump")
    values = []
    for name, (start, end) in ranges.items():
        if name in buffers:
            values.append(_value(name, start, end, buffers[name], schedule, hlo))
    return Dump(
        stem.name,
        tuple(values),
        max(end for _, end in ranges.values()) + 1,
        temp_bytes,
        tuple(schedule),
    )


@dataclasses.dataclass(frozen=True)
class _Buffer:
    kind: str
    slot: tuple[int, int]
    bytes: int
    shape: str


def _value(
    name: str,
    start: int,
    end: int,
    buffer: _Buffer,
    schedule: list[str],
    hlo: Module,
) -> Value:
    instruction, _, index = name.removesuffix("}").partition("{")
    defined = hlo.instructions.get(instruction, _UNKNOWN)
    # The index of a nested tuple has several numbers: no loop has one.
    origin = hlo.origin(instruction, int(index) if index.isdigit() else None)
    if origin is None or not origin.op_name:
        origin = defined
    user = schedule[end] if end < len(schedule) else "end of the step"
    used = hlo.instructions.get(user, _UNKNOWN)
    return Value(
        name=name.removesuffix("{}"),
        kind=buffer.kind,
        bytes=buffer.bytes,
        slot=buffer.slot,
        start=start,
        end=end,
        shape=buffer.shape,
        opcode=defined.opcode,
        defined_by=origin.op_name,
        defined_at=origin.source,
        last_used_by=user,
        last_used_in=used.op_name,
        last_used_at=used.source,
    )


def _find(directory: Path, module: str) -> Path:
    """Returns the path of a module's dump without the suffix of a file."""
    if not directory.is_dir():
        raise ActDumpError(f"{directory} is not a directory")
    found = sorted(directory.glob(f"*{_LIVE_RANGE}"))
    if not found:
        raise ActDumpError(
            f"{directory} has no XLA dump with live ranges (*{_LIVE_RANGE}, "
            f"*{_USAGE}); {_HOW_TO_DUMP}"
        )
    matching = [path for path in found if module in path.name]
    if not matching:
        names = ", ".join(path.name.removesuffix(_LIVE_RANGE) for path in found)
        raise ActDumpError(f"{directory} has no module named {module}, but {names}")
    largest = max(matching, key=lambda path: path.stat().st_size)
    return largest.with_name(largest.name.removesuffix(_LIVE_RANGE))


def _parse_live_ranges(
    text: str,
) -> tuple[list[str], dict[str, tuple[int, int]]]:
    """Returns the schedule and the live range of each value."""
    schedule: list[str] = []
    ranges: dict[str, tuple[int, int]] = {}
    section = ""
    for line in text.splitlines():
        if not line.startswith("    "):
            section = line.strip()
        elif section.startswith("InstructionSequence"):
            position, _, name = line.strip().partition(":")
            if int(position) != len(schedule):
                raise ActDumpError(f"unexpected schedule line {line.strip()!r}")
            schedule.append(name)
        elif section.startswith("BufferLiveRange"):
            match = re.fullmatch(r"(\S+\{[\d, ]*\}):(\d+)-(\d+)", line.strip())
            if match:
                ranges[match[1]] = (int(match[2]), int(match[3]))
    return schedule, ranges


def _parse_buffers(text: str) -> tuple[dict[str, _Buffer], int]:
    """Returns the buffer of each value and the size of all temporaries."""
    buffers: dict[str, _Buffer] = {}
    temp_bytes = 0
    allocation, kind = 0, ""
    for line in text.splitlines():
        if line.startswith("Total bytes used"):
            break
        match = re.match(r"allocation (\d+): size (\d+), (.*)", line)
        if match:
            allocation, kind = int(match[1]), _kind(match[3])
            temp_bytes += int(match[2]) if kind == "temp" else 0
            continue
        match = _BUFFER.match(line)
        if match and kind != "thread-local":
            name = match[1] if match[1].endswith("}") else match[1] + "{}"
            shape = re.sub(r"(?<=\])\{[^}]*\}", "", match[4])
            slot = (allocation, int(match[3]))
            buffers[name] = _Buffer(kind, slot, int(match[2]), shape)
    return buffers, temp_bytes


def _kind(description: str) -> str:
    """Returns the kind of an allocation from XLA's description of it."""
    for mark, kind in (
        ("thread-local", "thread-local"),
        ("parameter ", "argument"),
        ("preallocated-temp", "temp"),
        ("constant", "constant"),
    ):
        if mark in description:
            return kind
    return "output"
