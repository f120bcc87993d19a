# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fixtures: small training steps, and a stand-in for act-opt."""

import dataclasses
import json
import sys
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import act.options


def pytest_configure(config: pytest.Config) -> None:
    """Declares the marks of these tests."""
    config.addinivalue_line(
        "markers", "slow: long; like a quicker test that runs always"
    )


# Passes the module through unchanged and reports two operations as backward.
# What it was called with is appended to a log next to it.
_FAKE_TOOL = """#!{python}
import json, re, sys
arguments = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps(arguments) + "\\n")
if "--version" in arguments:
    print({version!r})
    sys.exit(0)
sys.stderr.write({stderr!r})
if {exit_status}:
    sys.exit({exit_status})
pipeline = next(a for a in arguments if a.startswith("--pass-pipeline="))
text = open(arguments[0]).read()
open(arguments[arguments.index("-o") + 1], "w").write(
    {output!r} or text + "\\n// " + pipeline.partition("report=")[0]
)
report = {report!r} or {{
    "function": "main",
    "primal_results": int(re.search(r"primal-results=(\\d+)", pipeline)[1]),
    "forward_operations": 3,
    "backward_operations": {backward},
    "cloned_operations": 0,
    "raw_bytes": 1000,
    "loop_pairs": 0,
    "sliced_loops": 0,
    "sliced_steps": 0,
    "recomputed_flops": 0.0,
    "unpaired_loops": [],
    "stash_bytes": 0 if "growing" in pipeline else 100,
    "survivors": [],
    "not_compressed": [],
}}
open(re.search(r"report=([^ }}]+)", pipeline)[1], "w").write(
    report if isinstance(report, str) else json.dumps(report)
)
"""


@dataclasses.dataclass
class FakeTool:
    """A program that stands in for act-opt; `calls` says how often it worked."""

    path: Path
    log: Path

    @property
    def pipelines(self) -> list[str]:
        """Pass pipelines it was run with, in order."""
        if not self.log.exists():
            return []
        runs = [json.loads(line) for line in self.log.read_text().splitlines()]
        return [
            argument.removeprefix("--pass-pipeline=")
            for arguments in runs
            for argument in arguments
            if argument.startswith("--pass-pipeline=")
        ]

    @property
    def calls(self) -> int:
        """Number of modules it was given."""
        return len(self.pipelines)


@pytest.fixture
def make_fake_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., FakeTool]:
    """Returns a function that makes a stand-in and lets act find it.

    Unless a test searches, one configuration is tried, so that calls count steps.
    """
    first = act.options.DEFAULT_CANDIDATES[:1]
    monkeypatch.setattr("act.options.DEFAULT_CANDIDATES", first)

    def make(
        version: str = "act 0.1.0",
        exit_status: int = 0,
        stderr: str = "",
        output: str = "",
        report: str = "",
        backward: int = 2,
    ) -> FakeTool:
        path, log = tmp_path / "fake-act-opt", tmp_path / "fake-act-opt.log"
        path.write_text(
            _FAKE_TOOL.format(
                python=sys.executable,
                log=str(log),
                version=version,
                exit_status=exit_status,
                stderr=stderr,
                output=output,
                report=report,
                backward=backward,
            )
        )
        path.chmod(0o755)
        monkeypatch.setenv("ACT_OPT", str(path))
        return FakeTool(path, log)

    return make


@pytest.fixture
def fake_tool(make_fake_tool: Callable[..., FakeTool]) -> FakeTool:
    """A stand-in that passes every module through."""
    return make_fake_tool()


@dataclasses.dataclass
class Problem:
    """A small training problem: `loss(parameters, batch)` and its arguments."""

    loss: Callable
    parameters: list
    batch: tuple

    @property
    def arguments(self) -> tuple:
        """Arguments of the loss."""
        return self.parameters, self.batch


@pytest.fixture
def mlp() -> Problem:
    """Three layers of 128, gelu, 256 samples."""
    generator = np.random.default_rng(0)

    def normal(*shape: int) -> jax.Array:
        scale = 1 / np.sqrt(shape[0])
        return jnp.asarray(generator.standard_normal(shape) * scale, jnp.float32)

    parameters = [(normal(128, 128), normal(128)) for _ in range(3)]
    batch = (16 * normal(256, 128), 16 * normal(256, 128))

    def loss(parameters: list, batch: tuple) -> jax.Array:
        x, y = batch
        for weight, bias in parameters:
            x = jax.nn.gelu(x @ weight + bias)
        return jnp.mean((x - y) ** 2)

    return Problem(loss, parameters, batch)
