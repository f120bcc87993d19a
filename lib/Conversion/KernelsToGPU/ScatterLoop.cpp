//===- ScatterLoop.cpp - Updates in the order of a loop -------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScatterLoop.h"
#include "KernelBindings.h"
#include "ThreadNest.h"
#include "act/Conversion/KernelUtils/ElementBytes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;
using namespace mlir::act;

/// Warps of a block, each with a place of its own.
static constexpr int64_t placesPerBlock = 8;

//===----------------------------------------------------------------------===//
// Form
//===----------------------------------------------------------------------===//

/// Whether threads can do what `kernel` does, one operation after the other.
static bool isElementwise(KernelOp kernel) {
  return llvm::all_of(kernel.getBody().front(), [](Operation &op) {
    if (isa<arith::ConstantOp>(op))
      return true;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    return generic && generic.getNumReductionLoops() == 0;
  });
}

bool ScatterLoop::collectOperation(Operation *op) {
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (condition || !kernels.empty() || branch.getNumResults() != 0 ||
        branch.elseBlock())
      return false;
    condition = branch.getCondition();
    return true;
  }
  if (auto kernel = dyn_cast<KernelOp>(op)) {
    kernels.push_back(kernel);
    return isElementwise(kernel);
  }
  computations.push_back(op);
  // What is read here must not depend on what kernels write.
  return (isa<memref::LoadOp>(op) && kernels.empty()) ||
         isa<memref::SubViewOp>(op) ||
         (isa<arith::ArithDialect>(op->getDialect()) &&
          op->getNumResults() == 1);
}

/// The operations of an iteration, in the loop and in a branch at its end.
bool ScatterLoop::collectOperations() {
  Block *block = loop.getBody();
  while (block) {
    Block *next = nullptr;
    for (Operation &op : block->without_terminator()) {
      if (next || !collectOperation(&op))
        return false;
      if (auto branch = dyn_cast<scf::IfOp>(op))
        next = branch.thenBlock();
    }
    block = next;
  }
  return !kernels.empty();
}

/// Notes where `buffer`, a result of a kernel, is a place.
bool ScatterLoop::addWritten(Value buffer) {
  auto view = buffer.getDefiningOp<memref::SubViewOp>();
  if (!view || !loop->isAncestor(view) ||
      loop->isAncestor(view.getSource().getParentBlock()->getParentOp()))
    return false;
  SmallVector<std::pair<Value, int64_t>> found;
  for (auto [offset, size, extent] :
       llvm::zip_equal(view.getMixedOffsets(), view.getMixedSizes(),
                       view.getSourceType().getShape())) {
    auto value = dyn_cast<Value>(offset);
    if (!value || matchPattern(value, m_Constant()))
      continue;
    if (getConstantIntValue(size) != 1 || ShapedType::isDynamic(extent))
      return false;
    found.push_back({value, extent});
  }
  if (!written.empty() && found != place)
    return false;
  place = found;
  written.insert(view.getSource());
  return true;
}

/// Whether all that is written lies in one place, and nothing else of the same
/// buffers is read.
bool ScatterLoop::collectPlaces() {
  llvm::SmallDenseSet<Value> views;
  for (KernelOp kernel : kernels)
    for (auto generic : kernel.getBody().getOps<linalg::GenericOp>())
      for (Value output : generic.getOutputs()) {
        Value buffer =
            kernel.getBuffers()[cast<BlockArgument>(output).getArgNumber()];
        if (!addWritten(buffer))
          return false;
        views.insert(buffer);
      }
  for (KernelOp kernel : kernels)
    for (Value buffer : kernel.getBuffers()) {
      auto view = buffer.getDefiningOp<memref::SubViewOp>();
      Value source = view ? view.getSource() : buffer;
      if (!written.contains(source))
        continue;
      // The same place, perhaps through another view.
      if (!view || (!views.contains(buffer) && !addWritten(buffer)))
        return false;
    }
  return llvm::none_of(computations, [&](Operation *op) {
    auto load = dyn_cast<memref::LoadOp>(op);
    return load && written.contains(load.getMemRef());
  });
}

void ScatterLoop::collectOperands() {
  llvm::SetVector<Value> used;
  auto use = [&](Value value) {
    if (value != loop.getInductionVar() &&
        !loop->isAncestor(value.getParentBlock()->getParentOp()) &&
        !matchPattern(value, m_Constant()))
      used.insert(value);
  };
  for (Operation *op : computations)
    llvm::for_each(op->getOperands(), use);
  for (KernelOp kernel : kernels)
    llvm::for_each(kernel.getBuffers(), use);
  if (condition)
    use(condition);
  operands.assign(used.begin(), used.end());
}

