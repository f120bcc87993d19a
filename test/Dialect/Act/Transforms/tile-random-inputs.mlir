// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-tile-random{tile-bytes=4096}))" | FileCheck %s
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-tile-random{tile-bytes=0}))" -o /dev/null
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-tile-random{tile-bytes=-1}))" -o /dev/null
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-tile-random{tile-bytes=1}))" -o /dev/null

// Input that no program has.

// Users in other blocks.

// CHECK-LABEL: func.func @blocks
// CHECK:         %[[W:.*]]:2 = "stablehlo.while"
// CHECK:         }) {act.tiled_random}
// CHECK:         cf.br
// CHECK:         return %[[W]]#1
func.func @blocks() -> tensor<4096xui32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4096xui32>
  %w:2 = "stablehlo.while"(%zero, %i) ({
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %b = "stablehlo.add"(%a, %a) : (tensor<4096xui32>, tensor<4096xui32>) -> tensor<4096xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %b) : (tensor<i32>, tensor<4096xui32>) -> ()
  }) : (tensor<i32>, tensor<4096xui32>) -> (tensor<i32>, tensor<4096xui32>)
  cf.br ^next
^next:
  return %w#1 : tensor<4096xui32>
}

// A counter that is used besides the bits, and two results of two shapes.

// CHECK-LABEL: func.func @counter
// CHECK-NOT:     act.tiled_random
func.func @counter() -> (tensor<i32>, tensor<4096xui32>) {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4096xui32>
  %w:2 = "stablehlo.while"(%zero, %i) ({
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %b = "stablehlo.add"(%a, %a) : (tensor<4096xui32>, tensor<4096xui32>) -> tensor<4096xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %b) : (tensor<i32>, tensor<4096xui32>) -> ()
  }) : (tensor<i32>, tensor<4096xui32>) -> (tensor<i32>, tensor<4096xui32>)
  return %w#0, %w#1 : tensor<i32>, tensor<4096xui32>
}

// CHECK-LABEL: func.func @shapes
// CHECK-NOT:     act.tiled_random
func.func @shapes() -> (tensor<64x64xui32>, tensor<32x128xui32>) {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4096xui32>
  %w:2 = "stablehlo.while"(%zero, %i) ({
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %b = "stablehlo.add"(%a, %a) : (tensor<4096xui32>, tensor<4096xui32>) -> tensor<4096xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %b) : (tensor<i32>, tensor<4096xui32>) -> ()
  }) : (tensor<i32>, tensor<4096xui32>) -> (tensor<i32>, tensor<4096xui32>)
  %x = "stablehlo.reshape"(%w#1) : (tensor<4096xui32>) -> tensor<64x64xui32>
  %y = "stablehlo.reshape"(%w#1) : (tensor<4096xui32>) -> tensor<32x128xui32>
  return %x, %y : tensor<64x64xui32>, tensor<32x128xui32>
}

// The end of the loop depends on a full tensor.

// CHECK-LABEL: func.func @condition
// CHECK-NOT:     act.tiled_random
func.func @condition() -> tensor<4096xui32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4096xui32>
  %w:2 = "stablehlo.while"(%zero, %i) ({
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %more = "stablehlo.slice"(%a) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4096xui32>) -> tensor<1xui32>
    "stablehlo.return"(%more) : (tensor<1xui32>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %b = "stablehlo.add"(%a, %a) : (tensor<4096xui32>, tensor<4096xui32>) -> tensor<4096xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %b) : (tensor<i32>, tensor<4096xui32>) -> ()
  }) : (tensor<i32>, tensor<4096xui32>) -> (tensor<i32>, tensor<4096xui32>)
  return %w#1 : tensor<4096xui32>
}

// Elements of other tiles.

// CHECK-LABEL: func.func @reversed
// CHECK-NOT:     act.tiled_random
func.func @reversed() -> tensor<4096xui32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4096xui32>
  %w:2 = "stablehlo.while"(%zero, %i) ({
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %b = "stablehlo.reverse"(%a) <{dimensions = array<i64: 0>}> : (tensor<4096xui32>) -> tensor<4096xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %b) : (tensor<i32>, tensor<4096xui32>) -> ()
  }) : (tensor<i32>, tensor<4096xui32>) -> (tensor<i32>, tensor<4096xui32>)
  return %w#1 : tensor<4096xui32>
}

