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
include "act/Dialect/Act/IR/RangeOps.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Act_Storable : AnyTypeOf<[AnyRankedTensor, Act_CompressedType, Act_StackType],
                             "ranked tensor, compressed tensor or stack">;

def Act_CompressedSaveOp : Op<Act_Dialect, "compressed_save", [Pure]> {
  let summary = "Encode a forward value that backward will read.";
  let description = [{
    Encodes `input` as its result type says. `id` tells saves apart: it enters the
    noise of stochastic rounding, so that two saves of equal values round
    independently. Inside loops the counts of iterations enter too. `exact` states
    why the value must be restored bit for bit. `key` names the value by the
    expression that computes it, the same whenever the step is traced again;
    measured sensitivities and policies refer to it. `range`, for encodings with
    `range = running`, is what `act.update_range` says to encode with.

    Constraints:

    * C1: the result stores the type of `input`.
    * C2: with `exact` the encoding is lossless.
    * C3: `id` is not negative.
    * C4: there is a `range` if and only if the encoding has running ranges.
    * C5: `range` is a `tensor<2xNxf32>` where N is the size of the encoding's axis in
      `input`.

    Example:

    ```mlir
    %c = act.compressed_save %z {id = 3 : i64} : tensor<8x64xf32>
        to !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>
    %d = act.compressed_save %m exact <statistic> : tensor<8xf32>
        to !act.compressed<tensor<8xf32>, #act.raw>
    %e = act.compressed_save %q range(%r : tensor<2x4xf32>) : tensor<8x4x64xf32>
        to !act.compressed<tensor<8x4x64xf32>,
                           #act.axis_quant<bits = 8, axis = 1, range = running>>
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$input,
    OptionalAttr<Act_ExactnessAttr>:$exact,
    DefaultValuedAttr<I64Attr, "0">:$id,
    OptionalAttr<StrAttr>:$key,
    Optional<Act_RangeTensor>:$range);
  let results = (outs Act_CompressedType:$result);
  let assemblyFormat = [{
    $input (`range` `(` $range^ `:` type($range) `)`)? (`exact` $exact^)? attr-dict
    `:` type($input) `to` type($result)
    (`key` $key^)?
  }];
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins
    "::mlir::Type":$result, "::mlir::Value":$input,
    "::mlir::act::ExactnessAttr":$exact, "::mlir::IntegerAttr":$id,
    "::mlir::StringAttr":$key), [{
    build($_builder, $_state, result, input, exact, id, key, /*range=*/{});
  }]>];
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

def Act_RoundTripOp
    : Op<Act_Dialect, "round_trip",
         [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "Round a value as an encoding would, with a given number of codes.";
  let description = [{
    Returns what a save and a load with `encoding` would make of `input` if codes
    were the numbers from 0 to `levels`, 2^bits - 1 for whole bits: the encoding's
    groups, ranges and noise, but not its number of bits, which is known only when
    the step runs. With 0 `levels` the result is `input`, bit for bit. Encodings
    other than integer codes round as always unless `levels` is 0.

    `id` is that of the save and `seed` is mixed into its noise; with `seed` 0 it is
    the noise of the save itself. `levels` is at most 65535.

    Instrumented steps measure with it how much the gradient suffers from rounding
    (`act-instrument`).

    Constraints:

    * C1: the result has the type of `input`.
    * C2: `encoding` applies to that type.
    * C3: `id` is not negative.

    Example:

    ```mlir
    %r = act.round_trip %z levels(%l : tensor<f32>) seed(%s : tensor<ui32>)
        encoding(#act.group_quant<bits = 4, group = 64>) {id = 3 : i64}
        : tensor<8x64xf32>
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$input, 0DTensorOf<[F32]>:$levels, 0DTensorOf<[UI32]>:$seed,
    Act_EncodingAttrInterface:$encoding, DefaultValuedAttr<I64Attr, "0">:$id);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `levels` `(` $levels `:` type($levels) `)`
    `seed` `(` $seed `:` type($seed) `)` `encoding` `(` $encoding `)` attr-dict
    `:` type($input)
  }];
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
