# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a compression did: tables for people, JSON for programs, a picture."""

import dataclasses
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Self

import jax
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table

from act.dump import read_dump
from act.plot import plot_memory
from act.rewrite import Rewritten

#: Values that stay as they are are listed from this size on.
LARGE_VALUE_BYTES = 1 << 10

#: Compiles a step with XLA's memory dump going to the given directory.
DumpingCompiler = Callable[[Path], jax.stages.Compiled]


@dataclasses.dataclass(frozen=True, repr=False)
class Report:
    """The effect of a compression on one step.

    Attributes:
        step: name of the step.
        configuration: the options it was rewritten with.
        platform: what executes it, such as "cpu".
        primal_results: flat number of results kept bit-identical.
        temp_bytes_before: temporary bytes XLA needs for the original, None if
            it was not compiled.
        temp_bytes_after: the same for the compressed step.
        raw_bytes: bytes of the saved values before encoding.
        stash_bytes: bytes of the saved values as stored.
        survivors: saved values; each with operation, location, shape,
            element_type, encoding, bits_per_element, bytes_before, bytes_after
            and reason.
        not_compressed: values that stay as they are, with bytes and reason.
        operations: numbers of forward, backward and cloned operations.
        candidates: temporary bytes of each configuration tried by a search.
        untouched: why the step was left as it is, None if it was rewritten.
        loop_pairs: pairs of forward and backward loops with saves inside.
        sliced_loops: loops over parts of a head, of attention, or of a sequence.
        recomputed_flops: floating-point operations of the contractions that
            backward runs again.
        unpaired_loops: why loops of backward read whole stacks, if some do.
        budget: what was done for a memory budget (docs/Budget.md), None without one.
    """

    step: str
    configuration: str
    platform: str
    primal_results: int
    temp_bytes_before: int | None
    temp_bytes_after: int
    raw_bytes: int
    stash_bytes: int
    survivors: tuple[dict[str, Any], ...]
    not_compressed: tuple[dict[str, Any], ...]
    operations: dict[str, int]
    candidates: dict[str, int]
    untouched: str | None
    loop_pairs: int
    sliced_loops: int
    recomputed_flops: float
    unpaired_loops: tuple[str, ...]
    budget: dict[str, Any] | None
    _compilers: tuple[DumpingCompiler | None, DumpingCompiler] = dataclasses.field(
        compare=False
    )

    @classmethod
    def build(
        cls,
        step: str,
        rewritten: Rewritten,
        temp_bytes_before: int | None,
        temp_bytes_after: int,
        compilers: tuple[DumpingCompiler | None, DumpingCompiler],
    ) -> Self:
        """Makes a report from act-opt's own and the figures of XLA."""
        source = rewritten.report
        return cls(
            step=step,
            configuration=rewritten.options.summary(),
            platform=jax.default_backend(),
            primal_results=source["primal_results"],
            temp_bytes_before=temp_bytes_before,
            temp_bytes_after=temp_bytes_after,
            raw_bytes=source["raw_bytes"],
            stash_bytes=source["stash_bytes"],
            survivors=tuple(source["survivors"]),
            not_compressed=tuple(source["not_compressed"]),
            operations={
                kind: source[f"{kind}_operations"]
                for kind in ("forward", "backward", "cloned")
            },
            candidates=dict(rewritten.candidates),
            untouched=_untouched_reason(rewritten),
            loop_pairs=source["loop_pairs"],
            sliced_loops=source["sliced_loops"],
            recomputed_flops=source["recomputed_flops"],
            unpaired_loops=tuple(source["unpaired_loops"]),
            budget=rewritten.budget,
            _compilers=compilers,
        )

    def to_dict(self) -> dict[str, Any]:
        """Returns the report as JSON-compatible values."""
        return {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if not field.name.startswith("_")
        }

    def to_json(self, path: str | os.PathLike | None = None) -> str:
        """Returns the report as JSON and, with a path, writes it there."""
        text = json.dumps(self.to_dict(), indent=2)
        if path is not None:
            Path(path).write_text(text + "\n")
        return text

    def plot(self, path: str | os.PathLike) -> Path:
        """Draws temporary memory over the step, before and after.

        Compiles both steps once more to read the live ranges out of XLA's dump.

        Args:
            path: picture to write; its suffix gives the format.

        Returns:
            The path.

        Raises:
            ActDumpError: the platform's compiler dumps no live ranges.
        """
        curves = {}
        names = ("as it is", f"compressed, {self.configuration}")
        for name, compile_with_dump in zip(names, self._compilers, strict=True):
            if compile_with_dump is None:
                continue
            with tempfile.TemporaryDirectory(prefix="act-dump-") as directory:
                compile_with_dump(Path(directory))
                curves[name] = read_dump(directory)
        return plot_memory(curves, Path(path), self.step)

    def __repr__(self) -> str:
        return f"<act.Report: {self.headline()}>"

    def __str__(self) -> str:
        console = Console(width=120, no_color=True)
        with console.capture() as capture:
            console.print(self)
        return capture.get()

    def __rich_console__(
        self, console: Console, options: ConsoleOptions
    ) -> RenderResult:
        yield from self._survivor_table()
        yield from self._untouched_table()
        yield self.headline()

    def headline(self) -> str:
        """Returns the figures that matter, one line each."""
        lines = [f"{self.step}: {self.configuration}"]
        if self.untouched:
            lines.append(f"left as it is: {self.untouched}")
        elif self.raw_bytes:
            lines.append(
                f"saved for backward: {format_bytes(self.raw_bytes)} as it is, "
                f"{format_bytes(self.stash_bytes)} stored"
            )
        else:
            lines.append("saved for backward: nothing that act stores")
        if self.recomputed_flops:
            lines.append(
                f"contractions computed again: {self.recomputed_flops / 1e9:,.1f} GFLOP"
            )
        lines.extend(f"loop left as it is: {why}" for why in self.unpaired_loops)
        lines.extend(_budget_lines(self.budget))
        after = format_bytes(self.temp_bytes_after)
        if self.temp_bytes_before is None:
            lines.append(f"XLA {self.platform} temporary memory: {after}")
        else:
            factor = self.temp_bytes_before / max(self.temp_bytes_after, 1)
            lines.append(
                f"XLA {self.platform} temporary memory: "
                f"{format_bytes(self.temp_bytes_before)} -> {after} ({factor:.2f}x)"
            )
        return "\n".join(lines)

    def _survivor_table(self) -> Iterator[Table]:
        rows = group_rows(
            self.survivors,
            ("operation", "shape", "element_type", "encoding", "reason"),
            ("bytes_before", "bytes_after"),
        )
        if not rows:
            return
        table = Table(title="Saved for backward", title_justify="left")
        for heading in ("number", "operation", "shape"):
            table.add_column(
                heading, justify="right" if heading == "number" else "left"
            )
        table.add_column("encoding", overflow="fold")
        table.add_column("before", justify="right")
        table.add_column("after", justify="right")
        table.add_column("why", overflow="fold")
        for row in rows:
            table.add_row(
                str(row["count"]),
                _short(row["operation"]),
                format_shape(row),
                row["encoding"],
                format_bytes(row["bytes_before"]),
                format_bytes(row["bytes_after"]),
                row["reason"],
            )
        yield table

    def _untouched_table(self) -> Iterator[Table]:
        rows = group_rows(
            [v for v in self.not_compressed if v["bytes"] >= LARGE_VALUE_BYTES],
            ("operation", "shape", "element_type", "reason"),
            ("bytes",),
        )
        if not rows:
            return
        table = Table(title="Large values left as they are", title_justify="left")
        table.add_column("number", justify="right")
        table.add_column("operation")
        table.add_column("shape")
        table.add_column("bytes", justify="right")
        table.add_column("why", overflow="fold")
        for row in rows:
            table.add_row(
                str(row["count"]),
                _short(row["operation"]),
                format_shape(row),
                format_bytes(row["bytes"]),
                row["reason"],
            )
        yield table


