//===- CodecThreads.cpp - Threads that encode and decode ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecThreads.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::act;

CodecThreads::CodecThreads(GpuKernelBuilder &kernel, ThreadGroup &group,
                           RankedTensorType type)
    : kernel(kernel), group(group), v(kernel.getBuilder()) {
  // Storage has no more elements than twice those of the tensor.
  bool isSmall = type.getNumElements() < (int64_t{1} << 30);
  offsetType = getBuilder().getIntegerType(isSmall ? 32 : 64);
}

//===----------------------------------------------------------------------===//
// Offsets and control flow
//===----------------------------------------------------------------------===//

Value CodecThreads::offset(int64_t value) {
  return v.intConstant(offsetType, value);
}

Value CodecThreads::toOffset(Value value) {
  return offsetType.isInteger(32) ? kernel.toI32(value) : kernel.toI64(value);
}

Value CodecThreads::toI32(Value value) { return kernel.toI32(value); }

Value CodecThreads::divide(Value x, int64_t y) {
  if (y == 1)
    return x;
  return arith::DivUIOp::create(getBuilder(), x, v.intLike(x, y));
}

Value CodecThreads::remainder(Value x, int64_t y) {
  return arith::RemUIOp::create(getBuilder(), x, v.intLike(x, y));
}

Value CodecThreads::isLess(Value x, Value y) {
  return v.compare(arith::CmpIPredicate::slt, x, y);
}

Value CodecThreads::smaller(Value x, Value y) {
  return arith::MinSIOp::create(getBuilder(), x, y);
}

