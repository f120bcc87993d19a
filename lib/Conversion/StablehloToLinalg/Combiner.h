//===- Combiner.h - Combining elements by a region -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_STABLEHLOTOLINALG_COMBINER_H
#define ACT_LIB_CONVERSION_STABLEHLOTOLINALG_COMBINER_H

#include "Lowering.h"

namespace mlir::act::lowering {

/// An error unless the operands are inputs of one shape, one per result, and
/// their initial values. Tells the element types.
LogicalResult verifyInputsAndInits(Operation *op,
                                   SmallVectorImpl<Type> &elementTypes);

/// An error unless results have shape `shape` and these element types.
LogicalResult verifyResults(Operation *op, ArrayRef<int64_t> shape,
                            ArrayRef<Type> elementTypes);

/// What the region of a reduction does to accumulated and further elements, of
/// one or more tensors at once. Sums and products of narrow floats are kept in
/// f32 meanwhile.
class Combiner {
public:
  /// An error unless the region takes two rank-0 tensors of each of `types` and
  /// returns one.
  static FailureOr<Combiner> get(Operation *op, Region &region,
                                 Lowering &lowering,
                                 ArrayRef<Type> elementTypes);
  /// The same for the only region of `op`.
  static FailureOr<Combiner> get(Operation *op, Lowering &lowering,
                                 ArrayRef<Type> elementTypes);

  /// The type that a result of `elementType` is accumulated in.
  Type getAccumulatorType(Type elementType) const {
    return isWide ? lowering::getAccumulatorType(convertType(elementType))
                  : convertType(elementType);
  }
  /// Tensors of shape `shape` that hold the initial values `inits`.
  SmallVector<Value> createInits(ArrayRef<int64_t> shape,
                                 ValueRange inits) const;
  SmallVector<Value> emit(ImplicitLocOpBuilder &b, ValueRange accumulators,
                          ValueRange elements) const;
  /// The results in the types of the region.
  SmallVector<Value> createResults(ValueRange accumulators) const;

private:
  Combiner(Region &region, Lowering &lowering)
      : region(&region), lowering(&lowering) {}

  Region *region;
  Lowering *lowering;
  bool isWide = false;
};

} // namespace mlir::act::lowering

#endif // ACT_LIB_CONVERSION_STABLEHLOTOLINALG_COMBINER_H
