//===- UpstreamModels.cpp - Models of the upstream dialects ---------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinalgModels.h"
#include "LoopModels.h"
#include "act/Analysis/OpModel/Bounds.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::bounds;

namespace {
enum Flags : unsigned {
  None = 0,
  Jumps = 1,      ///< a small change can change the result by a jump
  JumpsToInt = 2, ///< the same if floats become something else
  Squashes = 4,   ///< huge finite operands come out small
  PassesBound = 8 ///< elements come from the operands of the result's type
};
} // namespace

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// The greatest or least element of a constant operand.
static Bound getConstantOperand(Value value, bool wantLeast) {
  DenseIntElementsAttr elements;
  IntegerAttr scalar;
  if (matchPattern(value, m_Constant(&scalar)))
    return scalar.getValue().getActiveBits() <= 64
               ? Bound(scalar.getValue().getZExtValue())
               : std::nullopt;
  if (!matchPattern(value, m_Constant(&elements)) || elements.empty())
    return std::nullopt;
  if (!wantLeast)
    return getGreatestElement(elements, /*isSigned=*/false);
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (const APInt &element : elements.getValues<APInt>()) {
    if (element.getActiveBits() > 64)
      return std::nullopt;
    least = std::min(least, element.getZExtValue());
  }
  return least;
}

/// Bounds of arith operations, which read the same bits as signed or unsigned.
static Bound getArithBound(Operation *op, ArrayRef<Bound> operands) {
  auto type =
      dyn_cast<IntegerType>(getElementTypeOrSelf(op->getResult(0).getType()));
  if (!type)
    return std::nullopt;
  uint64_t max = bounds::getMax(type.getWidth());
  uint64_t signedMax = bounds::getMax(type.getWidth() - 1);
  auto both = [&](uint64_t limit) {
    return fits(operands[0], limit) && fits(operands[1], limit);
  };
  auto least = [&] { return getConstantOperand(op->getOperand(1), true); };
  return llvm::TypeSwitch<Operation *, Bound>(op)
      .Case([&](arith::ConstantOp constant) {
        if (auto scalar = dyn_cast<IntegerAttr>(constant.getValue()))
          return Bound(scalar.getValue().getActiveBits() <= 64
                           ? Bound(scalar.getValue().getZExtValue())
                           : std::nullopt);
        return getGreatestElement(constant.getValue(), /*isSigned=*/false);
      })
      .Case([&](arith::AndIOp) { return lesser(operands[0], operands[1]); })
      .Case<arith::OrIOp, arith::XOrIOp>(
          [&](auto) { return unionOfBits(operands[0], operands[1]); })
      .Case([&](arith::AddIOp) {
        return fits(sum(operands[0], operands[1]), max);
      })
      .Case([&](arith::MulIOp) {
        return fits(product(operands[0], operands[1]), max);
      })
      .Case([&](arith::ExtUIOp) { return operands[0]; })
      .Case([&](arith::ExtSIOp ext) {
        unsigned width =
            getElementTypeOrSelf(ext.getIn()).getIntOrFloatBitWidth();
        return fits(operands[0], bounds::getMax(width - 1));
      })
      .Case([&](arith::TruncIOp) { return fits(operands[0], max); })
      .Case([&](arith::MinUIOp) { return lesser(operands[0], operands[1]); })
      .Case([&](arith::MaxUIOp) { return greater(operands[0], operands[1]); })
      .Case([&](arith::MinSIOp) {
        return both(signedMax) ? lesser(operands[0], operands[1]) : Bound();
      })
      .Case([&](arith::MaxSIOp) {
        return both(signedMax) ? greater(operands[0], operands[1]) : Bound();
      })
      .Case([&](arith::ShRUIOp) { return shiftedRight(operands[0], least()); })
      .Case([&](arith::DivUIOp) { return quotient(operands[0], least()); })
      .Case([&](arith::RemUIOp) {
        return remainder(operands[0], least(),
                         getConstantOperand(op->getOperand(1), false));
      })
      .Case([&](arith::SelectOp) { return greater(operands[1], operands[2]); })
      .Default([](Operation *) { return Bound(); });
}

/// The greatest bound of the operands that have the result's element type.
static Bound getPassedBound(Operation *op, ArrayRef<Bound> operands) {
  Type elementType = getElementTypeOrSelf(op->getResult(0).getType());
  SmallVector<Bound> passed;
  for (auto [operand, bound] : llvm::zip_equal(op->getOperands(), operands))
    if (getElementTypeOrSelf(operand.getType()) == elementType)
      passed.push_back(bound);
  return greatest(passed);
}

