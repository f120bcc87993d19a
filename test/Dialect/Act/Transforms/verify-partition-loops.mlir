// RUN: act-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(func.func(act-verify-partition))'

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!r = tensor<1x128x128xf32>
!s = tensor<6x128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>
!saves = !act.stack<6 x !act.compressed<tensor<128x128xf32>, #act.raw>>

// What a backward loop may read: the saves of the iteration that it undoes, rows of
// a stack that is a result of the step, rows of arguments behind a barrier, values
// from outside.

func.func @right(%x: !t, %w: !t, %ws: !s, %g0: !t) -> (!t, !s, !t) attributes {act.primal_results = 2 : i64} {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
  %empty = act.empty_stack : !saves
  %f:4 = "stablehlo.while"(%c0, %x, %zeros, %empty) ({
  ^bb0(%i: !i, %h: !t, %ys: !s, %cs: !saves):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t, %ys: !s, %cs: !saves):
    %c = act.compressed_save %h : !t to !c
    %hb, %cb = act.barrier %h, %c : !t, !c
    %y = "stablehlo.dot"(%hb, %w) : (!t, !t) -> !t
    %yr = "stablehlo.reshape"(%y) : (!t) -> !r
    %ys1 = "stablehlo.dynamic_update_slice"(%ys, %yr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    %cs1 = act.stack_push %cb, %cs[%i] : !i, !saves
    "stablehlo.return"(%i1, %y, %ys1, %cs1) : (!i, !t, !s, !saves) -> ()
  }) : (!i, !t, !s, !saves) -> (!i, !t, !s, !saves)
  %b:3 = "stablehlo.while"(%c0, %g0, %f#3) ({
  ^bb0(%j: !i, %g: !t, %cs: !saves):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t, %cs: !saves):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %c = act.stack_read %cs[%k] : !i, !saves
    %cb, %gb = act.barrier %c, %g : !c, !t
    %h = act.dequantize_load %cb : !c to !t
    %yr = "stablehlo.dynamic_slice"(%f#2, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %y = "stablehlo.reshape"(%yr) : (!r) -> !t
    %m = "stablehlo.clamp"(%y, %gb, %h) : (!t, !t, !t) -> !t
    %kb, %mb = act.barrier %k, %m : !i, !t
    %wr = "stablehlo.dynamic_slice"(%ws, %kb, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r loc("act.recompute/slice")
    %w1 = "stablehlo.reshape"(%wr) : (!r) -> !t loc("act.recompute/reshape")
    %g1 = "stablehlo.dot"(%mb, %w1) : (!t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1, %cs) : (!i, !t, !saves) -> ()
  }) : (!i, !t, !saves) -> (!i, !t, !saves)
  return %f#1, %f#2, %b#1 : !t, !s, !t
}

// -----

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!r = tensor<1x128x128xf32>
!s = tensor<6x128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>
!saves = !act.stack<6 x !act.compressed<tensor<128x128xf32>, #act.raw>>

// Besides the saves backward reads rows of a stack in full that is no result.

func.func @reads_row(%x: !t, %w: !t, %g0: !t) -> (!t, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
  %empty = act.empty_stack : !saves
  %f:4 = "stablehlo.while"(%c0, %x, %zeros, %empty) ({
  ^bb0(%i: !i, %h: !t, %ys: !s, %cs: !saves):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t, %ys: !s, %cs: !saves):
    %c = act.compressed_save %h : !t to !c
    %hb, %cb = act.barrier %h, %c : !t, !c
    // expected-note@+1 {{defined here by 'stablehlo.dot'}}
    %y = "stablehlo.dot"(%hb, %w) : (!t, !t) -> !t
    %yr = "stablehlo.reshape"(%y) : (!t) -> !r
    %ys1 = "stablehlo.dynamic_update_slice"(%ys, %yr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    %cs1 = act.stack_push %cb, %cs[%i] : !i, !saves
    "stablehlo.return"(%i1, %y, %ys1, %cs1) : (!i, !t, !s, !saves) -> ()
  }) : (!i, !t, !s, !saves) -> (!i, !t, !s, !saves)
  %b:3 = "stablehlo.while"(%c0, %g0, %f#3) ({
  ^bb0(%j: !i, %g: !t, %cs: !saves):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t, %cs: !saves):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %c = act.stack_read %cs[%k] : !i, !saves
    %cb, %gb = act.barrier %c, %g : !c, !t
    %h = act.dequantize_load %cb : !c to !t
    %yr = "stablehlo.dynamic_slice"(%f#2, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %y = "stablehlo.reshape"(%yr) : (!r) -> !t
    // expected-error@+1 {{'stablehlo.clamp' op of backward reads a forward value of type 'tensor<128x128xf32>' that does not come from a save}}
    %g1 = "stablehlo.clamp"(%y, %gb, %h) : (!t, !t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1, %cs) : (!i, !t, !saves) -> ()
  }) : (!i, !t, !saves) -> (!i, !t, !saves)
  return %f#1, %b#1 : !t, !t
}

