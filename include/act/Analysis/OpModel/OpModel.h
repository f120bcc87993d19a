//===- OpModel.h - What act knows about operations -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_ANALYSIS_OPMODEL_OPMODEL_H
#define ACT_ANALYSIS_OPMODEL_OPMODEL_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"
#include <cstdint>
#include <optional>

namespace mlir {
class DialectRegistry;
namespace act {

/// The classes of operations that passes tell apart.
enum class OpKind {
  Elementwise, ///< one result element from one element of each operand
  View,        ///< the same elements in another shape or order
  Broadcast,   ///< elements repeated along new axes, fills included
  Indexing,    ///< elements picked or placed: gather, slices, pad, concatenate
  Reduction,   ///< many elements combined into one, window forms included
  Contraction, ///< dot products and convolutions
  Scatter,     ///< elements combined into places given by indices
  Sort,        ///< elements ordered by comparison
  Random,      ///< random bits
  Constant,    ///< no operand, always the same result
  Control,     ///< loops and branches
  Barrier,     ///< identity that stops motion
  Opaque       ///< anything else: never recomputed
};

/// The integer `scale * x + offset` of one number x.
struct LinearForm {
  int64_t scale;
  int64_t offset;

  bool operator==(const LinearForm &other) const {
    return scale == other.scale && offset == other.offset;
  }
  bool operator!=(const LinearForm &other) const { return !(*this == other); }
  LinearForm operator+(const LinearForm &other) const {
    return {scale + other.scale, offset + other.offset};
  }
  LinearForm operator-(const LinearForm &other) const {
    return {scale - other.scale, offset - other.offset};
  }
  /// Nothing if the product is not linear.
  std::optional<LinearForm> times(const LinearForm &other) const {
    if (scale != 0 && other.scale != 0)
      return std::nullopt;
    return LinearForm{scale * other.offset + other.scale * offset,
                      offset * other.offset};
  }
};

/// An operation that reads or writes the row `index` of `stack`, a slice of
/// size 1 along the first axis. `row` is what was read or is written; it may
/// have or lack that axis.
struct RowAccess {
  Value stack;
  Value index;
  Value row;
};

/// The dimension of features in the first operand of a convolution and in its
/// result.
struct FeatureDims {
  int64_t operand;
  int64_t result;
};

/// How the iterations of an operation along an axis belong together.
enum class AxisKind {
  Parallel,  ///< each computes its own part of the results
  Reduction, ///< the results are the sums of what each computes
  Sequential ///< each needs a state that the one before leaves
};

/// An axis that an operation iterates over: the dimension of each operand and
/// result that it runs along, -1 where it runs along none.
struct IterationAxis {
  AxisKind kind = AxisKind::Parallel;
  SmallVector<int64_t, 4> operandDims;
  SmallVector<int64_t, 2> resultDims;
  /// For reductions, the operand that the parts are added to, if the operation
  /// has one, as `scatter` does: parts may be computed one after the other,
  /// each with the result of the one before as this operand. Else -1, and the
  /// parts are added up.
  int64_t accumulator = -1;
  /// For sequential axes, the state as operand and result: that before and that
  /// after a part, in the order of the iterations or against it.
  struct Carry {
    unsigned operand;
    unsigned result;
  };
  SmallVector<Carry, 2> carries;
  bool isReversed = false;
};

/// Name of `kind` as printed in reports, for example "contraction".
llvm::StringRef stringifyOpKind(OpKind kind);

/// True for kinds whose operations cost about as much as reading their
/// operands.
bool isCheapKind(OpKind kind);

/// Creates `op` again with other operands, and results that are `length` long
/// along `resultDims` (-1 for results that keep their type).
Operation *cloneWithLength(Operation *op, OpBuilder &builder,
                           ValueRange operands, ArrayRef<int64_t> resultDims,
                           int64_t length);

/// One flop per result element.
double getDefaultFlops(Operation *op);

} // namespace act
} // namespace mlir

#include "act/Analysis/OpModel/OpModelInterface.h.inc"

