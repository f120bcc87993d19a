// RUN: act-opt %s --convert-stablehlo-to-linalg --split-input-file --verify-diagnostics

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{'stablehlo.tanh' op expects ranked tensors of static shape with elements that are integers or floats, got 'tensor<?xf32>' as operand #0}}
  %0 = "stablehlo.tanh"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @complex(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.complex' op has no native lowering yet}}
  %0 = "stablehlo.complex"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @complex_argument(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{got 'tensor<4xcomplex<f32>>' as operand #0}}
  %0 = "stablehlo.negate"(%x) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return
}

// -----

func.func @operand_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.add' op expects 2 operands, got 1}}
  %0 = "stablehlo.add"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @result_count(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.abs' op expects one result, got 2}}
  %0:2 = "stablehlo.abs"(%x) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @shapes(%x: tensor<4xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.add' op expects operands of the shape of the result, 'tensor<4xf32>', got 'tensor<3xf32>' as operand #1}}
  %0 = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @types(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{'stablehlo.add' op expects operands of one element type, got 'f32' and 'i32'}}
  %0 = "stablehlo.add"(%x, %y) : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32>
  return
}

// -----

func.func @result_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.is_finite' op expects a result with elements of 'i1', got 'f32'}}
  %0 = "stablehlo.is_finite"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @floats(%x: tensor<4xi32>) {
  // expected-error @+1 {{'stablehlo.tanh' op expects elements that are floats, got 'i32'}}
  %0 = "stablehlo.tanh"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return
}

// -----

func.func @integers(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.not' op expects elements that are integers, got 'f32'}}
  %0 = "stablehlo.not"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @predicate(%p: tensor<4xi32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.select' op expects a predicate of i1, got 'tensor<4xi32>'}}
  %0 = "stablehlo.select"(%p, %x, %x) : (tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @direction(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.compare' op expects EQ, NE, GE, GT, LE or LT as 'comparison_direction', got #stablehlo<comparison_direction UP>}}
  %0 = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_direction UP>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  return
}

// -----

func.func @precision(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op expects an integer in [0, 64) as 'mantissa_bits', got -1 : i32}}
  %0 = "stablehlo.reduce_precision"(%x) <{exponent_bits = 5 : i32, mantissa_bits = -1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @exponent(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op expects at least one bit as 'exponent_bits'}}
  %0 = "stablehlo.reduce_precision"(%x) <{exponent_bits = 0 : i32, mantissa_bits = 1 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @bitcast(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.bitcast_convert' op expects 'tensor<4x2xi16>' as the tensor of narrower elements, got 'tensor<4xi16>'}}
  %0 = "stablehlo.bitcast_convert"(%x) : (tensor<4xf32>) -> tensor<4xi16>
  return
}

// -----

func.func @bits(%x: tensor<4x8xi1>) {
  // expected-error @+1 {{'stablehlo.bitcast_convert' op expects element types of whole bytes, got 'tensor<4x8xi1>' and 'tensor<4xi8>'}}
  %0 = "stablehlo.bitcast_convert"(%x) : (tensor<4x8xi1>) -> tensor<4xi8>
  return
}
