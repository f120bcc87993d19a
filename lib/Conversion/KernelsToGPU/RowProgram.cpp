//===- RowProgram.cpp - Operations that share rows ------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowProgram.h"
#include "KernelBindings.h"
#include "ThreadNest.h"
#include "act/Conversion/KernelUtils/Combiners.h"
#include "act/Conversion/KernelUtils/ElementBytes.h"
#include "act/Conversion/KernelsToCPU/CodecEmitter.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::act;

/// Warps of a block that each compute a row.
static constexpr int64_t rowsPerBlock = 4;
/// Most elements of a row for one warp, and for one if there are few rows.
static constexpr int64_t longestWarpRow = 1024;
static constexpr int64_t longestWarpRowOfFew = 256;
/// Rows from which on a warp for each fills a device.
static constexpr int64_t manyRows = 2048;
static constexpr int64_t mostRowThreads = 256;
/// Threads that a multiprocessor should run at once, 80 registers for each.
static constexpr int64_t threadsPerMultiprocessor = 768;
/// Most elements of a row that one thread computes, and threads of a block
/// then.
static constexpr int64_t longestThreadRow = 4;
static constexpr int64_t threadRowsPerBlock = 128;
/// Neighbouring elements that a thread takes at once.
static constexpr int64_t rowLanes = 4;

namespace {
/// An operation's use of a buffer since the last barrier.
struct Access {
  unsigned memory;
  bool isWrite;
  /// As ThreadNest::getThreadMap says.
  std::optional<std::string> threadMap;

  bool conflicts(const Access &other) const {
    return memory == other.memory && (isWrite || other.isWrite) &&
           !(threadMap && threadMap == other.threadMap);
  }
};

class RowProgramEmitter {
public:
  RowProgramEmitter(const KernelRequest &request)
      : request(request), op(request.kernel), body(op.getBody().front()),
        kernel(request.module, op.getLoc(), request.name, request.parameters,
               warpThreads) {}

  FailureOr<GpuKernel> emit();

private:
  void chooseThreads();
  int64_t getLongestRow();
  void bindPrivateBuffers(ThreadGroup &group);
  LogicalResult emitRow(ThreadGroup &group, Value row);
  LogicalResult emitOperation(linalg::GenericOp generic, ThreadGroup &group);
  LogicalResult emitCodec(Operation *codec, ThreadGroup &group, Value row);
  void store(linalg::GenericOp generic, ThreadNest &nest, ValueRange results,
             ThreadGroup &group);
  void synchronize(ThreadGroup &group, SmallVector<Access> accesses);
  SmallVector<Access> getAccesses(linalg::GenericOp generic,
                                  const ThreadNest &nest, int64_t threads);
  bool readsInPlace(linalg::GenericOp generic);
  unsigned getMemory(Value buffer);
  bool isRegister(Value buffer) const { return registers.contains(buffer); }

  const KernelRequest &request;
  KernelOp op;
  Block &body;
  GpuKernelBuilder kernel;
  KernelValues values;
  SmallVector<Value> rows;
  /// Private buffers of one element per row, all threads of which have it.
  llvm::SmallDenseSet<Value> registers;
  int64_t rowsOfBlock = 1;
  SmallVector<Access> pending;
};
} // namespace

//===----------------------------------------------------------------------===//
// Threads and buffers
//===----------------------------------------------------------------------===//

/// Whether only operations whose results every thread can have touch `buffer`,
/// one element per row.
static bool fitsRegister(memref::AllocOp buffer, int64_t units) {
  if (buffer.getType().getNumElements() != units)
    return false;
  return llvm::all_of(buffer->getUses(), [](OpOperand &use) {
    auto generic = dyn_cast<linalg::GenericOp>(use.getOwner());
    return generic &&
           (generic.getNumReductionLoops() == 0 || getCombiners(generic));
  });
}

static int64_t getPrivateBytes(memref::AllocOp buffer, int64_t units) {
  MemRefType type = buffer.getType();
  return llvm::alignTo(type.getNumElements() / units *
                           getElementBytes(type.getElementType()),
                       16);
}

/// The most elements of a row that an operation goes through.
int64_t RowProgramEmitter::getLongestRow() {
  int64_t longest = 1;
  for (Operation &inner : body) {
    if (auto generic = dyn_cast<linalg::GenericOp>(inner)) {
      int64_t elements = 1;
      for (int64_t extent : generic.getStaticLoopRanges())
        elements *= extent;
      longest = std::max(longest, elements / op.getUnits());
    } else if (isa<EncodeOp, DecodeOp>(inner)) {
      for (Type type : inner.getOperandTypes())
        longest = std::max(longest, cast<MemRefType>(type).getNumElements() /
                                        op.getUnits());
    }
  }
  return longest;
}

