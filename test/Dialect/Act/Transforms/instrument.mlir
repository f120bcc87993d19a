// RUN: act-opt %s --act-instrument --split-input-file | FileCheck %s
// RUN: act-opt %s --act-instrument --split-input-file --convert-act-to-stablehlo | FileCheck %s --check-prefix=LOWERED

!t = tensor<128x128xf32>
!q = !act.compressed<!t, #act.group_quant<bits = 4, group = 64>>
!b = !act.compressed<!t, #act.float<type = bf16>>
!r = !act.compressed<!t, #act.raw>

// Lossy saves get levels in program order and store what they would restore; what
// has no loss stays as it is. Types change as far as the saved value goes.

// CHECK-LABEL: func.func @step(
// CHECK-SAME:    %[[X:.*]]: tensor<128x128xf32> {test.argument}, %[[LEVELS:.*]]: tensor<2xf32>, %[[SEED:.*]]: tensor<ui32>)
// CHECK-DAG:     %[[L0:.*]] = "stablehlo.slice"(%[[LEVELS]]) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-DAG:     %[[R0:.*]] = "stablehlo.reshape"(%[[L0]]) : (tensor<1xf32>) -> tensor<f32>
// CHECK-DAG:     %[[L1:.*]] = "stablehlo.slice"(%[[LEVELS]]) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<2xf32>) -> tensor<1xf32>
// CHECK-DAG:     %[[R1:.*]] = "stablehlo.reshape"(%[[L1]]) : (tensor<1xf32>) -> tensor<f32>
// CHECK:         %[[C:.*]] = act.compressed_save %[[X]] exact <statistic> {id = 1 : i64} : {{.*}}, #act.raw>
// CHECK-NEXT:    %[[Q:.*]] = act.round_trip %[[X]] levels(%[[R0]] : tensor<f32>) seed(%[[SEED]] : tensor<ui32>) encoding(#act.group_quant<bits = 4, group = 64>) {id = 2 : i64} : tensor<128x128xf32>
// CHECK-NEXT:    %[[D:.*]] = act.compressed_save %[[Q]] {id = 2 : i64} : {{.*}}, #act.raw> key "x#1"
// CHECK-NEXT:    %[[F:.*]]:2 = act.barrier %[[X]], %[[D]] : tensor<128x128xf32>, !act.compressed<tensor<128x128xf32>, #act.raw>
// CHECK-NEXT:    %[[B:.*]] = act.round_trip %[[F]]#0 levels(%[[R1]] : tensor<f32>) seed(%[[SEED]] : tensor<ui32>) encoding(#act.float<type = bf16>) {id = 3 : i64}
// CHECK-NEXT:    %[[E:.*]] = act.compressed_save %[[B]] {id = 3 : i64} : {{.*}}, #act.raw>
// CHECK-NEXT:    act.dequantize_load %[[C]]
// CHECK-NEXT:    act.dequantize_load %[[F]]#1 : <tensor<128x128xf32>, #act.raw>
// CHECK-NEXT:    act.dequantize_load %[[E]]

// Noise is that of the save, which the seed changes. With levels 0 the value passes.
// Encodings without codes round as always.

// LOWERED-LABEL: func.func @step(
// LOWERED:         %[[OWN:.*]] = "stablehlo.constant"() <{value = dense<113532184> : tensor<ui32>}>
// LOWERED:         %[[SALT:.*]] = "stablehlo.add"(%[[OWN]], %{{.*}}) : (tensor<ui32>, tensor<ui32>) -> tensor<ui32>
// LOWERED:         call @act_round_trip_group_quant4_128x128xf32(%{{.*}}, %{{.*}}, %[[SALT]]) : (tensor<128x128xf32>, tensor<f32>, tensor<ui32>) -> tensor<128x128xf32>
// LOWERED:         call @act_round_trip_bf16_128x128xf32(%{{.*}}, %{{.*}}) : (tensor<128x128xf32>, tensor<f32>) -> tensor<128x128xf32>
// LOWERED-LABEL: func.func private @act_round_trip_group_quant4_128x128xf32(
// LOWERED-SAME:    %[[T:.*]]: tensor<128x128xf32>, %[[L:.*]]: tensor<f32>, %{{.*}}: tensor<ui32>)
// LOWERED-NOT:     ui8
// LOWERED:         %[[ANY:.*]] = "stablehlo.compare"(%[[L]], %{{.*}}) {{.*}}GT
// LOWERED-NEXT:    %[[S:.*]] = "stablehlo.select"(%[[ANY]], %{{.*}}, %[[T]]) : (tensor<i1>,
// LOWERED-NEXT:    return %[[S]]
// LOWERED-LABEL: func.func private @act_round_trip_bf16_128x128xf32(
func.func @step(%x: !t {test.argument}) -> (!t, !t, !t) {
  %c = act.compressed_save %x exact <statistic> {id = 1 : i64} : !t to !r
  %d = act.compressed_save %x {id = 2 : i64} : !t to !q key "x#1"
  %f:2 = act.barrier %x, %d : !t, !q
  %e = act.compressed_save %f#0 {id = 3 : i64} : !t to !b
  %0 = act.dequantize_load %c : !r to !t
  %1 = act.dequantize_load %f#1 : !q to !t
  %2 = act.dequantize_load %e : !b to !t
  return %0, %1, %2 : !t, !t, !t
}

