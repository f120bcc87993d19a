// RUN: act-opt %s --convert-stablehlo-to-linalg | FileCheck %s

// CHECK-DAG: #[[$ROWS:.*]] = affine_map<(d0, d1) -> (d0)>

// The last loop goes along rows of the operand.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.*]]: tensor<9x4xf32>, %[[I:.*]]: tensor<5x1xi32>)
// CHECK:         %[[C:.*]] = tensor.collapse_shape %[[I]] {{.*}} : tensor<5x1xi32> into tensor<5xi32>
// CHECK:         linalg.generic {indexing_maps = [#[[$ROWS]], #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%[[C]] : tensor<5xi32>) outs(%{{.*}} : tensor<5x4xf32>)
// CHECK-NEXT:    ^bb0(%[[N:.*]]: i32, %{{.*}}: f32):
// CHECK-DAG:       %[[LAST:.*]] = arith.constant 8 : index
// CHECK-DAG:       %[[FIRST:.*]] = arith.constant 0 : index
// CHECK-DAG:       %[[K:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK:           %[[L:.*]] = arith.maxsi %[[K]], %[[FIRST]] : index
// CHECK:           %[[R:.*]] = arith.minsi %[[L]], %[[LAST]] : index
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           tensor.extract %[[X]][%[[R]], %[[J]]]
func.func @rows(%x: tensor<9x4xf32>, %i: tensor<5x1xi32>) -> tensor<5x4xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<9x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// Blocks as long as the operand start at 0, whatever the index.
// CHECK-LABEL: func.func @whole(
// CHECK-NOT:     ins(
// CHECK:         return
func.func @whole(%x: tensor<9x1xf32>, %i: tensor<1xi32>) -> tensor<9xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1]>, slice_sizes = array<i64: 9, 1>}> : (tensor<9x1xf32>, tensor<1xi32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// The gradient of an embedding: rows that are inside are added.
// CHECK-LABEL: func.func @add_rows(
// CHECK-SAME:    %[[X:.*]]: tensor<9x4xf32>, %[[I:.*]]: tensor<5x1xi32>, %[[U:.*]]: tensor<5x4xf32>)
// CHECK-DAG:     %[[ONE:.*]] = arith.constant 1 : index
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[LAST:.*]] = arith.constant 8 : index
// CHECK-DAG:     %[[FIVE:.*]] = arith.constant 5 : index
// CHECK:         scf.for %[[N:.*]] = %[[ZERO]] to %[[FIVE]] step %[[ONE]] iter_args(%[[A:.*]] = %[[X]])
// CHECK:           %[[E:.*]] = tensor.extract %[[I]][%[[N]], %[[ZERO]]]
// CHECK:           %[[K:.*]] = arith.index_cast %[[E]] : i32 to index
// CHECK:           %[[P:.*]] = arith.cmpi ule, %[[K]], %[[LAST]] : index
// CHECK:           scf.if %[[P]]
// CHECK:             %[[OLD:.*]] = tensor.extract_slice %[[A]][%[[K]], 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
// CHECK:             %[[ROW:.*]] = tensor.extract_slice %[[U]][%[[N]], 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<4xf32>
// CHECK:             %[[NEW:.*]] = linalg.generic {{.*}} ins(%[[ROW]] : tensor<4xf32>) outs(%[[OLD]] : tensor<4xf32>)
// CHECK:             tensor.insert_slice %[[NEW]] into %[[A]][%[[K]], 0] [1, 4] [1, 1]
// CHECK:           else
// CHECK-NEXT:        scf.yield %[[A]]
func.func @add_rows(%x: tensor<9x4xf32>, %i: tensor<5x1xi32>, %u: tensor<5x4xf32>) -> tensor<9x4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<9x4xf32>, tensor<5x1xi32>, tensor<5x4xf32>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// The gradient of picking one element from each row is no loop over rows.
// CHECK-LABEL: func.func @pick(
// CHECK-NOT:     scf.for
// CHECK:         linalg.generic {indexing_maps = [#[[$ROWS]], #[[$ROWS]], #{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel"]}
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           %[[HIT:.*]] = arith.cmpi eq, %[[J]], %{{.*}} : index
// CHECK:           arith.select %[[HIT]]
func.func @pick(%i: tensor<5x1x1xi32>, %u: tensor<5x1xf32>) -> tensor<5x9xf32> {
  %z = "stablehlo.constant"() <{value = dense<0.0> : tensor<5x9xf32>}> : () -> tensor<5x9xf32>
  %0 = "stablehlo.scatter"(%z, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<5x9xf32>, tensor<5x1x1xi32>, tensor<5x1xf32>) -> tensor<5x9xf32>
  return %0 : tensor<5x9xf32>
}

// Single elements are no slices.
// CHECK-LABEL: func.func @set_elements(
// CHECK:         scf.for
// CHECK-NOT:       tensor.extract_slice
// CHECK:           tensor.insert %{{.*}} into %{{.*}}[%{{.*}}, %{{.*}}] : tensor<3x4xi32>
func.func @set_elements(%x: tensor<3x4xi32>, %i: tensor<5x2xi32>, %u: tensor<5xi32>) -> tensor<3x4xi32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    "stablehlo.return"(%b) : (tensor<i32>) -> ()
  }) : (tensor<3x4xi32>, tensor<5x2xi32>, tensor<5xi32>) -> tensor<3x4xi32>
  return %0 : tensor<3x4xi32>
}
