// Running ranges and the saves that encode with them.

// RUN: act-opt %s | FileCheck %s
// RUN: act-opt %s | act-opt | FileCheck %s
// RUN: act-opt %s --mlir-print-op-generic | act-opt | FileCheck %s
// RUN: act-opt %s --emit-bytecode | act-opt | FileCheck %s
// RUN: act-opt %s --verify-roundtrip | FileCheck %s
// RUN: mlir-opt %act_plugin %s --verify-roundtrip | FileCheck %s

!t = tensor<8x4x64xbf16>
!c = !act.compressed<!t, #act.axis_quant<bits = 8, axis = 1, range = running>>

// CHECK-LABEL: func.func @ranges(
// CHECK-SAME:    %[[X:.*]]: tensor<8x4x64xbf16>)
// CHECK-NEXT:    %[[S:.*]] = act.empty_range : tensor<2x4xf32>
// CHECK-NEXT:    %[[N:.*]], %[[R:.*]] = act.update_range %[[X]], %[[S]] axis 1 decay 9.000000e-01 : tensor<8x4x64xbf16>, tensor<2x4xf32>
// CHECK-NEXT:    act.compressed_save %[[X]] range(%[[R]] : tensor<2x4xf32>) {id = 2 : i64} : tensor<8x4x64xbf16> to <tensor<8x4x64xbf16>, #act.axis_quant<bits = 8, axis = 1, range = running>> key "dot#12"
// CHECK-NEXT:    return %[[N]]
func.func @ranges(%x: !t) -> tensor<2x4xf32> {
  %s = act.empty_range : tensor<2x4xf32>
  %n, %r = act.update_range %x, %s axis 1 decay 0.9 : !t, tensor<2x4xf32>
  %c = act.compressed_save %x range(%r : tensor<2x4xf32>) {id = 2 : i64} : !t to !c key "dot#12"
  return %n : tensor<2x4xf32>
}

// The least decay: the state is the range of the last value.
// CHECK-LABEL: func.func @decay(
// CHECK:         decay 0.000000e+00 : tensor<5xf64>, tensor<2x5xf32>
func.func @decay(%x: tensor<5xf64>, %s: tensor<2x5xf32>) {
  %n, %r = act.update_range %x, %s axis 0 decay 0.0 : tensor<5xf64>, tensor<2x5xf32>
  return
}
