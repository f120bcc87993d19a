// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition,act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,SINK,BITS4,NONE
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition{cut=source},act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,SOURCE,BITS4
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition{bits=8},act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,SINK,BITS8
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition{bits=0},act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,SINK,BITS8
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition{recompute=batch},act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,SINK,BITS4,BATCH
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition{recompute=growing},act-verify-partition))' | FileCheck %s --check-prefixes=CHECK,SINK,BITS4,GROWING

!t = tensor<128x128xf32>
!h = tensor<128x128xbf16>
!w = tensor<256x128xf32>
!v = tensor<128x256xf32>
!q = tensor<8x128x16xf32>
!s = tensor<8x128x128xf32>

// A wide value is computed again from a narrow one.

// CHECK-LABEL: func.func @wide(
// CHECK:         %[[Z:.*]] = "stablehlo.dot"
// CHECK-NEXT:    act.compressed_save %[[Z]] : tensor<128x128xf32>
// CHECK-NOT:     act.compressed_save
// CHECK:         act.dequantize_load
// CHECK-NEXT:    "stablehlo.concatenate"
func.func @wide(%x: !t, %y: !t, %v: !v) -> (!w, !w) {
  %z = "stablehlo.dot"(%x, %y) : (!t, !t) -> !t
  %w = "stablehlo.concatenate"(%z, %z) <{dimension = 0 : i64}> : (!t, !t) -> !w
  %l = "stablehlo.dot"(%w, %x) : (!w, !t) -> !w
  %g = "stablehlo.negate"(%l) : (!w) -> !w
  %d = "stablehlo.multiply"(%w, %g) : (!w, !w) -> !w
  return %l, %d : !w, !w
}

// A narrow value is saved rather than what it is made of.

// CHECK-LABEL: func.func @narrow(
// CHECK:         %[[S:.*]] = "stablehlo.slice"
// CHECK-NEXT:    act.compressed_save %[[S]] : tensor<128x128xf32>
// CHECK-NOT:     act.compressed_save
// CHECK:         act.dequantize_load
// CHECK-NOT:     "stablehlo.slice"
// CHECK:         return
func.func @narrow(%x: !w, %y: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %y) : (!w, !t) -> !w
  %s = "stablehlo.slice"(%z) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 128, 128>, strides = array<i64: 1, 1>}> : (!w) -> !t
  %l = "stablehlo.dot"(%s, %y) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%l) : (!t) -> !t
  %d = "stablehlo.multiply"(%s, %g) : (!t, !t) -> !t
  return %l, %d : !t, !t
}

// What counts are the encoded bytes. %c in 4 bits takes 9216 bytes, %q 16384 as it
// is; in 8 bits %c takes more, and with bits=0 nothing is encoded.

// CHECK-LABEL: func.func @bits(
// BITS4:         act.compressed_save %{{[^ ]+}} : tensor<128x128xf32>
// BITS4-NOT:     act.compressed_save
// BITS8:         act.compressed_save %{{.*}} exact <integer> : tensor<128x128xi8>
// BITS8-NOT:     act.compressed_save
// CHECK:         return
func.func @bits(%x: tensor<128x128xi8>, %y: !t) -> (!t, !t) {
  %q = "stablehlo.dot"(%x, %x) : (tensor<128x128xi8>, tensor<128x128xi8>) -> tensor<128x128xi8>
  %c = "stablehlo.convert"(%q) : (tensor<128x128xi8>) -> !t
  %l = "stablehlo.dot"(%c, %y) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%l) : (!t) -> !t
  %d = "stablehlo.multiply"(%c, %g) : (!t, !t) -> !t
  return %l, %d : !t, !t
}

// Results of the step are alive to the end: they cost nothing.

// CHECK-LABEL: func.func @returned(
// CHECK:         %[[Z:.*]] = "stablehlo.dot"
// CHECK-NEXT:    act.compressed_save %[[Z]]
// CHECK-NOT:     act.compressed_save
// CHECK:         return
func.func @returned(%x: !t, %y: !t) -> (!t, !t, !t) {
  %z = "stablehlo.dot"(%x, %y) : (!t, !t) -> !t
  %s = "stablehlo.sine"(%z) : (!t) -> !t
  %l = "stablehlo.dot"(%s, %y) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%l) : (!t) -> !t
  %d = "stablehlo.multiply"(%s, %g) : (!t, !t) -> !t
  return %l, %d, %z : !t, !t, !t
}

// Among cuts of equal cost the one nearest to backward or the one nearest to where
// values are computed.

