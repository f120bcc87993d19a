//===- Lowering.h - The state of a lowering to linalg -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions are lowered operation by operation into new blocks beside the old
// ones. MLIR's dialect conversion is not used: signs of integers, which the new
// types do not tell, stay visible on the old values, a body is lowered as often
// as an unrolled loop runs, and the time is linear in the number of operations.
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_STABLEHLOTOLINALG_LOWERING_H
#define ACT_LIB_CONVERSION_STABLEHLOTOLINALG_LOWERING_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::act::lowering {

class Lowering;

/// Lowers one operation: builds what replaces it and maps its results.
using Lower = LogicalResult (*)(Operation *op, Lowering &lowering);

/// Computes the only element of the result of an elementwise operation from
/// elements of its operands. The operation tells original types and attributes.
using EmitScalar = Value (*)(ImplicitLocOpBuilder &b, Operation *op,
                             ValueRange operands);

/// Checks the attributes of an elementwise operation.
using VerifyAttributes = LogicalResult (*)(Operation *op);

/// The element types that an elementwise operation takes.
enum class Elements {
  Any,             ///< one type for operands and result
  Floats,          ///< one type of floats
  Integers,        ///< one type of integers or booleans
  ToBoolean,       ///< one type for operands, booleans as results
  FloatsToBoolean, ///< one type of floats for operands, booleans as results
  Selected,        ///< a boolean operand, then two of the type of the result
  Converted        ///< any type for the operand and for the result
};

/// What is known about operations, by their full names.
class LoweringPatterns {
public:
  struct Entry {
    /// The number of operands, -1 if it varies.
    int numOperands = -1;
    /// One of these two is set.
    Lower lower = nullptr;
    EmitScalar emitScalar = nullptr;
    Elements elements = Elements::Any;
    VerifyAttributes verifyAttributes = nullptr;
  };

  void add(StringRef name, int numOperands, Lower lower) {
    entries[name] = {numOperands, lower};
  }
  /// An elementwise operation with one result. Operands may be rank-0 tensors
  /// beside others.
  void addElementwise(StringRef name, int numOperands, Elements elements,
                      EmitScalar emitScalar,
                      VerifyAttributes verifyAttributes = nullptr) {
    entries[name] = {numOperands, nullptr, emitScalar, elements,
                     verifyAttributes};
  }
  /// Null if there is none.
  const Entry *find(Operation *op) const {
    auto it = entries.find(op->getName().getStringRef());
    return it == entries.end() ? nullptr : &it->second;
  }

private:
  llvm::StringMap<Entry> entries;
};

/// `type` with signless integers in place of others.
Type convertType(Type type);
RankedTensorType convertType(RankedTensorType type);

/// The type of a value that is a ranked tensor.
inline RankedTensorType getTensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// True for signed integers: signless ones except booleans.
bool isSigned(Type elementType);

/// What a contraction or sum of `elementType` adds up in: f32 for narrower
/// floats.
Type getAccumulatorType(Type elementType);

/// (d0, ..., dn) -> (d0, ..., dk) with `numResults` results, which may be none.
inline AffineMap getLeadingDimsMap(unsigned numDims, unsigned numResults,
                                   MLIRContext *context) {
  return AffineMap::getMultiDimIdentityMap(numDims, context)
      .getSliceMap(0, numResults);
}

/// Lowers the operations of one function.
class Lowering {
public:
  Lowering(const LoweringPatterns &patterns, func::FuncOp function);

  /// Replaces the body and the type of the function.
  LogicalResult run();

  const LoweringPatterns &getPatterns() const { return patterns; }
  /// At the place for what replaces the operation that is being lowered.
  ImplicitLocOpBuilder &getBuilder() { return builder; }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  /// The tensor that replaces `value`.
  Value get(Value value);
  SmallVector<Value> get(ValueRange values);
  void map(Value value, Value replacement);
  void mapResult(Operation *op, Value replacement) {
    map(op->getResult(0), replacement);
  }

  /// The same, computed anew if it is a splat constant: for operations that
  /// write into it, which would copy a constant.
  Value getWritable(Value value);

  /// The element of the rank-0 tensor that replaces `value`.
  Value getScalar(Value value);
  /// Null unless the element is known without reading a tensor.
  Value findScalar(Value value);
  void mapScalar(Value value, Value element);
  /// The element of a rank-0 tensor of integers, extended to `index` as its
  /// sign demands.
  Value getIndex(Value value);

  /// What loops and branches pass for `value`: rank-0 integers as elements,
  /// which often are counters or positions, others as tensors.
  Value getPassed(Value value);
  Value getPassedWritable(Value value);
  static Type getPassedType(Value value);
  void mapPassed(Value value, Value passed);

  /// A constant at the start of the function; equal ones are one.
  Value getConstant(TypedAttr value);
  /// `element` in all places.
  Value getSplat(RankedTensorType type, Attribute element);
  Value getIndexConstant(int64_t value);
  /// The element of a constant whose elements are all the same, null for other
  /// values.
  static Attribute getSplatElement(Value value);