def _budget_lines(budget: dict[str, Any] | None) -> Iterator[str]:
    """Yields what a memory budget came to."""
    if budget is None:
        return
    yield (
        f"memory budget: {format_bytes(budget['asked'])} asked, "
        f"{format_bytes(budget['peak'])} used with arguments and results, "
        f"{format_bytes(budget['original_peak'])} as it was"
    )
    if "model" not in budget:
        return
    gap = budget["cost"] - budget["cost_bound"]
    yield (
        f"temporary memory of the plan: {format_bytes(budget['temp'])}, modelled as "
        f"{format_bytes(budget['model'])}, at least "
        f"{format_bytes(budget['lower_bound'])}; {budget['plans_compiled']} plans "
        "compiled"
    )
    yield (
        f"cost {budget['cost']:.3g} of a step, at most {gap:.2g} above the least; "
        f"predicted gradient error {budget['predicted_error']:.3g}; "
        f"{budget['kept']} values kept as they are"
    )


def _untouched_reason(rewritten: Rewritten) -> str | None:
    """Returns why a step was not rewritten, or None if it was."""
    if rewritten.untouched and rewritten.budget is not None:
        return "it is within its memory budget"
    if rewritten.untouched:
        return "every configuration needs as much temporary memory or more"
    if not rewritten.report["survivors"]:
        return "no value that is large enough crosses into backward"
    return None


def group_rows(
    values: tuple[dict[str, Any], ...] | list[dict[str, Any]],
    same: tuple[str, ...],
    added: tuple[str, ...],
) -> list[dict[str, Any]]:
    """Merges rows that agree in some keys, largest sum first.

    Args:
        values: rows.
        same: keys in which merged rows agree.
        added: keys to sum; the first one orders the result.

    Returns:
        One row per group with `same`, the sums of `added` and a `count`.
    """
    groups: dict[str, dict[str, Any]] = {}
    for value in values:
        identity = json.dumps([value[key] for key in same])
        group = groups.setdefault(
            identity,
            {key: value[key] for key in same} | dict.fromkeys(added, 0) | {"count": 0},
        )
        group["count"] += 1
        for key in added:
            group[key] += value[key]
    return sorted(groups.values(), key=lambda group: -group[added[0]])


def format_bytes(count: int) -> str:
    """Returns a number of bytes with a binary unit: 1536 -> "1.5 KiB"."""
    size = float(count)
    for unit in ("B", "KiB", "MiB"):
        if abs(size) < 1024:
            return f"{size:.0f} B" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1024
    return f"{size:,.2f} GiB"


def format_shape(row: dict[str, Any]) -> str:
    """Returns "f32[8,64]" for a row with element_type and shape."""
    return f"{row['element_type']}[{','.join(map(str, row['shape']))}]"


def _short(operation: str) -> str:
    return operation.removeprefix("stablehlo.")
