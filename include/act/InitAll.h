//===- InitAll.h - Registration of everything act provides -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_INITALL_H
#define ACT_INITALL_H

#include "act/Analysis/OpModel/OpModel.h"
#include "act/Conversion/GPUToBinary/Passes.h"
#include "act/Conversion/KernelsToCPU/CodecEmitter.h"
#include "act/Conversion/KernelsToCPU/Passes.h"
#include "act/Conversion/KernelsToGPU/GpuCodecs.h"
#include "act/Conversion/KernelsToGPU/Passes.h"
#include "act/Conversion/LinalgToKernels/Passes.h"
#include "act/Conversion/LinearAttentionToGPU/Passes.h"
#include "act/Conversion/Passes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "act/Dialect/Act/Transforms/BufferizableOpInterfaceImpl.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "act/Dialect/Act/Transforms/TilingInterfaceImpl.h"
#include "act/Execution/Passes.h"
#include "act/Pipelines/GpuPipelines.h"
#include "act/Pipelines/NativePipelines.h"
#include "act/Pipelines/Pipelines.h"
#include "mlir/IR/DialectRegistry.h"

namespace mlir::act {

/// Adds the act dialect, its external models and those of upstream operations
/// to `registry`.
inline void registerActDialects(DialectRegistry &registry) {
  registry.insert<ActDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
  registerTilingInterfaceExternalModels(registry);
  registerVectorEncodingModels(registry);
  registerGpuEncodingModels(registry);
  registerUpstreamOpModels(registry);
}

/// Registers the passes and pipelines of act.
inline void registerAllActPasses() {
  registerActConversionPasses();
  registerActKernelPasses();
  registerActCPUPasses();
  registerActGPUPasses();
  registerActGPUBinaryPasses();
  registerActLinearAttentionGPUPasses();
  registerActExecutionPasses();
  registerActPasses();
  registerActPipelines();
  registerActNativePipelines();
  registerActGpuPipelines();
}

} // namespace mlir::act

#endif // ACT_INITALL_H
