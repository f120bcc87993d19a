// RUN: act-opt %s --act-expand-vector-exp | FileCheck %s

// Two multiplications with an addition for the remainder, six for the polynomial.
// CHECK-LABEL: func.func @vector(
// CHECK-NOT:     math.exp
// CHECK:         math.roundeven
// CHECK-COUNT-8: math.fma
// CHECK-NOT:     math.fma
// CHECK:         arith.fptosi {{.*}} : vector<8xf32> to vector<8xi32>
// CHECK:         return
func.func @vector(%x: vector<8xf32>) -> vector<8xf32> {
  %0 = math.exp %x : vector<8xf32>
  return %0 : vector<8xf32>
}

// A scalar in the same way, so that it does not matter where it is computed.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     math.exp %{{.*}} : f32
// CHECK:         math.roundeven %{{.*}} : f32
// CHECK:         math.exp %{{.*}} : vector<4xf64>
func.func @others(%x: f32, %y: vector<4xf64>) -> (f32, vector<4xf64>) {
  %0 = math.exp %x : f32
  %1 = math.exp %y : vector<4xf64>
  return %0, %1 : f32, vector<4xf64>
}
