//===- ActToStablehlo.cpp - Saves, loads and barriers in StableHLO
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/ActToStablehlo/ActToStablehlo.h"
#include "EncodingModels.h"
#include "StorageFunctions.h"
#include "act/Conversion/Passes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::act {
#define GEN_PASS_DEF_CONVERTACTTOSTABLEHLOPASS
#include "act/Conversion/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

#include "act/Conversion/ActToStablehlo/StablehloEncodingInterface.cpp.inc"

void mlir::act::registerStablehloEncodingModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ActDialect *) {
    attachAxisQuantModel(context);
    attachFloatModel(context);
    attachGroupQuantModel(context);
    attachLosslessModels(context);
    // Whichever dialect of that name the tool has, the real one or a stand-in.
    context->getOrLoadDialect("stablehlo");
  });
}

uint32_t mlir::act::getSaveSalt(uint64_t seed, uint64_t id) {
  // splitmix64 of a counter that steps through its own constant.
  uint64_t state = seed + (id + 1) * 0x9E3779B97F4A7C15u;
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
  return static_cast<uint32_t>((state ^ (state >> 31)) >> 32);
}

//===----------------------------------------------------------------------===//
// What the conversion accepts
//===----------------------------------------------------------------------===//

/// Finds a compressed type that is in `type`, or null.
static CompressedType findCompressed(Type type) {
  CompressedType found;
  type.walk([&](CompressedType compressed) {
    found = compressed;
    return WalkResult::interrupt();
  });
  return found;
}

static LogicalResult verifyEncoding(Operation *op, CompressedType type) {
  if (isa<StablehloEncodingInterface>(type.getEncoding()))
    return success();
  return op->emitOpError("expects an encoding with a StableHLO lowering, got ")
         << type.getEncoding();
}

/// Compressed values are defined and used by act operations, nowhere else.
static LogicalResult verifySupported(Operation *op) {
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    if (CompressedType type = findCompressed(function.getFunctionType()))
      return op->emitOpError("expects a signature without compressed values, "
                             "got ")
             << type;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes())
        if (CompressedType compressed = findCompressed(type))
          return op->emitOpError("expects block arguments that are not "
                                 "compressed, got ")
                 << compressed;
  bool isAct = isa<CompressedSaveOp, DequantizeLoadOp, BarrierOp>(op);
  auto types = llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                        llvm::to_vector(op->getResultTypes()));
  for (Type type : types) {
    CompressedType compressed = findCompressed(type);
    if (!compressed)
      continue;
    if (!isAct)
      return op->emitOpError("expects operands and results that are not "
                             "compressed, got ")
             << compressed;
    if (failed(verifyEncoding(op, compressed)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The conversion
//===----------------------------------------------------------------------===//

namespace {
/// Lowers act operations in the order in which they are given, definitions
/// before uses.
class Lowering {
public:
  Lowering(ModuleOp module, uint64_t seed)
      : functions(module), builder(module.getContext()), seed(seed) {}

  void lower(CompressedSaveOp op);
  void lower(DequantizeLoadOp op);
  void lower(BarrierOp op);

private:
  StablehloBuilder at(Operation *op) {
    builder.setInsertionPoint(op);
    return StablehloBuilder(builder, op->getLoc());
  }

  StorageFunctions functions;
  OpBuilder builder;
  uint64_t seed;
  /// The tensors that stand for each compressed value.
  DenseMap<Value, SmallVector<Value>> storage;
};
} // namespace

void Lowering::lower(CompressedSaveOp op) {
  CompressedType type = op.getResult().getType();
  auto encoding = cast<StablehloEncodingInterface>(type.getEncoding());
  if (encoding.storesTensorItself()) {
    storage[op.getResult()] = {op.getInput()};
    return;
  }
  StablehloBuilder stablehlo = at(op);
  SmallVector<Value> operands{op.getInput()};
  if (encoding.usesSalt())
    operands.push_back(
        stablehlo.scalar(builder.getIntegerType(32, /*isSigned=*/false),
                         static_cast<int64_t>(getSaveSalt(seed, op.getId()))));
  func::CallOp call = stablehlo.call(functions.getEncode(type), operands);
  storage[op.getResult()] = llvm::to_vector_of<Value>(call.getResults());
}

void Lowering::lower(DequantizeLoadOp op) {
  CompressedType type = op.getInput().getType();
  ArrayRef<Value> parts = storage.at(op.getInput());
  auto encoding = cast<StablehloEncodingInterface>(type.getEncoding());
  if (encoding.storesTensorItself()) {
    op.getResult().replaceAllUsesWith(parts.front());
    return;
  }
  func::CallOp call = at(op).call(functions.getDecode(type), parts);
  op.getResult().replaceAllUsesWith(call.getResult(0));
}

void Lowering::lower(BarrierOp op) {
  SmallVector<SmallVector<Value>> parts;
  llvm::SetVector<Value> distinct;
  for (Value input : op.getInputs()) {
    parts.push_back(isa<CompressedType>(input.getType())
                        ? storage.at(input)
                        : SmallVector<Value>{input});
    distinct.insert_range(parts.back());
  }
  DenseMap<Value, Value> results;
  if (distinct.size() == 1) {
    results[distinct.front()] = distinct.front();
  } else {
    SmallVector<Value> held =
        at(op).optimizationBarrier(distinct.getArrayRef());
    for (auto [value, result] : llvm::zip_equal(distinct, held))
      results[value] = result;
  }
  for (auto [result, held] : llvm::zip_equal(op.getResults(), parts)) {
    for (Value &part : held)
      part = results.at(part);
    if (isa<CompressedType>(result.getType()))
      storage[result] = held;
    else
      result.replaceAllUsesWith(held.front());
  }
}

/// Collects the act operations of `module`, definitions before uses. Fails on
/// what the conversion does not accept.
static LogicalResult collect(ModuleOp module, SmallVector<Operation *> &ops) {
  DenseSet<Operation *> collected;
  WalkResult result =
      module.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
        if (failed(verifySupported(op)))
          return WalkResult::interrupt();
        if (!isa_and_nonnull<ActDialect>(op->getDialect()))
          return WalkResult::advance();
        for (Value operand : op->getOperands())
          if (isa<CompressedType>(operand.getType()) &&
              !collected.contains(operand.getDefiningOp()))
            return op->emitOpError("expects compressed operands that are "
                                   "defined further up");
        collected.insert(op);
        ops.push_back(op);
        return WalkResult::advance();
      });
  return failure(result.wasInterrupted());
}

LogicalResult mlir::act::convertActToStablehlo(ModuleOp module, uint64_t seed) {
  SmallVector<Operation *> ops;
  if (failed(collect(module, ops)))
    return failure();

  Lowering lowering(module, seed);
  for (Operation *op : ops) {
    LogicalResult result =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case<CompressedSaveOp, DequantizeLoadOp, BarrierOp>([&](auto op) {
              lowering.lower(op);
              return success();
            })
            .Default([](Operation *op) {
              return op->emitOpError("expects an operation with a StableHLO "
                                     "lowering");
            });
    if (failed(result))
      return failure();
  }
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  return success();
}

namespace {
struct ConvertActToStablehloPass
    : mlir::act::impl::ConvertActToStablehloPassBase<
          ConvertActToStablehloPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<ActDialect, func::FuncDialect>();
    registerStablehloEncodingModels(registry);
  }

  void runOnOperation() override {
    if (failed(convertActToStablehlo(getOperation(), seed)))
      signalPassFailure();
  }
};
} // namespace
