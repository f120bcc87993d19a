// RUN: act-opt %s --test-op-model -o /dev/null | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#transposed = affine_map<(d0, d1) -> (d1, d0)>
#shifted = affine_map<(d0, d1) -> (d0, d1 + 1)>

func.func @linalg_named(%a: tensor<4x8xf32>, %b: tensor<8x16xf32>, %c: tensor<4x16xf32>, %f: f32, %t: tensor<8x4xf32>, %v: tensor<4xf32>) {
  // CHECK: linalg.matmul: contraction flops=1024 operands=3
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x16xf32>) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  // CHECK-NEXT: linalg.fill: broadcast cheap flops=0 operands=2
  %1 = linalg.fill ins(%f : f32) outs(%c : tensor<4x16xf32>) -> tensor<4x16xf32>
  // CHECK-NEXT: linalg.transpose: view cheap flops=0 operands=2
  %2 = linalg.transpose ins(%a : tensor<4x8xf32>) outs(%t : tensor<8x4xf32>) permutation = [1, 0]
  // CHECK-NEXT: linalg.broadcast: broadcast cheap flops=0 operands=2
  %3 = linalg.broadcast ins(%v : tensor<4xf32>) outs(%a : tensor<4x8xf32>) dimensions = [1]
  // CHECK-NEXT: linalg.reduce: reduction flops=32 operands=2
  %4 = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf32>) outs(%v : tensor<4xf32>) dimensions = [1]
  // CHECK-NEXT: linalg.exp: elementwise cheap squashes flops=32 operands=1
  %5 = linalg.exp ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: linalg.floor: elementwise cheap discontinuous flops=32 operands=1
  %6 = linalg.floor ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: linalg.elementwise: elementwise cheap flops=32 operands=1
  %7 = linalg.elementwise kind=#linalg.elementwise_kind<add> ins(%a, %a : tensor<4x8xf32>, tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: linalg.softmax: reduction squashes flops=160
  %8 = linalg.softmax dimension(1) ins(%a : tensor<4x8xf32>) outs(%a : tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

func.func @windows(%x: tensor<1x16x16x3xf32>, %k: tensor<3x3x3x8xf32>, %o: tensor<1x14x14x8xf32>, %w: tensor<2x2xf32>, %p: tensor<1x8x8x3xf32>) {
  // 14 14 8 * 3 3 3 * 2
  // CHECK: linalg.conv_2d_nhwc_hwcf: contraction flops=84672
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x16x16x3xf32>, tensor<3x3x3x8xf32>) outs(%o : tensor<1x14x14x8xf32>) -> tensor<1x14x14x8xf32>
  // CHECK-NEXT: linalg.pooling_nhwc_max: reduction flops=768
  %1 = linalg.pooling_nhwc_max {strides = dense<2> : vector<2xi64>} ins(%x, %w : tensor<1x16x16x3xf32>, tensor<2x2xf32>) outs(%p : tensor<1x8x8x3xf32>) -> tensor<1x8x8x3xf32>
  return
}

