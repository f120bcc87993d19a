//===- ConvolutionDescriptor.h - Calls for convolutions -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How to lower `act.convolution` on buffers to a call of act_cpu_convolution
// (act-c/StepRuntime.h):
//
// 1. getConvolutionDescriptor gives the numbers of the descriptor, to be put in
//    a constant array of i64.
// 2. getConvolutionScratch gives the bytes of scratch that the runtime wants
// for
//    a number of threads. Plan them into the arena, aligned to
//    ACT_CPU_ARENA_ALIGNMENT and alive during the call only, and write them to
//    the entry ACT_CPU_CONVOLUTION_DESC_SCRATCH_BYTES. More threads than that
//    may run the step; the convolution uses as many as have scratch.
// 3. Pass pointers to the first elements of lhs, rhs and out (offsets of
//    buffers are not part of the descriptor) and to the scratch, or null where
//    that is 0 bytes.
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELSTOCPU_CONVOLUTIONDESCRIPTOR_H
#define ACT_CONVERSION_KERNELSTOCPU_CONVOLUTIONDESCRIPTOR_H

#include "act/Dialect/Act/IR/ActOps.h"

namespace mlir::act {

/// The descriptor of `op`, with 0 bytes of scratch. Tensors count as row-major;
/// of buffers the strides must be static. Emits an error where the runtime has
/// no such convolution: with dynamic strides, or more than
/// ACT_CPU_MAX_SPATIAL_RANK spatial dimensions.
FailureOr<SmallVector<int64_t>> getConvolutionDescriptor(ConvolutionOp op);

/// Bytes of scratch for `descriptor`, which comes from
/// getConvolutionDescriptor, on `threads` threads. The number is the same on
/// all processors.
int64_t getConvolutionScratch(ArrayRef<int64_t> descriptor, int64_t threads);

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELSTOCPU_CONVOLUTIONDESCRIPTOR_H
