//===- GpuPipelines.h - From steps to kernels for GPUs -*- C++ -*-
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_PIPELINES_GPUPIPELINES_H
#define ACT_PIPELINES_GPUPIPELINES_H

#include "act/Conversion/GPUToBinary/Passes.h"
#include "act/Conversion/KernelsToGPU/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir::act {

/// Options of the pipeline `act-to-ptx`.
struct ActToPtxOptions : PassPipelineOptions<ActToPtxOptions> {
  Option<GpuMath> math{
      *this, "math", llvm::cl::desc("How products of f32 are computed"),
      llvm::cl::init(GpuMath::Ieee),
      llvm::cl::values(clEnumValN(GpuMath::Ieee, "ieee", "in f32"),
                       clEnumValN(GpuMath::Tf32, "tf32",
                                  "on tensor cores, factors rounded"))};
  Option<std::string> chip{
      *this, "chip", llvm::cl::desc("Oldest architecture that the text is for"),
      llvm::cl::init("sm_80")};
  ListOption<std::string> chips{
      *this, "chips", llvm::cl::desc("Architectures to make machine code for")};
  Option<KernelFormat> format{
      *this, "format", llvm::cl::desc("What to make"),
      llvm::cl::init(KernelFormat::PTX),
      llvm::cl::values(clEnumValN(KernelFormat::PTX, "ptx", "text only"),
                       clEnumValN(KernelFormat::Cubin, "cubin",
                                  "text, and machine code for each chip"),
                       clEnumValN(KernelFormat::Fatbin, "fatbin",
                                  "text, and one object with all of it"))};
  Option<std::string> toolkit{*this, "toolkit",
                              llvm::cl::desc("Folder of the CUDA toolkit"),
                              llvm::cl::init("")};
};

/// How far a step is lowered already.
enum class GpuStage { Stablehlo, Kernels, LoweredKernels, Binaries, Embedded };

/// From kernels on buffers, or from a StableHLO step, to a `gpu.module` in the
/// LLVM and NVVM dialects and a step that launches.
void buildActToGpuPipeline(OpPassManager &manager,
                           const ActToPtxOptions &options,
                           GpuStage stage = GpuStage::Stablehlo);

/// The same, and machine code of the kernels.
void buildActToGpuBinaryPipeline(OpPassManager &manager,
                                 const ActToPtxOptions &options,
                                 GpuStage stage = GpuStage::Stablehlo);

/// The same, and kernels as constants, launches as calls: `act-to-ptx`.
void buildActToPtxPipeline(OpPassManager &manager,
                           const ActToPtxOptions &options,
                           GpuStage stage = GpuStage::Stablehlo);

/// What is left of the step, which launches, to the LLVM dialect.
void buildGpuHostPipeline(OpPassManager &manager);

/// Registers `act-to-ptx`.
void registerActGpuPipelines();

} // namespace mlir::act

#endif // ACT_PIPELINES_GPUPIPELINES_H