std::optional<ScatterLoop> ScatterLoop::match(scf::ForOp loop) {
  ScatterLoop result(loop);
  std::optional<int64_t> begin = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> end = getConstantIntValue(loop.getUpperBound());
  if (begin != 0 || !end || *end < 1 || *end > (1 << 30) ||
      getConstantIntValue(loop.getStep()) != 1 || loop.getNumResults() != 0)
    return std::nullopt;
  result.count = *end;
  if (!result.collectOperations() || !result.collectPlaces())
    return std::nullopt;
  for (auto [offset, extent] : result.place)
    result.numPlaces *= extent;
  if (result.numPlaces > (int64_t{1} << 30))
    return std::nullopt;
  result.collectOperands();
  return result;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

namespace {
/// Computes the numbers and views of one iteration.
class IterationEmitter {
public:
  IterationEmitter(GpuKernelBuilder &kernel, const KernelValues &outside,
                   Value inductionVariable, Value iteration)
      : kernel(kernel), b(kernel.getBuilder()), memory(b, 1), values(outside) {
    values.scalars[inductionVariable] = iteration;
  }

  void emit(Operation *op);
  Value getScalar(Value value);
  KernelValues &getValues() { return values; }

private:
  void emitView(memref::SubViewOp view);
  Value getOffset(const KernelBuffer &buffer, ArrayRef<Value> indices);

  GpuKernelBuilder &kernel;
  ImplicitLocOpBuilder &b;
  Memory memory;
  KernelValues values;
};
} // namespace

Value IterationEmitter::getScalar(Value value) {
  auto found = values.scalars.find(value);
  if (found != values.scalars.end())
    return found->second;
  // A constant of the host.
  return values.scalars[value] = b.clone(*value.getDefiningOp())->getResult(0);
}

void IterationEmitter::emitView(memref::SubViewOp view) {
  KernelBuffer buffer = values.buffers.lookup(view.getSource());
  Value offset = memory.getIndex(0);
  int64_t bytes = getElementBytes(buffer.elementType);
  int64_t alignment = buffer.alignment;
  for (auto [start, stride] :
       llvm::zip_equal(view.getMixedOffsets(), buffer.strides)) {
    if (std::optional<int64_t> constant = getConstantIntValue(start)) {
      offset = memory.addOffset(offset, memory.getIndex(*constant), stride);
      alignment = std::gcd(alignment, *constant * stride * bytes);
      continue;
    }
    offset = memory.addOffset(offset, getScalar(cast<Value>(start)), stride);
    alignment = std::gcd(alignment, stride * bytes);
  }
  buffer.pointer = kernel.getAddress(
      buffer.pointer, getStoredType(buffer.elementType), kernel.toI64(offset));
  buffer.strides = *getKnownStrides(view.getType());
  buffer.alignment = alignment;
  values.buffers[view.getResult()] = buffer;
}

void IterationEmitter::emit(Operation *op) {
  if (auto view = dyn_cast<memref::SubViewOp>(op))
    return emitView(view);
  if (auto load = dyn_cast<memref::LoadOp>(op)) {
    const KernelBuffer &buffer = values.buffers.lookup(load.getMemRef());
    Value offset = memory.getIndex(0);
    for (auto [index, stride] :
         llvm::zip_equal(load.getIndices(), buffer.strides))
      offset = memory.addOffset(offset, getScalar(index), stride);
    values.scalars[load.getResult()] = memory.loadScalar(buffer, offset);
    return;
  }
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, getScalar(operand));
  values.scalars[op->getResult(0)] = b.clone(*op, mapping)->getResult(0);
}

