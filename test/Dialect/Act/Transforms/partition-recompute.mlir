// Products that are computed again whatever their size (`all`), or if the bytes that
// this spares are worth it (`auto`). test/.../partition-cut.mlir has `batch` and
// `growing`.

// RUN: act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,NONE
// RUN: act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition{recompute=all},act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition{recompute=auto},act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition{recompute=auto}))' \
// RUN:   --remarks-filter='act.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: act-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(act-partition{recompute=auto}),act-choose-encodings,act-report)' -o /dev/null | FileCheck %s --check-prefix=JSON

!t = tensor<128x128xf32>

// %z takes 9216 bytes in 4 bits and 4,194,304 floating-point operations: 455 for a
// byte. That is worth it. What waits for the cotangent is an argument of the product.

// CHECK-LABEL: func.func @cheap(
// CHECK-SAME:    %[[X:.*]]: tensor<128x128xf32>, %[[W:.*]]: tensor<128x128xf32>, %[[V:.*]]: tensor<128x128xf32>)
// CHECK:         %[[Z:.*]] = "stablehlo.dot"(%[[X]], %[[W]])
// NONE-NEXT:     act.compressed_save %[[Z]]
// ALL-NOT:       act.compressed_save
// AUTO-NOT:      act.compressed_save
// CHECK:         %[[G:.*]] = "stablehlo.negate"
// NONE-NEXT:     act.barrier
// NONE-NEXT:     act.dequantize_load
// ALL-NEXT:      %[[B:.*]]:2 = act.barrier %[[X]], %[[G]]
// ALL-NEXT:      %[[Z1:.*]] = "stablehlo.dot"(%[[B]]#0, %[[W]])
// ALL-NEXT:      "stablehlo.dot"(%[[Z1]], %[[B]]#1)
// AUTO-NEXT:     %[[B:.*]]:2 = act.barrier %[[X]], %[[G]]
// AUTO-NEXT:     %[[Z1:.*]] = "stablehlo.dot"(%[[B]]#0, %[[W]])
// AUTO-NEXT:     "stablehlo.dot"(%[[Z1]], %[[B]]#1)
// CHECK:         return %
// REMARK:    Remark="saved ", Remark=0, {{.*}} Remark=" operations into backward; contractions computed again: ", Remark=all
// JSON:      "function": "cheap",
// JSON:      "recomputed_contractions": 1,
// JSON-NEXT: "recomputed_flops": 4194304,
// JSON-NEXT: "raw_bytes": 0,
func.func @cheap(%x: !t, %w: !t, %v: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%z, %v) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %dv = "stablehlo.dot"(%z, %g) : (!t, !t) -> !t
  return %y, %dv : !t, !t
}

// -----

!t = tensor<128x128xf32>
!a = tensor<128x512xf32>
!b = tensor<512x128xf32>

// The same bytes for four times as many operations: 1820 for a byte.

// CHECK-LABEL: func.func @dear(
// CHECK:         %[[Z:.*]] = "stablehlo.dot"
// NONE-NEXT:     act.compressed_save %[[Z]]
// AUTO-NEXT:     act.compressed_save %[[Z]]
// ALL-NOT:       act.compressed_save
// CHECK:         "stablehlo.negate"
// AUTO-NEXT:     act.barrier
// AUTO-NEXT:     act.dequantize_load
// ALL-NEXT:      act.barrier
// ALL-NEXT:      "stablehlo.dot"
// CHECK:         return %
// REMARK:    Remark="saved ", Remark=1, {{.*}} Remark=" operations into backward; contractions computed again: ", Remark=none
// JSON:      "function": "dear",
// JSON:      "recomputed_contractions": 0,
// JSON-NEXT: "recomputed_flops": 0,
// JSON-NEXT: "raw_bytes": 65536,
func.func @dear(%x: !a, %w: !b, %v: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!a, !b) -> !t
  %y = "stablehlo.dot"(%z, %v) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%y) : (!t) -> !t
  %dv = "stablehlo.dot"(%z, %g) : (!t, !t) -> !t
  return %y, %dv : !t, !t
}

// -----

!q = tensor<8x128x16xf32>
!s = tensor<8x128x128xf32>
#scores = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>
#sums = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>

// Attention scores are cheap for their size, but making query and key again as well,
// products over 8192 elements each, is not: `auto` stops at `batch`.

