// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition))' \
// RUN:   --remarks-filter='act.*' --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

!t = tensor<128x128xf32>
!s = tensor<127x128xf32>

// CHECK-NOT: act.

// Nothing of 16384 elements or more crosses.

// REMARK: left-alone.mlir:[[@LINE+2]]{{.*}}: remark: [Missed] Partition | Category:act | Remark="left alone: no value of ", Remark=16384, Remark=" elements or more crosses into backward"
// CHECK-LABEL: func.func @small(
func.func @small(%x: !s, %w: !t) -> (!s, !s) {
  %z = "stablehlo.dot"(%x, %w) : (!s, !t) -> !s
  %s = "stablehlo.sine"(%z) : (!s) -> !s
  %y = "stablehlo.dot"(%s, %w) : (!s, !t) -> !s
  %d = "stablehlo.multiply"(%s, %y) : (!s, !s) -> !s
  return %y, %d : !s, !s
}

// Constants are not worth a save, whatever their size.

// REMARK: left-alone.mlir:[[@LINE+2]]{{.*}}: remark: [Missed]
// CHECK-LABEL: func.func @constants(
func.func @constants(%x: !t, %w: !t) -> (!t, !t) {
  %k = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
  %b = "stablehlo.broadcast_in_dim"(%k) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> !t
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%z, %b) : (!t, !t) -> !t
  %d = "stablehlo.multiply"(%y, %b) : (!t, !t) -> !t
  return %y, %d : !t, !t
}

// What is produced at or after the last contraction of forward is about to be
// read: saving it would only add a copy (rule R6).

// REMARK: left-alone.mlir:[[@LINE+2]]{{.*}}: remark: [Missed]
// CHECK-LABEL: func.func @head(
func.func @head(%x: !t, %w: !t) -> (!t, !t) {
  %y = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %e = "stablehlo.exponential"(%y) : (!t) -> !t
  %l = "stablehlo.sine"(%e) : (!t) -> !t
  %d = "stablehlo.multiply"(%y, %e) : (!t, !t) -> !t
  return %l, %d : !t, !t
}

// Private functions are inlined first (act-inline); external ones have no body.

// REMARK-NOT: remark
// CHECK-LABEL: func.func private @callee(
// CHECK-LABEL: func.func private @external(
func.func private @callee(%x: !t, %w: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %s = "stablehlo.sine"(%z) : (!t) -> !t
  %y = "stablehlo.dot"(%s, %w) : (!t, !t) -> !t
  %d = "stablehlo.multiply"(%s, %y) : (!t, !t) -> !t
  return %y, %d : !t, !t
}
func.func private @external(!t) -> !t
