# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints "accepted" if the real dialects in jaxlib verify the module on stdin."""

import sys

from jax.extend.mlir import ir
from jax.interpreters import mlir as jax_mlir

with jax_mlir.make_ir_context(), ir.Location.unknown():
    assert ir.Module.parse(sys.stdin.read()).operation.verify()
print("accepted")
