//===- CodecVectors.cpp - Building vector code of codecs ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelUtils/CodecVectors.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Constants, types and widths
//===----------------------------------------------------------------------===//

Value CodecVectors::floatConstant(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr = b.getFloatAttr(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(b, attr);
}

Value CodecVectors::intConstant(Type type, int64_t value) {
  auto element = cast<IntegerType>(getElementTypeOrSelf(type));
  llvm::APInt bits(element.getWidth(), static_cast<uint64_t>(value),
                   /*isSigned=*/false, /*implicitTrunc=*/true);
  TypedAttr attr = b.getIntegerAttr(element, bits);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(b, attr);
}

Value CodecVectors::floatLike(Value like, double value) {
  return floatConstant(like.getType(), value);
}

Value CodecVectors::intLike(Value like, int64_t value) {
  if (like.getType().isIndex())
    return index(value);
  return intConstant(like.getType(), value);
}

int64_t CodecVectors::getWidth(int64_t count, unsigned bits) const {
  // Four registers, or two wide ones: enough to hide latencies.
  int64_t most = std::min<int64_t>(target.vectorBits * 4, 1024) / bits;
  return std::min<int64_t>(most, llvm::bit_floor<uint64_t>(count));
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<Value> CodecVectors::loop(Value begin, Value end, int64_t step,
                                      ValueRange initial, LoopBody body) {
  auto loop = scf::ForOp::create(b, begin, end, index(step), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!initial.empty())
    scf::YieldOp::create(b, next);
  return llvm::to_vector_of<Value>(loop.getResults());
}

void CodecVectors::loop(Value begin, Value end, int64_t step,
                        function_ref<void(Value)> body) {
  loop(begin, end, step, {}, [&](Value counter, ValueRange) {
    body(counter);
    return SmallVector<Value>();
  });
}

void CodecVectors::branch(Value condition, function_ref<void()> isTrue,
                          function_ref<void()> isFalse) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  isTrue();
  b.setInsertionPointToStart(branch.elseBlock());
  isFalse();
}

SmallVector<Value> CodecVectors::forPieces(int64_t begin, int64_t end,
                                           int64_t width, ValueRange initial,
                                           LoopBody body) {
  int64_t whole = (end - begin) / width;
  SmallVector<Value> carried = llvm::to_vector(initial);
  if (whole == 1)
    carried = body(index(begin), carried);
  else if (whole > 1)
    carried =
        loop(index(begin), index(begin + whole * width), width, carried, body);
  if (begin + whole * width < end)
    carried = body(index(end - width), carried);
  return carried;
}

void CodecVectors::forPieces(int64_t begin, int64_t end, int64_t width,
                             function_ref<void(Value)> body) {
  forPieces(begin, end, width, {}, [&](Value counter, ValueRange) {
    body(counter);
    return SmallVector<Value>();
  });
}

void CodecVectors::forElements(Value begin, Value end,
                               function_ref<void(Value, int64_t)> body) {
  int64_t width = getWidth(INT64_MAX);
  Value rest = arith::RemUIOp::create(b, subtract(end, begin), index(width));
  Value whole = subtract(end, rest);
  loop(begin, whole, width, [&](Value offset) { body(offset, width); });
  loop(whole, end, 1, [&](Value offset) { body(offset, 1); });
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static unsigned getByteWidth(Type element) {
  if (element.isIndex())
    return 8;
  if (auto complex = dyn_cast<ComplexType>(element))
    return 2 * getByteWidth(complex.getElementType());
  return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

Type CodecVectors::getStored(Type element) {
  if (isa<Float64Type, Float32Type, Float16Type>(element))
    return element;
  return b.getIntegerType(8 * getByteWidth(element));
}

Value CodecVectors::address(Value base, Type element, Value offset) {
  Value places = arith::IndexCastOp::create(b, b.getI64Type(), offset);
  return LLVM::GEPOp::create(b, base.getType(), getStored(element), base,
                             ArrayRef<LLVM::GEPArg>{places});
}

Value CodecVectors::load(Type type, Value base, Type element, Value offset) {
  return LLVM::LoadOp::create(b, type, address(base, element, offset),
                              getByteWidth(element));
}

void CodecVectors::store(Value value, Value base, Type element, Value offset) {
  LLVM::StoreOp::create(b, value, address(base, element, offset),
                        getByteWidth(element));
}

void CodecVectors::stream(Value value, Value base, Type element, Value offset) {
  LLVM::StoreOp::create(b, value, address(base, element, offset),
                        streamAlignment, /*isVolatile=*/false,
                        /*isNonTemporal=*/true);
}

Value CodecVectors::isAlignedForStreams(Value base) {
  Value address = LLVM::PtrToIntOp::create(b, b.getI64Type(), base);
  return compare(arith::CmpIPredicate::eq, bitAnd(address, streamAlignment - 1),
                 intConstant(b.getI64Type(), 0));
}

void CodecVectors::finishStreams() {
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::seq_cst);
}

void CodecVectors::prefetch(Value base, Type element, Value offset) {
  LLVM::Prefetch::create(b, address(base, element, offset), /*rw=*/0,
                         /*hint=*/3, /*cache=*/1);
}

Block *CodecVectors::getAllocationBlock(Block *block) {
  for (; block; block = block->getParentOp()->getBlock()) {
    Operation *parent = block->getParentOp();
    if (!parent || isa<ModuleOp>(parent))
      return nullptr;
    if (parent->hasTrait<OpTrait::IsIsolatedFromAbove>())
      return &block->getParent()->front();
  }
  return nullptr;
}

Value CodecVectors::allocate(Type element, int64_t count) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(getAllocationBlock(b.getInsertionBlock()));
  return LLVM::AllocaOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), element,
      LLVM::ConstantOp::create(b, b.getI64Type(), b.getI64IntegerAttr(count)),
      /*alignment=*/64);
}