// CHECK-LABEL: func.func @scores(
// NONE:          act.compressed_save %{{.*}} : tensor<8x128x128xf32>
// NONE-NOT:      act.compressed_save
// AUTO-COUNT-2:  act.compressed_save %{{.*}} : tensor<8x128x16xf32>
// AUTO-NOT:      act.compressed_save
// AUTO:          "stablehlo.negate"
// AUTO:          act.dequantize_load
// AUTO-NEXT:     act.dequantize_load
// AUTO-NEXT:     "stablehlo.dot_general"
// ALL-NOT:       act.compressed_save
// ALL:           "stablehlo.negate"
// ALL-COUNT-2:   "stablehlo.dot"
// ALL-NEXT:      "stablehlo.dot_general"
// CHECK:         return %
// REMARK:    Remark="saved ", Remark=2, {{.*}} Remark=" operations into backward; contractions computed again: ", Remark=batch
// JSON:      "function": "scores",
// JSON:      "recomputed_contractions": 1,
// JSON-NEXT: "recomputed_flops": 4194304,
// JSON-NEXT: "raw_bytes": 131072,
func.func @scores(%x: tensor<8x128x8192xf32>, %wq: tensor<8192x16xf32>, %wk: tensor<8192x16xf32>, %v: !s) -> (!s, !s) {
  %q = "stablehlo.dot"(%x, %wq) : (tensor<8x128x8192xf32>, tensor<8192x16xf32>) -> !q
  %k = "stablehlo.dot"(%x, %wk) : (tensor<8x128x8192xf32>, tensor<8192x16xf32>) -> !q
  %s = "stablehlo.dot_general"(%q, %k) <{dot_dimension_numbers = #scores}> : (!q, !q) -> !s
  %l = "stablehlo.dot_general"(%s, %v) <{dot_dimension_numbers = #sums}> : (!s, !s) -> !s
  %g = "stablehlo.negate"(%l) : (!s) -> !s
  %d = "stablehlo.multiply"(%s, %g) : (!s, !s) -> !s
  return %l, %d : !s, !s
}

// -----

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!r = tensor<1x128x128xf32>
!s = tensor<6x128x128xf32>

// In a loop bytes and operations both count six times. Backward reads %h and %z; what
// the loop carries cannot be computed again, %z can.

// CHECK-LABEL: func.func @loop(
// CHECK:         "stablehlo.while"(
// CHECK:           act.compressed_save
// NONE:            act.compressed_save
// CHECK-NOT:       act.compressed_save
// CHECK:         "stablehlo.while"(
// AUTO:            %[[H:.*]] = act.dequantize_load
// AUTO:            %[[Z:.*]] = "stablehlo.dot"(%[[H]],
// AUTO:            "stablehlo.clamp"(%[[H]], %{{.*}}, %[[Z]])
// CHECK:         return %
// REMARK:    Remark="saved ", Remark=1, {{.*}} Remark=" operations into backward; contractions computed again: ", Remark=all
// JSON:      "function": "loop",
// JSON:      "loop_pairs": 1,
// JSON:      "recomputed_contractions": 1,
// JSON-NEXT: "recomputed_flops": 25165824,
// JSON-NEXT: "raw_bytes": 393216,
func.func @loop(%x: !t, %w: !t, %g0: !t) -> (!t, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
  %f:4 = "stablehlo.while"(%c0, %x, %zeros, %zeros) ({
  ^bb0(%i: !i, %h: !t, %hs: !s, %zs: !s):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t, %hs: !s, %zs: !s):
    %z = "stablehlo.dot"(%h, %w) : (!t, !t) -> !t
    %y = "stablehlo.sine"(%z) : (!t) -> !t
    %hr = "stablehlo.reshape"(%h) : (!t) -> !r
    %hs1 = "stablehlo.dynamic_update_slice"(%hs, %hr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %zr = "stablehlo.reshape"(%z) : (!t) -> !r
    %zs1 = "stablehlo.dynamic_update_slice"(%zs, %zr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %y, %hs1, %zs1) : (!i, !t, !s, !s) -> ()
  }) : (!i, !t, !s, !s) -> (!i, !t, !s, !s)
  %b:2 = "stablehlo.while"(%c0, %g0) ({
  ^bb0(%j: !i, %g: !t):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %hr = "stablehlo.dynamic_slice"(%f#2, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %h = "stablehlo.reshape"(%hr) : (!r) -> !t
    %zr = "stablehlo.dynamic_slice"(%f#3, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %z = "stablehlo.reshape"(%zr) : (!r) -> !t
    %g1 = "stablehlo.clamp"(%h, %g, %z) : (!t, !t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1) : (!i, !t) -> ()
  }) : (!i, !t) -> (!i, !t)
  return %f#1, %b#1 : !t, !t
}
