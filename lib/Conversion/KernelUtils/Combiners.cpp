//===- Combiners.cpp - How reductions combine ----------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelUtils/Combiners.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::act;

static TypedAttr getFloat(Type type, double value) {
  return FloatAttr::get(type, value);
}

static TypedAttr getInteger(Type type, const APInt &value) {
  return IntegerAttr::get(type, value);
}

/// The neutral element of `op` on `type`, or null.
static TypedAttr getNeutral(Operation *op, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    double infinity = std::numeric_limits<double>::infinity();
    return TypeSwitch<Operation *, TypedAttr>(op)
        .Case<arith::AddFOp>([&](auto) { return getFloat(type, -0.0); })
        .Case<arith::MulFOp>([&](auto) { return getFloat(type, 1); })
        .Case<arith::MaximumFOp, arith::MaxNumFOp>(
            [&](auto) { return getFloat(type, -infinity); })
        .Case<arith::MinimumFOp, arith::MinNumFOp>(
            [&](auto) { return getFloat(type, infinity); })
        .Default([](Operation *) { return TypedAttr(); });
  }
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return {};
  unsigned width = integer.getWidth();
  return TypeSwitch<Operation *, TypedAttr>(op)
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](auto) { return getInteger(type, APInt::getZero(width)); })
      .Case<arith::MulIOp>(
          [&](auto) { return getInteger(type, APInt(width, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>(
          [&](auto) { return getInteger(type, APInt::getAllOnes(width)); })
      .Case<arith::MaxSIOp>([&](auto) {
        return getInteger(type, APInt::getSignedMinValue(width));
      })
      .Case<arith::MinSIOp>([&](auto) {
        return getInteger(type, APInt::getSignedMaxValue(width));
      })
      .Default([](Operation *) { return TypedAttr(); });
}

std::optional<SmallVector<Combiner>>
mlir::act::getCombiners(linalg::GenericOp op) {
  SmallVector<Combiner> combiners;
  Block *body = op.getBody();
  auto yield = cast<linalg::YieldOp>(body->getTerminator());
  for (auto [i, result] : llvm::enumerate(yield.getOperands())) {
    BlockArgument accumulated = body->getArgument(op.getNumDpsInputs() + i);
    Operation *combiner = result.getDefiningOp();
    if (!combiner || combiner->getBlock() != body ||
        combiner->getNumOperands() != 2 || !accumulated.hasOneUse() ||
        !llvm::is_contained(combiner->getOperands(), accumulated))
      return std::nullopt;
    TypedAttr neutral = getNeutral(combiner, result.getType());
    if (!neutral || !result.hasOneUse())
      return std::nullopt;
    Value reduced = combiner->getOperand(0) == accumulated
                        ? combiner->getOperand(1)
                        : combiner->getOperand(0);
    combiners.push_back({combiner, reduced, neutral});
  }
  return combiners;
}
