//===- SelectAndScatter.cpp - Values back to what windows chose -----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two loops without conflicts: one chooses for every window the position of an
// element of the operand, the other combines for every element the source
// values of the windows that chose it, in the order of windows. Windows may
// overlap.
//
//===----------------------------------------------------------------------===//

#include "Combiner.h"
#include "ScalarBuilder.h"
#include "WindowNumbers.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

using Dims = SmallVector<int64_t>;
using arith::CmpIPredicate;

namespace {
class SelectAndScatterLowering {
public:
  SelectAndScatterLowering(Operation *op, Lowering &lowering)
      : op(op), lowering(lowering), builder(lowering.getBuilder()) {}

  LogicalResult lower();

private:
  LogicalResult verify();
  /// The linear position in the operand that each window chooses.
  Value createChosen();
  SmallVector<Value> emitChoice(ImplicitLocOpBuilder &b, ValueRange x);
  /// The windows' values at the chosen positions.
  Value createScattered(const Combiner &combiner, Value chosen);
  SmallVector<Value> emitScatter(ImplicitLocOpBuilder &b,
                                 const Combiner &combiner, Value accumulator,
                                 Value chosen, Value source);

  RankedTensorType getType() { return getTensorType(op->getOperand(0)); }
  int64_t getRank() { return getType().getRank(); }
  Value emitIndex(ImplicitLocOpBuilder &b, int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  /// An index as an element of the tensor of positions.
  Value emitPosition(ImplicitLocOpBuilder &b, Value index) {
    return emit<arith::IndexCastOp>(b, getPositionType(), index);
  }
  Type getPositionType() {
    return getType().getNumElements() <= std::numeric_limits<int32_t>::max()
               ? builder.getI32Type()
               : builder.getI64Type();
  }

  Operation *op;
  Lowering &lowering;
  ImplicitLocOpBuilder &builder;
  WindowNumbers numbers;
};
} // namespace

LogicalResult SelectAndScatterLowering::verify() {
  RankedTensorType type = getType();
  if (op->getNumRegions() != 2 || op->getNumResults() != 1)
    return op->emitOpError("expects two regions and one result");
  Region &select = op->getRegion(0);
  if (failed(numbers.read(op, type)) ||
      failed(lowering.verifyScalarRegion(op, select, 2, 1)) ||
      failed(verifyType(op, "operand #1", op->getOperand(1).getType(),
                        type.clone(numbers.resultShape))) ||
      failed(verifyType(op, "operand #2", op->getOperand(2).getType(),
                        type.clone(ArrayRef<int64_t>()))) ||
      failed(verifyType(op, "result", op->getResult(0).getType(), type)))
    return failure();
  auto element = type.clone(ArrayRef<int64_t>());
  for (BlockArgument argument : select.getArguments())
    if (failed(verifyType(op, "argument of the first region",
                          argument.getType(), element)))
      return failure();
  return verifyType(op, "result of the first region",
                    select.front().back().getOperand(0).getType(),
                    element.clone(builder.getI1Type()));
}

/// Compares with the element chosen so far, the first one if it is -1. Padding
/// is never chosen.
SmallVector<Value> SelectAndScatterLowering::emitChoice(ImplicitLocOpBuilder &b,
                                                        ValueRange x) {
  Value element = x[0], best = x[2], position = x[3];
  Value linear = emitIndex(b, 0), isInside;
  for (int64_t dim = 0, rank = getRank(); dim < rank; ++dim) {
    int64_t size = getType().getDimSize(dim);
    Value at = linalg::IndexOp::create(b, dim);
    at = emit<arith::MulIOp>(b, at, emitIndex(b, numbers.strides[dim]));
    const auto *it = llvm::find(numbers.windowDims, dim);
    if (it != numbers.windowDims.end())
      at = emit<arith::AddIOp>(
          b, at,
          linalg::IndexOp::create(b, rank + (it - numbers.windowDims.begin())));
    if (numbers.low[dim] != 0)
      at = emit<arith::SubIOp>(b, at, emitIndex(b, numbers.low[dim]));
    if (numbers.low[dim] > 0 || numbers.high[dim] > 0) {
      Value fits = emitCompare(b, CmpIPredicate::ult, at, emitIndex(b, size));
      isInside = isInside ? emit<arith::AndIOp>(b, isInside, fits) : fits;
    }
    linear = emit<arith::AddIOp>(
        b, emit<arith::MulIOp>(b, linear, emitIndex(b, size)), at);
  }
  Value isFirst = emitCompare(b, CmpIPredicate::slt, position,
                              emitConstant(b, position.getType(), 0));
  Value keeps =
      lowering.emitScalarRegion(b, op->getRegion(0), {best, element}).front();
  Value isBetter = emit<arith::OrIOp>(
      b, isFirst,
      emit<arith::XOrIOp>(b, keeps, emitConstant(b, keeps.getType(), 1)));
  if (isInside)
    isBetter = emit<arith::AndIOp>(b, isBetter, isInside);
  return {emitSelect(b, isBetter, element, best),
          emitSelect(b, isBetter, emitPosition(b, linear), position)};
}

Value SelectAndScatterLowering::createChosen() {
  MLIRContext *context = op->getContext();
  Type element = convertType(getType().getElementType());
  auto type = RankedTensorType::get(numbers.resultShape, element);
  Type position = getPositionType();
  Value padded = numbers.createPadded(lowering, lowering.get(op->getOperand(0)),
                                      op->getOperand(2));
  Value zero = lowering.getConstant(builder.getZeroAttr(element));
  Value none = lowering.getConstant(builder.getIntegerAttr(position, -1));
  SmallVector<Value> outputs{lowering.createFill(type, zero),
                             lowering.createFill(type.clone(position), none)};
  AffineMap maps[] = {
      numbers.getInputMap(context), numbers.getShapeMap(context),
      numbers.getResultMap(context), numbers.getResultMap(context)};
  return lowering.createGeneric({padded, numbers.createShape(lowering)},
                                outputs, maps, numbers.getIterators(),
                                [&](ImplicitLocOpBuilder &b, ValueRange x) {
                                  return emitChoice(b, x);
                                })[1];
}

/// One step for an element of the result and a number of a window that covers
/// it. Windows are counted from the first one.
SmallVector<Value> SelectAndScatterLowering::emitScatter(
    ImplicitLocOpBuilder &b, const Combiner &combiner, Value accumulator,
    Value chosen, Value source) {
  Value linear = emitIndex(b, 0), isWindow;
  SmallVector<Value> window;
  for (int64_t dim = 0, rank = getRank(); dim < rank; ++dim) {
    int64_t stride = numbers.strides[dim];
    Value at = linalg::IndexOp::create(b, dim);
    linear = emit<arith::AddIOp>(
        b,
        emit<arith::MulIOp>(b, linear, emitIndex(b, getType().getDimSize(dim))),
        at);
    // Counted in the padded operand, shifted by the longest window.
    Value start = emit<arith::AddIOp>(
        b, at, emitIndex(b, numbers.low[dim] - (numbers.sizes[dim] - 1)));
    const auto *it = llvm::find(numbers.windowDims, dim);
    if (it != numbers.windowDims.end())
      start = emit<arith::AddIOp>(
          b, start,
          linalg::IndexOp::create(b, rank + (it - numbers.windowDims.begin())));
    Value number = start;
    auto require = [&](Value condition) {
      isWindow =
          isWindow ? emit<arith::AndIOp>(b, isWindow, condition) : condition;
    };
    if (stride != 1) {
      number = emit<arith::DivUIOp>(b, start, emitIndex(b, stride));
      Value first = emit<arith::MulIOp>(b, number, emitIndex(b, stride));
      require(emitCompare(b, CmpIPredicate::eq, first, start));
    }
    // Negative ones are large as unsigned numbers.
    Value last = emitIndex(b, numbers.resultShape[dim] - 1);
    require(emitCompare(b, CmpIPredicate::ule, number, last));
    window.push_back(emit<arith::MinUIOp>(b, number, last));
  }
  Value position = tensor::ExtractOp::create(b, chosen, window);
  Value value = tensor::ExtractOp::create(b, source, window);
  Value isHit =
      emitCompare(b, CmpIPredicate::eq, position, emitPosition(b, linear));
  if (isWindow)
    isHit = emit<arith::AndIOp>(b, isWindow, isHit);
  Value combined = combiner.emit(b, accumulator, value).front();
  return {emitSelect(b, isHit, combined, accumulator)};
}

Value SelectAndScatterLowering::createScattered(const Combiner &combiner,
                                                Value chosen) {
  Value source = lowering.get(op->getOperand(1));
  SmallVector<Value> inits =
      combiner.createInits(getType().getShape(), op->getOperand(2));
  MLIRContext *context = op->getContext();
  AffineMap maps[] = {numbers.getShapeMap(context),
                      numbers.getResultMap(context)};
  SmallVector<Value> sums = lowering.createGeneric(
      numbers.createShape(lowering), inits, maps, numbers.getIterators(),
      [&](ImplicitLocOpBuilder &b, ValueRange x) {
        return emitScatter(b, combiner, x[1], chosen, source);
      });
  return combiner.createResults(sums).front();
}

LogicalResult SelectAndScatterLowering::lower() {
  if (failed(verify()))
    return failure();
  // The second region is the only one that combines.
  FailureOr<Combiner> combiner =
      Combiner::get(op, op->getRegion(1), lowering, getType().getElementType());
  if (failed(combiner))
    return failure();
  Value result;
  if (llvm::is_contained(numbers.resultShape, 0))
    result = lowering.createSplatOf(convertType(getType()), op->getOperand(2));
  else
    result = createScattered(*combiner, createChosen());
  lowering.mapResult(op, result);
  return success();
}

void mlir::act::lowering::populateSelectAndScatterPatterns(
    LoweringPatterns &patterns) {
  patterns.add("stablehlo.select_and_scatter", 3,
               [](Operation *op, Lowering &lowering) {
                 return SelectAndScatterLowering(op, lowering).lower();
               });
}
