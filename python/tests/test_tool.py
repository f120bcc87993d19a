# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finding and running act-opt: every failure says what is wrong."""

import os
from pathlib import Path

import pytest

import act
from act import tool
from act.options import CompressOptions

MODULE = '"builtin.module"() ({}) : () -> ()'


def run():
    return tool.run_compress(MODULE, 1, CompressOptions())


def test_real_tool_is_found_and_recent_enough(monkeypatch):
    monkeypatch.delenv("ACT_OPT", raising=False)
    checkout = Path(__file__).resolve().parents[2]
    assert tool.find_tool() == checkout / "build" / "bin" / "act-opt"


def test_missing_tool(monkeypatch, tmp_path):
    monkeypatch.setenv("ACT_OPT", str(tmp_path / "nothing"))
    with pytest.raises(act.ActToolError, match=r"ACT_OPT names .*nothing, which"):
        run()


def test_missing_everywhere(monkeypatch, tmp_path):
    monkeypatch.delenv("ACT_OPT", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(tool, "__file__", str(tmp_path / "a" / "b" / "tool.py"))
    with pytest.raises(act.ActToolError, match=r"act-opt was not found; build it with"):
        run()


def test_found_on_path(fake_tool, monkeypatch, tmp_path):
    fake_tool.path.rename(tmp_path / "act-opt")
    monkeypatch.delenv("ACT_OPT", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path) + os.pathsep + os.environ["PATH"])
    monkeypatch.setattr(tool, "__file__", str(tmp_path / "a" / "b" / "tool.py"))
    assert tool.find_tool() == tmp_path / "act-opt"


def test_old_tool(make_fake_tool):
    make_fake_tool(version="act 0.0.9 (LLVM 22.1.8)")
    with pytest.raises(act.ActToolError, match=r"too old: it is act 0\.0\.9.*0\.1\.0"):
        run()


def test_newer_tool_is_fine(make_fake_tool):
    fake = make_fake_tool(version="act 1.0.0")
    run()
    assert fake.calls == 1


def test_tool_of_another_kind(make_fake_tool):
    make_fake_tool(version="Debian LLVM version 22.1.8")
    with pytest.raises(act.ActToolError, match=r"not a usable act-opt.*Debian LLVM"):
        run()


def test_corrupted_tool(make_fake_tool):
    fake = make_fake_tool()
    fake.path.write_bytes(b"\x7fELF" + bytes(100))
    with pytest.raises(act.ActToolError, match=r"cannot run .*fake-act-opt"):
        run()


def test_failure_shows_diagnostics(make_fake_tool):
    make_fake_tool(exit_status=1, stderr="step.mlir:3:5: error: expects a gradient\n")
    with pytest.raises(
        act.ActToolError,
        match=r"failed with exit status 1: expects a gradient\nstep.mlir:3:5: error",
    ):
        run()


def test_failure_without_diagnostics(make_fake_tool):
    make_fake_tool(exit_status=3)
    with pytest.raises(act.ActToolError, match="status 3: it printed no diagnostics"):
        run()


def test_crash_names_the_signal(make_fake_tool):
    fake = make_fake_tool()
    script = fake.path.read_text()
    killing = "import os\nos.kill(os.getpid(), 11)\npipeline ="
    fake.path.write_text(script.replace("pipeline =", killing, 1))
    with pytest.raises(act.ActToolError, match="was ended by signal SIGSEGV"):
        run()


def test_report_that_is_no_json(make_fake_tool):
    make_fake_tool(report="{")
    with pytest.raises(act.ActToolError, match="left no readable result"):
        run()


def test_remarks_are_returned(make_fake_tool):
    make_fake_tool(stderr="remark: 4 bits, group 64\n")
    assert run().remarks == "remark: 4 bits, group 64"
