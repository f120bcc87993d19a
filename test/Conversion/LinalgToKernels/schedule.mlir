// RUN: act-opt %s --act-schedule | FileCheck %s

// What frees memory moves up: %a is read for the last time by the exponential.
// CHECK-LABEL: func.func @frees
// CHECK: %[[A:.*]] = linalg.fill
// CHECK: linalg.exp ins(%[[A]]
// CHECK: %[[B:.*]] = linalg.fill
// CHECK: %[[SUM:.*]] = linalg.add ins(%[[B]], %[[B]] :{{.*}} outs(%[[B]]
// CHECK: linalg.reduce {{.*}}ins(%[[SUM]]
func.func @frees(%zero: f32) -> (tensor<64xf32>, tensor<f32>) {
  %e = tensor.empty() : tensor<64xf32>
  %s = tensor.empty() : tensor<f32>
  %a = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %b = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.exp ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %sum = linalg.add ins(%b, %b : tensor<64xf32>, tensor<64xf32>)
      outs(%b : tensor<64xf32>) -> tensor<64xf32>
  %r = linalg.reduce {arith.addf} ins(%sum : tensor<64xf32>) outs(%s : tensor<f32>)
      dimensions = [0]
  return %c, %r : tensor<64xf32>, tensor<f32>
}

// Nothing moves across a barrier that it depends on.
// CHECK-LABEL: func.func @barrier
// CHECK: act.barrier
// CHECK: linalg.reduce
func.func @barrier(%x: tensor<64xf32>, %zero: f32) -> (tensor<64xf32>, tensor<f32>) {
  %e = tensor.empty() : tensor<64xf32>
  %s = tensor.empty() : tensor<f32>
  %a = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %c = linalg.exp ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %b:2 = act.barrier %a, %c : tensor<64xf32>, tensor<64xf32>
  %r = linalg.reduce {arith.addf} ins(%b#0 : tensor<64xf32>) outs(%s : tensor<f32>)
      dimensions = [0]
  return %b#1, %r : tensor<64xf32>, tensor<f32>
}

// What is larger than its operands waits until it is read.
// CHECK-LABEL: func.func @waits
// CHECK: %[[EXP:.*]] = linalg.exp
// CHECK-NEXT: %[[BIG:.*]] = linalg.broadcast
// CHECK-NEXT: linalg.add ins(%[[EXP]], %[[BIG]]
func.func @waits(%x: tensor<4x64xf32>, %s: tensor<4xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %big = linalg.broadcast ins(%s : tensor<4xf32>) outs(%e : tensor<4x64xf32>) dimensions = [1]
  %exp = linalg.exp ins(%x : tensor<4x64xf32>) outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  %sum = linalg.add ins(%exp, %big : tensor<4x64xf32>, tensor<4x64xf32>)
      outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  return %sum : tensor<4x64xf32>
}
