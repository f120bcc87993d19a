// RUN: act-opt %s --convert-stablehlo-to-linalg | FileCheck %s

// A constant number of iterations. The counter is the loop's, and what stays is
// not carried.
// CHECK-LABEL: func.func @counted(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>)
// CHECK-DAG:     %[[ZERO:.*]] = arith.constant 0 : index
// CHECK-DAG:     %[[TEN:.*]] = arith.constant 10 : index
// CHECK-DAG:     %[[END:.*]] = arith.constant dense<10> : tensor<i32>
// CHECK:         %[[L:.*]] = scf.for %[[I:[a-z0-9]+]] = %[[ZERO]] to %[[TEN]] step %{{.*}} iter_args(%[[A:.*]] = %[[X]]) -> (tensor<4xf32>)
// CHECK:           %[[S:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[Y]] : tensor<4xf32>, tensor<4xf32>)
// CHECK:           scf.yield %[[S]] : tensor<4xf32>
// CHECK:         return %[[END]], %[[L]], %[[Y]]
func.func @counted(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %ten = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
  %0:3 = "stablehlo.while"(%zero, %x, %y) ({
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>, %b: tensor<4xf32>):
    %1 = "stablehlo.compare"(%i, %ten) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %a: tensor<4xf32>, %b: tensor<4xf32>):
    %1 = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %2 = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%2, %1, %b) : (tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<i32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>, tensor<4xf32>)
  return %0#0, %0#1, %0#2 : tensor<i32>, tensor<4xf32>, tensor<4xf32>
}

// Short loops vanish, and shifts become constant.
// CHECK-LABEL: func.func @unrolled(
// CHECK-NOT:     scf
// CHECK:         %[[C1:.*]] = arith.constant 1 : i32
// CHECK-NEXT:    arith.shli %{{.*}}, %[[C1]] : i32
// CHECK:         %[[C2:.*]] = arith.constant 2 : i32
// CHECK-NEXT:    arith.shli %{{.*}}, %[[C2]] : i32
// CHECK-NOT:     arith.shli
// CHECK:         return
func.func @unrolled(%x: tensor<4xui32>) -> tensor<4xui32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %two = "stablehlo.constant"() <{value = dense<2> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = "stablehlo.while"(%zero, %x) ({
  ^bb0(%i: tensor<i32>, %a: tensor<4xui32>):
    %1 = "stablehlo.compare"(%i, %two) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %a: tensor<4xui32>):
    %1 = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = "stablehlo.convert"(%1) : (tensor<i32>) -> tensor<ui32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<4xui32>
    %4 = "stablehlo.shift_left"(%a, %3) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
    "stablehlo.return"(%1, %4) : (tensor<i32>, tensor<4xui32>) -> ()
  }) : (tensor<i32>, tensor<4xui32>) -> (tensor<i32>, tensor<4xui32>)
  return %0#1 : tensor<4xui32>
}

// Positions that follow from the counter are computed outside of tensors.
// CHECK-LABEL: func.func @positions(
// CHECK:         scf.for %[[I:[a-z0-9]+]] =
// CHECK-NOT:       linalg
// CHECK-NOT:       tensor.extract{{ }}
// CHECK:           arith.index_cast %[[I]] : index to i32
// CHECK:           arith.subi
// CHECK:           tensor.extract_slice
// CHECK:           tensor.insert_slice
// CHECK:           scf.yield
func.func @positions(%x: tensor<10x4xf32>) -> tensor<10x4xf32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %nine = "stablehlo.constant"() <{value = dense<9> : tensor<i32>}> : () -> tensor<i32>
  %ten = "stablehlo.constant"() <{value = dense<10> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = "stablehlo.while"(%zero, %x) ({
  ^bb0(%i: tensor<i32>, %a: tensor<10x4xf32>):
    %1 = "stablehlo.compare"(%i, %ten) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %a: tensor<10x4xf32>):
    %1 = "stablehlo.subtract"(%nine, %i) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = "stablehlo.dynamic_slice"(%a, %1, %zero) <{slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %3 = "stablehlo.dynamic_update_slice"(%a, %2, %i, %zero) : (tensor<10x4xf32>, tensor<1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<10x4xf32>
    %4 = "stablehlo.add"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%4, %3) : (tensor<i32>, tensor<10x4xf32>) -> ()
  }) : (tensor<i32>, tensor<10x4xf32>) -> (tensor<i32>, tensor<10x4xf32>)
  return %0#1 : tensor<10x4xf32>
}

// CHECK-LABEL: func.func @conditional(
// CHECK-SAME:    %[[N:.*]]: tensor<i32>, %[[X:.*]]: tensor<f32>)
// CHECK:         %[[S:.*]] = tensor.extract %[[N]][] : tensor<i32>
// CHECK:         scf.while (%{{.*}} = %[[S]], %{{.*}} = %[[X]]) : (i32, tensor<f32>) -> (i32, tensor<f32>)
// CHECK:           %[[C:.*]] = arith.cmpi sgt
// CHECK:           scf.condition(%[[C]])
// CHECK:           arith.divsi
// CHECK:           scf.yield %{{.*}}, %{{.*}} : i32, tensor<f32>
func.func @conditional(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %three = "stablehlo.constant"() <{value = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %0:2 = "stablehlo.while"(%n, %x) ({
  ^bb0(%i: tensor<i32>, %a: tensor<f32>):
    %1 = "stablehlo.compare"(%i, %one) <{comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %a: tensor<f32>):
    %1 = "stablehlo.divide"(%i, %three) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = "stablehlo.exponential"(%a) : (tensor<f32>) -> tensor<f32>
    "stablehlo.return"(%1, %2) : (tensor<i32>, tensor<f32>) -> ()
  }) : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
  return %0#1 : tensor<f32>
}

// CHECK-LABEL: func.func @branches(
// CHECK:         %[[IS_FIRST:.*]] = arith.cmpi eq, %{{.*}}, %{{.*}} : i32
// CHECK:         scf.if %[[IS_FIRST]] -> (tensor<4xf32>)
// CHECK:         scf.index_switch %{{.*}} -> i32
// CHECK:         case 0
// CHECK:         case 1
// CHECK:         default
func.func @branches(%i: tensor<i32>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %0 = "stablehlo.case"(%i) ({
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }, {
    %1 = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
  }) : (tensor<i32>) -> tensor<4xf32>
  %2 = "stablehlo.case"(%i) ({
    "stablehlo.return"(%i) : (tensor<i32>) -> ()
  }, {
    %1 = "stablehlo.negate"(%i) : (tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%1) : (tensor<i32>) -> ()
  }, {
    "stablehlo.return"(%i) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  return %0, %2 : tensor<4xf32>, tensor<i32>
}

// CHECK-LABEL: func.func @if(
// CHECK:         %[[P:.*]] = tensor.extract %{{.*}}[] : tensor<i1>
// CHECK:         scf.if %[[P]] -> (tensor<4xf32>)
func.func @if(%p: tensor<i1>, %x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.if"(%p) ({
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }, {
    "stablehlo.return"(%y) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
