// RUN: act-opt %s --split-input-file --convert-linear-attention-to-vector="vector-bits=256 vector-registers=16" --canonicalize | FileCheck %s
// RUN: act-opt %s --split-input-file --convert-linear-attention-to-vector="vector-bits=512 vector-registers=32" --canonicalize | FileCheck %s --check-prefix=WIDE

!rows = memref<2x?x4x64xf32>
!state = memref<2x4x64x64xf32>
!sums = memref<2x4x64xf32>

// One call per sequence and head; the state is read and written in place.
// CHECK-LABEL: func.func @forward(
// CHECK-SAME:    %[[Q:[^:]*]]: memref<2x?x4x64xf32>, %[[K:[^:]*]]: memref<2x?x4x64xf32>, %[[V:[^:]*]]: memref<2x?x4x64xf32>, %[[O:[^:]*]]: memref<2x?x4x64xf32>, %[[D:[^:]*]]: memref<2x?x4xf32>, %[[S:[^:]*]]: memref<2x4x64x64xf32>, %[[Z:[^:]*]]: memref<2x4x64xf32>)
// CHECK:         scf.forall (%[[B:.*]], %[[H:.*]]) in (2, 4) {
// CHECK:           %[[S1:.*]] = memref.subview %[[S]][%[[B]], %[[H]], 0, 0] [1, 1, 64, 64]
// CHECK:           %[[SIN:.*]] = memref.cast %[[S1]]
// CHECK:           %[[S2:.*]] = memref.subview %[[S]][%[[B]], %[[H]], 0, 0] [1, 1, 64, 64]
// CHECK:           %[[SOUT:.*]] = memref.cast %[[S2]]
// CHECK:           memref.alloc() {alignment = 64 : i64} : memref<[[BYTES:[0-9]+]]xi8>
// CHECK:           call @act_linear_attention_forward({{.*}}%[[SIN]]{{.*}}%[[SOUT]]
// CHECK:           memref.dealloc {{.*}} : memref<[[BYTES]]xi8>
// CHECK-NOT:     act.linear_attention

// The kernel takes any number of tokens, in chunks of 16. Tiles of the result
// are values that loops carry: 4 times 2 vectors of 8 floats.
// CHECK:       func.func private @act_linear_attention_forward(
// CHECK-SAME:    %[[KQ:[^:]*]]: memref<?x64xf32, strided<[?, 1], offset: ?>>, %[[KK:[^:]*]]: memref<?x64xf32, strided<[?, 1], offset: ?>>
// CHECK:         %[[T:.*]] = memref.dim %[[KK]], %{{.*}}
// CHECK:         scf.for %{{.*}} = %{{.*}} to %[[T]] step %c16
// CHECK:           arith.mulf %[[X:.*]], %[[X]] : vector<8xf32>
// CHECK:           scf.for {{.*}} step %c4 iter_args({{(%[^,]* = %[^,]*, ){7}%[^,]* = %[^,]*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK:             vector.fma
// CHECK-NOT:     vector<16xf32>

