// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-verify-partition{primal-results=2}))' -o /dev/null
// RUN: not act-opt %s --pass-pipeline='builtin.module(func.func(act-verify-partition))' -o /dev/null 2>&1 | FileCheck %s

// With one primal result %z is a result of backward's %y.
// CHECK: error: 'stablehlo.negate' op of backward reads a forward value

!t = tensor<128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>
func.func @step(%x: !t, %w: !t) -> (!t, !t, !t) {
  %z = "stablehlo.sine"(%x) : (!t) -> !t
  %c = act.compressed_save %z : !t to !c
  %l = "stablehlo.dot"(%z, %w) : (!t, !t) -> !t
  %m = "stablehlo.negate"(%z) : (!t) -> !t
  %z1 = act.dequantize_load %c : !c to !t
  %d = "stablehlo.multiply"(%z1, %m) : (!t, !t) -> !t
  return %l, %m, %d : !t, !t, !t
}
