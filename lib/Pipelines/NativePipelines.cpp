//===- NativePipelines.cpp - From steps to machine code -------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Pipelines/NativePipelines.h"
#include "act/Conversion/KernelsToCPU/Passes.h"
#include "act/Conversion/LinalgToKernels/Passes.h"
#include "act/Conversion/Passes.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::act;

void mlir::act::buildActToKernelsPipeline(OpPassManager &manager) {
  manager.addPass(createActInlinePass());
  manager.addPass(createConvertStablehloToLinalgPass());
  // What composite operations were decomposed to.
  manager.addPass(createInlinerPass());
  manager.addPass(createSymbolDCEPass());
  manager.addPass(createCSEPass());
  manager.addPass(createActNormalizePass());
  manager.addPass(createCSEPass());
  manager.addPass(createActFusePass());
  // Fusion through reshapes brings back dimensions of extent 1.
  manager.addPass(createActNormalizePass());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createActSchedulePass());
  manager.addPass(createActPrepareDestinationsPass());

  manager.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  bufferize.functionBoundaryTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  bufferize.unknownTypeConversion =
      bufferization::LayoutMapOption::IdentityLayoutMap;
  bufferize.bufferAlignment = 64;
  manager.addPass(bufferization::createOneShotBufferizePass(bufferize));
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addPass(createActFormKernelsPass());
}

void mlir::act::buildActToCPUPipeline(OpPassManager &manager,
                                      const ActToCPUOptions &options) {
  buildActToKernelsPipeline(manager);
  manager.addPass(createActReserveScratchPass({options.threads}));
  manager.addPass(createActPlanMemoryPass());
  manager.addPass(createConvertActKernelsToCPUPass(
      {options.vectorBits, options.vectorRegisters}));
  manager.addPass(createCSEPass());
  manager.addPass(createActExpandMathPass());
  manager.addPass(createCSEPass());
  manager.addPass(createSCFToControlFlowPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  ConvertMathToLLVMPassOptions math;
  math.approximateLog1p = false;
  manager.addPass(createConvertMathToLLVMPass(math));
  manager.addPass(createConvertMathToLibmPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
}

void mlir::act::registerActNativePipelines() {
  PassPipelineRegistration<>("act-to-kernels",
                             "Lower a StableHLO step to kernels on buffers",
                             buildActToKernelsPipeline);
  PassPipelineRegistration<ActToCPUOptions>(
      "act-to-cpu", "Lower a StableHLO step to LLVM for the CPU",
      buildActToCPUPipeline);
}
