//===- LinearAttentionToGPU.cpp - Linear attention on GPUs ---------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/LinearAttentionToGPU/LinearAttentionToGPU.h"
#include "act/Conversion/LinearAttentionToGPU/Passes.h"
#include "act/Conversion/LinearAttentionToVector/LinearAttentionToVector.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::act {
#define GEN_PASS_DEF_CONVERTLINEARATTENTIONTOGPUPASS
#include "act/Conversion/LinearAttentionToGPU/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

static constexpr StringLiteral moduleName = "kernels";

/// The address of element 0 of a buffer in the memory of the device.
static Value getPointer(ImplicitLocOpBuilder &b, Value buffer,
                        int64_t offsetInBytes = 0) {
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, buffer);
  Value address = arith::IndexCastOp::create(b, b.getI64Type(), base);
  int64_t bytes = type.getElementTypeBitWidth() / 8;
  auto addConstant = [&](int64_t number) {
    if (number == 0)
      return;
    Value constant = arith::ConstantIntOp::create(b, number, 64);
    address = arith::AddIOp::create(b, address, constant);
  };
  if (ShapedType::isDynamic(offset)) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
    Value elements =
        arith::IndexCastOp::create(b, b.getI64Type(), metadata.getOffset());
    Value size = arith::ConstantIntOp::create(b, bytes, 64);
    address = arith::AddIOp::create(b, address,
                                    arith::MulIOp::create(b, elements, size));
  } else {
    addConstant(offset * bytes);
  }
  addConstant(offsetInBytes);
  auto pointer = LLVM::LLVMPointerType::get(
      b.getContext(), static_cast<unsigned>(GpuMemory::Global));
  return LLVM::IntToPtrOp::create(b, pointer, address);
}

static void createLaunches(LinearAttentionOpInterface op,
                           const AttentionPlan &plan) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value scratch;
  if (plan.scratchBytes)
    scratch = memref::AllocOp::create(
        b, MemRefType::get({plan.scratchBytes}, b.getI8Type()),
        /*alignment=*/b.getI64IntegerAttr(256));
  for (const AttentionLaunch &launch : plan.launches) {
    auto getExtents = [&](std::array<int64_t, 3> extents) {
      Value values[3];
      for (auto [value, extent] : llvm::zip_equal(values, extents))
        value = arith::ConstantIndexOp::create(b, extent);
      return gpu::KernelDim3{values[0], values[1], values[2]};
    };
    SmallVector<Value> arguments;
    for (const AttentionArgument &argument : launch.arguments)
      arguments.push_back(argument.operand
                              ? getPointer(b, op->getOperand(*argument.operand))
                              : getPointer(b, scratch, argument.scratchOffset));
    Value shared =
        arith::ConstantIntOp::create(b, launch.kernel.dynamicSharedBytes, 32);
    gpu::LaunchFuncOp::create(
        b, launch.kernel.function, getExtents(launch.kernel.grid),
        getExtents({launch.kernel.threads, 1, 1}), shared, arguments);
  }
  if (scratch)
    memref::DeallocOp::create(b, scratch);
  op->erase();
}

LogicalResult mlir::act::convertLinearAttentionToGPU(ModuleOp module,
                                                     int64_t segments) {
  SmallVector<LinearAttentionOpInterface> ops;
  module.walk([&](LinearAttentionOpInterface op) { ops.push_back(op); });
  if (ops.empty())
    return success();
  auto kernels = module.lookupSymbol<gpu::GPUModuleOp>(moduleName);
  if (!kernels) {
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    kernels = gpu::GPUModuleOp::create(b, module.getLoc(), moduleName);
  }
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  UnitAttr::get(module.getContext()));
  LinearAttentionPlanner planner(kernels, segments);
  // Operations stay until all are planned, for others to be compared with.
  SmallVector<AttentionPlan> plans;
  for (LinearAttentionOpInterface op : ops) {
    FailureOr<const AttentionPlan *> plan = planner.plan(op);
    if (failed(plan))
      return failure();
    plans.push_back(**plan);
  }
  for (auto [op, plan] : llvm::zip_equal(ops, plans))
    createLaunches(op, plan);
  return success();
}

namespace {
struct ConvertLinearAttentionToGPUPass
    : public act::impl::ConvertLinearAttentionToGPUPassBase<
          ConvertLinearAttentionToGPUPass> {
  using ConvertLinearAttentionToGPUPassBase::
      ConvertLinearAttentionToGPUPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    ConvertLinearAttentionToGPUPassBase::getDependentDialects(registry);
    registerVectorFeatureMapModels(registry);
  }

  void runOnOperation() override {
    if (segments < 0) {
      getOperation().emitError("expects segments to be 0 or more, got ")
          << segments.getValue();
      return signalPassFailure();
    }
    if (failed(convertLinearAttentionToGPU(getOperation(), segments)))
      signalPassFailure();
  }
};
} // namespace
