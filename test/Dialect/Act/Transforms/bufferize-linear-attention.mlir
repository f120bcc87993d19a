// Destinations are written in place; those that are read elsewhere are copied.

// RUN: act-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" | FileCheck %s

// CHECK-LABEL: func.func @in_place
// CHECK-SAME: (%[[Q:.*]]: memref<1x7x2x4xf32>, %[[O:.*]]: memref<1x7x2x4xf32>, %[[S:.*]]: memref<1x2x4x4xf32>)
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.copy
// CHECK: act.linear_attention ins(%[[Q]], %[[Q]], %[[Q]] : memref<1x7x2x4xf32>, memref<1x7x2x4xf32>, memref<1x7x2x4xf32>) outs(%[[O]], %[[S]] : memref<1x7x2x4xf32>, memref<1x2x4x4xf32>) {feature_map = #act.square}
// CHECK-NOT: memref.copy
// CHECK: act.linear_attention_state ins(%[[Q]], %[[Q]] : memref<1x7x2x4xf32>, memref<1x7x2x4xf32>) outs(%[[S]] : memref<1x2x4x4xf32>)
// CHECK-NOT: memref.copy
// CHECK: return %[[O]], %[[S]]
func.func @in_place(%q: tensor<1x7x2x4xf32> {bufferization.writable = false},
    %o: tensor<1x7x2x4xf32> {bufferization.writable = true},
    %s: tensor<1x2x4x4xf32> {bufferization.writable = true})
    -> (tensor<1x7x2x4xf32>, tensor<1x2x4x4xf32>) {
  %r:2 = act.linear_attention
      ins(%q, %q, %q : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>)
      outs(%o, %s : tensor<1x7x2x4xf32>, tensor<1x2x4x4xf32>) {feature_map = #act.square}
  %t = act.linear_attention_state
      ins(%q, %q : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>)
      outs(%r#1 : tensor<1x2x4x4xf32>) {feature_map = #act.square}
  return %r#0, %t : tensor<1x7x2x4xf32>, tensor<1x2x4x4xf32>
}

// A state that is read later is copied, elements of other destinations are not.
// Destinations that are the same tensor become buffers of their own.
// CHECK-LABEL: func.func @kept
// CHECK-SAME: (%[[Q:.*]]: memref<1x7x2x4xf32>, %[[S:.*]]: memref<1x2x4x4xf32>)
// CHECK: %[[E0:.*]] = memref.alloc() {{.*}}: memref<1x7x2x4xf32>
// CHECK: %[[T:.*]] = memref.alloc() {{.*}}: memref<1x2x4x4xf32>
// CHECK: memref.copy %[[S]], %[[T]]
// CHECK: %[[E1:.*]] = memref.alloc() {{.*}}: memref<1x7x2x4xf32>
// CHECK: %[[E2:.*]] = memref.alloc() {{.*}}: memref<1x7x2x4xf32>
// CHECK-NOT: memref.copy
// CHECK: act.linear_attention_grad ins(%[[Q]], %[[Q]], %[[Q]]
// CHECK-SAME: states(%[[S]] : memref<1x2x4x4xf32>)
// CHECK-SAME: outs(%[[E0]], %[[E1]], %[[E2]], %[[T]] : memref<1x7x2x4xf32>, memref<1x7x2x4xf32>, memref<1x7x2x4xf32>, memref<1x2x4x4xf32>)
// CHECK: return %[[T]]
func.func @kept(%q: tensor<1x7x2x4xf32> {bufferization.writable = false},
    %s: tensor<1x2x4x4xf32> {bufferization.writable = false}) -> tensor<1x2x4x4xf32> {
  %e = tensor.empty() : tensor<1x7x2x4xf32>
  %r:4 = act.linear_attention_grad
      ins(%q, %q, %q : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>)
      gradient(%q : tensor<1x7x2x4xf32>) states(%s : tensor<1x2x4x4xf32>)
      outs(%e, %e, %e, %s : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x2x4x4xf32>)
      {feature_map = #act.square}
  return %r#3 : tensor<1x2x4x4xf32>
}
