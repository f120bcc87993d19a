//===- CodecVectors.h - Building vector code of codecs -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELUTILS_CODECVECTORS_H
#define ACT_CONVERSION_KERNELUTILS_CODECVECTORS_H

#include "act/Conversion/VectorTarget.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <optional>

namespace mlir::act {

/// Elements next to each other, in one vector or in two that take turns: those
/// at even places and those at odd places. 16-bit floats are widened to the
/// latter by a shift and a mask, without moving elements between lanes.
struct Lanes {
  SmallVector<Value, 2> parts;
};

/// Builds code on vectors, most of it of f32 and of i32. Offsets are index
/// values and count elements.
class CodecVectors {
public:
  CodecVectors(OpBuilder &builder, Location loc, const VectorTarget &target)
      : own(std::in_place, loc, builder), b(*own), target(target) {}
  /// Inserts where `builder` does, which someone else moves too: for scalars.
  explicit CodecVectors(ImplicitLocOpBuilder &builder)
      : b(builder), target{32, 1} {}
  CodecVectors(const CodecVectors &) = delete;

  ImplicitLocOpBuilder &getBuilder() { return b; }

  //===--------------------------------------------------------------------===//
  // Constants, types and widths
  //===--------------------------------------------------------------------===//

  Type getF32() { return b.getF32Type(); }
  Type getI32() { return b.getI32Type(); }
  VectorType getVector(int64_t width, Type element) {
    return VectorType::get({width}, element);
  }
  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  /// A number of the type of `like`, in every element of a vector.
  Value floatLike(Value like, double value);
  Value intLike(Value like, int64_t value);
  /// A scalar or vector constant.
  Value floatConstant(Type type, double value);
  Value intConstant(Type type, int64_t value);

  /// How many elements to take together out of `count`, a power of two that is
  /// at most `count`: some vector registers of lanes with `bits` bits.
  int64_t getWidth(int64_t count, unsigned bits = 32) const;

  //===--------------------------------------------------------------------===//
  // Control flow
  //===--------------------------------------------------------------------===//

  /// A loop over `[begin, end)`. The body gets the counter and the values
  /// carried, and returns those of the next iteration.
  using LoopBody =
      function_ref<SmallVector<Value>(Value counter, ValueRange carried)>;
  SmallVector<Value> loop(Value begin, Value end, int64_t step,
                          ValueRange initial, LoopBody body);
  void loop(Value begin, Value end, int64_t step,
            function_ref<void(Value)> body);
  void branch(Value condition, function_ref<void()> isTrue,
              function_ref<void()> isFalse);

  /// Calls `body` for pieces of `width` elements, at most `end - begin`, that
  /// cover `[begin, end)`. If the width does not divide that the last two
  /// overlap: what is done to an element must not matter if done twice.
  SmallVector<Value> forPieces(int64_t begin, int64_t end, int64_t width,
                               ValueRange initial, LoopBody body);
  void forPieces(int64_t begin, int64_t end, int64_t width,
                 function_ref<void(Value)> body);

  /// Calls `body` for pieces that cover `[begin, end)`, of several elements and
  /// in the end of one.
  void forElements(Value begin, Value end,
                   function_ref<void(Value offset, int64_t width)> body);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  /// The type that elements of type `element` are loaded and stored as:
  /// integers for what is not arithmetic's own type.
  Type getStored(Type element);
  Value address(Value base, Type element, Value offset);
  Value load(Type type, Value base, Type element, Value offset);
  void store(Value value, Value base, Type element, Value offset);
  /// A store of a vector around the caches, to an address that is a multiple of
  /// `streamAlignment`.
  void stream(Value value, Value base, Type element, Value offset);
  static constexpr int64_t streamAlignment = 64;
  /// True, an i1, if `base` is aligned for `stream`.
  Value isAlignedForStreams(Value base);
  /// Makes what was streamed visible to all before anything that follows.
  void finishStreams();
  /// Asks for memory to be read that will be needed; the element need not
  /// exist.
  void prefetch(Value base, Type element, Value offset);
  /// The first block of the function, or of another region that sees nothing
  /// from above, that `block` is in; null if there is none.
  static Block *getAllocationBlock(Block *block);
  /// An array of `count` elements on the stack of that function.
  Value allocate(Type element, int64_t count);
  void copy(Value destination, Value source, Value bytes);

  //===--------------------------------------------------------------------===//
  // Arithmetic
  //===--------------------------------------------------------------------===//

  Value add(Value x, Value y);
  Value subtract(Value x, Value y);
  Value multiply(Value x, Value y);
  Value add(Value x, int64_t y) { return add(x, intLike(x, y)); }
  Value multiply(Value x, int64_t y) { return multiply(x, intLike(x, y)); }
  Value divide(Value x, Value y);
  /// The size of a float; that of a NaN is one.
  Value absolute(Value x);
  /// x * y + z, rounded once.
  Value fma(Value x, Value y, Value z);
  /// The smaller one; `y` if one of them is NaN, or they are equal.
  Value minimum(Value x, Value y);
  Value maximum(Value x, Value y);
  /// The smaller one of two index values.
  Value smaller(Value x, Value y);
  Value select(Value condition, Value x, Value y);
  Value compare(arith::CmpFPredicate predicate, Value x, Value y);
  Value compare(arith::CmpIPredicate predicate, Value x, Value y);

  Value bitAnd(Value x, int64_t mask);
  Value bitOr(Value x, Value y);
  Value bitXor(Value x, Value y);
  Value shiftLeft(Value x, int64_t amount);
  Value shiftRight(Value x, int64_t amount);
  /// By an amount of its own in each lane.
  Value shiftLeft(Value x, ArrayRef<int64_t> amounts);
  Value shiftRight(Value x, ArrayRef<int64_t> amounts);
  Value shiftRightSigned(Value x, int64_t amount);
  /// To integers of `width` bits: a smaller or larger unsigned number.
  Value toWidth(Value x, unsigned width);
  /// The larger one of unsigned, of signed integers, the smaller one of signed
  /// ones.
  Value largerUnsigned(Value x, Value y);
  Value largerSigned(Value x, Value y);
  Value smallerSigned(Value x, Value y);
  /// The bits of f32 numbers as i32, and back.
  Value toBits(Value x);
  Value fromBits(Value x);
  Value intToFloat(Value x);
  /// To a float type, to the nearest.
  Value convertFloat(Value x, Type element);

  //===--------------------------------------------------------------------===//
  // Vectors
  //===--------------------------------------------------------------------===//

  /// `width` copies of a scalar.
  Value splat(Value scalar, int64_t width);
  /// A scalar as vector; a vector as it is.
  Value toVector(Value x, int64_t width) {
    return isa<VectorType>(x.getType()) ? x : splat(x, width);
  }
  /// Lane i of the result is i, i32.
  Value iota(int64_t width);
  /// The elements at `places` of a vector or of two, one after the other.
  Value shuffle(Value x, Value y, ArrayRef<int64_t> places);
  /// Combines halves until `width` elements are left.
  Value fold(Value vector, int64_t width,
             function_ref<Value(Value, Value)> combine);
  /// Combines all elements, halves first.
  Value reduce(Value vector, function_ref<Value(Value, Value)> combine);
  /// The index `offset` as i32, modulo 2^32.
  Value toI32(Value offset);

private:
  std::optional<ImplicitLocOpBuilder> own;
  ImplicitLocOpBuilder &b;
  VectorTarget target;
};

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELUTILS_CODECVECTORS_H
