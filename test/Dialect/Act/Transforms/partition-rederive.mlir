// Random masks: a bit per element is saved, or with `rederive` they are drawn again
// from the key.

// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,SAVE
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition{rederive},act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,DRAW
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition{bits=0 rederive},act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,DRAW

#lt = #stablehlo<comparison_direction LT>
!k = tensor<2xui32>
!i = tensor<i32>
!t = tensor<128x128xf32>
!u = tensor<128x128xui32>
!m = tensor<128x128xi1>

// The comparison is made again from random bits, never from rounded numbers.

// CHECK-LABEL: func.func @dropout(
// CHECK:         %[[U:.*]]:2 = "stablehlo.while"
// CHECK:         %[[M:.*]] = "stablehlo.compare"(%{{.*}}, %arg3)
// SAVE-NEXT:     act.compressed_save %[[M]] exact <predicate>
// DRAW-NOT:      act.compressed_save
// CHECK:         "stablehlo.select"
// CHECK:         "stablehlo.negate"
// CHECK:         %[[DD:.*]] = "stablehlo.dot"
// SAVE-NOT:      "stablehlo.while"
// DRAW:          act.barrier %{{.*}}, %[[DD]] :
// DRAW:          %[[U2:.*]]:2 = "stablehlo.while"
// DRAW:          {act.tiled_random}
// DRAW:          %[[F2:.*]] = "stablehlo.convert"(%[[U2]]#1)
// DRAW:          %[[M2:.*]] = "stablehlo.compare"(%[[F2]], %arg3)
// DRAW:          "stablehlo.select"(%[[M2]],
// CHECK:         return %
func.func @dropout(%key: !k, %x: !t, %w: !t, %rate: !t) -> (!t, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c4 = "stablehlo.constant"() <{value = dense<4> : !i}> : () -> !i
  %none = "stablehlo.constant"() <{value = dense<0> : !u}> : () -> !u
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !t}> : () -> !t
  %u:2 = "stablehlo.while"(%c0, %none) ({
  ^bb0(%i: !i, %bits: !u):
    %p = "stablehlo.compare"(%i, %c4) <{comparison_direction = #lt}> : (!i, !i) -> tensor<i1>
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: !i, %bits: !u):
    %one = "stablehlo.slice"(%key) <{start_indices = array<i64: 0>, limit_indices = array<i64: 1>, strides = array<i64: 1>}> : (!k) -> tensor<1xui32>
    %row = "stablehlo.broadcast_in_dim"(%one) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xui32>) -> tensor<32x128xui32>
    %at = "stablehlo.multiply"(%i, %c4) : (!i, !i) -> !i
    %next = "stablehlo.dynamic_update_slice"(%bits, %row, %at, %c0) : (!u, tensor<32x128xui32>, !i, !i) -> !u
    %j = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j, %next) : (!i, !u) -> ()
  }) {act.tiled_random} : (!i, !u) -> (!i, !u)
  %f = "stablehlo.convert"(%u#1) : (!u) -> !t
  %m = "stablehlo.compare"(%f, %rate) <{comparison_direction = #lt}> : (!t, !t) -> !m
  %d = "stablehlo.select"(%m, %x, %zeros) : (!m, !t, !t) -> !t
  %y = "stablehlo.dot"(%d, %w) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %dd = "stablehlo.dot"(%g, %w) : (!t, !t) -> !t
  %dx = "stablehlo.select"(%m, %dd, %zeros) : (!m, !t, !t) -> !t
  return %y, %dx : !t, !t
}
