// One case for each numbered constraint in RangeOps.td, and for those on ranges in
// CompressionOps.td and CodecOps.td.

// RUN: act-opt %s --split-input-file --verify-diagnostics

// empty_range C1: the rows
func.func @f() {
  // expected-error @+1 {{'act.empty_range' op expects a result of type 'tensor<2xNxf32>' with N of at least 1, got 'tensor<3x4xf32>'}}
  %s = act.empty_range : tensor<3x4xf32>
  return
}

// -----

// empty_range C1: the indices
func.func @f() {
  // expected-error @+1 {{'act.empty_range' op expects a result of type 'tensor<2xNxf32>' with N of at least 1, got 'tensor<2x0xf32>'}}
  %s = act.empty_range : tensor<2x0xf32>
  return
}

// -----

// empty_range C1: a dynamic shape
func.func @f() {
  // expected-error @+1 {{'act.empty_range' op expects a result of type 'tensor<2xNxf32>' with N of at least 1, got 'tensor<2x?xf32>'}}
  %s = act.empty_range : tensor<2x?xf32>
  return
}

// -----

// empty_range: the element type
func.func @f() {
  // expected-error @+1 {{'act.empty_range' op result #0 must be 2D tensor of 32-bit float values, but got 'tensor<2x4xbf16>'}}
  %s = act.empty_range : tensor<2x4xbf16>
  return
}

// -----

// update_range C1
func.func @f(%x: tensor<8x4xf32>, %s: tensor<2x8xf32>) {
  // expected-error @+1 {{'act.update_range' op expects a state of type 'tensor<2x4xf32>', got 'tensor<2x8xf32>'}}
  %n, %r = act.update_range %x, %s axis 1 decay 0.9 : tensor<8x4xf32>, tensor<2x8xf32>
  return
}

// -----

// update_range C1: next and range
func.func @f(%x: tensor<8x4xf32>, %s: tensor<2x4xf32>) {
  // expected-error @+1 {{'act.update_range' op failed to verify that all of {state, next, range} have same type}}
  %n, %r = "act.update_range"(%x, %s) <{axis = 1 : i64, decay = 0.9 : f64}> : (tensor<8x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x8xf32>)
  return
}

// -----

// update_range C2: the element type
func.func @f(%x: tensor<8x4xi8>, %s: tensor<2x4xf32>) {
  // expected-error @+1 {{'act.update_range' op a running range expects a floating-point element type of 16, 32 or 64 bits, got 'i8'}}
  %n, %r = act.update_range %x, %s axis 1 decay 0.9 : tensor<8x4xi8>, tensor<2x4xf32>
  return
}

// -----

// update_range C2: static shape
func.func @f(%x: tensor<?x4xf32>, %s: tensor<2x4xf32>) {
  // expected-error @+1 {{'act.update_range' op a running range expects a static shape, got 'tensor<?x4xf32>'}}
  %n, %r = act.update_range %x, %s axis 1 decay 0.9 : tensor<?x4xf32>, tensor<2x4xf32>
  return
}

// -----

// update_range C2: at least one element
func.func @f(%x: tensor<0x4xf32>, %s: tensor<2x4xf32>) {
  // expected-error @+1 {{'act.update_range' op a running range expects at least one element, got 'tensor<0x4xf32>'}}
  %n, %r = act.update_range %x, %s axis 1 decay 0.9 : tensor<0x4xf32>, tensor<2x4xf32>
  return
}

// -----

// update_range C2: more axes than axis
func.func @f(%x: tensor<8x4xf32>, %s: tensor<2x4xf32>) {
  // expected-error @+1 {{'act.update_range' op a running range expects a tensor of rank 3 or more, got 'tensor<8x4xf32>'}}
  %n, %r = act.update_range %x, %s axis 2 decay 0.9 : tensor<8x4xf32>, tensor<2x4xf32>
  return
}

// -----

// update_range C2: the axis
func.func @f(%x: tensor<8x4xf32>, %s: tensor<2x4xf32>) {
  // expected-error @+1 {{'act.update_range' op expects an axis that is not negative, got -1}}
  %n, %r = act.update_range %x, %s axis -1 decay 0.9 : tensor<8x4xf32>, tensor<2x4xf32>
  return
}

// -----

// update_range C3: one is too much
func.func @f(%x: tensor<8x4xf32>, %s: tensor<2x4xf32>) {
  // expected-error @+1 {{'act.update_range' op expects a decay of at least 0 and less than 1, got 1.0}}
  %n, %r = act.update_range %x, %s axis 1 decay 1.0 : tensor<8x4xf32>, tensor<2x4xf32>
  return
}

// -----

// update_range C3: NaN
func.func @f(%x: tensor<8x4xf32>, %s: tensor<2x4xf32>) {
  // expected-error @+1 {{'act.update_range' op expects a decay of at least 0 and less than 1, got nan}}
  %n, %r = act.update_range %x, %s axis 1 decay 0x7FF8000000000000 : tensor<8x4xf32>, tensor<2x4xf32>
  return
}

// -----

// compressed_save C4: no range
func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @+1 {{'act.compressed_save' op expects a range for #act.axis_quant<bits = 4, axis = 1, range = running>}}
  %c = act.compressed_save %x : tensor<8x4xf32> to !act.compressed<tensor<8x4xf32>, #act.axis_quant<bits = 4, axis = 1, range = running>>
  return
}

// -----

// compressed_save C4: a range
func.func @f(%x: tensor<8x4xf32>, %r: tensor<2x4xf32>) {
  // expected-error @+1 {{'act.compressed_save' op expects no range for #act.axis_quant<bits = 4, axis = 1>}}
  %c = act.compressed_save %x range(%r : tensor<2x4xf32>) : tensor<8x4xf32> to !act.compressed<tensor<8x4xf32>, #act.axis_quant<bits = 4, axis = 1>>
  return
}

// -----

// compressed_save C5
func.func @f(%x: tensor<8x4xf32>, %r: tensor<2x4xf32>) {
  // expected-error @+1 {{'act.compressed_save' op expects a range of type 'tensor<2x8xf32>', got 'tensor<2x4xf32>'}}
  %c = act.compressed_save %x range(%r : tensor<2x4xf32>) : tensor<8x4xf32> to !act.compressed<tensor<8x4xf32>, #act.axis_quant<bits = 4, axis = 0, range = running>>
  return
}

// -----

// encode C5
func.func @f(%x: tensor<8x4xf32>, %c: tensor<8x4xi8>, %p: tensor<1x4xf32>) {
  // expected-error @+1 {{'act.encode' op expects an encoding without running ranges, got #act.axis_quant<bits = 8, axis = 1, rounding = nearest, range = running>}}
  %0:3 = act.encode ins(%x : tensor<8x4xf32>) outs(%c, %p, %p : tensor<8x4xi8>, tensor<1x4xf32>, tensor<1x4xf32>)
      {encoding = #act.axis_quant<bits = 8, axis = 1, rounding = nearest, range = running>}
  return
}
