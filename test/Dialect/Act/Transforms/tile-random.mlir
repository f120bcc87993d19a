// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-tile-random{tile-bytes=4096}))" | FileCheck %s
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-tile-random{tile-bytes=4096}))" \
// RUN:   --remarks-filter="act" --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-tile-random))" | FileCheck %s --check-prefix=LARGE
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-tile-random{tile-bytes=4096},act-tile-random{tile-bytes=4096}))" | FileCheck %s
// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-tile-random{tile-bytes=4096}))" -mlir-print-debuginfo -mlir-print-local-scope | FileCheck %s --check-prefix=LOC

// Below half a MiB of bits nothing happens by default.

// LARGE-NOT: act.tiled_random

// A mask: its counters, the loop over them and the floats in between become
// smaller, what is small stays outside.

// CHECK-LABEL: func.func @mask(
// CHECK-SAME:    %[[KEY:.*]]: tensor<ui32>)
// CHECK-DAG:     %[[RATE:.*]] = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}>
// CHECK-DAG:     %[[ZERO:.*]] = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}>
// CHECK-DAG:     %[[FALSE:.*]] = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}>
// CHECK-NOT:     64x128xui32
// CHECK:         %[[FALSES:.*]] = "stablehlo.broadcast_in_dim"(%[[FALSE]]) {{.*}} -> tensor<64x128xi1>
// CHECK:         %[[LOOP:.*]]:2 = "stablehlo.while"(%{{.*}}, %[[FALSES]]) ({
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %{{.*}}: tensor<64x128xi1>):
// CHECK:           %[[COUNT:.*]] = "stablehlo.constant"() <{value = dense<8> : tensor<i32>}>
// CHECK:           %[[MORE:.*]] = "stablehlo.compare"(%[[I]], %[[COUNT]]) {{.*}}comparison_direction LT
// CHECK:           "stablehlo.return"(%[[MORE]])
// CHECK:         }, {
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %[[MASK:.*]]: tensor<64x128xi1>):
// CHECK:           %[[START:.*]] = "stablehlo.multiply"(%[[I]], %{{.*}}) : (tensor<i32>, tensor<i32>)
// CHECK:           %[[OFFSET:.*]] = "stablehlo.convert"(%[[START]]) : (tensor<i32>) -> tensor<ui32>
// CHECK:           %[[IOTA:.*]] = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8x128xui32>
// CHECK:           %[[OFFSETS:.*]] = "stablehlo.broadcast_in_dim"(%[[OFFSET]])
// CHECK:           "stablehlo.add"(%[[IOTA]], %[[OFFSETS]])
// CHECK:           "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<8x128xui32>
// CHECK:           "stablehlo.while"
// CHECK-SAME:        %[[KEY]]
// CHECK:             "stablehlo.broadcast_in_dim"({{.*}} -> tensor<8x128xui32>
// CHECK:             "stablehlo.xor"({{.*}} -> tensor<8x128xui32>
// CHECK:           }) : (tensor<i32>, tensor<8x128xui32>, tensor<8x128xui32>, tensor<ui32>)
// CHECK:           "stablehlo.bitcast_convert"({{.*}} -> tensor<8x128xf32>
// CHECK:           %[[RATES:.*]] = "stablehlo.broadcast_in_dim"(%[[RATE]]) {{.*}} -> tensor<8x128xf32>
// CHECK:           %[[TILE:.*]] = "stablehlo.compare"(%{{.*}}, %[[RATES]])
// CHECK:           "stablehlo.dynamic_update_slice"(%[[MASK]], %[[TILE]], %{{.*}}, %{{.*}}) : (tensor<64x128xi1>, tensor<8x128xi1>, tensor<i32>, tensor<i32>)
// CHECK:         }) {act.tiled_random}
// CHECK-NOT:     ui32
// CHECK:         return %[[LOOP]]#1

