// RUN: act-opt %s --convert-stablehlo-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-DAG: #[[$IN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2 * 3)>
// CHECK-DAG: #[[$WINDOW:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-DAG: #[[$OUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// Only dimensions in which windows are longer than 1 get a loop.
// CHECK-LABEL: func.func @reduce_window(
// CHECK-SAME:    %[[X:.*]]: tensor<4x9xf32>, %{{.*}}: tensor<f32>)
// CHECK:         %[[P:.*]] = tensor.insert_slice %[[X]] into %{{.*}}[0, 1] [4, 9] [1, 1] : tensor<4x9xf32> into tensor<4x11xf32>
// CHECK:         %[[W:.*]] = tensor.empty() : tensor<2xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[$IN]], #[[$WINDOW]], #[[$OUT]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME:      ins(%[[P]], %[[W]] : tensor<4x11xf32>, tensor<2xf32>) outs(%{{.*}} : tensor<4x4xf32>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %{{.*}}: f32, %[[B:.*]]: f32):
// CHECK-NEXT:      arith.addf %[[B]], %[[A]] : f32
func.func @reduce_window(%x: tensor<4x9xf32>, %z: tensor<f32>) -> tensor<4x4xf32> {
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>, window_dilations = array<i64: 1, 3>, padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<4x9xf32>, tensor<f32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// One loop chooses, one collects; nothing is written twice.
// CHECK-LABEL: func.func @select_and_scatter(
// CHECK-SAME:    %[[X:.*]]: tensor<9xf32>, %[[S:.*]]: tensor<4xf32>)
// CHECK:         %[[C:.*]]:2 = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[X]], %{{.*}} : tensor<9xf32>, tensor<3xf32>) outs(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi32>)
// CHECK:           arith.cmpf oge
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} {{.*}} outs(%{{.*}} : tensor<9xf32>)
// CHECK-DAG:       tensor.extract %[[C]]#1[%[[N:.*]]] : tensor<4xi32>
// CHECK-DAG:       tensor.extract %[[S]][%[[N]]] : tensor<4xf32>
// CHECK:           arith.addf
// CHECK:           arith.select
func.func @select_and_scatter(%x: tensor<9xf32>, %s: tensor<4xf32>) -> tensor<9xf32> {
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

func.func @sizes(%x: tensor<9xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op expects 1 integers as 'window_dimensions', got array<i64: 2, 2>}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @stride(%x: tensor<9xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{expects positive sizes, strides and dilations, got 0}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @padding(%x: tensor<9xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{expects 1x2 integers of i64 as 'padding', got dense<0> : tensor<2x1xi64>}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>, padding = dense<0> : tensor<2x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<f32>) -> tensor<8xf32>
  return
}

// -----

func.func @result(%x: tensor<9xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op expects 'tensor<8xf32>' as result #0, got 'tensor<9xf32>'}}
  %0 = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<f32>) -> tensor<9xf32>
  return
}

// -----

func.func @source(%x: tensor<9xf32>, %s: tensor<5xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op expects 'tensor<4xf32>' as operand #1, got 'tensor<5xf32>'}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<5xf32>, tensor<f32>) -> tensor<9xf32>
  return
}

// -----

func.func @selection(%x: tensor<9xf32>, %s: tensor<4xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op expects 'tensor<i1>' as result of the first region, got 'tensor<f32>'}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<9xf32>, tensor<4xf32>, tensor<f32>) -> tensor<9xf32>
  return
}
