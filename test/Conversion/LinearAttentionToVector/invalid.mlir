// RUN: act-opt %s --split-input-file --verify-diagnostics --convert-linear-attention-to-vector

func.func @tensors(%x: tensor<1x4x1x8xf32>, %s: tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32> {
  // expected-error@+1 {{expects buffers, got 'tensor<1x4x1x8xf32>'}}
  %0 = act.linear_attention_state ins(%x, %x : tensor<1x4x1x8xf32>, tensor<1x4x1x8xf32>)
      outs(%s : tensor<1x1x8x8xf32>) {feature_map = #act.identity}
  return %0 : tensor<1x1x8x8xf32>
}

// -----

func.func @wide_rows(%x: memref<1x4x1x8xf64>, %s: memref<1x1x8x8xf64>) {
  // expected-error@+1 {{expects f32, f16 or bf16 inputs, got f64 to lower it to vectors}}
  act.linear_attention_state ins(%x, %x : memref<1x4x1x8xf64>, memref<1x4x1x8xf64>)
      outs(%s : memref<1x1x8x8xf64>) {feature_map = #act.identity}
  return
}

// -----

func.func @dynamic_features(%x: memref<1x4x1x?xf32>, %s: memref<1x1x?x?xf32>) {
  // expected-error@+1 {{expects static numbers of features and values to lower it to vectors}}
  act.linear_attention_state ins(%x, %x : memref<1x4x1x?xf32>, memref<1x4x1x?xf32>)
      outs(%s : memref<1x1x?x?xf32>) {feature_map = #act.identity}
  return
}

// -----

func.func @too_many_features(%x: memref<1x4x1x2000xf32>, %v: memref<1x4x1x8xf32>, %s: memref<1x1x2000x8xf32>) {
  // expected-error@+1 {{expects 1 to 1024 features, got 2000 to lower it to vectors}}
  act.linear_attention_state ins(%x, %v : memref<1x4x1x2000xf32>, memref<1x4x1x8xf32>)
      outs(%s : memref<1x1x2000x8xf32>) {feature_map = #act.identity}
  return
}

// -----

func.func @gaps(%x: memref<1x4x1x8xf32, strided<[64, 16, 16, 2]>>, %s: memref<1x1x8x8xf32>) {
  // expected-error@+1 {{expects rows without gaps, got 'memref<1x4x1x8xf32, strided<[64, 16, 16, 2]>>'}}
  act.linear_attention_state ins(%x, %x : memref<1x4x1x8xf32, strided<[64, 16, 16, 2]>>, memref<1x4x1x8xf32, strided<[64, 16, 16, 2]>>)
      outs(%s : memref<1x1x8x8xf32>) {feature_map = #act.identity}
  return
}

// -----

func.func @channel_decay(%x: memref<1x4x1x8xf32>, %a: memref<1x4x1x8xf32>, %s: memref<1x1x8x8xf32>) {
  // expected-error@+1 {{expects decay per head or per token, got one per channel to lower it to vectors}}
  act.linear_attention_state ins(%x, %x : memref<1x4x1x8xf32>, memref<1x4x1x8xf32>)
      decay(%a : memref<1x4x1x8xf32>) outs(%s : memref<1x1x8x8xf32>) {feature_map = #act.identity}
  return
}

// -----

func.func @shared_keys(%k: memref<1x4x1x8xf32>, %v: memref<1x4x2x8xf32>, %s: memref<1x2x8x8xf32>) {
  // expected-error@+1 {{expects as many query, key and value heads as states to lower it to vectors, 2}}
  act.linear_attention_state ins(%k, %v : memref<1x4x1x8xf32>, memref<1x4x2x8xf32>)
      outs(%s : memref<1x2x8x8xf32>) {feature_map = #act.identity}
  return
}

// -----

func.func @random_features(%x: memref<1x4x1x8xf32>, %w: memref<16x8xf32>, %s: memref<1x1x16x8xf32>) {
  // expected-error@+1 {{expects a feature map that works element by element, got favor_plus to lower it to vectors}}
  act.linear_attention_state ins(%x, %x : memref<1x4x1x8xf32>, memref<1x4x1x8xf32>)
      features(%w : memref<16x8xf32>) outs(%s : memref<1x1x16x8xf32>) {feature_map = #act.favor_plus}
  return
}

// -----

func.func @reverse(%x: memref<1x4x1x8xf32>, %s: memref<1x1x8x8xf32>) {
  // expected-error@+1 {{expects the state before the first token to lower it to vectors, got state_policy #act.reverse}}
  act.linear_attention_grad
      ins(%x, %x, %x : memref<1x4x1x8xf32>, memref<1x4x1x8xf32>, memref<1x4x1x8xf32>)
      gradient(%x : memref<1x4x1x8xf32>) states(%s : memref<1x1x8x8xf32>)
      outs(%x, %x, %x, %s : memref<1x4x1x8xf32>, memref<1x4x1x8xf32>, memref<1x4x1x8xf32>, memref<1x1x8x8xf32>)
      {feature_map = #act.exp, state_policy = #act.reverse}
  return
}

// -----

func.func @decay_grad(%x: memref<1x4x1x8xf32>, %a: memref<1xf32>, %s: memref<1x1x8x8xf32>) {
  // expected-error@+1 {{expects no decay to lower its gradient to vectors}}
  act.linear_attention_grad
      ins(%x, %x, %x : memref<1x4x1x8xf32>, memref<1x4x1x8xf32>, memref<1x4x1x8xf32>)
      decay(%a : memref<1xf32>)
      gradient(%x : memref<1x4x1x8xf32>) states(%s : memref<1x1x8x8xf32>)
      outs(%x, %x, %x, %a, %s : memref<1x4x1x8xf32>, memref<1x4x1x8xf32>, memref<1x4x1x8xf32>, memref<1xf32>, memref<1x1x8x8xf32>)
      {feature_map = #act.exp}
  return
}
