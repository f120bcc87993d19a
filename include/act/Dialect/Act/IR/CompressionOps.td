//===- CompressionOps.td - Saving and loading activations -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_COMPRESSIONOPS_TD
#define ACT_DIALECT_ACT_IR_COMPRESSIONOPS_TD

include "act/Dialect/Act/IR/ActTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Act_Storable : AnyTypeOf<[AnyRankedTensor, Act_CompressedType, Act_StackType],
                             "ranked tensor, compressed tensor or stack">;

def Act_CompressedSaveOp : Op<Act_Dialect, "compressed_save", [Pure]> {
  let summary = "Encode a forward value that backward will read.";
  let description = [{
    Encodes `input` as its result type says. `id` tells saves apart: it enters the
    noise of stochastic rounding, so that two saves of equal values round
    independently. Inside loops the counts of iterations enter too. `exact` states
    why the value must be restored bit for bit.

    Constraints:

    * C1: the result stores the type of `input`.
    * C2: with `exact` the encoding is lossless.
    * C3: `id` is not negative.

    Example:

    ```mlir
    %c = act.compressed_save %z {id = 3 : i64} : tensor<8x64xf32>
        to !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>
    %d = act.compressed_save %m exact <statistic> : tensor<8xf32>
        to !act.compressed<tensor<8xf32>, #act.raw>
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$input,
    OptionalAttr<Act_ExactnessAttr>:$exact,
    DefaultValuedAttr<I64Attr, "0">:$id);
  let results = (outs Act_CompressedType:$result);
  let assemblyFormat = [{
    $input (`exact` $exact^)? attr-dict `:` type($input) `to` type($result)
  }];
  let hasVerifier = 1;
}

def Act_DequantizeLoadOp : Op<Act_Dialect, "dequantize_load", [Pure]> {
  let summary = "Decode a saved value for a backward use.";
  let description = [{
    Constraints:

    * C1: the result has the type that `input` stores.

    Example:

    ```mlir
    %z = act.dequantize_load %c
        : !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>
        to tensor<8x64xf32>
    ```
  }];
  let arguments = (ins Act_CompressedType:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `to` type($result)";
  let hasVerifier = 1;
}

def Act_BarrierOp : Op<Act_Dialect, "barrier", [Pure]> {
  let summary = "Make values available only once all of them are.";
  let description = [{
    Returns its operands. No result exists before every operand does, and nothing
    moves across: a load of `%c1` in the example cannot be scheduled before the
    cotangent `%g` has been computed.

    In forward a barrier of a value and its save makes later uses of the value wait
    for the save, so that the value is not kept for it. If all saves of a barrier
    are raw it lowers to nothing there.

    Constraints:

    * C1: there is at least one operand.
    * C2: results and operands have the same types.

    Example:

    ```mlir
    %c1, %g1 = act.barrier %c, %g
        : !act.compressed<tensor<8xi1>, #act.mask>, tensor<8xf32>
    ```
  }];
  let arguments = (ins Variadic<Act_Storable>:$inputs);
  let results = (outs Variadic<Act_Storable>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inputs), [{
    build($_builder, $_state, inputs.getTypes(), inputs);
  }]>];
}

#endif // ACT_DIALECT_ACT_IR_COMPRESSIONOPS_TD