void RowProgramEmitter::chooseThreads() {
  int64_t bytes = 0;
  for (auto alloc : body.getOps<memref::AllocOp>()) {
    if (fitsRegister(alloc, op.getUnits()))
      registers.insert(alloc);
    else
      bytes += getPrivateBytes(alloc, op.getUnits());
  }
  int64_t longest = getLongestRow();
  if (longest <= longestThreadRow &&
      threadRowsPerBlock * bytes <= mostStaticSharedBytes) {
    rowsOfBlock = threadRowsPerBlock;
    kernel.setNumThreads(threadRowsPerBlock);
    return;
  }
  int64_t limit =
      op.getUnits() >= manyRows ? longestWarpRow : longestWarpRowOfFew;
  bool isWarp =
      longest <= limit && rowsPerBlock * bytes <= mostStaticSharedBytes / 2;
  if (isWarp) {
    rowsOfBlock = std::min(rowsPerBlock, op.getUnits());
    kernel.setNumThreads(rowsOfBlock * warpThreads);
    return;
  }
  int64_t threads =
      llvm::alignTo(llvm::divideCeilSigned(longest, rowLanes), warpThreads);
  kernel.setNumThreads(std::clamp(threads, 2 * warpThreads, mostRowThreads));
}

/// Gives private buffers shared memory, one row for every group.
void RowProgramEmitter::bindPrivateBuffers(ThreadGroup &group) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  for (auto alloc : body.getOps<memref::AllocOp>()) {
    MemRefType type = alloc.getType();
    if (isRegister(alloc)) {
      values.scalars[alloc.getResult()] =
          arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
      continue;
    }
    int64_t bytes = getPrivateBytes(alloc, op.getUnits());
    Value memory = kernel.allocateShared(bytes * rowsOfBlock);
    if (rowsOfBlock > 1) {
      Value offset =
          arith::MulIOp::create(b, group.getNumber(), kernel.i32(bytes));
      memory = kernel.getAddress(memory, b.getI8Type(), offset);
    }
    SmallVector<int64_t> strides = *getKnownStrides(type);
    std::fill_n(strides.begin(), op.getRows().size(), 0);
    values.buffers[alloc.getResult()] = {memory, type.getElementType(), strides,
                                         /*alignment=*/16};
  }
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// A number for what `buffer` may share memory with.
unsigned RowProgramEmitter::getMemory(Value buffer) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return request.memories[argument.getArgNumber()];
  unsigned number = body.getNumArguments();
  for (auto alloc : body.getOps<memref::AllocOp>()) {
    if (alloc.getResult() == buffer)
      break;
    ++number;
  }
  return number;
}

SmallVector<Access> RowProgramEmitter::getAccesses(linalg::GenericOp generic,
                                                   const ThreadNest &nest,
                                                   int64_t threads) {
  SmallVector<Access> accesses;
  auto add = [&](Value buffer, bool isWrite) {
    if (!isa<MemRefType>(buffer.getType()) || isRegister(buffer))
      return;
    std::optional<std::string> map = nest.getThreadMap(buffer, threads);
    // Operands that may overlap need not start at the same address.
    if (auto argument = dyn_cast<BlockArgument>(buffer); map && argument)
      *map += " of " + std::to_string(argument.getArgNumber());
    accesses.push_back({getMemory(buffer), isWrite, map});
  };
  for (auto [i, operand] : llvm::enumerate(generic->getOperands()))
    add(operand, static_cast<int64_t>(i) >= generic.getNumDpsInputs());
  generic.getBody()->walk([&](memref::LoadOp load) {
    if (load.getMemRef().getParentBlock() == &body)
      add(load.getMemRef(), /*isWrite=*/false);
  });
  return accesses;
}

/// Waits if what comes next depends on what other threads have done.
void RowProgramEmitter::synchronize(ThreadGroup &group,
                                    SmallVector<Access> accesses) {
  bool waits = llvm::any_of(accesses, [&](const Access &access) {
    return llvm::any_of(pending, [&](const Access &before) {
      return access.conflicts(before);
    });
  });
  if (waits) {
    group.barrier();
    pending.clear();
  }
  pending.append(accesses.begin(), accesses.end());
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Whether `generic` may read memory that it writes.
bool RowProgramEmitter::readsInPlace(linalg::GenericOp generic) {
  for (OpOperand &operand : generic->getOpOperands()) {
    if (!generic.payloadUsesValueFromOperand(&operand) ||
        !isa<MemRefType>(operand.get().getType()) || isRegister(operand.get()))
      continue;
    for (Value output : generic.getOutputs())
      if (getMemory(operand.get()) == getMemory(output))
        return true;
  }
  return false;
}

/// Keeps results that all threads have, or lets one of them store.
void RowProgramEmitter::store(linalg::GenericOp generic, ThreadNest &nest,
                              ValueRange results, ThreadGroup &group) {
  bool stores = false;
  for (auto [output, result] : llvm::zip_equal(generic.getOutputs(), results)) {
    if (isRegister(output))
      values.scalars[output] = result;
    else
      stores = true;
  }
  if (!stores)
    return;
  if (group.getSize() == 1)
    return nest.storeTotals(results);
  // All threads have read what one of them writes now.
  if (readsInPlace(generic))
    group.barrier();
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        group.getRank(), kernel.i32(0));
  auto once = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(once.thenBlock());
  nest.storeTotals(results);
}

