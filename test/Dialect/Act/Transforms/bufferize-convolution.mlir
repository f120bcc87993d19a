// The destination is written in place; its elements are not read, hence not
// copied.

// RUN: act-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --cse --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @new(
// CHECK-SAME:    %[[X:.*]]: memref<2x8x6xf32>, %[[W:.*]]: memref<3x6x4xf32>)
// CHECK-NOT:     memref.copy
// CHECK:         %[[Y:.*]] = memref.alloc() {{.*}}: memref<2x6x4xf32>
// CHECK-NEXT:    act.convolution ins(%[[X]], %[[W]] : memref<2x8x6xf32>, memref<3x6x4xf32>)
// CHECK-SAME:      outs(%[[Y]] : memref<2x6x4xf32>) dims [b, 0, f]x[0, i, o]->[b, 0, f]
// CHECK-NEXT:    return %[[Y]]
func.func @new(%x: tensor<2x8x6xf32>, %w: tensor<3x6x4xf32>) -> tensor<2x6x4xf32> {
  %y0 = tensor.empty() : tensor<2x6x4xf32>
  %y = act.convolution ins(%x, %w : tensor<2x8x6xf32>, tensor<3x6x4xf32>)
      outs(%y0 : tensor<2x6x4xf32>) dims [b, 0, f]x[0, i, o]->[b, 0, f]
  return %y : tensor<2x6x4xf32>
}

// A destination that an operand is read from is a buffer of its own.
// CHECK-LABEL: func.func @overlap(
// CHECK-SAME:    %[[X:.*]]: memref<2x4x4xf32>, %[[W:.*]]: memref<1x4x4xf32>)
// CHECK-NOT:     memref.copy
// CHECK:         %[[Y:.*]] = memref.alloc() {{.*}}: memref<2x4x4xf32>
// CHECK-NEXT:    act.convolution ins(%[[X]], %[[W]] : memref<2x4x4xf32>, memref<1x4x4xf32>)
// CHECK-SAME:      outs(%[[Y]] : memref<2x4x4xf32>)
// CHECK-NEXT:    return %[[Y]]
func.func @overlap(%x: tensor<2x4x4xf32>, %w: tensor<1x4x4xf32>) -> tensor<2x4x4xf32> {
  %y = act.convolution ins(%x, %w : tensor<2x4x4xf32>, tensor<1x4x4xf32>)
      outs(%x : tensor<2x4x4xf32>) dims [b, 0, f]x[0, i, o]->[b, 0, f]
  return %y : tensor<2x4x4xf32>
}
