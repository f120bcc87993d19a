//===- Passes.td - Machine code of GPU kernels -*- tablegen -*- ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_GPUTOBINARY_PASSES_TD
#define ACT_CONVERSION_GPUTOBINARY_PASSES_TD

include "mlir/Pass/PassBase.td"

def ActGPUToBinaryPass : Pass<"act-gpu-to-binary", "::mlir::ModuleOp"> {
  let summary = "Compile GPU kernels to PTX, cubins and fatbins.";
  let description = [{
    Replaces every `gpu.module`, which consists of operations of the LLVM and NVVM
    dialects, by a `gpu.binary`. Its first object is PTX text for `chip`, made by
    LLVM's NVPTX back end at O3 in this process, so that no toolkit is needed.
    Kernels are compiled on several threads; the text depends neither on their
    number nor on their order. With `format=cubin` an object of machine code for
    each of `chips` follows, which `ptxas` makes of the text; with `format=fatbin`
    one object that holds all of these and the text, made by `fatbinary`.

    The objects have a table of kernels: for each, `grid` and `block` and
    `dynamic_shared_bytes` of its launches, `static_shared_bytes`,
    `order_dependent` if it adds floats atomically, and per chip what ptxas says of
    it: `registers`, `spill_bytes`, `stack_bytes`.

    `ptxas` and `fatbinary` are those of `toolkit`, else of the environment
    variables CUDA_HOME, CUDA_ROOT or CUDA_PATH, of PATH, of /usr/local/cuda, or of
    the PyPI package nvidia-cuda-nvcc in the virtual environment that is active or
    lies beside the build folder.

    Before:

    ```mlir
    gpu.module @kernels {
      llvm.func @fill(%x: !llvm.ptr<1>, %value: f32) attributes {nvvm.kernel} { ... }
    }
    ```

    After:

    ```mlir
    gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80", ...>,
        kernels = <[#gpu.kernel_metadata<"fill", !llvm.func<void (ptr<1>, f32)>,
            metadata = {block = array<i32: 256, 1, 1>, ...}>]>,
        assembly = "...">]
    ```

    It is an error if a `builtin.unrealized_conversion_cast` is left, if a kernel
    calls what nothing defines (functions of libdevice, `__nv_*`, are not linked),
    if a chip is unknown to LLVM or older than sm_80, if launches of one kernel
    differ in grid, block or shared memory, and if a tool is missing or fails.
  }];
  let options = [
    Option<"chip", "chip", "std::string", "\"sm_80\"",
           "Oldest architecture that the text is for">,
    ListOption<"chips", "chips", "std::string",
               "Architectures to make machine code for [sm_80, sm_90, sm_100, "
               "sm_120]">,
    Option<"format", "format", "::mlir::act::KernelFormat",
           "::mlir::act::KernelFormat::PTX",
           "What to make",
           [{::llvm::cl::values(
               clEnumValN(::mlir::act::KernelFormat::PTX, "ptx", "text only"),
               clEnumValN(::mlir::act::KernelFormat::Cubin, "cubin",
                          "text, and machine code for each chip"),
               clEnumValN(::mlir::act::KernelFormat::Fatbin, "fatbin",
                          "text, and one object with all of it"))}]>,
    Option<"toolkit", "toolkit", "std::string", "",
           "Folder of the CUDA toolkit; searched if empty">
  ];
  let dependentDialects = [
    "::mlir::gpu::GPUDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect"];
}

def ActEmbedKernelsPass : Pass<"act-embed-kernels", "::mlir::ModuleOp"> {
  let summary = "Make kernels constants of the program, and launches calls.";
  let description = [{
    Turns every `gpu.binary` into constants with the layout of `act_gpu_image`
    (act-c/GpuRuntime.h), and every `gpu.launch_func` into a call of
    `act_gpu_launch`. Numbers of blocks and threads and sizes of shared memory go
    to the table of the image. A step function has the type of
    `act_gpu_step_function`: its last argument is the context that launches need.

    Before:

    ```mlir
    gpu.binary @kernels [...]
    llvm.func @main(%arguments: !llvm.ptr, %results: !llvm.ptr, %arena: !llvm.ptr,
                    %context: !llvm.ptr) -> i32 {
      ...
      gpu.launch_func @kernels::@fill blocks in (%c40, %c1, %c1)
          threads in (%c256, %c1, %c1) args(%p : !llvm.ptr<1>, %value : f32)
    ```

    After:

    ```mlir
    llvm.mlir.global internal constant @kernels_image() : !llvm.struct<...> { ... }
    llvm.func @main(...) -> i32 {
      ...
      llvm.store %p, %slot0 : !llvm.ptr<1>, !llvm.ptr
      llvm.store %value, %slot1 : f32, !llvm.ptr
      llvm.call @act_gpu_launch(%context, %image, %zero, %parameters)
    ```

    It is an error if a launch is asynchronous or clustered, if its sizes are not
    constants or differ from those of another launch of the kernel, if a parameter
    has no type of the LLVM dialect of at most 8 bytes, and if the function around
    it has another type.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // ACT_CONVERSION_GPUTOBINARY_PASSES_TD
