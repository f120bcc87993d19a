// RUN: act-opt %s --convert-stablehlo-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[$KEPT:.*]] = affine_map<(d0, d1, d2) -> (d1)>

// CHECK-LABEL: func.func @maximum(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3x4xf32>)
// CHECK:         %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
// CHECK:         %[[F:.*]] = linalg.fill ins(%[[LEAST]] : f32)
// CHECK:         linalg.generic {indexing_maps = [#[[$ID]], #[[$KEPT]]], iterator_types = ["reduction", "parallel", "reduction"]} ins(%[[X]] : {{.*}}) outs(%[[F]] : tensor<3xf32>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-NEXT:      arith.maximumf %[[B]], %[[A]] : f32
func.func @maximum(%x: tensor<2x3x4xf32>) -> tensor<3xf32> {
  %least = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.reduce"(%x, %least) <{dimensions = array<i64: 0, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Sums of narrow floats are kept in f32; other reductions are exact anyway.
// CHECK-LABEL: func.func @narrow(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<4x8xbf16>) outs(%{{.*}} : tensor<4xf32>)
// CHECK:           arith.extf %{{.*}} : bf16 to f32
// CHECK-NEXT:      arith.addf
// CHECK:         arith.truncf
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<4x8xbf16>) outs(%{{.*}} : tensor<4xbf16>)
// CHECK-NOT:       arith.extf
// CHECK:           arith.minimumf
func.func @narrow(%x: tensor<4x8xbf16>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<bf16>}> : () -> tensor<bf16>
  %0 = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = "stablehlo.add"(%a, %b) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
    "stablehlo.return"(%1) : (tensor<bf16>) -> ()
  }) : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4xbf16>
  %2 = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = "stablehlo.minimum"(%a, %b) : (tensor<bf16>, tensor<bf16>) -> tensor<bf16>
    "stablehlo.return"(%1) : (tensor<bf16>) -> ()
  }) : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4xbf16>
  return %0, %2 : tensor<4xbf16>, tensor<4xbf16>
}

// Several results are one loop.
// CHECK-LABEL: func.func @pair(
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<9xf32>, tensor<9xi32>) outs(%{{.*}}, %{{.*}} : tensor<f32>, tensor<i32>)
// CHECK:           arith.cmpf oge
// CHECK:           linalg.yield %{{.*}}, %{{.*}} : f32, i32
// CHECK-NEXT:    } -> (tensor<f32>, tensor<i32>)
func.func @pair(%x: tensor<9xf32>, %n: tensor<9xi32>, %x0: tensor<f32>, %n0: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %0:2 = "stablehlo.reduce"(%x, %n, %x0, %n0) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %i: tensor<i32>, %b: tensor<f32>, %j: tensor<i32>):
    %1 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = "stablehlo.select"(%1, %a, %b) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %3 = "stablehlo.select"(%1, %i, %j) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%2, %3) : (tensor<f32>, tensor<i32>) -> ()
  }) : (tensor<9xf32>, tensor<9xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// -----

func.func @operand_count(%x: tensor<9xf32>) {
  // expected-error @+1 {{'stablehlo.reduce' op expects an input and an initial value per result, got 1 operands for 1 results}}
  %0 = "stablehlo.reduce"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>) -> tensor<f32>
  return
}

// -----

func.func @initial(%x: tensor<9xf32>, %z: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.reduce' op expects 'tensor<f32>' as operand #1, got 'tensor<i32>'}}
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<i32>) -> tensor<f32>
  return
}

// -----

func.func @dimensions(%x: tensor<9xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{expects distinct dimensions below 1 as 'dimensions', got [1]}}
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @result(%x: tensor<9xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op expects 'tensor<f32>' as result #0, got 'tensor<9xf32>'}}
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  return
}

// -----

func.func @argument_count(%x: tensor<9xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op expects a region of one block with 2 arguments}}
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @argument_type(%x: tensor<9xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op expects 'tensor<f32>' as argument or result of the region, got 'tensor<f64>'}}
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    "stablehlo.return"(%a) : (tensor<f64>) -> ()
  }) : (tensor<9xf32>, tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @region_operation(%x: tensor<9xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op expects a region of elementwise operations on rank-0 tensors}}
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // expected-note @+1 {{got 'stablehlo.reshape'}}
    %1 = "stablehlo.reshape"(%a) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<f32>) -> tensor<f32>
  return
}
