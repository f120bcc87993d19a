//===- KernelsToCPU.cpp - Kernels as functions and calls -----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"
#include "Products.h"
#include "act-c/StepRuntime.h"
#include "act/Conversion/KernelUtils/Contractions.h"
#include "act/Conversion/KernelUtils/StepFunction.h"
#include "act/Conversion/KernelsToCPU/ConvolutionDescriptor.h"
#include "act/Conversion/KernelsToCPU/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::act {
#define GEN_PASS_DEF_CONVERTACTKERNELSTOCPUPASS
#include "act/Conversion/KernelsToCPU/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

namespace {
/// Turns the step function and its kernels into functions over pointers.
class StepConverter {
public:
  StepConverter(ModuleOp module, func::FuncOp step, const VectorTarget &target)
      : module(module), step(step), target(target),
        builder(step.getLoc(), module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  LogicalResult run();

private:
  LogicalResult convertKernel(KernelOp kernel);
  LogicalResult convertProduct(KernelOp kernel, linalg::GenericOp op,
                               const ProductCalls &product);
  LogicalResult convertConvolution(KernelOp kernel);
  LogicalResult convertLaunch(KernelOp kernel);
  FailureOr<KernelFunction> getKernelFunction(KernelOp kernel);

  LLVM::LLVMFuncOp getFunction(StringRef name, Type result,
                               ArrayRef<Type> arguments) {
    return getRuntimeFunction(builder, module, name, result, arguments);
  }
  /// Address of the bytes of a new constant.
  Value getText(StringRef text);
  Value getNumbers(ArrayRef<int64_t> numbers);
  /// Address of the first element of a buffer, `offset` elements further.
  Value getAddress(Value buffer, int64_t offset = 0) {
    return LLVM::IntToPtrOp::create(builder, pointer,
                                    getBufferAddress(builder, buffer, offset));
  }
  Value getSlot(Value scalar);
  Value getConstant(int64_t value);

  ModuleOp module;
  func::FuncOp step;
  VectorTarget target;
  ImplicitLocOpBuilder builder;
  LLVM::LLVMPointerType pointer;
  LLVM::LLVMFuncOp function;
  Value context, launchBuffers;
  /// Functions of kernels by their text without what names they use.
  llvm::StringMap<KernelFunction> functions;
  llvm::StringMap<LLVM::GlobalOp> constants;
  KernelNames names;
  size_t mostBuffers = 1;
};
} // namespace

Value StepConverter::getConstant(int64_t value) {
  return LLVM::ConstantOp::create(builder, builder.getI64Type(), value);
}

Value StepConverter::getText(StringRef text) {
  LLVM::GlobalOp &global = constants[text];
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    std::string terminated = text.str() + std::string(1, 0);
    global = LLVM::GlobalOp::create(
        builder,
        LLVM::LLVMArrayType::get(builder.getI8Type(), terminated.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal,
        ("act_name_" + Twine(constants.size())).str(),
        builder.getStringAttr(terminated));
  }
  return LLVM::AddressOfOp::create(builder, global);
}

Value StepConverter::getNumbers(ArrayRef<int64_t> numbers) {
  std::string key = "#";
  for (int64_t number : numbers)
    key += std::to_string(number) + ",";
  LLVM::GlobalOp &global = constants[key];
  if (!global) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(
        builder, LLVM::LLVMArrayType::get(builder.getI64Type(), numbers.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal,
        ("act_shape_" + Twine(constants.size())).str(),
        builder.getI64TensorAttr(numbers));
  }
  return LLVM::AddressOfOp::create(builder, global);
}

/// Memory that holds `scalar`.
Value StepConverter::getSlot(Value scalar) {
  Type stored = getStoredType(scalar.getType());
  Value slot;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    slot = LLVM::AllocaOp::create(builder, pointer, stored, getConstant(1));
  }
  if (scalar.getType().isIndex())
    scalar = arith::IndexCastOp::create(builder, stored, scalar);
  else if (scalar.getType().isInteger(1))
    scalar = arith::ExtUIOp::create(builder, stored, scalar);
  LLVM::StoreOp::create(builder, scalar, slot);
  return slot;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The function of `kernel`, the same one for kernels of equal bodies.
FailureOr<KernelFunction> StepConverter::getKernelFunction(KernelOp kernel) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Operands are outside of the scope that is printed, so they have no names.
  kernel->print(stream, OpPrintingFlags().useLocalScope());
  auto found = functions.find(text);
  if (found != functions.end())
    return found->second;
  FailureOr<KernelFunction> emitted = emitKernelFunction(
      module, kernel, "act_" + names.getName(kernel), target);
  if (succeeded(emitted))
    functions[text] = *emitted;
  return emitted;
}

