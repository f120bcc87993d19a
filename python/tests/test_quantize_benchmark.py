# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmark of quantizer kernels, on tiny tensors."""

import ctypes
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import quantize_kernels  # noqa: E402

FIGURES = ("quantize_vs_memcpy", "dequantize_vs_memcpy", "vs_jax", "vs_plain_cpp")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    """The plain loops, compiled."""
    return quantize_kernels.compile_plain(tmp_path_factory.mktemp("plain"))


def copies(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """Every array that the benchmark makes from now on."""
    made = []
    original = quantize_kernels.aligned

    def remember(array: np.ndarray) -> np.ndarray:
        made.append(original(array))
        return made[-1]

    monkeypatch.setattr(quantize_kernels, "aligned", remember)
    return made


@pytest.mark.parametrize("bits", quantize_kernels.ALL_BITS)
@pytest.mark.parametrize("dtype", quantize_kernels.DTYPES)
def test_plain_loops_compute_the_same(
    plain: ctypes.CDLL, monkeypatch: pytest.MonkeyPatch, dtype: str, bits: int
) -> None:
    """But for a code in many that is rounded after another sum."""
    made = copies(monkeypatch)
    row = quantize_kernels.Row(f"{dtype}_{bits}", bits, 128, rows=4)
    rng = np.random.default_rng(bits)
    tensor = rng.standard_normal((4, 1024)).astype(row.dtype)
    competitors = quantize_kernels.contenders(row, tensor, plain, threads=2)
    ours, theirs, value = made[:3], made[3:6], made[6]
    values = []
    for name in ("act", "plain_cpp"):
        for function in competitors[name]:
            function()
        values.append(value.astype(np.float64))
    for a, b in zip(ours[1:], theirs[1:], strict=True):
        np.testing.assert_array_equal(a, b)
    assert np.mean(ours[0] != theirs[0]) < 1e-3
    assert np.mean(values[0] != values[1]) < 1e-3
    assert np.all(np.isfinite(values)) and np.ptp(values[0]) > 1


def test_figures(plain: ctypes.CDLL) -> None:
    row = quantize_kernels.Row("bf16_4", 4, 128, rows=64)
    figures = quantize_kernels.measure(row, plain, threads=1, repeat=2)
    assert all(figures[name] > 0 for name in FIGURES)
    assert figures["vs_jax"] == min(
        figures["quantize_vs_jax"], figures["dequantize_vs_jax"]
    )


def test_command(tmp_path: Path) -> None:
    """Every row has its figures in the JSON file."""
    path = tmp_path / "figures.json"
    script = BENCHMARKS / "quantize_kernels.py"
    command = [sys.executable, script, "--only", "f32_1", "--repeat", "1"]
    run = subprocess.run(
        [*command, "--threads", "1", "--json", path],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    figures = json.loads(path.read_text())
    assert list(figures) == ["f32_1"]
    assert set(FIGURES) <= set(figures["f32_1"])
    assert "f32_1" in run.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "f32_3"], "--only expects names of f32_8"),
        (["--threads", "0"], "--threads expects 1 to"),
        (["--repeat", "0"], "--repeat expects a positive number, got 0"),
    ],
)
def test_wrong_options(arguments: list[str], message: str) -> None:
    script = BENCHMARKS / "quantize_kernels.py"
    run = subprocess.run(
        [sys.executable, script, *arguments], capture_output=True, text=True
    )
    assert run.returncode == 2
    assert message in run.stderr
