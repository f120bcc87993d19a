// RUN: act-opt %s --convert-stablehlo-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// Rows, passes, elements; a pass is copied back.
// CHECK-LABEL: func.func @sort(
// CHECK-SAME:    %[[X:.*]]: tensor<9x4xf32>, %[[N:.*]]: tensor<9x4xi32>)
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : tensor<9x4xf32>) outs(%{{.*}} : tensor<4x9xf32>)
// CHECK:         %[[ROWS:.*]]:2 = scf.for {{.*}} -> (tensor<4x9xf32>, tensor<4x9xi32>)
// CHECK:           tensor.extract_slice %{{.*}}[%{{.*}}, 0] [1, 9] [1, 1] : tensor<4x9xf32> to tensor<9xf32>
// CHECK:           scf.for {{.*}} -> (tensor<9xf32>, tensor<9xi32>)
// CHECK:             scf.for {{.*}} -> (index, index, tensor<9xf32>, tensor<9xi32>)
// CHECK:               arith.cmpf olt
// CHECK:               tensor.insert
// CHECK:             linalg.generic {{.*}} outs(%{{.*}} : tensor<9xf32>)
// CHECK:           tensor.insert_slice
// CHECK:         linalg.generic {{.*}} ins(%[[ROWS]]#0 : tensor<4x9xf32>) outs(%{{.*}} : tensor<9x4xf32>)
func.func @sort(%x: tensor<9x4xf32>, %n: tensor<9x4xi32>) -> (tensor<9x4xf32>, tensor<9x4xi32>) {
  %0:2 = "stablehlo.sort"(%x, %n) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i: tensor<i32>, %j: tensor<i32>):
    %1 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }) : (tensor<9x4xf32>, tensor<9x4xi32>) -> (tensor<9x4xf32>, tensor<9x4xi32>)
  return %0#0, %0#1 : tensor<9x4xf32>, tensor<9x4xi32>
}

// CHECK-LABEL: func.func @nothing_to_sort(
// CHECK-SAME:    %[[X:.*]]: tensor<1x4xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @nothing_to_sort(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// CHECK-LABEL: func.func @top_k(
// CHECK:         scf.for
// CHECK:         tensor.extract_slice %{{.*}}[0, 0] [2, 3] [1, 1] : tensor<2x9xf32> to tensor<2x3xf32>
// CHECK:         tensor.extract_slice %{{.*}}[0, 0] [2, 3] [1, 1] : tensor<2x9xi32> to tensor<2x3xi32>
func.func @top_k(%x: tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %0:2 = "chlo.top_k"(%x) <{k = 3 : i64}> : (tensor<2x9xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
}

// -----

func.func @dimension(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.sort' op expects a dimension of 1 as 'dimension', got 1}}
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @comparator(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.sort' op expects 'tensor<i1>' as result of the region, got 'tensor<f32>'}}
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    "stablehlo.return"(%a) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @too_many(%x: tensor<2x9xf32>) {
  // expected-error @+1 {{'chlo.top_k' op expects an integer in [0, 10) as 'k', got 10 : i64}}
  %0:2 = "chlo.top_k"(%x) <{k = 10 : i64}> : (tensor<2x9xf32>) -> (tensor<2x10xf32>, tensor<2x10xi32>)
  return
}
