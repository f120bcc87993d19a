// One case for each numbered constraint in LinearAttentionOps.td, and for each
// value it speaks of.

// RUN: act-opt %s --split-input-file --verify-diagnostics

// L1: query
func.func @f(%q: tensor<7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects query of rank 4, got 'tensor<7x4x8xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L1: key
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects key of rank 4, got 'tensor<7x4x8xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L1: value
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects value of rank 4, got 'tensor<7x4x6xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L1: features
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %w: tensor<8xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects features of rank 2, got 'tensor<8xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      features(%w : tensor<8xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.favor_plus}
  return
}

// -----

// L1: decay
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %a: tensor<7x4xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects decay of rank 1, 3 or 4, got 'tensor<7x4xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      decay(%a : tensor<7x4xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L1: S
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects states 0 of shape 1x4x8x6, got 'tensor<4x8x6xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L2: dynamic
func.func @f(%q: tensor<1x7x?x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects a static, positive number of heads of query}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x?x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L2: none
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x0x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects a static, positive number of heads of value}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x0x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L2: queries
func.func @f(%q: tensor<1x7x3x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects a number of heads of query that divides 4, got 3}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x3x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L2: keys
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x3x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects a number of heads of key that divides 4, got 3}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x3x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L2: values
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x3x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects a number of heads of value that divides 4, got 3}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x3x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L2: states
func.func @f(%q: tensor<1x7x6x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects a number of heads of key and value that divides 6, got 4}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x6x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L3: query
func.func @f(%q: tensor<1x7x4x8xbf16>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects query with elements of type 'f32', got 'tensor<1x7x4x8xbf16>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xbf16>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L3: value
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf16>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects value with elements of type 'f32', got 'tensor<1x7x4x6xf16>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf16>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L3: features
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %w: tensor<8x8xf64>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects features with elements of type 'f32', got 'tensor<8x8xf64>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      features(%w : tensor<8x8xf64>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.favor_plus}
  return
}

// -----

// L3: decay
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %a: tensor<4xf64>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects decay with elements of type 'f32', got 'tensor<4xf64>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      decay(%a : tensor<4xf64>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L3: output
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf64>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects output with elements of type 'f32', got 'tensor<1x7x4x6xf64>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf64>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L3: denominator
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %d: tensor<1x7x4xbf16>, %s: tensor<1x4x8x6xf32>, %z: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects denominator with elements of type 'f32', got 'tensor<1x7x4xbf16>'}}
  %r:4 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %d, %s, %z : tensor<1x7x4x6xf32>, tensor<1x7x4xbf16>, tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      {feature_map = #act.square, normalize}
  return
}

// -----

