// Running ranges in StableHLO. What is computed is tested by executing it:
// python/tests/test_ranges.py.

// RUN: act-opt %s --convert-act-to-stablehlo | FileCheck %s
// RUN: act-opt %s --convert-act-to-stablehlo=codecs=ops | FileCheck %s --check-prefix=OPS

!t = tensor<3x4x7xf32>
!c = !act.compressed<!t, #act.axis_quant<bits = 4, axis = 1, range = running>>

// A save gets its range as an operand of the function that encodes, so that saves of a
// type share one, and stores it with its codes. There are no kernels that encode so; those
// that decode are the usual ones.
// CHECK-LABEL: func.func @save(
// CHECK-SAME:    %[[X:.*]]: tensor<3x4x7xf32>, %[[R:.*]]: tensor<2x4xf32>, %[[Q:.*]]: tensor<2x4xf32>)
// CHECK:         %[[C:.*]]:3 = call @act_save_axis_quant_running4_3x4x7xf32(%[[X]], %{{.*}}, %[[R]])
// CHECK:         %[[D:.*]]:3 = call @act_save_axis_quant_running4_3x4x7xf32(%[[X]], %{{.*}}, %[[Q]])
// CHECK:         call @act_load_axis_quant_running4_3x4x7xf32(%[[C]]#0, %[[C]]#1, %[[C]]#2)
// CHECK-LABEL: func.func @update(
// CHECK-SAME:    %[[X:.*]]: tensor<3x4x7xbf16>, %[[S:.*]]: tensor<2x4xf32>)
// CHECK:         %[[Y:.*]] = "stablehlo.convert"(%[[X]]) : (tensor<3x4x7xbf16>) -> tensor<3x4x7xf32>
// CHECK:         "stablehlo.reduce"({{.*}}) <{dimensions = array<i64: 0, 2>}>
// CHECK:         %[[B:.*]] = "stablehlo.concatenate"({{.*}}) <{dimension = 0 : i64}> : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
// CHECK:         "stablehlo.subtract"(%[[S]], %[[B]])
// CHECK:         %[[N:.*]] = "stablehlo.select"(%{{.*}}, %{{.*}}, %[[S]])
// CHECK:         %[[R:.*]] = "stablehlo.select"(
// CHECK:         return %[[N]], %[[R]]
// CHECK-LABEL: func.func private @act_save_axis_quant_running4_3x4x7xf32(
// CHECK-SAME:    %{{.*}}: tensor<3x4x7xf32>, %{{.*}}: tensor<ui32>, %[[R:.*]]: tensor<2x4xf32>)
// CHECK-SAME:    -> (tensor<3x4x4xui8>, tensor<1x4x1xf32>, tensor<1x4x1xf32>)
// CHECK-NOT:     "stablehlo.reduce"
// CHECK:         "stablehlo.slice"(%[[R]]) <{limit_indices = array<i64: 1, 4>, start_indices = array<i64: 0, 0>
// CHECK-NOT:     "stablehlo.reduce"
// CHECK-LABEL: func.func private @act_load_axis_quant_running4_3x4x7xf32(
// OPS-LABEL: func.func @save(
// OPS:         call @act_save_axis_quant_running4_3x4x7xf32(
// OPS:         act.decode {{.*}} {encoding = #act.axis_quant<bits = 4, axis = 1, range = running>}
func.func @save(%x: !t, %r: tensor<2x4xf32>, %q: tensor<2x4xf32>) -> !t {
  %c = act.compressed_save %x range(%r : tensor<2x4xf32>) : !t to !c
  %d = act.compressed_save %x range(%q : tensor<2x4xf32>) {id = 1 : i64} : !t to !c
  %0 = act.dequantize_load %c : !c to !t
  return %0 : !t
}

func.func @update(%x: tensor<3x4x7xbf16>, %s: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %n, %r = act.update_range %x, %s axis 1 decay 0.9 : tensor<3x4x7xbf16>, tensor<2x4xf32>
  return %n, %r : tensor<2x4xf32>, tensor<2x4xf32>
}
