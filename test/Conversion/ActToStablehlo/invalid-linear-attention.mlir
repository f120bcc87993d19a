// What linear attention needs to be lowered, in both forms.

// RUN: act-opt %s --convert-act-to-stablehlo --split-input-file --verify-diagnostics
// RUN: act-opt %s --convert-act-to-stablehlo=linear-attention=call --split-input-file --verify-diagnostics

func.func @f(%k: tensor<1x?x2x8xf32>, %s: tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32> {
  // expected-error @+1 {{'act.linear_attention_state' op expects tensors of static shape, got 'tensor<1x?x2x8xf32>'}}
  %r = act.linear_attention_state ins(%k, %k : tensor<1x?x2x8xf32>, tensor<1x?x2x8xf32>)
      outs(%s : tensor<1x2x8x8xf32>) {feature_map = #act.square}
  return %r : tensor<1x2x8x8xf32>
}

// -----

func.func @f(%k: memref<1x7x2x8xf32>, %s: memref<1x2x8x8xf32>) {
  // expected-error @+1 {{'act.linear_attention_state' op expects tensors of static shape, got 'memref<1x7x2x8xf32>'}}
  act.linear_attention_state ins(%k, %k : memref<1x7x2x8xf32>, memref<1x7x2x8xf32>)
      outs(%s : memref<1x2x8x8xf32>) {feature_map = #act.square}
  return
}