// With wide vectors and more of them, 8 times 2 or 16 times 1.
// WIDE-LABEL: func.func @forward(
// WIDE:         scf.for {{.*}} step %c4 iter_args({{(%[^,]* = %[^,]*, ){15}%[^,]* = %[^,]*}}) -> (vector<16xf32>,
// WIDE-NOT:     vector<8xf32>
func.func @forward(%q: !rows, %k: !rows, %v: !rows, %o: !rows, %d: memref<2x?x4xf32>,
                   %s: !state, %z: !sums) {
  act.linear_attention ins(%q, %k, %v : !rows, !rows, !rows)
      outs(%o, %d, %s, %z : !rows, memref<2x?x4xf32>, !state, !sums)
      {feature_map = #act.square, normalize, epsilon = 1.0e-06 : f64}
  return
}

// -----

// Steps of the decay are added up and never subtracted; their exponentials are at
// most 1.
// CHECK-LABEL: func.func @state(
// CHECK:         call @act_linear_attention_state(
// CHECK:       func.func private @act_linear_attention_state(
// CHECK-SAME:    memref<?xf32, strided<[?], offset: ?>>
// CHECK:         math.exp %{{.*}} : vector<8xf32>
// CHECK-NOT:     arith.subf
// WIDE-LABEL: func.func @state(
func.func @state(%k: memref<1x?x1x8xf32>, %v: memref<1x?x1x8xf32>, %a: memref<1x?x1xf32>,
                 %s: memref<1x1x8x8xf32>) {
  act.linear_attention_state ins(%k, %v : memref<1x?x1x8xf32>, memref<1x?x1x8xf32>)
      decay(%a : memref<1x?x1xf32>) outs(%s : memref<1x1x8x8xf32>)
      {feature_map = #act.identity}
  return
}

// -----

// Rows of 16 bits become floats when they are read, and what is written is
// rounded again. Rows that are not whole vectors are read under a mask.
// CHECK-LABEL: func.func @narrow(
// CHECK:         vector.constant_mask [5]
// CHECK:         vector.maskedload {{.*}} into vector<8xbf16>
// CHECK:         arith.extf {{.*}} : vector<8xbf16> to vector<8xf32>
// CHECK:         arith.truncf {{.*}} : vector<8xf32> to vector<8xbf16>
// CHECK:         vector.maskedstore
// WIDE-LABEL: func.func @narrow(
func.func @narrow(%x: memref<1x?x1x5xbf16>, %o: memref<1x?x1x5xbf16>, %s: memref<1x1x5x5xf32>) {
  act.linear_attention
      ins(%x, %x, %x : memref<1x?x1x5xbf16>, memref<1x?x1x5xbf16>, memref<1x?x1x5xbf16>)
      outs(%o, %s : memref<1x?x1x5xbf16>, memref<1x1x5x5xf32>) {feature_map = #act.relu}
  return
}

// -----

// The gradient is two kernels, of which the second walks backwards.
// CHECK-LABEL: func.func @grad(
// CHECK:         call @act_linear_attention_query_grad(
// CHECK:         call @act_linear_attention_key_value_grad(
// CHECK:       func.func private @act_linear_attention_query_grad(
// CHECK:       func.func private @act_linear_attention_key_value_grad(
// CHECK:         %[[LAST:.*]] = arith.muli
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %c16
// CHECK:           arith.subi %[[LAST]], %[[I]]
// WIDE-LABEL: func.func @grad(
func.func @grad(%x: memref<1x?x1x8xf32>, %s: memref<1x1x8x8xf32>,
                %dq: memref<1x?x1x8xf32>, %dk: memref<1x?x1x8xf32>,
                %dv: memref<1x?x1x8xf32>, %ds: memref<1x1x8x8xf32>) {
  act.linear_attention_grad
      ins(%x, %x, %x : memref<1x?x1x8xf32>, memref<1x?x1x8xf32>, memref<1x?x1x8xf32>)
      gradient(%x : memref<1x?x1x8xf32>) states(%s : memref<1x1x8x8xf32>)
      outs(%dq, %dk, %dv, %ds : memref<1x?x1x8xf32>, memref<1x?x1x8xf32>,
                                memref<1x?x1x8xf32>, memref<1x1x8x8xf32>)
      {feature_map = #act.exp}
  return
}

// -----

// Two operations, two kernels.
// CHECK-LABEL: func.func @twice(
// CHECK:         call @act_linear_attention_state(
// CHECK:         call @act_linear_attention_state_0(
// WIDE-LABEL: func.func @twice(
func.func @twice(%x: memref<1x?x1x8xf32>, %s: memref<1x1x8x8xf32>) {
  act.linear_attention_state ins(%x, %x : memref<1x?x1x8xf32>, memref<1x?x1x8xf32>)
      outs(%s : memref<1x1x8x8xf32>) {feature_map = #act.identity}
  act.linear_attention_state ins(%x, %x : memref<1x?x1x8xf32>, memref<1x?x1x8xf32>)
      outs(%s : memref<1x1x8x8xf32>) {feature_map = #act.identity, subtract}
  return
}
