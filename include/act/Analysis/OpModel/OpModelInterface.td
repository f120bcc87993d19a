//===- OpModelInterface.td - What act knows about an operation -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_ANALYSIS_OPMODEL_OPMODELINTERFACE_TD
#define ACT_ANALYSIS_OPMODEL_OPMODELINTERFACE_TD

include "mlir/IR/OpBase.td"

def Act_OpModelInterface : OpInterface<"OpModelInterface"> {
  let cppNamespace = "::mlir::act";
  let description = [{
    What the analyses and passes of act know about an operation. This is the only
    place that knows ops: passes ask the free functions of `OpModel.h`, which treat
    an op without this interface as opaque (never recomputed, never reordered).

    Upstream dialects and the stand-in StableHLO dialect implement it through
    external models.
  }];
  let methods = [
    InterfaceMethod<"The class of operations this one belongs to.",
      "::mlir::act::OpKind", "getOpKind">,
    InterfaceMethod<[{
        True if running the operation again on the same operands gives the same
        result cheaply: pure, deterministic, and about as costly as reading its
        operands. Contractions, reductions, random numbers and loops are not.
      }],
      "bool", "isCheapToRecompute", (ins), [{}], [{
        return isCheapKind($_op.getOpKind());
      }]>,
    InterfaceMethod<[{
        True if a small change of a floating-point operand can change the result
        by a jump: comparisons, `floor`, `sign`, conversion to integers, sorting.
      }],
      "bool", "isDiscontinuous", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        True if huge finite operands (mask fills such as -1e30) come out small:
        `exponential` (of a negative fill), `logistic`, `tanh`, comparisons.
      }],
      "bool", "squashesRange", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        True for exponentials, whose results may span many orders of magnitude.
      }],
      "bool", "isExponential", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        For `select`-like operations the operands one of which each result element
        is taken from; empty for others.
      }],
      "::llvm::SmallVector<::mlir::Value>", "getSelectedValues", (ins), [{}],
      [{ return {}; }]>,
    InterfaceMethod<[{
        The operands near zero of which the result is unbounded: divisors,
        arguments of logarithms, bases of powers.
      }],
      "::llvm::SmallVector<::mlir::Value>", "getSingularOperands", (ins), [{}],
      [{ return {}; }]>,
    InterfaceMethod<[{
        True if the result is near zero where an operand is: products, negation,
        roots.
      }],
      "bool", "keepsZero", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        The elements of the result if the operation is a constant, else null.
      }],
      "::mlir::Attribute", "getConstantElements", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<[{
        An inclusive upper bound of the result elements of an unsigned or
        non-negative integer operation that follows from its attributes and
        `operandBounds` (one entry per operand), if there is one.
      }],
      "::std::optional<uint64_t>", "getUpperBound",
      (ins "::llvm::ArrayRef<::std::optional<uint64_t>>":$operandBounds), [{}],
      [{ return std::nullopt; }]>,
    InterfaceMethod<[{
        If the integer result is `scale * x + offset` of one number x, and
        `operandForms` says the same of the operands (scale 0 for constants), that
        form.
      }],
      "::std::optional<::mlir::act::LinearForm>", "getLinearForm",
      (ins "::llvm::ArrayRef<::std::optional<::mlir::act::LinearForm>>":$operandForms),
      [{}], [{ return std::nullopt; }]>,
    InterfaceMethod<[{
        The value that the result equals bit for bit, given that operand 0 equals
        `first`: `first` itself for `reduce_precision` to the precision that it has,
        by which JAX marks what checkpoint policies save; one of the values that
        `first` concatenates for the slice that holds it. Null if there is none.
      }],
      "::mlir::Value", "getCopiedValue", (ins "::mlir::Value":$first), [{}],
      [{ return {}; }]>,
    InterfaceMethod<[{
        True if the result has the elements of the only operand in the same
        (row-major) order.
      }],
      "bool", "isReshape", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        The access if the operation reads one whole row of a tensor, a slice of size
        1 along the first axis.
      }],
      "::std::optional<::mlir::act::RowAccess>", "getRowRead", (ins), [{}],
      [{ return std::nullopt; }]>,
    InterfaceMethod<[{
        The access if the operation writes one whole row of a tensor.
      }],
      "::std::optional<::mlir::act::RowAccess>", "getRowWrite", (ins), [{}],
      [{ return std::nullopt; }]>,
    InterfaceMethod<[{
        The axes along which the operation can be computed in parts. Those of size 1
        and those that move elements along a dimension are left out.
      }],
      "::llvm::SmallVector<::mlir::act::IterationAxis>", "getIterationAxes", (ins),
      [{}], [{ return {}; }]>,
    InterfaceMethod<[{
        Creates the operation that computes the part of `length` iterations of
        `axis` from `offset` (an i32 scalar) on, of `operands` that are parts.
      }],
      "::mlir::Operation *", "buildPart",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$operands,
           "const ::mlir::act::IterationAxis &":$axis, "int64_t":$length,
           "::mlir::Value":$offset),
      [{}], [{
        return ::mlir::act::cloneWithLength($_op.getOperation(), builder, operands,
                                            axis.resultDims, length);
      }]>,
    InterfaceMethod<[{
        For convolutions, the dimensions of features (channels).
      }],
      "::std::optional<::mlir::act::FeatureDims>", "getFeatureDims", (ins), [{}],
      [{ return std::nullopt; }]>,
    InterfaceMethod<[{
        Floating-point operations of one execution; 2 m n k for a contraction.
      }],
      "double", "getFlops", (ins), [{}],
      [{ return ::mlir::act::getDefaultFlops($_op.getOperation()); }]>
  ];
}

#endif // ACT_ANALYSIS_OPMODEL_OPMODELINTERFACE_TD
