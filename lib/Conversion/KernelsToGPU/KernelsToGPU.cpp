//===- KernelsToGPU.cpp - Kernels as GPU functions and launches -----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceBuffers.h"
#include "KernelBindings.h"
#include "KernelEmitters.h"
#include "ScatterLoop.h"
#include "act/Conversion/KernelUtils/Contractions.h"
#include "act/Conversion/KernelUtils/ElementBytes.h"
#include "act/Conversion/KernelUtils/StepFunction.h"
#include "act/Conversion/KernelsToGPU/Passes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace mlir::act {
#define GEN_PASS_DEF_CONVERTACTKERNELSTOGPUPASS
#include "act/Conversion/KernelsToGPU/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

static constexpr StringLiteral kernelModuleName = "kernels";

namespace {
/// Turns the step function into launches of functions on the device.
class StepConverter {
public:
  StepConverter(ModuleOp module, func::FuncOp step, bool allowTf32)
      : module(module), step(step), allowTf32(allowTf32),
        builder(step.getLoc(), module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  LogicalResult run();

private:
  void createKernelModule();
  LogicalResult convertKernel(KernelOp kernel);
  KernelRequest getRequest(KernelOp kernel);
  SmallVector<GpuParameter>
  getParameters(ValueRange operands, ArrayRef<DeviceMemory> memories,
                llvm::function_ref<bool(unsigned)> isWritten);
  LogicalResult convertScatter(const ScatterLoop &scatter);
  FailureOr<GpuKernel> getFunction(KernelRequest &request);
  FailureOr<GpuKernel> emitFunction(const KernelRequest &request);
  void launch(const GpuKernel &kernel, ValueRange arguments);
  Value getArgument(Value operand, const GpuParameter &parameter);
  Value getDevicePointer(Value buffer, int64_t offset = 0);
  std::string getGlobal(memref::GetGlobalOp op);

  void convertLoad(memref::LoadOp load);
  void convertStore(memref::StoreOp store);
  Value getElementAddress(Value buffer, ValueRange indices);
  GpuKernel getStoreKernel(Type type);

  Value getInt(int64_t value, unsigned width) {
    return arith::ConstantIntOp::create(builder, value, width);
  }

  ModuleOp module;
  func::FuncOp step;
  bool allowTf32;
  ImplicitLocOpBuilder builder;
  LLVM::LLVMPointerType pointer;
  LLVM::LLVMFuncOp function;
  gpu::GPUModuleOp kernels;
  Value context;
  /// Functions of kernels by their text without what names they use.
  llvm::StringMap<GpuKernel> functions;
  DenseMap<Type, GpuKernel> storeKernels;
  KernelNames names;
  int64_t numScatters = 0;
};
} // namespace

void StepConverter::createKernelModule() {
  module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  builder.getUnitAttr());
  builder.setInsertionPointToStart(module.getBody());
  kernels = gpu::GPUModuleOp::create(builder, kernelModuleName);
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

static LLVM::LLVMPointerType getGlobalPointer(MLIRContext *context) {
  return LLVM::LLVMPointerType::get(context,
                                    static_cast<unsigned>(GpuMemory::Global));
}

Value StepConverter::getDevicePointer(Value buffer, int64_t offset) {
  return LLVM::IntToPtrOp::create(builder,
                                  getGlobalPointer(builder.getContext()),
                                  getBufferAddress(builder, buffer, offset));
}

/// The device's copy of a constant.
std::string StepConverter::getGlobal(memref::GetGlobalOp op) {
  std::string name = ("constant_" + op.getName()).str();
  if (kernels.lookupSymbol(name))
    return name;
  auto constant = module.lookupSymbol<memref::GlobalOp>(op.getName());
  MemRefType type = constant.getType();
  auto values = cast<DenseElementsAttr>(*constant.getInitialValue());
  Type element = getStoredType(type.getElementType());
  if (type.getElementType().isInteger(1))
    values =
        values.mapValues(element, [](const APInt &bit) { return bit.zext(8); });
  values = values.reshape(
      RankedTensorType::get({type.getNumElements()}, values.getElementType()));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(kernels.getBody());
  LLVM::GlobalOp::create(
      builder, LLVM::LLVMArrayType::get(element, type.getNumElements()),
      /*isConstant=*/true, LLVM::Linkage::Internal, name, values,
      deviceAlignment, static_cast<unsigned>(GpuMemory::Global));
  return name;
}

/// What is passed for an operand of a kernel.
Value StepConverter::getArgument(Value operand, const GpuParameter &parameter) {
  if (!isa<MemRefType>(operand.getType())) {
    if (operand.getType().isIndex())
      return arith::IndexCastOp::create(builder, parameter.type, operand);
    if (operand.getType().isInteger(1))
      return arith::ExtUIOp::create(builder, parameter.type, operand);
    return operand;
  }
  if (parameter.global.empty())
    return getDevicePointer(operand);
  Value start = getBufferAddress(builder, getDeviceMemory(operand).root);
  return arith::SubIOp::create(builder, getBufferAddress(builder, operand),
                               start);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Whether `kernel` writes operand `number`.
static bool isWritten(KernelOp kernel, unsigned number) {
  BlockArgument argument = kernel.getBody().front().getArgument(number);
  return llvm::any_of(argument.getUses(), [](OpOperand &use) {
    auto destinations = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    return destinations && destinations.isDpsInit(&use);
  });
}

static SmallVector<DeviceMemory> getMemories(ValueRange operands) {
  SmallVector<DeviceMemory> memories;
  for (Value operand : operands)
    memories.push_back(isa<MemRefType>(operand.getType())
                           ? getDeviceMemory(operand)
                           : DeviceMemory());
  return memories;
}

/// Parameters for `operands` in `memories`; `isWritten` is asked for buffers.
SmallVector<GpuParameter>
StepConverter::getParameters(ValueRange operands,
                             ArrayRef<DeviceMemory> memories,
                             llvm::function_ref<bool(unsigned)> isWritten) {
  SmallVector<GpuParameter> parameters;
  for (auto [operand, memory] : llvm::zip_equal(operands, memories)) {
    if (!memory.root) {
      parameters.emplace_back(getParameterType(operand.getType()));
      continue;
    }
    GpuParameter parameter(getGlobalPointer(builder.getContext()),
                           /*readOnly=*/true, getDeviceAlignment(operand));
    if (auto constant = memory.root.getDefiningOp<memref::GetGlobalOp>())
      parameter.global = getGlobal(constant);
    for (auto [i, other] : llvm::enumerate(memories))
      if (other.root && other.overlaps(memory) && isWritten(i))
        parameter.readOnly = false;
    parameters.push_back(parameter);
  }
  return parameters;
}

KernelRequest StepConverter::getRequest(KernelOp kernel) {
  SmallVector<DeviceMemory> memories = getMemories(kernel.getBuffers());
  KernelRequest request{
      kernels,
      kernel,
      "",
      getParameters(kernel.getBuffers(), memories,
                    [&](unsigned number) { return isWritten(kernel, number); }),
      {},
      allowTf32};
  for (unsigned i = 0; i < memories.size(); ++i) {
    unsigned memory = i;
    for (unsigned other = 0; other < i && memory == i; ++other)
      if (memories[i].root && memories[other].root &&
          memories[i].overlaps(memories[other]))
        memory = request.memories[other];
    request.memories.push_back(memory);
  }
  return request;
}

FailureOr<GpuKernel> StepConverter::emitFunction(const KernelRequest &request) {
  KernelOp kernel = request.kernel;
  switch (kernel.getKind()) {
  case KernelKind::Convolution:
    return emitConvolutionKernel(request);
  case KernelKind::Codec:
    return emitCodecKernel(request);
  case KernelKind::Contraction: {
    auto op = cast<linalg::GenericOp>(kernel.getBody().front().back());
    bool zero = startsFromZero(op);
    bool alone =
        llvm::hasSingleElement(kernel.getBody().getOps<linalg::GenericOp>());
    if (zero || alone)
      if (std::optional<GpuKernel> product =
              emitProductKernel(request, op, zero))
        return *product;
    return emitLoopKernel(request);
  }
  case KernelKind::Elementwise:
  case KernelKind::RowProgram:
  case KernelKind::Reduction:
    return emitLoopKernel(request);
  }
  llvm_unreachable("unknown kind of kernel");
}

/// The function that is requested, the same one for kernels of equal bodies
/// whose operands are alike. Only a new one gets a name.
FailureOr<GpuKernel> StepConverter::getFunction(KernelRequest &request) {
  KernelOp kernel = request.kernel;
  std::string text;
  llvm::raw_string_ostream stream(text);
  // Operands are outside of the scope that is printed, so they have no names.
  kernel->print(stream, OpPrintingFlags().useLocalScope());
  for (auto [parameter, memory] :
       llvm::zip_equal(request.parameters, request.memories))
    stream << "," << memory << parameter.readOnly << parameter.alignment
           << parameter.global;
  auto found = functions.find(text);
  if (found != functions.end())
    return found->second;
  request.name = names.getName(kernel);
  FailureOr<GpuKernel> emitted = emitFunction(request);
  if (succeeded(emitted))
    functions[text] = *emitted;
  return emitted;
}

void StepConverter::launch(const GpuKernel &kernel, ValueRange arguments) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, value);
  };
  gpu::KernelDim3 grid{index(kernel.grid[0]), index(kernel.grid[1]),
                       index(kernel.grid[2])};
  gpu::KernelDim3 block{index(kernel.threads), index(1), index(1)};
  gpu::LaunchFuncOp::create(builder, kernel.function, grid, block,
                            getInt(kernel.dynamicSharedBytes, 32), arguments);
}

