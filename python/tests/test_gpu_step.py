# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The handler that lets XLA execute steps compiled for GPUs.

There is no GPU: what is tested is that JAX can load and lower it, and what it says on
a platform without streams.
"""

import ctypes

import jax
import jax.numpy as jnp
import pytest

from act.runtime import find_library

TARGET = "act_gpu_step"


@pytest.fixture(scope="module")
def call():
    """A call of the step `step` in `step.o`."""
    path = find_library()
    assert path is not None
    handler = jax.ffi.pycapsule(ctypes.CDLL(str(path)).ActGpuStep)
    for platform in ("CUDA", "cpu"):
        jax.ffi.register_ffi_target(TARGET, handler, platform=platform)

    def execute(x):
        result = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.ffi.ffi_call(TARGET, result)(x, object="step.o", name="step")

    return jax.jit(execute)


def test_lowers_for_cuda(call):
    lowered = call.trace(jnp.ones(4)).lower(lowering_platforms=("cuda",))
    text = lowered.as_text()
    assert f"stablehlo.custom_call @{TARGET}" in text
    assert 'name = "step"' in text
    assert 'object = "step.o"' in text


def test_needs_a_stream(call):
    with pytest.raises(Exception, match=r"(?i)stream"):
        call(jnp.ones(4)).block_until_ready()
