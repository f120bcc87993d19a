//===- Sweep.cpp - Sweeps over a sequence --------------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sweep.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Shared memory that every architecture since sm_80 has, less some for small
/// arrays.
static constexpr int64_t mostSharedBytes = 96 * 1024;
/// Tokens of a chunk on tensor cores, and the greatest depth.
static constexpr int64_t matrixTokens = 64;
static constexpr int64_t mostMatrixDepth = 256;
static constexpr int64_t mostMatrixDepthWithDecay = 192;
static constexpr int32_t mostRegisters = 100;
static constexpr int32_t mostRegistersWithDecay = 128;

/// The greatest power of two up to `most` that divides the room for `count`
/// numbers into parts of `size`, but at least `least`.
static int64_t fit(int64_t count, int64_t size, int64_t least, int64_t most) {
  int64_t result = most;
  while (result > least && result * size > count)
    result /= 2;
  return result;
}

static SweepShape chooseScalarShape(const SweepOptions &options) {
  int64_t depth = llvm::alignTo(options.getDepth(), 4);
  int64_t columns = llvm::alignTo(options.getColumns(), 4);
  bool isChannel = options.decay == DecayKind::Channel;
  // Three copies of rows over the depth, one more and three of decays per
  // channel; a state; small products.
  int64_t copies = isChannel ? 7 : 3;
  int64_t width = isChannel ? std::max(depth, columns) : depth;
  SweepShape shape;
  shape.threads = 128;
  shape.tokens =
      fit(mostSharedBytes / 8 / copies, width, 4, isChannel ? 16 : 32);
  shape.columns = std::min(columns, fit(mostSharedBytes / 12, depth, 8, 64));
  return shape;
}

static bool suitsMatrixUnits(const SweepOptions &options) {
  const AttentionTensor &rows = options[SweepBuffer::Value];
  bool hasDecay = options.decay != DecayKind::None;
  int64_t most = hasDecay ? mostMatrixDepthWithDecay : mostMatrixDepth;
  return (rows.type.isBF16() || rows.type.isF16()) && !options.exact &&
         options.decay != DecayKind::Channel && options.getDepth() <= most;
}

SweepShape mlir::act::chooseSweepShape(const SweepOptions &options) {
  if (!suitsMatrixUnits(options))
    return chooseScalarShape(options);
  SweepShape shape;
  shape.tokens = matrixTokens;
  shape.usesMatrixUnits = true;
  // Four warps have all rows; twice as many halve the columns, which leaves the
  // state and outputs of a thread 32 and 16 registers.
  constexpr int64_t mostThreads = 256;
  int64_t depth = llvm::alignTo(options.getDepth(), 64);
  int64_t columns = llvm::alignTo(options.getColumns(), 16);
  if (columns > 16)
    columns = llvm::alignTo(columns, 32);
  shape.columns = std::min(columns, fit(mostThreads * 32, depth, 16, 64));
  shape.columnParts = shape.columns > 16 ? 2 : 1;
  shape.threads = shape.columnParts * mostThreads / 2;
  return shape;
}

int64_t mlir::act::getProductParts(const SweepOptions &options) {
  return getTiles(options) * chooseSweepShape(options).columnParts;
}

