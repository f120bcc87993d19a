# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps that act compiles itself against XLA, see docs/Benchmarks.md.

Both execute the same step alternately in one process, on as many threads.
"""

import argparse
import dataclasses
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from rich.console import Console
from rich.table import Table

import act
import models
from act.compare import relative_error
from act.file_step import FileStep
from measure import MIB, caller, compile_step, median_time_ratio, warm_up_compiler

INPUTS = Path(__file__).resolve().parents[2] / "shared" / "inputs"

COLUMNS = {
    "time_ratio": "{:.2f}",
    "temp_xla": "{:,.1f}",
    "peak": "{:,.1f}",
    "arena_equals_peak": "{}",
    "gradient_error": "{:.1e}",
    "xla_sensitivity": "{:.1e}",
    "compressed_peak": "{:,.1f}",
    "compressed_peak_ratio": "{:.3f}",
    "compressed_time_ratio": "{:.2f}",
    "primal_identical": "{}",
}


@dataclasses.dataclass(frozen=True)
class Step:
    """A step to measure.

    Attributes:
        function: for `jax.jit` and `act.native`, or a path for the latter.
        jitted: what JAX executes.
        arguments: of both.
    """

    function: Any
    jitted: Callable
    arguments: tuple


def _model_step(model: models.Model) -> Step:
    step = model.step()
    return Step(step, jax.jit(step), (model.parameters, model.batch))


def _file_step(name: str) -> Step:
    path = INPUTS / f"{name}.mlir"
    if not path.is_file():
        raise FileNotFoundError(f"needs {path.name} in shared/inputs")
    step = FileStep.read(path)
    return Step(path, jax.jit(step.exported.call), tuple(step.arguments))


STEPS: dict[str, Callable[[], Step]] = {
    "mlp": lambda: _model_step(models.mlp(6)),
    "gpt": lambda: _model_step(models.gpt(4, 1024)),
    "cnn": lambda: _model_step(models.cnn(images=16, channels=16)),
    "resnet50": lambda: _file_step("resnet50"),
    "dropout": lambda: _model_step(models.gpt(4, 1024, dropout=0.1)),
    "scan": lambda: _model_step(models.gpt(4, 1024, scanned=True)),
    "mlp12": lambda: _model_step(models.mlp(12)),
    "gpt6": lambda: _model_step(models.gpt(6, 1024)),
}
#: Steps that are measured with 4 bits, too.
COMPRESSED = ("mlp12", "gpt6")


def _largest_error(reference: list[Any], values: list[Any]) -> float:
    """Returns the largest relative error of a result.

    Results whose largest element is below a millionth of that of all results are
    left out: they are rounding errors.
    """
    arrays = [np.asarray(array, np.float64) for array in reference]
    largest = max(np.abs(array).max() for array in arrays if array.size)
    return max(
        relative_error(array, np.asarray(value, np.float64))
        for array, value in zip(arrays, values, strict=True)
        if array.size and np.abs(array).max() > 1e-6 * largest
    )


def _disturb(tree: Any) -> Any:
    """Changes f32 arguments by about a unit in the last place."""
    random = np.random.default_rng(0)

    def change(leaf: Any) -> Any:
        if getattr(leaf, "dtype", None) != np.float32:
            return leaf
        array = np.asarray(leaf)
        noise = 1e-7 * random.standard_normal(array.shape)
        return (array * (1 + noise)).astype(np.float32)

    return jax.tree.map(change, tree)


def measure(name: str, seconds: float, threads: int) -> dict[str, Any]:
    """Measures a step: memory in MiB, times as ratios to XLA's."""
    step = STEPS[name]()
    plain = compile_step(step.jitted.lower(*step.arguments))
    native = act.native(step.function, threads=threads, progress=False)
    results = jax.tree.leaves(native(*step.arguments))
    arguments = jax.tree.map(_on_device, step.arguments)
    expected = jax.tree.leaves(plain.executable(*arguments))
    disturbed = jax.tree.leaves(plain.executable(*_disturb(arguments)))
    peak = native.peak(*step.arguments)

    def run() -> Any:
        return native(*step.arguments)

    row = {
        "time_ratio": median_time_ratio(
            caller(plain.executable, arguments), run, seconds
        ),
        "temp_xla": plain.temp_mib,
        "peak": peak / MIB,
        "arena_equals_peak": peak == native.arena_bytes,
        "gradient_error": _largest_error(expected, results),
        "xla_sensitivity": _largest_error(expected, disturbed),
    }
    if name in COMPRESSED:
        row |= _measure_compressed(step, run, peak, seconds, threads)
    return row


def _measure_compressed(
    step: Step, run: Callable[[], Any], peak: int, seconds: float, threads: int
) -> dict[str, Any]:
    """Measures the step with 4 bits against the native step without."""
    compressed = act.native(step.function, bits=4, threads=threads, progress=False)
    compressed_peak = compressed.peak(*step.arguments)
    loss, plain_loss = (
        jax.tree.leaves(function(*step.arguments))[0]
        for function in (compressed, lambda *_: run())
    )
    return {
        "compressed_peak": compressed_peak / MIB,
        "compressed_peak_ratio": compressed_peak / peak,
        "compressed_time_ratio": median_time_ratio(
            run, lambda: compressed(*step.arguments), seconds
        ),
        "primal_identical": np.asarray(loss).tobytes()
        == np.asarray(plain_loss).tobytes(),
    }


def _on_device(leaf: Any) -> Any:
    return jax.numpy.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf


def _table(rows: dict[str, dict[str, Any]]) -> Table:
    table = Table(title="act native against XLA (time act/XLA, memory in MiB)")
    table.add_column("step")
    for column in COLUMNS:
        table.add_column(column, justify="right")
    for name, row in rows.items():
        table.add_row(
            name,
            *(
                COLUMNS[column].format(row[column]) if column in row else ""
                for column in COLUMNS
            ),
        )
    return table


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--only",
        metavar="NAME,...",
        default=",".join(STEPS),
        help=f"steps to measure, of {', '.join(STEPS)}",
    )
    parser.add_argument("--json", type=Path, help="file for the figures")
    parser.add_argument(
        "--seconds", type=float, default=20.0, help="time for each comparison"
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=len(os.sched_getaffinity(0)),
        help="of act; XLA takes all processors",
    )
    options = parser.parse_args()
    options.only = options.only.split(",")
    for name in options.only:
        if name not in STEPS:
            parser.error(f"--only: expects names of {', '.join(STEPS)}, got {name!r}")
    return options


def main() -> int:
    """Prints a table, one row per step, and writes it to --json."""
    options = _parse_arguments()
    console = Console(width=200 if not sys.stdout.isatty() else None)
    warm_up_compiler()
    rows = {}
    for name in options.only:
        try:
            rows[name] = measure(name, options.seconds, options.threads)
        except FileNotFoundError as error:
            console.print(f"{name} is left out: {error}")
    console.print(_table(rows))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