//===----------------------------------------------------------------------===//
// Integers and rows
//===----------------------------------------------------------------------===//

static std::optional<LinearForm>
getArithForm(Operation *op, ArrayRef<std::optional<LinearForm>> forms) {
  if (llvm::is_contained(forms, std::nullopt))
    return std::nullopt;
  using Form = std::optional<LinearForm>;
  return llvm::TypeSwitch<Operation *, Form>(op)
      .Case<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(
          [&](auto) { return forms[0]; })
      .Case([&](arith::AddIOp) { return *forms[0] + *forms[1]; })
      .Case([&](arith::SubIOp) { return *forms[0] - *forms[1]; })
      .Case([&](arith::MulIOp) { return forms[0]->times(*forms[1]); })
      .Default([](Operation *) { return Form(); });
}

/// The first offset if a slice with these parameters is one whole row of
/// `type`.
static Value getRowIndex(OffsetSizeAndStrideOpInterface slice,
                         RankedTensorType type) {
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
  if (type.getRank() == 0 || offsets.size() != size_t(type.getRank()) ||
      !slice.hasUnitStride())
    return {};
  for (auto [i, size] : llvm::enumerate(slice.getMixedSizes()))
    if (getConstantIntValue(size) != (i == 0 ? 1 : type.getDimSize(i)))
      return {};
  if (llvm::any_of(ArrayRef(offsets).drop_front(), [](OpFoldResult offset) {
        return getConstantIntValue(offset) != 0;
      }))
    return {};
  return dyn_cast<Value>(offsets.front());
}

static std::optional<RowAccess> getTensorRowRead(Operation *op) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
  if (!slice)
    return std::nullopt;
  Value index = getRowIndex(slice, slice.getSourceType());
  if (!index)
    return std::nullopt;
  return RowAccess{slice.getSource(), index, slice.getResult()};
}

static std::optional<RowAccess> getTensorRowWrite(Operation *op) {
  auto slice = dyn_cast<tensor::InsertSliceOp>(op);
  if (!slice)
    return std::nullopt;
  Value index = getRowIndex(slice, slice.getDestType());
  if (!index)
    return std::nullopt;
  return RowAccess{slice.getDest(), index, slice.getSource()};
}

//===----------------------------------------------------------------------===//
// Model
//===----------------------------------------------------------------------===//

