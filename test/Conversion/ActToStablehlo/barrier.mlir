// RUN: act-opt %s --convert-act-to-stablehlo | FileCheck %s

!q = !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>
!raw = !act.compressed<tensor<8x64xf32>, #act.raw>

// A raw save is the value itself, so nothing is left of a value that waits for
// its raw save.
// CHECK-LABEL: func.func @raw_vanishes(
// CHECK-SAME:    %[[X:.*]]: tensor<8x64xf32>)
// CHECK-NEXT:    return %[[X]], %[[X]]
func.func @raw_vanishes(%x: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %c = act.compressed_save %x : tensor<8x64xf32> to !raw
  %x1, %c1 = act.barrier %x, %c : tensor<8x64xf32>, !raw
  %0 = act.dequantize_load %c1 : !raw to tensor<8x64xf32>
  return %x1, %0 : tensor<8x64xf32>, tensor<8x64xf32>
}

// The value and every tensor of its save.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[X:.*]]: tensor<8x64xf32>)
// CHECK:         %[[C:.*]]:3 = call @act_save
// CHECK-NEXT:    %[[B:.*]]:4 = "stablehlo.optimization_barrier"(%[[X]], %[[C]]#0, %[[C]]#1, %[[C]]#2)
// CHECK-NEXT:    %[[L:.*]] = call @act_load_{{.*}}(%[[B]]#1, %[[B]]#2, %[[B]]#3)
// CHECK-NEXT:    return %[[B]]#0, %[[L]]
func.func @forward(%x: tensor<8x64xf32>) -> (tensor<8x64xf32>, tensor<8x64xf32>) {
  %c = act.compressed_save %x : tensor<8x64xf32> to !q
  %x1, %c1 = act.barrier %x, %c : tensor<8x64xf32>, !q
  %0 = act.dequantize_load %c1 : !q to tensor<8x64xf32>
  return %x1, %0 : tensor<8x64xf32>, tensor<8x64xf32>
}

// A tensor that occurs twice is held once; every result gets its own.
// CHECK-LABEL: func.func @duplicates(
// CHECK-SAME:    %[[X:.*]]: tensor<8x64xf32>, %[[G:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[B:.*]]:2 = "stablehlo.optimization_barrier"(%[[X]], %[[G]]) :
// CHECK-NEXT:    return %[[B]]#0, %[[B]]#1, %[[B]]#0, %[[B]]#1
func.func @duplicates(%x: tensor<8x64xf32>, %g: tensor<4xf32>) -> (tensor<8x64xf32>, tensor<4xf32>, tensor<8x64xf32>, tensor<4xf32>) {
  %c = act.compressed_save %x : tensor<8x64xf32> to !raw
  %x1, %g1, %c1, %g2 = act.barrier %x, %g, %c, %g : tensor<8x64xf32>, tensor<4xf32>, !raw, tensor<4xf32>
  %0 = act.dequantize_load %c1 : !raw to tensor<8x64xf32>
  return %x1, %g1, %0, %g2 : tensor<8x64xf32>, tensor<4xf32>, tensor<8x64xf32>, tensor<4xf32>
}

// A chain of barriers, the second of which holds the results of the first.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %[[X:.*]]: tensor<8x64xf32>, %[[G:.*]]: tensor<4xf32>, %[[H:.*]]: tensor<4xf32>)
// CHECK:         %[[C:.*]]:3 = call @act_save
// CHECK-NEXT:    %[[B:.*]]:4 = "stablehlo.optimization_barrier"(%[[C]]#0, %[[C]]#1, %[[C]]#2, %[[G]])
// CHECK-NEXT:    %[[D:.*]]:5 = "stablehlo.optimization_barrier"(%[[B]]#0, %[[B]]#1, %[[B]]#2, %[[H]], %[[B]]#3)
// CHECK-NEXT:    %[[L:.*]] = call @act_load_{{.*}}(%[[D]]#0, %[[D]]#1, %[[D]]#2)
// CHECK-NEXT:    return %[[L]], %[[D]]#4
func.func @chain(%x: tensor<8x64xf32>, %g: tensor<4xf32>, %h: tensor<4xf32>) -> (tensor<8x64xf32>, tensor<4xf32>) {
  %c = act.compressed_save %x : tensor<8x64xf32> to !q
  %c1, %g1 = act.barrier %c, %g : !q, tensor<4xf32>
  %c2, %h2, %g2 = act.barrier %c1, %h, %g1 : !q, tensor<4xf32>, tensor<4xf32>
  %0 = act.dequantize_load %c2 : !q to tensor<8x64xf32>
  return %0, %g2 : tensor<8x64xf32>, tensor<4xf32>
}

// One operand needs no barrier.
// CHECK-LABEL: func.func @single(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>)
// CHECK-NEXT:    return %[[X]]
func.func @single(%x: tensor<4xf32>) -> tensor<4xf32> {
  %x1, %x2 = act.barrier %x, %x : tensor<4xf32>, tensor<4xf32>
  return %x2 : tensor<4xf32>
}
