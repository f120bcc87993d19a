// REQUIRES: ptxas
// RUN: act-opt %s --pass-pipeline="builtin.module(test-emit-products,gpu.module(act-lower-gpu-kernels),act-gpu-to-binary{format=cubin})" 2>/dev/null | tr "#" "\n" | FileCheck %s
// RUN: act-opt %s --pass-pipeline="builtin.module(test-emit-products{tf32=true},gpu.module(act-lower-gpu-kernels),act-gpu-to-binary{format=cubin})" 2>/dev/null | tr "#" "\n" | FileCheck %s --check-prefix=TF32

// No kernel spills. One with blocks of at most 128 by 128 leaves half
// of the registers to another block.
// CHECK: metadata<"bf16_nn"
// CHECK-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK: metadata<"bf16_nt"
// CHECK-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK: metadata<"bf16_tn"
// CHECK-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK: metadata<"bf16_tt"
// CHECK-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK: metadata<"double"
// CHECK-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK: metadata<"f32_nn"
// CHECK-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK: metadata<"f32_nt"
// CHECK-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK: metadata<"f32_tn"
// CHECK-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK: metadata<"f32_tt"
// CHECK-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK: metadata<"small"
// CHECK-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK: metadata<"tails"
// CHECK-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// CHECK: metadata<"wide"
// CHECK-SAME: sm_100 = {registers = {{[0-9]+}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_120 = {registers = {{[0-9]+}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_80 = {registers = {{[0-9]+}} : i64, spill_bytes = 0 :
// CHECK-SAME: sm_90 = {registers = {{[0-9]+}} : i64, spill_bytes = 0 :
// TF32: metadata<"f32_nn"
// TF32-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32: metadata<"f32_nt"
// TF32-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32: metadata<"f32_tn"
// TF32-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32: metadata<"f32_tt"
// TF32-SAME: sm_100 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32-SAME: sm_120 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32-SAME: sm_80 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :
// TF32-SAME: sm_90 = {registers = {{[0-9]|[0-9][0-9]|1[01][0-9]|12[0-8]}} : i64, spill_bytes = 0 :

#none = affine_map<(m, n) -> ()>
#all = affine_map<(m, n) -> (m, n)>
#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @bf16_nn(%a0: memref<1408x1024xbf16>, %b0: memref<1024x1408xbf16>, %c0: memref<1408x1408xbf16>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<1408x1024xbf16>, memref<1024x1408xbf16>, memref<1408x1408xbf16>) {
  ^bb0(%a: memref<1408x1024xbf16>, %b: memref<1024x1408xbf16>, %c: memref<1408x1408xbf16>):
    %zero = arith.constant 0.0 : bf16
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : bf16) outs(%c : memref<1408x1408xbf16>) {
    ^bb0(%x: bf16, %z: bf16):
      linalg.yield %x : bf16
    }
    linalg.generic {indexing_maps = [#mk, #kn, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<1408x1024xbf16>, memref<1024x1408xbf16>) outs(%c : memref<1408x1408xbf16>) {
    ^bb0(%x: bf16, %y: bf16, %z: bf16):
      %m = arith.mulf %x, %y : bf16
      %s = arith.addf %z, %m : bf16
      linalg.yield %s : bf16
    }
  }
  return
}

func.func @bf16_nt(%a0: memref<1408x1024xbf16>, %b0: memref<1408x1024xbf16>, %c0: memref<1408x1408xbf16>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<1408x1024xbf16>, memref<1408x1024xbf16>, memref<1408x1408xbf16>) {
  ^bb0(%a: memref<1408x1024xbf16>, %b: memref<1408x1024xbf16>, %c: memref<1408x1408xbf16>):
    %zero = arith.constant 0.0 : bf16
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : bf16) outs(%c : memref<1408x1408xbf16>) {
    ^bb0(%x: bf16, %z: bf16):
      linalg.yield %x : bf16
    }
    linalg.generic {indexing_maps = [#mk, #nk, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<1408x1024xbf16>, memref<1408x1024xbf16>) outs(%c : memref<1408x1408xbf16>) {
    ^bb0(%x: bf16, %y: bf16, %z: bf16):
      %m = arith.mulf %x, %y : bf16
      %s = arith.addf %z, %m : bf16
      linalg.yield %s : bf16
    }
  }
  return
}