// CHECK-LABEL: func.func @side(
// CHECK:         %[[Z:.*]] = "stablehlo.dot"
// SOURCE-NEXT:   act.compressed_save %[[Z]]
// CHECK:         %[[S:.*]] = "stablehlo.sine"
// SINK-NEXT:     act.compressed_save %[[S]]
// CHECK-NOT:     act.compressed_save
// CHECK:         act.dequantize_load
// SINK-NOT:      "stablehlo.sine"
// SOURCE-NEXT:   "stablehlo.sine"
// CHECK:         return
func.func @side(%x: !t, %y: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %y) : (!t, !t) -> !t
  %s = "stablehlo.sine"(%z) : (!t) -> !t
  %l = "stablehlo.dot"(%s, %y) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%l) : (!t) -> !t
  %d = "stablehlo.multiply"(%s, %g) : (!t, !t) -> !t
  return %l, %d : !t, !t
}

// Codes of %z, %c and %w are equally large. The cut is on the side of the narrower
// type, which takes less while it is loaded (rule R5), whichever side is asked for.

// CHECK-LABEL: func.func @bf16(
// CHECK:         act.compressed_save %{{[^ ]+}} : tensor<128x128xbf16>
// CHECK-NOT:     act.compressed_save
// CHECK:         act.dequantize_load
// CHECK-NEXT:    "stablehlo.convert"
func.func @bf16(%x: !t, %y: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %y) : (!t, !t) -> !t
  %c = "stablehlo.convert"(%z) : (!t) -> !h
  %w = "stablehlo.convert"(%c) : (!h) -> !t
  %l = "stablehlo.dot"(%w, %y) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%l) : (!t) -> !t
  %d = "stablehlo.multiply"(%w, %g) : (!t, !t) -> !t
  return %l, %d : !t, !t
}

// Attention scores, 8 times as large as query and key.

// CHECK-LABEL: func.func @scores(
// NONE:          act.compressed_save %{{[^ ]+}} : tensor<8x128x128xf32>
// NONE-NOT:      act.compressed_save
// BATCH-COUNT-2: act.compressed_save %{{.*}}: tensor<8x128x16xf32>
// BATCH-NOT:     act.compressed_save
// BATCH:         "stablehlo.negate"
// BATCH-COUNT-2: act.dequantize_load
// BATCH-NEXT:    "stablehlo.dot_general"
// GROWING-COUNT-2: act.compressed_save %{{.*}}: tensor<8x128x16xf32>
// GROWING-NOT:   act.compressed_save
// CHECK:         return
func.func @scores(%x: !q, %y: tensor<16x16xf32>, %v: !s) -> (!s, !s) {
  %q = "stablehlo.dot"(%x, %y) : (!q, tensor<16x16xf32>) -> !q
  %n = "stablehlo.negate"(%x) : (!q) -> !q
  %k = "stablehlo.dot"(%n, %y) : (!q, tensor<16x16xf32>) -> !q
  %s = "stablehlo.dot_general"(%q, %k) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (!q, !q) -> !s
  %l = "stablehlo.dot_general"(%s, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (!s, !s) -> !s
  %g = "stablehlo.negate"(%l) : (!s) -> !s
  %d = "stablehlo.multiply"(%s, %g) : (!s, !s) -> !s
  return %l, %d : !s, !s
}

// The output of attention is no larger than its values: it is never computed again,
// not even from factors that are alive anyway.

// CHECK-LABEL: func.func @no_growth(
// CHECK-NOT:     act.compressed_save %{{.*}}: tensor<128x128xf32>
// CHECK:         act.compressed_save %{{.*}}: tensor<128x256xf32>
// CHECK-NOT:     act.compressed_save
// CHECK:         return
func.func @no_growth(%x: !t, %y: !v) -> (!v, !v, !t, !v) {
  %p = "stablehlo.dot"(%x, %x) : (!t, !t) -> !t
  %v = "stablehlo.dot"(%x, %y) : (!t, !v) -> !v
  %o = "stablehlo.dot"(%p, %v) : (!t, !v) -> !v
  %l = "stablehlo.dot"(%x, %o) : (!t, !v) -> !v
  %g = "stablehlo.negate"(%l) : (!v) -> !v
  %d = "stablehlo.multiply"(%o, %g) : (!v, !v) -> !v
  return %l, %d, %p, %v : !v, !v, !t, !v
}

// The first layer of an MLP block, twice as large as its input.

// CHECK-LABEL: func.func @mlp(
// NONE:          act.compressed_save %{{[^ ]+}} : tensor<128x256xf32>
// BATCH:         act.compressed_save %{{[^ ]+}} : tensor<128x256xf32>
// GROWING:       act.compressed_save %{{[^ ]+}} : tensor<128x128xf32>
// NONE-NOT:      act.compressed_save
// BATCH-NOT:     act.compressed_save
// GROWING-NOT:   act.compressed_save
// CHECK:         act.dequantize_load
// GROWING-NEXT:  "stablehlo.dot"
// CHECK:         return
func.func @mlp(%x: !t, %y: !v) -> (!v, !v) {
  %z = "stablehlo.dot"(%x, %x) : (!t, !t) -> !t
  %h = "stablehlo.dot"(%z, %y) : (!t, !v) -> !v
  %l = "stablehlo.dot"(%x, %h) : (!t, !v) -> !v
  %g = "stablehlo.negate"(%l) : (!v) -> !v
  %d = "stablehlo.multiply"(%h, %g) : (!v, !v) -> !v
  return %l, %d : !v, !v
}

// Query and key, each as large as what they are made of but larger together.

// CHECK-LABEL: func.func @query_key(
// NONE-COUNT-2:  act.compressed_save
// BATCH-COUNT-2: act.compressed_save
// GROWING:       %[[Z:.*]] = "stablehlo.dot"
// GROWING-NEXT:  act.compressed_save %[[Z]]
// NONE-NOT:      act.compressed_save
// BATCH-NOT:     act.compressed_save
// GROWING-NOT:   act.compressed_save
// CHECK:         return
func.func @query_key(%x: !t, %y: !t, %v: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %x) : (!t, !t) -> !t
  %q = "stablehlo.dot"(%z, %y) : (!t, !t) -> !t
  %k = "stablehlo.dot"(%z, %v) : (!t, !t) -> !t
  %l = "stablehlo.dot"(%q, %k) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%l) : (!t) -> !t
  %d = "stablehlo.clamp"(%q, %g, %k) : (!t, !t, !t) -> !t
  return %l, %d : !t, !t
}

