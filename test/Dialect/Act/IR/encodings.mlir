// Encodings and the compressed type survive every form of printing, and print
// parameters that have their default value not at all.

// RUN: act-opt %s | FileCheck %s
// RUN: act-opt %s | act-opt | FileCheck %s
// RUN: act-opt %s --mlir-print-op-generic | act-opt | FileCheck %s
// RUN: act-opt %s --emit-bytecode | act-opt | FileCheck %s
// RUN: act-opt %s --verify-roundtrip | FileCheck %s
// RUN: mlir-opt %act_plugin %s --verify-roundtrip | FileCheck %s

// CHECK-LABEL: func.func private @raw(
// CHECK-SAME: !act.compressed<tensor<8x64xf32>, #act.raw>
// CHECK-SAME: !act.compressed<tensor<f32>, #act.raw>
// CHECK-SAME: !act.compressed<tensor<0x4xi8>, #act.raw>
// CHECK-SAME: !act.compressed<tensor<?x4xcomplex<f32>>, #act.raw>
// CHECK-SAME: !act.compressed<tensor<4xf32, "sharded">, #act.raw>
func.func private @raw(
    !act.compressed<tensor<8x64xf32>, #act.raw>,
    !act.compressed<tensor<f32>, #act.raw>,
    !act.compressed<tensor<0x4xi8>, #act.raw>,
    !act.compressed<tensor<?x4xcomplex<f32>>, #act.raw>,
    !act.compressed<tensor<4xf32, "sharded">, #act.raw>)

// CHECK-LABEL: func.func private @group_quant_defaults(
// CHECK-SAME: #act.group_quant<bits = 4, group = 64>>,
// CHECK-SAME: #act.group_quant<bits = 4, group = 64>>)
func.func private @group_quant_defaults(
    !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>,
    !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64,
        axis = -1, merge = 1, rounding = stochastic, params = bf16>>)

// CHECK-LABEL: func.func private @group_quant(
// CHECK-SAME: tensor<8x64xf16>, #act.group_quant<bits = 1, group = 2>>
// CHECK-SAME: tensor<8x64xbf16>, #act.group_quant<bits = 2, group = 3, rounding = nearest>>
// CHECK-SAME: tensor<8x64xf64>, #act.group_quant<bits = 8, group = 1000, params = f32>>
// CHECK-SAME: tensor<8x5x3xf32>, #act.group_quant<bits = 4, group = 8, merge = 2>>
// CHECK-SAME: tensor<8x5x3xf32>, #act.group_quant<bits = 4, group = 8, merge = 3, rounding = nearest, params = f32>>
// CHECK-SAME: tensor<8x5x3xf32>, #act.group_quant<bits = 4, group = 4, axis = 0>>
// CHECK-SAME: tensor<8x5x3xf32>, #act.group_quant<bits = 4, group = 4, axis = 2>>
// Parameters may come in any order.
// CHECK-SAME: tensor<8x5x3xf32>, #act.group_quant<bits = 4, group = 4, axis = 1>>
func.func private @group_quant(
    !act.compressed<tensor<8x64xf16>, #act.group_quant<bits = 1, group = 2>>,
    !act.compressed<tensor<8x64xbf16>, #act.group_quant<bits = 2, group = 3, rounding = nearest>>,
    !act.compressed<tensor<8x64xf64>, #act.group_quant<bits = 8, group = 1000, params = f32>>,
    !act.compressed<tensor<8x5x3xf32>, #act.group_quant<bits = 4, group = 8, merge = 2>>,
    !act.compressed<tensor<8x5x3xf32>, #act.group_quant<bits = 4, group = 8, merge = 3, rounding = nearest, params = f32>>,
    !act.compressed<tensor<8x5x3xf32>, #act.group_quant<bits = 4, group = 4, axis = 0>>,
    !act.compressed<tensor<8x5x3xf32>, #act.group_quant<bits = 4, group = 4, axis = 2>>,
    !act.compressed<tensor<8x5x3xf32>, #act.group_quant<axis = 1, group = 4, bits = 4>>)

// CHECK-LABEL: func.func private @axis_quant(
// CHECK-SAME: #act.axis_quant<bits = 4, axis = 1>>
// CHECK-SAME: #act.axis_quant<bits = 4, axis = 1>>
// CHECK-SAME: #act.axis_quant<bits = 8, axis = 0, rounding = nearest>>
// CHECK-SAME: #act.axis_quant<bits = 2, axis = 2>>
// CHECK-SAME: #act.axis_quant<bits = 8, axis = 2, range = running>>
func.func private @axis_quant(
    !act.compressed<tensor<8x5x3xf32>, #act.axis_quant<bits = 4, axis = 1>>,
    !act.compressed<tensor<8x5x3xf32>, #act.axis_quant<bits = 4, axis = 1,
        rounding = stochastic, range = batch>>,
    !act.compressed<tensor<8x5x3xf32>, #act.axis_quant<bits = 8, axis = 0, rounding = nearest>>,
    !act.compressed<tensor<8x5x3xf32>, #act.axis_quant<bits = 2, axis = 2>>,
    !act.compressed<tensor<8x5x3xf32>, #act.axis_quant<bits = 8, axis = 2, range = running>>)

// CHECK-LABEL: func.func private @float(
// CHECK-SAME: #act.float<type = bf16>>
// CHECK-SAME: #act.float<type = bf16>>
// CHECK-SAME: #act.float<type = f16, group = 2>>
// CHECK-SAME: #act.float<type = f8E4M3FN, group = 64>>
// CHECK-SAME: tensor<8x64xbf16>, #act.float<type = f8E5M2>>
func.func private @float(
    !act.compressed<tensor<8x64xf32>, #act.float<type = bf16>>,
    !act.compressed<tensor<8x64xf32>, #act.float<type = bf16, group = 0>>,
    !act.compressed<tensor<8x64xf64>, #act.float<type = f16, group = 2>>,
    !act.compressed<tensor<8x64xf32>, #act.float<type = f8E4M3FN, group = 64>>,
    !act.compressed<tensor<8x64xbf16>, #act.float<type = f8E5M2>>)

// CHECK-LABEL: func.func private @mask(
// CHECK-SAME: #act.mask>
// CHECK-SAME: #act.mask>
// CHECK-SAME: #act.mask<merge = 2>>
// CHECK-SAME: #act.mask<group = 64>>
func.func private @mask(
    !act.compressed<tensor<8x3xi1>, #act.mask>,
    !act.compressed<tensor<8x3xi1>, #act.mask<merge = 1>>,
    !act.compressed<tensor<8x3xi1>, #act.mask<merge = 2>>,
    !act.compressed<tensor<8x96xi1>, #act.mask<group = 64>>)

// CHECK-LABEL: func.func private @narrow(
// CHECK-SAME: tensor<8x3xi32>, #act.narrow<bits = 16>>
// CHECK-SAME: tensor<8x3xui32>, #act.narrow<bits = 8>>
// CHECK-SAME: tensor<8x3xi8>, #act.narrow<bits = 4, merge = 2>>
// CHECK-SAME: tensor<8x3xi64>, #act.narrow<bits = 2>>
// CHECK-SAME: tensor<8x3xi2>, #act.narrow<bits = 1>>
// CHECK-SAME: tensor<8x3xi8>, #act.narrow<bits = 4, merge = 2, group = 8>>
func.func private @narrow(
    !act.compressed<tensor<8x3xi32>, #act.narrow<bits = 16>>,
    !act.compressed<tensor<8x3xui32>, #act.narrow<bits = 8, merge = 1>>,
    !act.compressed<tensor<8x3xi8>, #act.narrow<bits = 4, merge = 2>>,
    !act.compressed<tensor<8x3xi64>, #act.narrow<bits = 2>>,
    !act.compressed<tensor<8x3xi2>, #act.narrow<bits = 1>>,
    !act.compressed<tensor<8x3xi8>, #act.narrow<bits = 4, merge = 2, group = 8>>)
