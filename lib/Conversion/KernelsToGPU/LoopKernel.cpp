//===- LoopKernel.cpp - Kernels of loops over threads ---------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBindings.h"
#include "KernelEmitters.h"
#include "RowProgram.h"
#include "ThreadNest.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::act;

/// Threads of a block unless something speaks for others.
static constexpr int64_t blockThreads = 256;
/// Iterations of a reduction from which on threads share it.
static constexpr int64_t sharedReduction = 32;
/// Reductions to compute at the same time from which on a thread can do one
/// alone: about what fills a large device.
static constexpr int64_t manyReductions = 1 << 17;
/// Blocks that fill a large device, and columns of one that fill a sector of
/// memory.
static constexpr int64_t manyBlocks = 128;
static constexpr int64_t fewestColumns = 8;

namespace {
/// Emits a kernel of one operation.
class SingleNestEmitter {
public:
  SingleNestEmitter(GpuKernelBuilder &kernel, const KernelValues &values,
                    LoopNest &nest)
      : kernel(kernel), values(values), nest(nest) {
    threads.emplace(kernel, values, nest, /*numRows=*/0, /*mostLanes=*/8,
                    /*leastVectors=*/1);
  }

  GpuKernel emit();

private:
  GpuKernel emitSeparately();
  GpuKernel emitByGroups(int64_t groupSize);
  GpuKernel emitByColumns();
  GpuKernel emitByTiles(int64_t loop);
  Value getNumber(int64_t perBlock, Value inBlock, int64_t count);
  void emitIf(Value condition, llvm::function_ref<void()> body);

  GpuKernelBuilder &kernel;
  const KernelValues &values;
  LoopNest &nest;
  std::optional<ThreadNest> threads;
};
} // namespace

void SingleNestEmitter::emitIf(Value condition,
                               llvm::function_ref<void()> body) {
  if (!condition)
    return body();
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

/// The number of what `inBlock` does of the `perBlock` pieces of a block.
Value SingleNestEmitter::getNumber(int64_t perBlock, Value inBlock,
                                   int64_t count) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  Value block = kernel.getBlock();
  if (count > std::numeric_limits<int32_t>::max() - perBlock) {
    block = kernel.toI64(block);
    inBlock = kernel.toI64(inBlock);
  }
  Value first =
      arith::MulIOp::create(b, block, kernel.intLike(block, perBlock));
  return arith::AddIOp::create(b, first, inBlock);
}

/// A condition for `number` to be one of `count`, null if all are.
static Value isWithin(GpuKernelBuilder &kernel, Value number, int64_t count,
                      int64_t perBlock) {
  if (count % perBlock == 0)
    return {};
  return arith::CmpIOp::create(kernel.getBuilder(), arith::CmpIPredicate::slt,
                               number, kernel.intLike(number, count));
}

/// One thread for each combination of the parallel space.
GpuKernel SingleNestEmitter::emitSeparately() {
  int64_t count = threads->getNumParallel();
  int64_t perBlock =
      std::min<int64_t>(blockThreads, llvm::alignTo(count, warpThreads));
  kernel.setNumThreads(perBlock);
  Value number = getNumber(perBlock, kernel.getThread(), count);
  emitIf(isWithin(kernel, number, count, perBlock),
         [&] { threads->emitIteration(number); });
  return kernel.finish({llvm::divideCeilSigned(count, perBlock), 1, 1});
}

/// A group of threads for each total.
GpuKernel SingleNestEmitter::emitByGroups(int64_t groupSize) {
  int64_t count = threads->getNumParallel();
  bool isBlock = groupSize > warpThreads;
  int64_t groups = isBlock ? 1 : std::min(blockThreads / warpThreads, count);
  kernel.setNumThreads(groups * groupSize);
  ThreadGroup group(kernel, groupSize);
  Value number = getNumber(groups, group.getNumber(), count);
  emitIf(isWithin(kernel, number, count, groups), [&] {
    SmallVector<Value> totals = threads->computeTotals(number, group);
    ImplicitLocOpBuilder &b = kernel.getBuilder();
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          group.getRank(), kernel.i32(0));
    emitIf(isFirst, [&] { threads->storeTotals(totals); });
  });
  return kernel.finish({llvm::divideCeilSigned(count, groups), 1, 1});
}

/// Blocks of neighbouring totals, each the sum of shares. Where there are few,
/// blocks are narrow and many threads share a total.
GpuKernel SingleNestEmitter::emitByColumns() {
  int64_t count = threads->getNumParallel(), columns = warpThreads;
  if (count < manyBlocks * columns) {
    threads.emplace(kernel, values, nest, /*numRows=*/0, /*mostLanes=*/1,
                    /*leastVectors=*/1);
    count = threads->getNumParallel();
    while (columns > fewestColumns && count < manyBlocks * columns)
      columns /= 2;
  }
  kernel.setNumThreads(columns == warpThreads ? blockThreads
                                              : 2 * blockThreads);
  Value first = getNumber(columns, kernel.i32(0), count);
  threads->emitColumns(first, columns);
  return kernel.finish({llvm::divideCeilSigned(count, columns), 1, 1});
}

/// A block for each tile, some inputs of which are transposed.
GpuKernel SingleNestEmitter::emitByTiles(int64_t loop) {
  kernel.setNumThreads(blockThreads);
  threads->emitTile(kernel.getBlock(), loop);
  return kernel.finish({threads->getNumTiles(loop), 1, 1});
}

GpuKernel SingleNestEmitter::emit() {
  if (int64_t loop = threads->getTransposedLoop(); loop >= 0)
    return emitByTiles(loop);
  if (!threads->reduces() || !threads->isCombined() ||
      threads->getNumReduced() < sharedReduction)
    return emitSeparately();
  if (threads->reducesAlongMemory() || threads->getNumParallel() == 1)
    return emitByGroups(threads->getNumReduced() >= 1024 ? blockThreads
                                                         : warpThreads);
  if (threads->getNumParallel() >= manyReductions)
    return emitSeparately();
  return emitByColumns();
}

FailureOr<GpuKernel> mlir::act::emitLoopKernel(const KernelRequest &request) {
  KernelOp op = request.kernel;
  if (!op.getRows().empty())
    return emitRowProgram(request);
  GpuKernelBuilder kernel(request.module, op.getLoc(), request.name,
                          request.parameters, blockThreads);
  KernelValues values;
  if (failed(bindKernelOperands(kernel, request, values)))
    return failure();
  SmallVector<LoopNest, 1> nests;
  for (Operation &inner : op.getBody().front()) {
    auto generic = dyn_cast<linalg::GenericOp>(inner);
    if (!generic || isReductionStart(generic))
      continue;
    FailureOr<LoopNest> nest = getLoopNest(generic, values, /*numRows=*/0);
    if (failed(nest))
      return failure();
    nest->initial[0] = getReductionStart(generic);
    nests.push_back(std::move(*nest));
  }
  if (nests.size() != 1)
    return op.emitOpError("expects one operation in a kernel without rows, "
                          "got ")
           << nests.size();
  return SingleNestEmitter(kernel, values, nests.front()).emit();
}
