// Linear attention is tiled along groups of heads, sequences, tokens and numbers
// of values; tiles work in place once they are on buffers.

// RUN: act-opt %s --split-input-file --transform-interpreter --canonicalize --cse | FileCheck %s
// RUN: act-opt %s --split-input-file --transform-interpreter --canonicalize --cse \
// RUN:     --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --cse --canonicalize \
// RUN:   | FileCheck %s --check-prefix=BUFFERS --implicit-check-not=memref.alloc --implicit-check-not=memref.copy

// Tokens come in order, the last tile has three: states go from tile to tile. A
// group has four heads of queries, one of keys, two of values and states.
// CHECK-DAG: #[[$TAIL:.*]] = affine_map<(d0) -> (-d0 + 13, 5)>
// CHECK-DAG: #[[$FOUR:.*]] = affine_map<(d0) -> (d0 * 4)>
// CHECK-DAG: #[[$TWO:.*]] = affine_map<(d0) -> (d0 * 2)>
// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: tensor<2x13x8x4xf32> {{.*}}, %[[K:[a-z0-9]+]]: tensor<2x13x2x4xf32> {{.*}}, %[[V:[a-z0-9]+]]: tensor<2x13x4x6xf32> {{.*}}, %[[G:[a-z0-9]+]]: tensor<2x13x4xf32> {{.*}}, %[[O:[a-z0-9]+]]: tensor<2x13x8x6xf32> {{.*}}, %[[D:[a-z0-9]+]]: tensor<2x13x8xf32> {{.*}}, %[[S:[a-z0-9]+]]: tensor<2x4x4x6xf32> {{.*}}, %[[Z:[a-z0-9]+]]: tensor<2x4x4xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C5:.*]] = arith.constant 5 : index
// CHECK-DAG: %[[C13:.*]] = arith.constant 13 : index
// CHECK: %[[HEADS:.*]]:4 = scf.for %[[I:.*]] = %[[C0]] to %[[C2]] step %[[C1]] iter_args(%[[OI:.*]] = %[[O]], %[[DI:.*]] = %[[D]], %[[SI:.*]] = %[[S]], %[[ZI:.*]] = %[[Z]])
// CHECK: %[[TOKENS:.*]]:4 = scf.for %[[T:.*]] = %[[C0]] to %[[C13]] step %[[C5]] iter_args(%[[OT:.*]] = %[[OI]], %[[DT:.*]] = %[[DI]], %[[ST:.*]] = %[[SI]], %[[ZT:.*]] = %[[ZI]])
// CHECK-DAG: %[[N:.*]] = affine.min #[[$TAIL]](%[[T]])
// CHECK-DAG: %[[I4:.*]] = affine.apply #[[$FOUR]](%[[I]])
// CHECK-DAG: %[[I2:.*]] = affine.apply #[[$TWO]](%[[I]])
// CHECK-DAG: %[[QX:.*]] = tensor.extract_slice %[[Q]][0, %[[T]], %[[I4]], 0] [2, %[[N]], 4, 4]
// CHECK-DAG: %[[KX:.*]] = tensor.extract_slice %[[K]][0, %[[T]], %[[I]], 0] [2, %[[N]], 1, 4]
// CHECK-DAG: %[[VX:.*]] = tensor.extract_slice %[[V]][0, %[[T]], %[[I2]], 0] [2, %[[N]], 2, 6]
// CHECK-DAG: %[[GX:.*]] = tensor.extract_slice %[[G]][0, %[[T]], %[[I2]]] [2, %[[N]], 2]
// CHECK-DAG: %[[OX:.*]] = tensor.extract_slice %[[OT]][0, %[[T]], %[[I4]], 0] [2, %[[N]], 4, 6]
// CHECK-DAG: %[[DX:.*]] = tensor.extract_slice %[[DT]][0, %[[T]], %[[I4]]] [2, %[[N]], 4]
// CHECK-DAG: %[[SX:.*]] = tensor.extract_slice %[[ST]][0, %[[I2]], 0, 0] [2, 2, 4, 6]
// CHECK-DAG: %[[ZX:.*]] = tensor.extract_slice %[[ZT]][0, %[[I2]], 0] [2, 2, 4]
// CHECK: %[[R:.*]]:4 = act.linear_attention ins(%[[QX]], %[[KX]], %[[VX]] : {{.*}}) decay(%[[GX]] : {{.*}}) outs(%[[OX]], %[[DX]], %[[SX]], %[[ZX]] : {{.*}}) {feature_map = #act.square, normalize}
// CHECK-DAG: %[[ON:.*]] = tensor.insert_slice %[[R]]#0 into %[[OT]][0, %[[T]], %[[I4]], 0] [2, %[[N]], 4, 6]
// CHECK-DAG: %[[DN:.*]] = tensor.insert_slice %[[R]]#1 into %[[DT]][0, %[[T]], %[[I4]]] [2, %[[N]], 4]
// CHECK-DAG: %[[SN:.*]] = tensor.insert_slice %[[R]]#2 into %[[ST]][0, %[[I2]], 0, 0] [2, 2, 4, 6]
// CHECK-DAG: %[[ZN:.*]] = tensor.insert_slice %[[R]]#3 into %[[ZT]][0, %[[I2]], 0] [2, 2, 4]
// CHECK: scf.yield %[[ON]], %[[DN]], %[[SN]], %[[ZN]]
// CHECK: scf.yield %[[TOKENS]]#0, %[[TOKENS]]#1, %[[TOKENS]]#2, %[[TOKENS]]#3
// CHECK: return %[[HEADS]]#0, %[[HEADS]]#1, %[[HEADS]]#2, %[[HEADS]]#3

