// Saves and loads become calls of private functions, one per compressed type.

// RUN: act-opt %s --convert-act-to-stablehlo | FileCheck %s
// RUN: act-opt %s --convert-act-to-stablehlo=seed=7 | FileCheck %s --check-prefix=SEED
// RUN: act-opt %s --convert-act-to-stablehlo --mlir-print-op-generic | act-opt | FileCheck %s

!q4 = !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>
!q8 = !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 8, group = 64>>
!near = !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64, rounding = nearest>>
!bits = !act.compressed<tensor<8x64xi1>, #act.mask>

// Two saves of one type share a function and differ in their salt.
// CHECK-LABEL: func.func @shared(
// CHECK-SAME:    %[[X:.*]]: tensor<8x64xf32>, %[[Y:.*]]: tensor<8x64xf32>)
// CHECK-NEXT:    %[[S0:.*]] = "stablehlo.constant"() <{value = dense<3793791033> : tensor<ui32>}>
// CHECK-NEXT:    %[[C0:.*]]:3 = call @act_save_group_quant4_8x64xf32(%[[X]], %[[S0]])
// CHECK-SAME:      : (tensor<8x64xf32>, tensor<ui32>) -> (tensor<8x1x32xui8>, tensor<8x1x1xbf16>, tensor<8x1x1xbf16>)
// CHECK-NEXT:    %[[S1:.*]] = "stablehlo.constant"() <{value = dense<4169906344> : tensor<ui32>}>
// CHECK-NEXT:    %[[C1:.*]]:3 = call @act_save_group_quant4_8x64xf32(%[[Y]], %[[S1]])
// CHECK-NEXT:    %[[D0:.*]] = call @act_load_group_quant4_8x64xf32(%[[C0]]#0, %[[C0]]#1, %[[C0]]#2)
// CHECK-SAME:      : (tensor<8x1x32xui8>, tensor<8x1x1xbf16>, tensor<8x1x1xbf16>) -> tensor<8x64xf32>
// CHECK-NEXT:    %[[D1:.*]] = call @act_load_group_quant4_8x64xf32(%[[C1]]#0, %[[C1]]#1, %[[C1]]#2)
// CHECK-NEXT:    return %[[D0]], %[[D1]]

// SEED-LABEL:  func.func @shared(
// SEED-NOT:      3793791033
// SEED-NOT:      4169906344
// SEED-LABEL:  func.func @other_encodings(
func.func @shared(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %c0 = act.compressed_save %x : tensor<8x64xf32> to !q4
  %c1 = act.compressed_save %y {id = 3 : i64} : tensor<8x64xf32> to !q4
  %0 = act.dequantize_load %c0 : !q4 to tensor<8x64xf32>
  %1 = act.dequantize_load %c1 : !q4 to tensor<8x64xf32>
  return %0, %1 : tensor<8x64xf32>, tensor<8x64xf32>
}

// A save without noise has no salt, and one without a load no decoder.
// CHECK-LABEL: func.func @other_encodings(
// CHECK-SAME:    %[[X:.*]]: tensor<8x64xf32>, %[[M:.*]]: tensor<8x64xi1>)
// CHECK:         call @act_save_group_quant8_8x64xf32(%[[X]], %
// CHECK-NEXT:    call @act_save_group_quant4_8x64xf32_0(%[[X]]) :
// CHECK-NEXT:    %[[C:.*]] = call @act_save_mask_8x64xi1(%[[M]]) : (tensor<8x64xi1>) -> tensor<8x8xui8>
// CHECK-NEXT:    call @act_load_mask_8x64xi1(%[[C]])
func.func @other_encodings(%x: tensor<8x64xf32>, %m: tensor<8x64xi1>) -> tensor<8x64xi1> {
  %c0 = act.compressed_save %x : tensor<8x64xf32> to !q8
  %c1 = act.compressed_save %x : tensor<8x64xf32> to !near
  %c2 = act.compressed_save %m : tensor<8x64xi1> to !bits
  %0 = act.dequantize_load %c2 : !bits to tensor<8x64xi1>
  return %0 : tensor<8x64xi1>
}

// A name that is taken is left to its owner.
// CHECK-LABEL: func.func private @act_save_mask_4xi1()
func.func private @act_save_mask_4xi1()

// Saves and loads inside the regions of other operations.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME:    %[[M:.*]]: tensor<4xi1>,
// CHECK:         %[[C:.*]] = call @act_save_mask_4xi1_1(%[[M]])
// CHECK:         scf.if
// CHECK-NEXT:      %[[D:.*]] = func.call @act_load_mask_4xi1(%[[C]])
// CHECK-NEXT:      scf.yield %[[D]]
func.func @nested(%m: tensor<4xi1>, %p: i1) -> tensor<4xi1> {
  %c = act.compressed_save %m : tensor<4xi1> to !act.compressed<tensor<4xi1>, #act.mask>
  %r = scf.if %p -> tensor<4xi1> {
    %0 = act.dequantize_load %c : !act.compressed<tensor<4xi1>, #act.mask> to tensor<4xi1>
    scf.yield %0 : tensor<4xi1>
  } else {
    scf.yield %m : tensor<4xi1>
  }
  return %r : tensor<4xi1>
}

// What is there already stays as it is.
// CHECK-LABEL: func.func public @untouched(
// CHECK-SAME:    %{{.*}}: tensor<4xf32> {tf.aliasing_output = 0 : i32})
// CHECK-SAME:    -> (tensor<4xf32> {jax.result_info = "result"})
func.func public @untouched(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> (tensor<4xf32> {jax.result_info = "result"}) {
  return %x : tensor<4xf32>
}

// Functions in the order of their first call, and nothing else.
// CHECK:       func.func private @act_save_group_quant4_8x64xf32(%{{.*}}: tensor<8x64xf32>, %{{.*}}: tensor<ui32>)
// CHECK:       func.func private @act_load_group_quant4_8x64xf32(
// CHECK:       func.func private @act_save_group_quant8_8x64xf32(
// CHECK:       func.func private @act_save_group_quant4_8x64xf32_0(%{{.*}}: tensor<8x64xf32>)
// CHECK-NOT:   func.func private @act_load_group
// CHECK:       func.func private @act_save_mask_8x64xi1(
// CHECK:       func.func private @act_load_mask_8x64xi1(
// CHECK:       func.func private @act_save_mask_4xi1_1(
// CHECK:       func.func private @act_load_mask_4xi1(
// CHECK-NOT:   func.func
// CHECK-NOT:   act.
