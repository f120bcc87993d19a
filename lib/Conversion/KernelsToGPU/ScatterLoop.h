//===- ScatterLoop.h - Updates in the order of a loop -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_SCATTERLOOP_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_SCATTERLOOP_H

#include "act/Conversion/KernelUtils/LoopNest.h"
#include "act/Conversion/KernelsToGPU/KernelBuilder.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::act {

/// A loop of the host over updates, such as `scatter` becomes: each iteration
/// reads where to write from memory, and lets kernels without reductions work
/// on one *place* of some buffers, a subview with extents of 1 where its offset
/// is computed.
///
/// It becomes one kernel in which a warp has all updates of a place: it looks
/// through the places of all iterations, 32 at a time, and does those of its
/// own one after the other. So the order is that of the loop, the result the
/// same every time, without atomic operations.
class ScatterLoop {
public:
  /// Nothing if `loop` is not of that form.
  static std::optional<ScatterLoop> match(scf::ForOp loop);

  scf::ForOp getLoop() const { return loop; }
  /// What the iterations use of the outside, but for constants: the parameters
  /// of the kernel.
  ArrayRef<Value> getOperands() const { return operands; }
  bool isWritten(Value buffer) const { return written.contains(buffer); }

  FailureOr<GpuKernel> emit(gpu::GPUModuleOp module, StringRef name,
                            ArrayRef<GpuParameter> parameters) const;

private:
  explicit ScatterLoop(scf::ForOp loop) : loop(loop) {}
  bool collectOperations();
  bool collectOperation(Operation *op);
  bool collectPlaces();
  bool addWritten(Value buffer);
  void collectOperands();

  scf::ForOp loop;
  int64_t count = 0;
  /// Of an iteration, what computes numbers and views, and the kernels. All of
  /// the kernels depend on `condition`, if it is not null.
  SmallVector<Operation *> computations;
  SmallVector<KernelOp> kernels;
  Value condition;
  /// Offsets that are computed, with the extents of their dimensions.
  SmallVector<std::pair<Value, int64_t>> place;
  int64_t numPlaces = 1;
  llvm::SmallDenseSet<Value> written;
  SmallVector<Value> operands;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_SCATTERLOOP_H
