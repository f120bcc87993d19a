//===- EmbedKernels.cpp - The pass act-embed-kernels ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LaunchSizes.h"
#include "PtxCompiler.h"
#include "act-c/GpuRuntime.h"
#include "act/Conversion/GPUToBinary/Manifest.h"
#include "act/Conversion/GPUToBinary/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTEMBEDKERNELSPASS
#include "act/Conversion/GPUToBinary/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

namespace {
using LaunchMap = llvm::MapVector<SymbolRefAttr, LaunchSizes>;

/// Writes constants with the layout of the structures in act-c/GpuRuntime.h.
class ImageBuilder {
public:
  ImageBuilder(ModuleOp module, gpu::BinaryOp binary)
      : binary(binary), builder(binary.getLoc(), binary),
        context(module.getContext()),
        pointer(LLVM::LLVMPointerType::get(context)) {
    builder.setInsertionPoint(binary);
  }

  /// The constant act_gpu_image. `kernels` gets the number of each kernel.
  FailureOr<LLVM::GlobalOp>
  build(const LaunchMap &launches,
        llvm::DenseMap<SymbolRefAttr, int32_t> &kernels);

private:
  /// A constant of `type` whose value `fill` computes.
  LLVM::GlobalOp addConstant(const Twine &name, Type type,
                             function_ref<Value()> fill);
  /// A constant of the bytes of `data`, and of a 0 if it is a text.
  LLVM::GlobalOp addBytes(const Twine &name, StringRef data, bool isText);
  LLVM::GlobalOp addKernels(const LaunchMap &launches,
                            llvm::DenseMap<SymbolRefAttr, int32_t> &kernels);
  LLVM::GlobalOp addCubins();

  Value getNumber(int64_t value, unsigned bits) {
    return LLVM::ConstantOp::create(builder, builder.getIntegerType(bits),
                                    value);
  }
  /// Null if there is no `global`.
  Value getAddress(LLVM::GlobalOp global) {
    if (!global)
      return LLVM::ZeroOp::create(builder, pointer);
    return LLVM::AddressOfOp::create(builder, global);
  }
  Value insert(Value structure, Value value, ArrayRef<int64_t> position) {
    return LLVM::InsertValueOp::create(builder, structure, value, position);
  }
  /// `structure` with `values` at `position` and their number.
  Value insertAll(Value structure, ArrayRef<int64_t> position,
                  ArrayRef<Value> values);

  gpu::BinaryOp binary;
  ImplicitLocOpBuilder builder;
  MLIRContext *context;
  LLVM::LLVMPointerType pointer;
  gpu::ObjectAttr ptx, fatbin;
  SmallVector<gpu::ObjectAttr> cubins;
};
} // namespace

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

LLVM::GlobalOp ImageBuilder::addConstant(const Twine &name, Type type,
                                         function_ref<Value()> fill) {
  auto global = LLVM::GlobalOp::create(
      builder, type, /*isConstant=*/true, LLVM::Linkage::Internal,
      (binary.getName() + "_" + name).str(), Attribute());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(
      builder.createBlock(&global.getInitializerRegion()));
  LLVM::ReturnOp::create(builder, fill());
  return global;
}

LLVM::GlobalOp ImageBuilder::addBytes(const Twine &name, StringRef data,
                                      bool isText) {
  std::string bytes = data.str();
  if (isText)
    bytes.push_back(0);
  // The driver reads binaries as structures of 8 bytes.
  return LLVM::GlobalOp::create(
      builder, LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size()),
      /*isConstant=*/true, LLVM::Linkage::Internal,
      (binary.getName() + "_" + name).str(), builder.getStringAttr(bytes),
      /*alignment=*/isText ? 1 : 64);
}

Value ImageBuilder::insertAll(Value structure, ArrayRef<int64_t> position,
                              ArrayRef<Value> values) {
  SmallVector<int64_t> place(position);
  place.push_back(0);
  for (auto [i, value] : llvm::enumerate(values)) {
    place.back() = i;
    structure = insert(structure, value, place);
  }
  return structure;
}