// CHECK-LABEL: func.func @shifted
// CHECK-NOT:     act.tiled_random
func.func @shifted() -> tensor<4096xui32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4096xui32>
  %w:2 = "stablehlo.while"(%zero, %i) ({
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %s = "stablehlo.slice"(%a) <{limit_indices = array<i64: 4095>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<4096xui32>) -> tensor<4095xui32>
    %t = "stablehlo.slice"(%a) <{limit_indices = array<i64: 4096>, start_indices = array<i64: 4095>, strides = array<i64: 1>}> : (tensor<4096xui32>) -> tensor<1xui32>
    %b = "stablehlo.concatenate"(%s, %t) <{dimension = 0 : i64}> : (tensor<4095xui32>, tensor<1xui32>) -> tensor<4096xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %b) : (tensor<i32>, tensor<4096xui32>) -> ()
  }) : (tensor<i32>, tensor<4096xui32>) -> (tensor<i32>, tensor<4096xui32>)
  return %w#1 : tensor<4096xui32>
}

// Attributes that are missing or wrong.

// CHECK-LABEL: func.func @attributes
// CHECK-NOT:     act.tiled_random
func.func @attributes(%key: tensor<2xui32>) -> (tensor<4096xui32>, tensor<4096xui32>, tensor<4096xui32>, tensor<4096xui32>) {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %i = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4096xui32>
  %w:2 = "stablehlo.while"(%zero, %i) ({
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %b = "stablehlo.broadcast_in_dim"(%key) : (tensor<2xui32>) -> tensor<4096xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %b) : (tensor<i32>, tensor<4096xui32>) -> ()
  }) : (tensor<i32>, tensor<4096xui32>) -> (tensor<i32>, tensor<4096xui32>)
  %j = "stablehlo.iota"() : () -> tensor<4096xui32>
  %s = "stablehlo.slice"(%j) <{limit_indices = array<i64: 5000>, start_indices = array<i64: 0>, strides = array<i64: 0>}> : (tensor<4096xui32>) -> tensor<4096xui32>
  %t = "stablehlo.concatenate"(%s, %w#1) : (tensor<4096xui32>, tensor<4096xui32>) -> tensor<4096xui32>
  return %w#1, %j, %s, %t : tensor<4096xui32>, tensor<4096xui32>, tensor<4096xui32>, tensor<4096xui32>
}

// CHECK-LABEL: func.func @empty
// CHECK-NOT:     act.tiled_random
func.func @empty() -> tensor<0x4096xui32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<0x4096xui32>
  %w:2 = "stablehlo.while"(%zero, %i) ({
  ^bb0(%n: tensor<i32>, %a: tensor<0x4096xui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %a: tensor<0x4096xui32>):
    %b = "stablehlo.add"(%a, %a) : (tensor<0x4096xui32>, tensor<0x4096xui32>) -> tensor<0x4096xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %b) : (tensor<i32>, tensor<0x4096xui32>) -> ()
  }) : (tensor<i32>, tensor<0x4096xui32>) -> (tensor<i32>, tensor<0x4096xui32>)
  return %w#1 : tensor<0x4096xui32>
}

// CHECK-LABEL: func.func @dynamic
// CHECK-NOT:     act.tiled_random
func.func @dynamic() -> tensor<?xui32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<?xui32>
  %w:2 = "stablehlo.while"(%zero, %i) ({
  ^bb0(%n: tensor<i32>, %a: tensor<?xui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %a: tensor<?xui32>):
    %b = "stablehlo.add"(%a, %a) : (tensor<?xui32>, tensor<?xui32>) -> tensor<?xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %b) : (tensor<i32>, tensor<?xui32>) -> ()
  }) : (tensor<i32>, tensor<?xui32>) -> (tensor<i32>, tensor<?xui32>)
  return %w#1 : tensor<?xui32>
}

// CHECK-LABEL: func.func @operands
// CHECK-NOT:     act.tiled_random
func.func @operands() -> tensor<4096xui32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4096xui32>
  %w = "stablehlo.while"(%zero, %i) ({
  }, {
    "stablehlo.return"() : () -> ()
  }) : (tensor<i32>, tensor<4096xui32>) -> tensor<4096xui32>
  %v:2 = "stablehlo.while"(%zero, %i) ({
  }, {
  }) : (tensor<i32>, tensor<4096xui32>) -> (tensor<i32>, tensor<4096xui32>)
  %x = "stablehlo.add"(%v#1) : (tensor<4096xui32>) -> tensor<4096xui32>
  return %x : tensor<4096xui32>
}
