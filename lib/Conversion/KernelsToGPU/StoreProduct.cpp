//===- StoreProduct.cpp - Results of products to memory -------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoreProduct.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::act;

/// `type`, or a vector of `count` of it.
static Type getVectorType(Type type, int64_t count) {
  return count == 1 ? type : VectorType::get(count, type);
}

/// Stores `values` to neighbours at `address`.
static void storeValues(GpuKernelBuilder &kernel, Value address,
                        Type elementType, ArrayRef<Value> values, bool adds) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  auto count = static_cast<int64_t>(values.size());
  Type sumType = getVectorType(values[0].getType(), count);
  Type storedType = getVectorType(elementType, count);
  Value sum = values[0];
  if (count > 1)
    sum = vector::FromElementsOp::create(b, cast<VectorType>(sumType), values);
  if (adds) {
    Value before = kernel.load(storedType, address);
    if (storedType != sumType)
      before = arith::ExtFOp::create(b, sumType, before);
    sum = arith::AddFOp::create(b, before, sum);
  }
  if (storedType != sumType)
    sum = arith::TruncFOp::create(b, storedType, sum);
  kernel.store(sum, address);
}

TileEpilogue mlir::act::getStoreEpilogue(GpuKernelBuilder &kernel,
                                         FactorAccess &out, bool adds) {
  auto emit = [&kernel, &out, adds](Value row, Value column,
                                    ArrayRef<Value> values) {
    ImplicitLocOpBuilder &b = kernel.getBuilder();
    PositionMath math(kernel);
    auto count = static_cast<int64_t>(values.size());
    int64_t vector = std::min(out.sumVector, count);
    for (int64_t first = 0; first < count; first += vector) {
      OpBuilder::InsertionGuard guard(b);
      Value position = math.add(column, first);
      if (first != 0 && out.sumExtent % count != 0) {
        auto inside =
            scf::IfOp::create(b, math.isLess(position, out.sumExtent), false);
        b.setInsertionPointToStart(inside.thenBlock());
      }
      Value address = kernel.getAddress(out.pointer, out.elementType,
                                        out.getOffset(kernel, row, position));
      storeValues(kernel, address, out.elementType, values.slice(first, vector),
                  adds);
    }
  };
  return {out.outerExtent, out.sumExtent, emit};
}