// REMARK: 8 tiles
// LOC-LABEL: func.func @mask(
// LOC:         "stablehlo.while"{{.*}} ({
// LOC:           "stablehlo.xor"{{.*}} loc("round")
// LOC:           "stablehlo.compare"{{.*}}8x128xf32{{.*}} loc("mask")
// LOC:         }) {act.tiled_random} {{.*}} loc("mask")
func.func @mask(%key: tensor<ui32>) -> tensor<64x128xi1> {
  %rate = "stablehlo.constant"() <{value = dense<0.5> : tensor<f32>}> : () -> tensor<f32>
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<64x128xui32>
  %j = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<64x128xui32>
  %w:4 = "stablehlo.while"(%zero, %i, %j, %key) ({
  ^bb0(%n: tensor<i32>, %x: tensor<64x128xui32>, %y: tensor<64x128xui32>, %k: tensor<ui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %x: tensor<64x128xui32>, %y: tensor<64x128xui32>, %k: tensor<ui32>):
    %ks = "stablehlo.broadcast_in_dim"(%k) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<64x128xui32>
    %a = "stablehlo.add"(%x, %ks) : (tensor<64x128xui32>, tensor<64x128xui32>) -> tensor<64x128xui32>
    %b = "stablehlo.xor"(%a, %y) : (tensor<64x128xui32>, tensor<64x128xui32>) -> tensor<64x128xui32> loc("round")
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %b, %a, %k) : (tensor<i32>, tensor<64x128xui32>, tensor<64x128xui32>, tensor<ui32>) -> ()
  }) : (tensor<i32>, tensor<64x128xui32>, tensor<64x128xui32>, tensor<ui32>) -> (tensor<i32>, tensor<64x128xui32>, tensor<64x128xui32>, tensor<ui32>)
  %bits = "stablehlo.xor"(%w#1, %w#2) : (tensor<64x128xui32>, tensor<64x128xui32>) -> tensor<64x128xui32>
  %floats = "stablehlo.bitcast_convert"(%bits) : (tensor<64x128xui32>) -> tensor<64x128xf32>
  %rates = "stablehlo.broadcast_in_dim"(%rate) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64x128xf32>
  %mask = "stablehlo.compare"(%floats, %rates) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xi1> loc("mask")
  return %mask : tensor<64x128xi1>
}

// A float is tiled up to its bits. What is inside another loop is tiled there,
// and what the chain captures from outside is read as it is.

// CHECK-LABEL: func.func @scanned(
// CHECK:         "stablehlo.while"
// CHECK:           %[[BITS:.*]]:2 = "stablehlo.while"(%{{.*}}, %{{.*}}) ({
// CHECK:           }, {
// CHECK:             "stablehlo.while"
// CHECK-NOT:         f32
// CHECK:             "stablehlo.dynamic_update_slice"({{.*}}: (tensor<4096xui32>, tensor<1024xui32>, tensor<i32>)
// CHECK:           }) {act.tiled_random}
// CHECK:           %[[F:.*]] = "stablehlo.bitcast_convert"(%[[BITS]]#1)
// CHECK:           "stablehlo.add"(%{{.*}}, %[[F]]) : (tensor<4096xf32>

