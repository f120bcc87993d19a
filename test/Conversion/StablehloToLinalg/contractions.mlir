// RUN: act-opt %s --convert-stablehlo-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-DAG: #[[$LHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d0, d3)>
// CHECK-DAG: #[[$RHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[$OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// CHECK-LABEL: func.func @batches(
// CHECK-SAME:    %[[X:.*]]: tensor<4x2x8xf32>, %[[Y:.*]]: tensor<2x8x3xf32>)
// CHECK:         %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK:         %[[F:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%{{.*}} : tensor<2x4x3xf32>)
// CHECK:         linalg.generic {indexing_maps = [#[[$LHS]], #[[$RHS]], #[[$OUT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK-SAME:      ins(%[[X]], %[[Y]] : {{.*}}) outs(%[[F]] : tensor<2x4x3xf32>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %[[C:.*]]: f32):
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[A]], %[[B]] : f32
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[C]], %[[P]] : f32
// CHECK-NEXT:      linalg.yield %[[S]] : f32
func.func @batches(%x: tensor<4x2x8xf32>, %y: tensor<2x8x3xf32>) -> tensor<2x4x3xf32> {
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<4x2x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// Narrow floats are summed in f32 and rounded once.
// CHECK-LABEL: func.func @narrow(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<4x3xf32>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %[[C:.*]]: f32):
// CHECK-NEXT:      %[[AW:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK-NEXT:      %[[BW:.*]] = arith.extf %[[B]] : bf16 to f32
// CHECK-NEXT:      %[[P:.*]] = arith.mulf %[[AW]], %[[BW]] : f32
// CHECK-NEXT:      arith.addf %[[C]], %[[P]] : f32
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<4x3xf32>) outs(%{{.*}} : tensor<4x3xbf16>)
// CHECK:           arith.truncf %{{.*}} : f32 to bf16
func.func @narrow(%x: tensor<4x8xbf16>, %y: tensor<8x3xbf16>) -> tensor<4x3xbf16> {
  %0 = "stablehlo.dot"(%x, %y) : (tensor<4x8xbf16>, tensor<8x3xbf16>) -> tensor<4x3xbf16>
  return %0 : tensor<4x3xbf16>
}

// CHECK-LABEL: func.func @to_scalar(
// CHECK:         linalg.generic {{.*}} iterator_types = ["reduction"]} {{.*}} outs(%{{.*}} : tensor<i32>)
// CHECK-DAG:       arith.extui %{{.*}} : i8 to i32
// CHECK:           arith.muli
// CHECK-NEXT:      arith.addi
func.func @to_scalar(%x: tensor<8xui8>, %y: tensor<8xui8>) -> tensor<i32> {
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<8xui8>, tensor<8xui8>) -> tensor<i32>
  return %0 : tensor<i32>
}

// -----

func.func @numbers(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op expects dimension numbers as 'dot_dimension_numbers'}}
  %0 = "stablehlo.dot_general"(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @range(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects distinct dimensions below 2 as 'dimensions of operand #1', got [2]}}
  %0 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [2]>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @count(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects as many contracting dimensions on both sides, got 1 and 0}}
  %0 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1]>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @size(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects equal sizes of contracting dimensions, got 8 and 4}}
  %0 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @result(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{'stablehlo.dot_general' op expects 'tensor<4x4xf32>' as result, got 'tensor<4x8xf32>'}}
  %0 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @dot_rank(%x: tensor<4x8x2xf32>) {
  // expected-error @+1 {{'stablehlo.dot' op expects vectors or matrices, got 'tensor<4x8x2xf32>'}}
  %0 = "stablehlo.dot"(%x, %x) : (tensor<4x8x2xf32>, tensor<4x8x2xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @floats_to_integers(%x: tensor<8xf32>) {
  // expected-error @+1 {{expects a result of floats for operands of floats, got 'tensor<i32>'}}
  %0 = "stablehlo.dot"(%x, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<i32>
  return
}