LogicalResult StepConverter::convertKernel(KernelOp kernel) {
  KernelRequest request = getRequest(kernel);
  FailureOr<GpuKernel> emitted = getFunction(request);
  if (failed(emitted))
    return failure();
  builder.setInsertionPoint(kernel);
  builder.setLoc(kernel.getLoc());
  SmallVector<Value> arguments;
  for (auto [operand, parameter] :
       llvm::zip_equal(kernel.getBuffers(), request.parameters))
    arguments.push_back(getArgument(operand, parameter));
  launch(*emitted, arguments);
  kernel.erase();
  return success();
}

/// Turns a loop over updates into one kernel.
LogicalResult StepConverter::convertScatter(const ScatterLoop &scatter) {
  scf::ForOp loop = scatter.getLoop();
  ValueRange operands = scatter.getOperands();
  SmallVector<GpuParameter> parameters =
      getParameters(operands, getMemories(operands),
                    [&](unsigned i) { return scatter.isWritten(operands[i]); });
  std::string name = "scatter_" + std::to_string(numScatters++);
  FailureOr<GpuKernel> emitted = scatter.emit(kernels, name, parameters);
  if (failed(emitted))
    return failure();
  builder.setInsertionPoint(loop);
  builder.setLoc(loop.getLoc());
  SmallVector<Value> arguments;
  for (auto [operand, parameter] : llvm::zip_equal(operands, parameters))
    arguments.push_back(getArgument(operand, parameter));
  launch(*emitted, arguments);
  loop.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Scalars that the host reads and writes
//===----------------------------------------------------------------------===//

Value StepConverter::getElementAddress(Value buffer, ValueRange indices) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<OpFoldResult> offsets(indices.begin(), indices.end());
  SmallVector<OpFoldResult> ones(indices.size(), builder.getIndexAttr(1));
  auto element = memref::SubViewOp::create(
      builder,
      cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
          {}, type, offsets, ones, ones)),
      buffer, offsets, ones, ones);
  return getBufferAddress(builder, element);
}

