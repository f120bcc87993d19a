# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""act's model of memory against what XLA allocates, on small steps."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import pytest
from jax import export

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import memory_models  # noqa: E402
import models  # noqa: E402
from act import stablehlo, xla  # noqa: E402

STEPS = {
    "mlp": lambda: models.mlp(3, samples=512, width=256),
    "gpt": lambda: models.gpt(2, 256, width=128, heads=4, length=64, sequences=4),
    "gpt_scan": lambda: models.gpt(
        4, 256, width=128, heads=4, length=64, sequences=4, scanned=True
    ),
    "lstm": lambda: models.lstm(steps=16, sequences=32, width=64, outputs=8),
}


@pytest.fixture(scope="module", params=STEPS)
def step(request):
    model = STEPS[request.param]()
    arguments = (model.parameters, model.batch)
    exported = export.export(jax.jit(model.step()))(*arguments)
    text, _ = stablehlo.exported_module(exported)

    def temp_bytes(module):
        call = stablehlo.with_module(exported, module).call
        return xla.temp_bytes(jax.jit(call).lower(*arguments).compile())

    return memory_models.Step(text, 1, temp_bytes)


@pytest.mark.parametrize("variant", ["plain", "bits=0", "bits=4", "growing"])
def test_model_is_close_to_xla(step, variant):
    figures = memory_models.compare(step, memory_models.VARIANTS[variant])
    assert figures["xla"] > 0
    assert figures["ratio"] == pytest.approx(1, abs=0.1), figures
    assert figures["lower_bound"] <= figures["xla"]


def test_fewer_bits_need_less_in_the_model(step):
    packed = [
        memory_models.model_memory(
            memory_models.partition(step, memory_models.VARIANTS[variant])
        )["packed"]
        for variant in ("plain", "bits=8", "bits=4")
    ]
    assert packed == sorted(packed, reverse=True)
    assert packed[0] > packed[-1]


def test_command_reports_each_row(tmp_path):
    report = tmp_path / "memory.json"
    done = subprocess.run(
        [
            sys.executable,
            BENCHMARKS / "memory_models.py",
            *("--only", "lstm128", "--variants", "bits=4", "--json", report),
            "--no-progress",
        ],
        capture_output=True,
        text=True,
        env=os.environ,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(report.read_text())
    assert result["summary"]["rows"] == result["summary"]["within_tolerance"] == 1
    assert result["rows"][0]["step"] == "lstm128"
    assert "1 of 1 rows within 10%" in done.stdout


def test_command_names_what_it_does_not_know():
    done = subprocess.run(
        [sys.executable, BENCHMARKS / "memory_models.py", "--only", "none"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "--only: unknown none" in done.stderr
