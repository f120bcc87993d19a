# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps that come as StableHLO text instead of a Python function."""

import contextlib
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import export
from jax.extend.mlir import ir
from jax.interpreters import mlir as jax_mlir

from act import attention_lowering, stablehlo
from act.errors import ActStepError
from act.partitions import argument_shardings
from act.random_arguments import random_arguments
from act.ranges import RangeState


@dataclasses.dataclass(frozen=True)
class FileStep:
    """A step read from a file.

    Attributes:
        name: name of the file without suffix.
        text: the module in generic form, with the file's locations.
        signature: of its `main`.
        exported: the same, callable through JAX; what the text leaves to act, such
            as linear attention, is in a form that XLA compiles.
        arguments: a random value for each argument.
        shardings: of the arguments, where the module is partitioned.
    """

    name: str
    text: str
    signature: stablehlo.Signature
    exported: export.Exported
    arguments: tuple[np.ndarray, ...]
    shardings: tuple[Any, ...]

    @classmethod
    def read(cls, path: Path, seed: int = 0) -> "FileStep":
        """Reads StableHLO text, generic or pretty, with or without locations.

        Args:
            path: the file.
            seed: of the random arguments.

        Raises:
            ActStepError: the file is no module that JAX can run.
        """
        try:
            source = path.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise ActStepError(f"cannot read {path} as text: {error}") from error
        with jax_mlir.make_ir_context(), ir.Location.unknown():
            module = stablehlo.parse_module(source)
            signature = stablehlo.signature(module)
            arguments, _ = random_arguments(module, seed)
            shardings: tuple[Any, ...] = (None,) * len(arguments)
            if signature.partitions > 1:
                shardings = tuple(argument_shardings(module, signature.partitions))
            text = module.operation.get_asm(
                enable_debug_info=True, print_generic_op_form=True
            )
        with x64_if_needed(signature):
            stub = stablehlo.stub_export(signature, path.stem)
        form = attention_lowering.form_in_step(stub, text)
        executable = text
        if form is not None:
            executable = attention_lowering.lower_in_step(text, form)
        exported = stablehlo.with_module(stub, executable)
        return cls(path.stem, text, signature, exported, arguments, shardings)

    def check_primal_results(self, primal_results: int) -> None:
        """Raises ActStepError unless so many results leave a gradient."""
        results = len(self.signature.results)
        if not 1 <= primal_results < results:
            raise ActStepError(
                f"--primal-results {primal_results}: {self.name} has {results} "
                f"results, so it must be between 1 and {results - 1}"
            )

    def lower(
        self,
        exported: export.Exported,
        options: dict[str, Any] | None,
        states: Sequence[RangeState] = (),
    ) -> jax.stages.Lowered:
        """Lowers the step, or a rewritten one, with the donation it asks for.

        Args:
            exported: the step.
            options: of XLA.
            states: running ranges that it takes behind its arguments.
        """
        structs = [
            jax.ShapeDtypeStruct(struct.shape, struct.dtype, sharding=sharding)
            for struct, sharding in zip(
                self.signature.arguments, self.shardings, strict=True
            )
        ]
        with x64_if_needed(self.signature):
            return jax.jit(
                exported.call,
                donate_argnums=self.signature.donated,
                compiler_options=options,
            ).lower(*structs, *(state.struct for state in states))

    def run(
        self, compiled: jax.stages.Compiled, states: Sequence[RangeState] = ()
    ) -> list[jax.Array]:
        """Executes a compiled step on the random arguments.

        Args:
            compiled: the step.
            states: running ranges that it takes; they have seen nothing yet, and
                what becomes of them is not returned.
        """
        with x64_if_needed(self.signature):
            arguments = [
                jax.device_put(value, sharding)
                for value, sharding in zip(self.arguments, self.shardings, strict=True)
            ]
            arguments.extend(state.initial() for state in states)
            results = list(compiled(*arguments))
            return jax.block_until_ready(results[: len(self.signature.results)])


def x64_if_needed(
    signature: stablehlo.Signature,
) -> contextlib.AbstractContextManager:
    """Returns a context in which JAX keeps 64-bit types if a step has any."""
    return jax.enable_x64(True) if signature.needs_x64 else contextlib.nullcontext()