static bool anyInside(Operation *op, function_ref<bool(Operation *)> test) {
  return op
      ->walk([&](Operation *inner) {
        return inner != op && test(inner) ? WalkResult::interrupt()
                                          : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
template <typename OpTy, OpKind kind, unsigned flags>
struct Model : OpModelInterface::ExternalModel<Model<OpTy, kind, flags>, OpTy> {
  OpKind getOpKind(Operation *) const { return kind; }
  bool isCheapToRecompute(Operation *op) const {
    return isCheapKind(kind) && !anyInside(op, [](Operation *inner) {
             return !inner->hasTrait<OpTrait::IsTerminator>() &&
                    !act::isCheapToRecompute(inner);
           });
  }
  bool isDiscontinuous(Operation *op) const {
    if constexpr ((flags & Jumps) != 0)
      return true;
    if ((flags & JumpsToInt) != 0 &&
        isa<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType())) &&
        !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
      return true;
    return op->getNumRegions() != 0 && anyInside(op, [](Operation *inner) {
             return act::isDiscontinuous(inner);
           });
  }
  bool squashesRange(Operation *) const { return (flags & Squashes) != 0; }
  bool isExponential(Operation *op) const {
    return isa<math::ExpOp, math::Exp2Op, math::ExpM1Op>(op);
  }
  SmallVector<Value> getSelectedValues(Operation *op) const {
    if (auto select = dyn_cast<arith::SelectOp>(op))
      return {select.getTrueValue(), select.getFalseValue()};
    return {};
  }
  Attribute getConstantElements(Operation *op) const {
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      return constant.getValue();
    return {};
  }
  Bound getUpperBound(Operation *op, ArrayRef<Bound> operands) const {
    if (op->getNumResults() != 1)
      return std::nullopt;
    if ((flags & PassesBound) != 0)
      return getPassedBound(op, operands);
    return getArithBound(op, operands);
  }
  std::optional<LinearForm>
  getLinearForm(Operation *op,
                ArrayRef<std::optional<LinearForm>> operandForms) const {
    return getArithForm(op, operandForms);
  }
  bool isReshape(Operation *op) const {
    return isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
               tensor::ReshapeOp>(op);
  }
  std::optional<RowAccess> getRowRead(Operation *op) const {
    return getTensorRowRead(op);
  }
  std::optional<RowAccess> getRowWrite(Operation *op) const {
    return getTensorRowWrite(op);
  }
  double getFlops(Operation *op) const {
    bool computes = kind != OpKind::View && kind != OpKind::Broadcast &&
                    kind != OpKind::Indexing && kind != OpKind::Constant;
    return computes ? getDefaultFlops(op) : 0;
  }
};
} // namespace

/// Gives all of `Ops` the same model.
template <OpKind kind, unsigned flags, typename... Ops>
static void attach(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops, kind, flags>>(*context), ...);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static void attachArith(MLIRContext *context, arith::ArithDialect *) {
  using namespace arith;
  attach<OpKind::Constant, None, ConstantOp>(context);
  attach<OpKind::Elementwise, None, AddFOp, AddIOp, AddUIExtendedOp, AndIOp,
         CeilDivSIOp, CeilDivUIOp, CmpIOp, DivFOp, DivSIOp, DivUIOp, ExtFOp,
         ExtSIOp, ExtUIOp, FloorDivSIOp, IndexCastOp, IndexCastUIOp, MaxNumFOp,
         MaxSIOp, MaxUIOp, MaximumFOp, MinNumFOp, MinSIOp, MinUIOp, MinimumFOp,
         MulFOp, MulIOp, MulSIExtendedOp, MulUIExtendedOp, NegFOp, OrIOp,
         RemSIOp, RemUIOp, SIToFPOp, ScalingExtFOp, ScalingTruncFOp, SelectOp,
         ShLIOp, ShRSIOp, ShRUIOp, SubFOp, SubIOp, TruncFOp, TruncIOp, UIToFPOp,
         XOrIOp>(context);
  attach<OpKind::Elementwise, Jumps, FPToSIOp, FPToUIOp, RemFOp>(context);
  attach<OpKind::Elementwise, JumpsToInt, BitcastOp>(context);
  attach<OpKind::Elementwise, Jumps | Squashes, CmpFOp>(context);
}

static void attachMath(MLIRContext *context, math::MathDialect *) {
  using namespace math;
  attach<OpKind::Elementwise, None, AbsFOp, AbsIOp, AcosOp, AcoshOp, AsinOp,
         AsinhOp, AtanhOp, CbrtOp, ClampFOp, CosOp, CoshOp, CountLeadingZerosOp,
         CountTrailingZerosOp, CtPopOp, FPowIOp, FmaOp, IPowIOp, Log10Op,
         Log1pOp, Log2Op, LogOp, PowFOp, RsqrtOp, SinOp, SincosOp, SinhOp,
         SqrtOp, TanOp>(context);
  attach<OpKind::Elementwise, Squashes, AtanOp, ErfOp, ErfcOp, Exp2Op, ExpM1Op,
         ExpOp, TanhOp>(context);
  attach<OpKind::Elementwise, Jumps, Atan2Op, CeilOp, CopySignOp, FloorOp,
         RoundEvenOp, RoundOp, TruncOp>(context);
  attach<OpKind::Elementwise, Jumps | Squashes, IsFiniteOp, IsInfOp, IsNaNOp,
         IsNormalOp>(context);
}

static void attachTensor(MLIRContext *context, tensor::TensorDialect *) {
  using namespace tensor;
  attach<OpKind::Constant, None, EmptyOp>(context);
  attach<OpKind::View, JumpsToInt, BitcastOp>(context);
  attach<OpKind::View, PassesBound, CastOp, CollapseShapeOp, ExpandShapeOp>(
      context);
  attach<OpKind::View, None, ReshapeOp>(context);
  attach<OpKind::Broadcast, PassesBound, SplatOp>(context);
  attach<OpKind::Broadcast, None, GenerateOp>(context);
  attach<OpKind::Indexing, PassesBound, ConcatOp, ExtractOp, ExtractSliceOp,
         FromElementsOp, InsertOp, InsertSliceOp>(context);
  attach<OpKind::Indexing, None, GatherOp, PadOp>(context);
  attach<OpKind::Scatter, None, ScatterOp>(context);
}

static void attachSCF(MLIRContext *context, scf::SCFDialect *) {
  using namespace scf;
  attach<OpKind::Control, None, ExecuteRegionOp, ForOp, ForallOp, IfOp,
         IndexSwitchOp, ParallelOp, WhileOp>(context);
  attachLoopModels(context);
}

void mlir::act::registerUpstreamOpModels(DialectRegistry &registry) {
  registry.addExtension(attachArith);
  registry.addExtension(attachMath);
  registry.addExtension(attachTensor);
  registry.addExtension(attachSCF);
  registry.addExtension(attachLinalgModels);
}
