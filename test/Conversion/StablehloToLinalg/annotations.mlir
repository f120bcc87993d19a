// RUN: act-opt %s --convert-stablehlo-to-linalg --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-NOT: sdy.mesh
"sdy.mesh"() <{mesh = #sdy.mesh<[]>, sym_name = "empty_mesh"}> : () -> ()

// CHECK-LABEL: func.func @barrier(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[N:.*]]: tensor<4xi8> {act.element_type = ui8})
// CHECK-NEXT:    %[[B:.*]]:2 = act.barrier %[[X]], %[[N]] : tensor<4xf32>, tensor<4xi8>
// CHECK-NEXT:    return %[[B]]#0, %[[B]]#1
func.func @barrier(%x: tensor<4xf32>, %n: tensor<4xui8>) -> (tensor<4xf32>, tensor<4xui8>) {
  %0:2 = "stablehlo.optimization_barrier"(%x, %n) : (tensor<4xf32>, tensor<4xui8>) -> (tensor<4xf32>, tensor<4xui8>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xui8>
}

// Operations of act are on signless types afterwards.
// CHECK-LABEL: func.func @act_operations(
// CHECK:         act.barrier %{{.*}} : tensor<4xi8>
func.func @act_operations(%n: tensor<4xui8>) -> tensor<4xui8> {
  %0 = act.barrier %n : tensor<4xui8>
  return %0 : tensor<4xui8>
}

// Annotations of shardings vanish.
// CHECK-LABEL: func.func @shardings(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @shardings(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "sdy.sharding_constraint"(%x) <{sharding = #sdy.sharding<@empty_mesh, [{}]>}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.custom_call"(%0) <{call_target_name = "Sharding"}> : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @calls(
// CHECK:         call @callee(%{{.*}}) : (tensor<4xi32>) -> tensor<4xi32>
// CHECK:         call @callee(%{{.*}}) : (tensor<4xi32>) -> tensor<4xi32>
// CHECK:       func.func private @callee(%{{.*}}: tensor<4xi32> {act.element_type = ui32}) -> (tensor<4xi32> {act.element_type = ui32})
// CHECK:       func.func private @declared(tensor<4xi32> {act.element_type = ui32})
func.func @calls(%x: tensor<4xui32>) -> tensor<4xui32> {
  %0 = call @callee(%x) : (tensor<4xui32>) -> tensor<4xui32>
  %1 = "stablehlo.composite"(%0) <{decomposition = @callee, name = "a.function"}> : (tensor<4xui32>) -> tensor<4xui32>
  return %1 : tensor<4xui32>
}
func.func private @callee(%x: tensor<4xui32>) -> tensor<4xui32> {
  return %x : tensor<4xui32>
}
func.func private @declared(tensor<4xui32>)

// Operations of other dialects stay, also around those of StableHLO.
// CHECK-LABEL: func.func @around(
// CHECK:         scf.if %{{.*}} -> (tensor<4xi32>)
// CHECK:           linalg.generic
// CHECK:           scf.yield %{{.*}} : tensor<4xi32>
func.func @around(%p: i1, %x: tensor<4xui32>) -> tensor<4xui32> {
  %0 = scf.if %p -> tensor<4xui32> {
    %1 = "stablehlo.add"(%x, %x) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    scf.yield %1 : tensor<4xui32>
  } else {
    scf.yield %x : tensor<4xui32>
  }
  return %0 : tensor<4xui32>
}

// -----

func.func @unknown_target(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op calls 'lapack_spotrf_ffi', which has no native lowering yet}}
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "lapack_spotrf_ffi"}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @no_target(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op expects a name as 'call_target_name'}}
  %0 = "stablehlo.custom_call"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @sharding_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'sdy.sharding_constraint' op expects results of the types of the operands}}
  %0 = "sdy.sharding_constraint"(%x) : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @decomposition(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.composite' op expects a function as 'decomposition'}}
  %0 = "stablehlo.composite"(%x) <{name = "a.function"}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Every function tells its first error.
func.func @first(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.all_reduce' op has no native lowering yet}}
  %0 = "stablehlo.all_reduce"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
func.func @second(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.a_later_operation' op has no native lowering yet}}
  %0 = "stablehlo.a_later_operation"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}
