//===- Passes.td - Linear attention on GPUs -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_LINEARATTENTIONTOGPU_PASSES_TD
#define ACT_CONVERSION_LINEARATTENTIONTOGPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertLinearAttentionToGPUPass
    : Pass<"convert-linear-attention-to-gpu", "::mlir::ModuleOp"> {
  let summary = "Lower linear attention on buffers to GPU kernels.";
  let description = [{
    Replaces `act.linear_attention`, `act.linear_attention_grad` and
    `act.linear_attention_state` on memrefs of static shape by launches of kernels
    in `gpu.module @kernels`, which this pass adds. A block of threads walks over
    the chunks of a sequence and head, the state in registers or shared memory.
    There is one such sweep, run with other rows in other roles: out_t = sum over
    s <= t of (a_t . b_s) c_s + a_t S, S the sum of all b_s c_s^T before the chunk.

    | sweep | order | a | b | c |
    |---|---|---|---|---|
    | outputs | forward | f(q) | f(k) | v |
    | gradient of queries | forward | dN | v | f(k) |
    | gradient of keys | backward | v | dN | f(q) |
    | gradient of values | backward | f(k) | f(q) | dN |

    Gradients are exact and computed from states that are summed up again: memory
    does not grow with the sequence, but for a number per token and head, dd, with
    `normalize`, and another two with `decay`; and for gradients per head in f32
    where heads share a query, key or value. `state_policy` makes no difference,
    except that `#act.reverse` starts by taking all tokens off the final state.

    Rows of bf16 and f16 with at most 256 numbers are multiplied on tensor cores,
    64 tokens at a time, with sums and states in f32 and factors rounded to the type
    of the rows. All else is computed in f32, so are decay per channel and gradients
    with decay per head, which is a sum over all tokens of differences. `chunk` is not used. Sums are added up
    in an order that shapes and `segments` determine.

    With fewer sequences and heads than fill a device, sequences are cut into
    `segments`: their states are summed up first, then carried from segment to
    segment. That is done as well where heads share a state.

    Before:

    ```mlir
    act.linear_attention_state
        ins(%k, %v : memref<2x256x4x64xf32>, memref<2x256x4x64xf32>)
        outs(%s : memref<2x4x64x64xf32>) {feature_map = #act.square}
    ```

    After:

    ```mlir
    gpu.launch_func @kernels::@linear_attention_state blocks in (%c8, %c1, %c1)
        threads in (%c128, %c1, %c1) dynamic_shared_memory_size %c37504
        args(%k_pointer : !llvm.ptr<1>, %v_pointer : !llvm.ptr<1>,
             %s_pointer : !llvm.ptr<1>, %s_pointer : !llvm.ptr<1>)
    ```

    Scratch memory, if any, is one `memref.alloc` per operation. Buffers are
    addresses of device memory; those that are not views are aligned to 16 bytes.

    It is an error if an operation is on tensors, has f64 rows, dynamic shapes or
    strides, rows with gaps, more than 1024 features or values, or a feature map
    with parameters.
  }];
  let options = [
    Option<"segments", "segments", "int64_t", "0",
           "Parts of a sequence that are computed at the same time; 0 for as many "
           "as it takes to have 264 blocks of threads, two for each of 132 "
           "multiprocessors, of at least 256 tokens">
  ];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

#endif // ACT_CONVERSION_LINEARATTENTIONTOGPU_PASSES_TD
