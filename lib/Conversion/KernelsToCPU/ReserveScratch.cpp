//===- ReserveScratch.cpp - Memory that the runtime works in -------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act-c/StepRuntime.h"
#include "act/Conversion/KernelsToCPU/ConvolutionDescriptor.h"
#include "act/Conversion/KernelsToCPU/Passes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include <thread>

namespace mlir::act {
#define GEN_PASS_DEF_ACTRESERVESCRATCHPASS
#include "act/Conversion/KernelsToCPU/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

/// Adds a buffer that the convolution in `kernel` works in to its operands.
static LogicalResult reserveScratch(KernelOp kernel, int64_t threads) {
  auto op = cast<ConvolutionOp>(kernel.getBody().front().back());
  FailureOr<SmallVector<int64_t>> descriptor = getConvolutionDescriptor(op);
  if (failed(descriptor))
    return failure();
  int64_t bytes = getConvolutionScratch(*descriptor, threads);
  if (bytes == 0)
    return success();
  OpBuilder builder(kernel);
  auto type = MemRefType::get({bytes}, builder.getI8Type());
  Value scratch = memref::AllocOp::create(
      builder, kernel.getLoc(), type,
      builder.getI64IntegerAttr(ACT_CPU_ARENA_ALIGNMENT));
  kernel.getBuffersMutable().append(scratch);
  kernel.getBody().front().addArgument(type, kernel.getLoc());
  return success();
}

namespace {
struct ReserveScratchPass
    : act::impl::ActReserveScratchPassBase<ReserveScratchPass> {
  using Base::Base;

  void runOnOperation() override {
    int64_t count = threads > 0
                        ? threads
                        : std::max(1u, std::thread::hardware_concurrency());
    SmallVector<KernelOp> kernels;
    getOperation()->walk([&](KernelOp kernel) {
      if (kernel.getKind() == KernelKind::Convolution)
        kernels.push_back(kernel);
    });
    for (KernelOp kernel : kernels)
      if (failed(reserveScratch(kernel, count)))
        return signalPassFailure();
  }
};
} // namespace
