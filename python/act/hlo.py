# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads what act needs of HLO text: operations, and where they come from."""

import dataclasses
import functools
import re

_INSTRUCTION = re.compile(
    r"\s+(?P<root>ROOT )?%?(?P<name>[\w.\-]+) = (?P<shape>\(.*?\)|\S+) "
    r"(?P<opcode>[\w\-]+)\((?P<rest>.*)"
)
_COMPUTATION = re.compile(r"(?:ENTRY )?%?([\w.\-]+) \(.*\{\s*$")
_OPERAND = re.compile(r"[\w.\-]+(?:#\d+)?")
#: Operations whose result holds the elements of their operand.
_VIEWS = frozenset({"bitcast", "copy", "reshape", "transpose"})


@dataclasses.dataclass(frozen=True)
class Instruction:
    """One HLO instruction.

    Attributes:
        opcode: such as "fusion".
        op_name: name of the JAX operation, such as "jit(f)/jvp()/mul", or "".
        source: "file:line" of the call that made it, or "".
        called: names of the computations it calls.
        operands: names of its operands, `x#3` for an element of a tuple; the
            number of a parameter.
        computation: name of the computation that it belongs to.
    """

    opcode: str
    op_name: str
    source: str
    called: tuple[str, ...]
    operands: tuple[str, ...]
    computation: str

    def operand(self, number: int) -> str:
        """Returns the name of an operand, "" if the text has none there."""
        return self.operands[number] if number < len(self.operands) else ""


@dataclasses.dataclass(frozen=True)
class Module:
    """An HLO module.

    Attributes:
        instructions: of all computations, by name.
        roots: name of the root instruction of each computation.
    """

    instructions: dict[str, Instruction]
    roots: dict[str, str]

    def origin(self, name: str, index: int | None = None) -> Instruction | None:
        """Returns the instruction that computes a value, seen through loops.

        For what a loop carries that is the operation of its body that computes
        the next value, or the next slice of one that the body fills by slices.

        Args:
            name: of an instruction.
            index: of the value, if the instruction has several.
        """
        visited = set()
        while name in self.instructions and (name, index) not in visited:
            visited.add((name, index))
            source = self._source(self.instructions[name], index)
            if not source:
                break
            name, index = _element(source)
        return self.instructions.get(name)

    @functools.cached_property
    def _bodies(self) -> frozenset[str]:
        """Computations that loops repeat."""
        return frozenset(
            instruction.called[0]
            for instruction in self.instructions.values()
            if instruction.opcode == "while" and instruction.called
        )

    def _source(self, instruction: Instruction, index: int | None) -> str:
        """Names what a value is taken from, "" if `instruction` computes it."""
        if instruction.opcode == "while" and instruction.called:
            return self._carried(instruction.called[0], index)
        if instruction.computation not in self._bodies:
            return ""
        if instruction.opcode == "parameter":
            return self._carried(instruction.computation, index)
        if instruction.opcode == "dynamic-update-slice":
            return instruction.operand(1)
        if instruction.opcode == "fusion":
            return self._fused(instruction, index)
        if instruction.opcode in {*_VIEWS, "get-tuple-element"}:
            return instruction.operand(0)
        return ""

    def _carried(self, body: str, index: int | None) -> str:
        """Names the next of a value that a loop carries, "" for constant ones."""
        root = self.instructions.get(self.roots.get(body, ""))
        if root is None or index is None:
            return ""
        name, element = _element(root.operand(index))
        if self._opcode(name) == "parameter" and element == index:
            return ""
        return root.operand(index)

    def _fused(self, fusion: Instruction, index: int | None) -> str:
        """Names what a fusion copies or writes into a larger value, if it does."""
        root = self.roots.get(fusion.called[0], "") if fusion.called else ""
        if index is not None and self._opcode(root) == "tuple":
            root = self.instructions[root].operand(index)
        source = self._through_views(root)
        updates = self._opcode(source) == "dynamic-update-slice"
        if updates:
            source = self._through_views(self.instructions[source].operand(1))
        if self._opcode(source) == "parameter":
            return fusion.operand(int(self.instructions[source].operand(0)))
        return source if updates else ""

    def _through_views(self, name: str) -> str:
        while self._opcode(name) in _VIEWS:
            name = self.instructions[name].operand(0)
        return name

    def _opcode(self, name: str) -> str:
        return self.instructions[name].opcode if name in self.instructions else ""


def parse_hlo(text: str) -> Module:
    """Returns the instructions of all computations of a module.

    A fusion without a name of its own gets that of its root, or else of the
    last operation inside that has one.
    """
    frames = _parse_frames(text)
    instructions: dict[str, Instruction] = {}
    roots: dict[str, str] = {}
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
        if match["root"]:
            roots[computation] = match["name"]
        rest = match["rest"]
        name = re.search(r'op_name="([^"]*)"', rest)
        called = re.findall(r"(?:calls|body|to_apply)=%?([\w.\-]+)", rest)
        instructions[match["name"]] = Instruction(
            match["opcode"],
            name[1] if name else "",
            _source(rest, frames),
            tuple(called),
            _operands(rest),
            computation,
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
    return Module(instructions, roots)


def _operands(text: str) -> tuple[str, ...]:
    """Returns the operands in what follows an opcode and a parenthesis."""
    operands, _, attributes = re.sub(r"/\*.*?\*/", "", text).partition(")")
    names = [
        part.split()[-1].lstrip("%") for part in operands.split(",") if part.strip()
    ]
    index = re.match(r", index=(\d+)", attributes)
    suffix = f"#{index[1]}" if index else ""
    return tuple(name + suffix for name in names if _OPERAND.fullmatch(name))


def _element(operand: str) -> tuple[str, int | None]:
    """Splits `x#3` into name and index."""
    name, _, index = operand.partition("#")
    return name, int(index) if index else None


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
