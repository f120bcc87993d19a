// RUN: act-opt %s --split-input-file --act-choose-encodings | FileCheck %s --check-prefixes=CHECK,BITS4
// RUN: act-opt %s --split-input-file --act-choose-encodings=bits=8 | FileCheck %s --check-prefixes=CHECK,BITS8
// RUN: act-opt %s --split-input-file --act-choose-encodings=bits=0 | FileCheck %s --check-prefixes=CHECK,BITS0
// RUN: act-opt %s --split-input-file --act-choose-encodings \
// RUN:   --remarks-filter='act.*' --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!t = tensor<128x128xf32>
!c = !act.compressed<tensor<128x128xf32>, #act.raw>

// An activation gets groups of 64 along the last axis, 256 at 8 bits. The type is
// carried through barriers to the load.

// REMARK: choose-encodings.mlir:[[@LINE+13]]{{.*}}: remark: [Passed] Encoding | Category:act | Remark="stored as ", Remark="#act.group_quant<bits = 4, group = 64>", Remark=", saves ", Remark=56320, Remark=" of ", Remark=65536, Remark=" bytes"
// CHECK-LABEL: func.func @activation(
// BITS4:         act.compressed_save %{{.*}} to <tensor<128x128xf32>, #[[E:act.group_quant<bits = 4, group = 64>]]>
// BITS4-NEXT:    act.barrier {{.*}} : tensor<128x128xf32>, !act.compressed<tensor<128x128xf32>, #[[E]]>
// BITS4-NEXT:    act.barrier {{.*}} : !act.compressed<tensor<128x128xf32>, #[[E]]>, tensor<128x128xf32>
// BITS4-NEXT:    act.dequantize_load {{.*}} : <tensor<128x128xf32>, #[[E]]> to tensor<128x128xf32>
// BITS4-NEXT:    act.dequantize_load {{.*}} : <tensor<128x128xf32>, #[[E]]> to tensor<128x128xf32>
// BITS8:         act.compressed_save %{{.*}} to <tensor<128x128xf32>, #[[E:act.group_quant<bits = 8, group = 256, merge = 2>]]>
// BITS8-NEXT:    act.barrier {{.*}} : tensor<128x128xf32>, !act.compressed<tensor<128x128xf32>, #[[E]]>
// BITS8-NEXT:    act.barrier {{.*}} : !act.compressed<tensor<128x128xf32>, #[[E]]>, tensor<128x128xf32>
// BITS8-NEXT:    act.dequantize_load {{.*}} : <tensor<128x128xf32>, #[[E]]> to tensor<128x128xf32>
// BITS0-COUNT-5: #act.raw
func.func @activation(%x: !t, %g: !t) -> (!t, !t, !t) {
  %c = act.compressed_save %x : !t to !c
  %x1, %c1 = act.barrier %x, %c : !t, !c
  %c2, %g1 = act.barrier %c1, %g : !c, !t
  %l = act.dequantize_load %c2 : !c to !t
  %m = act.dequantize_load %c1 : !c to !t
  return %l, %m, %g1 : !t, !t, !t
}

// Exponentials less a maximum share a range: groups of 256 lose little. Those of
// anything else do not.

// CHECK-LABEL: func.func @exponential(
// BITS4:         act.compressed_save %{{.*}} to <tensor<128x128xf32>, #act.group_quant<bits = 4, group = 256, merge = 2>>
// BITS4:         act.compressed_save %{{.*}} to <tensor<128x128xf32>, #act.group_quant<bits = 4, group = 64>>
func.func @exponential(%x: !t) -> (!t, !t) {
  %low = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
  %max = "stablehlo.reduce"(%x, %low) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = "stablehlo.maximum"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%m) : (tensor<f32>) -> ()
  }) : (!t, tensor<f32>) -> tensor<128xf32>
  %rows = "stablehlo.broadcast_in_dim"(%max) <{broadcast_dimensions = array<i64: 0>}> : (tensor<128xf32>) -> !t
  %less = "stablehlo.subtract"(%x, %rows) : (!t, !t) -> !t
  %e = "stablehlo.exponential"(%less) : (!t) -> !t
  %c = act.compressed_save %e : !t to !c
  %l = act.dequantize_load %c : !c to !t
  %e1 = "stablehlo.exponential"(%x) : (!t) -> !t
  %c1 = act.compressed_save %e1 : !t to !c
  %l1 = act.dequantize_load %c1 : !c to !t
  return %l, %l1 : !t, !t
}

// Groups divide the axis if they can; short axes are merged.

