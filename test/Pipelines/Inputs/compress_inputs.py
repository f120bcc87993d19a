# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a pipeline of act-opt on training steps of real models.

Usage: compress_inputs.py ACT_OPT FOLDER PIPELINE [NAME...]. In PIPELINE, PRIMAL
stands for the number of primal results, which the .json beside each .mlir tells.
Prints a line for each step with the number of saves and whether something of the
act dialect is left; act-opt's own verifier passes are in the pipeline.
"""

import json
import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Returns 1 if act-opt fails on one of the steps."""
    tool, folder, pipeline = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    names = sys.argv[4:] or sorted(path.stem for path in folder.glob("*.mlir"))
    status = 0
    for name in names:
        about = json.loads((folder / f"{name}.json").read_text())
        passes = pipeline.replace("PRIMAL", str(about["primal_results"]))
        done = subprocess.run(
            [tool, folder / f"{name}.mlir", f"--pass-pipeline={passes}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            print(f"{name}: failed\n{done.stderr[:2000]}")
            status = 1
            continue
        saves = done.stdout.count("act.compressed_save")
        left = "act" if "act." in done.stdout.replace("act.recompute", "") else "no act"
        print(f"{name}: {saves} saves, {left} left")
    return status


if __name__ == "__main__":
    sys.exit(main())
