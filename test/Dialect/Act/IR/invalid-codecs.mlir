// One case for each numbered constraint in CodecOps.td.

// RUN: act-opt %s --split-input-file --verify-diagnostics

// encode C1: a buffer among tensors
func.func @f(%m: tensor<16xi1>, %c: memref<2xi8>) {
  // expected-error @+1 {{'act.encode' op expects operands that are all tensors or all buffers, got 'tensor<16xi1>', 'memref<2xi8>'}}
  act.encode ins(%m : tensor<16xi1>) outs(%c : memref<2xi8>) {encoding = #act.mask}
  return
}

// -----

// encode C1: the salt
func.func @f(%x: memref<4xf32>, %salt: tensor<i32>, %c: memref<1x4xi8>, %p: memref<1x1xf32>) {
  // expected-error @+1 {{'act.encode' op expects operands that are all tensors or all buffers, got 'memref<4xf32>', 'tensor<i32>'}}
  act.encode ins(%x : memref<4xf32>) salt(%salt : tensor<i32>)
      outs(%c, %p, %p : memref<1x4xi8>, memref<1x1xf32>, memref<1x1xf32>)
      {encoding = #act.group_quant<bits = 8, group = 4, params = f32>}
  return
}

// -----

// encode C2
func.func @f(%m: tensor<16xf32>, %c: tensor<2xi8>) {
  // expected-error @+1 {{'act.encode' op mask expects element type i1, got 'f32'}}
  %0 = act.encode ins(%m : tensor<16xf32>) outs(%c : tensor<2xi8>) {encoding = #act.mask}
  return
}

// -----

// encode C2: a dynamic shape
func.func @f(%m: tensor<?xi1>, %c: tensor<2xi8>) {
  // expected-error @+1 {{'act.encode' op mask expects a static shape, got 'tensor<?xi1>'}}
  %0 = act.encode ins(%m : tensor<?xi1>) outs(%c : tensor<2xi8>) {encoding = #act.mask}
  return
}

// -----

// encode C3: how many
func.func @f(%m: tensor<16xi1>, %c: tensor<2xi8>) {
  // expected-error @+1 {{'act.encode' op expects 1 storage operands for #act.mask, got 2}}
  %0:2 = act.encode ins(%m : tensor<16xi1>) outs(%c, %c : tensor<2xi8>, tensor<2xi8>) {encoding = #act.mask}
  return
}

// -----

// encode C3: the shape
func.func @f(%m: tensor<16xi1>, %c: tensor<3xi8>) {
  // expected-error @+1 {{'act.encode' op expects storage operand 0 with the shape and elements of 'tensor<2xui8>', got 'tensor<3xi8>'}}
  %0 = act.encode ins(%m : tensor<16xi1>) outs(%c : tensor<3xi8>) {encoding = #act.mask}
  return
}

// -----

// encode C3: the elements
func.func @f(%x: tensor<4xf32>, %salt: tensor<i32>, %c: tensor<1x4xi8>, %p: tensor<1x1xf32>, %q: tensor<1x1xbf16>) {
  // expected-error @+1 {{'act.encode' op expects storage operand 2 with the shape and elements of 'tensor<1x1xf32>', got 'tensor<1x1xbf16>'}}
  %0:3 = act.encode ins(%x : tensor<4xf32>) salt(%salt : tensor<i32>)
      outs(%c, %p, %q : tensor<1x4xi8>, tensor<1x1xf32>, tensor<1x1xbf16>)
      {encoding = #act.group_quant<bits = 8, group = 4, params = f32>}
  return
}

// -----

// encode C4: no salt
func.func @f(%x: tensor<4xf32>, %c: tensor<1x4xi8>, %p: tensor<1x1xf32>) {
  // expected-error @+1 {{'act.encode' op expects a salt for #act.group_quant<bits = 8, group = 4, params = f32>}}
  %0:3 = act.encode ins(%x : tensor<4xf32>)
      outs(%c, %p, %p : tensor<1x4xi8>, tensor<1x1xf32>, tensor<1x1xf32>)
      {encoding = #act.group_quant<bits = 8, group = 4, params = f32>}
  return
}

// -----

// encode C4: one too many
func.func @f(%m: tensor<16xi1>, %salt: tensor<i32>, %c: tensor<2xi8>) {
  // expected-error @+1 {{'act.encode' op expects no salt for #act.mask}}
  %0 = act.encode ins(%m : tensor<16xi1>) salt(%salt : tensor<i32>) outs(%c : tensor<2xi8>) {encoding = #act.mask}
  return
}

// -----

// encode C4: its rank
func.func @f(%x: tensor<4xf32>, %salt: tensor<1xi32>, %c: tensor<1x4xi8>, %p: tensor<1x1xf32>) {
  // expected-error @+1 {{'act.encode' op expects a salt of rank 0 with 32-bit integers, got 'tensor<1xi32>'}}
  %0:3 = act.encode ins(%x : tensor<4xf32>) salt(%salt : tensor<1xi32>)
      outs(%c, %p, %p : tensor<1x4xi8>, tensor<1x1xf32>, tensor<1x1xf32>)
      {encoding = #act.group_quant<bits = 8, group = 4, params = f32>}
  return
}

// -----

// encode C4: its elements
func.func @f(%x: tensor<4xf32>, %salt: tensor<i64>, %c: tensor<1x4xi8>, %p: tensor<1x1xf32>) {
  // expected-error @+1 {{'act.encode' op expects a salt of rank 0 with 32-bit integers, got 'tensor<i64>'}}
  %0:3 = act.encode ins(%x : tensor<4xf32>) salt(%salt : tensor<i64>)
      outs(%c, %p, %p : tensor<1x4xi8>, tensor<1x1xf32>, tensor<1x1xf32>)
      {encoding = #act.group_quant<bits = 8, group = 4, params = f32>}
  return
}

// -----

// decode C1
func.func @f(%m: tensor<16xi1>, %c: memref<2xi8>) {
  // expected-error @+1 {{'act.decode' op expects operands that are all tensors or all buffers, got 'memref<2xi8>', 'tensor<16xi1>'}}
  %0 = act.decode ins(%c : memref<2xi8>) outs(%m : tensor<16xi1>) {encoding = #act.mask}
  return
}

// -----

// decode C2
func.func @f(%m: tensor<16xi1>, %c: tensor<2xi8>) {
  // expected-error @+1 {{'act.decode' op expects one destination, got 2}}
  %0:2 = act.decode ins(%c : tensor<2xi8>) outs(%m, %m : tensor<16xi1>, tensor<16xi1>) {encoding = #act.mask}
  return
}

// -----

// decode C3
func.func @f(%m: tensor<16xi8>, %c: tensor<2xi8>) {
  // expected-error @+1 {{'act.decode' op mask expects element type i1, got 'i8'}}
  %0 = act.decode ins(%c : tensor<2xi8>) outs(%m : tensor<16xi8>) {encoding = #act.mask}
  return
}

// -----

// decode C4
func.func @f(%m: tensor<16xi1>, %c: tensor<2xi16>) {
  // expected-error @+1 {{'act.decode' op expects storage operand 0 with the shape and elements of 'tensor<2xui8>', got 'tensor<2xi16>'}}
  %0 = act.decode ins(%c : tensor<2xi16>) outs(%m : tensor<16xi1>) {encoding = #act.mask}
  return
}
