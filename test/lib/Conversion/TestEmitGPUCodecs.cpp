//===- TestEmitGPUCodecs.cpp - Emit codec kernels for GPUs ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../../../lib/Conversion/KernelsToGPU/KernelEmitters.h"
#include "TestPasses.h"
#include "act/Conversion/KernelsToGPU/GpuCodecs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::act;

namespace {
struct TestEmitGPUCodecsPass
    : PassWrapper<TestEmitGPUCodecsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestEmitGPUCodecsPass)

  TestEmitGPUCodecsPass() = default;
  TestEmitGPUCodecsPass(const TestEmitGPUCodecsPass &other)
      : PassWrapper(other) {}

  StringRef getArgument() const final { return "test-emit-gpu-codecs"; }
  StringRef getDescription() const final {
    return "Replace the functions of a module, each of which is one act.kernel "
           "that encodes or decodes, by GPU functions of the same names";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, gpu::GPUDialect, LLVM::LLVMDialect,
                    NVVM::NVVMDialect, scf::SCFDialect>();
    if (hasModels)
      registerGpuEncodingModels(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
    auto kernels =
        gpu::GPUModuleOp::create(builder, module.getLoc(), "kernels");
    SmallVector<Operation *> functions;
    for (auto function : module.getOps<FunctionOpInterface>())
      functions.push_back(function);
    for (Operation *function : functions) {
      KernelOp kernel;
      function->walk([&](KernelOp op) { kernel = op; });
      if (failed(emit(kernels, kernel,
                      SymbolTable::getSymbolName(function).str())))
        return signalPassFailure();
      function->erase();
    }
  }

  Option<int64_t> alignment{*this, "alignment",
                            llvm::cl::desc("Of buffers, in bytes"),
                            llvm::cl::init(16)};
  Option<bool> inRows{*this, "rows",
                      llvm::cl::desc("Emit the code of other kernels: by one "
                                     "warp, for all units"),
                      llvm::cl::init(false)};
  Option<bool> hasModels{*this, "models",
                         llvm::cl::desc("Whether encodings have kernels"),
                         llvm::cl::init(true)};

private:
  LogicalResult emit(gpu::GPUModuleOp module, KernelOp kernel,
                     std::string name) {
    KernelRequest request{module, kernel, name, {}, {}, /*allowTf32=*/false};
    Operation &op = kernel.getBody().front().front();
    auto destination = cast<DestinationStyleOpInterface>(op);
    Type pointer = LLVM::LLVMPointerType::get(&getContext(), 1);
    for (Value argument : kernel.getBody().front().getArguments()) {
      bool isWritten = llvm::is_contained(destination.getDpsInits(), argument);
      request.parameters.push_back({pointer, !isWritten, alignment});
    }
    if (inRows)
      return emitInRows(request, op);
    FailureOr<GpuKernel> emitted = emitCodecKernel(request);
    if (failed(emitted))
      return failure();
    return success();
  }

  /// Copies of what `op` reads are not needed: its buffers are global here too.
  LogicalResult emitInRows(const KernelRequest &request, Operation &op) {
    GpuKernelBuilder kernel(request.module, op.getLoc(), request.name,
                            request.parameters, /*threads=*/64);
    auto getPointer = [&](Value operand) {
      return kernel.getParameter(cast<BlockArgument>(operand).getArgNumber());
    };
    ThreadGroup group(kernel, warpThreads);
    GpuCodecBuffers buffers;
    auto run = [&](auto codec, Value plain, ValueRange storage, auto emit) {
      CodecUnits units = getCodecUnits(codec);
      buffers.plain = getPointer(plain);
      for (Value part : storage)
        buffers.storage.push_back(getPointer(part));
      // One warp for the first half of the units, one for the others; for all
      // of them where they do not divide so.
      if (units.units % 2 != 0 || !units.contiguous) {
        ImplicitLocOpBuilder &b = kernel.getBuilder();
        Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                              group.getNumber(), kernel.i32(0));
        auto branch = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.thenBlock());
        return emit(codec, kernel.i32(0), units.units);
      }
      int64_t half = units.units / 2;
      Value first = arith::MulIOp::create(kernel.getBuilder(),
                                          group.getNumber(), kernel.i32(half));
      int64_t elements = half * units.elements;
      buffers.plainIsLocal = true;
      // Of whole groups, as their rows would be.
      buffers.plainAlignment = units.elements % alignment == 0 ? alignment : 0;
      buffers.plain = kernel.getAddress(
          buffers.plain,
          getPlainType(codec).getElementType().isInteger(1)
              ? kernel.getBuilder().getI8Type()
              : getPlainType(codec).getElementType(),
          arith::MulIOp::create(kernel.getBuilder(), group.getNumber(),
                                kernel.i32(elements)));
      return emit(codec, first, half);
    };
    LogicalResult result = success();
    if (auto encode = dyn_cast<EncodeOp>(op)) {
      if (encode.getSalt())
        buffers.salt = kernel.load(kernel.getBuilder().getI32Type(),
                                   getPointer(encode.getSalt()));
      result = run(encode, encode.getInput(), encode.getOuts(),
                   [&](EncodeOp codec, Value first, int64_t count) {
                     return emitGroupEncode(kernel, group, codec, buffers,
                                            first, count);
                   });
    } else {
      auto decode = cast<DecodeOp>(op);
      result = run(decode, decode.getOuts().front(), decode.getInputs(),
                   [&](DecodeOp codec, Value first, int64_t count) {
                     return emitGroupDecode(kernel, group, codec, buffers,
                                            first, count);
                   });
    }
    if (failed(result))
      return failure();
    kernel.finish({1, 1, 1});
    return success();
  }
};
} // namespace

void mlir::act::registerTestEmitGPUCodecsPass() {
  PassRegistration<TestEmitGPUCodecsPass>();
}
