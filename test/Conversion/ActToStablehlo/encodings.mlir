// The storage that each encoding computes. What is in it is tested by executing
// it: python/tests/test_encodings.py.

// RUN: act-opt %s --convert-act-to-stablehlo | FileCheck %s

// A short last group is encoded by itself, without padding the tensor.
// CHECK-LABEL: func.func private @act_save_group_quant4_8x100xf32(
// CHECK-SAME:    %[[X:.*]]: tensor<8x100xf32>, %[[SALT:.*]]: tensor<ui32>)
// CHECK-SAME:    -> (tensor<8x2x32xui8>, tensor<8x2x1xbf16>, tensor<8x2x1xbf16>)
// CHECK-NOT:     "stablehlo.pad"({{.*}}xf32>
// CHECK:         %[[FULL:.*]] = "stablehlo.slice"(%[[X]]) <{limit_indices = array<i64: 8, 64>
// CHECK-NEXT:    %[[GROUPS:.*]] = "stablehlo.reshape"(%[[FULL]]) : (tensor<8x64xf32>) -> tensor<8x1x64xf32>
// CHECK:         %[[RANGE:.*]]:2 = "stablehlo.reduce"(%[[GROUPS]], %[[GROUPS]],
// CHECK:         "stablehlo.slice"(%[[X]]) <{limit_indices = array<i64: 8, 100>, start_indices = array<i64: 0, 64>
// CHECK:         "stablehlo.concatenate"({{.*}}) <{dimension = 1 : i64}> : (tensor<8x1x32xui8>, tensor<8x1x32xui8>)
func.func @tail(%x: tensor<8x100xf32>) {
  %c = act.compressed_save %x : tensor<8x100xf32> to !act.compressed<tensor<8x100xf32>, #act.group_quant<bits = 4, group = 64>>
  return
}

// Over an axis that is not the last, two reductions are faster than a joint one. A sum
// finds NaN.
// CHECK-LABEL: func.func private @act_save_group_quant2_3x40x5xbf16(
// CHECK-SAME:    -> (tensor<3x2x5x5xui8>, tensor<3x2x1x5xf32>, tensor<3x2x1x5xf32>)
// CHECK-NEXT:    "stablehlo.optimization_barrier"(%{{.*}}) : (tensor<ui32>) -> tensor<ui32>
// CHECK-NEXT:    "stablehlo.convert"({{.*}}) : (tensor<3x40x5xbf16>) -> tensor<3x40x5xf32>
// CHECK-NEXT:    %[[X:.*]] = "stablehlo.reshape"
// CHECK:         "stablehlo.reduce"(%[[X]], %{{.*}}) <{dimensions = array<i64: 2>}> ({
// CHECK:           "stablehlo.minimum"
// CHECK:         }) : (tensor<3x2x20x5xf32>, tensor<f32>) -> tensor<3x2x5xf32>
// CHECK:         %[[MAX:.*]] = "stablehlo.reduce"(%[[X]],
// CHECK:           "stablehlo.maximum"
// CHECK:         %[[SUM:.*]] = "stablehlo.reduce"(%[[X]],
// CHECK:           "stablehlo.add"
// CHECK:         %[[NAN:.*]] = "stablehlo.compare"(%[[SUM]], %[[SUM]])
// CHECK-NEXT:    "stablehlo.select"(%[[NAN]], %[[SUM]], %[[MAX]])
// CHECK-LABEL: func.func private @act_load_group_quant2_3x40x5xbf16(
// CHECK:         "stablehlo.convert"({{.*}}) : (tensor<3x40x5xf32>) -> tensor<3x40x5xbf16>
func.func @inner_axis(%x: tensor<3x40x5xbf16>) -> tensor<3x40x5xbf16> {
  %c = act.compressed_save %x : tensor<3x40x5xbf16> to !act.compressed<tensor<3x40x5xbf16>, #act.group_quant<bits = 2, group = 20, axis = 1, params = f32>>
  %0 = act.dequantize_load %c : !act.compressed<tensor<3x40x5xbf16>, #act.group_quant<bits = 2, group = 20, axis = 1, params = f32>> to tensor<3x40x5xbf16>
  return %0 : tensor<3x40x5xbf16>
}