// -----

// Without a lossy save nothing changes.

// CHECK-LABEL: func.func @exact(
// CHECK-SAME:    %{{.*}}: tensor<128x128xf32>) ->
// CHECK-NEXT:    act.compressed_save
// CHECK-NOT:     act.round_trip
func.func @exact(%x: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %c = act.compressed_save %x : tensor<128x128xf32> to !act.compressed<tensor<128x128xf32>, #act.raw>
  %0 = act.dequantize_load %c : !act.compressed<tensor<128x128xf32>, #act.raw> to tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

// -----

// A save in a loop has one level for all iterations, and noise of its own in each.

!t = tensor<64x64xf32>
!c = !act.compressed<!t, #act.group_quant<bits = 4, group = 64>>
!s = !act.stack<6 x !c>

// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %[[X:[a-z0-9]*]]: tensor<64x64xf32>, %[[LEVELS:.*]]: tensor<1xf32>, %[[SEED:.*]]: tensor<ui32>)
// CHECK:         %[[L:.*]] = "stablehlo.reshape"
// CHECK:         act.empty_stack : <6 x !act.compressed<tensor<64x64xf32>, #act.raw>>
// CHECK:         "stablehlo.while"
// CHECK:         ^bb0(%{{.*}}: tensor<i32>, %[[H:.*]]: tensor<64x64xf32>, %{{.*}}: !act.stack<6 x !act.compressed<tensor<64x64xf32>, #act.raw>>):
// CHECK:           %[[R:.*]] = act.round_trip %[[H]] levels(%[[L]] : tensor<f32>) seed(%[[SEED]] : tensor<ui32>)
// CHECK:           act.compressed_save %[[R]]
// CHECK:           act.stack_push {{.*}} #act.raw
// CHECK:         act.stack_read {{.*}} #act.raw

// LOWERED-LABEL: func.func @loop(
// LOWERED:         "stablehlo.while"
// LOWERED:         ^bb0(%[[I:.*]]: tensor<i32>, %{{.*}}: tensor<64x64xf32>, %{{.*}}: tensor<6x64x64xf32>):
// LOWERED:           %[[COUNT:.*]] = "stablehlo.convert"(%[[I]]) : (tensor<i32>) -> tensor<ui32>
// LOWERED:           call @act_round_trip_group_quant4_64x64xf32
func.func @loop(%x: !t) -> (!t, !t) {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %e = act.empty_stack : !s
  %w:3 = "stablehlo.while"(%zero, %x, %e) ({
  ^bb0(%i: tensor<i32>, %h: !t, %s: !s):
    %six = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
    %p = "stablehlo.compare"(%i, %six) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%p) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %h: !t, %s: !s):
    %c = act.compressed_save %h : !t to !c
    %s1 = act.stack_push %c, %s[%i] : tensor<i32>, !s
    %y = "stablehlo.sine"(%h) : (!t) -> !t
    %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %next = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%next, %y, %s1) : (tensor<i32>, !t, !s) -> ()
  }) : (tensor<i32>, !t, !s) -> (tensor<i32>, !t, !s)
  %c = act.stack_read %w#2[%zero] : tensor<i32>, !s
  %l = act.dequantize_load %c : !c to !t
  return %w#1, %l : !t, !t
}