LogicalResult RowProgramEmitter::emitOperation(linalg::GenericOp generic,
                                               ThreadGroup &group) {
  unsigned numRows = op.getRows().size();
  FailureOr<LoopNest> loops = getLoopNest(generic, values, numRows);
  if (failed(loops))
    return failure();
  loops->initial[0] = getReductionStart(generic);
  ThreadNest nest(kernel, values, *loops, numRows, rowLanes, group.getSize());
  synchronize(group, getAccesses(generic, nest, group.getSize()));
  nest.setRows(rows);
  bool isOne = nest.isSingle();
  if (!nest.reduces()) {
    if (isOne)
      store(generic, nest, nest.computeOnce(), group);
    else
      nest.emitIterations(group.getRank(), group.getSize());
    return success();
  }
  if (nest.isCombined() && isOne)
    store(generic, nest, nest.computeTotals(kernel.i32(0), group), group);
  else if (nest.isCombined() && nest.reducesAlongMemory() &&
           nest.getNumReduced() >= warpThreads)
    nest.emitTotals(group);
  else
    nest.emitIterations(group.getRank(), group.getSize());
  return success();
}

static CodecUnits getUnits(Operation *op) {
  if (auto encode = dyn_cast<EncodeOp>(op))
    return getCodecUnits(encode);
  return getCodecUnits(cast<DecodeOp>(op));
}

LogicalResult RowProgramEmitter::emitCodec(Operation *codec, ThreadGroup &group,
                                           Value row) {
  SmallVector<Access> accesses;
  GpuCodecBuffers buffers;
  auto use = [&](Value operand, bool isWrite) {
    accesses.push_back({getMemory(operand), isWrite, std::nullopt});
    return values.buffers.lookup(operand).pointer;
  };
  for (Type type : codec->getOperandTypes())
    if (!memref::isStaticShapeAndContiguousRowMajor(cast<MemRefType>(type)))
      return codec->emitOpError("expects buffers without gaps, got ") << type;
  auto encode = dyn_cast<EncodeOp>(codec);
  auto decode = dyn_cast<DecodeOp>(codec);
  Value plain = encode ? encode.getInput() : decode.getOuts()[0];
  buffers.plain = use(plain, /*isWrite=*/!encode);
  buffers.plainIsLocal = static_cast<bool>(plain.getDefiningOp());
  for (Value storage :
       encode ? ValueRange(encode.getOuts()) : ValueRange(decode.getInputs()))
    buffers.storage.push_back(use(storage, /*isWrite=*/bool(encode)));
  Value salt = encode ? encode.getSalt() : Value();
  Value saltAddress = salt ? use(salt, /*isWrite=*/false) : Value();
  synchronize(group, accesses);
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  if (salt)
    buffers.salt = kernel.load(b.getI32Type(), saltAddress);
  int64_t count = getUnits(codec).units / op.getUnits();
  Value first = arith::MulIOp::create(b, row, kernel.i32(count));
  if (encode)
    return emitGroupEncode(kernel, group, encode, buffers, first, count);
  return emitGroupDecode(kernel, group, decode, buffers, first, count);
}

LogicalResult RowProgramEmitter::emitRow(ThreadGroup &group, Value row) {
  rows = delinearize(kernel.getBuilder(), row, op.getRows());
  for (Operation &inner : body) {
    if (isa<EncodeOp, DecodeOp>(inner)) {
      if (failed(emitCodec(&inner, group, row)))
        return failure();
      continue;
    }
    auto generic = dyn_cast<linalg::GenericOp>(inner);
    if (generic && !isReductionStart(generic) &&
        failed(emitOperation(generic, group)))
      return failure();
  }
  return success();
}

FailureOr<GpuKernel> RowProgramEmitter::emit() {
  chooseThreads();
  if (failed(bindKernelOperands(kernel, request, values)))
    return failure();
  ThreadGroup group(kernel, kernel.getNumThreads() / rowsOfBlock);
  bindPrivateBuffers(group);
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  int64_t units = op.getUnits();
  Value row = kernel.getBlock();
  if (rowsOfBlock > 1)
    row = arith::AddIOp::create(
        b, arith::MulIOp::create(b, row, kernel.i32(rowsOfBlock)),
        group.getNumber());
  LogicalResult result = success();
  if (units % rowsOfBlock == 0) {
    result = emitRow(group, row);
  } else {
    Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, row,
                                         kernel.i32(units));
    auto branch = scf::IfOp::create(b, exists, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    result = emitRow(group, row);
  }
  if (failed(result))
    return failure();
  kernel.setBlocksPerMultiprocessor(
      std::max<int64_t>(1, threadsPerMultiprocessor / kernel.getNumThreads()));
  return kernel.finish({llvm::divideCeilSigned(units, rowsOfBlock), 1, 1});
}

FailureOr<GpuKernel> mlir::act::emitRowProgram(const KernelRequest &request) {
  return RowProgramEmitter(request).emit();
}
