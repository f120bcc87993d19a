// RUN: act-opt %s --split-input-file --act-memory -o /dev/null | FileCheck %s
// RUN: act-opt %s --split-input-file --act-memory=unfused -o /dev/null | FileCheck %s --check-prefix=UNFUSED

// One tensor of 64x1024xf32 has 262144 bytes. The first product is read by one
// loop only, which writes over it; that result is alive while the second product
// is.

// CHECK-LABEL: "function": "chain",
// CHECK-NEXT:  "packed": 524288,
// CHECK-NEXT:  "peak": 524288,
// CHECK-NEXT:  "lower_bound": 262144,
// CHECK-NEXT:  "positions": 5,
// CHECK-NEXT:  "peak_position": 2,
// CHECK-NEXT:  "timeline": [
// CHECK-NEXT:    262144,
// CHECK-NEXT:    262144,
// CHECK-NEXT:    524288,
// CHECK-NEXT:    524288,
// CHECK-NEXT:    0

// UNFUSED-LABEL: "function": "chain",
// UNFUSED-NEXT:  "packed": 524288,
// UNFUSED-NEXT:  "peak": 524288,
// UNFUSED-NEXT:  "lower_bound": 262144,
// UNFUSED-NEXT:  "positions": 7,
func.func @chain(%x: tensor<64x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<64x1024xf32> {
  %z = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32>
  %a = "stablehlo.add"(%z, %x) : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %b = "stablehlo.multiply"(%a, %a) : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %t = "stablehlo.tanh"(%b) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %y = "stablehlo.dot_general"(%t, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32>
  %r = "stablehlo.add"(%y, %t) : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %r : tensor<64x1024xf32>
}

// -----

// Everything is computed in the loop that writes the result.

// CHECK-LABEL: "function": "elementwise",
// CHECK-NEXT:  "packed": 0,
// UNFUSED-LABEL: "function": "elementwise",
// UNFUSED-NEXT:  "packed": 262144,
func.func @elementwise(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %0 = "stablehlo.tanh"(%x) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %1 = "stablehlo.negate"(%0) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %2 = "stablehlo.exponential"(%1) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %2 : tensor<64x1024xf32>
}

// -----

// A barrier holds the first operation apart from the second.

// CHECK-LABEL: "function": "barrier",
// CHECK-NEXT:  "packed": 262144,
func.func @barrier(%x: tensor<64x1024xf32>, %y: tensor<f32>) -> (tensor<64x1024xf32>, tensor<f32>) {
  %0 = "stablehlo.negate"(%x) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %1:2 = "stablehlo.optimization_barrier"(%0, %y) : (tensor<64x1024xf32>, tensor<f32>) -> (tensor<64x1024xf32>, tensor<f32>)
  %2 = "stablehlo.exponential"(%1#0) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %2, %1#1 : tensor<64x1024xf32>, tensor<f32>
}

// -----

// A value that is expensive and read twice is computed once, a cheap one twice.

// CHECK-LABEL: "function": "expensive",
// CHECK-NEXT:  "packed": 262144,
func.func @expensive(%x: tensor<64x1024xf32>, %w: tensor<1024x1024xf32>) -> (tensor<64x1024xf32>, tensor<64x1024xf32>) {
  %t = "stablehlo.tanh"(%x) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %0 = "stablehlo.negate"(%t) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %1 = "stablehlo.abs"(%t) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %0, %1 : tensor<64x1024xf32>, tensor<64x1024xf32>
}

// -----

// CHECK-LABEL: "function": "cheap",
// CHECK-NEXT:  "packed": 0,
func.func @cheap(%x: tensor<64x1024xf32>) -> (tensor<64x1024xf32>, tensor<64x1024xf32>) {
  %t = "stablehlo.negate"(%x) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %0 = "stablehlo.exponential"(%t) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %1 = "stablehlo.abs"(%t) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %0, %1 : tensor<64x1024xf32>, tensor<64x1024xf32>
}

// -----

// A call of a library computes the exponentials of a softmax; what is kept are they
// and 64 sums.

// CHECK-LABEL: "function": "softmax",
// CHECK-NEXT:  "packed": 262400,
func.func @softmax(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %infinity = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %most = "stablehlo.reduce"(%x, %infinity) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%m) : (tensor<f32>) -> ()
  }) : (tensor<64x1024xf32>, tensor<f32>) -> tensor<64xf32>
  %repeated = "stablehlo.broadcast_in_dim"(%most) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x1024xf32>
  %shifted = "stablehlo.subtract"(%x, %repeated) : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %e = "stablehlo.exponential"(%shifted) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
  %sum = "stablehlo.reduce"(%e, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<64x1024xf32>, tensor<f32>) -> tensor<64xf32>
  %sums = "stablehlo.broadcast_in_dim"(%sum) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x1024xf32>
  %p = "stablehlo.divide"(%e, %sums) : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %p : tensor<64x1024xf32>
}

// -----

// The operand of a product that sums over two dimensions is moved first.

// CHECK-LABEL: "function": "moved",
// CHECK-NEXT:  "packed": 1048576,
// CHECK:       "operation": "stablehlo.dot_general"
func.func @moved(%g: tensor<4x64x1024xf32>, %x: tensor<4x64x512xf32>) -> tensor<1024x512xf32> {
  %w = "stablehlo.dot_general"(%g, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 1], rhs_contracting_dimensions = [0, 1]>}> : (tensor<4x64x1024xf32>, tensor<4x64x512xf32>) -> tensor<1024x512xf32>
  return %w : tensor<1024x512xf32>
}

// -----

// What is alive before a result that is as large is put into it: only the 64 sums
// are not, since the result is computed from them.

// CHECK-LABEL: "function": "in_result",
// CHECK-NEXT:  "packed": 256,
// CHECK-NEXT:  "peak": 256,
func.func @in_result(%x: tensor<64x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<64x1024xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %z = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32>
  %s = "stablehlo.reduce"(%z, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = "stablehlo.multiply"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%m) : (tensor<f32>) -> ()
  }) : (tensor<64x1024xf32>, tensor<f32>) -> tensor<64xf32>
  %t = "stablehlo.tanh"(%s) : (tensor<64xf32>) -> tensor<64xf32>
  %r = "stablehlo.broadcast_in_dim"(%t) <{broadcast_dimensions = array<i64: 0>}> : (tensor<64xf32>) -> tensor<64x1024xf32>
  %y = "stablehlo.add"(%x, %r) : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
  return %y : tensor<64x1024xf32>
}
