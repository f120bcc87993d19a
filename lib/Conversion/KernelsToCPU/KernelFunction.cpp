//===- KernelFunction.cpp - Functions of kernels -------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelFunction.h"
#include "NestEmitter.h"
#include "act/Conversion/KernelUtils/Contractions.h"
#include "act/Conversion/KernelsToCPU/CodecEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::act;

/// Work that is worth another thread, in sums of two numbers.
static constexpr double grainCost = 65536;
/// Most iterations of the vector loop in a unit that has no others.
static constexpr int64_t blockLength = 4096;

namespace {
/// How a unit is a part of a nest: a block of iterations of some loops.
struct Partition {
  SmallVector<std::pair<unsigned, int64_t>> loops; // and lengths of blocks
  int64_t units = 1;
};

class FunctionEmitter {
public:
  FunctionEmitter(ModuleOp module, KernelOp kernel, StringRef name,
                  const VectorTarget &target)
      : kernel(kernel), target(target), lanes(target.vectorBits / 32),
        builder(kernel.getLoc(), module.getContext()) {
    builder.setInsertionPointToEnd(module.getBody());
    createFunction(name);
  }

  FailureOr<KernelFunction> emit();

private:
  void createFunction(StringRef name);
  LogicalResult bindOperands();
  void bindPrivateBuffers();
  LogicalResult collectNests();
  LogicalResult emitRows();
  LogicalResult emitCodec(Operation *op, Value first, Value last);
  /// Returns the number of units.
  int64_t emitSingle(const LoopNest &nest);
  Partition choosePartition(const LoopNest &nest);
  void emitUnits(llvm::function_ref<void(Value)> body);
  /// The digits of `number` in a mixed base of `extents`.
  SmallVector<Value> delinearize(Value number, ArrayRef<int64_t> extents);
  KernelFunction finish(int64_t units, double unitCost);

  KernelOp kernel;
  VectorTarget target;
  int64_t lanes;
  ImplicitLocOpBuilder builder;
  LLVM::LLVMFuncOp function;
  Value begin, end;
  KernelValues values;
  SmallVector<LoopNest, 0> nests;
};
} // namespace

void FunctionEmitter::createFunction(StringRef name) {
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = builder.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                          {pointer, i64, i64});
  function =
      LLVM::LLVMFuncOp::create(builder, name, type, LLVM::Linkage::Internal);
  Block *entry = function.addEntryBlock(builder);
  builder.setInsertionPointToStart(entry);
  LLVM::ReturnOp ret = LLVM::ReturnOp::create(builder, ValueRange());
  builder.setInsertionPoint(ret);
  begin = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                     entry->getArgument(1));
  end = arith::IndexCastOp::create(builder, builder.getIndexType(),
                                   entry->getArgument(2));
}

LogicalResult FunctionEmitter::bindOperands() {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value buffers = function.getArgument(0);
  for (auto [i, argument] :
       llvm::enumerate(kernel.getBody().front().getArguments())) {
    Value slot = LLVM::GEPOp::create(builder, pointer, pointer, buffers,
                                     ArrayRef<LLVM::GEPArg>{(int32_t)i});
    Value address = LLVM::LoadOp::create(builder, pointer, slot);
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type) {
      KernelBuffer scalar{address, argument.getType(), {}};
      Memory memory(builder, lanes);
      values.scalars[argument] = memory.loadScalar(scalar, memory.getIndex(0));
      continue;
    }
    FailureOr<SmallVector<int64_t>> strides = getKnownStrides(type);
    if (failed(strides))
      return kernel.emitOpError("expects buffers of known shape and strides, "
                                "got ")
             << type;
    values.buffers[argument] = {address, type.getElementType(), *strides};
  }
  return success();
}

/// Gives private buffers memory on the stack, of one row.
void FunctionEmitter::bindPrivateBuffers() {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  unsigned numRows = kernel.getRows().size();
  for (auto alloc : kernel.getBody().getOps<memref::AllocOp>()) {
    MemRefType type = alloc.getType();
    int64_t elements = type.getNumElements() / kernel.getUnits();
    Value count = LLVM::ConstantOp::create(builder, builder.getI64Type(),
                                           elements + lanes);
    Value memory = LLVM::AllocaOp::create(
        builder, pointer, getStoredType(type.getElementType()), count, 64);
    SmallVector<int64_t> strides = *getKnownStrides(type);
    std::fill_n(strides.begin(), numRows, 0);
    values.buffers[alloc.getResult()] = {memory, type.getElementType(),
                                         strides};
  }
}

