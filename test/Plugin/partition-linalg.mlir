// RUN: mlir-opt %act_plugin %s --pass-pipeline='builtin.module(func.func(act-partition),act-choose-encodings,func.func(act-verify-partition))' | FileCheck %s

// A layer with tanh and its gradient in linalg on tensors: what bufferizes, tiles
// and compiles with upstream passes can be partitioned by upstream's mlir-opt.

#id = affine_map<(d0, d1) -> (d0, d1)>
!t = tensor<128x128xf32>

// %h is saved, in groups of 256 since tanh bounds it. The zeros that the products of
// backward start from are made again, held back by the tensor that they fill: a
// scalar cannot pass a barrier.

// CHECK-LABEL: func.func @step(
// CHECK-SAME:    %[[X:.*]]: tensor<128x128xf32>, %[[W:.*]]: tensor<128x128xf32>, %[[V:.*]]: tensor<128x128xf32>)
// CHECK:         %[[ZERO:.*]] = arith.constant
// CHECK:         %[[EMPTY:.*]] = tensor.empty
// CHECK:         %[[Z:.*]] = linalg.matmul ins(%[[X]], %[[W]]
// CHECK:         %[[H:.*]] = linalg.generic {{.*}} ins(%[[Z]]
// CHECK:           math.tanh
// CHECK:         %[[C:.*]] = act.compressed_save %[[H]] : tensor<128x128xf32> to <tensor<128x128xf32>, #[[E:act.group_quant<bits = 4, group = 256, merge = 2>]]>
// CHECK-NEXT:    %[[F:.*]]:2 = act.barrier %[[H]], %[[C]]
// CHECK-NOT:     act.compressed_save
// CHECK:         %[[Y:.*]] = linalg.matmul ins(%[[F]]#0, %[[V]]
// CHECK:         %[[G:.*]] = linalg.generic {{.*}} ins(%[[Y]]
// CHECK:         %[[B:.*]]:3 = act.barrier %[[EMPTY]], %[[F]]#1, %[[G]]
// CHECK-NEXT:    %[[ZEROS:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[B]]#0
// CHECK-NEXT:    %[[L:.*]] = act.dequantize_load %[[B]]#1 : <tensor<128x128xf32>, #[[E]]> to tensor<128x128xf32>
// CHECK-NEXT:    %[[DV:.*]] = linalg.matmul ins(%[[L]], %[[B]]#2 {{.*}} outs(%[[ZEROS]]
// CHECK-NEXT:    %[[DH:.*]] = linalg.matmul ins(%[[B]]#2, %[[V]]
// CHECK-NEXT:    %[[B2:.*]]:2 = act.barrier %[[F]]#1, %[[DH]]
// CHECK-NEXT:    act.dequantize_load %[[B2]]#0
// CHECK-NOT:     math.tanh
// CHECK:         return %[[Y]], %[[DV]], %{{.*}}
func.func @step(%x: !t, %w: !t, %v: !t) -> (!t, !t, !t) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : !t
  %zeros = linalg.fill ins(%zero : f32) outs(%e0 : !t) -> !t
  %z = linalg.matmul ins(%x, %w : !t, !t) outs(%zeros : !t) -> !t
  %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%z : !t) outs(%e0 : !t) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.tanh %a : f32
    linalg.yield %0 : f32
  } -> !t
  %y = linalg.matmul ins(%h, %v : !t, !t) outs(%zeros : !t) -> !t
  %e1 = tensor.empty() : !t
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%y : !t) outs(%e1 : !t) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  } -> !t
  %bzeros = linalg.fill ins(%zero : f32) outs(%e1 : !t) -> !t
  %dv = linalg.matmul ins(%h, %g : !t, !t) outs(%bzeros : !t) -> !t
  %dh = linalg.matmul ins(%g, %v : !t, !t) outs(%bzeros : !t) -> !t
  %dz = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%dh, %h : !t, !t) outs(%e1 : !t) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %one = arith.constant 1.0 : f32
    %sq = arith.mulf %b, %b : f32
    %d = arith.subf %one, %sq : f32
    %0 = arith.mulf %a, %d : f32
    linalg.yield %0 : f32
  } -> !t
  return %y, %dv, %dz : !t, !t, !t
}
