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
#: Steps whose layers or time steps are scanned.
LOOPS = [p for p in SMALL if p.stem in ("gpt_scan", "linattn", "lstm", "vae")]


def test_inputs_are_there():
    if not FILES:
        pytest.skip(f"{INPUTS} is absent: the steps in it are not tested")
    assert len(SMALL) >= 11


def compress_and_run(path: Path, report: Path, *options: str) -> tuple[dict, dict]:
    """Returns what the file's description and the report say."""
    described = json.loads(path.with_suffix(".json").read_text())
    arguments = [str(path), "--run", "--json", str(report), "--search", "none"]
    arguments += ["--primal-results", str(described["primal_results"]), *options]
    assert cli.main(arguments) == 0
    return described, json.loads(report.read_text())


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_primal_results_are_identical(path, tmp_path):
    described, document = compress_and_run(path, tmp_path / "report.json")
    assert document["primal_identical"] is True
    assert not [note for note in document["notes"] if "NaN" in note]
    assert document["gradient_error_median"] < 0.2
    # Every value backward reads is stored, or there is a reason why not.
    values = document["survivors"] + document["not_compressed"]
    assert all(value["reason"] for value in values)
    if document["excess_precision"]:
        assert document["temp_bytes_before"] == described["temp_bytes"]


@pytest.mark.parametrize(("bits", "error"), [(0, 1e-6), (8, 0.02)])
@pytest.mark.parametrize("path", LOOPS, ids=lambda path: path.stem)
def test_error_follows_the_bits(path, tmp_path, bits, error):
    report = tmp_path / "report.json"
    _, document = compress_and_run(path, report, "--bits", str(bits))
    assert document["primal_identical"] is True
    assert document["gradient_error_median"] < error
    assert document["temp_bytes_after"] <= 1.1 * document["temp_bytes_before"]