// Only the axes that are merged are reshaped together. The salt is kept out of the
// kernel, so that all saves of a type share one.
// CHECK-LABEL: func.func private @act_save_group_quant8_8x4x6xf32(
// CHECK-SAME:    -> (tensor<8x2x12xui8>, tensor<8x2x1xbf16>, tensor<8x2x1xbf16>)
// CHECK-NEXT:    "stablehlo.optimization_barrier"(%{{.*}}) : (tensor<ui32>) -> tensor<ui32>
// CHECK-NEXT:    "stablehlo.reshape"({{.*}}) : (tensor<8x4x6xf32>) -> tensor<8x24xf32>
// CHECK-NEXT:    "stablehlo.reshape"({{.*}}) : (tensor<8x24xf32>) -> tensor<8x2x12xf32>
func.func @merge(%x: tensor<8x4x6xf32>) {
  %c = act.compressed_save %x : tensor<8x4x6xf32> to !act.compressed<tensor<8x4x6xf32>, #act.group_quant<bits = 8, group = 12, merge = 2>>
  return
}

// CHECK-LABEL: func.func private @act_save_axis_quant4_3x4x7xf32(
// CHECK-SAME:    -> (tensor<3x4x4xui8>, tensor<1x4x1xf32>, tensor<1x4x1xf32>)
func.func @axis(%x: tensor<3x4x7xf32>) {
  %c = act.compressed_save %x : tensor<3x4x7xf32> to !act.compressed<tensor<3x4x7xf32>, #act.axis_quant<bits = 4, axis = 1>>
  return
}

// CHECK-LABEL: func.func private @act_save_f8E4M3FN_3x10xf32(
// CHECK-SAME:    -> (tensor<3x3x4xf8E4M3FN>, tensor<3x3x1xf32>)
// CHECK-LABEL: func.func private @act_save_bf16_3x10xf32(
// CHECK-SAME:    -> tensor<3x10xbf16>
func.func @float(%x: tensor<3x10xf32>) {
  %c = act.compressed_save %x : tensor<3x10xf32> to !act.compressed<tensor<3x10xf32>, #act.float<type = f8E4M3FN, group = 4>>
  %d = act.compressed_save %x : tensor<3x10xf32> to !act.compressed<tensor<3x10xf32>, #act.float<type = bf16>>
  return
}

// CHECK-LABEL: func.func private @act_save_mask_2x3x5xi1(
// CHECK-SAME:    -> tensor<2x2xui8>
func.func @mask(%x: tensor<2x3x5xi1>) {
  %c = act.compressed_save %x : tensor<2x3x5xi1> to !act.compressed<tensor<2x3x5xi1>, #act.mask<merge = 2>>
  return
}

// CHECK-LABEL: func.func private @act_save_narrow16_5xi32(
// CHECK-SAME:    -> tensor<5xui16>
// CHECK-LABEL: func.func private @act_save_narrow8_5xi32(
// CHECK-SAME:    -> tensor<5xui8>
// CHECK-LABEL: func.func private @act_save_narrow2_5xi32(
// CHECK-SAME:    -> tensor<2xui8>
func.func @narrow(%x: tensor<5xi32>) {
  %c = act.compressed_save %x : tensor<5xi32> to !act.compressed<tensor<5xi32>, #act.narrow<bits = 16>>
  %d = act.compressed_save %x : tensor<5xi32> to !act.compressed<tensor<5xi32>, #act.narrow<bits = 8>>
  %e = act.compressed_save %x : tensor<5xi32> to !act.compressed<tensor<5xi32>, #act.narrow<bits = 2>>
  return
}