namespace mlir::act {

/// The class of `op`; `Opaque` without a model (`Constant` if it is
/// constant-like).
OpKind getOpKind(Operation *op);

/// See OpModelInterface; false without a model.
bool isCheapToRecompute(Operation *op);
bool isDiscontinuous(Operation *op);
bool squashesRange(Operation *op);
bool isReshape(Operation *op);
bool isExponential(Operation *op);

/// True if all elements that `op` computes are in a range known beforehand:
/// results of `tanh`, of `logistic`, and of exponentials of what a reduction
/// was subtracted from, as in softmax.
bool hasBoundedRange(Operation *op);

/// See OpModelInterface; empty without a model.
SmallVector<Value> getSelectedValues(Operation *op);

/// See OpModelInterface; empty without a model.
SmallVector<Value> getSingularOperands(Operation *op);

/// See OpModelInterface; views and broadcasts keep zeros too.
bool keepsZero(Operation *op);

/// See OpModelInterface; null without a model.
Attribute getConstantElements(Operation *op);

/// True for a constant of which all elements are zeros, of either sign.
bool isZeroConstant(Value value);

/// See OpModelInterface; null without a model.
Value getCopiedValue(Operation *op, Value first);

/// See OpModelInterface; nothing without a model.
std::optional<RowAccess> getRowRead(Operation *op);
std::optional<RowAccess> getRowWrite(Operation *op);

/// See OpModelInterface; nothing without a model.
std::optional<FeatureDims> getFeatureDims(Operation *op);

/// The form of the scalar integer `value` in terms of `x`, found by walking up
/// at most a few dozen operations.
std::optional<LinearForm> getLinearForm(Value value, Value x);

/// See OpModelInterface; empty without a model.
SmallVector<IterationAxis> getIterationAxes(Operation *op);
Operation *buildPart(Operation *op, OpBuilder &builder, ValueRange operands,
                     const IterationAxis &axis, int64_t length, Value offset);

/// See OpModelInterface; one flop per result element without a model.
double getFlops(Operation *op);

/// An inclusive upper bound of the elements of the integer tensor `value`,
/// found by walking up at most a few dozen operations.
std::optional<uint64_t> getUpperBound(Value value);

/// The greatest of constant integer elements; nothing if one is negative (where
/// `isSigned`) or `elements` are not integers.
std::optional<uint64_t> getGreatestElement(Attribute elements, bool isSigned);

/// Unit attribute of loops that compute random values tile by tile: pure,
/// deterministic, and functions of a key and other small values.
constexpr llvm::StringLiteral kTiledRandomAttr = "act.tiled_random";

/// Unit attribute of loops that `act-slice` made.
constexpr llvm::StringLiteral kSlicedAttr = "act.sliced";

/// Unit attribute of those that hold forward and backward of a whole step.
constexpr llvm::StringLiteral kSlicedStepAttr = "act.sliced_step";

/// Unit attribute of forward operations whose results backward reads as they
/// are, because a budget allows it.
constexpr llvm::StringLiteral kKeptAttr = "act.kept";

/// Dictionary attribute of functions: the figures of the plan that `act-plan`
/// carried out.
constexpr llvm::StringLiteral kPlanAttr = "act.plan";

/// True for contractions, and for loops over the parts of a region around one.
bool hasContraction(Operation *op);

/// Operands of `op` and the values its regions use from outside, each once, in
/// order of first use.
SmallVector<Value> getAllOperands(Operation *op);

/// Elements of `type`; nothing if the shape is dynamic or `type` no ranked
/// tensor.
std::optional<int64_t> getNumElements(Type type);

/// Bytes of a tensor of type `type` held in full: whole bytes per element, 1
/// for i1. Nothing as for `getNumElements` or if the element type has no size.
std::optional<int64_t> getTensorBytes(Type type);

/// Registers the models of the upstream dialects func, arith, math, tensor,
/// linalg and scf. Those of StableHLO come with its stand-in dialect.
void registerUpstreamOpModels(DialectRegistry &registry);

} // namespace mlir::act

#endif // ACT_ANALYSIS_OPMODEL_OPMODEL_H