func.func @generic(%a: tensor<4x8xf32>, %v: tensor<4xf32>, %t: tensor<8x4xf32>, %p: tensor<4x8xi1>, %i: tensor<4x8xi32>, %long: tensor<4x9xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  // A multiplication of rows.
  // CHECK: linalg.generic: elementwise cheap flops=32
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %v : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %m = arith.mulf %x, %y : f32
    linalg.yield %m : f32
  } -> tensor<4x8xf32>
  // A comparison makes the operation discontinuous, its result continuous or not.
  // CHECK-NEXT: linalg.generic: elementwise cheap discontinuous flops=64
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %c = arith.cmpf ogt, %x, %zero : f32
    %m = arith.select %c, %x, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4x8xf32>
  // CHECK-NEXT: linalg.generic: elementwise cheap flops=32
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = arith.maximumf %x, %zero : f32
    linalg.yield %m : f32
  } -> tensor<4x8xf32>
  // exp(x) is small, exp(x) + x is not.
  // CHECK-NEXT: linalg.generic: elementwise cheap squashes flops=64
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = math.exp %x : f32
    %n = arith.negf %m : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  // CHECK-NEXT: linalg.generic: elementwise cheap flops=64
  %4 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = math.exp %x : f32
    %n = arith.addf %m, %x : f32
    linalg.yield %n : f32
  } -> tensor<4x8xf32>
  // CHECK-NEXT: linalg.generic: elementwise cheap selects flops=32
  %5 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %a, %a : tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%c: i1, %x: f32, %y: f32, %out: f32):
    %m = arith.select %c, %x, %y : f32
    linalg.yield %m : f32
  } -> tensor<4x8xf32>
  // CHECK-NEXT: linalg.generic: view cheap flops=0
  %6 = linalg.generic {indexing_maps = [#transposed, #id], iterator_types = ["parallel", "parallel"]} ins(%t : tensor<8x4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<4x8xf32>
  // CHECK-NEXT: linalg.generic: indexing cheap flops=0
  %7 = linalg.generic {indexing_maps = [#shifted, #id], iterator_types = ["parallel", "parallel"]} ins(%long : tensor<4x9xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    linalg.yield %x : f32
  } -> tensor<4x8xf32>
  // CHECK-NEXT: linalg.generic: reduction flops=32
  %8 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%v : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %m = arith.addf %x, %out : f32
    linalg.yield %m : f32
  } -> tensor<4xf32>
  // CHECK-NEXT: linalg.generic: elementwise cheap flops=0 operands=1 bound=15
  %9 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<4x8xi32>) outs(%i : tensor<4x8xi32>) {
  ^bb0(%x: i32, %out: i32):
    %low = arith.constant 15 : i32
    %m = arith.andi %x, %low : i32
    linalg.yield %m : i32
  } -> tensor<4x8xi32>
  return
}

func.func @tensor(%a: tensor<4x8xf32>, %f: f32, %i: index, %n: tensor<4x8xi8>) {
  // CHECK: tensor.empty: constant cheap flops=0
  %0 = tensor.empty() : tensor<4x8xf32>
  // CHECK-NEXT: tensor.collapse_shape: view cheap flops=0
  %1 = tensor.collapse_shape %a [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  // CHECK-NEXT: tensor.extract_slice: indexing cheap flops=0
  %2 = tensor.extract_slice %a[0, 0] [2, 8] [1, 1] : tensor<4x8xf32> to tensor<2x8xf32>
  // CHECK-NEXT: tensor.insert_slice: indexing cheap flops=0
  %3 = tensor.insert_slice %2 into %a[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<4x8xf32>
  // CHECK-NEXT: tensor.pad: indexing cheap flops=0
  %4 = tensor.pad %a low[1, 1] high[0, 0] {
  ^bb0(%x: index, %y: index):
    tensor.yield %f : f32
  } : tensor<4x8xf32> to tensor<5x9xf32>
  // CHECK-NEXT: tensor.splat: broadcast cheap flops=0
  %5 = tensor.splat %f : tensor<4x8xf32>
  // CHECK-NEXT: tensor.concat: indexing cheap flops=0
  %6 = tensor.concat dim(0) %a, %a : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT: arith.fptosi: elementwise cheap discontinuous flops=32
  %7 = arith.fptosi %a : tensor<4x8xf32> to tensor<4x8xi32>
  // CHECK-NEXT: arith.cmpf: elementwise cheap discontinuous squashes flops=32 bound=1
  %8 = arith.cmpf ogt, %a, %a : tensor<4x8xf32>
  // CHECK-NEXT: arith.select: elementwise cheap selects flops=32
  %9 = arith.select %8, %a, %a : tensor<4x8xi1>, tensor<4x8xf32>
  // CHECK-NEXT: math.round: elementwise cheap discontinuous flops=32
  %10 = math.round %a : tensor<4x8xf32>
  // CHECK-NEXT: math.tanh: elementwise cheap squashes flops=32
  %11 = math.tanh %a : tensor<4x8xf32>
  // CHECK-NEXT: scf.for: control flops=32
  %12 = scf.for %k = %i to %i step %i iter_args(%x = %a) -> tensor<4x8xf32> {
    scf.yield %x : tensor<4x8xf32>
  }
  // CHECK-NEXT: func.call: opaque effects flops=32
  %13 = func.call @f(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

func.func private @f(tensor<4x8xf32>) -> tensor<4x8xf32>
