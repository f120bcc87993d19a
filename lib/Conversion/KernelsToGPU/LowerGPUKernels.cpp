//===- LowerGPUKernels.cpp - GPU functions in the NVVM dialect ------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpandFunctions.h"
#include "act/Conversion/KernelsToCPU/Passes.h"
#include "act/Conversion/KernelsToGPU/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTLOWERGPUKERNELSPASS
#include "act/Conversion/KernelsToGPU/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

/// Converts everything to LLVM and NVVM. Functions become instructions of LLVM,
/// where upstream's `convert-gpu-to-nvvm` would call libdevice.
static LogicalResult convertToNVVM(gpu::GPUModuleOp module) {
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(context, options);
  configureGpuToNVVMTypeConverter(converter);
  RewritePatternSet patterns(context);
  populateGpuToNVVMConversionPatterns(converter, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns,
                                       /*approximateLog1p=*/false);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  ConversionTarget target(*context);
  target.addLegalDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
  target.addLegalOp<gpu::GPUModuleOp>();
  target.addIllegalDialect<gpu::GPUDialect>();
  target.addLegalOp<gpu::GPUModuleOp>();
  return applyFullConversion(module, target, std::move(patterns));
}

namespace {
struct LowerGPUKernelsPass
    : act::impl::ActLowerGPUKernelsPassBase<LowerGPUKernelsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateActExpandMathPatterns(patterns);
    populateExpandFunctionPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    if (failed(verifyMath()))
      return signalPassFailure();
    OpPassManager manager(gpu::GPUModuleOp::getOperationName());
    manager.addPass(createSCFToControlFlowPass());
    if (failed(runPipeline(manager, getOperation())) ||
        failed(convertToNVVM(getOperation())))
      signalPassFailure();
  }

private:
  /// Functions that neither the device nor a polynomial computes.
  LogicalResult verifyMath() {
    WalkResult result = getOperation()->walk([](Operation *op) {
      if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
          isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
              math::FloorOp, math::FmaOp, math::RoundEvenOp, math::RsqrtOp,
              math::SqrtOp, math::TruncOp, math::CountLeadingZerosOp,
              math::CountTrailingZerosOp, math::CtPopOp, math::IsNaNOp,
              math::IsInfOp, math::IsFiniteOp>(op))
        return WalkResult::advance();
      op->emitOpError("expects a function that GPU kernels can compute, got "
                      "operands of type ")
          << op->getOperand(0).getType();
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }
};
} // namespace
