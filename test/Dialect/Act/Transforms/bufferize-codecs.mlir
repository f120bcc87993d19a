// Destinations are written in place. Those that are the same tensor, as common
// subexpressions become, are buffers of their own.

// RUN: act-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --cse --canonicalize | FileCheck %s

#g4 = #act.group_quant<bits = 4, group = 64>

// CHECK-LABEL: func.func @round_trip(
// CHECK-SAME:    %[[Z:.*]]: memref<8x64xf32>, %[[SALT:.*]]: memref<i32>)
// CHECK-DAG:     %[[C:.*]] = memref.alloc() {{.*}}: memref<8x1x32xi8>
// CHECK-DAG:     %[[P:.*]] = memref.alloc() {{.*}}: memref<8x1x1xbf16>
// CHECK-DAG:     %[[Q:.*]] = memref.alloc() {{.*}}: memref<8x1x1xbf16>
// CHECK-NOT:     memref.copy
// CHECK:         act.encode ins(%[[Z]] : memref<8x64xf32>) salt(%[[SALT]] : memref<i32>)
// CHECK-SAME:      outs(%[[C]], %[[P]], %[[Q]] : memref<8x1x32xi8>, memref<8x1x1xbf16>, memref<8x1x1xbf16>) {encoding = #act.group_quant<bits = 4, group = 64>}
// CHECK-NOT:     memref.copy
// CHECK:         %[[Y:.*]] = memref.alloc() {{.*}}: memref<8x64xf32>
// CHECK-NOT:     memref.copy
// CHECK:         act.decode ins(%[[C]], %[[P]], %[[Q]] : memref<8x1x32xi8>, memref<8x1x1xbf16>, memref<8x1x1xbf16>)
// CHECK-SAME:      outs(%[[Y]] : memref<8x64xf32>)
// CHECK:         return %[[Y]]
func.func @round_trip(%z: tensor<8x64xf32> {bufferization.writable = false},
    %salt: tensor<i32> {bufferization.writable = false}) -> tensor<8x64xf32> {
  %c0 = tensor.empty() : tensor<8x1x32xi8>
  %p0 = tensor.empty() : tensor<8x1x1xbf16>
  %c:3 = act.encode ins(%z : tensor<8x64xf32>) salt(%salt : tensor<i32>)
      outs(%c0, %p0, %p0 : tensor<8x1x32xi8>, tensor<8x1x1xbf16>, tensor<8x1x1xbf16>)
      {encoding = #g4}
  %z0 = tensor.empty() : tensor<8x64xf32>
  %z1 = act.decode ins(%c#0, %c#1, %c#2 : tensor<8x1x32xi8>, tensor<8x1x1xbf16>, tensor<8x1x1xbf16>)
      outs(%z0 : tensor<8x64xf32>) {encoding = #g4}
  return %z1 : tensor<8x64xf32>
}

// A row of a stack is written where it is; the elements of a destination are not
// read, hence not copied.
// CHECK-LABEL: func.func @in_place(
// CHECK-SAME:    %[[M:.*]]: memref<16xi1>, %[[STACK:.*]]: memref<3x2xi8>)
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     memref.copy
// CHECK:         %[[ROW:.*]] = memref.subview %[[STACK]][1, 0] [1, 2] [1, 1]
// CHECK:         act.encode ins(%[[M]] : memref<16xi1>) outs(%[[ROW]]
// CHECK-NOT:     memref.copy
// CHECK:         return %[[STACK]]
func.func @in_place(%m: tensor<16xi1> {bufferization.writable = false},
    %stack: tensor<3x2xi8> {bufferization.writable = true}) -> tensor<3x2xi8> {
  %row = tensor.extract_slice %stack[1, 0] [1, 2] [1, 1] : tensor<3x2xi8> to tensor<2xi8>
  %c = act.encode ins(%m : tensor<16xi1>) outs(%row : tensor<2xi8>) {encoding = #act.mask}
  %pushed = tensor.insert_slice %c into %stack[1, 0] [1, 2] [1, 1] : tensor<2xi8> into tensor<3x2xi8>
  return %pushed : tensor<3x2xi8>
}

// Where the destination is read later, another buffer is written.
// CHECK-LABEL: func.func @kept(
// CHECK-SAME:    %[[M:.*]]: memref<16xi1>, %[[C:.*]]: memref<2xi8>)
// CHECK:         %[[NEW:.*]] = memref.alloc() {{.*}}: memref<2xi8>
// CHECK-NOT:     memref.copy
// CHECK:         act.encode ins(%[[M]] : memref<16xi1>) outs(%[[NEW]] : memref<2xi8>)
// CHECK:         return %[[NEW]], %[[C]]
func.func @kept(%m: tensor<16xi1> {bufferization.writable = false},
    %c0: tensor<2xi8> {bufferization.writable = true}) -> (tensor<2xi8>, tensor<2xi8>) {
  %c = act.encode ins(%m : tensor<16xi1>) outs(%c0 : tensor<2xi8>) {encoding = #act.mask}
  return %c, %c0 : tensor<2xi8>, tensor<2xi8>
}
