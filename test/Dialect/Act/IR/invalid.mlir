// One case for each numbered constraint in CompressionOps.td, and the errors of
// hand-written parsers.

// RUN: act-opt %s --split-input-file --verify-diagnostics

// compressed_save C1: the shape
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'act.compressed_save' op expects the result to store 'tensor<8xf32>', got 'tensor<4xf32>'}}
  %0 = act.compressed_save %x : tensor<8xf32> to !act.compressed<tensor<4xf32>, #act.raw>
  return
}

// -----

// compressed_save C1: the element type
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'act.compressed_save' op expects the result to store 'tensor<8xf32>', got 'tensor<8xi1>'}}
  %0 = act.compressed_save %x : tensor<8xf32> to !act.compressed<tensor<8xi1>, #act.mask>
  return
}

// -----

// compressed_save C2
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'act.compressed_save' op expects a lossless encoding for an exact value, got #act.float<type = bf16>}}
  %0 = act.compressed_save %x exact <statistic> : tensor<8xf32> to !act.compressed<tensor<8xf32>, #act.float<type = bf16>>
  return
}

// -----

// compressed_save C3
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'act.compressed_save' op expects an id that is not negative, got -1}}
  %0 = act.compressed_save %x {id = -1 : i64} : tensor<8xf32> to !act.compressed<tensor<8xf32>, #act.raw>
  return
}

// -----

// compressed_save: the kinds of exactness are an enumeration
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+2 {{expected ::mlir::act::Exactness to be one of: integer, predicate, statistic, mask_fill, ordered, loop_carried, small, unsupported}}
  // expected-error @+1 {{failed to parse Act_ExactnessAttr parameter 'value'}}
  %0 = act.compressed_save %x exact <nearly> : tensor<8xf32> to !act.compressed<tensor<8xf32>, #act.raw>
  return
}

// -----

// dequantize_load C1
func.func @f(%c: !act.compressed<tensor<8xf32>, #act.raw>) {
  // expected-error @+1 {{'act.dequantize_load' op expects a result of type 'tensor<8xf32>', got 'tensor<8xbf16>'}}
  %0 = act.dequantize_load %c : !act.compressed<tensor<8xf32>, #act.raw> to tensor<8xbf16>
  return
}

// -----

// barrier C1
func.func @f() {
  // expected-error @+1 {{'act.barrier' op expects at least one operand}}
  act.barrier
  return
}

// -----

// barrier C2: other types
func.func @f(%x: tensor<8xf32>, %y: tensor<4xf32>) {
  // expected-error @+1 {{'act.barrier' op expects results of the types of its operands}}
  %0:2 = "act.barrier"(%x, %y) : (tensor<8xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<8xf32>)
  return
}

// -----

// barrier C2: another number
func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{'act.barrier' op expects results of the types of its operands}}
  "act.barrier"(%x) : (tensor<8xf32>) -> ()
  return
}

// -----

// barrier: operands are tensors, stored or not
func.func @f(%x: f32) {
  // expected-error @+1 {{'act.barrier' op operand #0 must be variadic of ranked tensor, compressed tensor or stack, but got 'f32'}}
  %0 = act.barrier %x : f32
  return
}

// -----

func.func @f(%x: tensor<8xf32>, %y: tensor<8xf32>) {
  // expected-error @+1 {{number of operands and types do not match: got 2 operands and 1 types}}
  %0:2 = act.barrier %x, %y : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected ':'}}
  %0 = act.barrier %x
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{expected SSA operand}}
  %0 = act.barrier %x, : tensor<8xf32>
  return
}

// -----

func.func @f(%x: tensor<8xf32>) {
  // expected-error @+1 {{operation defines 1 results but was provided 2 to bind}}
  %0:2 = act.barrier %x : tensor<8xf32>
  return
}

// -----

// round_trip C1: the result type is that of the operand, so it can only be wrong in
// the generic form.
func.func @f(%x: tensor<8x64xf32>, %l: tensor<f32>, %s: tensor<ui32>) {
  // expected-error @+1 {{'act.round_trip' op failed to verify that all of {input, result} have same type}}
  %0 = "act.round_trip"(%x, %l, %s) {encoding = #act.raw} : (tensor<8x64xf32>, tensor<f32>, tensor<ui32>) -> tensor<8x32xf32>
  return
}

// -----

// round_trip C2
func.func @f(%x: tensor<8x64xi32>, %l: tensor<f32>, %s: tensor<ui32>) {
  // expected-error @+1 {{'act.round_trip' op group_quant expects a floating-point element type of 16, 32 or 64 bits, got 'i32'}}
  %0 = act.round_trip %x levels(%l : tensor<f32>) seed(%s : tensor<ui32>) encoding(#act.group_quant<bits = 4, group = 64>) : tensor<8x64xi32>
  return
}

// -----

// round_trip C3
func.func @f(%x: tensor<8x64xf32>, %l: tensor<f32>, %s: tensor<ui32>) {
  // expected-error @+1 {{'act.round_trip' op expects an id that is not negative, got -2}}
  %0 = act.round_trip %x levels(%l : tensor<f32>) seed(%s : tensor<ui32>) encoding(#act.group_quant<bits = 4, group = 64>) {id = -2 : i64} : tensor<8x64xf32>
  return
}

// -----

// round_trip: levels are a number, for all elements alike
func.func @f(%x: tensor<8x64xf32>, %l: tensor<8xf32>, %s: tensor<ui32>) {
  // expected-error @+1 {{'act.round_trip' op operand #1 must be 0D tensor of 32-bit float values, but got 'tensor<8xf32>'}}
  %0 = act.round_trip %x levels(%l : tensor<8xf32>) seed(%s : tensor<ui32>) encoding(#act.group_quant<bits = 4, group = 64>) : tensor<8x64xf32>
  return
}
