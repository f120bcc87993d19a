//===- OpModel.cpp - What act knows about operations ----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/OpModel/OpModel.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::act;

#include "act/Analysis/OpModel/OpModelInterface.cpp.inc"

StringRef mlir::act::stringifyOpKind(OpKind kind) {
  switch (kind) {
  case OpKind::Elementwise:
    return "elementwise";
  case OpKind::View:
    return "view";
  case OpKind::Broadcast:
    return "broadcast";
  case OpKind::Indexing:
    return "indexing";
  case OpKind::Reduction:
    return "reduction";
  case OpKind::Contraction:
    return "contraction";
  case OpKind::Scatter:
    return "scatter";
  case OpKind::Sort:
    return "sort";
  case OpKind::Random:
    return "random";
  case OpKind::Constant:
    return "constant";
  case OpKind::Control:
    return "control";
  case OpKind::Barrier:
    return "barrier";
  case OpKind::Opaque:
    return "opaque";
  }
  llvm_unreachable("unknown kind");
}

bool mlir::act::isCheapKind(OpKind kind) {
  switch (kind) {
  case OpKind::Elementwise:
  case OpKind::View:
  case OpKind::Broadcast:
  case OpKind::Indexing:
  case OpKind::Constant:
    return true;
  default:
    return false;
  }
}

