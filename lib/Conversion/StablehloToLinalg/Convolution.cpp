//===- Convolution.cpp - Convolutions -------------------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PopulatePatterns.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "act/Dialect/StablehloShell/AttributeText.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

using Dims = SmallVector<int64_t>;

namespace {
/// What the attributes of a convolution say; dimensions by role, as in
/// act.convolution.
struct ConvolutionNumbers {
  Dims lhs, rhs, out;
  Dims strides, padding, lhsDilation, rhsDilation;
  SmallVector<bool> reversal;
  int64_t featureGroups = 1, batchGroups = 1;

  LogicalResult read(Operation *op, int64_t rank);

private:
  LogicalResult readDims(Operation *op, int64_t rank);
  LogicalResult readPadding(Operation *op, int64_t count);
  LogicalResult readReversal(Operation *op, int64_t count);
};
} // namespace

/// The dimension that each role has in `list`, where `roles` names the first
/// two; empty if one is missing or there are others.
static Dims getRoles(ArrayRef<StringRef> list, StringRef roles) {
  Dims dims(list.size(), -1);
  if (list.size() < 2)
    return {};
  for (auto [dim, entry] : llvm::enumerate(list)) {
    uint64_t role = entry.size() == 1 ? roles.find(entry) : StringRef::npos;
    if (role == StringRef::npos) {
      if (entry.getAsInteger(10, role))
        return {};
      role += 2;
    }
    if (role >= dims.size() || dims[role] != -1)
      return {};
    dims[role] = dim;
  }
  return dims;
}

LogicalResult ConvolutionNumbers::readDims(Operation *op, int64_t rank) {
  // `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`
  std::string text = shell::getText(op, "dimension_numbers");
  lhs = getRoles(shell::getList(text, "<"), "bf");
  rhs = getRoles(shell::getList(text, "]x"), "io");
  out = getRoles(shell::getList(text, "->"), "bf");
  for (const Dims &dims : {lhs, rhs, out})
    if (static_cast<int64_t>(dims.size()) != rank)
      return op->emitOpError("expects 'dimension_numbers' of ")
             << rank << " dimensions, got " << op->getAttr("dimension_numbers");
  return success();
}

LogicalResult ConvolutionNumbers::readPadding(Operation *op, int64_t count) {
  padding.assign(2 * count, 0);
  Attribute attribute = op->getAttr("padding");
  if (!attribute)
    return success();
  auto values = dyn_cast<DenseIntElementsAttr>(attribute);
  if (!values || !values.getElementType().isInteger(64) ||
      values.getType().getShape() != ArrayRef<int64_t>{count, 2})
    return op->emitOpError("expects ")
           << count << "x2 integers of i64 as 'padding', got " << attribute;
  padding = llvm::to_vector(values.getValues<int64_t>());
  return success();
}

LogicalResult ConvolutionNumbers::readReversal(Operation *op, int64_t count) {
  reversal.assign(count, false);
  Attribute attribute = op->getAttr("window_reversal");
  if (!attribute)
    return success();
  auto values = dyn_cast<DenseBoolArrayAttr>(attribute);
  if (!values || values.size() != count)
    return op->emitOpError("expects ")
           << count << " booleans as 'window_reversal', got " << attribute;
  llvm::copy(values.asArrayRef(), reversal.begin());
  return success();
}

LogicalResult ConvolutionNumbers::read(Operation *op, int64_t rank) {
  int64_t count = rank - 2;
  if (failed(readDims(op, rank)) || failed(readPadding(op, count)) ||
      failed(readReversal(op, count)))
    return failure();
  FailureOr<Dims> given[] = {getIntegers(op, "window_strides", count, 1),
                             getIntegers(op, "lhs_dilation", count, 1),
                             getIntegers(op, "rhs_dilation", count, 1)};
  for (const FailureOr<Dims> &values : given)
    if (failed(values))
      return failure();
  strides = *given[0];
  lhsDilation = *given[1];
  rhsDilation = *given[2];
  constexpr int64_t limit = std::numeric_limits<int64_t>::max();
  FailureOr<int64_t> groups[] = {getInteger(op, "feature_group_count", limit),
                                 getInteger(op, "batch_group_count", limit)};
  if (failed(groups[0]) || failed(groups[1]))
    return failure();
  featureGroups = *groups[0];
  batchGroups = *groups[1];
  return success();
}

