//===- ActEnums.td - Enumerations of the act dialect -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_ACTENUMS_TD
#define ACT_DIALECT_ACT_IR_ACTENUMS_TD

include "act/Dialect/Act/IR/ActBase.td"
include "mlir/IR/EnumAttr.td"

def Act_Rounding : I32EnumAttr<"Rounding",
    "How a value between two codes is rounded", [
      I32EnumAttrCase<"Nearest", 0, "nearest">,
      I32EnumAttrCase<"Stochastic", 1, "stochastic">]> {
  let cppNamespace = "::mlir::act";
  let genSpecializedAttr = 0;
}

def Act_Range : I32EnumAttr<"Range",
    "Where the range of an `axis_quant` encoding comes from", [
      I32EnumAttrCase<"Batch", 0, "batch">,
      I32EnumAttrCase<"Running", 1, "running">]> {
  let description = [{
    * `batch`: minimum and maximum of the value that is stored;
    * `running`: averages of them over steps, from `act.update_range`.
  }];
  let cppNamespace = "::mlir::act";
  let genSpecializedAttr = 0;
}

def Act_Exactness : I32EnumAttr<"Exactness",
    "Why a saved value must be restored bit for bit", [
      I32EnumAttrCase<"Integer", 0, "integer">,
      I32EnumAttrCase<"Predicate", 1, "predicate">,
      I32EnumAttrCase<"Statistic", 2, "statistic">,
      I32EnumAttrCase<"MaskFill", 3, "mask_fill">,
      I32EnumAttrCase<"Ordered", 4, "ordered">,
      I32EnumAttrCase<"LoopCarried", 5, "loop_carried">,
      I32EnumAttrCase<"Small", 6, "small">,
      I32EnumAttrCase<"Unsupported", 7, "unsupported">,
      I32EnumAttrCase<"Divisor", 8, "divisor">]> {
  let description = [{
    * `integer`: indices, keys, counters;
    * `predicate`: an `i1` mask;
    * `statistic`: a reduction, or a function of reductions only; it scales or
      shifts whole rows (softmax denominators, LayerNorm means);
    * `mask_fill`: may hold huge sentinels such as -1e30, which would take the
      whole range of a code;
    * `ordered`: backward compares, sorts or selects by it;
    * `loop_carried`: result of a loop, which may be a gradient;
    * `small`: too few elements for an encoding to pay;
    * `unsupported`: dynamic shape, rank 0, no elements, or an element type that
      no lossy encoding takes;
    * `divisor`: something is divided by it, or by what is near zero where it is;
      rounded to zero it would make gradients infinite.
  }];
  let cppNamespace = "::mlir::act";
  let genSpecializedAttr = 0;
}

def Act_DecayKind : I32EnumAttr<"DecayKind",
    "What the states of linear attention are multiplied by at each token", [
      I32EnumAttrCase<"None", 0, "none">,
      I32EnumAttrCase<"Head", 1, "head">,
      I32EnumAttrCase<"Token", 2, "token">,
      I32EnumAttrCase<"Channel", 3, "channel">]> {
  let description = [{
    Follows from the rank of the operand `decay`: none, one number per head, per
    token and head, or per token, head and feature.
  }];
  let cppNamespace = "::mlir::act";
  let genSpecializedAttr = 0;
}

def Act_ExactnessAttr : EnumAttr<Act_Dialect, Act_Exactness, "exactness"> {
  let assemblyFormat = "`<` $value `>`";
}

def Act_KernelKind : I32EnumAttr<"KernelKind", "What a kernel consists of", [
      I32EnumAttrCase<"Elementwise", 0, "elementwise">,
      I32EnumAttrCase<"RowProgram", 1, "row_program">,
      I32EnumAttrCase<"Reduction", 2, "reduction">,
      I32EnumAttrCase<"Contraction", 3, "contraction">,
      I32EnumAttrCase<"Convolution", 4, "convolution">,
      I32EnumAttrCase<"Codec", 5, "codec">]> {
  let cppNamespace = "::mlir::act";
  let genSpecializedAttr = 0;
}

def Act_KernelKindAttr : EnumAttr<Act_Dialect, Act_KernelKind, "kernel_kind">;

#endif // ACT_DIALECT_ACT_IR_ACTENUMS_TD
