//===- TestEmitProducts.cpp - Emit products as functions for GPUs ---------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Conversion/KernelsToGPU/KernelEmitters.h"
#include "TestPasses.h"
#include "act/Conversion/KernelUtils/Contractions.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::act;

namespace {
struct TestEmitProductsPass
    : PassWrapper<TestEmitProductsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestEmitProductsPass)

  TestEmitProductsPass() = default;
  TestEmitProductsPass(const TestEmitProductsPass &other)
      : PassWrapper(other) {}

  StringRef getArgument() const final { return "test-emit-products"; }
  StringRef getDescription() const final {
    return "Replace functions by a GPU module with one function for every "
           "kernel of a contraction or convolution in them, named as they "
           "are, and say how it is launched";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry
        .insert<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                NVVM::NVVMDialect, scf::SCFDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    OpBuilder builder(&getContext());
    builder.setInsertionPointToEnd(getOperation().getBody());
    auto kernels =
        gpu::GPUModuleOp::create(builder, getOperation().getLoc(), "kernels");
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions) {
      WalkResult result = function.walk([&](KernelOp kernel) {
        return failed(emit(kernels, function.getName(), kernel))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (result.wasInterrupted())
        return signalPassFailure();
      function.erase();
    }
  }

  Option<bool> tf32{*this, "tf32", llvm::cl::desc("Products of f32 in tf32"),
                    llvm::cl::init(false)};
  Option<int64_t> alignment{*this, "alignment",
                            llvm::cl::desc("Of all buffers, in bytes"),
                            llvm::cl::init(64)};

private:
  KernelRequest getRequest(gpu::GPUModuleOp kernels, StringRef name,
                           KernelOp kernel) {
    KernelRequest request;
    request.module = kernels;
    request.kernel = kernel;
    request.name = name.str();
    request.allowTf32 = tf32;
    for (BlockArgument argument : kernel.getBody().getArguments()) {
      request.memories.push_back(argument.getArgNumber());
      GpuParameter parameter{LLVM::LLVMPointerType::get(&getContext(), 1),
                             false, alignment};
      Operation &last = kernel.getBody().front().back();
      auto destination = cast<DestinationStyleOpInterface>(last);
      parameter.readOnly =
          llvm::is_contained(destination.getDpsInputs(), argument);
      request.parameters.push_back(parameter);
    }
    return request;
  }

  LogicalResult emit(gpu::GPUModuleOp kernels, StringRef name,
                     KernelOp kernel) {
    KernelRequest request = getRequest(kernels, name, kernel);
    Block &body = kernel.getBody().front();
    std::optional<GpuKernel> emitted;
    if (auto op = dyn_cast<linalg::GenericOp>(body.back())) {
      emitted = emitProductKernel(
          request, op, op->getPrevNode() && isScalarFill(op->getPrevNode()));
    } else {
      FailureOr<GpuKernel> convolution = emitConvolutionKernel(request);
      if (failed(convolution))
        return failure();
      emitted = *convolution;
    }
    if (!emitted) {
      kernel.emitRemark() << "no kernel";
      return success();
    }
    kernel.emitRemark() << name << ": " << emitted->grid[0] << " blocks of "
                        << emitted->threads << " threads, "
                        << emitted->dynamicSharedBytes << " dynamic bytes";
    return success();
  }
};
} // namespace

void mlir::act::registerTestEmitProductsPass() {
  PassRegistration<TestEmitProductsPass>();
}