// -----

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!r = tensor<1x128x128xf32>
!s = tensor<6x128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>
!saves = !act.stack<6 x !act.compressed<tensor<128x128xf32>, #act.raw>>

// The same in a module without JAX's locations, behind a clone: what act adds does not
// make a step of the backward loop alone.

func.func @reads_row_behind_clone(%x: !t, %w: !t, %g0: !t) -> (!t, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %zeros = "stablehlo.constant"() <{value = dense<0.0> : !s}> : () -> !s
  %empty = act.empty_stack : !saves
  %f:4 = "stablehlo.while"(%c0, %x, %zeros, %empty) ({
  ^bb0(%i: !i, %h: !t, %ys: !s, %cs: !saves):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t, %ys: !s, %cs: !saves):
    %c = act.compressed_save %h : !t to !c
    %hb, %cb = act.barrier %h, %c : !t, !c
    // expected-note@+1 {{defined here by 'stablehlo.dot'}}
    %y = "stablehlo.dot"(%hb, %w) : (!t, !t) -> !t
    %yr = "stablehlo.reshape"(%y) : (!t) -> !r
    %ys1 = "stablehlo.dynamic_update_slice"(%ys, %yr, %i, %c0, %c0) : (!s, !r, !i, !i, !i) -> !s
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    %cs1 = act.stack_push %cb, %cs[%i] : !i, !saves
    "stablehlo.return"(%i1, %y, %ys1, %cs1) : (!i, !t, !s, !saves) -> ()
  }) : (!i, !t, !s, !saves) -> (!i, !t, !s, !saves)
  %b:3 = "stablehlo.while"(%c0, %g0, %f#3) ({
  ^bb0(%j: !i, %g: !t, %cs: !saves):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t, %cs: !saves):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i
    %c = act.stack_read %cs[%k] : !i, !saves
    %cb, %gb = act.barrier %c, %g : !c, !t
    %h = act.dequantize_load %cb : !c to !t
    %s = "stablehlo.sine"(%h) : (!t) -> !t loc("act.recompute/sin"(unknown))
    %yr = "stablehlo.dynamic_slice"(%f#2, %k, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %y = "stablehlo.reshape"(%yr) : (!r) -> !t
    // expected-error@+1 {{'stablehlo.clamp' op of backward reads a forward value of type 'tensor<128x128xf32>' that does not come from a save}}
    %g1 = "stablehlo.clamp"(%y, %gb, %s) : (!t, !t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %g1, %cs) : (!i, !t, !saves) -> ()
  }) : (!i, !t, !saves) -> (!i, !t, !saves)
  return %f#1, %b#1 : !t, !t
}

// -----

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
#back = loc("jit(f)/transpose(jvp())/back")
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!r = tensor<1x128x128xf32>
!s = tensor<6x128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>
!saves = !act.stack<6 x !act.compressed<tensor<128x128xf32>, #act.raw>>

// Forward's slice of the weights is made again at once: it would be alive from the
// start of the iteration. Constants, be they made in backward or outside of the loop,
// hold nothing back.

