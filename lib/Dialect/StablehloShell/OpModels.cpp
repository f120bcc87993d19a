//===- OpModels.cpp - Models of the StableHLO operations ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StandInOp.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::shell;

/// The CHLO function that the composite operation `op` names, if it does.
static const OpRow *getCompositeRow(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>("name");
  if (!name || !name.getValue().starts_with("chlo."))
    return nullptr;
  StringRef function = name.getValue().drop_front(strlen("chlo."));
  const OpRow *row = llvm::find_if(
      getChloOps(), [&](const OpRow &row) { return row.name == function; });
  return row == getChloOps().end() ? nullptr : row;
}

void EffectsModel::getEffects(
    Operation *op,
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) const {
  if (const OpRow *composite = getCompositeRow(op))
    if (composite->effects == OpEffects::Pure)
      return;
  if (auto sideEffect = op->getAttrOfType<BoolAttr>("has_side_effect"))
    if (!sideEffect.getValue())
      return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

const OpRow &StandInOpModel::getRow(Operation *op) const {
  if (row->effects == OpEffects::Attributes)
    if (const OpRow *composite = getCompositeRow(op))
      return *composite;
  return *row;
}

OpKind StandInOpModel::getOpKind(Operation *op) const {
  OpKind kind = getRow(op).kind;
  // A bitcast to another width moves bits between elements.
  if (row->has(OpFlags::JumpsToInt) && op->getNumOperands() == 1 &&
      op->getNumResults() == 1) {
    auto from = dyn_cast<ShapedType>(op->getOperand(0).getType());
    auto to = dyn_cast<ShapedType>(op->getResult(0).getType());
    if (from && to && from.hasRank() && to.hasRank() &&
        from.getRank() != to.getRank())
      return OpKind::View;
  }
  return kind;
}

bool StandInOpModel::isCheapToRecompute(Operation *op) const {
  if (!isCheapKind(getOpKind(op)))
    return false;
  // The body of a map.
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      if (!inner.hasTrait<OpTrait::IsTerminator>() &&
          !act::isCheapToRecompute(&inner))
        return false;
  return true;
}

static bool isFloatLike(Type type) {
  return isa<FloatType, ComplexType>(getElementTypeOrSelf(type));
}

bool StandInOpModel::isDiscontinuous(Operation *op) const {
  const OpRow &row = getRow(op);
  if (row.has(OpFlags::Jumps))
    return true;
  bool ofFloats =
      op->getNumOperands() > 0 && isFloatLike(op->getOperand(0).getType());
  if (row.has(OpFlags::JumpsOnFloat) && ofFloats)
    return true;
  if (row.has(OpFlags::JumpsToInt) && ofFloats && op->getNumResults() == 1 &&
      !isFloatLike(op->getResult(0).getType()))
    return true;
  if (op->getNumRegions() == 0)
    return false;
  WalkResult result = op->walk([&](Operation *inner) {
    bool jumps = inner != op && act::isDiscontinuous(inner);
    return jumps ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

bool StandInOpModel::squashesRange(Operation *op) const {
  return getRow(op).has(OpFlags::Squashes);
}

/// True if `op` rounds to a precision that is not below that of its type.
static bool keepsPrecision(Operation *op) {
  auto type =
      dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  auto exponent = op->getAttrOfType<IntegerAttr>("exponent_bits");
  auto mantissa = op->getAttrOfType<IntegerAttr>("mantissa_bits");
  if (!type || !exponent || !mantissa)
    return false;
  unsigned mantissaWidth = type.getFPMantissaWidth() - 1;
  return mantissa.getValue().uge(mantissaWidth) &&
         exponent.getValue().uge(type.getWidth() - 1 - mantissaWidth);
}

/// The operand of `concatenate` that `slice` cuts out again, or null.
static Value getSlicedOperand(Operation *slice, Operation *concatenate) {
  auto dimension = concatenate->getAttrOfType<IntegerAttr>("dimension");
  auto starts = slice->getAttrOfType<DenseI64ArrayAttr>("start_indices");
  auto strides = slice->getAttrOfType<DenseI64ArrayAttr>("strides");
  if (!dimension || !starts || !strides ||
      llvm::any_of(strides.asArrayRef(), [](int64_t s) { return s != 1; }))
    return {};
  int64_t axis = dimension.getInt(), offset = 0;
  for (auto [i, start] : llvm::enumerate(starts.asArrayRef()))
    if (start != 0 && static_cast<int64_t>(i) != axis)
      return {};
  for (Value operand : concatenate->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || axis >= type.getRank() || axis >= starts.size())
      return {};
    if (starts[axis] == offset && type == slice->getResult(0).getType())
      return operand;
    offset += type.getDimSize(axis);
  }
  return {};
}

Value StandInOpModel::getCopiedValue(Operation *op, Value first) const {
  StringRef name = op->getName().getStringRef();
  if (name == "stablehlo.reduce_precision")
    return keepsPrecision(op) ? first : Value();
  if (name == "stablehlo.convert")
    return first.getType() == op->getResult(0).getType() ? first : Value();
  Operation *def = first.getDefiningOp();
  if (name == "stablehlo.slice" && def &&
      def->getName().getStringRef() == "stablehlo.concatenate")
    return getSlicedOperand(op, def);
  return {};
}

bool StandInOpModel::isExponential(Operation *op) const {
  return getRow(op).has(OpFlags::Exponential);
}

SmallVector<Value> StandInOpModel::getSelectedValues(Operation *op) const {
  if (!row->has(OpFlags::Selects) || op->getNumOperands() != 3)
    return {};
  return {op->getOperand(1), op->getOperand(2)};
}

SmallVector<Value> StandInOpModel::getSingularOperands(Operation *op) const {
  if (row->has(OpFlags::DividesBySecond) && op->getNumOperands() == 2)
    return {op->getOperand(1)};
  if (row->has(OpFlags::SingularInFirst) && op->getNumOperands() > 0)
    return {op->getOperand(0)};
  return {};
}

bool StandInOpModel::keepsZero(Operation *op) const {
  return getRow(op).has(OpFlags::KeepsZero);
}

Attribute StandInOpModel::getConstantElements(Operation *op) const {
  if (row->kind != OpKind::Constant)
    return {};
  return op->getAttrOfType<ElementsAttr>("value");
}

std::optional<uint64_t> StandInOpModel::getUpperBound(
    Operation *op, ArrayRef<std::optional<uint64_t>> operandBounds) const {
  return computeUpperBound(getRow(op), op, operandBounds);
}

double StandInOpModel::getFlops(Operation *op) const {
  return computeFlops(getOpKind(op), op);
}

//===----------------------------------------------------------------------===//
// Flops
//===----------------------------------------------------------------------===//

/// Elements of `type`, 0 if unknown.
static double countElements(Type type) {
  return static_cast<double>(getNumElements(type).value_or(0));
}

/// 2 m n k: the lengths of the contracted dimensions follow from the dimension
/// numbers, which are text here.
static double getDotFlops(Operation *op) {
  auto lhs = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  double results = countElements(op->getResult(0).getType());
  if (!lhs)
    return 2 * results;
  std::string numbers = getText(op, "dot_dimension_numbers");
  if (numbers.empty()) // dot contracts the last dimension
    return 2 * results *
           (lhs.getRank() ? lhs.getDimSize(lhs.getRank() - 1) : 1);
  double contracted = 1;
  for (StringRef entry : getList(numbers, "lhs_contracting_dimensions")) {
    int64_t dimension;
    if (!entry.getAsInteger(10, dimension) && dimension >= 0 &&
        dimension < lhs.getRank())
      contracted *= lhs.getDimSize(dimension);
  }
  return 2 * results * contracted;
}

/// Twice the kernel elements that meet in one result element, for each; a
/// dilated operand is mostly padding, which counts for nothing.
static double getConvolutionFlops(Operation *op) {
  auto kernel = dyn_cast<RankedTensorType>(op->getOperand(1).getType());
  double results = countElements(op->getResult(0).getType());
  if (!kernel || !kernel.hasStaticShape())
    return 2 * results;
  double taps = countElements(kernel);
  std::string numbers = getText(op, "dimension_numbers");
  SmallVector<StringRef> kernelDims = getList(numbers, "]x");
  for (auto [i, name] : llvm::enumerate(kernelDims))
    if (name == "o" && i < static_cast<size_t>(kernel.getRank()))
      taps /= std::max<int64_t>(kernel.getDimSize(i), 1);
  if (auto dilation = op->getAttrOfType<DenseI64ArrayAttr>("lhs_dilation"))
    for (int64_t factor : dilation.asArrayRef())
      taps /= std::max<int64_t>(factor, 1);
  return 2 * results * taps;
}

std::optional<FeatureDims> StandInOpModel::getFeatureDims(Operation *op) const {
  if (op->getName().stripDialect() != "convolution" ||
      op->getNumOperands() != 2 || op->getNumResults() != 1)
    return std::nullopt;
  // `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`
  std::string text = getText(op, "dimension_numbers");
  auto find = [&](StringRef key, Value value) -> int64_t {
    SmallVector<StringRef> dims = getList(text, key);
    auto type = dyn_cast<RankedTensorType>(value.getType());
    StringRef *found = llvm::find(dims, "f");
    bool fits = type && type.getRank() == static_cast<int64_t>(dims.size());
    return fits && found != dims.end() ? found - dims.begin() : -1;
  };
  FeatureDims dims{find("<", op->getOperand(0)), find("->", op->getResult(0))};
  if (dims.operand < 0 || dims.result < 0)
    return std::nullopt;
  return dims;
}

static double getContractionFlops(Operation *op) {
  if (op->getNumOperands() < 2 || op->getNumResults() != 1)
    return getDefaultFlops(op);
  StringRef name = op->getName().stripDialect();
  if (name == "dot" || name == "dot_general")
    return getDotFlops(op);
  if (name.ends_with("convolution") || name.ends_with("conv"))
    return getConvolutionFlops(op);
  // (m k)(k n)(m n) = (m n k)^2, too much if there are batch dimensions.
  return 2 * std::sqrt(countElements(op->getOperand(0).getType()) *
                       countElements(op->getOperand(1).getType()) *
                       countElements(op->getResult(0).getType()));
}

static double getReductionFlops(Operation *op) {
  double elements = 0;
  if (auto window = op->getAttrOfType<DenseI64ArrayAttr>("window_dimensions")) {
    elements = getDefaultFlops(op);
    for (int64_t size : window.asArrayRef())
      elements *= size;
    return elements;
  }
  // Half of the operands are initial values, of one element.
  for (Type type : op->getOperandTypes())
    elements += countElements(type);
  return elements;
}

double mlir::act::shell::computeFlops(OpKind kind, Operation *op) {
  switch (kind) {
  case OpKind::View:
  case OpKind::Broadcast:
  case OpKind::Indexing:
  case OpKind::Constant:
  case OpKind::Barrier:
    return 0;
  case OpKind::Contraction:
    return getContractionFlops(op);
  case OpKind::Reduction:
    return getReductionFlops(op);
  case OpKind::Scatter:
    return op->getNumOperands()
               ? countElements(op->getOperands().back().getType())
               : 0;
  default:
    return getDefaultFlops(op);
  }
}
