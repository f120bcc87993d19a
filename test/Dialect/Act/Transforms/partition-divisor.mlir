// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s

!t = tensor<128x128xf32>

// Backward divides by a product of %z: rounded to zero, %z would make the gradient
// infinite. %u only enters a sum that is divided by, and may be rounded.

// CHECK-LABEL: func.func @divisor(
// CHECK:         %[[Z:.*]] = "stablehlo.dot"
// CHECK-NEXT:    act.compressed_save %[[Z]] exact <divisor>
// CHECK:         %[[U:.*]] = "stablehlo.dot"
// CHECK-NEXT:    act.compressed_save %[[U]] {id = 1 : i64} :
func.func @divisor(%x: !t, %w: !t) -> (!t, !t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %u = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%u, %w) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %zz = "stablehlo.multiply"(%z, %z) : (!t, !t) -> !t
  %d = "stablehlo.divide"(%g, %zz) : (!t, !t) -> !t
  %e = "stablehlo.exponential"(%u) : (!t) -> !t
  %s = "stablehlo.add"(%e, %g) : (!t, !t) -> !t
  %f = "stablehlo.divide"(%g, %s) : (!t, !t) -> !t
  return %y, %d, %f : !t, !t, !t
}

// The same for an argument of a logarithm.

// CHECK-LABEL: func.func @logarithm(
// CHECK:         %[[Z:.*]] = "stablehlo.dot"
// CHECK-NEXT:    act.compressed_save %[[Z]] exact <divisor>
func.func @logarithm(%x: !t, %w: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %a = "stablehlo.abs"(%z) : (!t) -> !t
  %l = "stablehlo.log"(%a) : (!t) -> !t
  %d = "stablehlo.multiply"(%y, %l) : (!t, !t) -> !t
  return %y, %d : !t, !t
}
