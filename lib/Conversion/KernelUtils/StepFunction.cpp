//===- StepFunction.cpp - Steps as functions over pointers -===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelUtils/StepFunction.h"
#include "act/Conversion/KernelUtils/Memory.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::act;

/// Whether `step` has the form that act-plan-memory gives it.
static LogicalResult verifyPlannedStep(ModuleOp module, func::FuncOp step) {
  auto info = module->getAttrOfType<DictionaryAttr>("act.step");
  auto results = info ? info.getAs<ArrayAttr>("results") : ArrayAttr();
  if (!results)
    return module->emitOpError("expects a list 'results' in 'act.step'");
  if (step.getNumArguments() < results.size() + 1)
    return step.emitOpError("expects an argument for each of ")
           << results.size() << " results, and the arena, got "
           << step.getNumArguments();
  for (auto [i, type] : llvm::enumerate(step.getArgumentTypes())) {
    auto buffer = dyn_cast<MemRefType>(type);
    if (!buffer || !buffer.hasStaticShape() || !buffer.getLayout().isIdentity())
      return step.emitOpError("expects argument ")
             << i << " to be a buffer of static shape, got " << type;
  }
  WalkResult result = step.walk<WalkOrder::PreOrder>([](Operation *op) {
    if (isa<KernelOp>(op))
      return WalkResult::skip();
    if (!isa<memref::AllocOp, memref::AllocaOp>(op))
      return WalkResult::advance();
    op->emitOpError("expects memory that is planned (act-plan-memory)");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

FailureOr<func::FuncOp> mlir::act::findPlannedStep(ModuleOp module) {
  func::FuncOp step;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      step = function;
  if (!step || !module->hasAttr("act.step")) {
    module->emitOpError("expects a step with planned memory (act-plan-memory)");
    return failure();
  }
  if (failed(verifyPlannedStep(module, step)))
    return failure();
  return step;
}

LLVM::LLVMFuncOp mlir::act::getRuntimeFunction(ImplicitLocOpBuilder &builder,
                                               ModuleOp module, StringRef name,
                                               Type result,
                                               ArrayRef<Type> arguments) {
  if (auto found = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return found;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(
      builder, name, LLVM::LLVMFunctionType::get(result, arguments));
}

Value mlir::act::getBufferAddress(ImplicitLocOpBuilder &builder, Value buffer,
                                  int64_t offset) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t bytes = llvm::divideCeil(
      getStoredType(type.getElementType()).getIntOrFloatBitWidth(), 8);
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, buffer);
  auto [strides, constantOffset] = type.getStridesAndOffset();
  Value elements;
  if (ShapedType::isDynamic(constantOffset))
    elements =
        memref::ExtractStridedMetadataOp::create(builder, buffer).getOffset();
  else
    offset += constantOffset;
  auto add = [&](Value number, int64_t factor) {
    Value size = arith::ConstantIndexOp::create(builder, factor);
    address = arith::AddIOp::create(
        builder, address, arith::MulIOp::create(builder, number, size));
  };
  if (elements)
    add(elements, bytes);
  if (offset != 0)
    add(arith::ConstantIndexOp::create(builder, offset), bytes);
  return arith::IndexCastOp::create(builder, builder.getI64Type(), address);
}

/// Replaces arguments of buffers by what the pointers of the step point to.
static void bindArguments(ImplicitLocOpBuilder &builder, ModuleOp module,
                          func::FuncOp step, LLVM::LLVMFuncOp created) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  LLVMTypeConverter converter(builder.getContext());
  auto info = module->getAttrOfType<DictionaryAttr>("act.step");
  int64_t numResults = info.getAs<ArrayAttr>("results").size();
  Block &body = step.getBody().front();
  int64_t numArguments = body.getNumArguments() - numResults - 1;
  for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
    int64_t number = static_cast<int64_t>(i);
    Value address;
    if (number == numArguments + numResults) {
      address = created.getArgument(2);
    } else {
      bool isResult = number >= numArguments;
      Value slot = LLVM::GEPOp::create(
          builder, pointer, pointer, created.getArgument(isResult ? 1 : 0),
          ArrayRef<LLVM::GEPArg>{
              static_cast<int32_t>(isResult ? number - numArguments : number)});
      address = LLVM::LoadOp::create(builder, pointer, slot);
    }
    auto type = cast<MemRefType>(argument.getType());
    Value descriptor = MemRefDescriptor::fromStaticShape(
        builder, builder.getLoc(), converter, type, address);
    Value buffer = UnrealizedConversionCastOp::create(builder, type, descriptor)
                       .getResult(0);
    argument.replaceAllUsesWith(buffer);
  }
}

LLVM::LLVMFuncOp mlir::act::convertStepFunction(ImplicitLocOpBuilder &builder,
                                                ModuleOp module,
                                                func::FuncOp step) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  builder.setInsertionPoint(step);
  std::string name = step.getName().str();
  step.setName(name + "_buffers");
  auto created = LLVM::LLVMFuncOp::create(
      builder, name,
      LLVM::LLVMFunctionType::get(builder.getI32Type(),
                                  {pointer, pointer, pointer, pointer}));
  Block *entry = created.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  bindArguments(builder, module, step, created);
  Block &body = step.getBody().front();
  body.getTerminator()->erase();
  entry->getOperations().splice(entry->end(), body.getOperations());
  builder.setInsertionPointToEnd(entry);
  step.erase();
  return created;
}

std::string KernelNames::getName(KernelOp kernel) {
  std::string name = stringifyKernelKind(kernel.getKind()).str();
  linalg::GenericOp largest;
  for (auto op : kernel.getBody().getOps<linalg::GenericOp>())
    if (!largest || op.getNumLoops() >= largest.getNumLoops())
      largest = op;
  if (largest)
    for (auto [i, extent] : llvm::enumerate(largest.getStaticLoopRanges()))
      name += (i == 0 ? "_" : "x") + std::to_string(extent);
  int64_t number = counts[name]++;
  return number ? name + "_v" + std::to_string(number) : name;
}
