//===- Elementwise.cpp - Elementwise operations as linalg.generic ---------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static bool isSupported(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() &&
         isa<IntegerType, FloatType>(tensor.getElementType());
}

static LogicalResult verifySupported(Operation *op, TypeRange types,
                                     StringRef what) {
  for (auto [i, type] : llvm::enumerate(types))
    if (!isSupported(type))
      return op->emitOpError("expects ranked tensors of static shape with "
                             "elements that are integers or floats, got ")
             << type << " as " << what << " #" << i;
  return success();
}

/// Shapes of operands are that of the result or (), for scalars.
static LogicalResult verifyShapes(Operation *op) {
  ArrayRef<int64_t> shape = getTensorType(op->getResult(0)).getShape();
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto type = getTensorType(operand);
    if (type.getRank() != 0 && type.getShape() != shape)
      return op->emitOpError("expects operands of the shape of the result, ")
             << op->getResult(0).getType() << ", got " << type
             << " as operand #" << i;
  }
  return success();
}

/// Checks element types by `elements`; `first` is the first operand that has
/// the common type.
static LogicalResult verifyElements(Operation *op, Elements elements) {
  if (elements == Elements::Converted)
    return success();
  unsigned first = elements == Elements::Selected ? 1 : 0;
  auto getElement = [&](Value value) {
    return getElementTypeOrSelf(value.getType());
  };
  Type common = getElement(op->getOperand(first));
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (i >= first && getElement(operand) != common)
      return op->emitOpError("expects operands of one element type, got ")
             << common << " and " << getElement(operand);
  if (first == 1 && !getElement(op->getOperand(0)).isInteger(1))
    return op->emitOpError("expects a predicate of i1, got ")
           << op->getOperand(0).getType();
  Type result = getElement(op->getResult(0));
  bool isTest =
      elements == Elements::ToBoolean || elements == Elements::FloatsToBoolean;
  Type expected = isTest ? Type(IntegerType::get(op->getContext(), 1)) : common;
  if (result != expected)
    return op->emitOpError("expects a result with elements of ")
           << expected << ", got " << result;
  bool areFloats =
      elements == Elements::Floats || elements == Elements::FloatsToBoolean;
  if (areFloats && !isa<FloatType>(common))
    return op->emitOpError("expects elements that are floats, got ") << common;
  if (elements == Elements::Integers && !isa<IntegerType>(common))
    return op->emitOpError("expects elements that are integers, got ")
           << common;
  return success();
}

LogicalResult Lowering::verify(Operation *op,
                               const LoweringPatterns::Entry &entry) {
  if (entry.numOperands >= 0 &&
      op->getNumOperands() != static_cast<unsigned>(entry.numOperands))
    return op->emitOpError("expects ")
           << entry.numOperands << " operands, got " << op->getNumOperands();
  if (failed(verifySupported(op, op->getOperandTypes(), "operand")) ||
      failed(verifySupported(op, op->getResultTypes(), "result")))
    return failure();
  if (!entry.emitScalar)
    return success();
  if (op->getNumResults() != 1)
    return op->emitOpError("expects one result, got ") << op->getNumResults();
  if (failed(verifyShapes(op)) || failed(verifyElements(op, entry.elements)))
    return failure();
  return entry.verifyAttributes ? entry.verifyAttributes(op) : success();
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

bool Lowering::lowerToElement(Operation *op, EmitScalar emitScalar) {
  SmallVector<Value> known;
  for (Value operand : op->getOperands()) {
    Value element =
        getTensorType(operand).getRank() == 0 ? findScalar(operand) : Value();
    if (!element)
      if (Attribute constant = getSplatElement(tensors.lookup(operand)))
        element = getConstant(cast<TypedAttr>(constant));
    if (!element)
      return false;
    known.push_back(element);
  }
  RankedTensorType type = convertType(getTensorType(op->getResult(0)));
  Value element = emitScalar(builder, op, known);
  Attribute constant;
  if (matchPattern(element, m_Constant(&constant))) {
    mapResult(op, getSplat(type, constant));
    return true;
  }
  if (type.getRank() != 0 || !isa<IntegerType>(type.getElementType()))
    return false;
  mapScalar(op->getResult(0), element);
  return true;
}

LogicalResult Lowering::lowerElementwise(Operation *op,
                                         const LoweringPatterns::Entry &entry) {
  if (lowerToElement(op, entry.emitScalar))
    return success();
  RankedTensorType type = convertType(getTensorType(op->getResult(0)));
  unsigned rank = type.getRank();

  // Splat constants become constants in the body; equal operands are one.
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  SmallVector<Attribute> splats;
  SmallVector<unsigned> positions;
  for (Value operand : op->getOperands()) {
    Value input = get(operand);
    splats.push_back(getSplatElement(input));
    auto *it = llvm::find(inputs, input);
    positions.push_back(it - inputs.begin());
    if (splats.back() || it != inputs.end())
      continue;
    inputs.push_back(input);
    maps.push_back(getTensorType(input).getRank() == 0
                       ? AffineMap::get(rank, 0, builder.getContext())
                       : builder.getMultiDimIdentityMap(rank));
  }
  auto emitBody = [&](ImplicitLocOpBuilder &b, ValueRange arguments) {
    SmallVector<Value> elements;
    for (auto [splat, position] : llvm::zip_equal(splats, positions))
      elements.push_back(
          splat
              ? arith::ConstantOp::create(b, cast<TypedAttr>(splat)).getResult()
              : arguments[position]);
    return SmallVector<Value>{entry.emitScalar(b, op, elements)};
  };
  mapResult(op, createParallel(type, inputs, maps, emitBody));
  return success();
}