// CHECK-LABEL: func.func @shapes(
// BITS4:         act.compressed_save %{{.*}} to <tensor<256x96xbf16>, #act.group_quant<bits = 4, group = 48>>
// BITS4-NEXT:    act.compressed_save %{{.*}} to <tensor<4x64x8x8xf32>, #act.group_quant<bits = 4, group = 64, merge = 2>>
// BITS4-NEXT:    act.compressed_save %{{.*}} to <tensor<65x257xf32>, #act.group_quant<bits = 4, group = 64>>
func.func @shapes(%a: tensor<256x96xbf16>, %b: tensor<4x64x8x8xf32>, %c: tensor<65x257xf32>) {
  %0 = act.compressed_save %a : tensor<256x96xbf16> to !act.compressed<tensor<256x96xbf16>, #act.raw>
  %1 = act.compressed_save %b : tensor<4x64x8x8xf32> to !act.compressed<tensor<4x64x8x8xf32>, #act.raw>
  %2 = act.compressed_save %c : tensor<65x257xf32> to !act.compressed<tensor<65x257xf32>, #act.raw>
  return
}

// Exact values get a lossless encoding: one bit per predicate, as few bits as a
// bounded integer needs, else raw.

// REMARK: remark: [Passed] Encoding | Category:act | Remark="stored as ", Remark=#act.mask,
// REMARK: remark: [Missed] Encoding | Category:act | Remark="stored raw, ", Remark=statistic, Remark=", ", Remark=65536, Remark=" bytes"
// CHECK-LABEL: func.func @exact(
// CHECK:         act.compressed_save %{{.*}} exact <predicate> {{.*}}, #act.mask>
// CHECK-NEXT:    act.compressed_save %{{.*}} exact <predicate> {{.*}}, #act.mask<merge = 2>>
// CHECK-NEXT:    act.compressed_save %{{.*}} exact <integer> {{.*}}, #act.narrow<bits = 4>>
// CHECK-NEXT:    act.compressed_save %{{.*}} exact <integer> {{.*}}, #act.narrow<bits = 16>>
// CHECK-NEXT:    act.compressed_save %{{.*}} exact <integer> {{.*}}, #act.raw>
// CHECK-NEXT:    act.compressed_save %{{.*}} exact <statistic> {{.*}}, #act.raw>
// CHECK-NEXT:    act.compressed_save %{{.*}} exact <small> {{.*}}, #act.raw>
func.func @exact(%p: tensor<128x128xi1>, %q: tensor<4x64x8x8xi1>, %i: tensor<128x128xi32>, %x: !t, %s: tensor<8xf32>) {
  %k = "stablehlo.constant"() <{value = dense<15> : tensor<128x128xi32>}> : () -> tensor<128x128xi32>
  %m = "stablehlo.constant"() <{value = dense<1000> : tensor<128x128xi32>}> : () -> tensor<128x128xi32>
  %f = "stablehlo.and"(%i, %k) : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi32>
  %t = "stablehlo.and"(%i, %m) : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi32>
  %0 = act.compressed_save %p exact <predicate> : tensor<128x128xi1> to !act.compressed<tensor<128x128xi1>, #act.raw>
  %1 = act.compressed_save %q exact <predicate> : tensor<4x64x8x8xi1> to !act.compressed<tensor<4x64x8x8xi1>, #act.raw>
  %2 = act.compressed_save %f exact <integer> : tensor<128x128xi32> to !act.compressed<tensor<128x128xi32>, #act.raw>
  %3 = act.compressed_save %t exact <integer> : tensor<128x128xi32> to !act.compressed<tensor<128x128xi32>, #act.raw>
  %4 = act.compressed_save %i exact <integer> : tensor<128x128xi32> to !act.compressed<tensor<128x128xi32>, #act.raw>
  %5 = act.compressed_save %x exact <statistic> : !t to !c
  %6 = act.compressed_save %s exact <small> : tensor<8xf32> to !act.compressed<tensor<8xf32>, #act.raw>
  return
}

// An encoding that is there already stays.

// CHECK-LABEL: func.func @chosen(
// CHECK:         act.compressed_save %{{.*}} to <tensor<128x128xf32>, #act.float<type = bf16>>
func.func @chosen(%x: !t) {
  %c = act.compressed_save %x : !t to !act.compressed<!t, #act.float<type = bf16>>
  return
}

// -----

// On several devices no axes are merged: one of them may be sharded.

// CHECK-LABEL: module attributes {mhlo.num_partitions = 8 : i32}
// BITS4:         act.compressed_save %{{.*}} to <tensor<1024x16xf32>, #act.group_quant<bits = 4, group = 64>>
// CHECK:         act.compressed_save %{{.*}} exact <predicate> : tensor<4x64x8x8xi1> to <tensor<4x64x8x8xi1>, #act.mask>
module attributes {mhlo.num_partitions = 8 : i32} {
  func.func @sharded(%x: tensor<1024x16xf32>, %q: tensor<4x64x8x8xi1>) {
    %0 = act.compressed_save %x : tensor<1024x16xf32> to !act.compressed<tensor<1024x16xf32>, #act.raw>
    %1 = act.compressed_save %q exact <predicate> : tensor<4x64x8x8xi1> to !act.compressed<tensor<4x64x8x8xi1>, #act.raw>
    return
  }
}