// L3: S of rows in f64
func.func @f(%q: tensor<1x7x4x8xf64>, %k: tensor<1x7x4x8xf64>, %v: tensor<1x7x4x6xf64>, %o: tensor<1x7x4x6xf64>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects states 0 with elements of type 'f64', got 'tensor<1x4x8x6xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf64>, tensor<1x7x4x8xf64>, tensor<1x7x4x6xf64>)
      outs(%o, %s : tensor<1x7x4x6xf64>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L3: z of rows in bf16
func.func @f(%q: tensor<1x7x4x8xbf16>, %k: tensor<1x7x4x8xbf16>, %v: tensor<1x7x4x6xbf16>, %o: tensor<1x7x4x6xbf16>, %d: tensor<1x7x4xf32>, %s: tensor<1x4x8x6xf32>, %z: tensor<1x4x8xbf16>) {
  // expected-error @+1 {{'act.linear_attention' op expects states 1 with elements of type 'f32', got 'tensor<1x4x8xbf16>'}}
  %r:4 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xbf16>, tensor<1x7x4x8xbf16>, tensor<1x7x4x6xbf16>)
      outs(%o, %d, %s, %z : tensor<1x7x4x6xbf16>, tensor<1x7x4xf32>, tensor<1x4x8x6xf32>, tensor<1x4x8xbf16>)
      {feature_map = #act.square, normalize}
  return
}

// -----

// L4: missing
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects features with #act.favor_plus}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.favor_plus}
  return
}

// -----

// L4: superfluous
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %w: tensor<8x8xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects no features with #act.square}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      features(%w : tensor<8x8xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L5: query
func.func @f(%q: tensor<1x9x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects query of shape 1x7x4x8, got 'tensor<1x9x4x8xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x9x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L5: key
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x9xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects query of shape 1x7x4x9, got 'tensor<1x7x4x8xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x9xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L5: value
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<2x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects value of shape 1x7x4x6, got 'tensor<2x7x4x6xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<2x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L5: features
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %w: tensor<5x9xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects features of shape 5x8, got 'tensor<5x9xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      features(%w : tensor<5x9xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.favor_plus}
  return
}

// -----

// L5: decay of heads
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %a: tensor<5xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects decay of shape 4, got 'tensor<5xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      decay(%a : tensor<5xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L5: decay of tokens
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %a: tensor<1x7x2xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects decay of shape 1x7x4, got 'tensor<1x7x2xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      decay(%a : tensor<1x7x2xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L5: decay of channels
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %a: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects decay of shape 1x7x4x8, got 'tensor<1x7x4x6xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      decay(%a : tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L5: output
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x8xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects output of shape 1x7x4x6, got 'tensor<1x7x4x8xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x8xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L5: denominator
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %d: tensor<1x7x2xf32>, %s: tensor<1x4x8x6xf32>, %z: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects denominator of shape 1x7x4, got 'tensor<1x7x2xf32>'}}
  %r:4 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %d, %s, %z : tensor<1x7x4x6xf32>, tensor<1x7x2xf32>, tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      {feature_map = #act.square, normalize}
  return
}

// -----

// L5: S
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects states 0 of shape 1x4x8x6, got 'tensor<1x4x6x8xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x6x8xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L5: z
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %d: tensor<1x7x4xf32>, %s: tensor<1x4x8x6xf32>, %z: tensor<1x4x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects states 1 of shape 1x4x8, got 'tensor<1x4x6xf32>'}}
  %r:4 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %d, %s, %z : tensor<1x7x4x6xf32>, tensor<1x7x4xf32>, tensor<1x4x8x6xf32>, tensor<1x4x6xf32>)
      {feature_map = #act.square, normalize}
  return
}

// -----

// L5: S has the heads of keys and values, not of queries
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x2x8xf32>, %v: tensor<1x7x1x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects states 0 of shape 1x2x8x6, got 'tensor<1x4x8x6xf32>'}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x2x8xf32>, tensor<1x7x1x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L6
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects a chunk that is not negative, got -1}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square, chunk = -1 : i64}
  return
}

// -----

// L7: z without normalize
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %z: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects 2 outs, got 3}}
  %r:3 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s, %z : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L7: gradient, z without normalize
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %z: tensor<1x4x8xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects 1 states, got 2}}
  %r:4 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s, %z : tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv, %ds : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// L7: gradient, no z with normalize
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %d: tensor<1x7x4xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>, %dz: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects 2 states, got 1}}
  %r:5 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      output(%o : tensor<1x7x4x6xf32>)
      denominator(%d : tensor<1x7x4xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s : tensor<1x4x8x6xf32>)
      outs(%dq, %dk, %dv, %ds, %dz : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      {feature_map = #act.square, normalize}
  return
}

// -----

// linear_attention C1: denominator without normalize
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %d: tensor<1x7x4xf32>, %s: tensor<1x4x8x6xf32>, %z: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects 2 outs, got 4}}
  %r:4 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %d, %s, %z : tensor<1x7x4x6xf32>, tensor<1x7x4xf32>, tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      {feature_map = #act.square}
  return
}

// -----

// linear_attention C1: no denominator with normalize
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects 4 outs, got 2}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square, normalize}
  return
}

// -----

// linear_attention C2
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects a finite scale, got INF}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square, scale = 0x7FF0000000000000 : f64}
  return
}

