# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps in a fraction of their memory, with the same loss bit for bit.

step = act.compress(jax.value_and_grad(loss), bits=4)
loss, gradients = step(parameters, batch)
print(step.report(parameters, batch))
"""

from act.attention import AttentionState, linear_attention
from act.bit_allocation import AutoBits, auto_bits
from act.compression import compress, value_and_grad
from act.errors import (
    ActBudgetError,
    ActDumpError,
    ActError,
    ActOptionError,
    ActProfileError,
    ActStepError,
    ActToolError,
    ActWarning,
)
from act.features import orthogonal_features
from act.native_step import NativeStep, native
from act.profile_data import Profile
from act.profiling import profile
from act.report import Report
from act.step import CompressedStep
from act.version import __version__

__all__ = [
    "ActBudgetError",
    "ActDumpError",
    "ActError",
    "ActOptionError",
    "ActProfileError",
    "ActStepError",
    "ActToolError",
    "ActWarning",
    "AttentionState",
    "AutoBits",
    "CompressedStep",
    "NativeStep",
    "Profile",
    "Report",
    "__version__",
    "auto_bits",
    "compress",
    "linear_attention",
    "native",
    "orthogonal_features",
    "profile",
    "value_and_grad",
]
