# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what act needs of HLO text: operations, and where they come from."""

import dataclasses
import re

_INSTRUCTION = re.compile(
    r"\s+(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = (?P<shape>\(.*?\)|\S+) "
    r"(?P<opcode>[\w\-]+)\((?P<rest>.*)"
)
_COMPUTATION = re.compile(r"(?:ENTRY )?%?([\w.\-]+) \(.*\{\s*$")


@dataclasses.dataclass(frozen=True)
class Instruction:
    """One HLO instruction.

    Attributes:
        opcode: such as "fusion".
        op_name: name of the JAX operation, such as "jit(f)/jvp()/mul", or "".
        source: "file:line" of the call that made it, or "".
        called: names of the computations it calls.
    """

    opcode: str
    op_name: str
    source: str
    called: tuple[str, ...]


def parse_hlo(text: str) -> dict[str, Instruction]:
    """Returns the instructions of all computations of a module, by name.

    A fusion without a name of its own gets that of its root, or else of the
    last operation inside that has one.
    """
    frames = _parse_frames(text)
    instructions: dict[str, Instruction] = {}
    members: dict[str, list[str]] = {}
    computation = ""
    for line in text.splitlines():
        header = _COMPUTATION.match(line)
        if header:
            computation = header[1]
            continue
        match = _INSTRUCTION.match(line)
        if match is None:
            continue
        members.setdefault(computation, []).append(match["name"])
        rest = match["rest"]
        name = re.search(r'op_name="([^"]*)"', rest)
        called = re.findall(r"(?:calls|body|to_apply)=%?([\w.\-]+)", rest)
        instructions[match["name"]] = Instruction(
            match["opcode"],
            name[1] if name else "",
            _source(rest, frames),
            tuple(called),
        )
    for name, instruction in instructions.items():
        if instruction.opcode == "fusion" and not instruction.op_name:
            inner = [
                instructions[m] for c in instruction.called for m in members.get(c, ())
            ]
            named = [i for i in inner if i.op_name and i.opcode != "parameter"]
            if named:
                instructions[name] = dataclasses.replace(
                    instruction, op_name=named[-1].op_name, source=named[-1].source
                )
    return instructions


def _source(text: str, frames: dict[str, str]) -> str:
    """Returns the "file:line" that an instruction's metadata names."""
    frame = re.search(r"stack_frame_id=(\d+)", text)
    if frame:
        return frames.get(frame[1], "")
    file = re.search(r'source_file="([^"]*)"', text)
    line = re.search(r"source_line=(\d+)", text)
    return f"{file[1]}:{line[1]}" if file and line else ""


def _parse_frames(text: str) -> dict[str, str]:
    """Returns the "file:line" of each stack frame of the module's tables."""
    files = dict(re.findall(r'^(\d+) "(.*)"$', _table(text, "FileNames"), re.MULTILINE))
    places = {
        number: f"{files.get(file, '?')}:{line}"
        for number, file, line in re.findall(
            r"^(\d+) \{file_name_id=(\d+) .*?\bline=(\d+)",
            _table(text, "FileLocations"),
            re.MULTILINE,
        )
    }
    return {
        number: places.get(place, "")
        for number, place in re.findall(
            r"^(\d+) \{file_location_id=(\d+)",
            _table(text, "StackFrames"),
            re.MULTILINE,
        )
    }


def _table(text: str, heading: str) -> str:
    """Returns the lines of one of the tables before the computations."""
    match = re.search(rf"^{heading}\n(.*?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    return match[1] if match else ""