LLVM::GlobalOp
ImageBuilder::addKernels(const LaunchMap &launches,
                         llvm::DenseMap<SymbolRefAttr, int32_t> &kernels) {
  Type i32 = builder.getI32Type();
  auto sizesType = LLVM::LLVMArrayType::get(i32, 3);
  auto kernelType = LLVM::LLVMStructType::getLiteral(
      context, {pointer, sizesType, sizesType, i32, i32, i32, i32});
  SmallVector<std::pair<SymbolRefAttr, LaunchSizes>> launched;
  SmallVector<LLVM::GlobalOp> names;
  for (auto &[symbol, sizes] : launches) {
    if (symbol.getRootReference() != binary.getNameAttr())
      continue;
    kernels[symbol] = launched.size();
    StringRef name = symbol.getLeafReference().getValue();
    names.push_back(addBytes("name_" + name, name, /*isText=*/true));
    launched.push_back({symbol, sizes});
  }
  return addConstant(
      "kernels", LLVM::LLVMArrayType::get(kernelType, launched.size()), [&] {
        Value table = LLVM::UndefOp::create(
            builder, LLVM::LLVMArrayType::get(kernelType, launched.size()));
        for (auto [i, kernel] : llvm::enumerate(launched)) {
          int64_t number = static_cast<int64_t>(i);
          const auto &[symbol, sizes] = kernel;
          auto getAll = [&](ArrayRef<int32_t> values) {
            return llvm::map_to_vector(
                values, [&](int32_t value) { return getNumber(value, 32); });
          };
          gpu::KernelMetadataAttr entry =
              ptx.getKernels().lookup(symbol.getLeafReference());
          int64_t parameters = getParameterTypes(entry).size();
          table = insert(table, getAddress(names[i]), {number, 0});
          table = insertAll(table, {number, 1}, getAll(sizes.grid));
          table = insertAll(table, {number, 2}, getAll(sizes.block));
          table = insert(table, getNumber(sizes.dynamicSharedBytes, 32),
                         {number, 3});
          table = insert(table, getNumber(parameters, 32), {number, 4});
          table = insert(table,
                         getNumber(isOrderDependent(entry)
                                       ? ACT_GPU_KERNEL_ORDER_DEPENDENT
                                       : 0,
                                   32),
                         {number, 5});
          table = insert(table, getNumber(0, 32), {number, 6});
        }
        return table;
      });
}

LLVM::GlobalOp ImageBuilder::addCubins() {
  if (cubins.empty())
    return {};
  Type i32 = builder.getI32Type();
  auto cubinType = LLVM::LLVMStructType::getLiteral(
      context, {i32, i32, pointer, builder.getI64Type()});
  auto type = LLVM::LLVMArrayType::get(cubinType, cubins.size());
  SmallVector<LLVM::GlobalOp> codes;
  for (gpu::ObjectAttr cubin : cubins)
    codes.push_back(addBytes(getChip(cubin), cubin.getObject(),
                             /*isText=*/false));
  return addConstant("cubins", type, [&] {
    Value table = LLVM::UndefOp::create(builder, type);
    for (auto [i, cubin] : llvm::enumerate(cubins)) {
      int64_t number = static_cast<int64_t>(i);
      unsigned architecture = llvm::cantFail(getArchitecture(getChip(cubin)));
      table = insert(table, getNumber(architecture, 32), {number, 0});
      table = insert(table, getNumber(0, 32), {number, 1});
      table = insert(table, getAddress(codes[i]), {number, 2});
      table =
          insert(table, getNumber(cubin.getObject().size(), 64), {number, 3});
    }
    return table;
  });
}

