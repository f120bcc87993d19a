// RUN: act-opt %s --split-input-file --verify-diagnostics --test-emit-codecs=local=true

// The elements of a unit have to lie together where only these are in memory.
func.func @scattered(%x: memref<4x6x10xf32>, %c: memref<4x6x10xi8>, %m: memref<1x6x1xf32>) {
  // expected-remark @+2 {{6 units of 40 scattered elements}}
  // expected-error @+1 {{'act.encode' op expects units that are contiguous where the tensor is not in memory}}
  act.encode ins(%x : memref<4x6x10xf32>) outs(%c, %m, %m : memref<4x6x10xi8>, memref<1x6x1xf32>, memref<1x6x1xf32>) {encoding = #act.axis_quant<bits = 8, axis = 1, rounding = nearest>}
  return
}
