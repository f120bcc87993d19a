//===- LaunchSizes.cpp - How kernels are launched ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchSizes.h"
#include "mlir/IR/Matchers.h"
#include <limits>

using namespace mlir;
using namespace mlir::act;

/// Reads a constant of at least `least`.
static LogicalResult readSize(gpu::LaunchFuncOp launch, Value value,
                              int32_t least, StringRef what, int32_t &size) {
  APInt constant;
  if (!matchPattern(value, m_ConstantInt(&constant)))
    return launch.emitOpError("expects ")
           << what << " to be a constant, since shapes are static";
  int64_t number = constant.getSExtValue();
  if (number < least || number > std::numeric_limits<int32_t>::max())
    return launch.emitOpError("expects ")
           << what << " from " << least << " to 2147483647, got " << number;
  size = static_cast<int32_t>(number);
  return success();
}

static FailureOr<LaunchSizes> readSizes(gpu::LaunchFuncOp launch) {
  if (launch.getAsyncToken() || !launch.getAsyncDependencies().empty() ||
      launch.getAsyncObject())
    return launch.emitOpError(
        "expects a launch without tokens and streams: the "
        "context of the step has the stream");
  if (launch.hasClusterSize())
    return launch.emitOpError("expects a launch without clusters");
  LaunchSizes sizes;
  gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
  gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
  if (failed(readSize(launch, grid.x, 1, "grid x", sizes.grid[0])) ||
      failed(readSize(launch, grid.y, 1, "grid y", sizes.grid[1])) ||
      failed(readSize(launch, grid.z, 1, "grid z", sizes.grid[2])) ||
      failed(readSize(launch, block.x, 1, "block x", sizes.block[0])) ||
      failed(readSize(launch, block.y, 1, "block y", sizes.block[1])) ||
      failed(readSize(launch, block.z, 1, "block z", sizes.block[2])))
    return failure();
  if (Value bytes = launch.getDynamicSharedMemorySize())
    if (failed(readSize(launch, bytes, 0, "dynamic_shared_memory_size",
                        sizes.dynamicSharedBytes)))
      return failure();
  return sizes;
}

FailureOr<llvm::MapVector<SymbolRefAttr, LaunchSizes>>
act::collectLaunchSizes(ModuleOp module) {
  llvm::MapVector<SymbolRefAttr, LaunchSizes> kernels;
  llvm::DenseMap<SymbolRefAttr, Operation *> first;
  WalkResult result = module.walk([&](gpu::LaunchFuncOp launch) {
    FailureOr<LaunchSizes> sizes = readSizes(launch);
    if (failed(sizes))
      return WalkResult::interrupt();
    auto [found, isNew] = kernels.insert({launch.getKernel(), *sizes});
    if (isNew) {
      first[launch.getKernel()] = launch;
    } else if (!(found->second == *sizes)) {
      InFlightDiagnostic diagnostic =
          launch.emitOpError(
              "expects the same grid, block and shared memory at "
              "every launch of ")
          << launch.getKernel();
      diagnostic.attachNote(first[launch.getKernel()]->getLoc())
          << "another launch is here";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return kernels;
}
