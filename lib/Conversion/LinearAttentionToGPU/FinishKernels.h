//===- FinishKernels.h - Kernels around sweeps -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_LINEARATTENTIONTOGPU_FINISHKERNELS_H
#define ACT_LIB_CONVERSION_LINEARATTENTIONTOGPU_FINISHKERNELS_H

#include "Sweep.h"

namespace mlir::act {

/// Where kernels are added, and under which name.
struct KernelPlace {
  gpu::GPUModuleOp module;
  Location location;
  std::string name;
};

/// A kernel of blocks of `blockThreads` threads.
constexpr int64_t blockThreads = 128;

namespace detail {
struct BuilderHolder {
  GpuKernelBuilder builder;
};
} // namespace detail

/// A kernel over tensors; its parameters are those that there are. Whether a
/// tensor is only read comes with it.
class FinishEmitter : private detail::BuilderHolder, public KernelMath {
public:
  FinishEmitter(const KernelPlace &place,
                ArrayRef<std::pair<AttentionTensor, bool>> tensors)
      : BuilderHolder{{place.module, place.location, place.name,
                       getParameters(place, tensors), blockThreads}},
        KernelMath(builder) {}

  GpuKernelBuilder &getKernel() { return builder; }
  Value getParameter(unsigned number) { return builder.getParameter(number); }
  /// Of tensor `buffer`, whose pointer is parameter `number`.
  Value getBase(unsigned number, const AttentionTensor &buffer, Value sequence,
                Value head) {
    Value offset = add(multiply(builder.toI64(sequence), buffer.sequenceStride),
                       multiply(builder.toI64(head), buffer.headStride));
    return builder.getAddress(getParameter(number), buffer.type, offset);
  }
  /// The address of a number of `token` (or row, or segment).
  Value at(const AttentionTensor &buffer, Value base, Value token,
           Value column) {
    Value offset = add(multiply(builder.toI64(token), buffer.tokenStride),
                       builder.toI64(column));
    return builder.getAddress(base, buffer.type, offset);
  }
  Value load(const AttentionTensor &buffer, Value address) {
    return extend(builder.load(buffer.type, address));
  }
  GpuKernel finish(int64_t blocks) { return builder.finish({blocks, 1, 1}); }

private:
  static SmallVector<GpuParameter>
  getParameters(const KernelPlace &place,
                ArrayRef<std::pair<AttentionTensor, bool>> tensors) {
    auto pointer = LLVM::LLVMPointerType::get(
        place.location.getContext(), static_cast<unsigned>(GpuMemory::Global));
    SmallVector<GpuParameter> parameters;
    for (const auto &[tensor, isInput] : tensors)
      if (tensor)
        parameters.push_back({pointer, isInput, tensor.alignment});
    return parameters;
  }
};

/// dd = -(gradient . o) / d: of parameters gradient, o, d, dd.
struct DenominatorGradOptions {
  int64_t sequences, length, heads, values;
  AttentionTensor gradient, output, denominator, result;
};
GpuKernel buildDenominatorGrad(const KernelPlace &place,
                               const DenominatorGradOptions &options);

/// Carries states from segment to segment, in the order of the sweep that ended
/// them. Of parameters initial, segments, left (if there is decay and there are
/// several segments) and final (if it is wanted). Before, `segments` hold what
/// segments end with, where the first started from the initial state and the
/// rest from 0; then, what they start from.
struct CarryOptions {
  int64_t sequences, heads, segmentCount, features, columns;
  /// Every n-th head has an initial state, the others 0.
  int64_t startHeads;
  bool reverse;
  bool perChannel;
  AttentionTensor initial, segments, left, final;
};
GpuKernel buildCarry(const KernelPlace &place, const CarryOptions &options);

/// Adds up heads that share one of `to`: of parameters from, to. `rows` are
/// tokens or the rows of states.
struct SumHeadsOptions {
  int64_t sequences, rows, columns;
  AttentionTensor from, to;
};
GpuKernel buildSumHeads(const KernelPlace &place,
                        const SumHeadsOptions &options);

/// The gradient of decay: of parameters products of queries, of keys, state,
/// key sums (with `normalize`), their gradients, and the result; see
/// `act.linear_attention_grad`. `ends` come first: sums over D of S_T * G_T,
/// and z_T * y_T, [B, Hs, M], by a kernel of its own, before gradients of
/// states are overwritten.
struct StateProductOptions {
  int64_t sequences, heads, features, values;
  AttentionTensor state, sums, stateGrad, sumGrad, result;
};
GpuKernel buildStateProduct(const KernelPlace &place,
                            const StateProductOptions &options);

/// Of parameters products of queries, of keys, ends and the result.
struct DecayGradOptions {
  DecayKind kind;
  int64_t sequences, length, heads, features;
  /// Query heads of a state's, and numbers per token and head.
  int64_t group, parts;
  AttentionTensor ofQueries, ofKeys, ends, result;
};
GpuKernel buildDecayGrad(const KernelPlace &place,
                         const DecayGradOptions &options);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_LINEARATTENTIONTOGPU_FINISHKERNELS_H
