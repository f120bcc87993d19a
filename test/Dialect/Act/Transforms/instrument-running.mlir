// RUN: act-opt %s --act-instrument --verify-diagnostics

// Levels change the codes of a range, not the range of a state.

func.func @step(%x: tensor<128x128xf32>, %r: tensor<2x128xf32>) {
  // expected-error @+1 {{'act.compressed_save' op expects a range of its own to be instrumented, got a running one}}
  %c = act.compressed_save %x range(%r : tensor<2x128xf32>) : tensor<128x128xf32>
      to !act.compressed<tensor<128x128xf32>, #act.axis_quant<bits = 4, axis = 1, range = running>>
  return
}