int64_t mlir::act::getTiles(const SweepOptions &options) {
  return llvm::divideCeil(options.getColumns(),
                          chooseSweepShape(options).columns);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

SweepEmitter::SweepEmitter(GpuKernelBuilder &kernel,
                           const SweepOptions &options, const SweepShape &shape)
    : KernelMath(kernel), options(options), shape(shape), C(shape.tokens),
      P(options.getDepth()), R(options.getColumns()),
      tileColumns(shape.columns) {}

void SweepEmitter::takeParameters() {
  unsigned position = 0;
  for (const AttentionTensor &buffer : options.buffers)
    parameters.push_back(buffer ? kernel.getParameter(position++) : Value());
}

void SweepEmitter::splitBlock() {
  Value rest = kernel.getBlock();
  auto split = [&](int64_t count) {
    Value number = count == 1 ? kernel.i32(0) : remainder(rest, count);
    rest = divide(rest, count);
    return number;
  };
  tile = split(getTiles(options));
  segment = split(options.segments);
  head = split(options.heads);
  sequence = rest;
  tileStart = multiply(tile, tileColumns);
}

void SweepEmitter::chooseRoles() {
  using Buffer = SweepBuffer;
  static constexpr Buffer roles[][3] = {
      {Buffer::Query, Buffer::Key, Buffer::Value},
      {Buffer::Gradient, Buffer::Value, Buffer::Key},
      {Buffer::Value, Buffer::Gradient, Buffer::Query},
      {Buffer::Key, Buffer::Query, Buffer::Gradient},
      {Buffer::Key, Buffer::Key, Buffer::Value},
      {Buffer::Value, Buffer::Gradient, Buffer::Query}};
  auto [a, b, c] = roles[static_cast<unsigned>(options.kind)];
  int64_t depth = llvm::alignTo(P, shape.usesMatrixUnits ? 16 : 4);
  Value none = kernel.i32(0);
  roleA = {a, none, P, depth};
  roleB = {b, none, P, depth};
  roleC = {c, tileStart, R, tileColumns};
  if (options.hasOutput())
    baseA = getBase(a);
  baseB = getBase(b);
  baseC = getBase(c);
}

void SweepEmitter::emit() {
  takeParameters();
  splitBlock();
  chooseRoles();
  allocate();
  loadState();
  Value first = multiply(segment, options.segmentTokens);
  // The last segment may have fewer chunks.
  Value chunks = kernel.i32(options.segmentTokens / C);
  int64_t total = llvm::divideCeil(options.length, C);
  if (options.segmentTokens / C * options.segments != total) {
    Value left = subtract(kernel.i32(total), divide(first, C));
    chunks = select(less(left, chunks), left, chunks);
  }
  SmallVector<Value> carried =
      loop(kernel.i32(0), chunks, 1, getCarried(),
           [&](Value number, ValueRange now) {
             if (options.isReverse())
               number = subtract(add(chunks, -1), number);
             return emitChunk(add(first, multiply(number, C)), now);
           });
  storeState(carried);
  storeLeft();
}

GpuKernel mlir::act::buildSweep(gpu::GPUModuleOp module, Location loc,
                                StringRef name, const SweepOptions &options) {
  SweepShape shape = chooseSweepShape(options);
  SmallVector<GpuParameter> parameters;
  auto pointer = LLVM::LLVMPointerType::get(
      module.getContext(), static_cast<unsigned>(GpuMemory::Global));
  for (auto [i, buffer] : llvm::enumerate(options.buffers)) {
    if (!buffer)
      continue;
    bool isInput = i <= static_cast<unsigned>(SweepBuffer::Decay) &&
                   !(i == static_cast<unsigned>(SweepBuffer::Denominator) &&
                     options.kind == SweepKind::Output);
    parameters.push_back({pointer, isInput, buffer.alignment});
  }
  GpuKernelBuilder kernel(module, loc, name, parameters, shape.threads);
  std::unique_ptr<SweepEmitter> emitter =
      shape.usesMatrixUnits ? createMatrixSweep(kernel, options, shape)
                            : createScalarSweep(kernel, options, shape);
  emitter->emit();
  // A compiler that is free to takes more, for loads of rows that it starts
  // earlier, and fewer blocks fit.
  if (shape.usesMatrixUnits)
    kernel.getFunction()->setAttr(
        NVVM::NVVMDialect::getMaxnregAttrName(),
        kernel.getBuilder().getI32IntegerAttr(options.decay == DecayKind::None
                                                  ? mostRegisters
                                                  : mostRegistersWithDecay));
  return kernel.finish(
      {getTiles(options) * options.segments * options.heads * options.sequences,
       1, 1});
}