  //===--------------------------------------------------------------------===//
  // Operations
  //===--------------------------------------------------------------------===//

  /// Lowers all operations of `block` but its terminator, which must not use
  /// what follows. Arguments must have been mapped.
  LogicalResult lowerOps(Block &block);

  /// Fails with an error unless the region has one block with `numArguments`
  /// arguments that computes `numResults` rank-0 tensors by elementwise
  /// operations on rank-0 tensors.
  LogicalResult verifyScalarRegion(Operation *op, Region &region,
                                   unsigned numArguments, unsigned numResults);
  /// Computes what such a region returns from elements for its arguments.
  SmallVector<Value> emitScalarRegion(ImplicitLocOpBuilder &b, Region &region,
                                      ValueRange arguments);

  //===--------------------------------------------------------------------===//
  // Building
  //===--------------------------------------------------------------------===//

  using EmitBody =
      function_ref<SmallVector<Value>(ImplicitLocOpBuilder &, ValueRange)>;

  Value createEmpty(RankedTensorType type);
  /// A tensor that holds `element` everywhere.
  Value createFill(RankedTensorType type, Value element);
  /// A tensor that holds the element of the rank-0 tensor that replaces
  /// `value`.
  Value createSplatOf(RankedTensorType type, Value value);
  /// `linalg.generic` on tensors; one map for every input and output.
  SmallVector<Value> createGeneric(ValueRange inputs, ValueRange outputs,
                                   ArrayRef<AffineMap> maps,
                                   ArrayRef<utils::IteratorType> iterators,
                                   EmitBody emitBody);
  /// The same with parallel loops over an uninitialised result of `type`; one
  /// map for every input.
  Value createParallel(RankedTensorType type, ValueRange inputs,
                       ArrayRef<AffineMap> inputMaps, EmitBody emitBody);
  /// The elements of `value`, in order, in another shape with as many.
  Value createReshape(Value value, ArrayRef<int64_t> shape);
  /// `value` with its elements converted between float types.
  Value createFloatCast(Value value, Type elementType);
  /// A part with offsets and strides known now.
  Value createSlice(Value value, ArrayRef<int64_t> offsets,
                    ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides);
  /// `value` with its dimensions in another order: dimension i of the result
  /// is `permutation[i]` of `value`.
  Value createTranspose(Value value, ArrayRef<int64_t> permutation);
  /// `value` amid copies of the element of `padding`, a rank-0 tensor of the
  /// original program; negative numbers cut off.
  Value createPad(Value value, Value padding, ArrayRef<int64_t> low,
                  ArrayRef<int64_t> high, ArrayRef<int64_t> interior);
  /// The index moved into the range that keeps a block of `size` inside
  /// `limit`; one rank-0 integer of the original program.
  Value createClampedStart(Value start, int64_t limit, int64_t size);

private:
  LogicalResult lower(Operation &op);
  /// Computes an elementwise operation outside of tensors if all elements of
  /// its operands are known: rank-0 integers, which steer loops and slices, and
  /// what folds, of every type and shape. Returns false if that is not so.
  bool lowerToElement(Operation *op, EmitScalar emitScalar);
  LogicalResult lowerElementwise(Operation *op,
                                 const LoweringPatterns::Entry &entry);
  /// Operations of other dialects, on converted types.
  LogicalResult cloneOp(Operation &op);
  LogicalResult verify(Operation *op, const LoweringPatterns::Entry &entry);
  void convertSignature();

  const LoweringPatterns &patterns;
  func::FuncOp function;
  ImplicitLocOpBuilder builder;
  DenseMap<Value, Value> tensors;
  DenseMap<Value, Value> scalars;
  DenseMap<Attribute, Value> constants;
  Operation *lastConstant = nullptr;
};

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The integers of an attribute, an error unless there are `count`. If it is
/// missing they are all `otherwise`, if that is given.
FailureOr<SmallVector<int64_t>>
getIntegers(Operation *op, StringRef name, int64_t count,
            std::optional<int64_t> otherwise = std::nullopt);

/// An integer attribute, an error if it is missing or not in [0, limit).
FailureOr<int64_t> getInteger(Operation *op, StringRef name, int64_t limit);

/// An error unless `dims` are distinct numbers below `rank`.
LogicalResult verifyDims(Operation *op, StringRef what, ArrayRef<int64_t> dims,
                         int64_t rank);

/// The numbers below `rank` that none of `without` holds.
SmallVector<int64_t> getOtherDims(int64_t rank,
                                  ArrayRef<ArrayRef<int64_t>> without);

/// An error unless `value`, described by `what`, has the type `type`.
LogicalResult verifyType(Operation *op, const Twine &what, Type got,
                         Type expected);

/// An error unless `value` has shape `shape`.
LogicalResult verifyShape(Operation *op, const Twine &what, Value value,
                          ArrayRef<int64_t> shape);

} // namespace mlir::act::lowering

#endif // ACT_LIB_CONVERSION_STABLEHLOTOLINALG_LOWERING_H
