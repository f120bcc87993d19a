// RUN: act-opt %s --act-split-products | FileCheck %s

#none = affine_map<(m, n) -> ()>
#all = affine_map<(m, n) -> (m, n)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// 16 blocks of 64 by 64 could have 8 slices each.
// CHECK-DAG: #[[$LHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>
// CHECK-DAG: #[[$RHS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[$OUT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[$FIRST:.*]] = affine_map<(d0, d1) -> (0, d0, d1)>
// CHECK-DAG: #[[$LAST:.*]] = affine_map<(d0, d1) -> (7, d0, d1)>

// CHECK-LABEL: func.func @gradient(
// CHECK-SAME: %[[A:.*]]: memref<4096x256xbf16>, %[[B:.*]]: memref<4096x256xbf16>, %[[C:.*]]: memref<256x256xbf16>
// CHECK: %[[PARTIAL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<8x256x256xf32>
// CHECK: %[[A8:.*]] = memref.expand_shape %[[A]] {{\[\[}}0, 1], [2]] output_shape [8, 512, 256]
// CHECK: %[[B8:.*]] = memref.expand_shape %[[B]]
// CHECK: act.kernel contraction [](%[[A8]], %[[B8]], %[[PARTIAL]] :
// CHECK: ^bb0(%[[X:.*]]: memref<8x512x256xbf16>, %[[Y:.*]]: memref<8x512x256xbf16>, %[[Z:.*]]: memref<8x256x256xf32>)
// CHECK: linalg.generic {{.*}} outs(%[[Z]]
// CHECK: linalg.generic {indexing_maps = [#[[$LHS]], #[[$RHS]], #[[$OUT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%[[X]], %[[Y]] : {{.*}}) outs(%[[Z]]
// CHECK: arith.extf
// CHECK: arith.extf
// CHECK: arith.mulf {{.*}} : f32
// CHECK: act.kernel elementwise [](%[[PARTIAL]], %[[C]] :
// CHECK: linalg.generic {indexing_maps = [#[[$FIRST]], {{.*}}#[[$LAST]], #{{.*}}], iterator_types = ["parallel", "parallel"]}
// CHECK-COUNT-7: arith.addf {{.*}} : f32
// CHECK-NOT: arith.addf
// CHECK: arith.truncf {{.*}} : f32 to bf16
func.func @gradient(%a0: memref<4096x256xbf16>, %b0: memref<4096x256xbf16>,
                    %c0: memref<256x256xbf16>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<4096x256xbf16>, memref<4096x256xbf16>, memref<256x256xbf16>) {
  ^bb0(%a: memref<4096x256xbf16>, %b: memref<4096x256xbf16>, %c: memref<256x256xbf16>):
    %zero = arith.constant 0.0 : bf16
    linalg.generic {indexing_maps = [#none, #all], iterator_types = ["parallel", "parallel"]}
        ins(%zero : bf16) outs(%c : memref<256x256xbf16>) {
    ^bb0(%x: bf16, %z: bf16):
      linalg.yield %x : bf16
    }
    linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<4096x256xbf16>, memref<4096x256xbf16>) outs(%c : memref<256x256xbf16>) {
    ^bb0(%x: bf16, %y: bf16, %z: bf16):
      %m = arith.mulf %x, %y : bf16
      %s = arith.addf %z, %m : bf16
      linalg.yield %s : bf16
    }
  }
  return
}

// What is there is added last; 1000 terms have no divisor of 8 slices of 128.
// CHECK-LABEL: func.func @adds(
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<5x64x64xf32>
// CHECK: act.kernel elementwise
// CHECK: ^bb0({{.*}}%[[BEFORE:[^,]*]]: f32):
// CHECK-COUNT-4: arith.addf
// CHECK: %[[SUM:.*]] = arith.addf %[[BEFORE]],
// CHECK: linalg.yield %[[SUM]]
func.func @adds(%a0: memref<1000x64xf32>, %b0: memref<1000x64xf32>, %c0: memref<64x64xf32>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<1000x64xf32>, memref<1000x64xf32>, memref<64x64xf32>) {
  ^bb0(%a: memref<1000x64xf32>, %b: memref<1000x64xf32>, %c: memref<64x64xf32>):
    linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<1000x64xf32>, memref<1000x64xf32>) outs(%c : memref<64x64xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %z, %m : f32
      linalg.yield %s : f32
    }
  }
  return
}

// Short sums, and products with work for many blocks, stay.
// CHECK-LABEL: func.func @short(
// CHECK-NOT: memref.alloc
// CHECK: act.kernel contraction [](%{{.*}} : memref<128x64xf32>,
// CHECK-NOT: act.kernel
func.func @short(%a0: memref<128x64xf32>, %b0: memref<128x64xf32>, %c0: memref<64x64xf32>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<128x64xf32>, memref<128x64xf32>, memref<64x64xf32>) {
  ^bb0(%a: memref<128x64xf32>, %b: memref<128x64xf32>, %c: memref<64x64xf32>):
    linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<128x64xf32>, memref<128x64xf32>) outs(%c : memref<64x64xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %z, %m : f32
      linalg.yield %s : f32
    }
  }
  return
}

// CHECK-LABEL: func.func @large(
// CHECK-NOT: memref.alloc
// CHECK: act.kernel contraction [](%{{.*}} : memref<512x2048xf32>,
// CHECK-NOT: act.kernel
func.func @large(%a0: memref<512x2048xf32>, %b0: memref<512x1024xf32>, %c0: memref<2048x1024xf32>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<512x2048xf32>, memref<512x1024xf32>, memref<2048x1024xf32>) {
  ^bb0(%a: memref<512x2048xf32>, %b: memref<512x1024xf32>, %c: memref<2048x1024xf32>):
    linalg.generic {indexing_maps = [#km, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<512x2048xf32>, memref<512x1024xf32>) outs(%c : memref<2048x1024xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %z, %m : f32
      linalg.yield %s : f32
    }
  }
  return
}
