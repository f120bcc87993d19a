//===- GpuPipelines.cpp - From steps to kernels for GPUs ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Pipelines/GpuPipelines.h"
#include "act/Conversion/LinalgToKernels/Passes.h"
#include "act/Pipelines/NativePipelines.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::act;

void mlir::act::buildActToGpuPipeline(OpPassManager &manager,
                                      const ActToPtxOptions &options,
                                      GpuStage stage) {
  if (stage == GpuStage::Stablehlo) {
    buildActToKernelsPipeline(manager);
    manager.addPass(createActSplitProductsPass());
    manager.addPass(createActPlanMemoryPass());
    manager.addPass(createConvertActKernelsToGPUPass({options.math}));
    manager.addPass(createCSEPass());
  }
  if (stage <= GpuStage::Kernels)
    manager.addNestedPass<gpu::GPUModuleOp>(createActLowerGPUKernelsPass());
}

void mlir::act::buildActToGpuBinaryPipeline(OpPassManager &manager,
                                            const ActToPtxOptions &options,
                                            GpuStage stage) {
  buildActToGpuPipeline(manager, options, stage);
  if (stage > GpuStage::LoweredKernels)
    return;
  ActGPUToBinaryPassOptions binary;
  binary.chip = options.chip;
  binary.chips.assign(options.chips.begin(), options.chips.end());
  binary.format = options.format;
  binary.toolkit = options.toolkit;
  manager.addPass(createActGPUToBinaryPass(binary));
}

void mlir::act::buildActToPtxPipeline(OpPassManager &manager,
                                      const ActToPtxOptions &options,
                                      GpuStage stage) {
  buildActToGpuBinaryPipeline(manager, options, stage);
  if (stage <= GpuStage::Binaries)
    manager.addPass(createActEmbedKernelsPass());
}

void mlir::act::buildGpuHostPipeline(OpPassManager &manager) {
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void mlir::act::registerActGpuPipelines() {
  PassPipelineRegistration<ActToPtxOptions>(
      "act-to-ptx", "Lower a StableHLO step to kernels for GPUs",
      [](OpPassManager &manager, const ActToPtxOptions &options) {
        buildActToPtxPipeline(manager, options);
      });
}