// One product of the size of its input is not computed again.

// CHECK-LABEL: func.func @one_product(
// CHECK:         "stablehlo.dot"
// CHECK-NEXT:    %[[Q:.*]] = "stablehlo.dot"
// CHECK-NEXT:    act.compressed_save %[[Q]]
// CHECK-NOT:     act.compressed_save
// CHECK:         return
func.func @one_product(%x: !t, %y: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %x) : (!t, !t) -> !t
  %q = "stablehlo.dot"(%z, %y) : (!t, !t) -> !t
  %l = "stablehlo.dot"(%q, %y) : (!t, !t) -> !t
  %g = "stablehlo.negate"(%l) : (!t) -> !t
  %d = "stablehlo.multiply"(%q, %g) : (!t, !t) -> !t
  return %l, %d : !t, !t
}

// Softmax over scores that are computed again is normalised again, sums and all:
// with rounded scores and exact sums its rows would not add up to one.

// CHECK-LABEL: func.func @softmax(
// NONE:          act.compressed_save %{{.*}} : tensor<8x128x128xf32>
// BATCH-COUNT-2: act.compressed_save %{{.*}}: tensor<8x128x16xf32>
// BATCH-NOT:     act.compressed_save
// BATCH:         "stablehlo.negate"
// BATCH-COUNT-2: act.dequantize_load
// BATCH-NEXT:    %[[S:.*]] = "stablehlo.dot_general"
// BATCH-NEXT:    %[[E:.*]] = "stablehlo.exponential"(%[[S]])
// BATCH-NEXT:    %[[R:.*]] = "stablehlo.reduce"(%[[E]],
// NONE-NOT:      "stablehlo.exponential"
// CHECK:         return
func.func @softmax(%q: !q, %k: !q, %y: tensor<16x16xf32>, %v: !s) -> (!s, !s) {
  %zero = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
  %qy = "stablehlo.dot"(%q, %y) : (!q, tensor<16x16xf32>) -> !q
  %ky = "stablehlo.dot"(%k, %y) : (!q, tensor<16x16xf32>) -> !q
  %s = "stablehlo.dot_general"(%qy, %ky) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>}> : (!q, !q) -> !s
  %e = "stablehlo.exponential"(%s) : (!s) -> !s
  %r = "stablehlo.reduce"(%e, %zero) <{dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%sum) : (tensor<f32>) -> ()
  }) : (!s, tensor<f32>) -> tensor<8x128xf32>
  %b = "stablehlo.broadcast_in_dim"(%r) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<8x128xf32>) -> !s
  %p = "stablehlo.divide"(%e, %b) : (!s, !s) -> !s
  %l = "stablehlo.dot_general"(%p, %v) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (!s, !s) -> !s
  %g = "stablehlo.negate"(%l) : (!s) -> !s
  %d = "stablehlo.multiply"(%p, %g) : (!s, !s) -> !s
  return %l, %d : !s, !s
}
