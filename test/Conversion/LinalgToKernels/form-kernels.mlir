// RUN: act-opt %s --act-form-kernels --split-input-file | FileCheck %s
// RUN: act-opt %s --act-form-kernels=private-bytes=0 --split-input-file | FileCheck %s --check-prefix=SHARED

#id = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>

// The sum of a row and the quotient by it are one kernel, and the sum exists only
// for the row at hand. So is the fill between them.
// CHECK-LABEL: func.func @softmax
// CHECK-NOT: memref.alloc
// CHECK: act.kernel row_program [128](%{{.*}}, %{{.*}} : memref<128x64xf32>, memref<128x64xf32>) {
// CHECK: memref.alloc() : memref<128xf32>
// CHECK-COUNT-3: linalg.generic
// CHECK-NOT: act.kernel
// SHARED-LABEL: func.func @softmax
// SHARED: memref.alloc() : memref<128xf32>
// SHARED: act.kernel row_program [128](
// SHARED-NOT: memref.alloc
// SHARED: return
func.func @softmax(%in: memref<128x64xf32>, %out: memref<128x64xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<128xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<128xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%in : memref<128x64xf32>) outs(%sum : memref<128xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  }
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%in, %sum : memref<128x64xf32>, memref<128xf32>) outs(%out : memref<128x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = arith.divf %a, %b : f32
    linalg.yield %d : f32
  }
  return
}

// -----

#id = affine_map<(r, c) -> (r, c)>
#column = affine_map<(r, c) -> (c)>

// Sums of columns need all rows: a kernel of their own.
// CHECK-LABEL: func.func @columns
// CHECK: act.kernel elementwise [](
// CHECK: act.kernel reduction [](
func.func @columns(%in: memref<128x64xf32>, %out: memref<128x64xf32>, %sum: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%in : memref<128x64xf32>) outs(%out : memref<128x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = math.exp %a : f32
    linalg.yield %c : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["parallel", "reduction"]}
      ins(%out : memref<128x64xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  }
  return
}

// -----

#id = affine_map<(r, c) -> (r, c)>
#turned = affine_map<(r, c) -> (c, r)>

// What one row writes another one reads: two kernels.
// CHECK-LABEL: func.func @turned
// CHECK-COUNT-2: act.kernel elementwise [](
// CHECK-NOT: row_program
func.func @turned(%in: memref<64x64xf32>, %tmp: memref<64x64xf32>, %out: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%in : memref<64x64xf32>) outs(%tmp : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = math.exp %a : f32
    linalg.yield %c : f32
  }
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%tmp : memref<64x64xf32>) outs(%out : memref<64x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = math.exp %a : f32
    linalg.yield %c : f32
  }
  return
}

// -----

#id = affine_map<(r, c) -> (r, c)>

// The third operation joins the first one across the second, which reads something
// else; not across one that writes what it reads.
// CHECK-LABEL: func.func @across
// CHECK-SAME: (%[[A:.*]]: memref<64x64xf32>, %[[B:.*]]: memref<64x64xf32>, %[[C:.*]]: memref<64x64xf32>, %[[D:.*]]: memref<32x4xf32>
// CHECK: act.kernel row_program [64](%[[A]], %[[B]], %[[C]] :
// CHECK: act.kernel elementwise [](%[[D]] :
// CHECK: act.kernel elementwise [](%[[C]] :
func.func @across(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>, %d: memref<32x4xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<64x64xf32>) outs(%b : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = math.exp %x : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%d : memref<32x4xf32>) outs(%d : memref<32x4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = math.exp %x : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : memref<64x64xf32>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = math.exp %x : f32
    linalg.yield %z : f32
  }
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (c, r)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : memref<64x64xf32>) outs(%c : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32):
    %z = math.exp %x : f32
    linalg.yield %z : f32
  }
  return
}

// -----

// A mean over 2^20 numbers: 64 slabs, then their sums.
// CHECK-LABEL: func.func @slabs
// CHECK: %[[P:.*]] = memref.alloc() {{.*}}: memref<64xf32>
// CHECK: %[[X:.*]] = memref.expand_shape {{.*}} output_shape [64, 16384]
// CHECK: act.kernel reduction [64](
// CHECK: act.kernel reduction [](
// CHECK-NOT: act.kernel
func.func @slabs(%in: memref<1048576xf32>, %sum: memref<f32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<f32>)
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                  iterator_types = ["reduction"]}
      ins(%in : memref<1048576xf32>) outs(%sum : memref<f32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    linalg.yield %c : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @product
// CHECK: act.kernel contraction [](
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK-NOT: act.kernel
func.func @product(%a: memref<64x32xf32>, %b: memref<32x16xf32>, %c: memref<64x16xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<64x16xf32>)
  linalg.matmul ins(%a, %b : memref<64x32xf32>, memref<32x16xf32>) outs(%c : memref<64x16xf32>)
  return
}

// -----

// Arguments and what is returned twice are copied.
// CHECK-LABEL: func.func @results
// CHECK-SAME: (%[[X:.*]]: memref<8xf32>)
// CHECK: %[[A:.*]] = memref.alloc
// CHECK: act.kernel elementwise [](%[[X]], %[[A]] :
// CHECK: %[[B:.*]] = memref.alloc
// CHECK: act.kernel {{.*}}%[[B]]
// CHECK: %[[C:.*]] = memref.alloc
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @results(%x: memref<8xf32>) -> (memref<8xf32>, memref<8xf32>, memref<8xf32>) {
  %a = memref.alloc() : memref<8xf32>
  linalg.exp ins(%x : memref<8xf32>) outs(%a : memref<8xf32>)
  return %a, %x, %a : memref<8xf32>, memref<8xf32>, memref<8xf32>
}

// -----

// Codecs go through memory without gaps: a row is copied first.
// CHECK-LABEL: func.func @gaps
// CHECK: %[[PART:.*]] = memref.subview
// CHECK: act.kernel row_program [8](%[[PART]],
// CHECK: %[[DENSE:.*]] = memref.alloc() {{.*}}: memref<8x64xf32>
// CHECK: linalg.generic {{.*}}outs(%[[DENSE]]
// CHECK: act.encode ins(%[[DENSE]]
func.func @gaps(%x: memref<8x128xf32>, %codes: memref<8x64xbf16>) {
  %part = memref.subview %x[0, 64] [8, 64] [1, 1]
      : memref<8x128xf32> to memref<8x64xf32, strided<[128, 1], offset: 64>>
  act.encode ins(%part : memref<8x64xf32, strided<[128, 1], offset: 64>>)
      outs(%codes : memref<8x64xbf16>) {encoding = #act.float<type = bf16>}
  return
}