SmallVector<Value> CodecThreads::loop(Value begin, Value end, int64_t step,
                                      ValueRange initial, LoopBody body) {
  ImplicitLocOpBuilder &b = getBuilder();
  auto loop =
      scf::ForOp::create(b, begin, end, v.intLike(begin, step), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!initial.empty())
    scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

void CodecThreads::loop(Value begin, Value end, int64_t step,
                        function_ref<void(Value)> body) {
  loop(begin, end, step, {}, [&](Value counter, ValueRange) {
    body(counter);
    return SmallVector<Value>();
  });
}

void CodecThreads::when(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  ImplicitLocOpBuilder &b = getBuilder();
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

void CodecThreads::forItems(const GpuCodecPieces &pieces, int64_t perPiece,
                            int64_t lanes,
                            function_ref<void(const Item &)> body) {
  int64_t together = group.getSize() / lanes, most = pieces.most * perPiece;
  Value rank = group.getRank();
  Value lane = arith::AndIOp::create(getBuilder(), rank, i32(lanes - 1));
  Value own = toOffset(divide(rank, lanes));
  Value count = offset(most);
  if (pieces.count)
    count = v.multiply(toOffset(pieces.count), perPiece);
  bool isFull = !pieces.count && most % together == 0;
  auto runOnce = [&](Value start) {
    Item item{v.add(own, start), lane, {}};
    if (!isFull) {
      item.isOwn = isLess(item.number, count);
      item.number = smaller(item.number, v.add(count, -1));
    }
    body(item);
  };
  if (most <= together)
    return runOnce(offset(0));
  loop(offset(0), offset(llvm::alignTo(most, together)), together, runOnce);
}

void CodecThreads::forPieces(const GpuCodecPieces &pieces,
                             function_ref<void(Value)> body) {
  auto runOnce = [&](Value number) {
    Value isPiece;
    if (pieces.count)
      isPiece = isLess(number, toOffset(pieces.count));
    when(isPiece, [&] { body(v.add(pieces.first, number)); });
  };
  if (pieces.most == 1)
    return runOnce(offset(0));
  loop(offset(0), offset(pieces.most), 1, runOnce);
}

Value CodecThreads::reduceLanes(Value value, int64_t lanes,
                                function_ref<Value(Value, Value)> combine) {
  for (int64_t mask = lanes / 2; mask >= 1; mask /= 2)
    value = combine(value, kernel.shuffleXor(value, mask));
  return value;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

int64_t CodecThreads::getAlignment(Value pointer) {
  if (auto argument = dyn_cast<BlockArgument>(pointer)) {
    auto function =
        dyn_cast<gpu::GPUFuncOp>(argument.getOwner()->getParentOp());
    if (!function)
      return 1;
    auto align = function.getArgAttrOfType<IntegerAttr>(
        argument.getArgNumber(), LLVM::LLVMDialect::getAlignAttrName());
    return align ? align.getInt() : 1;
  }
  auto type = cast<LLVM::LLVMPointerType>(pointer.getType());
  if (pointer.getDefiningOp<LLVM::AddressOfOp>())
    return type.getAddressSpace() == unsigned(GpuMemory::Shared) ? 16 : 1;
  auto address = pointer.getDefiningOp<LLVM::GEPOp>();
  if (!address || !address.getElemType().isInteger(8) ||
      !address.getDynamicIndices().empty())
    return 1;
  int64_t places = address.getRawConstantIndices().front();
  return std::gcd(getAlignment(address.getBase()), places ? places : 16);
}

Value CodecThreads::load(Type type, Value base, Type element, Value offset,
                         int64_t alignment) {
  return kernel.load(
      type, kernel.getAddress(base, v.getStored(element), offset), alignment);
}

void CodecThreads::store(Value value, Value base, Type element, Value offset,
                         int64_t alignment) {
  kernel.store(value, kernel.getAddress(base, v.getStored(element), offset),
               alignment);
}

Value CodecThreads::loadNumber(Value base, Type element, Value offset) {
  Value number = load(v.getStored(element), base, element, offset);
  if (element.isBF16())
    return v.fromBits(v.shiftLeft(v.toWidth(number, 32), 16));
  return element.isF32() ? number : v.convertFloat(number, v.getF32());
}

void CodecThreads::storeNumber(Value number, Value base, Type element,
                               Value offset) {
  ImplicitLocOpBuilder &b = getBuilder();
  if (!element.isF32())
    number = v.convertFloat(number, element);
  if (element.isBF16())
    number = arith::BitcastOp::create(b, b.getI16Type(), number);
  store(number, base, element, offset);
}

Value CodecThreads::loadInteger(Value base, Type element, Value offset) {
  return v.toWidth(load(v.getStored(element), base, element, offset), 32);
}

void CodecThreads::storeInteger(Value number, Value base, Type element,
                                Value offset) {
  Type stored = v.getStored(element);
  store(v.toWidth(number, stored.getIntOrFloatBitWidth()), base, element,
        offset);
}

//===----------------------------------------------------------------------===//
// Arithmetic that only GPUs have
//===----------------------------------------------------------------------===//

Value CodecThreads::fma(Value x, Value y, Value z) {
  return LLVM::FMAOp::create(getBuilder(), x, y, z);
}

/// A call of an intrinsic of the device.
static Value callIntrinsic(ImplicitLocOpBuilder &b, StringRef name, Type type,
                           ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(name), operands)
      .getResult(0);
}

Value CodecThreads::saturatedFma(Value x, Value y, Value z) {
  return callIntrinsic(getBuilder(), "llvm.nvvm.fma.rn.sat.f", v.getF32(),
                       {x, y, z});
}

Value CodecThreads::minimum(Value x, Value y) {
  return arith::MinimumFOp::create(getBuilder(), x, y);
}

Value CodecThreads::maximum(Value x, Value y) {
  return arith::MaximumFOp::create(getBuilder(), x, y);
}

Value CodecThreads::permute(Value x, Value y, int64_t selector) {
  return callIntrinsic(getBuilder(), "llvm.nvvm.prmt", v.getI32(),
                       {x, y, i32(selector)});
}

Value CodecThreads::funnelRight(Value high, Value low, int64_t amount) {
  return LLVM::FshrOp::create(getBuilder(), high, low, i32(amount));
}

Value CodecThreads::f32(double value) {
  return v.floatConstant(v.getF32(), value);
}

Value CodecThreads::i32(int64_t value) {
  return v.intConstant(v.getI32(), value);
}

Value CodecThreads::toFloat(Value integer) {
  // The bits of 2^23 and of what is added to it lie next to each other.
  Value sum = v.bitOr(integer, v.intLike(integer, 0x4B000000));
  return v.add(v.fromBits(sum), f32(-0x1p23));
}
