// Linear attention is computed in the loop over tiles that use it: only what they
// use where it stands alone, else the whole.

// RUN: act-opt %s --split-input-file --transform-interpreter --cse | FileCheck %s

// CHECK-LABEL: func.func @whole_groups
// CHECK-SAME: (%[[Q:[a-z0-9]+]]: tensor<2x13x8x4xf32>, %[[K:[a-z0-9]+]]: tensor<2x13x2x4xf32>, %[[S:[a-z0-9]+]]: tensor<2x2x4x4xf32>
// CHECK: scf.forall (%[[B:.*]]) in (2)
// CHECK-DAG: %[[QX:.*]] = tensor.extract_slice %[[Q]][%[[B]], 0, 4, 0] [1, 13, 4, 4]
// CHECK-DAG: %[[KX:.*]] = tensor.extract_slice %[[K]][%[[B]], 0, 1, 0] [1, 13, 1, 4]
// CHECK-DAG: %[[VX:.*]] = tensor.extract_slice %[[K]][%[[B]], 0, 1, 0] [1, 13, 1, 3]
// CHECK-DAG: %[[SX:.*]] = tensor.extract_slice %[[S]][%[[B]], 1, 0, 0] [1, 1, 4, 3]
// CHECK: %[[R:.*]]:2 = act.linear_attention ins(%[[QX]], %[[KX]], %[[VX]] : {{.*}}) outs(%{{.*}}, %[[SX]] : tensor<1x13x4x3xf32>, tensor<1x1x4x3xf32>)
// CHECK: math.tanh %[[R]]#0

module attributes {transform.with_named_sequence} {
func.func @whole_groups(%q: tensor<2x13x8x4xf32>, %k: tensor<2x13x2x4xf32>, %s: tensor<2x2x4x4xf32>, %o: tensor<2x13x8x4xf32>) -> tensor<2x13x8x4xf32> {
  %r:2 = act.linear_attention
      ins(%q, %k, %k : tensor<2x13x8x4xf32>, tensor<2x13x2x4xf32>, tensor<2x13x2x4xf32>)
      outs(%q, %s : tensor<2x13x8x4xf32>, tensor<2x2x4x4xf32>) {feature_map = #act.square}
  %t = scf.forall (%i) in (2) shared_outs(%out = %o) -> tensor<2x13x8x4xf32> {
    %x = tensor.extract_slice %r#0[%i, 0, 4, 0] [1, 13, 4, 3] [1, 1, 1, 1] : tensor<2x13x8x4xf32> to tensor<1x13x4x3xf32>
    %y = math.tanh %x : tensor<1x13x4x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[%i, 0, 4, 0] [1, 13, 4, 3] [1, 1, 1, 1] : tensor<1x13x4x3xf32> into tensor<2x13x8x4xf32>
    }
  }
  return %t : tensor<2x13x8x4xf32>
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["act.linear_attention"]} in %module : (!transform.any_op) -> !transform.any_op
  %loop = transform.structured.match ops{["scf.forall"]} in %module : (!transform.any_op) -> !transform.any_op
  %fused, %new = transform.structured.fuse_into_containing_op %op into %loop : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// Tokens need those before them.
// CHECK-LABEL: func.func @part_of_tokens
// CHECK: scf.forall
// CHECK: %[[R:.*]]:2 = act.linear_attention ins(%{{.*}} : tensor<2x13x8x4xf32>, tensor<2x13x2x4xf32>, tensor<2x13x2x4xf32>)
// CHECK: tensor.extract_slice %[[R]]#0

module attributes {transform.with_named_sequence} {
func.func @part_of_tokens(%q: tensor<2x13x8x4xf32>, %k: tensor<2x13x2x4xf32>, %s: tensor<2x2x4x4xf32>, %o: tensor<2x13x8x4xf32>) -> tensor<2x13x8x4xf32> {
  %r:2 = act.linear_attention
      ins(%q, %k, %k : tensor<2x13x8x4xf32>, tensor<2x13x2x4xf32>, tensor<2x13x2x4xf32>)
      outs(%q, %s : tensor<2x13x8x4xf32>, tensor<2x2x4x4xf32>) {feature_map = #act.square}
  %t = scf.forall (%i) in (13) shared_outs(%out = %o) -> tensor<2x13x8x4xf32> {
    %x = tensor.extract_slice %r#0[0, %i, 0, 0] [2, 1, 8, 4] [1, 1, 1, 1] : tensor<2x13x8x4xf32> to tensor<2x1x8x4xf32>
    %y = math.tanh %x : tensor<2x1x8x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[0, %i, 0, 0] [2, 1, 8, 4] [1, 1, 1, 1] : tensor<2x1x8x4xf32> into tensor<2x13x8x4xf32>
    }
  }
  return %t : tensor<2x13x8x4xf32>
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["act.linear_attention"]} in %module : (!transform.any_op) -> !transform.any_op
  %loop = transform.structured.match ops{["scf.forall"]} in %module : (!transform.any_op) -> !transform.any_op
  %fused, %new = transform.structured.fuse_into_containing_op %op into %loop : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}

// -----

// Four heads share a state.
// CHECK-LABEL: func.func @part_of_group
// CHECK: scf.forall
// CHECK: %[[R:.*]]:2 = act.linear_attention ins(%{{.*}} : tensor<2x13x8x4xf32>, tensor<2x13x2x4xf32>, tensor<2x13x2x4xf32>)
// CHECK: tensor.extract_slice %[[R]]#0

module attributes {transform.with_named_sequence} {
func.func @part_of_group(%q: tensor<2x13x8x4xf32>, %k: tensor<2x13x2x4xf32>, %s: tensor<2x2x4x4xf32>, %o: tensor<2x13x8x4xf32>) -> tensor<2x13x8x4xf32> {
  %r:2 = act.linear_attention
      ins(%q, %k, %k : tensor<2x13x8x4xf32>, tensor<2x13x2x4xf32>, tensor<2x13x2x4xf32>)
      outs(%q, %s : tensor<2x13x8x4xf32>, tensor<2x2x4x4xf32>) {feature_map = #act.square}
  %t = scf.forall (%i) in (8) shared_outs(%out = %o) -> tensor<2x13x8x4xf32> {
    %x = tensor.extract_slice %r#0[0, 0, %i, 0] [2, 13, 1, 4] [1, 1, 1, 1] : tensor<2x13x8x4xf32> to tensor<2x13x1x4xf32>
    %y = math.tanh %x : tensor<2x13x1x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %out[0, 0, %i, 0] [2, 13, 1, 4] [1, 1, 1, 1] : tensor<2x13x1x4xf32> into tensor<2x13x8x4xf32>
    }
  }
  return %t : tensor<2x13x8x4xf32>
}

transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %op = transform.structured.match ops{["act.linear_attention"]} in %module : (!transform.any_op) -> !transform.any_op
  %loop = transform.structured.match ops{["scf.forall"]} in %module : (!transform.any_op) -> !transform.any_op
  %fused, %new = transform.structured.fuse_into_containing_op %op into %loop : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
  transform.yield
}
}
