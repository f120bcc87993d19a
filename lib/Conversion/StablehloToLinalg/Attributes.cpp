//===- Attributes.cpp - Checked attributes of operations ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

FailureOr<SmallVector<int64_t>>
mlir::act::lowering::getIntegers(Operation *op, StringRef name, int64_t count,
                                 std::optional<int64_t> otherwise) {
  Attribute attribute = op->getAttr(name);
  if (!attribute && otherwise)
    return SmallVector<int64_t>(count, *otherwise);
  auto values = dyn_cast_or_null<DenseI64ArrayAttr>(attribute);
  if (!values || values.size() != count)
    return op->emitOpError("expects ")
           << count << " integers as '" << name << "', got " << attribute;
  return llvm::to_vector(values.asArrayRef());
}

FailureOr<int64_t>
mlir::act::lowering::getInteger(Operation *op, StringRef name, int64_t limit) {
  auto attribute = op->getAttrOfType<IntegerAttr>(name);
  if (!attribute || attribute.getValue().isNegative() ||
      attribute.getValue().sge(limit))
    return op->emitOpError("expects an integer in [0, ")
           << limit << ") as '" << name << "', got " << op->getAttr(name);
  return attribute.getValue().getSExtValue();
}

LogicalResult mlir::act::lowering::verifyDims(Operation *op, StringRef what,
                                              ArrayRef<int64_t> dims,
                                              int64_t rank) {
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim < 0 || dim >= rank || llvm::is_contained(dims.take_front(i), dim))
      return op->emitOpError("expects distinct dimensions below ")
             << rank << " as '" << what << "', got [" << dims << "]";
  return success();
}

SmallVector<int64_t>
mlir::act::lowering::getOtherDims(int64_t rank,
                                  ArrayRef<ArrayRef<int64_t>> without) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (llvm::none_of(without, [&](ArrayRef<int64_t> dims) {
          return llvm::is_contained(dims, dim);
        }))
      others.push_back(dim);
  return others;
}

LogicalResult mlir::act::lowering::verifyType(Operation *op, const Twine &what,
                                              Type got, Type expected) {
  if (got == expected)
    return success();
  return op->emitOpError("expects ")
         << expected << " as " << what << ", got " << got;
}

LogicalResult mlir::act::lowering::verifyShape(Operation *op, const Twine &what,
                                               Value value,
                                               ArrayRef<int64_t> shape) {
  RankedTensorType type = getTensorType(value);
  return verifyType(op, what, type, type.clone(shape));
}
