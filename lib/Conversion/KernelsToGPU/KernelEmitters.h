//===- KernelEmitters.h - Kernels by their kind -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_KERNELEMITTERS_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_KERNELEMITTERS_H

#include "act/Conversion/KernelsToGPU/KernelBuilder.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::act {

/// A kernel to be emitted. Operand i of `kernel` is parameter i: a pointer to
/// element 0 of the buffer's type (its offset is in the pointer), or a scalar.
struct KernelRequest {
  gpu::GPUModuleOp module;
  KernelOp kernel;
  std::string name;
  SmallVector<GpuParameter> parameters;
  /// Operands of equal numbers may lie in the same memory.
  SmallVector<unsigned> memories;
  /// Sums of products of f32 may round their factors to tf32.
  bool allowTf32 = false;
};

/// Elementwise kernels, row programs and reductions, and whatever of the other
/// kinds has no emitter of its own: the loops of every operation are spread
/// over threads.
FailureOr<GpuKernel> emitLoopKernel(const KernelRequest &request);

/// A kernel of kind `contraction`: what `op`, its last operation, adds up,
/// starting from `fromZero` or from what the destination holds. Nothing if the
/// loops of `op` or its types do not suit.
std::optional<GpuKernel> emitProductKernel(const KernelRequest &request,
                                           linalg::GenericOp op, bool fromZero);

/// A kernel of kind `convolution`.
FailureOr<GpuKernel> emitConvolutionKernel(const KernelRequest &request);

/// A kernel of kind `codec`: one act.encode or act.decode of whole buffers.
FailureOr<GpuKernel> emitCodecKernel(const KernelRequest &request);

/// Where the operands of an encode or decode are: pointers to global or shared
/// memory.
struct GpuCodecBuffers {
  Value plain;
  /// `plain` points to the elements of the first unit at hand, not to those of
  /// unit 0.
  bool plainIsLocal = false;
  /// What the address of each unit in `plain` is a multiple of, in bytes; found
  /// out if 0.
  int64_t plainAlignment = 0;
  SmallVector<Value> storage;
  /// i32, null without.
  Value salt;
};

/// Encodes or decodes `count` units from `first` (i32) on, as the CPU's codecs
/// divide the work, by the threads of `group`. What they read was written
/// before a barrier; what they write needs one after it.
LogicalResult emitGroupEncode(GpuKernelBuilder &kernel, ThreadGroup &group,
                              EncodeOp op, const GpuCodecBuffers &buffers,
                              Value first, int64_t count);
LogicalResult emitGroupDecode(GpuKernelBuilder &kernel, ThreadGroup &group,
                              DecodeOp op, const GpuCodecBuffers &buffers,
                              Value first, int64_t count);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_KERNELEMITTERS_H
