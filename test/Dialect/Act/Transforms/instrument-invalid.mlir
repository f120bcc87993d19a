// RUN: act-opt %s --act-instrument --verify-diagnostics

!q = !act.compressed<tensor<128x128xf32>, #act.group_quant<bits = 4, group = 64>>

// Which function gets the levels would be a guess.

func.func @first(%x: tensor<128x128xf32>) {
  %c = act.compressed_save %x : tensor<128x128xf32> to !q
  return
}

func.func @second(%x: tensor<128x128xf32>) {
  // expected-error @+1 {{'act.compressed_save' op expects all lossy saves in one function, got some in @first and @second; act-inline joins them}}
  %c = act.compressed_save %x : tensor<128x128xf32> to !q
  return
}
