# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sharded steps on 8 virtual devices keep their collectives."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from act import cli

PROGRAM = Path(__file__).with_name("sharded_step.py")


def run_on_eight_devices(*command: str) -> str:
    flags = os.environ.get("XLA_FLAGS", "")
    flags += " --xla_force_host_platform_device_count=8"
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "XLA_FLAGS": flags},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("layout", ["data", "fsdp", "tensor"])
def test_no_collective_is_added(layout):
    found = json.loads(run_on_eight_devices(str(PROGRAM), layout))
    assert found["devices"] == 8
    assert found["primal_identical"]
    assert found["gradient_error"] < 0.15
    assert all(found["shardings_kept"])
    assert found["stash"] > 0
    before, after = found["collectives_before"], found["collectives_after"]
    assert before
    assert after.get("all-gather", 0) <= before.get("all-gather", 0)
    assert after.get("all-to-all", 0) <= before.get("all-to-all", 0)
    assert after.get("collective-permute", 0) <= before.get("collective-permute", 0)


def test_partitioned_file(tmp_path, fake_tool):
    file, report = tmp_path / "step.mlir", tmp_path / "r.json"
    run_on_eight_devices(str(PROGRAM), "tensor", str(file))
    assert "mhlo.num_partitions = 8" in file.read_text()
    run_on_eight_devices("-m", "act", str(file), "--run", "--json", str(report))
    document = json.loads(report.read_text())
    assert document["primal_identical"] is True
    # One of 8 devices holds less than a quarter of the hidden values.
    assert document["temp_bytes_before"] < 512 * 1024 * 4 * 4
    assert cli.main([str(file)]) == 1  # this process has too few devices
