//===- ConvolutionOps.td - Convolutions into destinations -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_CONVOLUTIONOPS_TD
#define ACT_DIALECT_ACT_IR_CONVOLUTIONOPS_TD

include "act/Dialect/Act/IR/ActTypes.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Act_ConvolutionElement : AnyTypeOf<[F16, BF16, F32, F64]>;

/// All operands are tensors, or all are buffers.
def Act_ConvolutionShaped : AnyTypeOf<[
    StaticShapeTensorOf<[Act_ConvolutionElement]>,
    ConfinedType<MemRefOf<[Act_ConvolutionElement]>, [HasStaticShapePred]>],
    "statically shaped tensor or memref of floats">;

def Act_ConvolutionOp : Op<Act_Dialect, "convolution", [
    DestinationStyleOpInterface,
    DeclareOpInterfaceMethods<ConditionallySpeculatable>,
    DeclareOpInterfaceMethods<InferTypeOpInterface>,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                              ["reifyResultShapes"]>
  ]> {
  let summary = "Convolve two tensors, in all forms that StableHLO knows.";
  let description = [{
    Writes the convolution of `lhs` with the windows `rhs` to `out`, whose elements
    are not read: `stablehlo.convolution` with a destination. With P = `lhs`, dilated
    by `lhs_dilation` and padded by `padding` with zeros, and without groups

    ```
    out[n, o, y] = sum over i, z of P[n, i, y * window_strides + z * rhs_dilation]
                                    * rhs[i, o, z]
    ```

    where n runs over the batch, i over input features, o over output features, y
    over positions of the window and z over its elements, counted backwards where
    `window_reversal` is true. `padding` has two numbers for each spatial dimension,
    before and after; negative ones crop. With `feature_group_count` = G > 1 the
    features of `lhs` and the output features are cut into G equal parts, and part g
    of the output features reads part g of the features; with `batch_group_count` =
    G > 1 it reads part g of the batch. Sums of f16 and bf16 are in f32 and rounded
    once, unless `out` is f32.

    The gradients of a convolution are convolutions again. With respect to `lhs`:
    `lhs_dilation` is the stride, the window reversed; with respect to `rhs`: the
    spatial dimensions of the output's gradient are the window, dilated by the
    stride.

    `dims` says for each operand and the result what its dimensions are: `b` is the
    batch, `f` the features, `i` and `o` input and output features of `rhs`, numbers
    are spatial dimensions. The attributes behind it are, for each role (batch,
    features, then spatial dimensions; input features, output features, then spatial
    dimensions), the number of the dimension.

    Constraints:

    * C1: operands are all tensors or all buffers, of one rank, which is at least 2.
    * C2: `lhs` and `rhs` have one element type. `out` has it too, or f32 for f16 and
      bf16.
    * C3: each of `lhs_dimensions`, `rhs_dimensions` and `out_dimensions` has every
      number of a dimension once.
    * C4: `window_strides`, `lhs_dilation`, `rhs_dilation` and `window_reversal` have
      one entry for each spatial dimension, `padding` two, if they are there;
      strides and dilations are positive.
    * C5: group counts are positive and not both above 1. They divide the output
      features; `feature_group_count` the features of `lhs`, `batch_group_count` the
      batch.
    * C6: the input features of `rhs` are the features of `lhs` divided by
      `feature_group_count`.
    * C7: the batch of `out` is that of `lhs` divided by `batch_group_count`, its
      features the output features of `rhs`, and each spatial dimension has as many
      elements as there are positions of the window.

    Example:

    ```mlir
    %y = act.convolution ins(%x, %w : tensor<2x8x8x16xf32>, tensor<3x3x16x32xf32>)
        outs(%y0 : tensor<2x4x4x32xf32>) dims [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
        {padding = array<i64: 1, 1, 1, 1>, window_strides = array<i64: 2, 2>}
    ```
  }];
  let arguments = (ins
    Act_ConvolutionShaped:$lhs, Act_ConvolutionShaped:$rhs,
    Act_ConvolutionShaped:$out,
    DenseI64ArrayAttr:$lhs_dimensions,
    DenseI64ArrayAttr:$rhs_dimensions,
    DenseI64ArrayAttr:$out_dimensions,
    OptionalAttr<DenseI64ArrayAttr>:$window_strides,
    OptionalAttr<DenseI64ArrayAttr>:$padding,
    OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
    OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
    OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
    DefaultValuedAttr<I64Attr, "1">:$feature_group_count,
    DefaultValuedAttr<I64Attr, "1">:$batch_group_count);
  let results = (outs
    Optional<StaticShapeTensorOf<[Act_ConvolutionElement]>>:$result);
  let assemblyFormat = [{
    `ins` `(` $lhs `,` $rhs `:` type($lhs) `,` type($rhs) `)`
    `outs` `(` $out `:` type($out) `)` `dims`
    custom<ConvolutionDimensions>($lhs_dimensions, $rhs_dimensions, $out_dimensions)
    attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutMutable(); }
    /// The destination, as a range like those of operations with several.
    ::mlir::OperandRange getOuts() { return getODSOperands(2); }
    ::mlir::MutableOperandRange getOutsMutable() { return getOutMutable(); }

    int64_t getNumSpatialDims() { return getLhsDimensions().size() - 2; }
    /// The entries of optional attributes, or what stands for them.
    int64_t getStride(int64_t dim);
    int64_t getPaddingLow(int64_t dim);
    int64_t getPaddingHigh(int64_t dim);
    int64_t getLhsDilationOf(int64_t dim);
    int64_t getRhsDilationOf(int64_t dim);
    bool isReversed(int64_t dim);
  }];
}

#endif // ACT_DIALECT_ACT_IR_CONVOLUTIONOPS_TD
