// What the report says of loops: copies and bytes of all iterations.

// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition),act-choose-encodings,act-report)' | FileCheck %s --check-prefixes=IR
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition),act-choose-encodings,act-report)' -o /dev/null | FileCheck %s

#lt = #stablehlo<comparison_direction LT>
!i = tensor<i32>
!p = tensor<i1>
!h = tensor<64x64xf32>
!hr = tensor<1x64x64xf32>
!hs = tensor<6x64x64xf32>
!v = tensor<512xf32>
!vr = tensor<1x512xf32>
!vs = tensor<6x512xf32>

// A row of 4096 elements is worth an encoding, six times; one of 512 never is. Rows of
// %z are a result of the step: backward reads them in full.

// IR:         act.compressed_save %{{.*}} : tensor<64x64xf32> to <tensor<64x64xf32>, #act.group_quant<bits = 4, group = 64>>
// IR:         act.compressed_save %{{.*}} exact <small> {id = 1 : i64} : tensor<512xf32> to <tensor<512xf32>, #act.raw>

// CHECK:        "primal_results": 2,
// CHECK-NEXT:   "boundaries": 2,
// CHECK-NEXT:   "loop_pairs": 1,
// CHECK:        "cloned_operations": 0,
// CHECK:        "raw_bytes": 110592,
// CHECK-NEXT:   "stash_bytes": 26112,
// CHECK-NEXT:   "survivors": [
// CHECK:            64,
// CHECK-NEXT:       64
// CHECK:          "copies": 6,
// CHECK-NEXT:     "encoding": "#act.group_quant<bits = 4, group = 64>",
// CHECK-NEXT:     "bits_per_element": 4.5,
// CHECK-NEXT:     "bytes_before": 98304,
// CHECK-NEXT:     "bytes_after": 13824,
// CHECK:            512
// CHECK:          "copies": 6,
// CHECK-NEXT:     "encoding": "#act.raw",
// CHECK-NEXT:     "bits_per_element": 32,
// CHECK-NEXT:     "bytes_before": 12288,
// CHECK-NEXT:     "bytes_after": 12288,
// CHECK-NEXT:     "lossless": true,
// CHECK-NEXT:     "reason": "too small to be worth an encoding"
// CHECK:        "not_compressed": [
// CHECK-NEXT:     {
// CHECK-NEXT:     "operation": "stablehlo.dot",
// CHECK:          "bytes": 98304,
// CHECK-NEXT:     "reason": "needed in full by a loop of backward, or behind the loop"
// CHECK:        "unpaired_loops": []
func.func @step(%x: !h, %w: !h, %v0: !v, %u: tensor<512x512xf32>, %g0: !h) -> (!h, !hs, !h) attributes {act.primal_results = 2 : i64} {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %hs0 = "stablehlo.constant"() <{value = dense<0.0> : !hs}> : () -> !hs
  %vs0 = "stablehlo.constant"() <{value = dense<0.0> : !vs}> : () -> !vs
  %f:6 = "stablehlo.while"(%c0, %x, %v0, %hs0, %hs0, %vs0) ({
  ^bb0(%i: !i, %h: !h, %v: !v, %zs: !hs, %hs: !hs, %vs: !vs):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !h, %v: !v, %zs: !hs, %hs: !hs, %vs: !vs):
    %z = "stablehlo.dot"(%h, %w) : (!h, !h) -> !h
    %zr = "stablehlo.reshape"(%z) : (!h) -> !hr
    %zs1 = "stablehlo.dynamic_update_slice"(%zs, %zr, %i, %c0, %c0) : (!hs, !hr, !i, !i, !i) -> !hs
    %hr = "stablehlo.reshape"(%h) : (!h) -> !hr
    %hs1 = "stablehlo.dynamic_update_slice"(%hs, %hr, %i, %c0, %c0) : (!hs, !hr, !i, !i, !i) -> !hs
    %v1 = "stablehlo.dot"(%v, %u) : (!v, tensor<512x512xf32>) -> !v
    %vr = "stablehlo.reshape"(%v) : (!v) -> !vr
    %vs1 = "stablehlo.dynamic_update_slice"(%vs, %vr, %i, %c0) : (!vs, !vr, !i, !i) -> !vs
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %z, %v1, %zs1, %hs1, %vs1) : (!i, !h, !v, !hs, !hs, !vs) -> ()
  }) : (!i, !h, !v, !hs, !hs, !vs) -> (!i, !h, !v, !hs, !hs, !vs)
  %b:2 = "stablehlo.while"(%c0, %g0) ({
  ^bb0(%j: !i, %g: !h):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !h):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %zr = "stablehlo.dynamic_slice"(%f#3, %k, %c0, %c0) <{slice_sizes = array<i64: 1, 64, 64>}> : (!hs, !i, !i, !i) -> !hr
    %z = "stablehlo.reshape"(%zr) : (!hr) -> !h
    %hr = "stablehlo.dynamic_slice"(%f#4, %k, %c0, %c0) <{slice_sizes = array<i64: 1, 64, 64>}> : (!hs, !i, !i, !i) -> !hr
    %h = "stablehlo.reshape"(%hr) : (!hr) -> !h
    %vr = "stablehlo.dynamic_slice"(%f#5, %k, %c0) <{slice_sizes = array<i64: 1, 512>}> : (!vs, !i, !i) -> !vr
    %v = "stablehlo.reshape"(%vr) : (!vr) -> !v
    %vf = "stablehlo.reshape"(%v) : (!v) -> tensor<8x64xf32>
    %m = "stablehlo.clamp"(%z, %g, %h) : (!h, !h, !h) -> !h
    %n = "stablehlo.dot"(%vf, %m) : (tensor<8x64xf32>, !h) -> tensor<8x64xf32>
    %g1 = "stablehlo.dot_general"(%n, %vf) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}> : (tensor<8x64xf32>, tensor<8x64xf32>) -> !h
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1) : (!i, !h) -> ()
  }) : (!i, !h) -> (!i, !h)
  return %f#1, %f#3, %b#1 : !h, !hs, !h
}
