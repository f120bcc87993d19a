// RUN: act-opt %s --act-prepare-destinations --split-input-file | FileCheck %s

#id = affine_map<(i) -> (i)>

// A fill for each sum that starts from it, and none that nobody reads.
// CHECK-LABEL: func.func @own_fills
// CHECK: %[[F:.*]] = linalg.fill
// CHECK: linalg.reduce {{.*}}outs(%[[F]] :
// CHECK: %[[G:.*]] = linalg.fill
// CHECK: linalg.reduce {{.*}}outs(%[[G]] :
// CHECK-NOT: linalg.fill
func.func @own_fills(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %a = linalg.reduce {arith.addf} ins(%x : tensor<8xf32>) outs(%f : tensor<f32>) dimensions = [0]
  %b = linalg.reduce {arith.addf} ins(%y : tensor<8xf32>) outs(%f : tensor<f32>) dimensions = [0]
  return %a, %b : tensor<f32>, tensor<f32>
}

// -----

#id = affine_map<(i) -> (i)>

// The second operation writes to what the first one made; the third cannot, as
// what it reads is returned, and the first one not to an argument.
// CHECK-LABEL: func.func @in_place
// CHECK-SAME: (%[[X:.*]]: tensor<8xf32> {bufferization.writable = false})
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: %[[A:.*]] = linalg.generic {{.*}}ins(%[[X]] : {{.*}}outs(%[[E]] :
// CHECK: %[[B:.*]] = linalg.generic {{.*}}ins(%[[A]] : {{.*}}outs(%[[A]] :
// CHECK: %[[F:.*]] = tensor.empty
// CHECK: linalg.generic {{.*}}ins(%[[B]] : {{.*}}outs(%[[F]] :
func.func @in_place(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = math.exp %i : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = math.exp %i : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%b : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%i: f32, %o: f32):
    %v = math.exp %i : f32
    linalg.yield %v : f32
  } -> tensor<8xf32>
  return %b, %c : tensor<8xf32>, tensor<8xf32>
}

// -----

// An iteration leaves its result where the next one reads it.
// CHECK-LABEL: func.func @loop
// CHECK: scf.for {{.*}} iter_args(%[[P:.*]] = %{{.*}}, %[[Q:.*]] = %{{.*}})
// CHECK: %[[N:.*]] = linalg.add ins(%[[P]], %[[Q]] :
// CHECK: %[[CP:.*]] = linalg.copy ins(%[[Q]] : tensor<8xf32>) outs(%[[P]] : tensor<8xf32>)
// CHECK: %[[CQ:.*]] = linalg.copy ins(%[[N]] : tensor<8xf32>) outs(%[[Q]] : tensor<8xf32>)
// CHECK: scf.yield %[[CP]], %[[CQ]]
func.func @loop(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %e = tensor.empty() : tensor<8xf32>
  %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%p = %x, %q = %y)
      -> (tensor<8xf32>, tensor<8xf32>) {
    %n = linalg.add ins(%p, %q : tensor<8xf32>, tensor<8xf32>)
        outs(%e : tensor<8xf32>) -> tensor<8xf32>
    scf.yield %q, %n : tensor<8xf32>, tensor<8xf32>
  }
  return %r#1 : tensor<8xf32>
}

// -----

// The part that is computed first is inserted first.
// CHECK-LABEL: func.func @concatenation
// CHECK: %[[A:.*]] = linalg.exp
// CHECK: %[[B:.*]] = linalg.log
// CHECK: %[[E:.*]] = tensor.empty() : tensor<16xf32>
// CHECK: %[[I:.*]] = tensor.insert_slice %[[A]] into %[[E]][8] [8] [1]
// CHECK: tensor.insert_slice %[[B]] into %[[I]][0] [8] [1]
// CHECK-NOT: tensor.insert_slice
func.func @concatenation(%x: tensor<8xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.log ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %c = tensor.empty() : tensor<16xf32>
  %i = tensor.insert_slice %b into %c[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %j = tensor.insert_slice %a into %i[8] [8] [1] : tensor<8xf32> into tensor<16xf32>
  return %j : tensor<16xf32>
}

// -----

// Parts that overlap stay in order.
// CHECK-LABEL: func.func @overlap
// CHECK: %[[A:.*]] = linalg.exp
// CHECK: %[[B:.*]] = linalg.log
// CHECK: %[[I:.*]] = tensor.insert_slice %[[B]]
// CHECK: tensor.insert_slice %[[A]] into %[[I]]
func.func @overlap(%x: tensor<8xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %b = linalg.log ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %c = tensor.empty() : tensor<16xf32>
  %i = tensor.insert_slice %b into %c[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %j = tensor.insert_slice %a into %i[7] [8] [1] : tensor<8xf32> into tensor<16xf32>
  return %j : tensor<16xf32>
}