FailureOr<LLVM::GlobalOp>
ImageBuilder::build(const LaunchMap &launches,
                    llvm::DenseMap<SymbolRefAttr, int32_t> &kernels) {
  for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>()) {
    if (object.getFormat() == gpu::CompilationTarget::Binary)
      cubins.push_back(object);
    else if (object.getFormat() == gpu::CompilationTarget::Fatbin)
      fatbin = object;
  }
  ptx = getPtxObject(binary);
  if (!ptx || !ptx.getKernels())
    return binary.emitOpError("expects PTX text with a table of kernels, as "
                              "act-gpu-to-binary makes it");
  for (auto &[symbol, sizes] : launches)
    if (symbol.getRootReference() == binary.getNameAttr() &&
        !ptx.getKernels().lookup(symbol.getLeafReference()))
      return binary.emitOpError("expects a kernel '")
             << symbol.getLeafReference().getValue() << "' in its table";
  for (gpu::ObjectAttr object : cubins)
    if (llvm::Expected<unsigned> known = getArchitecture(getChip(object));
        !known)
      return binary.emitOpError() << llvm::toString(known.takeError());
  LLVM::GlobalOp text = addBytes("ptx", ptx.getObject(), /*isText=*/true);
  LLVM::GlobalOp fat;
  if (fatbin)
    fat = addBytes("fatbin", fatbin.getObject(), /*isText=*/false);
  LLVM::GlobalOp cubinTable = addCubins();
  LLVM::GlobalOp kernelTable = addKernels(launches, kernels);
  Type i32 = builder.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(
      context, {i32, i32, pointer, pointer, i32, i32, pointer, pointer,
                builder.getI64Type()});
  llvm::Expected<unsigned> oldest = getArchitecture(getChip(ptx));
  if (!oldest)
    return binary.emitOpError() << llvm::toString(oldest.takeError());
  return addConstant("image", type, [&] {
    Value image = LLVM::UndefOp::create(builder, type);
    return insertAll(
        image, {},
        {getNumber(ACT_GPU_IMAGE_VERSION, 32), getNumber(kernels.size(), 32),
         getAddress(kernelTable), getAddress(text), getNumber(*oldest, 32),
         getNumber(cubins.size(), 32), getAddress(cubinTable), getAddress(fat),
         getNumber(fat ? fatbin.getObject().size() : 0, 64)});
  });
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// Turns the launches of one function into calls.
class LaunchConverter {
public:
  LaunchConverter(LLVM::LLVMFuncOp function,
                  ArrayRef<gpu::LaunchFuncOp> launches)
      : function(function), launches(launches),
        builder(function.getLoc(), function.getContext()),
        pointer(LLVM::LLVMPointerType::get(function.getContext())) {}

  LogicalResult verify();
  void convert(const llvm::DenseMap<StringAttr, LLVM::GlobalOp> &images,
               const llvm::DenseMap<SymbolRefAttr, int32_t> &kernels);

private:
  Value getElement(Value array, size_t number) {
    return LLVM::GEPOp::create(
        builder, pointer, builder.getI64Type(), array,
        ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(number)});
  }
  void createParameters();
  LLVM::LLVMFuncOp getLaunchFunction();

  LLVM::LLVMFuncOp function;
  ArrayRef<gpu::LaunchFuncOp> launches;
  ImplicitLocOpBuilder builder;
  LLVM::LLVMPointerType pointer;
  /// Slots of 8 bytes, and an array of their addresses, which launches share.
  Value slots, parameters;
};
} // namespace

LogicalResult LaunchConverter::verify() {
  auto expected = LLVM::LLVMFunctionType::get(builder.getI32Type(),
                                              SmallVector<Type>(4, pointer));
  if (function.getFunctionType() != expected)
    return function.emitOpError("expects the type ")
           << expected << " of a function that launches kernels, got "
           << function.getFunctionType();
  for (gpu::LaunchFuncOp launch : launches)
    for (auto [i, operand] : llvm::enumerate(launch.getKernelOperands())) {
      Type type = operand.getType();
      bool isNumber = type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64;
      if (!isNumber && !isa<LLVM::LLVMPointerType>(type))
        return launch.emitOpError(
                   "expects a pointer, or a number of at most 64 "
                   "bits, as parameter ")
               << i << " of " << launch.getKernel() << ", got " << type;
    }
  return success();
}

void LaunchConverter::createParameters() {
  size_t most = 1;
  for (gpu::LaunchFuncOp launch : launches)
    most = std::max<size_t>(most, launch.getNumKernelOperands());
  builder.setInsertionPointToStart(&function.getBody().front());
  Value count = LLVM::ConstantOp::create(builder, builder.getI64Type(),
                                         static_cast<int64_t>(most));
  slots =
      LLVM::AllocaOp::create(builder, pointer, builder.getI64Type(), count, 8);
  parameters = LLVM::AllocaOp::create(builder, pointer, pointer, count, 8);
  for (size_t i = 0; i < most; ++i)
    LLVM::StoreOp::create(builder, getElement(slots, i),
                          getElement(parameters, i));
}