static CodecUnits getUnits(Operation *op) {
  if (auto encode = dyn_cast<EncodeOp>(op))
    return getCodecUnits(encode);
  return getCodecUnits(cast<DecodeOp>(op));
}

LogicalResult FunctionEmitter::collectNests() {
  for (Operation &op : kernel.getBody().front()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      values.scalars[constant] = builder.clone(op)->getResult(0);
      continue;
    }
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic)
      continue;
    if (isReductionStart(generic))
      continue;
    FailureOr<LoopNest> nest =
        getLoopNest(generic, values, kernel.getRows().size());
    if (failed(nest))
      return failure();
    nest->initial[0] = getReductionStart(generic);
    nests.push_back(std::move(*nest));
  }
  return success();
}

SmallVector<Value> FunctionEmitter::delinearize(Value number,
                                                ArrayRef<int64_t> extents) {
  SmallVector<Value> digits(extents.size());
  for (size_t i = extents.size(); i-- > 1;) {
    Value extent = arith::ConstantIndexOp::create(builder, extents[i]);
    digits[i] = arith::RemUIOp::create(builder, number, extent);
    number = arith::DivUIOp::create(builder, number, extent);
  }
  if (!digits.empty())
    digits[0] = number;
  return digits;
}

void FunctionEmitter::emitUnits(llvm::function_ref<void(Value)> body) {
  Value one = arith::ConstantIndexOp::create(builder, 1);
  auto loop = scf::ForOp::create(builder, begin, end, one);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
}

static double getUnitCost(const LoopNest &nest, int64_t units) {
  double iterations = 1;
  for (int64_t extent : nest.extents)
    iterations *= static_cast<double>(extent);
  return iterations / static_cast<double>(units) * getIterationCost(nest.op);
}

KernelFunction FunctionEmitter::finish(int64_t units, double unitCost) {
  int64_t grain = std::max<int64_t>(1, grainCost / std::max(unitCost, 0.001));
  return {function, units, grain};
}

LogicalResult FunctionEmitter::emitRows() {
  unsigned numRows = kernel.getRows().size();
  Value zero = arith::ConstantIndexOp::create(builder, 0);
  LogicalResult result = success();
  emitUnits([&](Value unit) {
    SmallVector<Value> rows = delinearize(unit, kernel.getRows());
    auto next = nests.begin();
    for (Operation &op : kernel.getBody().front()) {
      if (isa<EncodeOp, DecodeOp>(op)) {
        Value count = arith::ConstantIndexOp::create(
            builder, getUnits(&op).units / kernel.getUnits());
        Value first = arith::MulIOp::create(builder, unit, count);
        Value last = arith::AddIOp::create(builder, first, count);
        if (failed(emitCodec(&op, first, last)))
          result = failure();
        continue;
      }
      if (next == nests.end() || next->op != &op)
        continue;
      const LoopNest &nest = *next++;
      SmallVector<LoopRange> ranges;
      for (Value row : rows)
        ranges.push_back({row, Value()});
      for (unsigned loop = numRows; loop < nest.getNumLoops(); ++loop)
        ranges.push_back({zero, arith::ConstantIndexOp::create(
                                    builder, nest.extents[loop])});
      NestEmitter(builder, values, nest, lanes, numRows).emit(ranges);
    }
  });
  return result;
}

/// Cuts parallel loops into units: single iterations of all but the vector
/// loop, of which a unit has a block.
Partition FunctionEmitter::choosePartition(const LoopNest &nest) {
  Partition partition;
  int64_t vectorLoop = getVectorLoop(nest, 0, lanes);
  bool reduces = llvm::is_contained(nest.isReduction, true);
  bool transposes =
      !reduces && vectorLoop >= 0 &&
      llvm::any_of(nest.operands, [&](const NestOperand &operand) {
        return !operand.scalar && operand.strides[vectorLoop] > 1;
      });
  bool splits = !reduces || getCombiners(nest.op) || vectorLoop >= 0;
  for (unsigned loop = 0; loop < nest.getNumLoops(); ++loop) {
    if (nest.isReduction[loop] || !splits)
      continue;
    int64_t length = 1;
    if (static_cast<int64_t>(loop) == vectorLoop)
      length = reduces ? 4 * lanes : blockLength;
    else if (transposes)
      length = 32;
    length = std::min(length, nest.extents[loop]);
    partition.loops.push_back({loop, length});
    partition.units *= llvm::divideCeil(nest.extents[loop], length);
  }
  return partition;
}