// BUFFERS-LABEL: func.func @forward
// BUFFERS: act.linear_attention ins

module attributes {transform.with_named_sequence} {
func.func @forward(%q: tensor<2x13x8x4xf32> {bufferization.writable = false}, %k: tensor<2x13x2x4xf32> {bufferization.writable = false}, %v: tensor<2x13x4x6xf32> {bufferization.writable = false},
    %g: tensor<2x13x4xf32> {bufferization.writable = false}, %o: tensor<2x13x8x6xf32> {bufferization.writable = true}, %d: tensor<2x13x8xf32> {bufferization.writable = true},
    %s: tensor<2x4x4x6xf32> {bufferization.writable = true}, %z: tensor<2x4x4xf32> {bufferization.writable = true})
    -> (tensor<2x13x8x6xf32>, tensor<2x13x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>) {
  %r:4 = act.linear_attention
      ins(%q, %k, %v : tensor<2x13x8x4xf32>, tensor<2x13x2x4xf32>, tensor<2x13x4x6xf32>) decay(%g : tensor<2x13x4xf32>)
      outs(%o, %d, %s, %z : tensor<2x13x8x6xf32>, tensor<2x13x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>)
      {feature_map = #act.square, normalize}
  return %r#0, %r#1, %r#2, %r#3 : tensor<2x13x8x6xf32>, tensor<2x13x8xf32>, tensor<2x4x4x6xf32>, tensor<2x4x4xf32>
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["act.linear_attention"]} in %module : (!transform.any_op) -> !transform.any_op
  %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [1, 0, 5] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// Values are tiled too, raggedly, where there is no normaliser that all would add
// to. A length need not be known.
// CHECK-DAG: #[[$TAIL:.*]] = affine_map<(d0)[s0] -> (-d0 + s0, 5)>
// CHECK-DAG: #[[$REST:.*]] = affine_map<(d0) -> (-d0 + 6, 4)>
// CHECK-DAG: #[[$TWO:.*]] = affine_map<(d0) -> (d0 * 2)>
// CHECK-LABEL: func.func @state
// CHECK-SAME: (%[[K:[a-z0-9]+]]: tensor<2x?x2x4xf32> {{.*}}, %[[V:[a-z0-9]+]]: tensor<2x?x4x6xf32> {{.*}}, %[[S:[a-z0-9]+]]: tensor<2x4x4x6xf32>
// CHECK: %[[LENGTH:.*]] = tensor.dim %[[K]]
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%[[SI:.*]] = %[[S]])
// CHECK: scf.for %[[B:.*]] = {{.*}} iter_args(%[[SB:.*]] = %[[SI]])
// CHECK: scf.for %[[T:.*]] = {{.*}} to %[[LENGTH]] {{.*}} iter_args(%[[ST:.*]] = %[[SB]])
// CHECK: scf.for %[[J:.*]] = {{.*}} iter_args(%[[SJ:.*]] = %[[ST]])
// CHECK-DAG: %[[N:.*]] = affine.min #[[$TAIL]](%[[T]])[%[[LENGTH]]]
// CHECK-DAG: %[[M:.*]] = affine.min #[[$REST]](%[[J]])
// CHECK-DAG: %[[I2:.*]] = affine.apply #[[$TWO]](%[[I]])
// CHECK-DAG: %[[KX:.*]] = tensor.extract_slice %[[K]][%[[B]], %[[T]], %[[I]], 0] [1, %[[N]], 1, 4]
// CHECK-DAG: %[[VX:.*]] = tensor.extract_slice %[[V]][%[[B]], %[[T]], %[[I2]], %[[J]]] [1, %[[N]], 2, %[[M]]]
// CHECK-DAG: %[[SX:.*]] = tensor.extract_slice %[[SJ]][%[[B]], %[[I2]], 0, %[[J]]] [1, 2, 4, %[[M]]]
// CHECK: %[[R:.*]] = act.linear_attention_state ins(%[[KX]], %[[VX]] : {{.*}}) outs(%[[SX]] : {{.*}}) {feature_map = #act.square, subtract}
// CHECK: %[[SN:.*]] = tensor.insert_slice %[[R]] into %[[SJ]][%[[B]], %[[I2]], 0, %[[J]]] [1, 2, 4, %[[M]]]
// CHECK: scf.yield %[[SN]]

// BUFFERS-LABEL: func.func @state
// BUFFERS: act.linear_attention_state ins

module attributes {transform.with_named_sequence} {
func.func @state(%k: tensor<2x?x2x4xf32> {bufferization.writable = false}, %v: tensor<2x?x4x6xf32> {bufferization.writable = false}, %s: tensor<2x4x4x6xf32> {bufferization.writable = true}) -> tensor<2x4x4x6xf32> {
  %r = act.linear_attention_state
      ins(%k, %v : tensor<2x?x2x4xf32>, tensor<2x?x4x6xf32>)
      outs(%s : tensor<2x4x4x6xf32>) {feature_map = #act.square, subtract}
  return %r : tensor<2x4x4x6xf32>
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["act.linear_attention_state"]} in %module : (!transform.any_op) -> !transform.any_op
  %tiled, %loops:4 = transform.structured.tile_using_for %op tile_sizes [1, 1, 5, 4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// A single head of keys is read by all groups, which are those of states then.
// Parameters of the feature map are whole.
// CHECK-LABEL: func.func @single_key_head
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: tensor<2x13x8x4xf32> {{.*}}, %[[K:[a-z0-9]+]]: tensor<2x13x1x4xf32> {{.*}}, %[[V:[a-z0-9]+]]: tensor<2x13x4x6xf32> {{.*}}, %[[W:[a-z0-9]+]]: tensor<5x4xf32> {{.*}}, %[[G:[a-z0-9]+]]: tensor<2x13x4x5xf32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[C4:.*]] step %[[C2:.*]] iter_args
// CHECK: %[[I2:.*]] = affine.apply #{{.*}}(%[[I]])
// CHECK-DAG: %[[QX:.*]] = tensor.extract_slice %[[Q]][0, 0, %[[I2]], 0] [2, 13, 4, 4]
// CHECK-DAG: %[[VX:.*]] = tensor.extract_slice %[[V]][0, 0, %[[I]], 0] [2, 13, 2, 6]
// CHECK-DAG: %[[GX:.*]] = tensor.extract_slice %[[G]][0, 0, %[[I]], 0] [2, 13, 2, 5]
// CHECK: act.linear_attention ins(%[[QX]], %[[K]], %[[VX]] : {{.*}}) decay(%[[GX]] : {{.*}}) features(%[[W]] :
// CHECK-SAME: outs({{.*}} : tensor<2x13x4x6xf32>, tensor<2x2x5x6xf32>)

// BUFFERS-LABEL: func.func @single_key_head
// BUFFERS: act.linear_attention ins

module attributes {transform.with_named_sequence} {
func.func @single_key_head(%q: tensor<2x13x8x4xf32> {bufferization.writable = false}, %k: tensor<2x13x1x4xf32> {bufferization.writable = false}, %v: tensor<2x13x4x6xf32> {bufferization.writable = false}, %w: tensor<5x4xf32> {bufferization.writable = false},
    %g: tensor<2x13x4x5xf32> {bufferization.writable = false}, %o: tensor<2x13x8x6xf32> {bufferization.writable = true}, %s: tensor<2x4x5x6xf32> {bufferization.writable = true}) -> tensor<2x13x8x6xf32> {
  %r:2 = act.linear_attention
      ins(%q, %k, %v : tensor<2x13x8x4xf32>, tensor<2x13x1x4xf32>, tensor<2x13x4x6xf32>)
      decay(%g : tensor<2x13x4x5xf32>) features(%w : tensor<5x4xf32>)
      outs(%o, %s : tensor<2x13x8x6xf32>, tensor<2x4x5x6xf32>) {feature_map = #act.favor_plus}
  return %r#0 : tensor<2x13x8x6xf32>
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["act.linear_attention"]} in %module : (!transform.any_op) -> !transform.any_op
  %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// Gradients are tiled along heads and sequences.
// CHECK-LABEL: func.func @grad(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<?x7x4x4xf32> {{.*}}, %[[K:[a-z0-9]+]]: tensor<?x7x2x4xf32> {{.*}}, %[[G:[a-z0-9]+]]: tensor<?x7x2xf32> {{.*}}, %[[D:[a-z0-9]+]]: tensor<?x7x4xf32> {{.*}}, %[[S0:[a-z0-9]+]]: tensor<?x2x4x4xf32> {{.*}}, %[[Z0:[a-z0-9]+]]: tensor<?x2x4xf32> {{.*}}, %[[DQ:[a-z0-9]+]]: tensor<?x7x4x4xf32>
// CHECK: %[[BATCH:.*]] = tensor.dim %[[Q]]
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args
// CHECK: scf.for %[[B:.*]] = {{.*}} to %[[BATCH]] {{.*}} iter_args(%[[DQB:[a-z0-9]+]] = %{{[a-z0-9]+}}, %[[DKB:[a-z0-9]+]] = %{{[a-z0-9]+}}, %[[DVB:[a-z0-9]+]] = %{{[a-z0-9]+}}, %[[DGB:[a-z0-9]+]] = %{{[a-z0-9]+}}, %[[DSB:[a-z0-9]+]] = %{{[a-z0-9]+}}, %[[DZB:[a-z0-9]+]] =
// CHECK-DAG: %[[N:.*]] = affine.min #{{.*}}(%[[B]])[%[[BATCH]]]
// CHECK-DAG: %[[I2:.*]] = affine.apply #{{.*}}(%[[I]])
// CHECK-DAG: %[[QX:.*]] = tensor.extract_slice %[[Q]][%[[B]], 0, %[[I2]], 0] [%[[N]], 7, 2, 4]
// CHECK-DAG: %[[KX:.*]] = tensor.extract_slice %[[K]][%[[B]], 0, %[[I]], 0] [%[[N]], 7, 1, 4]
// CHECK-DAG: %[[GX:.*]] = tensor.extract_slice %[[G]][%[[B]], 0, %[[I]]] [%[[N]], 7, 1]
// CHECK-DAG: %[[DX:.*]] = tensor.extract_slice %[[D]][%[[B]], 0, %[[I2]]] [%[[N]], 7, 2]
// CHECK-DAG: %[[SX:.*]] = tensor.extract_slice %[[S0]][%[[B]], %[[I]], 0, 0] [%[[N]], 1, 4, 4]
// CHECK-DAG: %[[ZX:.*]] = tensor.extract_slice %[[Z0]][%[[B]], %[[I]], 0] [%[[N]], 1, 4]
// CHECK-DAG: %[[DQX:.*]] = tensor.extract_slice %[[DQB]][%[[B]], 0, %[[I2]], 0] [%[[N]], 7, 2, 4]
// CHECK-DAG: %[[DGX:.*]] = tensor.extract_slice %[[DGB]][%[[B]], 0, %[[I]]] [%[[N]], 7, 1]
// CHECK-DAG: %[[DSX:.*]] = tensor.extract_slice %[[DSB]][%[[B]], %[[I]], 0, 0] [%[[N]], 1, 4, 4]
// CHECK-DAG: %[[DZX:.*]] = tensor.extract_slice %[[DZB]][%[[B]], %[[I]], 0] [%[[N]], 1, 4]
// CHECK: %[[R:.*]]:6 = act.linear_attention_grad ins(%[[QX]], %[[KX]], %[[KX]] : {{.*}}) decay(%[[GX]] : {{.*}}) output(%[[QX]] : {{.*}}) denominator(%[[DX]] : {{.*}}) gradient(%[[QX]] : {{.*}}) states(%[[SX]], %[[ZX]] : {{.*}}) outs(%[[DQX]], %{{.*}}, %{{.*}}, %[[DGX]], %[[DSX]], %[[DZX]] :
// CHECK-DAG: tensor.insert_slice %[[R]]#0 into %[[DQB]][%[[B]], 0, %[[I2]], 0] [%[[N]], 7, 2, 4]
// CHECK-DAG: tensor.insert_slice %[[R]]#1 into %[[DKB]][%[[B]], 0, %[[I]], 0] [%[[N]], 7, 1, 4]
// CHECK-DAG: tensor.insert_slice %[[R]]#2 into %[[DVB]][%[[B]], 0, %[[I]], 0] [%[[N]], 7, 1, 4]
// CHECK-DAG: tensor.insert_slice %[[R]]#3 into %[[DGB]][%[[B]], 0, %[[I]]] [%[[N]], 7, 1]
// CHECK-DAG: tensor.insert_slice %[[R]]#4 into %[[DSB]][%[[B]], %[[I]], 0, 0] [%[[N]], 1, 4, 4]
// CHECK-DAG: tensor.insert_slice %[[R]]#5 into %[[DZB]][%[[B]], %[[I]], 0] [%[[N]], 1, 4]

// BUFFERS-LABEL: func.func @grad(
// BUFFERS: act.linear_attention_grad ins

module attributes {transform.with_named_sequence} {
func.func @grad(%q: tensor<?x7x4x4xf32> {bufferization.writable = false}, %k: tensor<?x7x2x4xf32> {bufferization.writable = false}, %g: tensor<?x7x2xf32> {bufferization.writable = false}, %d: tensor<?x7x4xf32> {bufferization.writable = false}, %s0: tensor<?x2x4x4xf32> {bufferization.writable = false}, %z0: tensor<?x2x4xf32> {bufferization.writable = false},
    %dq: tensor<?x7x4x4xf32> {bufferization.writable = true}, %dk: tensor<?x7x2x4xf32> {bufferization.writable = true}, %dv: tensor<?x7x2x4xf32> {bufferization.writable = true}, %dg: tensor<?x7x2xf32> {bufferization.writable = true}, %ds: tensor<?x2x4x4xf32> {bufferization.writable = true}, %dz: tensor<?x2x4xf32> {bufferization.writable = true})
    -> (tensor<?x7x4x4xf32>, tensor<?x7x2x4xf32>, tensor<?x7x2x4xf32>, tensor<?x7x2xf32>, tensor<?x2x4x4xf32>, tensor<?x2x4xf32>) {
  %r:6 = act.linear_attention_grad
      ins(%q, %k, %k : tensor<?x7x4x4xf32>, tensor<?x7x2x4xf32>, tensor<?x7x2x4xf32>) decay(%g : tensor<?x7x2xf32>)
      output(%q : tensor<?x7x4x4xf32>) denominator(%d : tensor<?x7x4xf32>)
      gradient(%q : tensor<?x7x4x4xf32>) states(%s0, %z0 : tensor<?x2x4x4xf32>, tensor<?x2x4xf32>)
      outs(%dq, %dk, %dv, %dg, %ds, %dz : tensor<?x7x4x4xf32>, tensor<?x7x2x4xf32>, tensor<?x7x2x4xf32>, tensor<?x7x2xf32>, tensor<?x2x4x4xf32>, tensor<?x2x4xf32>)
      {feature_map = #act.square, normalize}
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5 : tensor<?x7x4x4xf32>, tensor<?x7x2x4xf32>, tensor<?x7x2x4xf32>, tensor<?x7x2xf32>, tensor<?x2x4x4xf32>, tensor<?x2x4xf32>
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["act.linear_attention_grad"]} in %module : (!transform.any_op) -> !transform.any_op
  %tiled, %loops:2 = transform.structured.tile_using_for %op tile_sizes [1, 3] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// The gradient of a decay per head is a part of a vector.
// CHECK-LABEL: func.func @grad_of_decay_per_head
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<2xf32>
// CHECK: scf.for %[[I:.*]] = {{.*}} iter_args(%{{[a-z0-9]+}} = %{{[a-z0-9]+}}, %{{[a-z0-9]+}} = %{{[a-z0-9]+}}, %{{[a-z0-9]+}} = %{{[a-z0-9]+}}, %[[DG:[a-z0-9]+]] =
// CHECK: %[[GX:.*]] = tensor.extract_slice %[[G]][%[[I]]] [1]
// CHECK: %[[DGX:.*]] = tensor.extract_slice %[[DG]][%[[I]]] [1]
// CHECK: %[[R:.*]]:5 = act.linear_attention_grad {{.*}} decay(%[[GX]] : {{.*}}) gradient
// CHECK-SAME: %[[DGX]]
// CHECK: tensor.insert_slice %[[R]]#3 into %[[DG]][%[[I]]] [1]

// BUFFERS-LABEL: func.func @grad_of_decay_per_head
// BUFFERS: act.linear_attention_grad ins

module attributes {transform.with_named_sequence} {
func.func @grad_of_decay_per_head(%q: tensor<2x7x4x4xf32> {bufferization.writable = false}, %k: tensor<2x7x2x4xf32> {bufferization.writable = false}, %g: tensor<2xf32> {bufferization.writable = false}, %s: tensor<2x2x4x4xf32> {bufferization.writable = false},
    %dq: tensor<2x7x4x4xf32> {bufferization.writable = true}, %dk: tensor<2x7x2x4xf32> {bufferization.writable = true}, %dv: tensor<2x7x2x4xf32> {bufferization.writable = true}, %dg: tensor<2xf32> {bufferization.writable = true}, %ds: tensor<2x2x4x4xf32> {bufferization.writable = true}) -> tensor<2xf32> {
  %r:5 = act.linear_attention_grad
      ins(%q, %k, %k : tensor<2x7x4x4xf32>, tensor<2x7x2x4xf32>, tensor<2x7x2x4xf32>) decay(%g : tensor<2xf32>)
      gradient(%q : tensor<2x7x4x4xf32>) states(%s : tensor<2x2x4x4xf32>)
      outs(%dq, %dk, %dv, %dg, %ds : tensor<2x7x4x4xf32>, tensor<2x7x2x4xf32>, tensor<2x7x2x4xf32>, tensor<2xf32>, tensor<2x2x4x4xf32>)
      {feature_map = #act.square}
  return %r#3 : tensor<2xf32>
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["act.linear_attention_grad"]} in %module : (!transform.any_op) -> !transform.any_op
  %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// Buffers are tiled as tensors are, with a state that each tile updates.
// CHECK-LABEL: func.func @buffers
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: memref<2x13x8x4xf32>, %[[K:[a-z0-9]+]]: memref<2x13x2x4xf32>, %[[O:[a-z0-9]+]]: memref<2x13x8x4xf32>, %[[S:[a-z0-9]+]]: memref<2x2x4x4xf32>)
// CHECK: scf.for %[[T:.*]] = %{{.*}} {
// CHECK: %[[N:.*]] = affine.min #{{.*}}(%[[T]])
// CHECK: %[[QX:.*]] = memref.subview %[[Q]][0, %[[T]], 0, 0] [2, %[[N]], 8, 4]
// CHECK: %[[KX:.*]] = memref.subview %[[K]][0, %[[T]], 0, 0] [2, %[[N]], 2, 4]
// CHECK: %[[OX:.*]] = memref.subview %[[O]][0, %[[T]], 0, 0] [2, %[[N]], 8, 4]
// CHECK: %[[SX:.*]] = memref.cast %[[S]]
// CHECK: act.linear_attention ins(%[[QX]], %[[KX]], %[[KX]] : {{.*}}) outs(%[[OX]], %[[SX]] :

// BUFFERS-LABEL: func.func @buffers
// BUFFERS: act.linear_attention ins

module attributes {transform.with_named_sequence} {
func.func @buffers(%q: memref<2x13x8x4xf32>, %k: memref<2x13x2x4xf32>, %o: memref<2x13x8x4xf32>, %s: memref<2x2x4x4xf32>) {
  act.linear_attention
      ins(%q, %k, %k : memref<2x13x8x4xf32>, memref<2x13x2x4xf32>, memref<2x13x2x4xf32>)
      outs(%o, %s : memref<2x13x8x4xf32>, memref<2x2x4x4xf32>) {feature_map = #act.square}
  return
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["act.linear_attention"]} in %module : (!transform.any_op) -> !transform.any_op
  %tiled, %loops = transform.structured.tile_using_for %op tile_sizes [0, 0, 5] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}