/// Takes a reversal of spatial dimensions off the windows, to walk them
/// backwards instead: gradients with respect to inputs have one.
static Value skipReversal(Value rhs, ConvolutionNumbers &numbers) {
  Operation *producer = rhs.getDefiningOp();
  if (!producer || producer->getName().getStringRef() != "stablehlo.reverse" ||
      producer->getNumOperands() != 1)
    return rhs;
  auto dims = producer->getAttrOfType<DenseI64ArrayAttr>("dimensions");
  ArrayRef<int64_t> spatial = ArrayRef(numbers.rhs).drop_front(2);
  if (!dims || !llvm::all_of(dims.asArrayRef(), [&](int64_t dim) {
        return llvm::is_contained(spatial, dim);
      }))
    return rhs;
  for (auto [i, dim] : llvm::enumerate(spatial))
    if (getTensorType(rhs).getDimSize(dim) > 1 &&
        llvm::is_contained(dims.asArrayRef(), dim))
      numbers.reversal[i] = !numbers.reversal[i];
  return producer->getOperand(0);
}

static LogicalResult lowerConvolution(Operation *op, Lowering &lowering) {
  RankedTensorType lhs = getTensorType(op->getOperand(0));
  RankedTensorType rhs = getTensorType(op->getOperand(1));
  RankedTensorType type = getTensorType(op->getResult(0));
  for (RankedTensorType operand : {lhs, rhs, type})
    if (!operand.getElementType().isF64() &&
        !operand.getElementType().isF32() &&
        !operand.getElementType().isF16() && !operand.getElementType().isBF16())
      return op->emitOpError("expects f16, bf16, f32 or f64, got ") << operand;
  ConvolutionNumbers numbers;
  if (failed(numbers.read(op, lhs.getRank())))
    return failure();
  // Operands of unlike types meet in that of the sums.
  Value left = lowering.get(op->getOperand(0));
  Value right = lowering.get(skipReversal(op->getOperand(1), numbers));
  Type element = lhs.getElementType();
  if (element != rhs.getElementType()) {
    element = element.isF64() || rhs.getElementType().isF64()
                  ? lowering.getBuilder().getF64Type()
                  : lowering.getBuilder().getF32Type();
    left = lowering.createFloatCast(left, element);
    right = lowering.createFloatCast(right, element);
  }
  bool isWidened =
      type.getElementType().isF32() && element.getIntOrFloatBitWidth() == 16;
  RankedTensorType outType =
      isWidened ? type : RankedTensorType::get(type.getShape(), element);
  ImplicitLocOpBuilder &b = lowering.getBuilder();
  auto getDims = [&](const Dims &dims) { return b.getDenseI64ArrayAttr(dims); };
  // Without those that say nothing.
  auto getUnless = [&](int64_t usual, const Dims &values) {
    return llvm::all_equal(values) && (values.empty() || values[0] == usual)
               ? DenseI64ArrayAttr()
               : getDims(values);
  };
  DenseBoolArrayAttr reversal;
  if (llvm::is_contained(numbers.reversal, true))
    reversal = b.getDenseBoolArrayAttr(numbers.reversal);
  auto convolution = ConvolutionOp::create(
      b, outType, left, right, lowering.createEmpty(outType),
      getDims(numbers.lhs), getDims(numbers.rhs), getDims(numbers.out),
      getUnless(1, numbers.strides), getUnless(0, numbers.padding),
      getUnless(1, numbers.lhsDilation), getUnless(1, numbers.rhsDilation),
      reversal, b.getI64IntegerAttr(numbers.featureGroups),
      b.getI64IntegerAttr(numbers.batchGroups));
  Value out = convolution.getResult();
  lowering.mapResult(op, lowering.createFloatCast(out, type.getElementType()));
  return success();
}

void mlir::act::lowering::populateConvolutionPatterns(
    LoweringPatterns &patterns) {
  patterns.add("stablehlo.convolution", 2, lowerConvolution);
}