func.func @not_held_back(%x: !t, %ws: !s, %g0: !t) -> (!t, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c5 = "stablehlo.constant"() <{value = dense<5> : !i}> : () -> !i
  %c6 = "stablehlo.constant"() <{value = dense<6> : !i}> : () -> !i
  %empty = act.empty_stack : !saves
  %f:3 = "stablehlo.while"(%c0, %x, %empty) ({
  ^bb0(%i: !i, %h: !t, %cs: !saves):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %h: !t, %cs: !saves):
    %c = act.compressed_save %h : !t to !c
    %hb, %cb = act.barrier %h, %c : !t, !c
    %wr = "stablehlo.dynamic_slice"(%ws, %i, %c0, %c0) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r
    %w = "stablehlo.reshape"(%wr) : (!r) -> !t
    %y = "stablehlo.dot"(%hb, %w) : (!t, !t) -> !t
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    %cs1 = act.stack_push %cb, %cs[%i] : !i, !saves
    "stablehlo.return"(%i1, %y, %cs1) : (!i, !t, !saves) -> ()
  }) : (!i, !t, !saves) -> (!i, !t, !saves)
  %b:3 = "stablehlo.while"(%c0, %g0, %f#2) ({
  ^bb0(%j: !i, %g: !t, %cs: !saves):
    %p = "stablehlo.compare"(%j, %c6) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%j: !i, %g: !t, %cs: !saves):
    %k = "stablehlo.subtract"(%c5, %j) : (!i, !i) -> !i loc(#back)
    %c = act.stack_read %cs[%k] : !i, !saves
    %cb, %gb = act.barrier %c, %g : !c, !t
    %h = act.dequantize_load %cb : !c to !t
    %z = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
    // expected-error@unknown {{'stablehlo.dynamic_slice' op was cloned into backward but no barrier holds it back}}
    %wr = "stablehlo.dynamic_slice"(%ws, %k, %c0, %z) <{slice_sizes = #row}> : (!s, !i, !i, !i) -> !r loc("act.recompute/slice"(unknown))
    %w = "stablehlo.reshape"(%wr) : (!r) -> !t
    %m = "stablehlo.clamp"(%h, %gb, %w) : (!t, !t, !t) -> !t
    %j1 = "stablehlo.add"(%j, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%j1, %m, %cs) : (!i, !t, !saves) -> ()
  }) : (!i, !t, !saves) -> (!i, !t, !saves)
  return %f#1, %b#1 : !t, !t
}

// -----

#lt = #stablehlo<comparison_direction LT>
#row = array<i64: 1, 128, 128>
#back = loc("jit(f)/transpose(jvp())/back")
!f = tensor<f32>
!i = tensor<i32>
!p = tensor<i1>
!t = tensor<128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>

// A step inside a loop.

func.func @step_in_loop(%x: !t, %w0: !t) -> (!f, !t) {
  %c0 = "stablehlo.constant"() <{value = dense<0> : !i}> : () -> !i
  %c1 = "stablehlo.constant"() <{value = dense<1> : !i}> : () -> !i
  %c4 = "stablehlo.constant"() <{value = dense<4> : !i}> : () -> !i
  %zero = "stablehlo.constant"() <{value = dense<0.0> : !f}> : () -> !f
  %f:3 = "stablehlo.while"(%c0, %w0, %zero) ({
  ^bb0(%i: !i, %w: !t, %loss: !f):
    %p = "stablehlo.compare"(%i, %c4) <{comparison_direction = #lt}> : (!i, !i) -> !p
    "stablehlo.return"(%p) : (!p) -> ()
  }, {
  ^bb0(%i: !i, %w: !t, %loss: !f):
    // expected-note@+1 {{defined here by 'stablehlo.dot'}}
    %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t
    %c = act.compressed_save %z : !t to !c
    %zb, %cb = act.barrier %z, %c : !t, !c
    %y = "stablehlo.dot"(%zb, %x) : (!t, !t) -> !t
    %l = "stablehlo.reduce"(%y, %zero) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%u: !f, %v: !f):
      %s = "stablehlo.add"(%u, %v) : (!f, !f) -> !f
      "stablehlo.return"(%s) : (!f) -> ()
    }) : (!t, !f) -> !f
    %g = "stablehlo.negate"(%y) : (!t) -> !t loc(#back)
    %cl, %gb = act.barrier %cb, %g : !c, !t
    %z1 = act.dequantize_load %cl : !c to !t
    // expected-error@+1 {{'stablehlo.clamp' op of backward reads a forward value of type 'tensor<128x128xf32>' that does not come from a save}}
    %d = "stablehlo.clamp"(%z, %gb, %z1) : (!t, !t, !t) -> !t
    %w1 = "stablehlo.subtract"(%w, %d) : (!t, !t) -> !t
    %loss1 = "stablehlo.add"(%loss, %l) : (!f, !f) -> !f
    %i1 = "stablehlo.add"(%i, %c1) : (!i, !i) -> !i
    "stablehlo.return"(%i1, %w1, %loss1) : (!i, !t, !f) -> ()
  }) : (!i, !t, !f) -> (!i, !t, !f)
  return %f#2, %f#1 : !f, !t
}