LogicalResult StepConverter::convertLaunch(KernelOp kernel) {
  FailureOr<KernelFunction> kernelFunction = getKernelFunction(kernel);
  if (failed(kernelFunction))
    return failure();
  builder.setInsertionPoint(kernel);
  builder.setLoc(kernel.getLoc());
  mostBuffers = std::max<size_t>(mostBuffers, kernel.getBuffers().size());
  for (auto [i, buffer] : llvm::enumerate(kernel.getBuffers())) {
    Value address = isa<MemRefType>(buffer.getType()) ? getAddress(buffer)
                                                      : getSlot(buffer);
    Value place = LLVM::GEPOp::create(builder, pointer, pointer, launchBuffers,
                                      ArrayRef<LLVM::GEPArg>{(int32_t)i});
    LLVM::StoreOp::create(builder, address, place);
  }
  Type i64 = builder.getI64Type();
  LLVM::LLVMFuncOp launch = getFunction(
      "act_cpu_launch", LLVM::LLVMVoidType::get(builder.getContext()),
      {pointer, pointer, pointer, pointer, i64, i64});
  StringRef name = kernelFunction->function.getName();
  Value code = LLVM::AddressOfOp::create(builder, pointer, name);
  LLVM::CallOp::create(builder, launch,
                       ValueRange{context, getText(name.drop_front(4)), code,
                                  launchBuffers,
                                  getConstant(kernelFunction->units),
                                  getConstant(kernelFunction->grain)});
  kernel.erase();
  return success();
}

LogicalResult StepConverter::convertProduct(KernelOp kernel,
                                            linalg::GenericOp op,
                                            const ProductCalls &product) {
  builder.setInsertionPoint(kernel);
  builder.setLoc(kernel.getLoc());
  auto getOperand = [&](unsigned i) {
    auto argument = cast<BlockArgument>(op->getOperand(i));
    return kernel.getBuffers()[argument.getArgNumber()];
  };
  std::string name =
      "product_" + std::to_string(product.descriptor[ACT_CPU_GEMM_DESC_M]) +
      "x" + std::to_string(product.descriptor[ACT_CPU_GEMM_DESC_N]) + "x" +
      std::to_string(product.descriptor[ACT_CPU_GEMM_DESC_K]);
  LLVM::LLVMFuncOp gemm =
      getFunction("act_cpu_gemm", LLVM::LLVMVoidType::get(builder.getContext()),
                  {pointer, pointer, pointer, pointer, pointer, pointer});
  SmallVector<int64_t> descriptor = product.descriptor;
  for (auto [a, b] : product.offsets) {
    LLVM::CallOp::create(
        builder, gemm,
        ValueRange{context, getText(name), getNumbers(descriptor),
                   getAddress(getOperand(0), a), getAddress(getOperand(1), b),
                   getAddress(getOperand(2))});
    descriptor[ACT_CPU_GEMM_DESC_ACCUMULATE] = 1;
  }
  kernel.erase();
  return success();
}