void CodecVectors::copy(Value destination, Value source, Value bytes) {
  LLVM::MemcpyOp::create(b, destination, source,
                         arith::IndexCastOp::create(b, b.getI64Type(), bytes),
                         /*isVolatile=*/false);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static bool isFloat(Value x) {
  return isa<FloatType>(getElementTypeOrSelf(x.getType()));
}

Value CodecVectors::add(Value x, Value y) {
  return isFloat(x) ? arith::AddFOp::create(b, x, y).getResult()
                    : arith::AddIOp::create(b, x, y).getResult();
}

Value CodecVectors::subtract(Value x, Value y) {
  return isFloat(x) ? arith::SubFOp::create(b, x, y).getResult()
                    : arith::SubIOp::create(b, x, y).getResult();
}

Value CodecVectors::multiply(Value x, Value y) {
  return isFloat(x) ? arith::MulFOp::create(b, x, y).getResult()
                    : arith::MulIOp::create(b, x, y).getResult();
}

Value CodecVectors::divide(Value x, Value y) {
  return arith::DivFOp::create(b, x, y);
}

Value CodecVectors::absolute(Value x) {
  return maximum(x, subtract(floatLike(x, 0.0), x));
}

Value CodecVectors::fma(Value x, Value y, Value z) {
  return math::FmaOp::create(b, x, y, z);
}

// A comparison and a selection are one instruction on processors whose minimum
// is of this form, where a minimum that cares for NaN takes three.
Value CodecVectors::minimum(Value x, Value y) {
  return select(compare(arith::CmpFPredicate::OLT, x, y), x, y);
}

Value CodecVectors::maximum(Value x, Value y) {
  return select(compare(arith::CmpFPredicate::OGT, x, y), x, y);
}

Value CodecVectors::smaller(Value x, Value y) {
  return arith::MinUIOp::create(b, x, y);
}

Value CodecVectors::select(Value condition, Value x, Value y) {
  return arith::SelectOp::create(b, condition, x, y);
}

Value CodecVectors::compare(arith::CmpFPredicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(b, predicate, x, y);
}

Value CodecVectors::compare(arith::CmpIPredicate predicate, Value x, Value y) {
  return arith::CmpIOp::create(b, predicate, x, y);
}

Value CodecVectors::bitAnd(Value x, int64_t mask) {
  return arith::AndIOp::create(b, x, intLike(x, mask));
}

Value CodecVectors::bitOr(Value x, Value y) {
  return arith::OrIOp::create(b, x, y);
}

Value CodecVectors::bitXor(Value x, Value y) {
  return arith::XOrIOp::create(b, x, y);
}

Value CodecVectors::shiftLeft(Value x, int64_t amount) {
  return amount == 0
             ? x
             : arith::ShLIOp::create(b, x, intLike(x, amount)).getResult();
}

Value CodecVectors::shiftRight(Value x, int64_t amount) {
  return amount == 0
             ? x
             : arith::ShRUIOp::create(b, x, intLike(x, amount)).getResult();
}

static Value createPerLane(ImplicitLocOpBuilder &b, Value like,
                           ArrayRef<int64_t> numbers) {
  auto type = cast<VectorType>(like.getType());
  unsigned width = type.getElementTypeBitWidth();
  SmallVector<APInt> elements;
  for (int64_t number : numbers)
    elements.emplace_back(width, number);
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, elements));
}

