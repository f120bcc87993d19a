# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Time of act's passes on a real step and on synthetic steps of growing size."""

import argparse
import dataclasses
import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import rich.console
import rich.table

ROOT = Path(__file__).resolve().parent.parent
REAL_STEP = ROOT.parent / "shared" / "inputs" / "gpt.real.mlir"
PASSES = {
    "partition": "ActPartitionPass",
    "choose": "ActChooseEncodingsPass",
    "verify": "ActVerifyPartitionPass",
}
# Goals of act-partition in seconds, by the name of the step.
GOALS = {"gpt.real": 1.0, "made 100000": 10.0}

TOKENS, WIDTH, HIDDEN, HEADS = 512, 256, 1024, 8


class StepWriter:
    """Writes a training step of transformer-like blocks in StableHLO's generic form.

    Each block normalises the residual stream, applies attention and an MLP with a
    gelu-like activation, and adds both. Backward is what reverse differentiation
    yields in kind and order: it reads activations, statistics and weights of the
    blocks from last to first. Weights are updated with momentum at the end.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._arguments: list[tuple[str, str]] = []
        self.operations = 0

    def argument(self, *shape: int) -> tuple[str, str]:
        """Adds an argument and returns it."""
        value = (f"%a{len(self._arguments)}", tensor(*shape))
        self._arguments.append(value)
        return value

    def op(
        self, name: str, *operands: tuple[str, str], to: str = "", attributes: str = ""
    ) -> tuple[str, str]:
        """Adds an operation of type `to`, by default that of its first operand."""
        result = (f"%{self.operations}", to or operands[0][1])
        names = ", ".join(value for value, _ in operands)
        types = ", ".join(kind for _, kind in operands)
        properties = f" <{{{attributes}}}>" if attributes else ""
        self._lines.append(
            f'{result[0]} = "stablehlo.{name}"({names}){properties} : '
            f"({types}) -> {result[1]}"
        )
        self.operations += 1
        return result

    def constant(self, number: float, *shape: int) -> tuple[str, str]:
        """Adds a splat constant."""
        scalar = self.op(
            "constant",
            to=tensor(),
            attributes=f"value = dense<{number:e}> : tensor<f32>",
        )
        if not shape:
            return scalar
        return self.op(
            "broadcast_in_dim",
            scalar,
            to=tensor(*shape),
            attributes="broadcast_dimensions = array<i64>",
        )

    def repeat(self, row: tuple[str, str], *shape: int) -> tuple[str, str]:
        """Repeats along the last axis."""
        axes = ", ".join(map(str, range(len(shape) - 1)))
        return self.op(
            "broadcast_in_dim",
            row,
            to=tensor(*shape),
            attributes=f"broadcast_dimensions = array<i64: {axes}>",
        )

    def reduce(
        self, value: tuple[str, str], *shape: int, by: str = "add"
    ) -> tuple[str, str]:
        """Combines along the last axis; the result has `shape`."""
        init = self.constant(0)
        result = (f"%{self.operations}", tensor(*shape))
        self._lines.append(
            f'{result[0]} = "stablehlo.reduce"({value[0]}, {init[0]}) '
            f"<{{dimensions = array<i64: {len(shape)}>}}> ({{\n"
            f"^bb0(%p: tensor<f32>, %q: tensor<f32>):\n"
            f'  %r = "stablehlo.{by}"(%p, %q) : '
            f"(tensor<f32>, tensor<f32>) -> tensor<f32>\n"
            f'  "stablehlo.return"(%r) : (tensor<f32>) -> ()\n'
            f"}}) : ({value[1]}, tensor<f32>) -> {result[1]}"
        )
        self.operations += 3
        return result

    def dot(
        self,
        left: tuple[str, str],
        right: tuple[str, str],
        contract: tuple[int, int],
        *shape: int,
        batch: bool = False,
    ) -> tuple[str, str]:
        """Contracts one axis of each operand; `batch` keeps axis 0 of both."""
        numbers = (
            "lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
            if batch
            else ""
        )
        numbers += (
            f"lhs_contracting_dimensions = [{contract[0]}], "
            f"rhs_contracting_dimensions = [{contract[1]}]"
        )
        return self.op(
            "dot_general",
            left,
            right,
            to=tensor(*shape),
            attributes=f"dot_dimension_numbers = #stablehlo.dot<{numbers}>",
        )

    def text(self, results: list[tuple[str, str]]) -> str:
        """Returns the module."""
        arguments = ", ".join(f"{name}: {kind}" for name, kind in self._arguments)
        types = ", ".join(kind for _, kind in results)
        names = ", ".join(name for name, _ in results)
        body = "\n".join(self._lines)
        return (
            f"func.func @main({arguments}) -> ({types}) {{\n{body}\n"
            f"return {names} : {types}\n}}\n"
        )


def tensor(*shape: int) -> str:
    """Returns the type of an f32 tensor."""
    return "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"


class Block:
    """One block: its forward on construction, its backward on `backward`."""

    def __init__(self, step: StepWriter, stream: tuple[str, str]) -> None:
        self.step = step
        self.weights = [
            step.argument(WIDTH, WIDTH),
            step.argument(WIDTH, HIDDEN),
            step.argument(HIDDEN, WIDTH),
        ]
        rows, scores = (TOKENS, WIDTH), (HEADS, TOKENS, TOKENS)
        heads = (HEADS, TOKENS, WIDTH // HEADS)
        # Normalisation.
        self.mean = step.reduce(stream, TOKENS)
        self.centred = step.op("subtract", stream, step.repeat(self.mean, *rows))
        variance = step.reduce(step.op("multiply", self.centred, self.centred), TOKENS)
        shifted = step.op("add", variance, step.constant(1e-5, TOKENS))
        self.scale = step.repeat(step.op("rsqrt", shifted), *rows)
        self.normal = step.op("multiply", self.centred, self.scale)
        # Attention of the projection with itself.
        self.query = step.dot(self.normal, self.weights[0], (1, 0), *rows)
        split = step.op("reshape", self.query, to=tensor(TOKENS, *heads[::2]))
        self.heads = step.op(
            "transpose",
            split,
            to=tensor(*heads),
            attributes="permutation = array<i64: 1, 0, 2>",
        )
        raw = step.dot(self.heads, self.heads, (2, 2), *scores, batch=True)
        most = step.reduce(raw, *scores[:2], by="maximum")
        self.exponential = step.op(
            "exponential", step.op("subtract", raw, step.repeat(most, *scores))
        )
        self.sums = step.repeat(step.reduce(self.exponential, *scores[:2]), *scores)
        self.attention = step.op("divide", self.exponential, self.sums)
        mixed = step.dot(self.attention, self.heads, (2, 1), *heads, batch=True)
        middle = step.op("add", stream, self.join(mixed))
        # MLP.
        self.middle = middle
        self.before = step.dot(middle, self.weights[1], (1, 0), TOKENS, HIDDEN)
        self.cube = step.op(
            "multiply", self.before, step.op("multiply", self.before, self.before)
        )
        self.tanh = step.op("tanh", step.op("add", self.before, self.cube))
        self.after = step.op("multiply", self.before, self.tanh)
        out = step.dot(self.after, self.weights[2], (1, 0), *rows)
        self.stream = step.op("add", middle, out)

    def join(self, heads: tuple[str, str]) -> tuple[str, str]:
        """Puts the heads of a value side by side."""
        turned = self.step.op(
            "transpose",
            heads,
            to=tensor(TOKENS, HEADS, WIDTH // HEADS),
            attributes="permutation = array<i64: 1, 0, 2>",
        )
        return self.step.op("reshape", turned, to=tensor(TOKENS, WIDTH))

    def backward(
        self, gradient: tuple[str, str]
    ) -> tuple[tuple[str, str], list[tuple[str, str]]]:
        """Returns the gradients of the stream and of the weights."""
        step, rows = self.step, (TOKENS, WIDTH)
        scores, heads = (HEADS, TOKENS, TOKENS), (HEADS, TOKENS, WIDTH // HEADS)
        # MLP.
        dw2 = step.dot(self.after, gradient, (0, 0), HIDDEN, WIDTH)
        after = step.dot(gradient, self.weights[2], (1, 1), TOKENS, HIDDEN)
        square = step.op("multiply", self.tanh, self.tanh)
        slope = step.op("subtract", step.constant(1, TOKENS, HIDDEN), square)
        inner = step.op("multiply", step.op("multiply", after, self.before), slope)
        cubed = step.op(
            "multiply", inner, step.op("multiply", self.before, self.before)
        )
        before = step.op(
            "add",
            step.op("multiply", after, self.tanh),
            step.op("add", inner, cubed),
        )
        dw1 = step.dot(self.middle, before, (0, 0), WIDTH, HIDDEN)
        middle = step.op(
            "add", gradient, step.dot(before, self.weights[1], (1, 1), *rows)
        )
        # Attention.
        split = step.op("reshape", middle, to=tensor(TOKENS, *heads[::2]))
        mixed = step.op(
            "transpose",
            split,
            to=tensor(*heads),
            attributes="permutation = array<i64: 1, 0, 2>",
        )
        value = step.dot(self.attention, mixed, (1, 1), *heads, batch=True)
        attention = step.dot(mixed, self.heads, (2, 2), *scores, batch=True)
        weighted = step.op("multiply", attention, self.attention)
        total = step.repeat(step.reduce(weighted, *scores[:2]), *scores)
        raw = step.op("multiply", step.op("subtract", attention, total), self.attention)
        query = step.dot(raw, self.heads, (2, 1), *heads, batch=True)
        key = step.dot(raw, self.heads, (1, 1), *heads, batch=True)
        projected = self.join(step.op("add", value, step.op("add", query, key)))
        dw0 = step.dot(self.normal, projected, (0, 0), WIDTH, WIDTH)
        normal = step.dot(projected, self.weights[0], (1, 1), *rows)
        # Normalisation.
        scaled = step.op("multiply", normal, self.scale)
        along = step.reduce(step.op("multiply", scaled, self.centred), TOKENS)
        moved = step.op("multiply", self.centred, step.repeat(along, *rows))
        centred = step.op("subtract", scaled, step.op("multiply", moved, self.scale))
        stream = step.op("add", middle, centred)
        return stream, [dw0, dw1, dw2]


def write_step(operations: int) -> str:
    """Returns a step of about `operations` operations."""
    probe = StepWriter()
    gradient = probe.argument(TOKENS, WIDTH)
    Block(probe, gradient).backward(gradient)
    per_block = probe.operations + 3 * 5
    step = StepWriter()
    stream = step.argument(TOKENS, WIDTH)
    blocks = []
    for _ in range(max(1, operations // per_block)):
        blocks.append(Block(step, stream))
        stream = blocks[-1].stream
    readout = step.argument(WIDTH, WIDTH)
    logits = step.dot(stream, readout, (1, 0), TOKENS, WIDTH)
    loss = step.reduce(step.reduce(step.op("multiply", logits, logits), TOKENS))
    gradient = step.dot(step.op("add", logits, logits), readout, (1, 1), TOKENS, WIDTH)
    gradients: list[tuple[tuple[str, str], tuple[str, str]]] = []
    for block in reversed(blocks):
        gradient, dws = block.backward(gradient)
        gradients.extend(zip(block.weights, dws, strict=True))
    results = [loss]
    for weight, dw in gradients:
        shape = tuple(map(int, re.findall(r"\d+(?=x)", weight[1])))
        rate = step.constant(1e-3, *shape)
        decayed = step.op("multiply", weight, step.constant(0.999, *shape))
        results.append(step.op("subtract", decayed, step.op("multiply", dw, rate)))
    return step.text(results)


@dataclasses.dataclass(frozen=True)
class Timing:
    """Seconds that act-opt spent on a step.

    Attributes:
        name: the step.
        operations: how many the file holds.
        parse: seconds to read it.
        passes: seconds of each pass.
    """

    name: str
    operations: int
    parse: float
    passes: dict[str, float]


def time_step(act_opt: Path, name: str, path: Path, repeats: int) -> Timing:
    """Runs the passes on a file, and keeps the fastest of `repeats` runs."""
    pipeline = (
        "builtin.module(act-inline,func.func(act-partition),"
        "act-choose-encodings,func.func(act-verify-partition))"
    )
    runs = [_run(act_opt, pipeline, path) for _ in range(repeats)]
    return Timing(
        name,
        _count_operations(path),
        min(run["parse"] for run in runs),
        {key: min(run[key] for run in runs) for key in PASSES},
    )


def _run(act_opt: Path, pipeline: str, path: Path) -> dict[str, float]:
    done = subprocess.run(
        [
            act_opt,
            path,
            f"--pass-pipeline={pipeline}",
            "--mlir-timing",
            "--mlir-timing-display=list",
            "--mlir-disable-threading",
            "--verify-each=false",
            "-o",
            "/dev/null",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stderr)
    seconds = {"parse": _seconds(done.stderr, "Parser")}
    for key, pass_name in PASSES.items():
        seconds[key] = _seconds(done.stderr, pass_name)
    return seconds


def _seconds(report: str, name: str) -> float:
    """Reads the wall time of `name` from the list that --mlir-timing prints."""
    match = re.search(rf"^\s*([0-9.]+) \(.*\b{name}\b", report, re.MULTILINE)
    if not match:
        sys.exit(f"act-opt reports no time of {name}:\n{report}")
    return float(match[1])


def _count_operations(path: Path) -> int:
    pattern = re.compile(r'"stablehlo\.|^\s*(?:%\S+ = )?(?:func\.)?call ', re.MULTILINE)
    return len(pattern.findall(path.read_text()))


def steps(sizes: list[int], directory: Path) -> Iterator[tuple[str, Path]]:
    """Yields the real step, if it is there, and the synthetic ones."""
    if REAL_STEP.exists():
        yield "gpt.real", REAL_STEP
    for size in sizes:
        path = directory / f"{size}.mlir"
        path.write_text(write_step(size))
        yield f"made {size}", path


def print_table(timings: list[Timing]) -> None:
    """Prints seconds per pass and how fast partition grows with the step."""
    table = rich.table.Table(title="seconds (fastest run)")
    table.add_column("step", no_wrap=True)
    for column in ("ops", "parse", *PASSES, "goal", "growth"):
        table.add_column(column, justify="right", no_wrap=True)
    previous: Timing | None = None
    for timing in timings:
        growth = ""
        if timing.name.startswith("made"):
            if previous:
                growth = f"n^{exponent(previous, timing):.2f}"
            previous = timing
        goal = GOALS.get(timing.name)
        table.add_row(
            timing.name,
            f"{timing.operations:,}",
            f"{timing.parse:.3f}",
            *(f"{timing.passes[key]:.3f}" for key in PASSES),
            f"< {goal:g}" if goal else "",
            growth,
        )
    rich.console.Console().print(table)


def exponent(small: Timing, large: Timing) -> float:
    """Returns k if partition takes n^k between two sizes; 1 is linear."""
    seconds = math.log(
        max(large.passes["partition"], 1e-4) / max(small.passes["partition"], 1e-4)
    )
    return seconds / math.log(large.operations / small.operations)


def main() -> int:
    """Runs the benchmark; fails if a goal is missed and `--check` is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--act-opt", type=Path, default=ROOT / "build" / "bin" / "act-opt"
    )
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=[1_000, 10_000, 100_000]
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    parser.add_argument(
        "--write", type=int, metavar="N", help="print a step of N operations and exit"
    )
    parser.add_argument("--check", action="store_true", help="fail if a goal is missed")
    arguments = parser.parse_args()
    if arguments.write is not None:
        print(write_step(arguments.write), end="")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        timings = [
            time_step(arguments.act_opt, name, path, arguments.repeats)
            for name, path in steps(arguments.sizes, Path(directory))
        ]
    print_table(timings)
    if arguments.json:
        rows = [dataclasses.asdict(timing) for timing in timings]
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")
    missed = [
        timing.name
        for timing in timings
        if timing.passes["partition"] >= GOALS.get(timing.name, math.inf)
    ]
    if missed and arguments.check:
        print(f"slower than the goal: {', '.join(missed)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
