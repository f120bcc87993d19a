# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs custom calls of linear attention that act-opt has made loops of, on XLA."""

import functools
import subprocess
from collections.abc import Callable

import ml_dtypes
import numpy as np
from encoding_runner import act_opt, compile_module
from reference_attention import Case, Tensors

DTYPES = {
    "f64": np.dtype(np.float64),
    "f32": np.dtype(np.float32),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(ml_dtypes.bfloat16),
}
PIPELINE = "builtin.module(act-raise-linear-attention,convert-act-to-stablehlo)"
_ROWS = ("query", "key", "value", "features", "output")


def element(case: Case, name: str) -> str:
    """The element type of a tensor, as MLIR spells it."""
    sums = "f64" if case.dtype == "f64" else "f32"
    return case.dtype if name in _ROWS else sums


def _tensor(case: Case, name: str) -> str:
    sizes = "".join(f"{size}x" for size in case.shapes[name])
    return f"tensor<{sizes}{element(case, name)}>"


def signature(case: Case, kind: str) -> tuple[list[str], list[str]]:
    """Names of operands and results; those of cotangents are `d_NAME`."""
    there = lambda *names: [name for name in names if name in case.shapes]  # noqa: E731
    states = there("state", "key_sum")
    inputs = there("query", "key", "value", "decay", "features")
    if kind == "forward":
        return inputs + states, there("output", "denominator") + states
    if kind == "state":
        return [name for name in inputs if name != "query"] + states, states
    saved = ["output", "denominator"] if case.normalize else []
    operands = inputs + saved + ["d_output"] + states
    operands += [f"d_{name}" for name in states]
    wanted = there("query", "key", "value", "decay") + states
    return operands, [f"d_{name}" for name in wanted]


def config(case: Case, kind: str) -> str:
    """The backend_config of the call."""
    entries = {
        "feature_map": f'"{case.feature_map}"',
        "normalize": str(case.normalize).lower(),
        "chunk": f"{case.chunk} : i64",
        "decay": f'"{case.decay}"',
    }
    if kind == "state":
        entries["subtract"] = str(case.subtract).lower()
    else:
        entries["scale"] = f"{case.scale:e} : f64"
        entries["epsilon"] = f"{case.epsilon:e} : f64"
    if kind == "grad":
        entries["state_policy"] = f'"{case.state_policy}"'
        entries["segment"] = f"{case.segment} : i64"
    return "{" + ", ".join(f"{k} = {v}" for k, v in entries.items()) + "}"


_TARGETS = {
    "forward": "act_linear_attention",
    "grad": "act_linear_attention_grad",
    "state": "act_linear_attention_state",
}


def call_module(case: Case, kind: str) -> str:
    """A module whose main is one custom call."""
    operands, results = signature(case, kind)
    kinds = [_tensor(case, name.removeprefix("d_")) for name in operands]
    wanted = [_tensor(case, name.removeprefix("d_")) for name in results]
    arguments = ", ".join(f"%{n}: {t}" for n, t in zip(operands, kinds, strict=True))
    returned = ", ".join(
        f"%0#{i}" if len(wanted) > 1 else "%0" for i in range(len(wanted))
    )
    count = f":{len(wanted)}" if len(wanted) > 1 else ""
    return f"""func.func public @main({arguments}) -> ({", ".join(wanted)}) {{
  %0{count} = "stablehlo.custom_call"({", ".join("%" + n for n in operands)}) <{{
      api_version = 4 : i32, backend_config = {config(case, kind)},
      call_target_name = "{_TARGETS[kind]}"}}>
      : ({", ".join(kinds)}) -> ({", ".join(wanted)})
  return {returned} : {", ".join(wanted)}
}}"""


def lower(text: str, pipeline: str = PIPELINE) -> str:
    """Runs act-opt; returns generic text."""
    command = [act_opt(), "--mlir-print-op-generic", f"--pass-pipeline={pipeline}"]
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.lru_cache(maxsize=512)
def compiled(case: Case, kind: str) -> Callable:
    """The compiled loop."""
    return compile_module(lower(call_module(case, kind)))


def run(
    case: Case, kind: str, tensors: Tensors, cotangents: Tensors | None = None
) -> Tensors:
    """Runs one call; tensors in any precision, results as they come."""
    operands, results = signature(case, kind)
    values = tensors | {f"d_{k}": v for k, v in (cotangents or {}).items()}

    def argument(name: str) -> np.ndarray:
        dtype = DTYPES[element(case, name.removeprefix("d_"))]
        return np.asarray(values[name]).astype(dtype)

    found = compiled(case, kind)(*[argument(name) for name in operands])
    return {
        name.removeprefix("d_"): np.asarray(value)
        for name, value in zip(results, found, strict=True)
    }


def temporary_bytes(case: Case, kind: str) -> int:
    """What XLA needs beside operands and results."""
    return compiled(case, kind).memory_analysis().temp_size_in_bytes
