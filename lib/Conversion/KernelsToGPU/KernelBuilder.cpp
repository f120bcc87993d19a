//===- KernelBuilder.cpp - Building kernels for GPUs ----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelsToGPU/KernelBuilder.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::act;

static constexpr StringLiteral dynamicSharedName = "act_dynamic_shared";

static unsigned getAddressSpace(GpuMemory memory) {
  return static_cast<unsigned>(memory);
}

GpuKernelBuilder::GpuKernelBuilder(gpu::GPUModuleOp module, Location loc,
                                   StringRef name,
                                   ArrayRef<GpuParameter> parameters,
                                   int64_t threads)
    : module(module), b(loc, module.getContext()), threads(threads) {
  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types;
  for (const GpuParameter &parameter : parameters)
    types.push_back(parameter.global.empty() ? parameter.type : b.getI64Type());
  function = gpu::GPUFuncOp::create(b, name, b.getFunctionType(types, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), b.getUnitAttr());
  setNumThreads(threads);
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    if (!isa<LLVM::LLVMPointerType>(parameter.type) ||
        !parameter.global.empty())
      continue;
    if (parameter.readOnly) {
      function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                          b.getUnitAttr());
      function.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(),
                          b.getUnitAttr());
    }
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                        b.getI64IntegerAttr(parameter.alignment));
  }
  b.setInsertionPointToStart(&function.getBody().front());
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    Value value = function.getArgument(i);
    if (!parameter.global.empty())
      value = getAddress(
          LLVM::AddressOfOp::create(b, parameter.type, parameter.global),
          b.getI8Type(), value);
    values.push_back(value);
  }
}

void GpuKernelBuilder::setNumThreads(int64_t count) {
  threads = count;
  function.setKnownBlockSizeAttr(
      b.getDenseI32ArrayAttr({static_cast<int32_t>(count), 1, 1}));
}

void GpuKernelBuilder::setBlocksPerMultiprocessor(int64_t blocks) {
  function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    b.getI32IntegerAttr(static_cast<int32_t>(blocks)));
}

//===----------------------------------------------------------------------===//
// Positions and constants
//===----------------------------------------------------------------------===//

Value GpuKernelBuilder::getThread() {
  return toI32(gpu::ThreadIdOp::create(b, gpu::Dimension::x));
}

Value GpuKernelBuilder::getBlock(gpu::Dimension dimension) {
  return toI32(gpu::BlockIdOp::create(b, dimension));
}

Value GpuKernelBuilder::getLane() {
  return arith::AndIOp::create(b, getThread(), i32(warpThreads - 1));
}

Value GpuKernelBuilder::getWarp() {
  return arith::ShRUIOp::create(b, getThread(), i32(5));
}

