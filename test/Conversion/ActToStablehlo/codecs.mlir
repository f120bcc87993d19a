// With codecs=ops saves and loads stay operations, on the tensors that store the
// values. All else is as without: barriers, stacks, salts.

// RUN: act-opt %s --convert-act-to-stablehlo=codecs=ops | FileCheck %s
// RUN: act-opt %s --convert-act-to-stablehlo="codecs=ops seed=5" | FileCheck %s --check-prefix=SEED
// RUN: act-opt %s --convert-act-to-stablehlo=codecs=functions | FileCheck %s --check-prefix=FUNCTIONS

#lt = #stablehlo<comparison_direction LT>
!t = tensor<8x64xf32>
!q = !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>
!m = !act.compressed<tensor<8x64xi1>, #act.mask>
!r = !act.compressed<tensor<8xf32>, #act.raw>
!qs = !act.stack<6 x !q>

// The salt is the constant that the functions are called with; FUNCTIONS checks
// that.
// CHECK-LABEL: func.func @straight(
// CHECK-SAME:    %[[X:.*]]: tensor<8x64xf32>, %[[M:.*]]: tensor<8x64xi1>, %[[R:.*]]: tensor<8xf32>, %[[G:.*]]: tensor<8x64xf32>)
// CHECK:         %[[SALT:.*]] = "stablehlo.constant"() <{value = dense<4169906344> : tensor<ui32>}>
// CHECK-DAG:     %[[E0:.*]] = tensor.empty() : tensor<8x1x32xui8>
// CHECK-DAG:     %[[E1:.*]] = tensor.empty() : tensor<8x1x1xbf16>
// CHECK-DAG:     %[[E2:.*]] = tensor.empty() : tensor<8x1x1xbf16>
// CHECK:         %[[C:.*]]:3 = act.encode ins(%[[X]] : tensor<8x64xf32>) salt(%[[SALT]] : tensor<ui32>)
// CHECK-SAME:      outs(%[[E0]], %[[E1]], %[[E2]] : tensor<8x1x32xui8>, tensor<8x1x1xbf16>, tensor<8x1x1xbf16>) {encoding = #act.group_quant<bits = 4, group = 64>}
// CHECK:         %[[E3:.*]] = tensor.empty() : tensor<8x8xui8>
// CHECK-NEXT:    %[[D:.*]] = act.encode ins(%[[M]] : tensor<8x64xi1>) outs(%[[E3]] : tensor<8x8xui8>) {encoding = #act.mask}
// CHECK-NEXT:    %[[B:.*]]:6 = "stablehlo.optimization_barrier"(%[[C]]#0, %[[C]]#1, %[[C]]#2, %[[D]], %[[R]], %[[G]])
// CHECK-NEXT:    %[[E4:.*]] = tensor.empty() : tensor<8x64xf32>
// CHECK-NEXT:    %[[Y:.*]] = act.decode ins(%[[B]]#0, %[[B]]#1, %[[B]]#2 : tensor<8x1x32xui8>, tensor<8x1x1xbf16>, tensor<8x1x1xbf16>) outs(%[[E4]] : tensor<8x64xf32>) {encoding = #act.group_quant<bits = 4, group = 64>}
// CHECK-NEXT:    %[[E5:.*]] = tensor.empty() : tensor<8x64xi1>
// CHECK-NEXT:    %[[N:.*]] = act.decode ins(%[[B]]#3 : tensor<8x8xui8>) outs(%[[E5]] : tensor<8x64xi1>) {encoding = #act.mask}
// CHECK-NEXT:    return %[[Y]], %[[N]], %[[B]]#4
// CHECK-NOT:     func.func private
//
// SEED-LABEL:    func.func @straight(
// SEED-NOT:      dense<4169906344>
// SEED:          act.encode
//
// FUNCTIONS-LABEL: func.func @straight(
// FUNCTIONS:     %[[SALT:.*]] = "stablehlo.constant"() <{value = dense<4169906344> : tensor<ui32>}>
// FUNCTIONS:     call @act_save_group_quant4_8x64xf32(%{{.*}}, %[[SALT]])
// FUNCTIONS-NOT: act.encode
func.func @straight(%x: !t, %mask: tensor<8x64xi1>, %r: tensor<8xf32>, %g: !t)
    -> (!t, tensor<8x64xi1>, tensor<8xf32>) {
  %c = act.compressed_save %x {id = 3 : i64} : !t to !q
  %d = act.compressed_save %mask : tensor<8x64xi1> to !m
  %e = act.compressed_save %r : tensor<8xf32> to !r
  %c1, %d1, %e1, %g1 = act.barrier %c, %d, %e, %g : !q, !m, !r, !t
  %y = act.dequantize_load %c1 : !q to !t
  %n = act.dequantize_load %d1 : !m to tensor<8x64xi1>
  %s = act.dequantize_load %e1 : !r to tensor<8xf32>
  return %y, %n, %s : !t, tensor<8x64xi1>, tensor<8xf32>
}

// In a loop the salt depends on the counter, and what is stored is pushed.
// CHECK-LABEL: func.func @loop(
// CHECK:         "stablehlo.while"
// CHECK:         }, {
// CHECK-NEXT:    ^bb0(%[[I:.*]]: tensor<i32>, %[[S0:.*]]: tensor<6x8x1x32xui8>, %{{.*}}: tensor<6x8x1x1xbf16>, %{{.*}}: tensor<6x8x1x1xbf16>, %[[H:.*]]: tensor<8x64xf32>):
// CHECK-NEXT:      %[[K:.*]] = "stablehlo.constant"() <{value = dense<3793791033> : tensor<ui32>}>
// CHECK-NEXT:      %[[N:.*]] = "stablehlo.convert"(%[[I]]) : (tensor<i32>) -> tensor<ui32>
// CHECK-NEXT:      %[[A:.*]] = "stablehlo.constant"() <{value = dense<2246822519> : tensor<ui32>}>
// CHECK-NEXT:      %[[P:.*]] = "stablehlo.multiply"(%[[N]], %[[A]])
// CHECK-NEXT:      %[[SALT:.*]] = "stablehlo.add"(%[[K]], %[[P]])
// CHECK:           %[[C:.*]]:3 = act.encode ins(%[[H]] : tensor<8x64xf32>) salt(%[[SALT]] : tensor<ui32>)
// CHECK-NEXT:      %[[ROW:.*]] = "stablehlo.reshape"(%[[C]]#0) : (tensor<8x1x32xui8>) -> tensor<1x8x1x32xui8>
// CHECK:           "stablehlo.dynamic_update_slice"(%[[S0]], %[[ROW]], %[[I]],
func.func @loop(%x: !t) -> !t {
  %c0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %c1 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %c6 = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
  %empty = act.empty_stack : !qs
  %f:3 = "stablehlo.while"(%c0, %empty, %x) ({
  ^bb0(%i: tensor<i32>, %s: !qs, %h: !t):
    %p = "stablehlo.compare"(%i, %c6) <{comparison_direction = #lt}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %s: !qs, %h: !t):
    %c = act.compressed_save %h : !t to !q
    %s1 = act.stack_push %c, %s[%i] : tensor<i32>, !qs
    %y = "stablehlo.tanh"(%h) : (!t) -> !t
    %i1 = "stablehlo.add"(%i, %c1) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%i1, %s1, %y) : (tensor<i32>, !qs, !t) -> ()
  }) : (tensor<i32>, !qs, !t) -> (tensor<i32>, !qs, !t)
  return %f#2 : !t
}