LLVM::LLVMFuncOp LaunchConverter::getLaunchFunction() {
  auto module = function->getParentOfType<ModuleOp>();
  if (auto found = module.lookupSymbol<LLVM::LLVMFuncOp>("act_gpu_launch"))
    return found;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(module.getBody());
  Type i32 = builder.getI32Type();
  return LLVM::LLVMFuncOp::create(
      builder, "act_gpu_launch",
      LLVM::LLVMFunctionType::get(i32, {pointer, pointer, i32, pointer}));
}

void LaunchConverter::convert(
    const llvm::DenseMap<StringAttr, LLVM::GlobalOp> &images,
    const llvm::DenseMap<SymbolRefAttr, int32_t> &kernels) {
  LLVM::LLVMFuncOp callee = getLaunchFunction();
  createParameters();
  for (gpu::LaunchFuncOp launch : launches) {
    builder.setInsertionPoint(launch);
    builder.setLoc(launch.getLoc());
    for (auto [i, operand] : llvm::enumerate(launch.getKernelOperands()))
      LLVM::StoreOp::create(builder, operand, getElement(slots, i));
    Value image = LLVM::AddressOfOp::create(
        builder, images.lookup(launch.getKernelModuleName()));
    Value number = LLVM::ConstantOp::create(builder, builder.getI32Type(),
                                            kernels.lookup(launch.getKernel()));
    LLVM::CallOp::create(
        builder, callee,
        ValueRange{function.getArgument(3), image, number, parameters});
    launch.erase();
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct ActEmbedKernels : act::impl::ActEmbedKernelsPassBase<ActEmbedKernels> {
  void runOnOperation() override;

private:
  LogicalResult run();
};
} // namespace

/// A launch has an operand for each parameter, if the table knows the kernel.
static LogicalResult verifyOperands(gpu::LaunchFuncOp launch,
                                    gpu::BinaryOp binary) {
  gpu::ObjectAttr ptx = getPtxObject(binary);
  if (!ptx || !ptx.getKernels())
    return success();
  gpu::KernelMetadataAttr kernel =
      ptx.getKernels().lookup(launch.getKernelName());
  if (!kernel)
    return success();
  size_t expected = getParameterTypes(kernel).size();
  if (launch.getNumKernelOperands() == expected)
    return success();
  return launch.emitOpError("expects ")
         << expected << " parameters of " << launch.getKernel() << ", got "
         << launch.getNumKernelOperands();
}

LogicalResult ActEmbedKernels::run() {
  ModuleOp module = getOperation();
  FailureOr<LaunchMap> sizes = collectLaunchSizes(module);
  if (failed(sizes))
    return failure();
  llvm::MapVector<Operation *, SmallVector<gpu::LaunchFuncOp>> launches;
  WalkResult result = module.walk([&](gpu::LaunchFuncOp launch) {
    auto function = launch->getParentOfType<LLVM::LLVMFuncOp>();
    auto binary =
        module.lookupSymbol<gpu::BinaryOp>(launch.getKernelModuleName());
    if (!function || !binary) {
      launch.emitOpError(function ? "expects kernels in a gpu.binary "
                                    "(act-gpu-to-binary)"
                                  : "expects to be in an llvm.func");
      return WalkResult::interrupt();
    }
    launches[function].push_back(launch);
    return WalkResult(verifyOperands(launch, binary));
  });
  if (result.wasInterrupted())
    return failure();
  for (auto &[function, list] : launches)
    if (failed(
            LaunchConverter(cast<LLVM::LLVMFuncOp>(function), list).verify()))
      return failure();

  llvm::DenseMap<StringAttr, LLVM::GlobalOp> images;
  llvm::DenseMap<SymbolRefAttr, int32_t> kernels;
  SmallVector<gpu::BinaryOp> binaries(module.getOps<gpu::BinaryOp>());
  for (gpu::BinaryOp binary : binaries) {
    llvm::DenseMap<SymbolRefAttr, int32_t> numbers;
    FailureOr<LLVM::GlobalOp> image =
        ImageBuilder(module, binary).build(*sizes, numbers);
    if (failed(image))
      return failure();
    images[binary.getNameAttr()] = *image;
    kernels.insert(numbers.begin(), numbers.end());
  }
  for (auto &[function, list] : launches)
    LaunchConverter(cast<LLVM::LLVMFuncOp>(function), list)
        .convert(images, kernels);
  for (gpu::BinaryOp binary : binaries)
    binary.erase();
  module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  return success();
}

void ActEmbedKernels::runOnOperation() {
  if (failed(run()))
    signalPassFailure();
}