// -----

// linear_attention C3: negative
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %d: tensor<1x7x4xf32>, %s: tensor<1x4x8x6xf32>, %z: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects an epsilon that is finite and not negative, got -1.000000e+00}}
  %r:4 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %d, %s, %z : tensor<1x7x4x6xf32>, tensor<1x7x4xf32>, tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      {feature_map = #act.square, normalize, epsilon = -1.0 : f64}
  return
}

// -----

// linear_attention C3: not finite
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %d: tensor<1x7x4xf32>, %s: tensor<1x4x8x6xf32>, %z: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects an epsilon that is finite and not negative, got nan}}
  %r:4 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %d, %s, %z : tensor<1x7x4x6xf32>, tensor<1x7x4xf32>, tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      {feature_map = #act.square, normalize, epsilon = 0x7FF8000000000000 : f64}
  return
}

// -----

// linear_attention C3: without normalize
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention' op expects epsilon 0 without normalize, got 1.000000e+00}}
  %r:2 = act.linear_attention ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%o, %s : tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square, epsilon = 1.0 : f64}
  return
}

// -----

// linear_attention_grad C1: too few
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %ds: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects 4 outs, got 3}}
  %r:3 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s : tensor<1x4x8x6xf32>)
      outs(%dq, %dk, %ds : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// linear_attention_grad C1: no gradient of decay
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %a: tensor<4xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects 5 outs, got 4}}
  %r:4 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      decay(%a : tensor<4xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s : tensor<1x4x8x6xf32>)
      outs(%dq, %dk, %dv, %ds : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// linear_attention_grad C1: no dz
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %d: tensor<1x7x4xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %z: tensor<1x4x8xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects 5 outs, got 4}}
  %r:4 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      output(%o : tensor<1x7x4x6xf32>)
      denominator(%d : tensor<1x7x4xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s, %z : tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv, %ds : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square, normalize}
  return
}

// -----

// linear_attention_grad C2: no output
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %d: tensor<1x7x4xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %z: tensor<1x4x8xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>, %dz: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects output with normalize}}
  %r:5 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      denominator(%d : tensor<1x7x4xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s, %z : tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv, %ds, %dz : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      {feature_map = #act.square, normalize}
  return
}

// -----

// linear_attention_grad C2: denominator
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %d: tensor<1x7x4xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects no denominator without normalize}}
  %r:4 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      denominator(%d : tensor<1x7x4xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s : tensor<1x4x8x6xf32>)
      outs(%dq, %dk, %dv, %ds : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// linear_attention_grad C3
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects a finite scale, got nan}}
  %r:4 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s : tensor<1x4x8x6xf32>)
      outs(%dq, %dk, %dv, %ds : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square, scale = 0x7FF8000000000000 : f64}
  return
}

// -----

// linear_attention_grad C3: epsilon
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects epsilon 0 without normalize, got 1.000000e+00}}
  %r:4 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s : tensor<1x4x8x6xf32>)
      outs(%dq, %dk, %dv, %ds : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square, epsilon = 1.0 : f64}
  return
}

// -----

// linear_attention_grad C4
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %a: tensor<4xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %da: tensor<4xf32>, %ds: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects no decay with #act.reverse}}
  %r:5 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      decay(%a : tensor<4xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s : tensor<1x4x8x6xf32>)
      outs(%dq, %dk, %dv, %da, %ds : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<4xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square, state_policy = #act.reverse}
  return
}

// -----

