// RUN: act-opt %s --convert-stablehlo-to-linalg | FileCheck %s

// CHECK-DAG: #[[$ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$SCALAR:.*]] = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func.func @add(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<2x3xf32>)
// CHECK:         %[[E:.*]] = tensor.empty() : tensor<2x3xf32>
// CHECK:         %[[R:.*]] = linalg.generic
// CHECK-SAME:      indexing_maps = [#[[$ID]], #[[$ID]], #[[$ID]]], iterator_types = ["parallel", "parallel"]
// CHECK-SAME:      ins(%[[X]], %[[Y]] : tensor<2x3xf32>, tensor<2x3xf32>) outs(%[[E]] : tensor<2x3xf32>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[A]], %[[B]] : f32
// CHECK-NEXT:      linalg.yield %[[S]] : f32
// CHECK:         return %[[R]]
func.func @add(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.add"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// One operand twice is read once, and splat constants are in the body.
// CHECK-LABEL: func.func @operands(
// CHECK-SAME:    %[[X:.*]]: tensor<2x3xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[X]] : tensor<2x3xf32>)
// CHECK-NEXT:    ^bb0(%[[A:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      arith.mulf %[[A]], %[[A]] : f32
// CHECK:         linalg.generic {{.*}} ins(%{{.*}} : tensor<2x3xf32>) outs
// CHECK-NEXT:    ^bb0(%[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT:      arith.maximumf %[[B]], %[[HALF]] : f32
// CHECK-NOT:     linalg.generic
func.func @operands(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %half = "stablehlo.constant"() <{value = dense<0.5> : tensor<f32>}> : () -> tensor<f32>
  %all = "stablehlo.broadcast_in_dim"(%half) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x3xf32>
  %0 = "stablehlo.multiply"(%x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "stablehlo.maximum"(%0, %all) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @scalar_operands(
// CHECK-SAME:    %[[P:.*]]: tensor<i1>, %[[X:.*]]: tensor<2x3xf32>, %[[Y:.*]]: tensor<2x3xf32>)
// CHECK:         linalg.generic {indexing_maps = [#[[$SCALAR]], #[[$ID]], #[[$ID]], #[[$ID]]]
// CHECK-SAME:      ins(%[[P]], %[[X]], %[[Y]] : tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>)
// CHECK:           arith.select
func.func @scalar_operands(%p: tensor<i1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "stablehlo.select"(%p, %x, %y) : (tensor<i1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Types lose their sign, operations and attributes keep it.
// CHECK-LABEL: func.func @unsigned(
// CHECK-SAME:    %{{.*}}: tensor<4xi32> {act.element_type = ui32, jax.name = "x"}, %{{.*}}: tensor<4xi32>)
// CHECK-SAME:    -> (tensor<4xf32>, tensor<4xi32> {act.element_type = ui32})
// CHECK:         arith.cmpi ult
// CHECK:         arith.shrui
// CHECK:         arith.uitofp
// CHECK-NOT:     ui32
func.func @unsigned(%x: tensor<4xui32> {jax.name = "x"}, %y: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xui32>) {
  %two = "stablehlo.constant"() <{value = dense<2> : tensor<4xui32>}> : () -> tensor<4xui32>
  %p = "stablehlo.compare"(%x, %two) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  %s = "stablehlo.shift_right_logical"(%x, %two) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  %c = "stablehlo.select"(%p, %x, %s) : (tensor<4xi1>, tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  %f = "stablehlo.convert"(%c) : (tensor<4xui32>) -> tensor<4xf32>
  return %f, %c : tensor<4xf32>, tensor<4xui32>
}

// Shifts and divisions by constants need no care.
// CHECK-LABEL: func.func @by_constants(
// CHECK-NOT:     arith.select
// CHECK-NOT:     arith.cmpi
// CHECK:         return
func.func @by_constants(%x: tensor<4xi32>) -> tensor<4xi32> {
  %three = "stablehlo.constant"() <{value = dense<3> : tensor<4xi32>}> : () -> tensor<4xi32>
  %0 = "stablehlo.shift_left"(%x, %three) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = "stablehlo.divide"(%0, %three) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}

// CHECK-LABEL: func.func @by_variables(
// CHECK:         arith.cmpi ule
// CHECK:         arith.cmpi eq
func.func @by_variables(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = "stablehlo.shift_left"(%x, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %1 = "stablehlo.divide"(%0, %y) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %1 : tensor<4xi32>
}

// Constants fold, whatever their shape.
// CHECK-LABEL: func.func @folds(
// CHECK-NEXT:    %[[C:.*]] = arith.constant dense<7> : tensor<2x2xi32>
// CHECK-NEXT:    return %[[C]]
func.func @folds() -> tensor<2x2xi32> {
  %a = "stablehlo.constant"() <{value = dense<3> : tensor<2x2xi32>}> : () -> tensor<2x2xi32>
  %b = "stablehlo.constant"() <{value = dense<4> : tensor<2x2xi32>}> : () -> tensor<2x2xi32>
  %0 = "stablehlo.add"(%a, %b) : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

// Nothing is computed for results without elements.
// CHECK-LABEL: func.func @empty(
// CHECK-NEXT:    %[[E:.*]] = tensor.empty() : tensor<0x3xf32>
// CHECK-NEXT:    return %[[E]]
func.func @empty(%x: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %0 = "stablehlo.tanh"(%x) : (tensor<0x3xf32>) -> tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}

// CHECK-LABEL: func.func @bitcast_parts(
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<3x2xi32>)
// CHECK:           arith.shrui
// CHECK:           arith.trunci %{{.*}} : i64 to i32
// CHECK:         linalg.generic {{.*}} outs(%{{.*}} : tensor<3xf64>)
// CHECK:           arith.extui %{{.*}} : i32 to i64
// CHECK:           arith.ori
// CHECK:           arith.bitcast %{{.*}} : i64 to f64
func.func @bitcast_parts(%x: tensor<3xf64>) -> tensor<3xf64> {
  %0 = "stablehlo.bitcast_convert"(%x) : (tensor<3xf64>) -> tensor<3x2xui32>
  %1 = "stablehlo.bitcast_convert"(%0) : (tensor<3x2xui32>) -> tensor<3xf64>
  return %1 : tensor<3xf64>
}

// CHECK-LABEL: func.func @chlo(
// CHECK:         math.erf
func.func @chlo(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "chlo.erf"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
