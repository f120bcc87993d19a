# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real training steps from JAX libraries, executed before and after."""

import json
from pathlib import Path

import pytest

from act import cli

INPUTS = Path(__file__).resolve().parents[3] / "shared" / "inputs"
FILES = sorted(INPUTS.glob("*.mlir")) if INPUTS.is_dir() else []
SMALL = [path for path in FILES if not path.stem.endswith(".real")]


def test_inputs_are_there():
    if not FILES:
        pytest.skip(f"{INPUTS} is absent: the steps in it are not tested")
    assert len(SMALL) >= 11


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_primal_results_are_identical(path, tmp_path):
    described = json.loads(path.with_suffix(".json").read_text())
    report = tmp_path / "report.json"
    arguments = [str(path), "--run", "--json", str(report), "--search", "none"]
    arguments += ["--primal-results", str(described["primal_results"])]
    assert cli.main(arguments) == 0
    document = json.loads(report.read_text())
    assert document["primal_identical"] is True
    assert not [note for note in document["notes"] if "NaN" in note]
    assert document["gradient_error_median"] < 0.2
    # Every value backward reads is stored, or there is a reason why not.
    values = document["survivors"] + document["not_compressed"]
    assert all(value["reason"] for value in values)
    if document["excess_precision"]:
        assert document["temp_bytes_before"] == described["temp_bytes"]
