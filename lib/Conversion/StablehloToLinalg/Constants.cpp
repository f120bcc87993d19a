//===- Constants.cpp - Constants and numbers in order ---------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PopulatePatterns.h"
#include "ScalarBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

static LogicalResult lowerConstant(Operation *op, Lowering &lowering) {
  RankedTensorType type = getTensorType(op->getResult(0));
  RankedTensorType to = convertType(type);
  auto elements = dyn_cast_or_null<ElementsAttr>(op->getAttr("value"));
  if (!elements || elements.getType() != type)
    return op->emitOpError("expects elements of the type of the result, ")
           << type << ", as 'value', got " << op->getAttr("value");
  if (auto dense = dyn_cast<DenseElementsAttr>(elements)) {
    lowering.mapResult(op, lowering.getConstant(cast<TypedAttr>(
                               dense.bitcast(to.getElementType()))));
    return success();
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    auto same = DenseResourceElementsAttr::get(to, resource.getRawHandle());
    lowering.mapResult(op, lowering.getConstant(cast<TypedAttr>(same)));
    return success();
  }
  return op->emitOpError("expects dense elements as 'value', got ") << elements;
}

/// Numbers along one dimension.
static LogicalResult lowerIota(Operation *op, Lowering &lowering) {
  RankedTensorType type = getTensorType(op->getResult(0));
  FailureOr<int64_t> dimension =
      getInteger(op, "iota_dimension", type.getRank());
  if (failed(dimension))
    return failure();
  RankedTensorType to = convertType(type);
  Type element = to.getElementType();
  auto emitBody = [&](ImplicitLocOpBuilder &b, ValueRange) {
    Value index = linalg::IndexOp::create(b, *dimension);
    if (isa<IntegerType>(element))
      return SmallVector<Value>{emit<arith::IndexCastOp>(b, element, index)};
    Value number = emit<arith::IndexCastOp>(b, b.getI64Type(), index);
    return SmallVector<Value>{emit<arith::SIToFPOp>(b, element, number)};
  };
  lowering.mapResult(op, lowering.createParallel(to, {}, {}, emitBody));
  return success();
}

void mlir::act::lowering::populateConstantPatterns(LoweringPatterns &patterns) {
  patterns.add("stablehlo.constant", 0, lowerConstant);
  patterns.add("stablehlo.iota", 0, lowerIota);
}
