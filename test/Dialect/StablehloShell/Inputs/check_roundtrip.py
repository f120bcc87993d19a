# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that act-opt prints training steps as it read them.

Usage: check_roundtrip.py ACT_OPT FOLDER. Prints a line for each .mlir file: "same"
if the generic text differs from the file only in the names of values, stays as
it is when printed again, and is accepted by the real dialect in jaxlib.
"""

import re
import subprocess
import sys
from pathlib import Path

from jax.extend.mlir import ir
from jax.interpreters import mlir as jax_mlir


def act_opt(tool: str, text: str, *flags: str) -> str:
    """Returns what act-opt prints for a module."""
    return subprocess.run(
        [tool, *flags], input=text, capture_output=True, text=True, check=True
    ).stdout


def without_names(text: str) -> str:
    """Returns the text with every value named %."""
    return re.sub(r"%[\w#:]+", "%", text).strip()


def verify(text: str) -> None:
    """Raises if jaxlib rejects the module."""
    with jax_mlir.make_ir_context(), ir.Location.unknown():
        assert ir.Module.parse(text).operation.verify()


def main() -> None:
    """Checks every file."""
    tool, folder = sys.argv[1:]
    for path in sorted(Path(folder).glob("*.mlir")):
        original = path.read_text()
        generic = act_opt(tool, original, "--mlir-print-op-generic")
        again = act_opt(tool, generic, "--mlir-print-op-generic")
        pretty = act_opt(tool, original)
        verify(generic)
        verify(pretty)
        same = (
            without_names(original) == without_names(generic)
            and generic == again
            and pretty == act_opt(tool, pretty)
        )
        print(path.name, "same" if same else "DIFFERENT")


if __name__ == "__main__":
    main()
