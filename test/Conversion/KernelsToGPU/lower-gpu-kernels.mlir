// Functions in kernels: polynomials and instructions of the device, no libdevice.

// RUN: act-opt %s --pass-pipeline="builtin.module(gpu.module(act-lower-gpu-kernels))" | FileCheck %s
// RUN: act-opt %s --pass-pipeline="builtin.module(gpu.module(act-lower-gpu-kernels),act-gpu-to-binary)" | FileCheck %s --check-prefix=PTX --implicit-check-not=.local --implicit-check-not=__nv_ --implicit-check-not=.extern --implicit-check-not=call --implicit-check-not=.approx

// PTX:      assembly = "
// PTX-SAME: .entry functions(
// PTX-SAME: sqrt.rn.f32
// PTX-SAME: .entry halves(
// PTX-SAME: .entry power(
// PTX-SAME: fma.rn.f64
// PTX-SAME: .entry circle(
// PTX-SAME: cvt.rni.f64.f64
// PTX-SAME: .entry loop(
// PTX-SAME: bar.sync
// PTX-SAME: shfl.sync.bfly.b32

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @functions(
  // CHECK-SAME:    gpu.kernel, {{.*}}nvvm.kernel
  // CHECK-NOT:     {{math\.|arith\.|scf\.|gpu\.|vector\.|llvm.call}}
  // CHECK-COUNT-2: llvm.intr.sqrt
  // CHECK:         llvm.return
  gpu.func @functions(%p: !llvm.ptr<1> {llvm.align = 16 : i64}) kernel
      attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
    %x = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %0 = math.exp %x : vector<4xf32>
    %1 = math.log %0 : vector<4xf32>
    %2 = math.tanh %1 : vector<4xf32>
    %3 = math.log1p %2 : vector<4xf32>
    %4 = math.expm1 %3 : vector<4xf32>
    %5 = math.erf %4 : vector<4xf32>
    %6 = math.rsqrt %5 : vector<4xf32>
    %7 = math.sqrt %6 : vector<4xf32>
    %8 = math.absf %7 : vector<4xf32>
    %9 = math.floor %8 : vector<4xf32>
    %10 = math.ceil %9 : vector<4xf32>
    %11 = math.roundeven %10 : vector<4xf32>
    %12 = math.copysign %11, %x : vector<4xf32>
    llvm.store %12, %p {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    gpu.return
  }

  // bf16 and f16 are computed in f32.
  // CHECK-LABEL: llvm.func @halves(
  // CHECK-NOT:     {{math\.|llvm.call}}
  // CHECK:         llvm.fpext %{{.*}} : bf16 to f32
  // CHECK:         llvm.fptrunc %{{.*}} : f32 to bf16
  // CHECK:         llvm.fpext %{{.*}} : f16 to f32
  // CHECK:         llvm.fptrunc %{{.*}} : f32 to f16
  // CHECK:         llvm.return
  gpu.func @halves(%p: !llvm.ptr<1> {llvm.align = 2 : i64}, %q: !llvm.ptr<1> {llvm.align = 2 : i64}) kernel {
    %x = llvm.load %p {alignment = 2 : i64} : !llvm.ptr<1> -> bf16
    %0 = math.exp %x : bf16
    %1 = math.tanh %0 : bf16
    llvm.store %1, %p {alignment = 2 : i64} : bf16, !llvm.ptr<1>
    %y = llvm.load %q {alignment = 2 : i64} : !llvm.ptr<1> -> f16
    %2 = math.log %y : f16
    %3 = math.erf %2 : f16
    llvm.store %3, %q {alignment = 2 : i64} : f16, !llvm.ptr<1>
    gpu.return
  }

  // Powers in f64: logarithm to the base of two, product, exponential, rounded once.
  // CHECK-LABEL: llvm.func @power(
  // CHECK-NOT:     {{math\.|llvm.call|llvm.intr.pow}}
  // CHECK-COUNT-2: llvm.fpext %{{.*}} : f32 to f64
  // CHECK:         llvm.bitcast %{{.*}} : f64 to i64
  // CHECK:         llvm.fdiv %{{.*}} : f64
  // CHECK-COUNT-8: llvm.intr.fma
  // CHECK:         llvm.intr.roundeven
  // CHECK:         llvm.intr.copysign
  // CHECK:         llvm.fptrunc %{{.*}} : f64 to f32
  // CHECK:         llvm.return
  gpu.func @power(%p: !llvm.ptr<1> {llvm.align = 4 : i64}, %y: f32) kernel {
    %x = llvm.load %p {alignment = 4 : i64} : !llvm.ptr<1> -> f32
    %0 = math.powf %x, %y : f32
    llvm.store %0, %p {alignment = 4 : i64} : f32, !llvm.ptr<1>
    gpu.return
  }

  // Sine and cosine in f64, less multiples of pi / 2 in two parts.
  // CHECK-LABEL: llvm.func @circle(
  // CHECK-NOT:     {{math\.|llvm.call|llvm.intr.sin|llvm.intr.cos|nvvm.sin}}
  // CHECK-COUNT-2: llvm.fpext %{{.*}} : vector<4xf32> to vector<4xf64>
  // CHECK:         llvm.fptosi %{{.*}} : vector<4xf64> to vector<4xi64>
  // CHECK:         llvm.fptrunc %{{.*}} : vector<4xf64> to vector<4xf32>
  // CHECK:         llvm.return
  gpu.func @circle(%p: !llvm.ptr<1> {llvm.align = 16 : i64}) kernel {
    %x = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
    %0 = math.sin %x : vector<4xf32>
    %1 = math.cos %x : vector<4xf32>
    %2 = arith.addf %0, %1 : vector<4xf32>
    llvm.store %2, %p {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    gpu.return
  }

  // Control flow, threads and barriers. Indices have 64 bits.
  // CHECK-LABEL: llvm.func @loop(
  // CHECK:         nvvm.read.ptx.sreg.tid.x
  // CHECK:         llvm.cond_br
  // CHECK:         nvvm.barrier
  // CHECK:         nvvm.shfl.sync bfly
  // CHECK-NOT:     {{scf\.|cf\.|gpu\.[st]}}
  // CHECK:         llvm.return
  gpu.func @loop(%p: !llvm.ptr<1> {llvm.align = 4 : i64}) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %sum = scf.for %i = %c0 to %t step %c1 iter_args(%s = %zero) -> f32 {
      %n = arith.index_cast %i : index to i64
      %f = arith.sitofp %n : i64 to f32
      %r = arith.addf %s, %f : f32
      scf.yield %r : f32
    }
    gpu.barrier
    %mask = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %other, %valid = gpu.shuffle xor %sum, %mask, %width : f32
    %place = arith.index_cast %t : index to i64
    %q = llvm.getelementptr %p[%place] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %other, %q {alignment = 4 : i64} : f32, !llvm.ptr<1>
    gpu.return
  }
}
