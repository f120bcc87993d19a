// What the conversion does not accept. What is not here does not fail.

// RUN: act-opt %s --convert-act-to-stablehlo --split-input-file --verify-diagnostics

!mask = !act.compressed<tensor<8xi1>, #act.mask>

// expected-error @+1 {{'func.func' op expects a signature without compressed values, got '!act.compressed<tensor<8xi1>, #act.mask>'}}
func.func @argument(%c: !mask) -> tensor<8xi1> {
  %0 = act.dequantize_load %c : !mask to tensor<8xi1>
  return %0 : tensor<8xi1>
}

// -----

!mask = !act.compressed<tensor<8xi1>, #act.mask>

// expected-error @+1 {{'func.func' op expects a signature without compressed values, got '!act.compressed<tensor<8xi1>, #act.mask>'}}
func.func private @declaration() -> !mask

// -----

!mask = !act.compressed<tensor<8xi1>, #act.mask>

func.func @block_argument(%m: tensor<8xi1>) -> tensor<8xi1> {
  %c = act.compressed_save %m : tensor<8xi1> to !mask
  %i = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op expects block arguments that are not compressed, got '!act.compressed<tensor<8xi1>, #act.mask>'}}
  %r = scf.for %k = %i to %i step %i iter_args(%d = %c) -> !mask {
    scf.yield %d : !mask
  }
  %0 = act.dequantize_load %r : !mask to tensor<8xi1>
  return %0 : tensor<8xi1>
}

// -----

!mask = !act.compressed<tensor<8xi1>, #act.mask>

func.func @other_operation(%m: tensor<8xi1>, %p: i1) -> tensor<8xi1> {
  %c = act.compressed_save %m : tensor<8xi1> to !mask
  // expected-error @+1 {{'arith.select' op expects operands and results that are not compressed, got '!act.compressed<tensor<8xi1>, #act.mask>'}}
  %d = arith.select %p, %c, %c : !mask
  %0 = act.dequantize_load %d : !mask to tensor<8xi1>
  return %0 : tensor<8xi1>
}

// -----

!mask = !act.compressed<tensor<8xi1>, #act.mask>

func.func @block_order(%m: tensor<8xi1>) -> tensor<8xi1> {
  cf.br ^first
^second:
  // expected-error @+1 {{'act.dequantize_load' op expects compressed operands that are defined further up}}
  %0 = act.dequantize_load %c : !mask to tensor<8xi1>
  return %0 : tensor<8xi1>
^first:
  %c = act.compressed_save %m : tensor<8xi1> to !mask
  cf.br ^second
}

// -----

func.func @empty_range(%x: tensor<8x64xf32>) -> tensor<2x64xf32> {
  // expected-error @+1 {{'act.empty_range' op expects to be replaced by a state of the step: run act-running-ranges, which running-ranges of act-compress and running_ranges of act.compress ask for}}
  %s = act.empty_range : tensor<2x64xf32>
  %n, %r = act.update_range %x, %s axis 1 decay 0.9 : tensor<8x64xf32>, tensor<2x64xf32>
  return %n : tensor<2x64xf32>
}
