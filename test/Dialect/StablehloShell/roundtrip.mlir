// RUN: act-opt %s --verify-roundtrip | FileCheck %s
// RUN: act-opt %s --mlir-print-op-generic | act-opt | FileCheck %s

// What goes in comes out: attributes of the dialect, of unregistered dialects,
// inherent and discardable ones apart, types, regions.

// CHECK-LABEL: func.func @attributes(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32> {tf.aliasing_output = 0 : i32}
// CHECK-SAME:    -> (tensor<4x8xf32> {jax.result_info = "result[0]"})
// CHECK-SAME:    attributes {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}
func.func @attributes(%x: tensor<4x8xf32> {tf.aliasing_output = 0 : i32}, %y: tensor<8x16xf32>)
    -> (tensor<4x8xf32> {jax.result_info = "result[0]"})
    attributes {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>} {
  // CHECK: "stablehlo.dot_general"(%[[X]], %{{.*}}) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}> {mhlo.note = "kept"} :
  %0 = "stablehlo.dot_general"(%x, %y) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]}> {mhlo.note = "kept"} : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  // CHECK: "stablehlo.custom_call"(%[[X]]) <{call_target_name = "target", operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]}>
  %1 = "stablehlo.custom_call"(%x) <{call_target_name = "target", operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @types(
// CHECK-SAME:    !stablehlo.token, %{{.*}}: tensor<?xf32, #stablehlo.bounds<3>>
func.func @types(%token: !stablehlo.token, %x: tensor<?xf32, #stablehlo.bounds<3>>) -> !stablehlo.token {
  // CHECK: "stablehlo.after_all"(%{{.*}}) : (!stablehlo.token) -> !stablehlo.token
  %0 = "stablehlo.after_all"(%token) : (!stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// CHECK-LABEL: func.func @regions
func.func @regions(%x: tensor<8xf32>) -> tensor<f32> {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  // CHECK:      "stablehlo.reduce"(%{{.*}}, %{{.*}}) <{dimensions = array<i64: 0>}> ({
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
  // CHECK-NEXT:   %[[SUM:.*]] = "stablehlo.add"(%[[A]], %[[B]])
  // CHECK-NEXT:   "stablehlo.return"(%[[SUM]])
  %0 = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Attributes as they were printed before properties existed.
// CHECK-LABEL: func.func @discardable
func.func @discardable(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // CHECK: "stablehlo.transpose"(%{{.*}}) {permutation = array<i64: 1, 0>}
  %0 = "stablehlo.transpose"(%x) {permutation = array<i64: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// Operations, types and attributes of a later version.
// CHECK-LABEL: func.func @future
func.func @future(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK:      "stablehlo.future"(%{{.*}}) <{mode = #stablehlo.future<deep [1, 2]>}> ({
  // CHECK-NEXT: ^bb0(%[[A:.*]]: !stablehlo.future<3>):
  // CHECK-NEXT:   "stablehlo.return"(%[[A]])
  %0 = "stablehlo.future"(%x) <{mode = #stablehlo.future<deep [1, 2]>}> ({
  ^bb0(%a: !stablehlo.future<3>):
    "stablehlo.return"(%a) : (!stablehlo.future<3>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: "chlo.erf"
  %1 = "chlo.erf"(%0) : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: "sdy.sharding_constraint"(%{{.*}}) <{sharding = #sdy.sharding<@mesh, [{}]>}>
  %2 = "sdy.sharding_constraint"(%1) <{sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
