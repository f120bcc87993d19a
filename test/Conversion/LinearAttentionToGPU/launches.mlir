// RUN: act-opt %s --convert-linear-attention-to-gpu=segments=1 --canonicalize --split-input-file | FileCheck %s
// RUN: act-opt %s --convert-linear-attention-to-gpu=segments=3 --canonicalize --split-input-file | FileCheck %s --check-prefix=PARTS
// RUN: act-opt %s --convert-linear-attention-to-gpu --canonicalize --split-input-file | FileCheck %s --check-prefix=AUTO

// One kernel that changes the state in place, without scratch memory.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: memref<2x200x4x64xbf16>, %{{.*}}: memref<2x200x4x64xbf16>, %{{.*}}: memref<2x200x4x64xbf16>, %{{.*}}: memref<2x200x4x64xbf16>, %[[S:[a-z0-9]+]]: memref<2x4x64x64xf32>)
// CHECK-DAG: %[[BLOCKS:.*]] = arith.constant 8 : index
// CHECK-DAG: %[[THREADS:.*]] = arith.constant 256 : index
// CHECK-NOT: memref.alloc
// CHECK: memref.extract_aligned_pointer_as_index %[[Q]]
// CHECK: %[[SI:.*]] = memref.extract_aligned_pointer_as_index %[[S]]
// CHECK: %[[SA:.*]] = arith.index_cast %[[SI]]
// CHECK: %[[SP:.*]] = llvm.inttoptr %[[SA]] : i64 to !llvm.ptr<1>
// CHECK: gpu.launch_func @kernels::@linear_attention_forward blocks in (%[[BLOCKS]], %{{.*}}, %{{.*}}) threads in (%[[THREADS]], %{{.*}}, %{{.*}})
// CHECK-NOT: gpu.launch_func
// CHECK-NOT: act.linear_attention
// CHECK: gpu.module @kernels
// CHECK: gpu.func @linear_attention_forward(%{{.*}}: !llvm.ptr<1> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 8, 1, 1>

// 200 tokens are four chunks: two segments of two.
// PARTS-LABEL: func.func @forward(
// PARTS: memref.alloc() {alignment = 256 : i64} : memref<262144xi8>
// PARTS: gpu.launch_func @kernels::@linear_attention_segment_state
// PARTS: gpu.launch_func @kernels::@linear_attention_carry
// PARTS: gpu.launch_func @kernels::@linear_attention_forward
// PARTS: memref.dealloc

// AUTO-LABEL: func.func @forward(
// AUTO-NOT: linear_attention_carry
// AUTO: gpu.module
func.func @forward(%q: memref<2x200x4x64xbf16>, %k: memref<2x200x4x64xbf16>, %v: memref<2x200x4x64xbf16>,
                   %o: memref<2x200x4x64xbf16>, %s: memref<2x4x64x64xf32>) {
  act.linear_attention
      ins(%q, %k, %v : memref<2x200x4x64xbf16>, memref<2x200x4x64xbf16>, memref<2x200x4x64xbf16>)
      outs(%o, %s : memref<2x200x4x64xbf16>, memref<2x4x64x64xf32>)
      {feature_map = #act.identity}
  return
}

// -----

// Operations of equal types and attributes share kernels.
// CHECK-LABEL: func.func @twice(
// CHECK: gpu.launch_func @kernels::@linear_attention_state
// CHECK: gpu.launch_func @kernels::@linear_attention_state
// CHECK: gpu.launch_func @kernels::@linear_attention_state_0
// CHECK: gpu.module @kernels
// CHECK-COUNT-2: gpu.func
// CHECK-NOT: gpu.func
func.func @twice(%k: memref<2x256x4x8xf32>, %v: memref<2x256x4x8xf32>, %s: memref<2x4x8x8xf32>) {
  act.linear_attention_state ins(%k, %v : memref<2x256x4x8xf32>, memref<2x256x4x8xf32>)
      outs(%s : memref<2x4x8x8xf32>) {feature_map = #act.square}
  act.linear_attention_state ins(%v, %k : memref<2x256x4x8xf32>, memref<2x256x4x8xf32>)
      outs(%s : memref<2x4x8x8xf32>) {feature_map = #act.square}
  act.linear_attention_state ins(%v, %k : memref<2x256x4x8xf32>, memref<2x256x4x8xf32>)
      outs(%s : memref<2x4x8x8xf32>) {feature_map = #act.square, subtract}
  return
}

// -----

// The products of states and their gradients are taken before the latter are
// overwritten; heads that share keys are added up.
// CHECK-LABEL: func.func @grad(
// CHECK: memref.alloc()
// CHECK: gpu.launch_func @kernels::@linear_attention_segment_state
// CHECK: gpu.launch_func @kernels::@linear_attention_carry
// CHECK: gpu.launch_func @kernels::@linear_attention_query_grad
// CHECK: gpu.launch_func @kernels::@linear_attention_state_product
// CHECK: gpu.launch_func @kernels::@linear_attention_segment_state_grad
// CHECK: gpu.launch_func @kernels::@linear_attention_carry_0
// CHECK: gpu.launch_func @kernels::@linear_attention_sum_heads
// CHECK: gpu.launch_func @kernels::@linear_attention_value_grad
// CHECK: gpu.launch_func @kernels::@linear_attention_key_grad
// CHECK: gpu.launch_func @kernels::@linear_attention_sum_heads_0
// CHECK: gpu.launch_func @kernels::@linear_attention_sum_heads_1
// CHECK: gpu.launch_func @kernels::@linear_attention_decay_grad
// CHECK: memref.dealloc
func.func @grad(%q: memref<1x9x4x8xf32>, %k: memref<1x9x2x8xf32>, %v: memref<1x9x2x3xf32>, %a: memref<1x9x2xf32>,
                %do: memref<1x9x4x3xf32>, %s: memref<1x2x8x3xf32>, %dq: memref<1x9x4x8xf32>,
                %dk: memref<1x9x2x8xf32>, %dv: memref<1x9x2x3xf32>, %da: memref<1x9x2xf32>,
                %ds: memref<1x2x8x3xf32>) {
  act.linear_attention_grad
      ins(%q, %k, %v : memref<1x9x4x8xf32>, memref<1x9x2x8xf32>, memref<1x9x2x3xf32>)
      decay(%a : memref<1x9x2xf32>) gradient(%do : memref<1x9x4x3xf32>) states(%s : memref<1x2x8x3xf32>)
      outs(%dq, %dk, %dv, %da, %ds : memref<1x9x4x8xf32>, memref<1x9x2x8xf32>, memref<1x9x2x3xf32>,
           memref<1x9x2xf32>, memref<1x2x8x3xf32>)
      {feature_map = #act.identity}
  return
}

// -----

// Few heads and many tokens: 32 segments of 256 tokens.
// AUTO-LABEL: func.func @long(
// AUTO: %[[BLOCKS:.*]] = arith.constant 32 : index
// AUTO: gpu.launch_func @kernels::@linear_attention_forward blocks in (%[[BLOCKS]],
func.func @long(%q: memref<1x8192x1x64xbf16>, %o: memref<1x8192x1x64xbf16>, %s: memref<1x1x64x64xf32>) {
  act.linear_attention
      ins(%q, %q, %q : memref<1x8192x1x64xbf16>, memref<1x8192x1x64xbf16>, memref<1x8192x1x64xbf16>)
      outs(%o, %s : memref<1x8192x1x64xbf16>, memref<1x1x64x64xf32>)
      {feature_map = #act.identity}
  return
}
