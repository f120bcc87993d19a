// What act knows about the operations on linear attention: with C tokens a chunk,
// 2 C (M + D) + 4 M D operations a token and head forward, 6 C (M + D) + 10 M D
// for the gradient, 2 M D for the state alone, and 2 M P for each row that random
// features are taken of.

// RUN: act-opt %s --test-op-model | FileCheck %s

func.func @f(%q: tensor<2x10x6x4xf32>, %k: tensor<2x10x2x4xf32>, %v: tensor<2x10x2x3xf32>,
    %w: tensor<5x4xf32>, %o: tensor<2x10x6x3xf32>, %s: tensor<2x2x4x3xf32>, %t: tensor<2x2x5x3xf32>,
    %kb: memref<2x10x2x4xf32>, %vb: memref<2x10x2x3xf32>, %sb: memref<2x2x4x3xf32>) {
  // 120 heads and tokens: 2 * 8 * 7 + 4 * 12 = 160
  // CHECK: act.linear_attention: contraction flops=19200
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<2x10x6x4xf32>, tensor<2x10x2x4xf32>, tensor<2x10x2x3xf32>)
      outs(%o, %s : tensor<2x10x6x3xf32>, tensor<2x2x4x3xf32>) {feature_map = #act.square, chunk = 8 : i64}
  // 6 * 8 * 7 + 10 * 12 = 456
  // CHECK: act.linear_attention_grad: contraction flops=54720
  %g:4 = act.linear_attention_grad ins(%q, %k, %v : tensor<2x10x6x4xf32>, tensor<2x10x2x4xf32>, tensor<2x10x2x3xf32>)
      gradient(%o : tensor<2x10x6x3xf32>) states(%s : tensor<2x2x4x3xf32>)
      outs(%q, %k, %v, %s : tensor<2x10x6x4xf32>, tensor<2x10x2x4xf32>, tensor<2x10x2x3xf32>, tensor<2x2x4x3xf32>)
      {feature_map = #act.square, chunk = 8 : i64}
  // 40 heads and tokens
  // CHECK: act.linear_attention_state: contraction flops=960
  %u = act.linear_attention_state ins(%k, %v : tensor<2x10x2x4xf32>, tensor<2x10x2x3xf32>)
      outs(%s : tensor<2x2x4x3xf32>) {feature_map = #act.square}
  // 2 * 15 and one row of 2 * 20
  // CHECK: act.linear_attention_state: contraction flops=2800
  %x = act.linear_attention_state ins(%k, %v : tensor<2x10x2x4xf32>, tensor<2x10x2x3xf32>)
      features(%w : tensor<5x4xf32>) outs(%t : tensor<2x2x5x3xf32>) {feature_map = #act.favor_plus}
  // CHECK: act.linear_attention_state: contraction effects
  act.linear_attention_state ins(%kb, %vb : memref<2x10x2x4xf32>, memref<2x10x2x3xf32>)
      outs(%sb : memref<2x2x4x3xf32>) {feature_map = #act.square}
  return
}
