// RUN: act-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(act-verify-partition))'

!t = tensor<128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>

// What backward may read: saves that enter a barrier or a load, arguments, the
// head (%y), primal results, constants.

func.func @right(%x: !t, %w: !t) -> (!t, !t, !t) attributes {act.primal_results = 2 : i64} {
  %k = "stablehlo.constant"() <{value = dense<2.0> : !t}> : () -> !t
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %c = act.compressed_save %z : !t to !c
  %c1, %z1 = act.barrier %c, %z : !c, !t
  %m = "stablehlo.sine"(%z1) : (!t) -> !t
  %y = "stablehlo.dot"(%m, %w) : (!t, !t) -> !t
  %l = "stablehlo.negate"(%y) : (!t) -> !t
  %g = "stablehlo.multiply"(%y, %w) : (!t, !t) -> !t
  %z2 = act.dequantize_load %c1 : !c to !t
  %g1 = "stablehlo.clamp"(%z2, %g, %m) : (!t, !t, !t) -> !t
  %c2, %g2 = act.barrier %c1, %g1 : !c, !t
  %z3 = act.dequantize_load %c2 : !c to !t
  %d = "stablehlo.clamp"(%z3, %k, %g2) : (!t, !t, !t) -> !t
  return %m, %l, %d : !t, !t, !t
}

// -----

!t = tensor<128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>

func.func @reads_forward(%x: !t, %w: !t) -> (!t, !t) {
  // expected-note@+1 {{defined here by 'stablehlo.dot'}}
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %c = act.compressed_save %z : !t to !c
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %z1 = act.dequantize_load %c : !c to !t
  // expected-error@+1 {{'stablehlo.clamp' op of backward reads a forward value of type 'tensor<128x128xf32>' that does not come from a save}}
  %d = "stablehlo.clamp"(%z, %y, %z1) : (!t, !t, !t) -> !t
  return %y, %d : !t, !t
}

// -----

// What a forward barrier returns is a forward value, too.

!t = tensor<128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>

func.func @reads_barrier(%x: !t, %w: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %c = act.compressed_save %z : !t to !c
  // expected-note@+1 {{defined here by 'act.barrier'}}
  %c1, %z1 = act.barrier %c, %z : !c, !t
  %y = "stablehlo.dot"(%z1, %w) : (!t, !t) -> !t
  %z2 = act.dequantize_load %c1 : !c to !t
  // expected-error@+1 {{'stablehlo.clamp' op of backward reads a forward value}}
  %d = "stablehlo.clamp"(%z1, %y, %z2) : (!t, !t, !t) -> !t
  return %y, %d : !t, !t
}

// -----

// Constants are free, functions of them are not: XLA would make them early.

!t = tensor<128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>

func.func @reads_broadcast(%x: !t, %w: !t) -> (!t, !t) {
  %k = "stablehlo.constant"() <{value = dense<2.0> : tensor<f32>}> : () -> tensor<f32>
  // expected-note@+1 {{defined here by 'stablehlo.broadcast_in_dim'}}
  %b = "stablehlo.broadcast_in_dim"(%k) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> !t
  %z = "stablehlo.dot"(%x, %b) : (!t, !t) -> !t
  %c = act.compressed_save %z : !t to !c
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %z1 = act.dequantize_load %c : !c to !t
  // expected-error@+1 {{'stablehlo.clamp' op of backward reads a forward value}}
  %d = "stablehlo.clamp"(%b, %y, %z1) : (!t, !t, !t) -> !t
  return %y, %d : !t, !t
}

// -----

// A read by an operation inside a region.

!t = tensor<128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>

func.func @captures(%x: !t, %w: !t, %p: tensor<i1>) -> (!t, !t) {
  // expected-note@+1 {{defined here by 'stablehlo.dot'}}
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %c = act.compressed_save %z : !t to !c
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %z1 = act.dequantize_load %c : !c to !t
  %d = "stablehlo.if"(%p) ({
    // expected-error@+1 {{'stablehlo.return' op of backward reads a forward value}}
    "stablehlo.return"(%z) : (!t) -> ()
  }, {
    "stablehlo.return"(%z1) : (!t) -> ()
  }) : (tensor<i1>) -> !t
  return %y, %d : !t, !t
}

// -----

// A save that enters anything but a barrier or a load.

!t = tensor<128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>

func.func @reads_save(%x: !t, %w: !t) -> (!t, !c) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  // expected-note@+1 {{defined here by 'act.compressed_save'}}
  %c = act.compressed_save %z : !t to !c
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  // expected-error@+1 {{'builtin.unrealized_conversion_cast' op of backward reads a forward value of type '!act.compressed<tensor<128x128xf32>, #act.raw>' that does not come from a save}}
  %d = builtin.unrealized_conversion_cast %c : !c to !c
  return %y, %d : !t, !c
}

// -----

// A clone, known by its location, that only arguments feed: the compiler would
// merge it with the original.

!t = tensor<128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>

func.func @free_clone(%x: !t, %w: !t) -> (!t, !t) {
  %n = "stablehlo.sine"(%x) : (!t) -> !t
  %z = "stablehlo.dot"(%n, %w) : (!t, !t) -> !t
  %c = act.compressed_save %z : !t to !c
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %z1 = act.dequantize_load %c : !c to !t
  // expected-error@unknown {{'stablehlo.sine' op was cloned into backward but no barrier holds it back}}
  %n1 = "stablehlo.sine"(%x) : (!t) -> !t loc("act.recompute/sin")
  %d = "stablehlo.clamp"(%n1, %y, %z1) : (!t, !t, !t) -> !t
  return %y, %d : !t, !t
}

// -----

// A scalar cannot pass a barrier: a clone that reads only scalars is free.

!t = tensor<128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>

func.func @scalar_clone(%x: !t, %w: !t, %f: f32) -> (!t, !t) {
  %n = tensor.splat %f : !t
  %z = "stablehlo.dot"(%n, %w) : (!t, !t) -> !t
  %c = act.compressed_save %z : !t to !c
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %z1 = act.dequantize_load %c : !c to !t
  %n1 = tensor.splat %f : !t loc("act.recompute/splat")
  %d = "stablehlo.clamp"(%n1, %y, %z1) : (!t, !t, !t) -> !t
  return %y, %d : !t, !t
}

// -----

// Every error is reported.

!t = tensor<128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>

func.func @two(%x: !t, %w: !t) -> (!t, !t) {
  // expected-note@+1 {{defined here by 'stablehlo.dot'}}
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %c = act.compressed_save %z : !t to !c
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  // expected-error@+1 {{'stablehlo.multiply' op of backward reads a forward value}}
  %d = "stablehlo.multiply"(%z, %y) : (!t, !t) -> !t
  // expected-error@+1 {{'stablehlo.sine' op of backward reads a forward value}}
  %e = "stablehlo.sine"(%z) : (!t) -> !t
  %f = "stablehlo.multiply"(%d, %e) : (!t, !t) -> !t
  return %y, %f : !t, !t
}

// -----

// A function that holds no save was not partitioned; it need not be a step either.

!t = tensor<128x128xf32>

func.func @untouched(%x: !t, %w: !t) -> (!t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
  %y = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %d = "stablehlo.multiply"(%z, %y) : (!t, !t) -> !t
  return %y, %d : !t, !t
}
func.func @no_step() {
  return
}
func.func private @external(!t)