double mlir::act::getDefaultFlops(Operation *op) {
  double elements = 0;
  for (Type type : op->getResultTypes())
    elements += static_cast<double>(getNumElements(type).value_or(0));
  return elements;
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

OpKind mlir::act::getOpKind(Operation *op) {
  if (auto model = dyn_cast<OpModelInterface>(op))
    return model.getOpKind();
  return op->hasTrait<OpTrait::ConstantLike>() ? OpKind::Constant
                                               : OpKind::Opaque;
}

bool mlir::act::isCheapToRecompute(Operation *op) {
  if (auto model = dyn_cast<OpModelInterface>(op))
    return model.isCheapToRecompute();
  return op->hasTrait<OpTrait::ConstantLike>();
}

bool mlir::act::isDiscontinuous(Operation *op) {
  auto model = dyn_cast<OpModelInterface>(op);
  return model && model.isDiscontinuous();
}

SmallVector<Value> mlir::act::getSingularOperands(Operation *op) {
  auto model = dyn_cast<OpModelInterface>(op);
  return model ? model.getSingularOperands() : SmallVector<Value>();
}

bool mlir::act::keepsZero(Operation *op) {
  OpKind kind = getOpKind(op);
  if (kind == OpKind::View || kind == OpKind::Broadcast)
    return true;
  auto model = dyn_cast<OpModelInterface>(op);
  return model && model.keepsZero();
}

bool mlir::act::squashesRange(Operation *op) {
  auto model = dyn_cast<OpModelInterface>(op);
  return model && model.squashesRange();
}

Value mlir::act::getCopiedValue(Operation *op, Value first) {
  auto model = dyn_cast<OpModelInterface>(op);
  return model ? model.getCopiedValue(first) : Value();
}

bool mlir::act::isReshape(Operation *op) {
  auto model = dyn_cast<OpModelInterface>(op);
  return model && model.isReshape();
}

bool mlir::act::isExponential(Operation *op) {
  auto model = dyn_cast<OpModelInterface>(op);
  return model && model.isExponential();
}

/// True if `value` is a function of reductions and constants alone.
static bool isMadeOfReductions(Value value, unsigned depth = 6) {
  Operation *def = value.getDefiningOp();
  if (!def || depth == 0)
    return false;
  OpKind kind = getOpKind(def);
  if (kind == OpKind::Reduction || kind == OpKind::Constant)
    return true;
  bool passesThrough = kind == OpKind::View || kind == OpKind::Broadcast ||
                       kind == OpKind::Elementwise || kind == OpKind::Barrier;
  return passesThrough && llvm::all_of(def->getOperands(), [&](Value operand) {
           return isMadeOfReductions(operand, depth - 1);
         });
}

bool mlir::act::hasBoundedRange(Operation *op) {
  if (getOpKind(op) != OpKind::Elementwise || !squashesRange(op))
    return false;
  if (!isExponential(op))
    return true;
  Operation *difference = op->getOperand(0).getDefiningOp();
  return difference && getOpKind(difference) == OpKind::Elementwise &&
         difference->getNumOperands() == 2 &&
         isMadeOfReductions(difference->getOperand(1));
}

SmallVector<Value> mlir::act::getSelectedValues(Operation *op) {
  if (auto model = dyn_cast<OpModelInterface>(op))
    return model.getSelectedValues();
  return {};
}

Attribute mlir::act::getConstantElements(Operation *op) {
  if (auto model = dyn_cast<OpModelInterface>(op))
    return model.getConstantElements();
  Attribute value;
  if (op->hasTrait<OpTrait::ConstantLike>() &&
      matchPattern(op, m_Constant(&value)))
    return value;
  return {};
}

std::optional<RowAccess> mlir::act::getRowRead(Operation *op) {
  auto model = dyn_cast<OpModelInterface>(op);
  return model ? model.getRowRead() : std::nullopt;
}

std::optional<RowAccess> mlir::act::getRowWrite(Operation *op) {
  auto model = dyn_cast<OpModelInterface>(op);
  return model ? model.getRowWrite() : std::nullopt;
}

std::optional<FeatureDims> mlir::act::getFeatureDims(Operation *op) {
  auto model = dyn_cast<OpModelInterface>(op);
  return model ? model.getFeatureDims() : std::nullopt;
}

/// `getLinearForm` of at most `budget` operations.
static std::optional<LinearForm> walkLinearForm(Value value, Value x,
                                                unsigned &budget) {
  if (value == x)
    return LinearForm{1, 0};
  auto model = dyn_cast_or_null<OpModelInterface>(value.getDefiningOp());
  if (!model || budget == 0)
    return std::nullopt;
  --budget;
  Attribute attr = model.getConstantElements();
  if (auto scalar = dyn_cast_or_null<IntegerAttr>(attr))
    return LinearForm{0, scalar.getValue().getSExtValue()};
  if (auto dense = dyn_cast_or_null<DenseIntElementsAttr>(attr)) {
    if (dense.getNumElements() != 1)
      return std::nullopt;
    return LinearForm{0, dense.getSplatValue<APInt>().getSExtValue()};
  }
  SmallVector<std::optional<LinearForm>> forms;
  for (Value operand : model->getOperands())
    forms.push_back(walkLinearForm(operand, x, budget));
  return model.getLinearForm(forms);
}

std::optional<LinearForm> mlir::act::getLinearForm(Value value, Value x) {
  unsigned budget = 32;
  return walkLinearForm(value, x, budget);
}

bool mlir::act::isZeroConstant(Value value) {
  Operation *def = value.getDefiningOp();
  auto elements =
      def ? dyn_cast_or_null<DenseElementsAttr>(getConstantElements(def))
          : nullptr;
  if (!elements || !elements.isSplat())
    return false;
  if (auto number = dyn_cast<FloatAttr>(elements.getSplatValue<Attribute>()))
    return number.getValue().isZero();
  auto number = dyn_cast<IntegerAttr>(elements.getSplatValue<Attribute>());
  return number && number.getValue().isZero();
}

bool mlir::act::hasContraction(Operation *op) {
  return getOpKind(op) == OpKind::Contraction || op->hasAttr(kSlicedAttr);
}

SmallVector<IterationAxis> mlir::act::getIterationAxes(Operation *op) {
  if (auto model = dyn_cast<OpModelInterface>(op))
    return model.getIterationAxes();
  return {};
}

Operation *mlir::act::buildPart(Operation *op, OpBuilder &builder,
                                ValueRange operands, const IterationAxis &axis,
                                int64_t length, Value offset) {
  return cast<OpModelInterface>(op).buildPart(builder, operands, axis, length,
                                              offset);
}

Operation *mlir::act::cloneWithLength(Operation *op, OpBuilder &builder,
                                      ValueRange operands,
                                      ArrayRef<int64_t> resultDims,
                                      int64_t length) {
  IRMapping mapping;
  mapping.map(op->getOperands(), operands);
  Operation *copy = builder.clone(*op, mapping);
  copy->setOperands(operands);
  for (auto [result, dim] : llvm::zip_equal(copy->getResults(), resultDims)) {
    if (dim < 0)
      continue;
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[dim] = length;
    result.setType(type.clone(shape));
  }
  return copy;
}

double mlir::act::getFlops(Operation *op) {
  if (auto model = dyn_cast<OpModelInterface>(op))
    return model.getFlops();
  return getDefaultFlops(op);
}

SmallVector<Value> mlir::act::getAllOperands(Operation *op) {
  if (op->getNumRegions() == 0) {
    llvm::SmallSetVector<Value, 4> operands(op->operand_begin(),
                                            op->operand_end());
    return operands.takeVector();
  }
  llvm::SetVector<Value, SmallVector<Value>> operands;
  op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (inner == op ||
          !op->isAncestor(operand.getParentRegion()->getParentOp()))
        operands.insert(operand);
  });
  return operands.takeVector();
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

