// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition),act-choose-encodings,act-report)' -o /dev/null | FileCheck %s
// RUN: act-opt %s --pass-pipeline='builtin.module(func.func(act-partition),act-choose-encodings,act-report{output=%t.json})' | FileCheck %s --check-prefix=IR
// RUN: %python -m json.tool %t.json | FileCheck %s --check-prefix=CHECK
// RUN: not act-opt %s --pass-pipeline='builtin.module(func.func(act-partition),act-report{output=%t.dir/none/report.json})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNWRITABLE
// RUN: not act-opt %s --pass-pipeline='builtin.module(func.func(act-partition),act-report{primal-results=9})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=PRIMAL
// RUN: echo "module {}" | not act-opt --act-report 2>&1 | FileCheck %s --check-prefix=EMPTY

// IR: act.compressed_save
// UNWRITABLE: error: act-report cannot write '{{.*}}report.json': {{.*}}No such file or directory
// PRIMAL: error: {{.*}}expects at most 5 primal results
// EMPTY: error: act-report expects a public function

// CHECK:      {
// CHECK-NEXT:   "function": "step",
// CHECK-NEXT:   "primal_results": 1,
// CHECK-NEXT:   "boundaries": 1,
// CHECK-NEXT:   "loop_pairs": 0,
// CHECK-NEXT:   "sliced_loops": 0,
// CHECK-NEXT:   "sliced_steps": 0,
// CHECK-NEXT:   "forward_operations": [[#]],
// CHECK-NEXT:   "backward_operations": [[#]],
// CHECK-NEXT:   "cloned_operations": 1,
// CHECK-NEXT:   "recomputed_contractions": 0,
// CHECK-NEXT:   "recomputed_flops": 0,
// CHECK-NEXT:   "raw_bytes": 147456,
// CHECK-NEXT:   "stash_bytes": 76800,
// CHECK-NEXT:   "survivors": [
// CHECK-NEXT:     {
// CHECK-NEXT:       "operation": "stablehlo.dot",
// CHECK-NEXT:       "location": "jit(step)/jvp()/dot",
// CHECK-NEXT:       "shape": [
// CHECK-NEXT:         128,
// CHECK-NEXT:         128
// CHECK-NEXT:       ],
// CHECK-NEXT:       "element_type": "f32",
// CHECK-NEXT:       "key": "jit(step)/jvp()/dot#[[HASH:[0-9a-f]+]]",
// CHECK-NEXT:       "copies": 1,
// CHECK-NEXT:       "encoding": "#act.group_quant<bits = 4, group = 64>",
// CHECK-NEXT:       "bits_per_element": 4.5,
// CHECK-NEXT:       "bytes_before": 65536,
// CHECK-NEXT:       "bytes_after": 9216,
// CHECK-NEXT:       "lossless": false,
// CHECK-NEXT:       "reason": "not recomputable, rounding errors are unbiased"
// CHECK-NEXT:     },
// CHECK:          "operation": "stablehlo.compare",
// CHECK-NEXT:       "location": "",
// CHECK:            "element_type": "i1",
// CHECK-NEXT:       "key":
// CHECK-NEXT:       "copies": 1,
// CHECK-NEXT:       "encoding": "#act.mask",
// CHECK-NEXT:       "bits_per_element": 1,
// CHECK-NEXT:       "bytes_before": 16384,
// CHECK-NEXT:       "bytes_after": 2048,
// CHECK-NEXT:       "lossless": true,
// CHECK-NEXT:       "reason": "predicates are restored exactly"
// CHECK:            "operation": "stablehlo.while",
// CHECK:            "encoding": "#act.raw",
// CHECK:            "reason": "results of loops are left as they are"
// CHECK:        "not_compressed": [
// CHECK-NEXT:     {
// CHECK-NEXT:       "operation": "stablehlo.while",
// CHECK:            "bytes": 65536,
// CHECK-NEXT:       "reason": "results of loops are left as they are"
// CHECK-NEXT:     },
// CHECK-NEXT:     {
// CHECK-NEXT:       "operation": "stablehlo.dot",
// CHECK:            "bytes": 65536,
// CHECK-NEXT:       "reason": "read at the turning point, where everything is alive"
// CHECK-NEXT:     }
// CHECK-NEXT:   ],
// CHECK-NEXT:   "unpaired_loops": []
// CHECK-NEXT: }

!t = tensor<128x128xf32>
!p = tensor<128x128xi1>
func.func private @callee(!t)
func.func @step(%x: !t, %w: !t, %v: !t) -> (!t, !t, !t, !t, !t) {
  %z = "stablehlo.dot"(%x, %w) : (!t, !t) -> !t loc("jit(step)/jvp()/dot")
  %s = "stablehlo.sine"(%z) : (!t) -> !t
  %p = "stablehlo.compare"(%z, %v) : (!t, !t) -> !p
  %l = "stablehlo.while"(%v) ({
  ^bb0(%a: !t):
    %c = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    "stablehlo.return"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: !t):
    "stablehlo.return"(%a) : (!t) -> ()
  }) : (!t) -> !t
  %m = "stablehlo.select"(%p, %s, %l) : (!p, !t, !t) -> !t
  %y = "stablehlo.dot"(%m, %v) : (!t, !t) -> !t
  %g = "stablehlo.multiply"(%y, %y) : (!t, !t) -> !t
  %d0 = "stablehlo.clamp"(%z, %g, %s) : (!t, !t, !t) -> !t
  %d1 = "stablehlo.select"(%p, %d0, %y) : (!p, !t, !t) -> !t
  %d2 = "stablehlo.multiply"(%l, %d1) : (!t, !t) -> !t
  return %y, %d0, %d1, %d2, %w : !t, !t, !t, !t, !t
}
