//===- CodecOps.td - Encoding and decoding into destinations -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_CODECOPS_TD
#define ACT_DIALECT_ACT_IR_CODECOPS_TD

include "act/Dialect/Act/IR/ActTypes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// All operands are tensors, or all are buffers.
def Act_CodecShaped : AnyTypeOf<[AnyRankedTensor, AnyMemRef],
                                "ranked tensor or memref">;

class Act_CodecOpBase<string mnemonic> : Op<Act_Dialect, mnemonic, [
        AttrSizedOperandSegments,
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<ConditionallySpeculatable>,
        DeclareOpInterfaceMethods<InferTypeOpInterface>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>
      ]> {
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      Adaptor adaptor(operands, attributes, properties, regions);
      for (::mlir::Type type : adaptor.getOuts().getTypes())
        if (::llvm::isa<::mlir::RankedTensorType>(type))
          inferred.push_back(type);
      return ::llvm::success();
    }
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::mlir::act::detail::reifyDestinations(builder, *this, shapes);
    }
    void $cppClass::getEffects(::llvm::SmallVectorImpl<
        ::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>>
            &effects) {
      ::mlir::act::detail::getCodecEffects(*this, effects);
    }
    ::mlir::Speculation::Speculatability $cppClass::getSpeculatability() {
      return hasPureTensorSemantics() ? ::mlir::Speculation::Speculatable
                                      : ::mlir::Speculation::NotSpeculatable;
    }
  }];
  code sharedClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
  }];
}

def Act_EncodeOp : Act_CodecOpBase<"encode"> {
  let summary = "Compute what an encoding stores for a value.";
  let description = [{
    Writes the storage of `input` under `encoding` to `outs`: what
    `act.compressed_save` stands for, with destinations. Elements of `outs` are not
    read. Integers of the storage may have any signedness here and are unsigned in
    any case, so that the operation survives a conversion to types without
    signedness.

    `salt`, 32 bits, is what the noise of stochastic rounding starts from: see the
    encoding. Two operations with the same salt draw the same noise for equal
    values at equal places.

    Constraints:

    * C1: operands are all tensors or all buffers.
    * C2: `encoding` applies to a tensor of the shape and element type of `input`.
    * C3: `outs` have the shapes and element types of the encoding's storage, but for
      the signedness of integers.
    * C4: there is a `salt` if and only if the encoding uses one. It has rank 0 and an
      element type of 32-bit integers.
    * C5: `encoding` has no running ranges: what encodes with them is lowered to
      StableHLO for every target.

    Example:

    ```mlir
    %c, %m, %s = act.encode ins(%z : tensor<8x64xf32>) salt(%salt : tensor<i32>)
        outs(%c0, %m0, %s0 : tensor<8x1x32xi8>, tensor<8x1x1xbf16>, tensor<8x1x1xbf16>)
        {encoding = #act.group_quant<bits = 4, group = 64>}
    act.encode ins(%mask : memref<8x64xi1>) outs(%bits : memref<8x8xi8>)
        {encoding = #act.mask}
    ```
  }];
  let arguments = (ins
    Act_CodecShaped:$input, Optional<Act_CodecShaped>:$salt,
    Variadic<Act_CodecShaped>:$outs, Act_EncodingAttrInterface:$encoding);
  let assemblyFormat = [{
    `ins` `(` $input `:` type($input) `)` (`salt` `(` $salt^ `:` type($salt) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict
  }];
  let extraClassDeclaration = sharedClassDeclaration;
}

def Act_DecodeOp : Act_CodecOpBase<"decode"> {
  let summary = "Compute the value that an encoding has stored.";
  let description = [{
    Writes the value that `inputs`, storage under `encoding`, stand for to `outs`,
    whose elements are not read: what `act.dequantize_load` stands for, with a
    destination. The signedness of integers is as for `act.encode`.

    Constraints:

    * C1: operands are all tensors or all buffers.
    * C2: there is one destination.
    * C3: `encoding` applies to a tensor of the shape and element type of `outs`.
    * C4: `inputs` have the shapes and element types of the encoding's storage, but
      for the signedness of integers.

    Example:

    ```mlir
    %z = act.decode
        ins(%c, %m, %s : tensor<8x1x32xi8>, tensor<8x1x1xbf16>, tensor<8x1x1xbf16>)
        outs(%z0 : tensor<8x64xf32>) {encoding = #act.group_quant<bits = 4, group = 64>}
    ```
  }];
  let arguments = (ins
    Variadic<Act_CodecShaped>:$inputs, Variadic<Act_CodecShaped>:$outs,
    Act_EncodingAttrInterface:$encoding);
  let assemblyFormat = [{
    `ins` `(` $inputs `:` type($inputs) `)` `outs` `(` $outs `:` type($outs) `)`
    attr-dict
  }];
  let extraClassDeclaration = sharedClassDeclaration;
}

#endif // ACT_DIALECT_ACT_IR_CODECOPS_TD
