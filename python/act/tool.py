# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds act-opt and act-run and runs them as subprocesses.

Subprocesses, so that a crash of the compiler raises an exception instead of
ending the training job, and because jaxlib carries another MLIR than they do.
"""

import dataclasses
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from act.errors import ActToolError
from act.options import CompressOptions
from act.version import REQUIRED_TOOL_VERSION

_HOW_TO_GET = (
    "build it with `cmake --preset release && cmake --build --preset release` in "
    "a checkout of act (the result is build/bin/{name}), or set the environment "
    "variable {variable} to the path of an existing one"
)
_VERSION_TIMEOUT_S = 60


@dataclasses.dataclass(frozen=True)
class ToolResult:
    """What act-opt made of a module.

    Attributes:
        text: the rewritten module, StableHLO in generic form.
        report: the parsed JSON report of `act-compress`.
        remarks: what act-opt wrote to stderr although it succeeded.
    """

    text: str
    report: dict[str, Any]
    remarks: str


def find_tool(name: str = "act-opt") -> Path:
    """Returns the tool to run, after checking that it is recent enough.

    Looks at the environment variable ACT_OPT (ACT_RUN), then at build/bin of the
    checkout this package lies in, then at PATH.

    Args:
        name: "act-opt" or "act-run".

    Raises:
        ActToolError: there is none, it does not run, or it is too old.
    """
    variable = name.replace("-", "_").upper()
    how_to_get = _HOW_TO_GET.format(name=name, variable=variable)
    named = os.environ.get(variable)
    if named:
        path = Path(named)
        if not path.is_file():
            raise ActToolError(
                f"{variable} names {named}, which is not a file; {how_to_get}"
            )
    else:
        path = Path(__file__).resolve().parents[2] / "build" / "bin" / name
        if not path.is_file():
            on_path = shutil.which(name)
            if on_path is None:
                raise ActToolError(f"{name} was not found; {how_to_get}")
            path = Path(on_path)
    _check_version(path, path.stat().st_mtime_ns, name, how_to_get)
    return path


@functools.lru_cache(maxsize=8)
def _check_version(path: Path, _mtime_ns: int, name: str, how_to_get: str) -> None:
    """Raises ActToolError unless `path --version` reports a usable version."""
    try:
        done = subprocess.run(
            [path, "--version"],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_VERSION_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ActToolError(f"cannot run {path}: {error}; {how_to_get}") from error
    needed = ".".join(map(str, REQUIRED_TOOL_VERSION))
    match = re.search(r"\bact (\d+)\.(\d+)\.(\d+)", done.stdout)
    if done.returncode != 0 or match is None:
        said = (done.stdout + done.stderr).strip()[:300] or "nothing"
        raise ActToolError(
            f"{path} is not a usable {name}: `--version` exited with "
            f"{done.returncode} and printed {said!r} where 'act {needed}' or later "
            f"is expected; {how_to_get}"
        )
    found = tuple(map(int, match.groups()))
    if found < REQUIRED_TOOL_VERSION:
        raise ActToolError(
            f"{path} is too old: it is act {'.'.join(map(str, found))}, this package "
            f"needs {needed} or later; {how_to_get}"
        )


def run_compress(
    text: str,
    primal_results: int,
    options: CompressOptions,
    linear_attention: str | None = None,
    temp_budget: int | None = None,
    instrument: bool = False,
) -> ToolResult:
    """Runs the act-compress pipeline on a module.

    Args:
        text: StableHLO in generic form, with or without locations.
        primal_results: flat number of leading results that are primal.
        options: one configuration; its `search` is not looked at.
        linear_attention: see `CompressOptions.pipeline_options`, like the others.
        temp_budget: bytes of temporary memory to plan for, None for no plan.
        instrument: whether the step gets arguments that say how much it rounds.

    Raises:
        ActToolError: act-opt is missing, too old or failed.
    """
    with tempfile.TemporaryDirectory(prefix="act-") as directory:
        report = Path(directory) / "report.json"
        pipeline = options.pipeline(
            primal_results, report, linear_attention, temp_budget, instrument
        )
        rewritten, remarks = _run(text, pipeline, Path(directory))
        try:
            return ToolResult(rewritten, json.loads(report.read_text()), remarks)
        except (OSError, ValueError) as error:
            raise _no_result(error, remarks) from error


def run_passes(text: str, pipeline: str) -> str:
    """Runs passes on a module and returns what they make of it, in generic form.

    Args:
        text: a module in generic form.
        pipeline: the passes, such as "builtin.module(convert-act-to-stablehlo)".

    Raises:
        ActToolError: act-opt is missing, too old or failed.
    """
    with tempfile.TemporaryDirectory(prefix="act-") as directory:
        return _run(text, pipeline, Path(directory))[0]


def _run(text: str, pipeline: str, directory: Path) -> tuple[str, str]:
    """Runs act-opt in a directory; returns its output and what it remarks on it."""
    tool = find_tool()
    source, target = directory / "step.mlir", directory / "rewritten.mlir"
    source.write_text(text)
    command = [
        str(tool),
        str(source),
        f"--pass-pipeline={pipeline}",
        "--mlir-print-op-generic",
        "--mlir-print-debuginfo",
        "-o",
        str(target),
    ]
    done = subprocess.run(
        command, capture_output=True, text=True, errors="replace", check=False
    )
    stderr = done.stderr.replace(str(source), "step.mlir").strip()
    if done.returncode != 0:
        raise ActToolError(_failure(tool, done.returncode, stderr))
    try:
        return target.read_text(), stderr
    except OSError as error:
        raise _no_result(error, stderr) from error


def compile_step(
    text: str, target: Path, name: str, compress: str | None = None
) -> None:
    """Compiles a step for this processor.

    Args:
        text: StableHLO in generic form.
        target: archive of object files to write.
        name: of the step in it, an identifier of C.
        compress: options of the act-compress pipeline, None to leave the step as
            it is.

    Raises:
        ActToolError: act-run is missing, too old or failed.
    """
    tool = find_tool("act-run")
    with tempfile.TemporaryDirectory(prefix="act-") as directory:
        source = Path(directory) / "step.mlir"
        source.write_text(text)
        command = [str(tool), str(source), "--emit=object", "-o", str(target)]
        command.append(f"--name={name}")
        if compress is not None:
            command.append(f"--compress={compress}")
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", check=False
        )
    if done.returncode != 0:
        stderr = done.stderr.replace(str(source), "step.mlir").strip()
        raise ActToolError(_failure(tool, done.returncode, stderr))


def _no_result(error: Exception, stderr: str) -> ActToolError:
    """Words that act-opt succeeded and left no result."""
    return ActToolError(
        f"act-opt exited with 0 but left no readable result: {error}\n{stderr}"
    )


def _failure(tool: Path, code: int, stderr: str) -> str:
    """Words the failure of a run from its exit status and diagnostics."""
    if code < 0:
        try:
            ended = f"was ended by signal {signal.Signals(-code).name}"
        except ValueError:
            ended = f"was ended by signal {-code}"
    else:
        ended = f"failed with exit status {code}"
    errors = [line for line in stderr.splitlines() if "error:" in line]
    first = re.sub(r"^.*?error:\s*", "", errors[0]) + "\n" if errors else ""
    return f"{tool.name} {ended}: {first}{stderr or 'it printed no diagnostics'}"
