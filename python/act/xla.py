# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What act asks of XLA: exact 16-bit floats, memory figures and dumps."""

import os
import re
import warnings
from pathlib import Path
from typing import Any

import jax

from act.errors import ActWarning

#: Compiler options under which a bf16 or f16 step rounds where it says it does.
EXACT_SHORT_FLOATS = {"xla_allow_excess_precision": False}

_SHORT_FLOAT_NOTE = (
    "the step computes in bf16 or f16. XLA may leave out roundings of such values, "
    "and leaves out different ones in a rewritten step, so the loss can differ in "
    "the last bits. For a bit-identical loss compile both sides with "
    "XLA_FLAGS=--xla_allow_excess_precision=false, or pass exact_bf16=True to "
    "act.compress and "
    'compiler_options={"xla_allow_excess_precision": False} to jax.jit of the '
    "original step."
)


def excess_precision_is_off() -> bool:
    """Tells whether XLA_FLAGS switch excess precision off for every step."""
    flags = os.environ.get("XLA_FLAGS", "")
    values = re.findall(r"--xla_allow_excess_precision=(\w+)", flags)
    return bool(values) and values[-1].lower() in ("false", "0")


def warn_about_short_floats(stacklevel: int) -> None:
    """Warns that the primal results of a 16-bit step may differ in last bits."""
    warnings.warn(_SHORT_FLOAT_NOTE, ActWarning, stacklevel=stacklevel + 1)


def temp_bytes(compiled: jax.stages.Compiled) -> int:
    """Returns the bytes XLA allocates besides arguments and results.

    On CPU this is the figure to look at: `peak_memory_in_bytes` leaves
    temporary buffers out there.
    """
    return int(compiled.memory_analysis().temp_size_in_bytes)


def peak_bytes(compiled: jax.stages.Compiled) -> int:
    """Returns the bytes of arguments, results and temporaries of a step together.

    Donated arguments, whose memory results take, count once.
    """
    analysis = compiled.memory_analysis()
    return int(
        analysis.argument_size_in_bytes
        + analysis.output_size_in_bytes
        - analysis.alias_size_in_bytes
        + analysis.temp_size_in_bytes
    )


def compile_with_dump(
    lowered: jax.stages.Lowered, options: dict[str, Any] | None, directory: Path
) -> jax.stages.Compiled:
    """Compiles a step and makes XLA write its memory reports to a directory."""
    dumping = {"xla_dump_to": str(directory), "xla_dump_hlo_as_text": True}
    return lowered.compile(compiler_options={**(options or {}), **dumping})
