//===- StablehloBuilder.h - Building StableHLO operations -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_STABLEHLOSHELL_STABLEHLOBUILDER_H
#define ACT_DIALECT_STABLEHLOSHELL_STABLEHLOBUILDER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include <type_traits>

namespace mlir::act {

/// Creates StableHLO operations by name at a builder's insertion point. They
/// print in the generic form that the real dialect parses, whether or not a
/// StableHLO dialect is registered here. Result types are inferred where they
/// follow from the operands; all tensors are ranked and static.
class StablehloBuilder {
public:
  enum class Comparison { EQ, NE, GE, GT, LE, LT };
  enum class Combiner { Add, Multiply, Maximum, Minimum, And, Or };

  StablehloBuilder(OpBuilder &builder, Location loc)
      : builder(builder), loc(loc) {}

  OpBuilder &getBuilder() const { return builder; }
  Location getLoc() const { return loc; }
  void setLoc(Location newLoc) { loc = newLoc; }

  /// Any operation of the dialect: `name` without its prefix, attributes as
  /// inherent ones.
  Operation *create(StringRef name, TypeRange resultTypes, ValueRange operands,
                    ArrayRef<NamedAttribute> attributes = {},
                    unsigned numRegions = 0);

  //===--------------------------------------------------------------------===//
  // Constants
  //===--------------------------------------------------------------------===//

  Value constant(ElementsAttr elements);
  /// A rank-0 constant; `value` is rounded (floats) or wrapped (integers) to
  /// `elementType`.
  template <typename Number>
  Value scalar(Type elementType, Number value) {
    if constexpr (std::is_floating_point_v<Number>)
      return floatScalar(elementType, value);
    else
      return integerScalar(elementType, static_cast<int64_t>(value));
  }
  /// A rank-0 constant broadcast to `type`, the form that XLA folds best.
  template <typename Number>
  Value splat(RankedTensorType type, Number value) {
    return broadcastInDim(scalar(type.getElementType(), value), type.getShape(),
                          {});
  }
  /// A splat of the type of the tensor `like`.
  template <typename Number>
  Value splatLike(Value like, Number value) {
    return splat(cast<RankedTensorType>(like.getType()), value);
  }
  Value iota(RankedTensorType type, int64_t dimension);

  //===--------------------------------------------------------------------===//
  // Elementwise operations
  //===--------------------------------------------------------------------===//

  /// An operation whose result has the type of its operands.
  Value unary(StringRef name, Value operand);
  Value binary(StringRef name, Value lhs, Value rhs);

  Value abs(Value x) { return unary("abs", x); }
  Value ceil(Value x) { return unary("ceil", x); }
  Value exponential(Value x) { return unary("exponential", x); }
  Value floor(Value x) { return unary("floor", x); }
  Value log(Value x) { return unary("log", x); }
  Value negate(Value x) { return unary("negate", x); }
  Value logicalNot(Value x) { return unary("not", x); }
  Value roundNearestEven(Value x) { return unary("round_nearest_even", x); }
  Value rsqrt(Value x) { return unary("rsqrt", x); }
  Value sqrt(Value x) { return unary("sqrt", x); }

  Value add(Value x, Value y) { return binary("add", x, y); }
  Value bitAnd(Value x, Value y) { return binary("and", x, y); }
  Value bitOr(Value x, Value y) { return binary("or", x, y); }
  Value bitXor(Value x, Value y) { return binary("xor", x, y); }
  Value divide(Value x, Value y) { return binary("divide", x, y); }
  Value maximum(Value x, Value y) { return binary("maximum", x, y); }
  Value minimum(Value x, Value y) { return binary("minimum", x, y); }
  Value multiply(Value x, Value y) { return binary("multiply", x, y); }
  Value power(Value x, Value y) { return binary("power", x, y); }
  Value remainder(Value x, Value y) { return binary("remainder", x, y); }
  Value shiftLeft(Value x, Value y) { return binary("shift_left", x, y); }
  Value shiftRightLogical(Value x, Value y) {
    return binary("shift_right_logical", x, y);
  }
  Value subtract(Value x, Value y) { return binary("subtract", x, y); }