int64_t FunctionEmitter::emitSingle(const LoopNest &nest) {
  Partition partition = choosePartition(nest);
  SmallVector<int64_t> counts;
  for (auto [loop, length] : partition.loops)
    counts.push_back(llvm::divideCeil(nest.extents[loop], length));
  emitUnits([&](Value unit) {
    SmallVector<Value> blocks = delinearize(unit, counts);
    auto index = [&](int64_t value) -> Value {
      return arith::ConstantIndexOp::create(builder, value);
    };
    SmallVector<LoopRange> ranges;
    for (int64_t extent : nest.extents)
      ranges.push_back({index(0), index(extent)});
    for (auto [part, block] : llvm::zip_equal(partition.loops, blocks)) {
      auto [loop, length] = part;
      int64_t extent = nest.extents[loop];
      if (length == 1) {
        ranges[loop] = {block, Value()};
        continue;
      }
      if (length == extent)
        continue;
      Value first = arith::MulIOp::create(builder, block, index(length));
      Value last = arith::AddIOp::create(builder, first, index(length));
      if (extent % length != 0)
        last = arith::MinSIOp::create(builder, last, index(extent));
      ranges[loop] = {first, last};
    }
    NestEmitter(builder, values, nest, lanes, 0).emit(ranges);
  });
  return partition.units;
}

/// Encodes or decodes the units [first, last).
LogicalResult FunctionEmitter::emitCodec(Operation *op, Value first,
                                         Value last) {
  for (Type type : op->getOperandTypes())
    if (!memref::isStaticShapeAndContiguousRowMajor(cast<MemRefType>(type)))
      return op->emitOpError("expects buffers without gaps, got ") << type;
  CodecBuffers buffers;
  auto pointer = [&](Value operand) {
    // Of a private buffer there is only the row at hand.
    if (operand.getDefiningOp<memref::AllocOp>())
      buffers.plainIsLocal = true;
    return values.buffers.lookup(operand).pointer;
  };
  if (auto encode = dyn_cast<EncodeOp>(op)) {
    buffers.plain = pointer(encode.getInput());
    for (Value out : encode.getOuts())
      buffers.storage.push_back(pointer(out));
    if (encode.getSalt()) {
      Memory memory(builder, lanes);
      buffers.salt = memory.loadScalar(values.buffers.lookup(encode.getSalt()),
                                       memory.getIndex(0));
    }
    return emitEncodeUnits(builder, op->getLoc(), encode, buffers, first, last,
                           target);
  }
  auto decode = cast<DecodeOp>(op);
  for (Value input : decode.getInputs())
    buffers.storage.push_back(pointer(input));
  buffers.plain = pointer(decode.getOuts()[0]);
  return emitDecodeUnits(builder, op->getLoc(), decode, buffers, first, last,
                         target);
}

FailureOr<KernelFunction> FunctionEmitter::emit() {
  if (failed(bindOperands()))
    return failure();
  bindPrivateBuffers();
  if (kernel.getKind() == KernelKind::Codec) {
    Operation *op = &kernel.getBody().front().back();
    if (failed(emitCodec(op, begin, end)))
      return failure();
    CodecUnits units = getUnits(op);
    return finish(units.units, 2.0 * units.elements);
  }
  if (failed(collectNests()))
    return failure();
  if (!kernel.getRows().empty()) {
    if (failed(emitRows()))
      return failure();
    double cost = 0;
    for (const LoopNest &nest : nests)
      cost += getUnitCost(nest, kernel.getUnits());
    for (Operation &op : kernel.getBody().front())
      if (isa<EncodeOp, DecodeOp>(op))
        cost += 2.0 * getUnits(&op).units * getUnits(&op).elements /
                kernel.getUnits();
    return finish(kernel.getUnits(), cost);
  }
  if (nests.size() != 1) {
    kernel.emitOpError("expects one operation in a kernel without rows, got ")
        << nests.size();
    return failure();
  }
  int64_t units = emitSingle(nests.front());
  return finish(units, getUnitCost(nests.front(), units));
}

FailureOr<KernelFunction>
mlir::act::emitKernelFunction(ModuleOp module, KernelOp kernel, StringRef name,
                              const VectorTarget &target) {
  return FunctionEmitter(module, kernel, name, target).emit();
}
