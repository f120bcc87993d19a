# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps that measure what rounding their saved values does to the gradient."""

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import export

from act import attention_lowering, stablehlo, tool
from act.errors import ActStepError
from act.rewrite import Rewritten

#: Bits of the encodings whose number of codes an instrumented step can change.
_CODE_BITS = re.compile(r"_quant<bits = (\d+)")


@dataclasses.dataclass(frozen=True)
class Traced:
    """A step before it is compressed.

    Attributes:
        exported: the step.
        text: its module in generic form.
        primal: flat number of leading results that are primal.
        donated: indices of the flat leaves whose buffers it may reuse.
    """

    exported: export.Exported
    text: str
    primal: int
    donated: set[int]


@dataclasses.dataclass(frozen=True)
class Survivor:
    """A saved value that is stored with a loss.

    Attributes:
        key: its structural key.
        name: of the operation in the program that computed it.
        operation: of StableHLO that defines it.
        shape: of one copy.
        copies: how many loops save.
        encoding: how it is stored, an attribute of act.
        bytes: that the encoding takes, all copies together.
    """

    key: str
    name: str
    operation: str
    shape: tuple[int, ...]
    copies: int
    encoding: str
    bytes: int

    @property
    def elements(self) -> int:
        """Their number, all copies together."""
        return int(np.prod(self.shape)) * self.copies

    @property
    def bits(self) -> int | None:
        """Bits of its integer codes, None if it has no such."""
        found = _CODE_BITS.search(self.encoding)
        return int(found[1]) if found else None

    @property
    def levels(self) -> float:
        """The largest code, as instrumented steps take it."""
        return 1.0 if self.bits is None else 2.0**self.bits - 1

    @classmethod
    def of_report(cls, report: dict[str, Any]) -> "tuple[Survivor, ...]":
        """Returns the lossy survivors that act-opt reports, in its order."""
        return tuple(
            cls(
                key=entry["key"],
                name=entry["location"],
                operation=entry["operation"],
                shape=tuple(entry["shape"]),
                copies=entry["copies"],
                encoding=entry["encoding"],
                bytes=entry["bytes_after"],
            )
            for entry in report["survivors"]
            if not entry["lossless"]
        )


@dataclasses.dataclass(frozen=True)
class Instrumented:
    """A compressed step that rounds as its caller says and stores nothing short.

    Attributes:
        name: of the step.
        survivors: what it rounds, in the order of its levels.
        primal: flat number of leading results that are primal.
        out_tree: structure of the results.
        run: `run(levels, seed, leaves)` returns the flat results. `levels` f32
            [survivors] holds the largest code of each, 2^bits - 1, or 0 to leave
            it exact, bit for bit; `seed` changes the noise; `leaves` are those of
            the step's arguments.
    """

    name: str
    survivors: tuple[Survivor, ...]
    primal: int
    out_tree: jax.tree_util.PyTreeDef
    run: Any

    @classmethod
    def build(
        cls,
        name: str,
        traced: Traced,
        rewritten: Rewritten,
        compiler_options: dict[str, Any] | None,
    ) -> "Instrumented":
        """Instruments a step.

        Args:
            name: of the step.
            traced: the original step.
            rewritten: the compressed one, whose configuration is taken.
            compiler_options: of XLA.

        Raises:
            ActStepError: the step stores nothing with a loss, or runs on several
                devices.
        """
        if traced.exported.nr_devices > 1:
            raise ActStepError(f"{name} runs on several devices; profile it on one")
        attention = attention_lowering.form_in_step(traced.exported, traced.text)
        result = tool.run_compress(
            traced.text,
            traced.primal,
            rewritten.options,
            attention,
            temp_budget=rewritten.temp_budget,
            instrument=True,
        )
        survivors = Survivor.of_report(result.report)
        if rewritten.untouched or not survivors:
            raise ActStepError(
                f"{name} stores nothing with a loss for these arguments, so there is "
                "nothing to measure; step.report(*args) shows what it stores"
            )
        added = [
            jax.ShapeDtypeStruct((len(survivors),), np.float32),
            jax.ShapeDtypeStruct((), np.uint32),
        ]
        exported = stablehlo.with_more_arguments(traced.exported, result.text, added)

        def run(levels: np.ndarray, seed: int, leaves: Sequence[Any]) -> Any:
            return jitted(*leaves, np.asarray(levels, np.float32), np.uint32(seed))

        jitted = jax.jit(
            lambda *leaves: jax.tree.leaves(exported.call(*leaves)),
            compiler_options=compiler_options,
        )
        return cls(name, survivors, traced.primal, exported.out_tree, run)