// REMARK: 4 tiles
func.func @scanned(%key: tensor<ui32>, %init: tensor<4096xf32>) -> tensor<4096xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %o:2 = "stablehlo.while"(%zero, %init) ({
  ^bb0(%n: tensor<i32>, %x: tensor<4096xf32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %x: tensor<4096xf32>):
    %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4096xui32>
    %w:2 = "stablehlo.while"(%n, %i) ({
    ^bb0(%p: tensor<i32>, %a: tensor<4096xui32>):
      %more = "stablehlo.compare"(%p, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%more) : (tensor<i1>) -> ()
    }, {
    ^bb0(%p: tensor<i32>, %a: tensor<4096xui32>):
      %ks = "stablehlo.broadcast_in_dim"(%key) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4096xui32>
      %b = "stablehlo.multiply"(%a, %ks) : (tensor<4096xui32>, tensor<4096xui32>) -> tensor<4096xui32>
      %q = "stablehlo.add"(%p, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%q, %b) : (tensor<i32>, tensor<4096xui32>) -> ()
    }) : (tensor<i32>, tensor<4096xui32>) -> (tensor<i32>, tensor<4096xui32>)
    %bits = "stablehlo.not"(%w#1) : (tensor<4096xui32>) -> tensor<4096xui32>
    %floats = "stablehlo.bitcast_convert"(%bits) : (tensor<4096xui32>) -> tensor<4096xf32>
    %y = "stablehlo.add"(%x, %floats) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %y) : (tensor<i32>, tensor<4096xf32>) -> ()
  }) : (tensor<i32>, tensor<4096xf32>) -> (tensor<i32>, tensor<4096xf32>)
  return %o#1 : tensor<4096xf32>
}

// Halves drawn together: one loop writes a tile of each. The last tile of a
// half begins earlier. Two results of one chain are written by one loop.

// CHECK-LABEL: func.func @halves(
// CHECK:         %[[LOOP:.*]]:3 = "stablehlo.while"(
// CHECK:           %[[COUNT:.*]] = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}>
// CHECK:         }, {
// CHECK:         ^bb0(%[[I:.*]]: tensor<i32>, %[[A:.*]]: tensor<4562xi1>, %[[B:.*]]: tensor<4562xi1>):
// CHECK:           %[[LAST:.*]] = "stablehlo.constant"() <{value = dense<1520> : tensor<i32>}>
// CHECK:           %[[UNIT:.*]] = "stablehlo.minimum"(%{{.*}}, %[[LAST]])
// CHECK:           %[[SECOND:.*]] = "stablehlo.constant"() <{value = dense<2281> : tensor<i32>}>
// CHECK:           "stablehlo.while"({{.*}} ({
// CHECK:           }) : (tensor<i32>, tensor<761xui32>, tensor<761xui32>)
// CHECK-NOT:       "stablehlo.while"
// CHECK:           %[[A1:.*]] = "stablehlo.dynamic_update_slice"(%[[A]],
// CHECK:           %[[A2:.*]] = "stablehlo.dynamic_update_slice"(%[[A1]],
// CHECK:           %[[B1:.*]] = "stablehlo.dynamic_update_slice"(%[[B]],
// CHECK:           %[[B2:.*]] = "stablehlo.dynamic_update_slice"(%[[B1]],
// CHECK:           "stablehlo.return"(%{{.*}}, %[[A2]], %[[B2]])
// CHECK:         return %[[LOOP]]#1, %[[LOOP]]#2

// REMARK: 3 tiles
func.func @halves() -> (tensor<4562xi1>, tensor<4562xi1>) {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4562xui32>
  %i1 = "stablehlo.slice"(%i) <{start_indices = array<i64: 0>, limit_indices = array<i64: 2281>, strides = array<i64: 1>}> : (tensor<4562xui32>) -> tensor<2281xui32>
  %i2 = "stablehlo.slice"(%i) <{start_indices = array<i64: 2281>, limit_indices = array<i64: 4562>, strides = array<i64: 1>}> : (tensor<4562xui32>) -> tensor<2281xui32>
  %w:3 = "stablehlo.while"(%zero, %i1, %i2) ({
  ^bb0(%n: tensor<i32>, %x: tensor<2281xui32>, %y: tensor<2281xui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %x: tensor<2281xui32>, %y: tensor<2281xui32>):
    %a = "stablehlo.add"(%x, %y) : (tensor<2281xui32>, tensor<2281xui32>) -> tensor<2281xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %y, %a) : (tensor<i32>, tensor<2281xui32>, tensor<2281xui32>) -> ()
  }) : (tensor<i32>, tensor<2281xui32>, tensor<2281xui32>) -> (tensor<i32>, tensor<2281xui32>, tensor<2281xui32>)
  %bits = "stablehlo.concatenate"(%w#1, %w#2) <{dimension = 0 : i64}> : (tensor<2281xui32>, tensor<2281xui32>) -> tensor<4562xui32>
  %limit = "stablehlo.constant"() <{value = dense<1000> : tensor<4562xui32>}> : () -> tensor<4562xui32>
  %limit2 = "stablehlo.constant"() <{value = dense<2000> : tensor<4562xui32>}> : () -> tensor<4562xui32>
  %a = "stablehlo.compare"(%bits, %limit) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4562xui32>, tensor<4562xui32>) -> tensor<4562xi1>
  %b = "stablehlo.compare"(%bits, %limit2) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4562xui32>, tensor<4562xui32>) -> tensor<4562xi1>
  return %a, %b : tensor<4562xi1>, tensor<4562xi1>
}

