// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s

// Backward begins with an operation that reads nothing late: neither the load nor the
// copy of %b has anything to wait for, and the verifier does not ask for it. So it is
// with the gradient of `h * h / 2`, which is h.

// CHECK-LABEL: func.func @step(
// CHECK:         act.compressed_save
// CHECK:         %[[Y:.*]] = "stablehlo.dot"
// CHECK-NOT:     act.barrier
// CHECK:         %[[L:.*]] = act.dequantize_load
// CHECK:         "stablehlo.dot"(%[[L]],
!t = tensor<128x128xf32>
func.func @step(%x: !t, %w: !t) -> (!t, !t) {
  %k = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%k) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> !t
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.multiply"(%z, %b) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%s, %w) : (!t, !t) -> !t
  %d = "stablehlo.dot"(%z, %b) : (!t, !t) -> !t
  return %y, %d : !t, !t
}
