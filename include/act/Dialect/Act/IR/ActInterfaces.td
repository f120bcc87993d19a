//===- ActInterfaces.td - Interfaces of the act dialect -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_ACTINTERFACES_TD
#define ACT_DIALECT_ACT_IR_ACTINTERFACES_TD

include "mlir/IR/OpBase.td"

def Act_EncodingAttrInterface : AttrInterface<"EncodingAttrInterface"> {
  let cppNamespace = "::mlir::act";
  let description = [{
    How the elements of a saved tensor are stored. The storage of a
    `!act.compressed<T, E>` value is the list of tensors
    `E.getStorageTypes(T)`, in this order; `getStorageBytes` (a free function)
    adds up their sizes and is the only place that does.
  }];
  let methods = [
    InterfaceMethod<
      "Succeeds if tensors of type `type` can be stored this way. On failure "
      "emits a message that says what the encoding expects and what it got.",
      "::llvm::LogicalResult", "verifyAppliesTo",
      (ins "::mlir::RankedTensorType":$type,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<
      "The tensors that hold a value of type `type`: packed codes first, then "
      "parameters. Only called for types the encoding applies to.",
      "::llvm::SmallVector<::mlir::RankedTensorType>", "getStorageTypes",
      (ins "::mlir::RankedTensorType":$type)>,
    InterfaceMethod<
      "True if decoding restores every bit.",
      "bool", "isLossless">,
    InterfaceMethod<
      "Largest error of one decoded element, as a fraction of the width of the "
      "range that its parameters cover (integer codes) or of its own magnitude "
      "(floating-point codes). 0 if lossless.",
      "double", "getErrorBound">,
    InterfaceMethod<
      "Expected squared error of one decoded element as a fraction of the "
      "squared width of its range, for values spread evenly between codes. "
      "0 if lossless.",
      "double", "getErrorVariance">,
    InterfaceMethod<
      "How encoding and decoding a tensor of type `type` divide. Only called for "
      "types the encoding applies to.",
      "::mlir::act::CodecUnits", "getUnits",
      (ins "::mlir::RankedTensorType":$type)>,
    InterfaceMethod<
      "True if encoding draws random numbers, which start from a salt: 32 bits "
      "that differ from save to save.",
      "bool", "usesSalt">,
    InterfaceMethod<
      "The axis for whose indices encoding needs ranges that come from "
      "`act.update_range`, with a state that outlives the step; nothing if the "
      "value alone says how it is encoded.",
      "::std::optional<int64_t>", "getRunningAxis", (ins), [{}],
      [{ return ::std::nullopt; }]>
  ];
}

def Act_FeatureMapAttrInterface : AttrInterface<"FeatureMapAttrInterface"> {
  let cppNamespace = "::mlir::act";
  let description = [{
    The function f that linear attention applies to every row of its queries and
    keys: P numbers to M features. How to compute it and its gradient is up to the
    targets, which implement interfaces of their own for the maps they know.
  }];
  let methods = [
    InterfaceMethod<
      "The name in `backend_config` of custom calls: `elu_plus_one`.",
      "::llvm::StringRef", "getName">,
    InterfaceMethod<[{
        True if the map reads the operand `features` (random directions, [M, P]).
        Without it works element by element and M = P.
      }],
      "bool", "hasParameters">
  ];
}

#endif // ACT_DIALECT_ACT_IR_ACTINTERFACES_TD