// linear_attention_grad L5: gradient
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %do: tensor<1x7x2x6xf32>, %s: tensor<1x4x8x6xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects gradient of shape 1x7x4x6, got 'tensor<1x7x2x6xf32>'}}
  %r:4 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      gradient(%do : tensor<1x7x2x6xf32>)
      states(%s : tensor<1x4x8x6xf32>)
      outs(%dq, %dk, %dv, %ds : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// linear_attention_grad L3: gradient
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %do: tensor<1x7x4x6xf64>, %s: tensor<1x4x8x6xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects gradient with elements of type 'f32', got 'tensor<1x7x4x6xf64>'}}
  %r:4 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      gradient(%do : tensor<1x7x4x6xf64>)
      states(%s : tensor<1x4x8x6xf32>)
      outs(%dq, %dk, %dv, %ds : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// linear_attention_grad L5: gradient of query
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %dq: tensor<1x7x2x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects gradient of query of shape 1x7x4x8, got 'tensor<1x7x2x8xf32>'}}
  %r:4 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s : tensor<1x4x8x6xf32>)
      outs(%dq, %dk, %dv, %ds : tensor<1x7x2x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// linear_attention_grad L3: gradient of key
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf64>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects gradient of key with elements of type 'f32', got 'tensor<1x7x4x8xf64>'}}
  %r:4 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s : tensor<1x4x8x6xf32>)
      outs(%dq, %dk, %dv, %ds : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf64>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// linear_attention_grad L5: gradient of value
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x8xf32>, %ds: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects gradient of value of shape 1x7x4x6, got 'tensor<1x7x4x8xf32>'}}
  %r:4 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s : tensor<1x4x8x6xf32>)
      outs(%dq, %dk, %dv, %ds : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// linear_attention_grad L5: gradient of decay
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %a: tensor<4xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %da: tensor<1x7x4xf32>, %ds: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects gradient of decay of shape 4, got 'tensor<1x7x4xf32>'}}
  %r:5 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      decay(%a : tensor<4xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s : tensor<1x4x8x6xf32>)
      outs(%dq, %dk, %dv, %da, %ds : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x7x4xf32>, tensor<1x4x8x6xf32>)
      {feature_map = #act.square}
  return
}

// -----

// linear_attention_grad L5: gradient of S
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x8xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects gradients of states 0 of shape 1x4x8x6, got 'tensor<1x4x8x8xf32>'}}
  %r:4 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s : tensor<1x4x8x6xf32>)
      outs(%dq, %dk, %dv, %ds : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x8xf32>)
      {feature_map = #act.square}
  return
}

// -----