Value GpuKernelBuilder::i32(int64_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

Value GpuKernelBuilder::i64(int64_t value) {
  return arith::ConstantIntOp::create(b, value, 64);
}

Value GpuKernelBuilder::intLike(Value like, int64_t value) {
  return arith::ConstantOp::create(b, b.getIntegerAttr(like.getType(), value));
}

Value GpuKernelBuilder::toI64(Value value) {
  Type i64 = b.getI64Type();
  if (value.getType() == i64)
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(b, i64, value);
  return arith::ExtSIOp::create(b, i64, value);
}

Value GpuKernelBuilder::toI32(Value value) {
  Type i32 = b.getI32Type();
  if (value.getType() == i32)
    return value;
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(b, i32, value);
  return arith::TruncIOp::create(b, i32, value);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

LLVM::LLVMPointerType GpuKernelBuilder::getPointerType(GpuMemory memory) {
  return LLVM::LLVMPointerType::get(b.getContext(), getAddressSpace(memory));
}

Value GpuKernelBuilder::allocateShared(int64_t bytes) {
  if (!sharedBase) {
    // Its extent is known at the end.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&function.getBody().front());
    sharedBase =
        LLVM::AddressOfOp::create(b, getPointerType(GpuMemory::Shared),
                                  (function.getName() + "_shared").str());
  }
  int64_t offset = sharedBytes;
  sharedBytes += llvm::alignTo(bytes, 16);
  if (offset == 0)
    return sharedBase;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(sharedBase);
  return LLVM::GEPOp::create(b, sharedBase.getType(), b.getI8Type(), sharedBase,
                             ArrayRef<LLVM::GEPArg>{(int32_t)offset});
}

Value GpuKernelBuilder::getAddress(Value pointer, Type elementType,
                                   Value offset) {
  return LLVM::GEPOp::create(b, pointer.getType(), elementType, pointer,
                             ArrayRef<LLVM::GEPArg>{toI64(offset)});
}

/// The natural alignment of `type`.
static int64_t getAlignment(Type type) {
  int64_t count = 1;
  if (auto vector = dyn_cast<VectorType>(type)) {
    count = vector.getNumElements();
    type = vector.getElementType();
  }
  return count * llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

Value GpuKernelBuilder::load(Type type, Value address, int64_t alignment) {
  return LLVM::LoadOp::create(b, type, address,
                              alignment ? alignment : getAlignment(type));
}

void GpuKernelBuilder::store(Value value, Value address, int64_t alignment) {
  LLVM::StoreOp::create(b, value, address,
                        alignment ? alignment : getAlignment(value.getType()));
}

//===----------------------------------------------------------------------===//
// Threads together
//===----------------------------------------------------------------------===//

void GpuKernelBuilder::barrier() { gpu::BarrierOp::create(b); }

void GpuKernelBuilder::warpBarrier() { NVVM::SyncWarpOp::create(b, i32(-1)); }

/// Applies `shuffle` to `value` in pieces of 32 bits.
static Value shuffleBits(ImplicitLocOpBuilder &b, Value value,
                         function_ref<Value(Value)> shuffle) {
  Type type = value.getType();
  unsigned width = type.getIntOrFloatBitWidth();
  Type whole = b.getIntegerType(width);
  Value bits = value;
  if (type != whole)
    bits = arith::BitcastOp::create(b, whole, value);
  if (width < 32) {
    bits = arith::ExtUIOp::create(b, b.getI32Type(), bits);
    bits = arith::TruncIOp::create(b, whole, shuffle(bits));
  } else if (width == 64) {
    Type half = b.getI32Type();
    Value distance = arith::ConstantIntOp::create(b, 32, 64);
    Value low = arith::TruncIOp::create(b, half, bits);
    Value high = arith::TruncIOp::create(
        b, half, arith::ShRUIOp::create(b, bits, distance));
    low = arith::ExtUIOp::create(b, whole, shuffle(low));
    high = arith::ExtUIOp::create(b, whole, shuffle(high));
    high = arith::ShLIOp::create(b, high, distance);
    bits = arith::OrIOp::create(b, low, high);
  } else {
    bits = shuffle(bits);
  }
  return type == whole ? bits : arith::BitcastOp::create(b, type, bits);
}

Value GpuKernelBuilder::shuffleXor(Value value, int64_t mask) {
  return shuffleBits(b, value, [&](Value bits) {
    return gpu::ShuffleOp::create(b, bits, i32(mask), i32(warpThreads),
                                  gpu::ShuffleMode::XOR)
        .getShuffleResult();
  });
}

Value GpuKernelBuilder::shuffle(Value value, Value lane) {
  return shuffleBits(b, value, [&](Value bits) {
    return gpu::ShuffleOp::create(b, bits, lane, i32(warpThreads),
                                  gpu::ShuffleMode::IDX)
        .getShuffleResult();
  });
}

GpuKernel GpuKernelBuilder::finish(std::array<int64_t, 3> grid) {
  gpu::ReturnOp::create(b);
  // Without any bound ptxas sometimes spills a register or two of small blocks
  // to fit one more of them.
  if (threads < 256 &&
      !function->hasAttr(NVVM::NVVMDialect::getMinctasmAttrName()) &&
      !function->hasAttr(NVVM::NVVMDialect::getMaxnregAttrName()))
    setBlocksPerMultiprocessor(1);
  GpuKernel kernel{function, grid, threads, 0};
  function.setKnownGridSizeAttr(b.getDenseI32ArrayAttr(
      {(int32_t)grid[0], (int32_t)grid[1], (int32_t)grid[2]}));
  if (!sharedBase)
    return kernel;
  bool isStatic = sharedBytes <= mostStaticSharedBytes;
  std::string name = sharedBase.getGlobalName().str();
  if (!isStatic) {
    name = dynamicSharedName.str();
    sharedBase.setGlobalName(name);
    kernel.dynamicSharedBytes = sharedBytes;
  }
  if (!module.lookupSymbol(name)) {
    b.setInsertionPointToStart(module.getBody());
    auto type =
        LLVM::LLVMArrayType::get(b.getI8Type(), isStatic ? sharedBytes : 0);
    LLVM::GlobalOp::create(
        b, type, /*isConstant=*/false,
        isStatic ? LLVM::Linkage::Internal : LLVM::Linkage::External, name,
        Attribute(), /*alignment=*/16, getAddressSpace(GpuMemory::Shared));
  }
  return kernel;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

ThreadGroup::ThreadGroup(GpuKernelBuilder &kernel, int64_t size)
    : kernel(kernel), size(size), block(size == kernel.getNumThreads()) {}

Value ThreadGroup::getRank() {
  if (size == 1)
    return kernel.i32(0);
  return block ? kernel.getThread() : kernel.getLane();
}

Value ThreadGroup::getNumber() {
  if (block)
    return kernel.i32(0);
  return size == 1 ? kernel.getThread() : kernel.getWarp();
}

void ThreadGroup::barrier() {
  if (size > warpThreads)
    kernel.barrier();
  else if (size > 1)
    kernel.warpBarrier();
}

SmallVector<Value> ThreadGroup::reduce(
    ValueRange values,
    function_ref<Value(unsigned number, Value left, Value right)> combine) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  SmallVector<Value> current(values);
  if (size == 1)
    return current;
  auto reduceLanes = [&](int64_t lanes) {
    for (int64_t mask = lanes / 2; mask >= 1; mask /= 2)
      for (auto [i, value] : llvm::enumerate(current))
        value = combine(i, value, kernel.shuffleXor(value, mask));
  };
  reduceLanes(warpThreads);
  int64_t warps = size / warpThreads;
  if (warps == 1)
    return current;
  // One total of every warp through shared memory, without gaps: the compiler
  // loads neighbours together.
  SmallVector<int64_t> offsets;
  int64_t bytes = 0;
  for (Value value : values) {
    bytes = llvm::alignTo(bytes, 8);
    offsets.push_back(bytes);
    bytes += warps * getAlignment(value.getType());
  }
  if (!partials || partialBytes < bytes) {
    partials = kernel.allocateShared(bytes);
    partialBytes = bytes;
  }
  auto getSlot = [&](unsigned number, Value warp) {
    Value area =
        kernel.getAddress(partials, b.getI8Type(), kernel.i32(offsets[number]));
    return kernel.getAddress(area, values[number].getType(), warp);
  };
  // Earlier totals have been read by all.
  kernel.barrier();
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        kernel.getLane(), kernel.i32(0));
  auto once = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(once.thenBlock());
    for (auto [i, value] : llvm::enumerate(current))
      kernel.store(value, getSlot(i, kernel.getWarp()));
  }
  kernel.barrier();
  for (auto [i, value] : llvm::enumerate(current)) {
    Type type = value.getType();
    Value total;
    for (int64_t warp = 0; warp < warps; ++warp) {
      Value partial = kernel.load(type, getSlot(i, kernel.i32(warp)));
      total = total ? combine(i, total, partial) : partial;
    }
    value = total;
  }
  return current;
}