/// What the kernels of an iteration do, by the threads of a warp.
static LogicalResult emitKernels(GpuKernelBuilder &kernel,
                                 IterationEmitter &iteration,
                                 ArrayRef<KernelOp> kernels) {
  ThreadGroup warp(kernel, warpThreads);
  for (KernelOp op : kernels) {
    KernelValues values;
    for (auto [argument, operand] : llvm::zip_equal(
             op.getBody().front().getArguments(), op.getBuffers())) {
      if (isa<MemRefType>(operand.getType()))
        values.buffers[argument] =
            iteration.getValues().buffers.lookup(operand);
      else
        values.scalars[argument] = iteration.getScalar(operand);
    }
    for (Operation &inner : op.getBody().front()) {
      if (isa<arith::ConstantOp>(inner)) {
        values.scalars[inner.getResult(0)] =
            kernel.getBuilder().clone(inner)->getResult(0);
        continue;
      }
      FailureOr<LoopNest> nest =
          getLoopNest(cast<linalg::GenericOp>(inner), values, /*numRows=*/0);
      if (failed(nest))
        return failure();
      ThreadNest(kernel, values, *nest, /*numRows=*/0, /*mostLanes=*/4,
                 /*leastVectors=*/warpThreads)
          .emitIterations(kernel.getLane(), warpThreads);
      warp.barrier();
    }
  }
  return success();
}

FailureOr<GpuKernel>
ScatterLoop::emit(gpu::GPUModuleOp module, StringRef name,
                  ArrayRef<GpuParameter> parameters) const {
  int64_t warps = std::min(placesPerBlock, numPlaces);
  GpuKernelBuilder kernel(module, scf::ForOp(loop).getLoc(), name, parameters,
                          warps * warpThreads);
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  KernelValues outside;
  for (auto [i, operand] : llvm::enumerate(operands))
    if (failed(bindParameter(kernel, i, operand, parameters[i], outside)))
      return scf::ForOp(loop).emitOpError("expects buffers of known shape and "
                                          "strides, got ")
             << operand.getType();
  auto index = [&](Value value) -> Value {
    return arith::IndexCastOp::create(b, b.getIndexType(), value);
  };
  Value inductionVariable = scf::ForOp(loop).getInductionVar();
  Value own = arith::AddIOp::create(
      b, arith::MulIOp::create(b, kernel.getBlock(), kernel.i32(warps)),
      kernel.getWarp());

  // Each lane looks at one iteration.
  auto rounds = scf::ForOp::create(
      b, kernel.i32(0), kernel.i32(llvm::divideCeilSigned(count, warpThreads)),
      kernel.i32(1));
  b.setInsertionPointToStart(rounds.getBody());
  Value first = arith::MulIOp::create(b, rounds.getInductionVar(),
                                      kernel.i32(warpThreads));
  Value number = arith::AddIOp::create(b, first, kernel.getLane());
  Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, number,
                                       kernel.i32(count));
  Value bounded = arith::MinSIOp::create(b, number, kernel.i32(count - 1));
  IterationEmitter looking(kernel, outside, inductionVariable, index(bounded));
  for (Operation *op : computations)
    if (!isa<memref::SubViewOp>(op))
      looking.emit(op);
  Value target = kernel.i64(0);
  for (auto [offset, extent] : place)
    target = arith::AddIOp::create(
        b, arith::MulIOp::create(b, target, kernel.i64(extent)),
        kernel.toI64(looking.getScalar(offset)));
  Value matches = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, target,
                                        kernel.toI64(own));
  matches = arith::AndIOp::create(b, matches, exists);
  if (condition)
    matches = arith::AndIOp::create(b, matches, looking.getScalar(condition));
  Value votes = NVVM::VoteSyncOp::create(b, b.getI32Type(), kernel.i32(-1),
                                         matches, NVVM::VoteSyncKind::ballot);

  // Those of this warp's place, in their order.
  auto loopOverVotes = scf::WhileOp::create(b, b.getI32Type(), votes);
  Block *before =
      b.createBlock(&loopOverVotes.getBefore(), {}, b.getI32Type(), b.getLoc());
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                    before->getArgument(0), kernel.i32(0));
  scf::ConditionOp::create(b, any, before->getArgument(0));
  Block *after =
      b.createBlock(&loopOverVotes.getAfter(), {}, b.getI32Type(), b.getLoc());
  Value left = after->getArgument(0);
  Value lane = math::CountTrailingZerosOp::create(b, left);
  IterationEmitter updating(kernel, outside, inductionVariable,
                            index(arith::AddIOp::create(b, first, lane)));
  for (Operation *op : computations)
    updating.emit(op);
  if (failed(emitKernels(kernel, updating, kernels)))
    return failure();
  Value less = arith::SubIOp::create(b, left, kernel.i32(1));
  scf::YieldOp::create(
      b, ValueRange{arith::AndIOp::create(b, left, less).getResult()});
  b.setInsertionPointAfter(rounds);
  return kernel.finish({llvm::divideCeilSigned(numPlaces, warps), 1, 1});
}
