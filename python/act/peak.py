# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m act.peak DUMP_DIR`: what lives at the peak of a compiled step."""

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from act.dump import Dump, Value, read_dump
from act.errors import ActDumpError
from act.report import format_bytes


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; returns its exit status."""
    options = _parse_arguments(argv)
    try:
        dump = read_dump(options.directory, options.module)
        position = dump.peak() if options.at is None else options.at
        if not 0 <= position < dump.length:
            raise ActDumpError(
                f"--at {position}: the schedule has positions 0 to {dump.length - 1}"
            )
    except ActDumpError as error:
        print(f"act.peak: error: {error}", file=sys.stderr)
        return 1
    values = [
        value for value in dump.alive(position) if options.all or value.kind == "temp"
    ]
    if options.json is not None:
        options.json.write_text(json.dumps(to_dict(dump, position, values), indent=2))
    width = None if sys.stdout.isatty() else 160
    console = Console(width=width, highlight=False)
    console.print(headline(dump, position), soft_wrap=True)
    console.print(values_table(values[: options.limit]))
    if len(values) > options.limit:
        rest = sum(value.bytes for value in values[options.limit :])
        console.print(
            f"{len(values) - options.limit} more values with {format_bytes(rest)}; "
            "--limit shows them"
        )
    return 0


def to_dict(dump: Dump, position: int, values: list[Value]) -> dict:
    """Returns what lives at a position as JSON-compatible values."""
    return {
        "module": dump.module,
        "temp_bytes": dump.temp_bytes,
        "position": position,
        "positions": dump.length,
        "instruction": _instruction(dump, position),
        "live_temp_bytes": int(dump.timeline()[position]),
        "values": [dataclasses.asdict(value) for value in values],
    }


def headline(dump: Dump, position: int) -> str:
    """Says how much is alive at a position of the schedule."""
    live = format_bytes(int(dump.timeline()[position]))
    return (
        f"{dump.module}\n{live} of temporaries alive at {position} of {dump.length} "
        f"({_instruction(dump, position)}); XLA allocates "
        f"{format_bytes(dump.temp_bytes)}"
    )


def values_table(values: list[Value]) -> Table:
    """Returns a table of values, one per row."""
    table = Table()
    table.add_column("bytes", justify="right", no_wrap=True)
    table.add_column("value", overflow="fold")
    table.add_column("shape", overflow="fold")
    table.add_column("from..to", no_wrap=True)
    table.add_column("defined by", overflow="fold", ratio=1)
    table.add_column("last used by", overflow="fold", ratio=1)
    for value in values:
        mark = "" if value.kind == "temp" else f" ({value.kind})"
        table.add_row(
            format_bytes(value.bytes),
            value.name + mark,
            value.shape,
            f"{value.start}..{value.end}",
            _place(value.defined_by or value.opcode, value.defined_at),
            _place(value.last_used_in or value.last_used_by, value.last_used_at),
        )
    return table


def _instruction(dump: Dump, position: int) -> str:
    """Names what runs at a position; positions past the last one are its end."""
    if position < len(dump.schedule):
        return dump.schedule[position]
    return "end of the step"


def _place(operation: str, source: str) -> str:
    return f"{operation}\n{source}" if source else operation


def _parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m act.peak",
        description="Show which values XLA keeps alive when a step needs the most "
        "temporary memory, and which operations defined and last used them.",
        epilog="To make a dump, run the program with XLA_FLAGS='--xla_dump_to="
        "DUMP_DIR --xla_dump_hlo_as_text'.",
    )
    parser.add_argument("directory", type=Path, metavar="DUMP_DIR")
    parser.add_argument(
        "--module", default="", help="part of the module's name, if several are there"
    )
    parser.add_argument("--at", type=int, help="another position than the peak")
    parser.add_argument("--all", action="store_true", help="arguments and results too")
    parser.add_argument("--limit", type=int, default=40, help="rows to print [40]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write it as JSON")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
