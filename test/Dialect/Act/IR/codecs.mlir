// RUN: act-opt %s | FileCheck %s
// RUN: act-opt %s | act-opt | FileCheck %s
// RUN: act-opt %s --mlir-print-op-generic | act-opt | FileCheck %s
// RUN: act-opt %s --emit-bytecode | act-opt | FileCheck %s
// RUN: act-opt %s --verify-roundtrip | FileCheck %s
// RUN: mlir-opt %act_plugin %s --verify-roundtrip | FileCheck %s
// RUN: act-opt %s --canonicalize --cse | FileCheck %s --check-prefix=CSE

#g4 = #act.group_quant<bits = 4, group = 64>

// CHECK-LABEL: func.func @tensors(
// CHECK-SAME:    %[[Z:.*]]: tensor<8x64xf32>, %[[SALT:.*]]: tensor<ui32>)
func.func @tensors(%z: tensor<8x64xf32>, %salt: tensor<ui32>) -> tensor<8x64xf32> {
  %c0 = tensor.empty() : tensor<8x1x32xui8>
  %p0 = tensor.empty() : tensor<8x1x1xbf16>
  // CHECK: %[[C:.*]]:3 = act.encode ins(%[[Z]] : tensor<8x64xf32>) salt(%[[SALT]] : tensor<ui32>)
  // CHECK-SAME: outs(%{{.*}}, %{{.*}}, %{{.*}} : tensor<8x1x32xui8>, tensor<8x1x1xbf16>, tensor<8x1x1xbf16>) {encoding = #act.group_quant<bits = 4, group = 64>}
  %c:3 = act.encode ins(%z : tensor<8x64xf32>) salt(%salt : tensor<ui32>)
      outs(%c0, %p0, %p0 : tensor<8x1x32xui8>, tensor<8x1x1xbf16>, tensor<8x1x1xbf16>)
      {encoding = #g4}
  %z0 = tensor.empty() : tensor<8x64xf32>
  // CHECK: act.decode ins(%[[C]]#0, %[[C]]#1, %[[C]]#2 : tensor<8x1x32xui8>, tensor<8x1x1xbf16>, tensor<8x1x1xbf16>)
  // CHECK-SAME: outs(%{{.*}} : tensor<8x64xf32>) {encoding = #act.group_quant<bits = 4, group = 64>}
  %z1 = act.decode ins(%c#0, %c#1, %c#2 : tensor<8x1x32xui8>, tensor<8x1x1xbf16>, tensor<8x1x1xbf16>)
      outs(%z0 : tensor<8x64xf32>) {encoding = #g4}
  return %z1 : tensor<8x64xf32>
}

// Integers without signedness; encodings without a salt.
// CHECK-LABEL: func.func @signless(
func.func @signless(%m: tensor<3x20xi1>, %m0: tensor<3x3xi8>, %n: tensor<5xi32>,
    %n0: tensor<5xi8>, %x: tensor<7xf32>, %s: tensor<i32>,
    %q0: tensor<1x7xi8>, %p0: tensor<1x1xf32>) {
  // CHECK: act.encode ins(%{{.*}} : tensor<3x20xi1>) outs(%{{.*}} : tensor<3x3xi8>) {encoding = #act.mask}
  %a = act.encode ins(%m : tensor<3x20xi1>) outs(%m0 : tensor<3x3xi8>) {encoding = #act.mask}
  // CHECK: act.encode ins(%{{.*}} : tensor<5xi32>) outs(%{{.*}} : tensor<5xi8>) {encoding = #act.narrow<bits = 8>, name = "n"}
  %b = act.encode ins(%n : tensor<5xi32>) outs(%n0 : tensor<5xi8>) {encoding = #act.narrow<bits = 8>, name = "n"}
  // CHECK: act.encode ins(%{{.*}} : tensor<7xf32>) salt(%{{.*}} : tensor<i32>)
  %c:3 = act.encode ins(%x : tensor<7xf32>) salt(%s : tensor<i32>)
      outs(%q0, %p0, %p0 : tensor<1x7xi8>, tensor<1x1xf32>, tensor<1x1xf32>)
      {encoding = #act.group_quant<bits = 8, group = 64, params = f32>}
  return
}

// CHECK-LABEL: func.func @buffers(
// CSE-LABEL: func.func @buffers(
func.func @buffers(%x: memref<8x64xf32>, %c: memref<8x64xbf16>) {
  // CHECK: act.encode ins(%{{.*}} : memref<8x64xf32>) outs(%{{.*}} : memref<8x64xbf16>) {encoding = #act.float<type = bf16>}
  // CSE: act.encode
  act.encode ins(%x : memref<8x64xf32>) outs(%c : memref<8x64xbf16>) {encoding = #act.float<type = bf16>}
  // CHECK: act.decode ins(%{{.*}} : memref<8x64xbf16>) outs(%{{.*}} : memref<8x64xf32>) {encoding = #act.float<type = bf16>}
  // CSE: act.decode
  act.decode ins(%c : memref<8x64xbf16>) outs(%x : memref<8x64xf32>) {encoding = #act.float<type = bf16>}
  return
}

// What is not used goes, and what is computed twice is computed once.
// CSE-LABEL: func.func @pure(
// CSE:         %[[A:.*]] = act.encode
// CSE-NOT:     act.encode
// CSE:         return %[[A]], %[[A]]
func.func @pure(%m: tensor<16xi1>) -> (tensor<2xui8>, tensor<2xui8>) {
  %e = tensor.empty() : tensor<2xui8>
  %a = act.encode ins(%m : tensor<16xi1>) outs(%e : tensor<2xui8>) {encoding = #act.mask}
  %b = act.encode ins(%m : tensor<16xi1>) outs(%e : tensor<2xui8>) {encoding = #act.mask}
  %f = tensor.empty() : tensor<16xi1>
  %c = act.decode ins(%a : tensor<2xui8>) outs(%f : tensor<16xi1>) {encoding = #act.mask}
  return %a, %b : tensor<2xui8>, tensor<2xui8>
}
