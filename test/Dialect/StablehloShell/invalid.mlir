// RUN: act-opt %s --split-input-file --verify-diagnostics

// Pretty StableHLO.

func.func @constant() -> tensor<4xf32> {
  // expected-error @below {{custom op 'stablehlo.constant' expects StableHLO in generic form; print it with `module.operation.get_asm(print_generic_op_form=True, enable_debug_info=True)` in Python or with `stablehlo-opt --mlir-print-op-generic`}}
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @binary(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{custom op 'stablehlo.add' expects StableHLO in generic form}}
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @region(%x: tensor<4xf32>, %y: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{custom op 'stablehlo.reduce' expects StableHLO in generic form}}
  %0 = stablehlo.reduce(%x init: %y) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{custom op 'stablehlo.future' expects StableHLO in generic form}}
  %0 = stablehlo.future %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @chlo(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{custom op 'chlo.erf' expects StableHLO in generic form}}
  %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @below {{custom op 'sdy.mesh' expects StableHLO in generic form}}
sdy.mesh @mesh = <["a"=2]>

// -----

// Inherent attributes.

func.func @properties(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a dictionary of inherent attributes of 'stablehlo.abs', got 3 : i32}}
  %0 = "stablehlo.abs"(%x) <3 : i32> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Terminators.

func.func @terminator(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{must be the last operation in the parent block}}
  "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  return %x : tensor<4xf32>
}
