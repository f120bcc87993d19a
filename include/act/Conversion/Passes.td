//===- Passes.td - Conversions from and to the act dialect -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_PASSES_TD
#define ACT_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertActToStablehloPass : Pass<"convert-act-to-stablehlo", "ModuleOp"> {
  let summary = "Lower saves, loads and barriers to StableHLO.";
  let description = [{
    Replaces every compressed value by the tensors that store it. A save and a
    load become calls of private functions, one per tensor type and encoding; a
    barrier becomes `stablehlo.optimization_barrier` over its distinct tensors and
    vanishes if there is only one, as it happens to a value and its raw save.
    Nothing of act is left. The result, printed in generic form, parses wherever
    StableHLO does.

    Stochastic rounding draws its noise from a hash of a salt, the element's index
    and the element's bits. The salt is a constant made from the `id` of the save
    and `seed`.

    Before:

    ```mlir
    func.func @step(%x: tensor<8x64xf32>, %g: tensor<8x64xf32>) -> tensor<8x64xf32> {
      %c = act.compressed_save %x {id = 3 : i64} : tensor<8x64xf32>
          to !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>
      %c1, %g1 = act.barrier %c, %g
          : !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>,
            tensor<8x64xf32>
      %x1 = act.dequantize_load %c1
          : !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>
          to tensor<8x64xf32>
      return %x1 : tensor<8x64xf32>
    }
    ```

    After:

    ```mlir
    func.func @step(%x: tensor<8x64xf32>, %g: tensor<8x64xf32>) -> tensor<8x64xf32> {
      %salt = "stablehlo.constant"() <{value = dense<4169906344> : tensor<ui32>}>
          : () -> tensor<ui32>
      %c:3 = call @act_save_group_quant4_8x64xf32(%x, %salt)
          : (tensor<8x64xf32>, tensor<ui32>)
          -> (tensor<8x1x32xui8>, tensor<8x1x1xbf16>, tensor<8x1x1xbf16>)
      %c1:4 = "stablehlo.optimization_barrier"(%c#0, %c#1, %c#2, %g) : ...
      %x1 = call @act_load_group_quant4_8x64xf32(%c1#0, %c1#1, %c1#2) : ...
      return %x1 : tensor<8x64xf32>
    }
    func.func private @act_save_group_quant4_8x64xf32(...)
    func.func private @act_load_group_quant4_8x64xf32(...)
    ```

    Compressed values live inside one function: as arguments or results of
    functions, as block arguments and as operands of operations of other dialects
    they are an error, and so is an encoding that has no StableHLO lowering.
  }];
  let options = [
    Option<"seed", "seed", "uint64_t", "0",
           "Mixed into the noise of stochastic rounding">
  ];
}

#endif // ACT_CONVERSION_PASSES_TD
