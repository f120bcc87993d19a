// RUN: act-opt %s --test-op-model -o /dev/null | FileCheck %s

func.func @elementwise(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>, %p: tensor<4x8xi1>, %z: tensor<4x8xcomplex<f32>>) {
  // CHECK: stablehlo.add: elementwise cheap flops=32{{$}}
  %0 = "stablehlo.add"(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: stablehlo.tanh: elementwise cheap squashes flops=32{{$}}
  %1 = "stablehlo.tanh"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: stablehlo.floor: elementwise cheap discontinuous flops=32{{$}}
  %2 = "stablehlo.floor"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: stablehlo.select: elementwise cheap selects flops=32{{$}}
  %3 = "stablehlo.select"(%p, %x, %x) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>

  // A comparison, a sign or a remainder jumps only if it is of floats.
  // CHECK-NEXT: stablehlo.compare: elementwise cheap discontinuous squashes flops=32 bound=1{{$}}
  %4 = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  // CHECK-NEXT: stablehlo.compare: elementwise cheap squashes flops=32 bound=1{{$}}
  %5 = "stablehlo.compare"(%i, %i) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi1>
  // CHECK-NEXT: stablehlo.sign: elementwise cheap squashes flops=32{{$}}
  %6 = "stablehlo.sign"(%i) : (tensor<4x8xi32>) -> tensor<4x8xi32>
  // CHECK-NEXT: stablehlo.remainder: elementwise cheap discontinuous flops=32{{$}}
  %7 = "stablehlo.remainder"(%x, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>

  // A conversion jumps only from floats to something else.
  // CHECK-NEXT: stablehlo.convert: elementwise cheap flops=32{{$}}
  %8 = "stablehlo.convert"(%x) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  // CHECK-NEXT: stablehlo.convert: elementwise cheap discontinuous flops=32{{$}}
  %9 = "stablehlo.convert"(%x) : (tensor<4x8xf32>) -> tensor<4x8xi32>
  // CHECK-NEXT: stablehlo.convert: elementwise cheap discontinuous flops=32 bound=1{{$}}
  %10 = "stablehlo.convert"(%x) : (tensor<4x8xf32>) -> tensor<4x8xi1>
  // CHECK-NEXT: stablehlo.convert: elementwise cheap flops=32{{$}}
  %11 = "stablehlo.convert"(%i) : (tensor<4x8xi32>) -> tensor<4x8xf32>
  // CHECK-NEXT: stablehlo.bitcast_convert: elementwise cheap discontinuous flops=32 bound=4294967295{{$}}
  %12 = "stablehlo.bitcast_convert"(%x) : (tensor<4x8xf32>) -> tensor<4x8xui32>
  // CHECK-NEXT: stablehlo.bitcast_convert: view cheap discontinuous flops=0 bound=255{{$}}
  %13 = "stablehlo.bitcast_convert"(%x) : (tensor<4x8xf32>) -> tensor<4x8x4xui8>
  // CHECK-NEXT: stablehlo.real: elementwise cheap flops=32{{$}}
  %14 = "stablehlo.real"(%z) : (tensor<4x8xcomplex<f32>>) -> tensor<4x8xf32>
  return
}

func.func @shapes(%x: tensor<4x8xf32>, %i: tensor<i32>, %zero: tensor<f32>) {
  // CHECK: stablehlo.reshape: view cheap flops=0
  %0 = "stablehlo.reshape"(%x) : (tensor<4x8xf32>) -> tensor<32xf32>
  // CHECK-NEXT: stablehlo.broadcast_in_dim: broadcast cheap flops=0
  %1 = "stablehlo.broadcast_in_dim"(%x) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x8xf32>) -> tensor<4x8x2xf32>
  // CHECK-NEXT: stablehlo.pad: indexing cheap flops=0
  %2 = "stablehlo.pad"(%x, %zero) <{edge_padding_low = array<i64: 1, 1>, edge_padding_high = array<i64: 1, 1>, interior_padding = array<i64: 0, 0>}> : (tensor<4x8xf32>, tensor<f32>) -> tensor<6x10xf32>
  // CHECK-NEXT: stablehlo.dynamic_slice: indexing cheap flops=0
  %3 = "stablehlo.dynamic_slice"(%x, %i, %i) <{slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  // CHECK-NEXT: stablehlo.optimization_barrier: barrier flops=0
  %4:2 = "stablehlo.optimization_barrier"(%x, %i) : (tensor<4x8xf32>, tensor<i32>) -> (tensor<4x8xf32>, tensor<i32>)
  // CHECK-NEXT: stablehlo.constant: constant cheap flops=0
  %5 = "stablehlo.constant"() <{value = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>
  // CHECK-NEXT: sdy.sharding_constraint: view cheap flops=0
  %6 = "sdy.sharding_constraint"(%x) <{sharding = #sdy.sharding<@mesh, [{}, {}]>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

func.func @contractions(%a: tensor<2x4x8xf32>, %b: tensor<2x8x16xf32>, %x: tensor<4x8xf32>, %v: tensor<8xf32>,
                        %image: tensor<2x16x16x3xf32>, %kernel: tensor<5x5x3x32xf32>, %dy: tensor<2x8x8x32xf32>) {
  // 2 * (2 4 16) * 8
  // CHECK: stablehlo.dot_general: contraction flops=2048
  %0 = "stablehlo.dot_general"(%a, %b) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>}> : (tensor<2x4x8xf32>, tensor<2x8x16xf32>) -> tensor<2x4x16xf32>
  // An outer product.
  // CHECK-NEXT: stablehlo.dot_general: contraction flops=512
  %1 = "stablehlo.dot_general"(%x, %v) <{dot_dimension_numbers = #stablehlo.dot<>}> : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8x8xf32>
  // CHECK-NEXT: stablehlo.dot: contraction flops=64
  %2 = "stablehlo.dot"(%x, %v) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4xf32>
  // 2 * (2 8 8 32) * (5 5 3)
  // CHECK-NEXT: stablehlo.convolution: contraction flops=614400
  %3 = "stablehlo.convolution"(%image, %kernel) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, window_strides = array<i64: 2, 2>, padding = dense<2> : tensor<2x2xi64>}> : (tensor<2x16x16x3xf32>, tensor<5x5x3x32xf32>) -> tensor<2x8x8x32xf32>
  // Its gradient: the same, over a dilated cotangent.
  // CHECK-NEXT: stablehlo.convolution: contraction flops=614400
  %4 = "stablehlo.convolution"(%dy, %kernel) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f]>, lhs_dilation = array<i64: 2, 2>}> : (tensor<2x8x8x32xf32>, tensor<5x5x3x32xf32>) -> tensor<2x16x16x3xf32>
  return
}

func.func @regions(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>, %zero: tensor<f32>, %izero: tensor<i32>, %p: tensor<i1>, %n: tensor<3x1xi32>) {
  // CHECK: stablehlo.reduce: reduction flops=33 operands=2{{$}}
  %0 = "stablehlo.reduce"(%x, %zero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // argmax jumps.
  // CHECK-NEXT: stablehlo.reduce: reduction discontinuous flops=66 operands=4{{$}}
  %1:2 = "stablehlo.reduce"(%x, %i, %zero, %izero) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %k: tensor<i32>, %b: tensor<f32>, %l: tensor<i32>):
    %c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %s = "stablehlo.select"(%c, %a, %b) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %t = "stablehlo.select"(%c, %k, %l) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%s, %t) : (tensor<f32>, tensor<i32>) -> ()
  }) : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  // CHECK-NEXT: stablehlo.sort: sort discontinuous flops=32 operands=1{{$}}
  %2 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = "stablehlo.compare"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // Values that the regions read from outside are operands: x, p, i.
  // CHECK-NEXT: stablehlo.while: control flops=32 operands=3{{$}}
  %3 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<4x8xf32>):
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<4x8xf32>):
    %f = "stablehlo.convert"(%i) : (tensor<4x8xi32>) -> tensor<4x8xf32>
    %s = "stablehlo.add"(%a, %f) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    "stablehlo.return"(%s) : (tensor<4x8xf32>) -> ()
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: stablehlo.map: elementwise cheap discontinuous flops=32 operands=1{{$}}
  %4 = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>):
    %s = "stablehlo.ceil"(%a) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: stablehlo.slice
  %u = "stablehlo.slice"(%x) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 3, 8>, strides = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<3x8xf32>
  // CHECK-NEXT: stablehlo.scatter: scatter flops=24 operands=3{{$}}
  %5 = "stablehlo.scatter"(%x, %n, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%s) : (tensor<f32>) -> ()
  }) : (tensor<4x8xf32>, tensor<3x1xi32>, tensor<3x8xf32>) -> tensor<4x8xf32>
  return
}

func.func @opaque(%x: tensor<4x8xf32>, %key: tensor<2xui64>) {
  // CHECK: stablehlo.custom_call: opaque effects flops=32
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: stablehlo.custom_call: opaque flops=32
  %1 = "stablehlo.custom_call"(%x) <{call_target_name = "f", has_side_effect = false}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: stablehlo.rng_bit_generator: random flops=34 bound=18446744073709551615 bound=4294967295
  %2:2 = "stablehlo.rng_bit_generator"(%key) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x8xui32>)
  // CHECK-NEXT: stablehlo.future: opaque effects flops=32
  %3 = "stablehlo.future"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: other.op: opaque effects flops=32
  %4 = "other.op"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: chlo.erf_inv: elementwise cheap flops=32
  %5 = "chlo.erf_inv"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // A composite is the CHLO function it names.
  // CHECK-NEXT: stablehlo.composite: elementwise cheap squashes flops=32
  %6 = "stablehlo.composite"(%x) <{name = "chlo.erfc", decomposition = @f}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: stablehlo.composite: opaque effects flops=32
  %7 = "stablehlo.composite"(%x) <{name = "my.erfc", decomposition = @f}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

func.func private @f(tensor<4x8xf32>) -> tensor<4x8xf32>