void StepConverter::convertLoad(memref::LoadOp load) {
  // The host has constants, too.
  if (getDeviceMemory(load.getMemRef())
          .root.getDefiningOp<memref::GetGlobalOp>())
    return;
  builder.setInsertionPoint(load);
  builder.setLoc(load.getLoc());
  Type type = load.getType();
  Type stored = getStoredType(type);
  Value slot;
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&function.getBody().front());
    slot = LLVM::AllocaOp::create(builder, pointer, stored, getInt(1, 64));
  }
  Value address = LLVM::IntToPtrOp::create(
      builder, pointer, getElementAddress(load.getMemRef(), load.getIndices()));
  Type i32 = builder.getI32Type();
  LLVM::LLVMFuncOp read =
      getRuntimeFunction(builder, module, "act_gpu_read", i32,
                         {pointer, pointer, pointer, builder.getI64Type()});
  LLVM::CallOp::create(
      builder, read,
      ValueRange{context, slot, address, getInt(getElementBytes(type), 64)});
  Value value = LLVM::LoadOp::create(builder, stored, slot);
  if (type.isIndex())
    value = arith::IndexCastOp::create(builder, type, value);
  else if (type.isInteger(1))
    value = arith::TruncIOp::create(builder, type, value);
  load.replaceAllUsesWith(value);
  load.erase();
}

