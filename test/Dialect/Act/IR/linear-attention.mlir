// The operations on linear attention print and parse in all forms, on tensors
// and on buffers.

// RUN: act-opt %s | FileCheck %s
// RUN: act-opt %s --mlir-print-op-generic | act-opt | FileCheck %s
// RUN: act-opt %s --emit-bytecode | act-opt | FileCheck %s
// RUN: act-opt %s --verify-roundtrip | FileCheck %s
// RUN: mlir-opt %act_plugin %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func @plain
func.func @plain(%q: tensor<2x512x8x64xf32>, %k: tensor<2x512x8x64xf32>,
                 %v: tensor<2x512x8x32xf32>, %o: tensor<2x512x8x32xf32>,
                 %s: tensor<2x8x64x32xf32>)
    -> (tensor<2x512x8x32xf32>, tensor<2x8x64x32xf32>) {
  // CHECK: %[[R:.*]]:2 = act.linear_attention
  // CHECK-SAME: ins(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>, tensor<2x512x8x32xf32>)
  // CHECK-SAME: outs(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<2x512x8x32xf32>, tensor<2x8x64x32xf32>)
  // CHECK-SAME: {feature_map = #act.square}
  %r:2 = act.linear_attention
      ins(%q, %k, %v : tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>, tensor<2x512x8x32xf32>)
      outs(%o, %s : tensor<2x512x8x32xf32>, tensor<2x8x64x32xf32>)
      {feature_map = #act.square}
  // CHECK: return %[[R]]#0, %[[R]]#1
  return %r#0, %r#1 : tensor<2x512x8x32xf32>, tensor<2x8x64x32xf32>
}

// Grouped queries, random features, a decay for each channel, all attributes.
// CHECK-LABEL: func.func @everything
func.func @everything(%q: tensor<2x?x8x16xbf16>, %k: tensor<2x?x2x16xbf16>,
    %v: tensor<2x?x4x32xbf16>, %a: tensor<2x?x4x40xf32>, %w: tensor<40x16xbf16>,
    %o: tensor<2x?x8x32xbf16>, %d: tensor<2x?x8xf32>, %s: tensor<2x4x40x32xf32>,
    %z: tensor<2x4x40xf32>) -> tensor<2x?x8xf32> {
  // CHECK: act.linear_attention
  // CHECK-SAME: decay(%{{[a-z0-9]+}} : tensor<2x?x4x40xf32>)
  // CHECK-SAME: features(%{{[a-z0-9]+}} : tensor<40x16xbf16>)
  // CHECK-SAME: {chunk = 32 : i64, epsilon = 9.9999999999999995E-7 : f64, feature_map = #act.favor_plus, normalize, scale = 5.000000e-01 : f64}
  %r:4 = act.linear_attention
      ins(%q, %k, %v : tensor<2x?x8x16xbf16>, tensor<2x?x2x16xbf16>, tensor<2x?x4x32xbf16>)
      decay(%a : tensor<2x?x4x40xf32>) features(%w : tensor<40x16xbf16>)
      outs(%o, %d, %s, %z : tensor<2x?x8x32xbf16>, tensor<2x?x8xf32>, tensor<2x4x40x32xf32>, tensor<2x4x40xf32>)
      {chunk = 32 : i64, epsilon = 1.0e-6 : f64, feature_map = #act.favor_plus, normalize, scale = 0.5 : f64}
  return %r#1 : tensor<2x?x8xf32>
}

// CHECK-LABEL: func.func @grad
func.func @grad(%q: tensor<1x7x2x4xf64>, %k: tensor<1x7x2x4xf64>,
    %v: tensor<1x7x2x3xf64>, %a: tensor<2xf64>, %o: tensor<1x7x2x3xf64>,
    %d: tensor<1x7x2xf64>, %do: tensor<1x7x2x3xf64>, %s: tensor<1x2x4x3xf64>,
    %z: tensor<1x2x4xf64>, %ds: tensor<1x2x4x3xf64>, %dz: tensor<1x2x4xf64>)
    -> tensor<2xf64> {
  // CHECK: act.linear_attention_grad ins(
  // CHECK-SAME: decay(%{{[a-z0-9]+}} : tensor<2xf64>)
  // CHECK-SAME: output(%{{[a-z0-9]+}} : tensor<1x7x2x3xf64>)
  // CHECK-SAME: denominator(%{{[a-z0-9]+}} : tensor<1x7x2xf64>)
  // CHECK-SAME: gradient(%{{[a-z0-9]+}} : tensor<1x7x2x3xf64>)
  // CHECK-SAME: states(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<1x2x4x3xf64>, tensor<1x2x4xf64>)
  // CHECK-SAME: outs(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %{{[a-z0-9]+}} :
  // CHECK-SAME: {feature_map = #act.elu_plus_one, normalize, state_policy = #act.checkpoint<segment = 4>}
  %r:6 = act.linear_attention_grad
      ins(%q, %k, %v : tensor<1x7x2x4xf64>, tensor<1x7x2x4xf64>, tensor<1x7x2x3xf64>)
      decay(%a : tensor<2xf64>)
      output(%o : tensor<1x7x2x3xf64>) denominator(%d : tensor<1x7x2xf64>)
      gradient(%do : tensor<1x7x2x3xf64>)
      states(%s, %z : tensor<1x2x4x3xf64>, tensor<1x2x4xf64>)
      outs(%q, %k, %v, %a, %ds, %dz : tensor<1x7x2x4xf64>, tensor<1x7x2x4xf64>,
           tensor<1x7x2x3xf64>, tensor<2xf64>, tensor<1x2x4x3xf64>, tensor<1x2x4xf64>)
      {feature_map = #act.elu_plus_one, normalize, state_policy = #act.checkpoint<segment = 4>}
  return %r#3 : tensor<2xf64>
}

// The default policy is not printed.
// CHECK-LABEL: func.func @grad_plain
func.func @grad_plain(%q: tensor<1x7x2x4xf32>, %k: tensor<1x7x2x4xf32>,
    %v: tensor<1x7x2x3xf32>, %do: tensor<1x7x2x3xf32>, %s: tensor<1x2x4x3xf32>)
    -> tensor<1x2x4x3xf32> {
  // CHECK: act.linear_attention_grad ins(
  // CHECK-SAME: {feature_map = #act.identity}
  %r:4 = act.linear_attention_grad
      ins(%q, %k, %v : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x7x2x3xf32>)
      gradient(%do : tensor<1x7x2x3xf32>) states(%s : tensor<1x2x4x3xf32>)
      outs(%q, %k, %v, %s : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>,
           tensor<1x7x2x3xf32>, tensor<1x2x4x3xf32>)
      {feature_map = #act.identity, state_policy = #act.rescan}
  // CHECK: act.linear_attention_grad ins(
  // CHECK-SAME: {feature_map = #act.identity, state_policy = #act.reverse}
  %p:4 = act.linear_attention_grad
      ins(%q, %k, %v : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>, tensor<1x7x2x3xf32>)
      gradient(%do : tensor<1x7x2x3xf32>) states(%s : tensor<1x2x4x3xf32>)
      outs(%q, %k, %v, %r#3 : tensor<1x7x2x4xf32>, tensor<1x7x2x4xf32>,
           tensor<1x7x2x3xf32>, tensor<1x2x4x3xf32>)
      {feature_map = #act.identity, state_policy = #act.reverse}
  return %p#3 : tensor<1x2x4x3xf32>
}

// CHECK-LABEL: func.func @state
func.func @state(%k: tensor<1x7x2x4xf16>, %v: tensor<1x7x2x3xf16>,
    %s: tensor<1x2x4x3xf32>, %z: tensor<1x2x4xf32>) -> tensor<1x2x4xf32> {
  // CHECK: act.linear_attention_state ins(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<1x7x2x4xf16>, tensor<1x7x2x3xf16>)
  // CHECK-SAME: outs(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : tensor<1x2x4x3xf32>, tensor<1x2x4xf32>)
  // CHECK-SAME: {feature_map = #act.relu, normalize, subtract}
  %r:2 = act.linear_attention_state
      ins(%k, %v : tensor<1x7x2x4xf16>, tensor<1x7x2x3xf16>)
      outs(%s, %z : tensor<1x2x4x3xf32>, tensor<1x2x4xf32>)
      {feature_map = #act.relu, normalize, subtract}
  return %r#1 : tensor<1x2x4xf32>
}

// CHECK-LABEL: func.func @buffers
func.func @buffers(%q: memref<1x7x2x4xf32>, %k: memref<1x7x2x4xf32, strided<[?, ?, ?, 1], offset: ?>>,
    %v: memref<1x7x2x3xf32>, %o: memref<1x7x2x3xf32>, %s: memref<1x2x4x3xf32>) {
  // CHECK-NOT: = act.linear_attention
  // CHECK: act.linear_attention ins(
  // CHECK-SAME: outs(%{{[a-z0-9]+}}, %{{[a-z0-9]+}} : memref<1x7x2x3xf32>, memref<1x2x4x3xf32>) {feature_map = #act.exp}
  act.linear_attention
      ins(%q, %k, %v : memref<1x7x2x4xf32>, memref<1x7x2x4xf32, strided<[?, ?, ?, 1], offset: ?>>, memref<1x7x2x3xf32>)
      outs(%o, %s : memref<1x7x2x3xf32>, memref<1x2x4x3xf32>)
      {feature_map = #act.exp}
  return
}