LogicalResult StepConverter::convertConvolution(KernelOp kernel) {
  Block &body = kernel.getBody().front();
  auto op = cast<ConvolutionOp>(body.back());
  FailureOr<SmallVector<int64_t>> descriptor = getConvolutionDescriptor(op);
  if (failed(descriptor))
    return failure();
  builder.setInsertionPoint(kernel);
  builder.setLoc(kernel.getLoc());
  auto getBuffer = [&](Value value) {
    return getAddress(
        kernel.getBuffers()[cast<BlockArgument>(value).getArgNumber()]);
  };
  // The scratch, if there is one, is what the operation does not use.
  Value scratch;
  for (auto [buffer, argument] :
       llvm::zip_equal(kernel.getBuffers(), body.getArguments()))
    if (argument.use_empty()) {
      scratch = getAddress(buffer);
      (*descriptor)[ACT_CPU_CONVOLUTION_DESC_SCRATCH_BYTES] =
          cast<MemRefType>(buffer.getType()).getNumElements();
    }
  if (!scratch)
    scratch = LLVM::ZeroOp::create(builder, pointer);
  LLVM::LLVMFuncOp convolution = getFunction(
      "act_cpu_convolution", LLVM::LLVMVoidType::get(builder.getContext()),
      SmallVector<Type>(7, pointer));
  LLVM::CallOp::create(
      builder, convolution,
      ValueRange{context, getText(names.getName(kernel)),
                 getNumbers(*descriptor), getBuffer(op.getLhs()),
                 getBuffer(op.getRhs()), getBuffer(op.getOut()), scratch});
  kernel.erase();
  return success();
}

LogicalResult StepConverter::convertKernel(KernelOp kernel) {
  if (kernel.getKind() == KernelKind::Convolution)
    return convertConvolution(kernel);
  if (kernel.getKind() == KernelKind::Contraction) {
    auto op = cast<linalg::GenericOp>(kernel.getBody().front().back());
    bool zero = startsFromZero(op);
    bool alone =
        llvm::hasSingleElement(kernel.getBody().getOps<linalg::GenericOp>());
    if (zero || alone)
      if (std::optional<ProductCalls> product = getProductCalls(op, !zero))
        return convertProduct(kernel, op, *product);
  }
  return convertLaunch(kernel);
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

LogicalResult StepConverter::run() {
  SmallVector<KernelOp> kernels;
  step.walk([&](KernelOp kernel) {
    kernels.push_back(kernel);
    mostBuffers = std::max<size_t>(mostBuffers, kernel.getBuffers().size());
  });
  function = convertStepFunction(builder, module, step);
  Type i32 = builder.getI32Type();
  LLVM::LLVMFuncOp status =
      getFunction("act_cpu_context_status", i32, {pointer});
  context = function.getArgument(3);
  auto call = LLVM::CallOp::create(builder, status, ValueRange{context});
  LLVM::ReturnOp::create(builder, call.getResult());
  builder.setInsertionPointToStart(&function.getBody().front());
  launchBuffers = LLVM::AllocaOp::create(builder, pointer, pointer,
                                         getConstant(mostBuffers), 8);
  for (KernelOp kernel : kernels)
    if (failed(convertKernel(kernel)))
      return failure();
  if (auto info = module->getAttrOfType<DictionaryAttr>("act.step")) {
    NamedAttrList attributes(info);
    attributes.set("kernels", builder.getI64IntegerAttr(functions.size()));
    module->setAttr("act.step", attributes.getDictionary(builder.getContext()));
  }
  return success();
}

namespace {
struct ConvertActKernelsToCPUPass
    : act::impl::ConvertActKernelsToCPUPassBase<ConvertActKernelsToCPUPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findPlannedStep(getOperation());
    if (failed(step))
      return signalPassFailure();
    VectorTarget target{vectorBits, vectorRegisters};
    if (failed(StepConverter(getOperation(), *step, target).run()))
      signalPassFailure();
  }
};
} // namespace