// Probabilities that are there anyway are sliced, and a sum that may be rounded
// once or twice ends the chain before it. Reshapes keep their tiles.

// CHECK-LABEL: func.func @rates(
// CHECK-SAME:    %{{.*}}: tensor<ui32>, %[[P:.*]]: tensor<32x128xf32>, %{{.*}}: tensor<32x128xf32>
// CHECK:         %[[MASK:.*]]:2 = "stablehlo.while"
// CHECK:           "stablehlo.while"({{.*}} ({
// CHECK:           }) : (tensor<i32>, tensor<1024xui32>)
// CHECK:           "stablehlo.reshape"({{.*}}: (tensor<1024xui32>) -> tensor<8x128xui32>
// CHECK:           %[[SLICE:.*]] = "stablehlo.dynamic_slice"(%[[P]], %{{.*}}, %{{.*}}) <{slice_sizes = array<i64: 8, 128>}>
// CHECK:           "stablehlo.compare"(%{{.*}}, %[[SLICE]])
// CHECK:         }) {act.tiled_random}
// CHECK:         %[[BITS:.*]]:2 = "stablehlo.while"
// CHECK-NOT:       f32
// CHECK:           "stablehlo.dynamic_update_slice"({{.*}}: (tensor<4096xui32>, tensor<1024xui32>
// CHECK:         }) {act.tiled_random}
// CHECK:         "stablehlo.multiply"
// CHECK:         "stablehlo.add"
// CHECK:         %[[MASK2:.*]] = "stablehlo.compare"
// CHECK:         return %[[MASK]]#1, %[[MASK2]]

// REMARK: 4 tiles
// REMARK: 4 tiles
func.func @rates(%key: tensor<ui32>, %p: tensor<32x128xf32>, %q: tensor<32x128xf32>) -> (tensor<32x128xi1>, tensor<32x128xi1>) {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4096xui32>
  %w:2 = "stablehlo.while"(%zero, %i) ({
  ^bb0(%n: tensor<i32>, %x: tensor<4096xui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %x: tensor<4096xui32>):
    %a = "stablehlo.add"(%x, %x) : (tensor<4096xui32>, tensor<4096xui32>) -> tensor<4096xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %a) : (tensor<i32>, tensor<4096xui32>) -> ()
  }) : (tensor<i32>, tensor<4096xui32>) -> (tensor<i32>, tensor<4096xui32>)
  %bits = "stablehlo.reshape"(%w#1) : (tensor<4096xui32>) -> tensor<32x128xui32>
  %f = "stablehlo.bitcast_convert"(%bits) : (tensor<32x128xui32>) -> tensor<32x128xf32>
  %a = "stablehlo.compare"(%f, %p) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xi1>

  %v:2 = "stablehlo.while"(%one, %i) ({
  ^bb0(%n: tensor<i32>, %x: tensor<4096xui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %x: tensor<4096xui32>):
    %s = "stablehlo.add"(%x, %x) : (tensor<4096xui32>, tensor<4096xui32>) -> tensor<4096xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %s) : (tensor<i32>, tensor<4096xui32>) -> ()
  }) : (tensor<i32>, tensor<4096xui32>) -> (tensor<i32>, tensor<4096xui32>)
  %g = "stablehlo.bitcast_convert"(%v#1) : (tensor<4096xui32>) -> tensor<4096xf32>
  %third = "stablehlo.constant"() <{value = dense<0.3> : tensor<4096xf32>}> : () -> tensor<4096xf32>
  %product = "stablehlo.multiply"(%g, %third) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
  %sum = "stablehlo.add"(%product, %third) : (tensor<4096xf32>, tensor<4096xf32>) -> tensor<4096xf32>
  %h = "stablehlo.reshape"(%sum) : (tensor<4096xf32>) -> tensor<32x128xf32>
  %b = "stablehlo.compare"(%h, %q) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x128xi1>
  return %a, %b : tensor<32x128xi1>, tensor<32x128xi1>
}

