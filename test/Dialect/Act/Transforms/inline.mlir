// RUN: act-opt %s --act-inline | FileCheck %s
// RUN: act-opt %s --act-inline --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC

// Attributes stay; operations are neither merged nor folded.

// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<8xf32> {tf.aliasing_output = 0 : i32},
// CHECK-SAME:    %[[Y:.*]]: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
// CHECK-SAME:    -> (tensor<8xf32> {jax.result_info = "result"})
// CHECK-NEXT:    %[[ZERO0:.*]] = "stablehlo.constant"
// CHECK-NEXT:    %[[R0:.*]] = "stablehlo.maximum"(%[[X]], %[[ZERO0]])
// CHECK-NEXT:    %[[ZERO1:.*]] = "stablehlo.constant"
// CHECK-NEXT:    %[[R1:.*]] = "stablehlo.maximum"(%[[R0]], %[[ZERO1]])
// CHECK-NEXT:    %[[DEAD:.*]] = "stablehlo.add"(%[[R0]], %[[R0]])
// CHECK-NEXT:    %[[SUM:.*]] = "stablehlo.add"(%[[R0]], %[[R1]])
// CHECK-NEXT:    return %[[SUM]]
func.func @main(%x: tensor<8xf32> {tf.aliasing_output = 0 : i32},
                %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}]>})
    -> (tensor<8xf32> {jax.result_info = "result"}) {
  %0 = func.call @relu(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1:2 = func.call @two(%0, %y) : (tensor<8xf32>, tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %2 = "stablehlo.add"(%1#1, %1#1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = "stablehlo.add"(%1#1, %1#0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}

// CHECK-NOT: @two
// CHECK-NOT: @relu
func.func private @two(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = func.call @relu(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %x : tensor<8xf32>, tensor<8xf32>
}
func.func private @relu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<8xf32>}> : () -> tensor<8xf32>
  %1 = "stablehlo.maximum"(%x, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Calls in regions, at any depth, also of operations nobody registered.

// CHECK-LABEL: func.func @regions
// CHECK:         "stablehlo.reduce"
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>):
// CHECK-NEXT:      %[[S:.*]] = "stablehlo.add"(%[[A]], %[[B]])
// CHECK-NEXT:      "stablehlo.return"(%[[S]])
// CHECK:         "sdy.manual_computation"
// CHECK-NEXT:    ^bb0(%[[M:.*]]: tensor<8xf32>):
// CHECK-NEXT:      "stablehlo.while"(%[[M]])
// CHECK:             "stablehlo.constant"
// CHECK-NEXT:        "stablehlo.maximum"
// CHECK-NOT:     call @
func.func @regions(%x: tensor<8xf32>, %z: tensor<f32>, %p: tensor<i1>) -> (tensor<f32>, tensor<8xf32>) {
  %0 = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = func.call @sum(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %2 = "sdy.manual_computation"(%x) <{manual_axes = #sdy<manual_axes{"a"}>}> ({
  ^bb0(%m: tensor<8xf32>):
    %3 = "stablehlo.while"(%m) ({
    ^bb0(%a: tensor<8xf32>):
      "stablehlo.return"(%p) : (tensor<i1>) -> ()
    }, {
    ^bb0(%a: tensor<8xf32>):
      %4 = func.call @relu(%a) : (tensor<8xf32>) -> tensor<8xf32>
      "stablehlo.return"(%4) : (tensor<8xf32>) -> ()
    }) : (tensor<8xf32>) -> tensor<8xf32>
    "sdy.return"(%3) : (tensor<8xf32>) -> ()
  }) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %2 : tensor<f32>, tensor<8xf32>
}
func.func private @sum(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// Functions that something else refers to stay, with their calls inlined.

// CHECK-LABEL: func.func @references
func.func @references(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.composite"(%x) <{decomposition = @decomposition, name = "my.thing"}> : (tensor<8xf32>) -> tensor<8xf32>
  %1 = "other.op"(%0) {text = #other<calls @opaque(3)>} : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
// CHECK-LABEL: func.func private @decomposition
// CHECK-NEXT:    "stablehlo.constant"
// CHECK-NEXT:    "stablehlo.maximum"
// CHECK-NEXT:    return
func.func private @decomposition(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @relu(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// CHECK: func.func private @opaque
func.func private @opaque(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// Nobody reaches this recursion.
// CHECK-NOT: @unused
func.func private @unused(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @unused(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// The caller's name stays visible.

// LOC-LABEL: func.func @locations
// LOC:         "stablehlo.negate"(%{{.*}}) {{.*}} loc(#[[CALLED:.*]])
// LOC-DAG:   #[[CALLEE:.*]] = loc("neg"
// LOC-DAG:   #[[CALLER:.*]] = loc("transpose(jvp(f))"
// LOC-DAG:   #[[CALLED]] = loc(callsite(#[[CALLEE]] at #[[CALLER]]))
func.func @locations(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @negate(%x) : (tensor<8xf32>) -> tensor<8xf32> loc("transpose(jvp(f))")
  return %0 : tensor<8xf32>
}
func.func private @negate(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.negate"(%x) : (tensor<8xf32>) -> tensor<8xf32> loc("neg")
  return %0 : tensor<8xf32>
}
