# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running ranges against those of the batch at equal bits, see docs/Benchmarks.md.

A model is trained with exact gradients, each on a batch of its own, while the states of
running ranges follow. Then gradients of further batches are compared: `error` is the
relative Euclidean error of one, the median over these batches.
"""

import argparse
import json
import math
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.console import Console

import act
import models
from encoding_evidence import (
    LEARNING_RATES,
    SMALL_MODELS,
    batches,
    error,
    flat,
    table,
)

#: Bits, and "batch", "running" or "groups", which stands for what act takes by itself.
Label = tuple[int, str]

#: What has ranges: heads, else channels, else features.
AXES = ("head", "channel", "last")


def write_rules(directory: Path, bits: int, kind: str) -> Path:
    """Writes rules that give every value ranges of one kind.

    Args:
        directory: where to.
        bits: of each element.
        kind: "batch" or "running".
    """
    path = directory / f"{kind}{bits}.json"
    rules = [{"axis": axis, "bits": bits, "range": kind} for axis in AXES]
    path.write_text(json.dumps(rules))
    return path


def parameter_bytes(survivors: Sequence[dict[str, Any]]) -> int:
    """Returns the bytes of ranges that are stored between forward and backward.

    Args:
        survivors: of a report.
    """
    total = 0
    for survivor in survivors:
        bits = re.search(r"_quant<bits = (\d+)", survivor["encoding"])
        if bits is not None:
            elements = math.prod(survivor["shape"]) * survivor["copies"]
            total += survivor["bytes_after"] - elements * int(bits[1]) // 8
    return total


def make_steps(
    model: models.Model, all_bits: Sequence[int], arguments: tuple
) -> tuple[dict[Label, act.CompressedStep], dict[Label, act.Report]]:
    """Returns the compressed steps, and the reports on them.

    Args:
        model: what to compress the step of.
        all_bits: of each element.
        arguments: of the step.
    """
    steps: dict[Label, act.CompressedStep] = {}
    with tempfile.TemporaryDirectory() as directory:
        for bits in all_bits:
            for kind in ("batch", "running"):
                steps[bits, kind] = act.compress(
                    model.step(),
                    rules=write_rules(Path(directory), bits, kind),
                    search="none",
                    running_ranges=kind == "running",
                )
            steps[bits, "groups"] = act.compress(model.step(), bits=bits, search="none")
        # While the rules exist.
        reports = {label: step.report(*arguments) for label, step in steps.items()}
    return steps, reports


def descend(parameters: Any, gradients: Any, rate: float) -> Any:
    """Returns the parameters after a step of SGD."""
    return jax.tree.map(lambda p, g: p - rate * g, parameters, gradients)


def measure(options: argparse.Namespace, name: str) -> list[dict[str, Any]]:
    """Measures one model; returns a row for each number of bits and kind of range."""
    model = SMALL_MODELS[name]()
    stream = batches(name, model, options.steps + options.batches)
    first = (model.parameters, stream[0])
    steps, reports = make_steps(model, options.bits, first)
    ranges = {
        label: step.init_ranges(*first) if label[1] == "running" else {}
        for label, step in steps.items()
    }
    exact = jax.jit(model.step())
    parameters = model.parameters
    errors: dict[Label, list[float]] = {label: [] for label in steps}
    for number, batch in enumerate(stream):
        _, gradients = exact(parameters, batch)
        for label, step in steps.items():
            if label[1] == "running":
                (_, got), ranges[label] = step.with_ranges(
                    ranges[label], parameters, batch
                )
            elif number >= options.steps:
                _, got = step(parameters, batch)
            if number >= options.steps:
                errors[label].append(error(flat(gradients), flat(got)))
        parameters = descend(parameters, gradients, LEARNING_RATES[name])
    return [
        {
            "model": name,
            "bits": bits,
            "range": kind,
            "error": float(np.median(errors[bits, kind])),
            "stash KiB": reports[bits, kind].stash_bytes / 1024,
            "parameters B": parameter_bytes(reports[bits, kind].survivors),
            "state B": sum(value.nbytes for value in ranges[bits, kind].values()),
        }
        for bits, kind in steps
    ]


def main() -> int:
    """Runs the command; returns its exit status."""
    parser = argparse.ArgumentParser(prog="benchmarks/ranges", description=__doc__)
    parser.add_argument("--only", choices=SMALL_MODELS, action="append", help="a model")
    parser.add_argument("--bits", type=int, nargs="+", default=[8, 4], help="[8 4]")
    parser.add_argument("--steps", type=int, default=50, help="of training [50]")
    parser.add_argument("--batches", type=int, default=8, help="to compare on [8]")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures")
    options = parser.parse_args()
    rows = []
    for name in options.only or SMALL_MODELS:
        rows += measure(options, name)
        if options.json is not None:
            options.json.write_text(json.dumps(rows, indent=2) + "\n")
    title = f"Gradient error after {options.steps} steps"
    Console(highlight=False).print(table(title, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
