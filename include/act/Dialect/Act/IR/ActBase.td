//===- ActBase.td - The act dialect -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_ACTBASE_TD
#define ACT_DIALECT_ACT_IR_ACTBASE_TD

include "mlir/IR/OpBase.td"

def Act_Dialect : Dialect {
  let name = "act";
  let summary = "Saved activations of a training step, and how they are stored";
  let description = [{
    A training step that a framework has differentiated computes its primal
    results (the loss and auxiliary values) in a *forward* part and gradients in
    a *backward* part. Whatever backward reads from forward must survive in
    between. This dialect makes the boundary explicit:

    ```mlir
    !save = !act.compressed<tensor<4096x1024xf32>,
                            #act.group_quant<bits = 4, group = 64>>

    // forward, right after the value is defined
    %c = act.compressed_save %z : tensor<4096x1024xf32> to !save
    // backward, right before its use; %c1 exists only once %g does
    %c1, %g1 = act.barrier %c, %g : !save, tensor<4096x1024xf32>
    %z1 = act.dequantize_load %c1 : !save to tensor<4096x1024xf32>
    ```

    How a value is stored is an *encoding*: an attribute that implements
    `EncodingAttrInterface`. No pass switches over encodings, so adding one means
    adding an attribute and one lowering per target.
  }];
  let cppNamespace = "::mlir::act";
  let dependentDialects = ["::mlir::tensor::TensorDialect"];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerTypes();
  }];
}

#endif // ACT_DIALECT_ACT_IR_ACTBASE_TD