func.func @bf16_tn(%a0: memref<1024x1408xbf16>, %b0: memref<1024x1408xbf16>, %c0: memref<1408x1408xbf16>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<1024x1408xbf16>, memref<1024x1408xbf16>, memref<1408x1408xbf16>) {
  ^bb0(%a: memref<1024x1408xbf16>, %b: memref<1024x1408xbf16>, %c: memref<1408x1408xbf16>):
    %zero = arith.constant 0.0 : bf16
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : bf16) outs(%c : memref<1408x1408xbf16>) {
    ^bb0(%x: bf16, %z: bf16):
      linalg.yield %x : bf16
    }
    linalg.generic {indexing_maps = [#km, #kn, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<1024x1408xbf16>, memref<1024x1408xbf16>) outs(%c : memref<1408x1408xbf16>) {
    ^bb0(%x: bf16, %y: bf16, %z: bf16):
      %m = arith.mulf %x, %y : bf16
      %s = arith.addf %z, %m : bf16
      linalg.yield %s : bf16
    }
  }
  return
}

func.func @bf16_tt(%a0: memref<1024x1408xbf16>, %b0: memref<1408x1024xbf16>, %c0: memref<1408x1408xbf16>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<1024x1408xbf16>, memref<1408x1024xbf16>, memref<1408x1408xbf16>) {
  ^bb0(%a: memref<1024x1408xbf16>, %b: memref<1408x1024xbf16>, %c: memref<1408x1408xbf16>):
    %zero = arith.constant 0.0 : bf16
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : bf16) outs(%c : memref<1408x1408xbf16>) {
    ^bb0(%x: bf16, %z: bf16):
      linalg.yield %x : bf16
    }
    linalg.generic {indexing_maps = [#km, #nk, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<1024x1408xbf16>, memref<1408x1024xbf16>) outs(%c : memref<1408x1408xbf16>) {
    ^bb0(%x: bf16, %y: bf16, %z: bf16):
      %m = arith.mulf %x, %y : bf16
      %s = arith.addf %z, %m : bf16
      linalg.yield %s : bf16
    }
  }
  return
}

func.func @f32_nn(%a0: memref<1408x1024xf32>, %b0: memref<1024x1408xf32>, %c0: memref<1408x1408xf32>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<1408x1024xf32>, memref<1024x1408xf32>, memref<1408x1408xf32>) {
  ^bb0(%a: memref<1408x1024xf32>, %b: memref<1024x1408xf32>, %c: memref<1408x1408xf32>):
    %zero = arith.constant 0.0 : f32
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : f32) outs(%c : memref<1408x1408xf32>) {
    ^bb0(%x: f32, %z: f32):
      linalg.yield %x : f32
    }
    linalg.generic {indexing_maps = [#mk, #kn, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<1408x1024xf32>, memref<1024x1408xf32>) outs(%c : memref<1408x1408xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %z, %m : f32
      linalg.yield %s : f32
    }
  }
  return
}

func.func @f32_nt(%a0: memref<1408x1024xf32>, %b0: memref<1408x1024xf32>, %c0: memref<1408x1408xf32>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<1408x1024xf32>, memref<1408x1024xf32>, memref<1408x1408xf32>) {
  ^bb0(%a: memref<1408x1024xf32>, %b: memref<1408x1024xf32>, %c: memref<1408x1408xf32>):
    %zero = arith.constant 0.0 : f32
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : f32) outs(%c : memref<1408x1408xf32>) {
    ^bb0(%x: f32, %z: f32):
      linalg.yield %x : f32
    }
    linalg.generic {indexing_maps = [#mk, #nk, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<1408x1024xf32>, memref<1408x1024xf32>) outs(%c : memref<1408x1408xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %z, %m : f32
      linalg.yield %s : f32
    }
  }
  return
}

func.func @f32_tn(%a0: memref<1024x1408xf32>, %b0: memref<1024x1408xf32>, %c0: memref<1408x1408xf32>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<1024x1408xf32>, memref<1024x1408xf32>, memref<1408x1408xf32>) {
  ^bb0(%a: memref<1024x1408xf32>, %b: memref<1024x1408xf32>, %c: memref<1408x1408xf32>):
    %zero = arith.constant 0.0 : f32
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : f32) outs(%c : memref<1408x1408xf32>) {
    ^bb0(%x: f32, %z: f32):
      linalg.yield %x : f32
    }
    linalg.generic {indexing_maps = [#km, #kn, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<1024x1408xf32>, memref<1024x1408xf32>) outs(%c : memref<1408x1408xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %z, %m : f32
      linalg.yield %s : f32
    }
  }
  return
}