Value CodecVectors::shiftLeft(Value x, ArrayRef<int64_t> amounts) {
  return arith::ShLIOp::create(b, x, createPerLane(b, x, amounts));
}

Value CodecVectors::shiftRight(Value x, ArrayRef<int64_t> amounts) {
  return arith::ShRUIOp::create(b, x, createPerLane(b, x, amounts));
}

Value CodecVectors::shiftRightSigned(Value x, int64_t amount) {
  return arith::ShRSIOp::create(b, x, intLike(x, amount));
}

/// The type of `x` with elements of type `element`.
static Type withElement(Value x, Type element) {
  if (auto vector = dyn_cast<VectorType>(x.getType()))
    return vector.clone(element);
  return element;
}

Value CodecVectors::toWidth(Value x, unsigned width) {
  unsigned current = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  Type type = withElement(x, b.getIntegerType(width));
  if (current == width)
    return x;
  if (current > width)
    return arith::TruncIOp::create(b, type, x);
  return arith::ExtUIOp::create(b, type, x);
}

Value CodecVectors::largerUnsigned(Value x, Value y) {
  return arith::MaxUIOp::create(b, x, y);
}

Value CodecVectors::largerSigned(Value x, Value y) {
  return arith::MaxSIOp::create(b, x, y);
}

Value CodecVectors::smallerSigned(Value x, Value y) {
  return arith::MinSIOp::create(b, x, y);
}

Value CodecVectors::toBits(Value x) {
  return arith::BitcastOp::create(b, withElement(x, getI32()), x);
}

Value CodecVectors::fromBits(Value x) {
  return arith::BitcastOp::create(b, withElement(x, getF32()), x);
}

Value CodecVectors::intToFloat(Value x) {
  return arith::SIToFPOp::create(b, withElement(x, getF32()), x);
}

Value CodecVectors::convertFloat(Value x, Type element) {
  unsigned from = getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth();
  Type type = withElement(x, element);
  if (from > element.getIntOrFloatBitWidth())
    return arith::TruncFOp::create(b, type, x);
  return arith::ExtFOp::create(b, type, x);
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value CodecVectors::splat(Value scalar, int64_t width) {
  return vector::BroadcastOp::create(b, getVector(width, scalar.getType()),
                                     scalar);
}

Value CodecVectors::iota(int64_t width) {
  SmallVector<int32_t> places(width);
  std::iota(places.begin(), places.end(), 0);
  return arith::ConstantOp::create(
      b, DenseElementsAttr::get(getVector(width, getI32()),
                                ArrayRef<int32_t>(places)));
}

Value CodecVectors::shuffle(Value x, Value y, ArrayRef<int64_t> places) {
  return vector::ShuffleOp::create(b, x, y, places);
}

Value CodecVectors::fold(Value vector, int64_t width,
                         function_ref<Value(Value, Value)> combine) {
  int64_t current = cast<VectorType>(vector.getType()).getDimSize(0);
  for (; current > width; current /= 2) {
    auto low = llvm::to_vector(llvm::seq<int64_t>(0, current / 2));
    auto high = llvm::to_vector(llvm::seq<int64_t>(current / 2, current));
    vector =
        combine(shuffle(vector, vector, low), shuffle(vector, vector, high));
  }
  return vector;
}

Value CodecVectors::reduce(Value vector,
                           function_ref<Value(Value, Value)> combine) {
  return vector::ExtractOp::create(b, fold(vector, 1, combine), 0);
}

Value CodecVectors::toI32(Value offset) {
  return arith::IndexCastOp::create(b, getI32(), offset);
}