  /// An i1 tensor: false where `x` is infinite or no number.
  Value isFinite(Value x);
  /// Compares floats by IEEE rules (not in total order), integers by their
  /// signedness.
  Value compare(Comparison direction, Value lhs, Value rhs);
  Value select(Value predicate, Value onTrue, Value onFalse);
  Value clamp(Value minimum, Value operand, Value maximum);
  /// Nothing is built if the element type is already `elementType`.
  Value convert(Value operand, Type elementType);
  Value bitcastConvert(Value operand, RankedTensorType resultType);
  Value reducePrecision(Value operand, unsigned exponentBits,
                        unsigned mantissaBits);

  //===--------------------------------------------------------------------===//
  // Shapes
  //===--------------------------------------------------------------------===//

  /// `dimensions[i]` is the dimension of the result that dimension `i` of the
  /// operand becomes.
  Value broadcastInDim(Value operand, ArrayRef<int64_t> shape,
                       ArrayRef<int64_t> dimensions);
  /// Nothing is built if the shape is already `shape`.
  Value reshape(Value operand, ArrayRef<int64_t> shape);
  Value transpose(Value operand, ArrayRef<int64_t> permutation);
  Value reverse(Value operand, ArrayRef<int64_t> dimensions);
  /// All strides are 1 if `strides` is empty.
  Value slice(Value operand, ArrayRef<int64_t> starts, ArrayRef<int64_t> limits,
              ArrayRef<int64_t> strides = {});
  /// `value` is a rank-0 tensor; no interior padding if `interior` is empty.
  Value pad(Value operand, Value value, ArrayRef<int64_t> low,
            ArrayRef<int64_t> high, ArrayRef<int64_t> interior = {});
  Value concatenate(ValueRange operands, int64_t dimension);
  /// The block of shape `sizes` at `starts`, one rank-0 integer per dimension.
  Value dynamicSlice(Value operand, ValueRange starts, ArrayRef<int64_t> sizes);
  /// `operand` with `update` in place of the block at `starts`.
  Value dynamicUpdateSlice(Value operand, Value update, ValueRange starts);

  //===--------------------------------------------------------------------===//
  // The rest
  //===--------------------------------------------------------------------===//

  /// Combines the elements along `dimensions`, starting with the rank-0 `init`.
  Value reduce(Value operand, Value init, ArrayRef<int64_t> dimensions,
               Combiner combiner);
  /// The same, starting with the neutral element of `combiner`.
  Value reduce(Value operand, ArrayRef<int64_t> dimensions, Combiner combiner);

  /// Sums of products in full precision of the element type. The result has the
  /// dimensions `batch`, then those of `lhs` and of `rhs` that remain.
  Value dotGeneral(Value lhs, Value rhs, ArrayRef<int64_t> lhsBatch,
                   ArrayRef<int64_t> rhsBatch, ArrayRef<int64_t> lhsContracting,
                   ArrayRef<int64_t> rhsContracting);

  /// Runs `body` for the numbers 0, 1, ... below `count`, which it gets as a
  /// rank-0 i32 with the values that it carries; it returns those of the next
  /// iteration. Returns the last ones.
  SmallVector<Value>
  countedLoop(int64_t count, ValueRange carried,
              function_ref<SmallVector<Value>(Value, ValueRange)> body);

  /// The operands again, available only once all of them are.
  SmallVector<Value> optimizationBarrier(ValueRange operands);
  func::CallOp call(func::FuncOp callee, ValueRange operands);

  /// `text` as an attribute of the dialect, e.g. `precision HIGHEST` for
  /// `#stablehlo<precision HIGHEST>`.
  Attribute dialectAttr(StringRef text) const;

private:
  RankedTensorType typeOf(Value value) const {
    return cast<RankedTensorType>(value.getType());
  }
  NamedAttribute named(StringRef name, Attribute value) const {
    return builder.getNamedAttr(name, value);
  }
  NamedAttribute named(StringRef name, ArrayRef<int64_t> values) const {
    return builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(values));
  }
  Value floatScalar(Type elementType, double value);
  Value integerScalar(Type elementType, int64_t value);
  Value neutral(Type elementType, Combiner combiner);

  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::act

#endif // ACT_DIALECT_STABLEHLOSHELL_STABLEHLOBUILDER_H
