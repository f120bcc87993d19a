// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-delay-random))" | FileCheck %s

// A loop begins behind the last barrier that holds something compressed other
// than a random mask; several loops may wait at one.

!save = !act.compressed<tensor<128x128xf32>, #act.group_quant<bits = 4, group = 64>>
!mask = !act.compressed<tensor<128x128xi1>, #act.mask>
!raw = !act.compressed<tensor<128x128xf32>, #act.raw>

// CHECK-LABEL: func.func @step(
// CHECK-SAME:    %[[X:.*]]: tensor<128x128xf32>
// CHECK:         %[[ZERO:.*]] = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}>
// CHECK:         %[[EARLY:.*]]:2 = "stablehlo.while"(%[[ZERO]],
// CHECK:         %[[H:.*]] = "stablehlo.tanh"(%[[X]])
// CHECK-NEXT:    %[[SAVE:.*]] = act.compressed_save %[[H]]
// CHECK-NEXT:    %[[ZERO1:.*]] = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}>
// CHECK-NEXT:    %[[ZERO2:.*]] = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}>
// CHECK-NEXT:    %[[B:.*]]:4 = act.barrier %[[H]], %[[SAVE]], %[[ZERO1]], %[[ZERO2]]
// CHECK-NEXT:    "stablehlo.sine"(%[[B]]#0)
// CHECK:         act.barrier %{{.*}}, %{{.*}} : tensor<128x128xf32>, !act.compressed<tensor<128x128xf32>, #act.raw>
// CHECK-NOT:     "stablehlo.constant"() <{value = dense<0> : tensor<i32>}>
// CHECK:         %[[MASK:.*]]:2 = "stablehlo.while"(%[[B]]#2,
// CHECK:         act.barrier %[[MASK]]#1, %{{.*}} : tensor<128x128xi1>, !act.compressed<tensor<128x128xi1>, #act.mask>
// CHECK:         "stablehlo.while"(%[[B]]#3,
// CHECK:         "stablehlo.while"(%[[ZERO]],
// CHECK-NOT:     act.tiled_random
// CHECK:         return
func.func @step(%x: tensor<128x128xf32>, %falses: tensor<128x128xi1>)
    -> (tensor<128x128xi1>, tensor<128x128xi1>, tensor<128x128xi1>, tensor<128x128xi1>, tensor<128x128xf32>, !raw, tensor<128x128xi1>, !mask) {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %early:2 = "stablehlo.while"(%zero, %falses) ({
  ^bb0(%n: tensor<i32>, %m: tensor<128x128xi1>):
    %c = "test.more"(%n) : (tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %m: tensor<128x128xi1>):
    "stablehlo.return"(%n, %m) : (tensor<i32>, tensor<128x128xi1>) -> ()
  }) {act.tiled_random} : (tensor<i32>, tensor<128x128xi1>) -> (tensor<i32>, tensor<128x128xi1>)

  %h = "stablehlo.tanh"(%x) : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %save = act.compressed_save %h : tensor<128x128xf32> to !save
  %b:2 = act.barrier %h, %save : tensor<128x128xf32>, !save
  %s = "stablehlo.sine"(%b#0) : (tensor<128x128xf32>) -> tensor<128x128xf32>
  %raw = act.compressed_save %s : tensor<128x128xf32> to !raw
  %r:2 = act.barrier %s, %raw : tensor<128x128xf32>, !raw

  %start = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %mask:2 = "stablehlo.while"(%start, %falses) ({
  ^bb0(%n: tensor<i32>, %m: tensor<128x128xi1>):
    %c = "test.more"(%n) : (tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %m: tensor<128x128xi1>):
    "stablehlo.return"(%n, %m) : (tensor<i32>, tensor<128x128xi1>) -> ()
  }) {act.tiled_random} : (tensor<i32>, tensor<128x128xi1>) -> (tensor<i32>, tensor<128x128xi1>)
  %saved = act.compressed_save %mask#1 exact <predicate> : tensor<128x128xi1> to !mask
  %d:2 = act.barrier %mask#1, %saved : tensor<128x128xi1>, !mask

  %mask2:2 = "stablehlo.while"(%start, %falses) ({
  ^bb0(%n: tensor<i32>, %m: tensor<128x128xi1>):
    %c = "test.more"(%n) : (tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %m: tensor<128x128xi1>):
    "stablehlo.return"(%n, %m) : (tensor<i32>, tensor<128x128xi1>) -> ()
  }) {act.tiled_random} : (tensor<i32>, tensor<128x128xi1>) -> (tensor<i32>, tensor<128x128xi1>)
  %other:2 = "stablehlo.while"(%zero, %falses) ({
  ^bb0(%n: tensor<i32>, %m: tensor<128x128xi1>):
    %c = "test.more"(%n) : (tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %m: tensor<128x128xi1>):
    "stablehlo.return"(%n, %m) : (tensor<i32>, tensor<128x128xi1>) -> ()
  }) : (tensor<i32>, tensor<128x128xi1>) -> (tensor<i32>, tensor<128x128xi1>)
  return %early#1, %mask#1, %mask2#1, %other#1, %r#0, %r#1, %d#0, %d#1 : tensor<128x128xi1>, tensor<128x128xi1>, tensor<128x128xi1>, tensor<128x128xi1>, tensor<128x128xf32>, !raw, tensor<128x128xi1>, !mask
}

// One that does not begin with a constant stays.

// CHECK-LABEL: func.func @stays(
// CHECK:         act.barrier %{{.*}}, %{{.*}} : tensor<128x128xf32>, !act
// CHECK-NOT:     act.barrier
func.func @stays(%x: tensor<128x128xf32>, %falses: tensor<128x128xi1>, %n: tensor<i32>) -> (tensor<128x128xi1>, tensor<128x128xf32>, !save) {
  %save = act.compressed_save %x : tensor<128x128xf32> to !save
  %b:2 = act.barrier %x, %save : tensor<128x128xf32>, !save
  %mask:2 = "stablehlo.while"(%n, %falses) ({
  ^bb0(%p: tensor<i32>, %m: tensor<128x128xi1>):
    %c = "test.more"(%p) : (tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%p: tensor<i32>, %m: tensor<128x128xi1>):
    "stablehlo.return"(%p, %m) : (tensor<i32>, tensor<128x128xi1>) -> ()
  }) {act.tiled_random} : (tensor<i32>, tensor<128x128xi1>) -> (tensor<i32>, tensor<128x128xi1>)
  return %mask#1, %b#0, %b#1 : tensor<128x128xi1>, tensor<128x128xf32>, !save
}
