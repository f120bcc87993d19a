// RUN: act-opt %s --pass-pipeline="builtin.module(func.func(act-tile-random{tile-bytes=4096}))" \
// RUN:   --remarks-filter="act" --remark-format=emitRemark 2>&1 | FileCheck %s

// A loop over tiles would gather what devices compute a part of each.

// CHECK:     remark: [Missed] {{.*}}random values are not tiled: the step is partitioned
// CHECK-NOT: act.tiled_random
module attributes {mhlo.num_partitions = 2 : i32} {
func.func @step() -> tensor<4096xui32> {
  %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %one = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
  %five = "stablehlo.constant"() <{value = dense<5> : tensor<i32>}> : () -> tensor<i32>
  %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4096xui32>
  %w:2 = "stablehlo.while"(%zero, %i) ({
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %more = "stablehlo.compare"(%n, %five) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    "stablehlo.return"(%more) : (tensor<i1>) -> ()
  }, {
  ^bb0(%n: tensor<i32>, %a: tensor<4096xui32>):
    %b = "stablehlo.add"(%a, %a) : (tensor<4096xui32>, tensor<4096xui32>) -> tensor<4096xui32>
    %m = "stablehlo.add"(%n, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "stablehlo.return"(%m, %b) : (tensor<i32>, tensor<4096xui32>) -> ()
  }) : (tensor<i32>, tensor<4096xui32>) -> (tensor<i32>, tensor<4096xui32>)
  return %w#1 : tensor<4096xui32>
}
}
