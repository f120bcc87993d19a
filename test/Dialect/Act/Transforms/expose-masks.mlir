// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-expose-masks))" | FileCheck %s
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-expose-masks))" \
// RUN:   --remarks-filter="act" --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK-COUNT-3: predicate computed in forward

// A comparison of what forward has moves behind the last operand.

// CHECK-LABEL: func.func @relu(
// CHECK-SAME:    %[[X:.*]]: tensor<8xf32>, %[[G:.*]]: tensor<8xf32>)
// CHECK:         %[[H:.*]] = "stablehlo.tanh"(%[[X]])
// CHECK-NEXT:    %[[ZERO:.*]] = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}>
// CHECK-NEXT:    %[[ZEROS:.*]] = "stablehlo.broadcast_in_dim"(%[[ZERO]])
// CHECK-NEXT:    %[[P:.*]] = "stablehlo.compare"(%[[H]], %[[ZEROS]])
// CHECK-NEXT:    %[[SQUARE:.*]] = "stablehlo.multiply"(%[[H]], %[[H]])
// CHECK-NEXT:    "stablehlo.constant"
// CHECK-NEXT:    %[[LOSS:.*]] = "stablehlo.reduce"(%[[SQUARE]]
// CHECK-NOT:     "stablehlo.compare"
// CHECK:         %[[D:.*]] = "stablehlo.select"(%[[P]], %[[G]]
// CHECK:         return %[[LOSS]], %[[D]]
func.func @relu(%x: tensor<8xf32>, %g: tensor<8xf32>) -> (tensor<f32>, tensor<8xf32>) {
  %h = "stablehlo.tanh"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %square = "stablehlo.multiply"(%h, %h) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %init = "stablehlo.constant"() <{value = dense<-0.0> : tensor<f32>}> : () -> tensor<f32>
  %loss = "stablehlo.reduce"(%square, %init) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %zeros = "stablehlo.broadcast_in_dim"(%zero) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8xf32>
  %p = "stablehlo.compare"(%h, %zeros) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %d = "stablehlo.select"(%p, %g, %zeros) : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %loss, %d : tensor<f32>, tensor<8xf32>
}

// Views and widening of forward values are copied, at forward's location.

// CHECK-LABEL: func.func @views(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4xbf16>
// CHECK:         %[[H:.*]] = "stablehlo.tanh"(%[[X]])
// CHECK-NEXT:    %[[WIDE:.*]] = "stablehlo.convert"(%[[H]])
// CHECK-NEXT:    %[[FLAT:.*]] = "stablehlo.reshape"(%[[WIDE]])
// CHECK-NEXT:    %[[P:.*]] = "stablehlo.is_finite"(%[[FLAT]])
// CHECK-NEXT:    "stablehlo.slice"(%[[H]])
// CHECK-NOT:     "stablehlo.is_finite"
// CHECK:         "stablehlo.select"(%[[P]]
func.func @views(%x: tensor<2x4xbf16>, %g: tensor<8xf32>) -> (tensor<1x1xbf16>, tensor<8xf32>) {
  %h = "stablehlo.tanh"(%x) : (tensor<2x4xbf16>) -> tensor<2x4xbf16>
  %loss = "stablehlo.slice"(%h) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 1, 1>, strides = array<i64: 1, 1>}> : (tensor<2x4xbf16>) -> tensor<1x1xbf16>
  %wide = "stablehlo.convert"(%h) : (tensor<2x4xbf16>) -> tensor<2x4xf32>
  %flat = "stablehlo.reshape"(%wide) : (tensor<2x4xf32>) -> tensor<8xf32>
  %p = "stablehlo.is_finite"(%flat) : (tensor<8xf32>) -> tensor<8xi1>
  %d = "stablehlo.select"(%p, %g, %flat) : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %loss, %d : tensor<1x1xbf16>, tensor<8xf32>
}

// The attribute says where forward ends.

// CHECK-LABEL: func.func @attribute
// CHECK:         %[[H:.*]] = "stablehlo.tanh"
// CHECK-NEXT:    "stablehlo.compare"(%[[H]], %[[H]])
// CHECK-NEXT:    "stablehlo.negate"
// CHECK-NEXT:    "stablehlo.abs"
func.func @attribute(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<i1>) attributes {act.primal_results = 2 : i32} {
  %h = "stablehlo.tanh"(%x) : (tensor<f32>) -> tensor<f32>
  %loss = "stablehlo.negate"(%h) : (tensor<f32>) -> tensor<f32>
  %aux = "stablehlo.abs"(%h) : (tensor<f32>) -> tensor<f32>
  %p = "stablehlo.compare"(%h, %h) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %loss, %aux, %p : tensor<f32>, tensor<f32>, tensor<i1>
}

// Comparisons of cotangents, of integers, of arguments, and of what backward
// computes anew stay.

// CHECK-LABEL: func.func @stay
// CHECK:         "stablehlo.negate"
// CHECK-NEXT:    "stablehlo.multiply"
// CHECK-NEXT:    "stablehlo.compare"
// CHECK-NEXT:    "stablehlo.compare"
// CHECK-NEXT:    "stablehlo.compare"
// CHECK-NEXT:    "stablehlo.exponential"
// CHECK-NEXT:    "stablehlo.compare"
func.func @stay(%x: tensor<8xf32>, %g: tensor<8xf32>, %i: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>) {
  %h = "stablehlo.tanh"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %j = "stablehlo.add"(%i, %i) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  %loss = "stablehlo.negate"(%h) : (tensor<8xf32>) -> tensor<8xf32>
  %gh = "stablehlo.multiply"(%g, %h) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %0 = "stablehlo.compare"(%gh, %h) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %1 = "stablehlo.compare"(%j, %i) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
  %2 = "stablehlo.compare"(%x, %g) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  %e = "stablehlo.exponential"(%h) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = "stablehlo.compare"(%e, %h) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  return %loss, %0, %1, %2, %3 : tensor<8xf32>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>, tensor<8xi1>
}

// CHECK-LABEL: func.func private @private
// CHECK:         "stablehlo.negate"
// CHECK-NEXT:    "stablehlo.is_finite"
func.func private @private(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi1>) {
  %h = "stablehlo.tanh"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %loss = "stablehlo.negate"(%h) : (tensor<8xf32>) -> tensor<8xf32>
  %p = "stablehlo.is_finite"(%h) : (tensor<8xf32>) -> tensor<8xi1>
  return %loss, %p : tensor<8xf32>, tensor<8xi1>
}
