//===- ThreadNest.h - Loops of an operation over threads -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_THREADNEST_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_THREADNEST_H

#include "act/Conversion/KernelUtils/NestAccess.h"
#include "act/Conversion/KernelsToGPU/KernelBuilder.h"

namespace mlir::act {

/// Numbers all combinations of iterations of some loops, the last loop fastest.
struct LoopSpace {
  SmallVector<unsigned> loops;
  /// Combinations; one vector of iterations counts once.
  int64_t count = 1;
};

/// The digits of `number`, i32 or i64, in a mixed base of `extents`.
SmallVector<Value> delinearize(ImplicitLocOpBuilder &b, Value number,
                               ArrayRef<int64_t> extents);

/// The loops of one operation as threads run them. The first `numRows` loops
/// stand still at a row; of the others, some are numbered in the parallel space
/// and some in the reduced one.
class ThreadNest : NestAccess {
public:
  /// Takes at most `mostLanes` neighbouring elements at once, so few that there
  /// are `leastVectors` of them where possible. Notes in `nest` how its
  /// operands are aligned.
  ThreadNest(GpuKernelBuilder &kernel, const KernelValues &values,
             LoopNest &nest, unsigned numRows, int64_t mostLanes,
             int64_t leastVectors);

  int64_t getNumParallel() const { return parallel.count; }
  int64_t getNumReduced() const { return reduced.count; }
  /// Whether there is one combination of the parallel space, of one element.
  bool isSingle() const { return parallel.count == 1 && !isVector(); }
  bool reduces() const { return llvm::is_contained(nest.isReduction, true); }
  /// Whether threads can share the work of a reduction.
  bool isCombined() const { return combiners.has_value(); }
  /// Whether neighbouring iterations of the reduced space are neighbours in
  /// memory.
  bool reducesAlongMemory() const;

  void setRows(ArrayRef<Value> rows);

  /// Computes combination `number` of the parallel space alone.
  void emitIteration(Value number);
  /// Calls emitIteration for `rank`, `rank` + `threads` and so on.
  void emitIterations(Value rank, int64_t threads);
  /// Results of the combination `number` of the parallel space, a scalar each,
  /// known to all threads of the group, which share the work.
  SmallVector<Value> computeTotals(Value number, ThreadGroup &group);
  /// Stores such results, but for those that are kept in registers. One thread
  /// is enough.
  void storeTotals(ValueRange totals);
  /// The same for every combination of the parallel space.
  void emitTotals(ThreadGroup &group);
  /// Blocks as `columns` neighbours of the parallel space times some threads
  /// that share the reduced space.
  void emitColumns(Value firstNumber, int64_t columns);
  /// The loop along which an input lies in memory, while results lie along
  /// another one, or -1: such an input is better read through shared memory.
  int64_t getTransposedLoop() const;
  /// Tiles of `tileExtent` x `tileExtent` iterations of `loop` and of the
  /// fastest loop.
  int64_t getNumTiles(int64_t loop) const;
  /// Computes a tile by all threads of a block, `tileExtent` of them a row.
  void emitTile(Value number, int64_t loop);
  static constexpr int64_t tileExtent = 32;
  /// Results of the only iteration there is, known to all threads.
  SmallVector<Value> computeOnce();

  /// What tells how elements of a buffer are spread over threads by
  /// emitIterations and the sharing of totals: equal texts, equal threads.
  /// Nothing if another thread may touch an element.
  std::optional<std::string> getThreadMap(Value buffer, int64_t threads) const;

private:
  struct Lanes;
  static Lanes chooseLanes(const LoopNest &nest, unsigned numRows,
                           int64_t mostLanes, int64_t leastVectors);
  ThreadNest(GpuKernelBuilder &kernel, const KernelValues &values,
             LoopNest &nest, unsigned numRows, Lanes lanes);

  LoopSpace collectSpace(bool reduction) const;
  SmallVector<int64_t> getExtents(const LoopSpace &space) const;
  void alignOperands(LoopNest &nest);
  bool isVector() const;
  void setIterations(const LoopSpace &space, Value number);
  Accumulators reduceSequentially(ArrayRef<unsigned> loops, ValueRange carried);
  Accumulators reduceShare(Value first, int64_t step);
  Accumulators finishLanes(Accumulators accumulated);
  Accumulators addInitial(ValueRange totals);
  void emitGeneralReduction();
  /// The loops around tiles of `loop`, and their extents.
  LoopSpace getTileSpace(int64_t loop, SmallVectorImpl<int64_t> &extents) const;
  bool isTransposed(unsigned operand, int64_t loop) const;
  void forTileElements(int64_t along, int64_t across,
                       llvm::function_ref<void(Value place)> body);
  Accumulators carryGeneral(ArrayRef<unsigned> loops, ValueRange carried);
  /// A loop of `count` rounds over numbers from `first` on in steps, with
  /// accumulators.
  Accumulators
  emitRounds(Value first, int64_t step, int64_t count, ValueRange carried,
             llvm::function_ref<Accumulators(Value, ValueRange)> body);

  GpuKernelBuilder &kernel;
  unsigned numRows;
  /// The loop that is numbered fastest in its space, or -1.
  int64_t fastLoop = -1;
  LoopSpace parallel, reduced;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_THREADNEST_H
