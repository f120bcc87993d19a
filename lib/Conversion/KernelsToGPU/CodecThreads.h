//===- CodecThreads.h - Threads that encode and decode -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_CODECTHREADS_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_CODECTHREADS_H

#include "KernelEmitters.h"
#include "act/Conversion/KernelUtils/CodecVectors.h"

namespace mlir::act {

/// How the pieces of a tensor are spread over the threads of a kernel. Pieces
/// are those of GpuEncodingInterface.
struct GpuCodecSplit {
  /// Of the tensor.
  int64_t pieces;
  /// Threads that work on pieces together, a warp or a block, and how many
  /// pieces they get.
  int64_t groupThreads;
  int64_t piecesPerGroup;
};

/// Pieces that one group of threads works on.
struct GpuCodecPieces {
  /// The first one, of the type of offsets.
  Value first;
  /// How many, at most `most`; null if as many.
  Value count;
  int64_t most;
  /// A number that `first` is a multiple of.
  int64_t firstMultiple = 1;
};

/// Builds what one thread of a group does in a codec, on scalars. Offsets are
/// i32, or i64 in tensors of 2^31 elements or more.
class CodecThreads {
public:
  CodecThreads(GpuKernelBuilder &kernel, ThreadGroup &group,
               RankedTensorType type);

  GpuKernelBuilder &getKernel() { return kernel; }
  ThreadGroup &getGroup() { return group; }
  ImplicitLocOpBuilder &getBuilder() { return kernel.getBuilder(); }
  /// Arithmetic.
  CodecVectors &getVectors() { return v; }

  //===--------------------------------------------------------------------===//
  // Offsets and control flow
  //===--------------------------------------------------------------------===//

  Value offset(int64_t value);
  Value toOffset(Value value);
  /// As i32, modulo 2^32.
  Value toI32(Value value);
  /// Of numbers that are not negative, by a positive constant.
  Value divide(Value x, int64_t y);
  Value remainder(Value x, int64_t y);
  Value isLess(Value x, Value y);
  Value smaller(Value x, Value y);

  using LoopBody =
      function_ref<SmallVector<Value>(Value counter, ValueRange carried)>;
  /// From `begin` to `end` by steps of a constant.
  SmallVector<Value> loop(Value begin, Value end, int64_t step,
                          ValueRange initial, LoopBody body);
  void loop(Value begin, Value end, int64_t step,
            function_ref<void(Value)> body);
  /// `body` is run if `condition`, always if that is null.
  void when(Value condition, function_ref<void()> body);

  struct Item {
    /// Counted from the first of the pieces, of the type of offsets.
    Value number;
    /// Of the thread among those of the item, i32.
    Value lane;
    /// False in a thread without an item of its own, which computes another's
    /// once more and must not store it; null if there are none.
    Value isOwn;
  };
  /// Spreads `perPiece` items of each piece over threads, `lanes` of them (a
  /// power of two that is at most a warp) next to each other to an item. Warps
  /// stay together.
  void forItems(const GpuCodecPieces &pieces, int64_t perPiece, int64_t lanes,
                function_ref<void(const Item &)> body);
  /// Calls `body` for each piece with all threads of the group.
  void forPieces(const GpuCodecPieces &pieces,
                 function_ref<void(Value piece)> body);
  /// Combines one value of each of the `lanes` threads of an item.
  Value reduceLanes(Value value, int64_t lanes,
                    function_ref<Value(Value, Value)> combine);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// What `pointer` is known to be a multiple of, in bytes; 1 if unknown.
  static int64_t getAlignment(Value pointer);
  Value load(Type type, Value base, Type element, Value offset,
             int64_t alignment = 0);
  void store(Value value, Value base, Type element, Value offset,
             int64_t alignment = 0);
  /// An element of a float type as f32, and the inverse.
  Value loadNumber(Value base, Type element, Value offset);
  void storeNumber(Value number, Value base, Type element, Value offset);
  /// An unsigned integer of less than 32 bits as i32, and the inverse.
  Value loadInteger(Value base, Type element, Value offset);
  void storeInteger(Value number, Value base, Type element, Value offset);

  //===--------------------------------------------------------------------===//
  // Arithmetic that only GPUs have
  //===--------------------------------------------------------------------===//

  /// x * y + z, rounded once; `saturated` to [0, 1], where a NaN becomes 0.
  Value fma(Value x, Value y, Value z);
  Value saturatedFma(Value x, Value y, Value z);
  /// The smaller and the larger one; NaN if one is.
  Value minimum(Value x, Value y);
  Value maximum(Value x, Value y);
  /// The bytes of `x` (0 to 3) and of `y` (4 to 7) that the hexadecimal digits
  /// of `selector` name, lowest first.
  Value permute(Value x, Value y, int64_t selector);
  /// `amount` bits shifted out of `high` into the upper end of `low`.
  Value funnelRight(Value high, Value low, int64_t amount);
  Value f32(double value);
  Value i32(int64_t value);
  /// A number below 2^23 as f32.
  Value toFloat(Value integer);

private:
  GpuKernelBuilder &kernel;
  ThreadGroup &group;
  CodecVectors v;
  Type offsetType;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_CODECTHREADS_H
