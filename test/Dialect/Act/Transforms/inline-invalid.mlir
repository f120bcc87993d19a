// RUN: act-opt %s --act-inline --split-input-file --verify-diagnostics

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @a(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @a(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = func.call @b(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @b(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'func.call' op expects no recursion, but @a calls itself}}
  %0 = func.call @a(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'func.call' op expects a callee with one block, got 0}}
  %0 = func.call @declared(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// expected-note @below {{callee is here}}
func.func private @declared(%x: tensor<8xf32>) -> tensor<8xf32>

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'func.call' op expects a callee with one block, got 2}}
  %0 = func.call @blocks(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
// expected-note @below {{callee is here}}
func.func private @blocks(%x: tensor<8xf32>) -> tensor<8xf32> {
  cf.br ^next(%x : tensor<8xf32>)
^next(%y: tensor<8xf32>):
  return %y : tensor<8xf32>
}

// -----

// The verifier of func.call finds this one first.
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{'func.call' op 'missing' does not reference a valid function}}
  %0 = func.call @missing(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