func.func @f32_tt(%a0: memref<1024x1408xf32>, %b0: memref<1408x1024xf32>, %c0: memref<1408x1408xf32>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<1024x1408xf32>, memref<1408x1024xf32>, memref<1408x1408xf32>) {
  ^bb0(%a: memref<1024x1408xf32>, %b: memref<1408x1024xf32>, %c: memref<1408x1408xf32>):
    %zero = arith.constant 0.0 : f32
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : f32) outs(%c : memref<1408x1408xf32>) {
    ^bb0(%x: f32, %z: f32):
      linalg.yield %x : f32
    }
    linalg.generic {indexing_maps = [#km, #nk, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<1024x1408xf32>, memref<1408x1024xf32>) outs(%c : memref<1408x1408xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %z, %m : f32
      linalg.yield %s : f32
    }
  }
  return
}

func.func @tails(%a0: memref<1500x1023xf32>, %b0: memref<1023x1301xf32>, %c0: memref<1500x1301xf32>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<1500x1023xf32>, memref<1023x1301xf32>, memref<1500x1301xf32>) {
  ^bb0(%a: memref<1500x1023xf32>, %b: memref<1023x1301xf32>, %c: memref<1500x1301xf32>):
    %zero = arith.constant 0.0 : f32
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : f32) outs(%c : memref<1500x1301xf32>) {
    ^bb0(%x: f32, %z: f32):
      linalg.yield %x : f32
    }
    linalg.generic {indexing_maps = [#mk, #kn, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<1500x1023xf32>, memref<1023x1301xf32>) outs(%c : memref<1500x1301xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %m = arith.mulf %x, %y : f32
      %s = arith.addf %z, %m : f32
      linalg.yield %s : f32
    }
  }
  return
}

func.func @small(%a0: memref<100x70xf16>, %b0: memref<70x60xf16>, %c0: memref<100x60xf32>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<100x70xf16>, memref<70x60xf16>, memref<100x60xf32>) {
  ^bb0(%a: memref<100x70xf16>, %b: memref<70x60xf16>, %c: memref<100x60xf32>):
    linalg.generic {indexing_maps = [#mk, #kn, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<100x70xf16>, memref<70x60xf16>) outs(%c : memref<100x60xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %xe = arith.extf %x : f16 to f32
      %ye = arith.extf %y : f16 to f32
      %m = arith.mulf %xe, %ye : f32
      %s = arith.addf %z, %m : f32
      linalg.yield %s : f32
    }
  }
  return
}

func.func @double(%a0: memref<256x70xf64>, %b0: memref<70x256xf64>, %c0: memref<256x256xf64>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<256x70xf64>, memref<70x256xf64>, memref<256x256xf64>) {
  ^bb0(%a: memref<256x70xf64>, %b: memref<70x256xf64>, %c: memref<256x256xf64>):
    %zero = arith.constant 0.0 : f64
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : f64) outs(%c : memref<256x256xf64>) {
    ^bb0(%x: f64, %z: f64):
      linalg.yield %x : f64
    }
    linalg.generic {indexing_maps = [#mk, #kn, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<256x70xf64>, memref<70x256xf64>) outs(%c : memref<256x256xf64>) {
    ^bb0(%x: f64, %y: f64, %z: f64):
      %m = arith.mulf %x, %y : f64
      %s = arith.addf %z, %m : f64
      linalg.yield %s : f64
    }
  }
  return
}

func.func @wide(%a0: memref<4096x1024xbf16>, %b0: memref<1024x4096xbf16>, %c0: memref<4096x4096xbf16>) {
  act.kernel contraction [] (%a0, %b0, %c0 : memref<4096x1024xbf16>, memref<1024x4096xbf16>, memref<4096x4096xbf16>) {
  ^bb0(%a: memref<4096x1024xbf16>, %b: memref<1024x4096xbf16>, %c: memref<4096x4096xbf16>):
    %zero = arith.constant 0.0 : bf16
    linalg.generic {indexing_maps = [#none, #all],
                    iterator_types = ["parallel", "parallel"]}
        ins(%zero : bf16) outs(%c : memref<4096x4096xbf16>) {
    ^bb0(%x: bf16, %z: bf16):
      linalg.yield %x : bf16
    }
    linalg.generic {indexing_maps = [#mk, #kn, #mn],
                    iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<4096x1024xbf16>, memref<1024x4096xbf16>) outs(%c : memref<4096x4096xbf16>) {
    ^bb0(%x: bf16, %y: bf16, %z: bf16):
      %m = arith.mulf %x, %y : bf16
      %s = arith.addf %z, %m : bf16
      linalg.yield %s : bf16
    }
  }
  return
}
