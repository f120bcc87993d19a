//===- ActTypes.td - Types of the act dialect -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_ACTTYPES_TD
#define ACT_DIALECT_ACT_IR_ACTTYPES_TD

include "act/Dialect/Act/IR/ActAttributes.td"

def Act_CompressedType : TypeDef<Act_Dialect, "Compressed"> {
  let mnemonic = "compressed";
  let summary = "A saved tensor in its stored form";
  let description = [{
    Shape and element type of the saved tensor and the encoding that stores it.
    The layout in memory follows from both through `EncodingAttrInterface`.

    Example: `!act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>`

    Constraints:

    * C1: the encoding implements `EncodingAttrInterface`.
    * C2: the encoding applies to the tensor type.
  }];
  let parameters = (ins
    "::mlir::RankedTensorType":$tensorType,
    "::mlir::act::EncodingAttrInterface":$encoding);
  let assemblyFormat = "`<` $tensorType `,` $encoding `>`";
  let genVerifyDecl = 1;
}

def Act_StackType : TypeDef<Act_Dialect, "Stack"> {
  let mnemonic = "stack";
  let summary = "Saved tensors of all iterations of a loop";
  let description = [{
    One element for each iteration: a saved tensor or, where loops are nested, a
    stack. The forward loop of a `scan` fills it and the backward loop reads it.

    Example: `!act.stack<24 x !act.compressed<tensor<8x64xi1>, #act.mask>>`

    Constraints:

    * C1: the size is positive.
    * C2: elements are `!act.compressed` or `!act.stack`.
  }];
  let parameters = (ins "int64_t":$size, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $size `x` $elementType `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The saved tensor in stacks of stacks.
    ::mlir::act::CompressedType getCompressedType() const;
    /// The same stack of saved tensors of another type.
    StackType withCompressedType(::mlir::act::CompressedType type) const;
    /// Sizes of this stack and those in it, outermost first.
    ::llvm::SmallVector<int64_t> getSizes() const;
  }];
}

#endif // ACT_DIALECT_ACT_IR_ACTTYPES_TD
