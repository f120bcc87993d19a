//===- ElementThreads.cpp - Threads that go through elements --------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementThreads.h"
#include "CodecModels.h"
#include <algorithm>

using namespace mlir;
using namespace mlir::act;

/// Of each thread of a kernel.
static constexpr int64_t elementsPerThread = 8;

GpuCodecSplit mlir::act::getElementSplit(int64_t numElements) {
  return {numElements, codecThreads, codecThreads * elementsPerThread};
}

Value mlir::act::toFloat(CodecThreads &t, Value loaded, Type element) {
  CodecVectors &v = t.getVectors();
  if (element.isBF16())
    return v.fromBits(v.shiftLeft(v.toWidth(loaded, 32), 16));
  return element.isF16() ? v.convertFloat(loaded, v.getF32()) : loaded;
}

Value mlir::act::toStored(CodecThreads &t, Value number, Type element) {
  if (!element.isF32())
    number = t.getVectors().convertFloat(number, element);
  if (element.isBF16())
    return arith::BitcastOp::create(t.getBuilder(), t.getBuilder().getI16Type(),
                                    number);
  return number;
}

/// How many elements a thread takes together: as many as 16 bytes of the wider
/// ones, or one.
static int64_t getWidth(CodecThreads &t, const GpuCodecPieces &pieces,
                        ArrayRef<ElementRange> ranges, int64_t numBits) {
  int64_t width = 128 / numBits;
  bool isWhole = pieces.most % width == 0 && pieces.firstMultiple % width == 0;
  for (const ElementRange &range : ranges) {
    int64_t alignment = range.alignment
                            ? range.alignment
                            : CodecThreads::getAlignment(range.base);
    int64_t bytes =
        t.getVectors().getStored(range.element).getIntOrFloatBitWidth() / 8;
    isWhole &= alignment % (width * bytes) == 0;
  }
  return isWhole ? width : 1;
}

void mlir::act::forElements(CodecThreads &t, const GpuCodecPieces &pieces,
                            const ElementRange &from, const ElementRange &to,
                            function_ref<Value(Value)> body) {
  CodecVectors &v = t.getVectors();
  ImplicitLocOpBuilder &b = t.getBuilder();
  Type source = v.getStored(from.element), target = v.getStored(to.element);
  int64_t width = getWidth(
      t, pieces, {from, to},
      std::max(source.getIntOrFloatBitWidth(), target.getIntOrFloatBitWidth()));
  // Codes may come in wider integers.
  auto toBits = [&](Value element) {
    return isa<IntegerType>(target)
               ? v.toWidth(element, target.getIntOrFloatBitWidth())
               : element;
  };
  auto copyOne = [&](Value at) {
    Value stored = body(t.load(source, from.base, from.element, at));
    t.store(toBits(stored), to.base, to.element, at);
  };
  if (width == 1) {
    t.forItems(pieces, /*perPiece=*/1, /*lanes=*/1,
               [&](const CodecThreads::Item &item) {
                 t.when(item.isOwn,
                        [&] { copyOne(v.add(pieces.first, item.number)); });
               });
    return;
  }
  GpuCodecPieces vectors = pieces;
  vectors.most = pieces.most / width;
  if (pieces.count)
    vectors.count = t.divide(t.toOffset(pieces.count), width);
  t.forItems(vectors, 1, 1, [&](const CodecThreads::Item &item) {
    t.when(item.isOwn, [&] {
      Value at = v.add(pieces.first, v.multiply(item.number, width));
      Value loaded =
          t.load(VectorType::get({width}, source), from.base, from.element, at);
      Value stored =
          LLVM::PoisonOp::create(b, VectorType::get({width}, target));
      for (int64_t i = 0; i < width; ++i) {
        Value element =
            body(LLVM::ExtractElementOp::create(b, loaded, t.i32(i)));
        stored =
            LLVM::InsertElementOp::create(b, stored, toBits(element), t.i32(i));
      }
      t.store(stored, to.base, to.element, at);
    });
  });
  if (!pieces.count)
    return;
  // What is left of less than a vector.
  Value whole = v.multiply(vectors.count, width);
  Value rest = v.subtract(t.toOffset(pieces.count), whole);
  Value rank = t.toOffset(t.getGroup().getRank());
  t.when(t.isLess(rank, rest),
         [&] { copyOne(v.add(pieces.first, v.add(whole, rank))); });
}
