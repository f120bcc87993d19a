# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole training steps as PTX on act's emulator of a GPU, against XLA.

Every access to memory is checked, and the peak has to be the whole arena.
"""

import functools
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from gpu_kernels import has_emulator
from native_runner import check_results, run_native

from act import tool
from act.compare import identical
from act.file_step import FileStep

INPUTS = Path(__file__).resolve().parents[3] / "shared" / "inputs"
#: Tolerance of each input, as for the CPU. gpt computes in bf16.
STEPS = {
    "mlp": 1e-5,
    "custom_vjp": 1e-5,
    "lstm": 1e-5,
    "linattn": 1e-5,
    "gpt_scan": 1e-5,
    "bert": 1e-5,
    "vit": 1e-5,
    "gpt": 1e-2,
}
#: Steps that save so little that compression only computes something again.
LOSSLESS = {"custom_vjp", "lstm", "linattn"}
COMPRESS = "--compress=bits=4 primal-results=1"

pytestmark = pytest.mark.skipif(
    not has_emulator(), reason="the emulator has not been built"
)


@pytest.fixture(scope="module", autouse=True)
def _environment(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        # Steps are compiled once, whatever the user's cache holds.
        patch.setenv("ACT_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("ACT_GPU_EMULATOR", "check=1,workers=2")
        yield


@pytest.fixture
def read_step():
    """A function that reads an input, or skips the test."""

    def read(name: str) -> FileStep:
        path = INPUTS / f"{name}.mlir"
        if not path.exists():
            pytest.skip(f"{path.name} is not in shared/inputs")
        return _read(path)

    return read


@functools.cache
def _read(path: Path) -> FileStep:
    return FileStep.read(path)


def run_on_emulator(
    step: FileStep, folder: Path, *options: str
) -> tuple[list[np.ndarray], str]:
    """The results of a step, and the last line that act-run prints."""
    source, inputs, outputs = (
        folder / name for name in ("step.mlir", "in.npz", "out.npz")
    )
    source.write_text(step.text)
    np.savez(inputs, **{f"arg_{i}": a for i, a in enumerate(step.arguments)})
    command = [tool.find_tool("act-run"), source, "--target=emulator", "--peak"]
    done = subprocess.run(
        [*command, "--args", inputs, "--results", outputs, *options],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[:3000]
    arena, peak = re.findall(
        r"^(?:arena|peak) +([\d,]+) bytes", done.stdout, re.MULTILINE
    )
    assert peak == arena
    with np.load(outputs) as results:
        arrays = [
            results[f"result_{i}"].view(struct.dtype)
            for i, struct in enumerate(step.signature.results)
        ]
    return arrays, done.stdout.splitlines()[-1]


def norm_of_difference(a: list[np.ndarray], b: list[np.ndarray]) -> float:
    """Of all results but the first, each relative to its own size in `b`."""
    pairs = [
        (x.astype(np.float64), y.astype(np.float64))
        for x, y in zip(a[1:], b[1:], strict=True)
        if x.dtype.kind not in "biu" and np.abs(y.astype(np.float64)).max() > 1e-6
    ]
    assert pairs
    return float(
        np.sqrt(sum((np.linalg.norm(x - y) / np.linalg.norm(y)) ** 2 for x, y in pairs))
    )


@pytest.mark.parametrize("name", STEPS)
def test_steps(name, read_step, tmp_path):
    step = read_step(name)
    expected = step.run(step.lower(step.exported, None).compile())
    got, line = run_on_emulator(step, tmp_path, "--schedules")
    assert re.search(r": [1-9]\d* kernels, 0 findings, 3 schedules identical$", line)
    check_results(got, expected, STEPS[name])


@pytest.mark.parametrize("name", STEPS)
def test_compressed_steps(name, read_step, tmp_path):
    step = read_step(name)
    plain, _ = run_on_emulator(step, tmp_path)
    got, line = run_on_emulator(step, tmp_path, COMPRESS, "--schedules")
    assert re.search(r": [1-9]\d* kernels, 0 findings, 3 schedules identical$", line)
    assert identical(got[0], plain[0])
    assert all(np.isfinite(a).all() for a in got if a.dtype.kind == "f")
    on_cpu = run_native(step.text, step.arguments, COMPRESS)
    error, expected = (norm_of_difference(a, plain) for a in (got, on_cpu))
    if name in LOSSLESS:
        assert error == 0
        assert expected < STEPS[name]
    else:
        # The noise of rounding depends on the bits of what is rounded: where sums
        # have another order than on the CPU, errors are others, but of the same size.
        assert expected > 1e-4
        assert 0.7 * expected < error < 1.4 * expected