/// A kernel of one thread that stores a scalar.
GpuKernel StepConverter::getStoreKernel(Type type) {
  auto found = storeKernels.find(type);
  if (found != storeKernels.end())
    return found->second;
  std::string name;
  llvm::raw_string_ostream(name) << "store_" << type;
  GpuParameter destination(getGlobalPointer(builder.getContext()),
                           /*readOnly=*/false, getElementBytes(type));
  GpuKernelBuilder kernel(kernels, builder.getLoc(), name,
                          {destination, GpuParameter(type)}, /*threads=*/1);
  kernel.store(kernel.getParameter(1), kernel.getParameter(0));
  return storeKernels[type] = kernel.finish({1, 1, 1});
}

void StepConverter::convertStore(memref::StoreOp store) {
  builder.setInsertionPoint(store);
  builder.setLoc(store.getLoc());
  Value value = store.getValue();
  Type stored = getStoredType(value.getType());
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(builder, stored, value);
  else if (value.getType().isInteger(1))
    value = arith::ExtUIOp::create(builder, stored, value);
  Value address = LLVM::IntToPtrOp::create(
      builder, getGlobalPointer(builder.getContext()),
      getElementAddress(store.getMemRef(), store.getIndices()));
  launch(getStoreKernel(stored), {address, value});
  store.erase();
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

LogicalResult StepConverter::run() {
  function = convertStepFunction(builder, module, step);
  context = function.getArgument(3);
  LLVM::LLVMFuncOp status =
      getRuntimeFunction(builder, module, "act_gpu_context_status",
                         builder.getI32Type(), {pointer});
  auto call = LLVM::CallOp::create(builder, status, ValueRange{context});
  LLVM::ReturnOp::create(builder, call.getResult());
  createKernelModule();

  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops)
    if (std::optional<ScatterLoop> scatter = ScatterLoop::match(loop))
      if (failed(convertScatter(*scatter)))
        return failure();

  SmallVector<KernelOp> ops;
  SmallVector<memref::LoadOp> loads;
  SmallVector<memref::StoreOp> stores;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto kernel = dyn_cast<KernelOp>(op)) {
      ops.push_back(kernel);
      return WalkResult::skip();
    }
    if (auto load = dyn_cast<memref::LoadOp>(op))
      loads.push_back(load);
    if (auto store = dyn_cast<memref::StoreOp>(op))
      stores.push_back(store);
    return WalkResult::advance();
  });
  for (KernelOp kernel : ops)
    if (failed(convertKernel(kernel)))
      return failure();
  for (memref::LoadOp load : loads)
    convertLoad(load);
  for (memref::StoreOp store : stores)
    convertStore(store);
  NamedAttrList attributes(module->getAttrOfType<DictionaryAttr>("act.step"));
  attributes.set("kernels", builder.getI64IntegerAttr(llvm::range_size(
                                kernels.getOps<gpu::GPUFuncOp>())));
  module->setAttr("act.step", attributes.getDictionary(builder.getContext()));
  return success();
}

namespace {
struct ConvertActKernelsToGPUPass
    : act::impl::ConvertActKernelsToGPUPassBase<ConvertActKernelsToGPUPass> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<func::FuncOp> step = findPlannedStep(getOperation());
    if (failed(step) ||
        failed(
            StepConverter(getOperation(), *step, math == GpuMath::Tf32).run()))
      signalPassFailure();
  }
};
} // namespace