// Left alone: a loop over integers that are there already, another generator,
// a result of an odd dimension whose halves are drawn together, which is worth
// a remark, and private functions.

// CHECK-LABEL: func.func @left_alone
// CHECK-NOT:     act.tiled_random
// CHECK-NOT:     dynamic_update_slice

// REMARK-NOT: tiles
// REMARK: [Missed] {{.*}}random values are not tiled: no dimension can be divided
// REMARK-NOT: remark
func.func @left_alone(%x: tensor<4096xui32>, %state: tensor<2xui64>) -> (tensor<4096xui32>, tensor<4096xi1>, tensor<3x1366xi1>) {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %w:2 = "stablehlo.while"(%zero, %x) ({
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %b = "stablehlo.add"(%a, %a) : (tensor<4096xui32>, tensor<4096xui32>) -> tensor<4096xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %b) : (tensor<i32>, tensor<4096xui32>) -> ()
  }) : (tensor<i32>, tensor<4096xui32>) -> (tensor<i32>, tensor<4096xui32>)
  %r:2 = "stablehlo.rng_bit_generator"(%state) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4096xui32>)
  %limit = "stablehlo.constant"() <{value = dense<1000> : tensor<4096xui32>}> : () -> tensor<4096xui32>
  %mask = "stablehlo.compare"(%r#1, %limit) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<4096xui32>, tensor<4096xui32>) -> tensor<4096xi1>

  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<2049xui32>
  %v:3 = "stablehlo.while"(%zero, %i, %i) ({
  ^bb0(%n: tensor<i32>, %a: tensor<2049xui32>, %b: tensor<2049xui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %a: tensor<2049xui32>, %b: tensor<2049xui32>):
    %c = "stablehlo.add"(%a, %b) : (tensor<2049xui32>, tensor<2049xui32>) -> tensor<2049xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %b, %c) : (tensor<i32>, tensor<2049xui32>, tensor<2049xui32>) -> ()
  }) : (tensor<i32>, tensor<2049xui32>, tensor<2049xui32>) -> (tensor<i32>, tensor<2049xui32>, tensor<2049xui32>)
  %halves = "stablehlo.concatenate"(%v#1, %v#2) <{dimension = 0 : i64}> : (tensor<2049xui32>, tensor<2049xui32>) -> tensor<4098xui32>
  %rows = "stablehlo.reshape"(%halves) : (tensor<4098xui32>) -> tensor<3x1366xui32>
  %limits = "stablehlo.constant"() <{value = dense<1000> : tensor<3x1366xui32>}> : () -> tensor<3x1366xui32>
  %odd = "stablehlo.compare"(%rows, %limits) <{compare_type = #stablehlo<comparison_type UNSIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<3x1366xui32>, tensor<3x1366xui32>) -> tensor<3x1366xi1>
  return %w#1, %mask, %odd : tensor<4096xui32>, tensor<4096xi1>, tensor<3x1366xi1>
}

// CHECK-LABEL: func.func private @callee
// CHECK-NOT:     act.tiled_random
func.func private @callee() -> tensor<4096xui32> {
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
  return %w#1 : tensor<4096xui32>
}
