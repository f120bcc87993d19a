// RUN: act-opt %s --act-normalize --split-input-file | FileCheck %s

// Sums of products of which only a permutation is used write the permutation.
// CHECK-DAG: #[[$LHS:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$RHS:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[$OUT:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-LABEL: func.func @transposed
// CHECK: tensor.empty() : tensor<5x3xf32>
// CHECK: linalg.generic {indexing_maps = [#[[$LHS]], #[[$RHS]], #[[$OUT]]]
// CHECK-NOT: linalg.generic
// CHECK: return %{{.*}} : tensor<5x3xf32>
func.func @transposed(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>) -> tensor<5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %p = linalg.matmul ins(%a, %b : tensor<3x4xf32>, tensor<4x5xf32>)
      outs(%f : tensor<3x5xf32>) -> tensor<3x5xf32>
  %t = tensor.empty() : tensor<5x3xf32>
  %r = linalg.transpose ins(%p : tensor<3x5xf32>) outs(%t : tensor<5x3xf32>)
      permutation = [1, 0]
  return %r : tensor<5x3xf32>
}

// -----

// Not if the product itself is used, too.
// CHECK-LABEL: func.func @used_twice
// CHECK: linalg.generic
// CHECK: linalg.generic
func.func @used_twice(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>)
    -> (tensor<5x3xf32>, tensor<3x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %p = linalg.matmul ins(%a, %b : tensor<3x4xf32>, tensor<4x5xf32>)
      outs(%f : tensor<3x5xf32>) -> tensor<3x5xf32>
  %t = tensor.empty() : tensor<5x3xf32>
  %r = linalg.transpose ins(%p : tensor<3x5xf32>) outs(%t : tensor<5x3xf32>)
      permutation = [1, 0]
  return %r, %p : tensor<5x3xf32>, tensor<3x5xf32>
}

// -----

// CHECK-LABEL: func.func @zero_sum
// CHECK: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: linalg.yield %[[IN]]
func.func @zero_sum(%a: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                       iterator_types = ["parallel"]}
      ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %zero, %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Dimensions of extent 1 go; fills stay what they are.
// CHECK-LABEL: func.func @unit
// CHECK: linalg.fill
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction"]
func.func @unit(%a: tensor<1x4xf32>) -> tensor<1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<1x4xf32>) outs(%f : tensor<1xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<1xf32>
  return %r : tensor<1xf32>
}
