// RUN: act-opt %s --test-op-model -o /dev/null | FileCheck %s

func.func @stablehlo(%x: tensor<8xi32>, %f: tensor<8xf32>, %u: tensor<8xui8>) {
  %true = "stablehlo.constant"() <{value = dense<true> : tensor<8xi1>}> : () -> tensor<8xi1>
  // CHECK: constant cheap {{.*}} bound=7{{$}}
  %c = "stablehlo.constant"() <{value = dense<[1, 2, 3, 4, 5, 6, 7, 0]> : tensor<8xi32>}> : () -> tensor<8xi32>
  // CHECK-NEXT: constant cheap flops=0{{$}}
  %negative = "stablehlo.constant"() <{value = dense<[1, -2, 3, 4, 5, 6, 7, 0]> : tensor<8xi32>}> : () -> tensor<8xi32>
  // CHECK-NEXT: iota{{.*}} bound=7{{$}}
  %iota = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xi32>
  // With a constant the rest does not matter, not even the sign.
  // CHECK-NEXT: and{{.*}} bound=7{{$}}
  %and = "stablehlo.and"(%x, %c) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: add{{.*}} bound=14{{$}}
  %add = "stablehlo.add"(%and, %iota) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: multiply{{.*}} bound=98{{$}}
  %multiply = "stablehlo.multiply"(%add, %c) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: or{{.*}} bound=127{{$}}
  %or = "stablehlo.or"(%multiply, %c) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: maximum{{.*}} bound=98{{$}}
  %maximum = "stablehlo.maximum"(%multiply, %c) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // The other one may be negative.
  // CHECK-NEXT: minimum: elementwise cheap flops=8{{$}}
  %minimum = "stablehlo.minimum"(%x, %c) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: subtract: elementwise cheap flops=8{{$}}
  %subtract = "stablehlo.subtract"(%iota, %c) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: clamp{{.*}} bound=7{{$}}
  %clamp = "stablehlo.clamp"(%c, %x, %iota) : (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: clamp: elementwise cheap flops=8{{$}}
  %clamp2 = "stablehlo.clamp"(%negative, %x, %iota) : (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: select{{.*}} bound=98{{$}}
  %select = "stablehlo.select"(%true, %multiply, %c) : (tensor<8xi1>, tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: convert{{.*}} bound=98{{$}}
  %narrow = "stablehlo.convert"(%select) : (tensor<8xi32>) -> tensor<8xi8>
  // 98 * 7 wraps around in 8 bits.
  // CHECK-NEXT: multiply{{.*}} bound=686{{$}}
  %big = "stablehlo.multiply"(%select, %c) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: convert: elementwise cheap flops=8{{$}}
  %wrapped = "stablehlo.convert"(%big) : (tensor<8xi32>) -> tensor<8xi8>
  // CHECK-NEXT: convert{{.*}} bound=255{{$}}
  %wide = "stablehlo.convert"(%u) : (tensor<8xui8>) -> tensor<8xi32>
  // CHECK-NEXT: convert: elementwise cheap discontinuous flops=8{{$}}
  %float = "stablehlo.convert"(%f) : (tensor<8xf32>) -> tensor<8xi32>
  // CHECK-NEXT: convert{{.*}} bound=1{{$}}
  %bit = "stablehlo.convert"(%true) : (tensor<8xi1>) -> tensor<8xi32>
  // CHECK-NEXT: constant{{.*}} bound=5{{$}}
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  // CHECK-NEXT: broadcast{{.*}} bound=5{{$}}
  %fives = "stablehlo.broadcast_in_dim"(%five) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<8xi32>
  // CHECK-NEXT: remainder{{.*}} bound=4{{$}}
  %remainder = "stablehlo.remainder"(%big, %fives) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // A divisor may be zero, a dividend negative.
  // CHECK-NEXT: remainder: elementwise cheap flops=8{{$}}
  %remainder2 = "stablehlo.remainder"(%big, %iota) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: remainder: elementwise cheap flops=8{{$}}
  %remainder3 = "stablehlo.remainder"(%x, %fives) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: divide{{.*}} bound=137{{$}}
  %divide = "stablehlo.divide"(%big, %fives) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: shift_right_logical{{.*}} bound=21{{$}}
  %shift = "stablehlo.shift_right_logical"(%big, %fives) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
  // CHECK-NEXT: slice{{.*}} bound=7{{$}}
  %slice = "stablehlo.slice"(%c) <{start_indices = array<i64: 0>, limit_indices = array<i64: 4>, strides = array<i64: 1>}> : (tensor<8xi32>) -> tensor<4xi32>
  // CHECK-NEXT: concatenate{{.*}} bound=98{{$}}
  %concatenate = "stablehlo.concatenate"(%slice, %select) <{dimension = 0 : i64}> : (tensor<4xi32>, tensor<8xi32>) -> tensor<12xi32>
  // CHECK-NEXT: pad{{.*}} bound=7{{$}}
  %pad = "stablehlo.pad"(%c, %five) <{edge_padding_low = array<i64: 1>, edge_padding_high = array<i64: 1>, interior_padding = array<i64: 0>}> : (tensor<8xi32>, tensor<i32>) -> tensor<10xi32>
  // CHECK-NEXT: reduce: {{.*}} bound=7{{$}}
  %reduce = "stablehlo.reduce"(%c, %five) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %m = "stablehlo.maximum"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m) : (tensor<i32>) -> ()
  }) : (tensor<8xi32>, tensor<i32>) -> tensor<i32>
  // Each result of a barrier is its operand.
  // CHECK-NEXT: barrier flops=0 bound=7 bound=98{{$}}
  %barrier:3 = "stablehlo.optimization_barrier"(%c, %x, %select) : (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
  return
}

func.func @arith(%x: tensor<8xi32>, %b: i8) {
  // CHECK: arith.constant: constant cheap flops=0 bound=15
  %c = arith.constant dense<15> : tensor<8xi32>
  // CHECK-NEXT: arith.andi{{.*}} bound=15
  %0 = arith.andi %x, %c : tensor<8xi32>
  // CHECK-NEXT: arith.shrui{{.*}} bound=0
  %1 = arith.shrui %0, %c : tensor<8xi32>
  // CHECK-NEXT: arith.remui{{.*}} bound=14
  %2 = arith.remui %0, %c : tensor<8xi32>
  // CHECK-NEXT: arith.trunci{{.*}} bound=15
  %3 = arith.trunci %0 : tensor<8xi32> to tensor<8xi8>
  // CHECK-NEXT: arith.trunci: elementwise cheap flops=8{{$}}
  %4 = arith.trunci %0 : tensor<8xi32> to tensor<8xi2>
  // CHECK-NEXT: arith.extsi{{.*}} bound=15
  %5 = arith.extsi %3 : tensor<8xi8> to tensor<8xi32>
  // CHECK-NEXT: arith.extsi: elementwise cheap flops=0{{$}}
  %6 = arith.extsi %b : i8 to i32
  return
}