// linear_attention_grad L5: denominator
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %d: tensor<1x7x2xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %z: tensor<1x4x8xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>, %dz: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects denominator of shape 1x7x4, got 'tensor<1x7x2xf32>'}}
  %r:5 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      output(%o : tensor<1x7x4x6xf32>)
      denominator(%d : tensor<1x7x2xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s, %z : tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv, %ds, %dz : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      {feature_map = #act.square, normalize}
  return
}

// -----

// linear_attention_grad L3: denominator
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x4x6xf32>, %d: tensor<1x7x4xf64>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %z: tensor<1x4x8xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>, %dz: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects denominator with elements of type 'f32', got 'tensor<1x7x4xf64>'}}
  %r:5 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      output(%o : tensor<1x7x4x6xf32>)
      denominator(%d : tensor<1x7x4xf64>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s, %z : tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv, %ds, %dz : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      {feature_map = #act.square, normalize}
  return
}

// -----

// linear_attention_grad L5: output
func.func @f(%q: tensor<1x7x4x8xf32>, %k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %o: tensor<1x7x2x6xf32>, %d: tensor<1x7x4xf32>, %do: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>, %z: tensor<1x4x8xf32>, %dq: tensor<1x7x4x8xf32>, %dk: tensor<1x7x4x8xf32>, %dv: tensor<1x7x4x6xf32>, %ds: tensor<1x4x8x6xf32>, %dz: tensor<1x4x8xf32>) {
  // expected-error @+1 {{'act.linear_attention_grad' op expects output of shape 1x7x4x6, got 'tensor<1x7x2x6xf32>'}}
  %r:5 = act.linear_attention_grad ins(%q, %k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      output(%o : tensor<1x7x2x6xf32>)
      denominator(%d : tensor<1x7x4xf32>)
      gradient(%do : tensor<1x7x4x6xf32>)
      states(%s, %z : tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      outs(%dq, %dk, %dv, %ds, %dz : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>, tensor<1x4x8x6xf32>, tensor<1x4x8xf32>)
      {feature_map = #act.square, normalize}
  return
}

// -----

// linear_attention_state C1
func.func @f(%k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_state' op expects 2 outs, got 1}}
  %r:1 = act.linear_attention_state ins(%k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%s : tensor<1x4x8x6xf32>)
      {feature_map = #act.square, normalize}
  return
}

// -----

// linear_attention_state C2
func.func @f(%k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %a: tensor<4xf32>, %s: tensor<1x4x8x6xf32>) {
  // expected-error @+1 {{'act.linear_attention_state' op expects no decay with subtract}}
  %r:1 = act.linear_attention_state ins(%k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      decay(%a : tensor<4xf32>)
      outs(%s : tensor<1x4x8x6xf32>)
      {feature_map = #act.square, subtract}
  return
}

// -----

// linear_attention_state L5
func.func @f(%k: tensor<1x7x4x8xf32>, %v: tensor<1x7x4x6xf32>, %s: tensor<1x4x6x8xf32>) {
  // expected-error @+1 {{'act.linear_attention_state' op expects states 0 of shape 1x4x8x6, got 'tensor<1x4x6x8xf32>'}}
  %r:1 = act.linear_attention_state ins(%k, %v : tensor<1x7x4x8xf32>, tensor<1x7x4x6xf32>)
      outs(%s : tensor<1x4x6x8xf32>)
      {feature_map = #act.square}
  return
}

// -----

// checkpoint C1
// expected-error @+1 {{expects a positive segment, got 0}}
func.func private @f() attributes {a = #act.checkpoint<segment = 0>}

// -----

// Another policy than the three
func.func @f(%q: tensor<1x7x4x8xf32>, %s: tensor<1x4x8x8xf32>) {
  %r:4 = act.linear_attention_grad ins(%q, %q, %q : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>)
      gradient(%q : tensor<1x7x4x8xf32>) states(%s : tensor<1x4x8x8xf32>)
      outs(%q, %q, %q, %s : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x4x8x8xf32>)
      // expected-error @+1 {{custom op 'act.linear_attention_grad' 'act.linear_attention_grad' op attribute 'state_policy' failed to satisfy constraint: rescan, checkpoint or reverse}}
      {feature_map = #act.square, state_policy = #act.relu}
  return
}

// -----

// An encoding is no feature map
func.func @f(%k: tensor<1x7x4x8xf32>, %s: tensor<1x4x8x8xf32>) {
  %r = act.linear_attention_state ins(%k, %k : tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>)
      // expected-error @+1 {{'act.linear_attention_state' op attribute 'feature_map' failed to satisfy constraint: FeatureMapAttrInterface instance}}
      outs(%s : tensor<1x4x8x8xf32>) {feature_map = #act.raw}
  return
}

// -----

// Integers
func.func @f(%k: tensor<1x7x4x8xi32>, %s: tensor<1x4x8x8xf32>) {
  // expected-error @+1 {{'act.linear_attention_state' op operand #0 must be ranked tensor or memref of floats, but got 'tensor<1x7x4x8xi32>'}}
  %r = act.linear_attention_state ins(%k, %k : tensor<1x7x4x8xi32>, tensor<1x7x4x8xi32>)
      outs(%s : tensor<1x4x8x8xf32>) {feature_map = #act.square}
  return
}

// -----

// Results have the types of destinations
func.func @f(%k: tensor<1x7x4x8xf32>, %s: tensor<1x4x8x8xf32>) {
  // expected-error @+1 {{expected type of operand #2 ('tensor<1x4x8x8xf32>') to match type of corresponding result ('tensor<1x4x8x6xf32>')}}
  %r = "act.linear_attention_state"(%k, %k, %s) <{feature_map = #act.square, operandSegmentSizes = array<i32: 1, 1, 0, 0, 1>}>
      : (tensor<1x7x4x8xf32>, tensor<1x7x4x8xf32>, tensor<1x4x8x8xf32>) -> tensor<1x4x8x6xf32>
  return
}
