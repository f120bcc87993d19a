//===- TestEmitCodecs.cpp - Emit codecs where their operations are --------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "act/Conversion/KernelsToCPU/CodecEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::act;

namespace {
struct TestEmitCodecsPass
    : PassWrapper<TestEmitCodecsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestEmitCodecsPass)

  TestEmitCodecsPass() = default;
  TestEmitCodecsPass(const TestEmitCodecsPass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "test-emit-codecs"; }
  StringRef getDescription() const final {
    return "Replace act.encode and act.decode on buffers by vector code for "
           "all "
           "units, and say how they divide";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, LLVM::LLVMDialect, math::MathDialect,
                    memref::MemRefDialect, scf::SCFDialect,
                    vector::VectorDialect>();
    if (hasModels)
      registerVectorEncodingModels(registry);
  }

  void runOnOperation() override {
    SmallVector<Operation *> codecs;
    getOperation().walk([&](Operation *op) {
      if (isa<EncodeOp, DecodeOp>(op))
        codecs.push_back(op);
    });
    for (Operation *op : codecs)
      if (failed(emit(op)))
        return signalPassFailure();
  }

  Option<int64_t> vectorBits{*this, "vector-bits",
                             llvm::cl::desc("Bits of a vector register"),
                             llvm::cl::init(256)};
  Option<bool> isLocal{*this, "local",
                       llvm::cl::desc("Only the units are in memory"),
                       llvm::cl::init(false)};
  Option<bool> hasModels{*this, "models",
                         llvm::cl::desc("Whether encodings have kernels"),
                         llvm::cl::init(true)};

private:
  /// A pointer to the first element of `buffer`.
  static Value getPointer(OpBuilder &builder, Location loc, Value buffer) {
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer);
    address =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), address);
    return LLVM::IntToPtrOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
        address);
  }

  LogicalResult emit(Operation *op) {
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto getPointers = [&](ValueRange operands) {
      SmallVector<Value, 3> pointers;
      for (Value operand : operands)
        pointers.push_back(getPointer(builder, loc, operand));
      return pointers;
    };
    VectorTarget target{vectorBits, /*vectorRegisters=*/16};
    CodecBuffers buffers;
    buffers.plainIsLocal = isLocal;
    auto encode = dyn_cast<EncodeOp>(op);
    auto decode = dyn_cast<DecodeOp>(op);
    buffers.plain = getPointer(
        builder, loc, encode ? encode.getInput() : decode.getOuts().front());
    buffers.storage =
        getPointers(encode ? ValueRange(encode.getOuts()) : decode.getInputs());
    if (encode && encode.getSalt())
      buffers.salt = memref::LoadOp::create(builder, loc, encode.getSalt());
    // Failing is what emitters do without models.
    CodecUnits units = {1, 1, true};
    if (hasModels)
      units = encode ? getCodecUnits(encode) : getCodecUnits(decode);
    op->emitRemark() << units.units << " units of " << units.elements
                     << (units.contiguous ? "" : " scattered") << " elements";
    Value begin = arith::ConstantIndexOp::create(builder, loc, 0);
    Value end = arith::ConstantIndexOp::create(builder, loc, units.units);
    if (failed(encode ? emitEncodeUnits(builder, loc, encode, buffers, begin,
                                        end, target)
                      : emitDecodeUnits(builder, loc, decode, buffers, begin,
                                        end, target)))
      return failure();
    op->erase();
    return success();
  }
};
} // namespace

void mlir::act::registerTestEmitCodecsPass() {
  PassRegistration<TestEmitCodecsPass>();
}
