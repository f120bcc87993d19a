# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps in a fraction of their memory, with the same loss bit for bit.

step = act.compress(jax.value_and_grad(loss), bits=4)
loss, gradients = step(parameters, batch)
print(step.report(parameters, batch))
"""

from act.attention import AttentionState, linear_attention
from act.errors import (
    ActDumpError,
    ActError,
    ActOptionError,
    ActStepError,
    ActToolError,
    ActWarning,
)
from act.features import orthogonal_features
from act.native_step import NativeStep, native
from act.report import Report
from act.step import CompressedStep, compress, value_and_grad
from act.version import __version__

__all__ = [
    "ActDumpError",
    "ActError",
    "ActOptionError",
    "ActStepError",
    "ActToolError",
    "ActWarning",
    "AttentionState",
    "CompressedStep",
    "NativeStep",
    "Report",
    "__version__",
    "compress",
    "linear_attention",
    "native",
    "orthogonal_features",
    "value_and_grad",
]