std::optional<int64_t> mlir::act::getNumElements(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return std::nullopt;
  return tensor.getNumElements();
}

/// Bytes of one element of type `type` held in full.
static std::optional<int64_t> getElementBytes(Type type) {
  if (auto complex = dyn_cast<ComplexType>(type)) {
    std::optional<int64_t> part = getElementBytes(complex.getElementType());
    return part ? std::optional<int64_t>(2 * *part) : std::nullopt;
  }
  if (isa<IndexType>(type))
    return IndexType::kInternalStorageBitWidth / 8;
  if (!type.isIntOrFloat())
    return std::nullopt;
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

std::optional<int64_t> mlir::act::getTensorBytes(Type type) {
  std::optional<int64_t> elements = getNumElements(type);
  if (!elements)
    return std::nullopt;
  std::optional<int64_t> bytes =
      getElementBytes(cast<RankedTensorType>(type).getElementType());
  return bytes ? std::optional<int64_t>(*elements * *bytes) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

std::optional<uint64_t> mlir::act::getGreatestElement(Attribute elements,
                                                      bool isSigned) {
  auto values = dyn_cast_or_null<DenseIntElementsAttr>(elements);
  if (!values || values.empty())
    return std::nullopt;
  uint64_t greatest = 0;
  for (const APInt &value : values.getValues<APInt>()) {
    if (value.getActiveBits() > 64 || (isSigned && value.isNegative()))
      return std::nullopt;
    greatest = std::max(greatest, value.getZExtValue());
    if (values.isSplat())
      break;
  }
  return greatest;
}

/// The bound that follows from the type alone.
static std::optional<uint64_t> getTypeBound(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  if (!integer || integer.getWidth() > 64 ||
      !(integer.isUnsigned() || integer.getWidth() == 1))
    return std::nullopt;
  return llvm::maskTrailingOnes<uint64_t>(integer.getWidth());
}

namespace {
/// Bounds of values, each from those of its operands. Looks at no more than a
/// few dozen operations.
class BoundSolver {
public:
  std::optional<uint64_t> solve(Value root) {
    stack.push_back(root);
    while (!stack.empty()) {
      Value value = stack.back();
      if (bounds.contains(value) || visit(value))
        stack.pop_back();
    }
    return bounds.lookup(root);
  }

private:
  /// Finds the bound of `value`, or puts what it depends on on the stack.
  bool visit(Value value) {
    std::optional<uint64_t> typeBound = getTypeBound(value.getType());
    auto model = dyn_cast_or_null<OpModelInterface>(value.getDefiningOp());
    SmallVector<std::optional<uint64_t>> operandBounds;
    if (model && !getOperandBounds(model, operandBounds))
      return false;
    std::optional<uint64_t> bound;
    if (model && model.getOpKind() == OpKind::Barrier &&
        operandBounds.size() == model->getNumResults())
      bound = operandBounds[cast<OpResult>(value).getResultNumber()];
    else if (model && model->getNumResults() == 1)
      bound = model.getUpperBound(operandBounds);
    if (!bound || (typeBound && *typeBound < *bound))
      bound = typeBound;
    bounds[value] = bound;
    return true;
  }

  /// False if operands had to be put on the stack first.
  bool getOperandBounds(Operation *op,
                        SmallVectorImpl<std::optional<uint64_t>> &result) {
    size_t height = stack.size();
    for (Value operand : op->getOperands()) {
      if (isa<IntegerType, IndexType>(
              getElementTypeOrSelf(operand.getType())) &&
          !bounds.contains(operand)) {
        if (budget > 0) {
          --budget;
          stack.push_back(operand);
        } else {
          bounds[operand] = getTypeBound(operand.getType());
        }
      }
      result.push_back(bounds.lookup(operand));
    }
    return stack.size() == height;
  }

  SmallVector<Value> stack;
  DenseMap<Value, std::optional<uint64_t>> bounds;
  int budget = 64;
};
} // namespace

std::optional<uint64_t> mlir::act::getUpperBound(Value value) {
  return BoundSolver().solve(value);
}
