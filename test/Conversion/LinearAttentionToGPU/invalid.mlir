// RUN: act-opt %s --convert-linear-attention-to-gpu --split-input-file --verify-diagnostics

func.func @tensors(%k: tensor<1x9x1x4xf32>, %s: tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32> {
  // expected-error @below {{'act.linear_attention_state' op expects buffers, got 'tensor<1x9x1x4xf32>'}}
  %0 = act.linear_attention_state ins(%k, %k : tensor<1x9x1x4xf32>, tensor<1x9x1x4xf32>)
      outs(%s : tensor<1x1x4x4xf32>) {feature_map = #act.square}
  return %0 : tensor<1x1x4x4xf32>
}

// -----

func.func @dynamic(%k: memref<1x?x1x4xf32>, %s: memref<1x1x4x4xf32>) {
  // expected-error @below {{'act.linear_attention_state' op expects static shapes to lower it to a GPU, got 'memref<1x?x1x4xf32>'}}
  act.linear_attention_state ins(%k, %k : memref<1x?x1x4xf32>, memref<1x?x1x4xf32>)
      outs(%s : memref<1x1x4x4xf32>) {feature_map = #act.square}
  return
}

// -----

func.func @gaps(%k: memref<1x9x1x4xf32, strided<[72, 8, 8, 2]>>, %s: memref<1x1x4x4xf32>) {
  // expected-error @below {{'act.linear_attention_state' op expects static strides and rows without gaps to lower it to a GPU, got 'memref<1x9x1x4xf32, strided<[72, 8, 8, 2]>>'}}
  act.linear_attention_state
      ins(%k, %k : memref<1x9x1x4xf32, strided<[72, 8, 8, 2]>>, memref<1x9x1x4xf32, strided<[72, 8, 8, 2]>>)
      outs(%s : memref<1x1x4x4xf32>) {feature_map = #act.square}
  return
}

// -----

func.func @doubles(%k: memref<1x9x1x4xf64>, %s: memref<1x1x4x4xf64>) {
  // expected-error @below {{'act.linear_attention_state' op expects f32, f16 or bf16 rows to lower it to a GPU, got 'f64'}}
  act.linear_attention_state ins(%k, %k : memref<1x9x1x4xf64>, memref<1x9x1x4xf64>)
      outs(%s : memref<1x1x4x4xf64>) {feature_map = #act.square}
  return
}

// -----

func.func @parameters(%k: memref<1x9x1x4xf32>, %w: memref<6x4xf32>, %s: memref<1x1x6x4xf32>) {
  // expected-error @below {{'act.linear_attention_state' op expects a feature map that works element by element to lower it to a GPU, got #act.favor_plus}}
  act.linear_attention_state ins(%k, %k : memref<1x9x1x4xf32>, memref<1x9x1x4xf32>)
      features(%w : memref<6x4xf32>) outs(%s : memref<1x1x6x4xf32>) {feature_map = #act.favor_plus}
  return
}

// -----

func.func @size(%k: memref<1x9x1x1025xf32>, %v: memref<1x9x1x4xf32>, %s: memref<1x1x1025x4xf32>) {
  // expected-error @below {{'act.linear_attention_state' op expects 1 to 1024 features to lower it to a GPU, got 1025}}
  act.linear_attention_state ins(%k, %v : memref<1x9x1x1025xf32>, memref<1x9x1x4xf32>)
      outs(%s : memref<1x1x1025x4xf32>) {feature_map = #act.square}
  return
}

// -----

func.func @tokens(%k: memref<1x0x1x4xf32>, %s: memref<1x1x4x4xf32>) {
  // expected-error @below {{'act.linear_attention_state' op expects sequences of tokens to lower it to a GPU, got 1 of 0}}
  act.linear_attention_state ins(%k, %k : memref<1x0x1x4xf32>, memref<1x0x1x4xf32>)
      outs(%s : memref<1x1x4x4xf32>) {feature_map = #act.square}
  return
}
