// RUN: act-opt %s --canonicalize | FileCheck %s
// RUN: act-opt %s --cse | FileCheck %s --check-prefix=CSE

// Unused operations vanish if they have no effects.

// CHECK-LABEL: func.func @unused
// CHECK-NEXT:    "stablehlo.custom_call"(%{{.*}}) <{call_target_name = "effect"}>
// CHECK-NEXT:    "stablehlo.custom_call"(%{{.*}}) <{call_target_name = "stated", has_side_effect = true}>
// CHECK-NEXT:    "stablehlo.all_reduce"
// CHECK:         "stablehlo.while"
// CHECK:           call_target_name = "inside"
// CHECK:         "stablehlo.rng"
// CHECK-NEXT:    "stablehlo.composite"(%{{.*}}) <{decomposition = @f, name = "my.thing"}>
// CHECK-NEXT:    "stablehlo.future"
// CHECK-NEXT:    return
func.func @unused(%x: tensor<4xf32>, %p: tensor<i1>) {
  %0 = "stablehlo.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.custom_call"(%x) <{call_target_name = "pure", has_side_effect = false}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.custom_call"(%x) <{call_target_name = "effect"}> : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "stablehlo.custom_call"(%x) <{call_target_name = "stated", has_side_effect = true}> : (tensor<4xf32>) -> tensor<4xf32>
  %4 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %5 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>):
    %b = "stablehlo.tanh"(%a) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%b) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %6 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4xf32>):
    %b = "stablehlo.custom_call"(%a) <{call_target_name = "inside"}> : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%b) : (tensor<4xf32>) -> ()
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %7 = "stablehlo.rng"(%x, %x, %x) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %8 = "stablehlo.composite"(%x) <{decomposition = @f, name = "chlo.erf"}> : (tensor<4xf32>) -> tensor<4xf32>
  %9 = "stablehlo.composite"(%x) <{decomposition = @f, name = "my.thing"}> : (tensor<4xf32>) -> tensor<4xf32>
  %10 = "stablehlo.optimization_barrier"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %11 = "stablehlo.future"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %12 = "sdy.sharding_constraint"(%x) <{sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// Equal operations are merged if they are pure; random bits of no explicit state
// are not.

// CSE-LABEL: func.func @equal
// CSE-COUNT-1: "stablehlo.tanh"
// CSE-NOT:     "stablehlo.tanh"
// CSE-COUNT-2: "stablehlo.rng"
func.func @equal(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.rng"(%x, %x, %x) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "stablehlo.rng"(%x, %x, %x) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

func.func private @f(tensor<4xf32>) -> tensor<4xf32>
