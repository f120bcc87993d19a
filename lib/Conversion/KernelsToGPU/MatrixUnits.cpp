//===- MatrixUnits.cpp - Instructions of tensor cores ---------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixUnits.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::act;

/// Chunks of a row among which they are permuted, and rows after which that
/// repeats.
static constexpr int64_t swizzleChunks = 8;

bool mlir::act::hasMatrixUnit(Type elementType) {
  return elementType.isF32() || elementType.isBF16() || elementType.isF16();
}

int64_t mlir::act::getMatrixUnitDepth(Type elementType) {
  return elementType.isF32() ? 8 : 16;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

static NVVM::MMATypes getUnitType(Type elementType) {
  if (elementType.isBF16())
    return NVVM::MMATypes::bf16;
  return elementType.isF16() ? NVVM::MMATypes::f16 : NVVM::MMATypes::tf32;
}

static SmallVector<Value> unpackStruct(ImplicitLocOpBuilder &b, Value value,
                                       int64_t count) {
  SmallVector<Value> members;
  for (int64_t i = 0; i < count; ++i)
    members.push_back(LLVM::ExtractValueOp::create(b, value, i));
  return members;
}

SmallVector<Value> mlir::act::multiplyMatrices(GpuKernelBuilder &kernel,
                                               Type elementType,
                                               ValueRange left,
                                               ValueRange right,
                                               ValueRange sums) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  auto prepare = [&](ValueRange registers) {
    SmallVector<Value> prepared(registers);
    if (elementType.isF16())
      for (Value &value : prepared)
        value = LLVM::BitcastOp::create(b, VectorType::get(2, b.getF16Type()),
                                        value);
    return prepared;
  };
  NVVM::MMATypes type = getUnitType(elementType);
  Type sum = b.getF32Type();
  auto result = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                                 SmallVector<Type>(4, sum));
  auto product = NVVM::MmaOp::create(
      b, result, prepare(left), prepare(right), sums,
      {matrixUnitRows, matrixUnitColumns, getMatrixUnitDepth(elementType)},
      std::nullopt, std::nullopt, std::array{type, type},
      std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  return unpackStruct(b, product, 4);
}

Value mlir::act::roundToTf32(GpuKernelBuilder &kernel, Value value) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  return NVVM::ConvertFloatToTF32Op::create(b, b.getI32Type(), value,
                                            NVVM::FPRoundingMode::RNA);
}

Value mlir::act::packPair(GpuKernelBuilder &kernel, Type elementType, Value low,
                          Value high) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  Value pair = vector::FromElementsOp::create(
      b, VectorType::get(2, b.getF32Type()), ValueRange{low, high});
  pair = arith::TruncFOp::create(b, VectorType::get(2, elementType), pair);
  return LLVM::BitcastOp::create(b, b.getI32Type(), pair);
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

SmallVector<Value> mlir::act::loadMatrices(GpuKernelBuilder &kernel,
                                           Value address, int64_t count,
                                           bool transposed) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  Type bits = b.getI32Type();
  Type result = bits;
  if (count > 1)
    result = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                              SmallVector<Type>(count, bits));
  Value loaded = NVVM::LdMatrixOp::create(
      b, result, address, static_cast<uint32_t>(count),
      transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
  if (count == 1)
    return {loaded};
  return unpackStruct(b, loaded, count);
}

void mlir::act::copyAsync(GpuKernelBuilder &kernel, Value shared, Value global,
                          int64_t bytes, Value validBytes) {
  // Only whole chunks can pass by the cache of the multiprocessor.
  NVVM::CpAsyncOp::create(kernel.getBuilder(), shared, global,
                          static_cast<uint32_t>(bytes),
                          bytes == chunkBytes ? NVVM::LoadCacheModifierKind::CG
                                              : NVVM::LoadCacheModifierKind::CA,
                          validBytes);
}

void mlir::act::commitCopies(GpuKernelBuilder &kernel) {
  NVVM::CpAsyncCommitGroupOp::create(kernel.getBuilder());
}

void mlir::act::waitForCopies(GpuKernelBuilder &kernel, int64_t pending) {
  NVVM::CpAsyncWaitGroupOp::create(kernel.getBuilder(),
                                   static_cast<uint32_t>(pending));
}

//===----------------------------------------------------------------------===//
// Matrices in shared memory
//===----------------------------------------------------------------------===//

/// `chunk` as it is stored in `row`.
static Value permuteChunk(GpuKernelBuilder &kernel, const SharedMatrix &matrix,
                          Value row, Value chunk) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  if (!matrix.swizzled)
    return chunk;
  Value mask = arith::AndIOp::create(b, row, kernel.i32(swizzleChunks - 1));
  return arith::XOrIOp::create(b, chunk, mask);
}

Value mlir::act::getChunkAddress(GpuKernelBuilder &kernel,
                                 const SharedMatrix &matrix, Value row,
                                 Value chunk) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  Value place = permuteChunk(kernel, matrix, row, chunk);
  Value offset = arith::AddIOp::create(
      b, arith::MulIOp::create(b, row, kernel.i32(matrix.rowBytes)),
      arith::MulIOp::create(b, place, kernel.i32(chunkBytes)));
  return kernel.getAddress(matrix.pointer, b.getI8Type(), offset);
}

FactorLoader::FactorLoader(GpuKernelBuilder &kernel, SharedMatrix matrix,
                           FactorLayout layout, Value origin)
    : kernel(kernel), matrix(matrix),
      transposed(layout == FactorLayout::LeftColumns ||
                 layout == FactorLayout::RightRows) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  Value lane = kernel.getLane();
  auto bitsOf = [&](int64_t shift, int64_t mask) -> Value {
    Value shifted = arith::ShRUIOp::create(b, lane, kernel.i32(shift));
    return arith::AndIOp::create(b, shifted, kernel.i32(mask));
  };
  // Matrices 0 to 3 are, in the order of the registers, for the left factor
  // those of both halves of the rows, then of the second half of the sums; for
  // the right one both halves of the sums, then the next 8 columns.
  bool isLeft =
      layout == FactorLayout::LeftRows || layout == FactorLayout::LeftColumns;
  bool secondIsRow = isLeft != transposed;
  Value second = bitsOf(3, 1);
  Value third = bitsOf(4, 1);
  Value row = arith::AddIOp::create(
      b, bitsOf(0, 7),
      arith::MulIOp::create(b, secondIsRow ? second : third, kernel.i32(8)));
  Value chunk = secondIsRow ? third : second;
  if (origin && !transposed)
    row = arith::AddIOp::create(b, row, origin);
  rowOffset = arith::MulIOp::create(b, row, kernel.i32(matrix.rowBytes));
  if (origin && transposed)
    chunk = arith::AddIOp::create(
        b, chunk,
        arith::DivUIOp::create(b, origin,
                               kernel.i32(matrix.getChunkElements())));
  // The last bits of the row are those of the thread: positions are multiples
  // of 8.
  chunk = permuteChunk(kernel, matrix, row, chunk);
  chunkOffset = arith::MulIOp::create(b, chunk, kernel.i32(chunkBytes));
}

SmallVector<Value> FactorLoader::load(int64_t position, int64_t depth,
                                      Value offset) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  int64_t row = transposed ? depth : position;
  int64_t column = transposed ? position : depth;
  int64_t columnBytes = column * matrix.elementType.getIntOrFloatBitWidth() / 8;
  Value variable = chunkOffset;
  int64_t constant = row * matrix.rowBytes;
  if (!matrix.swizzled)
    constant += columnBytes;
  else if (columnBytes != 0)
    variable = arith::XOrIOp::create(b, variable, kernel.i32(columnBytes));
  variable = arith::AddIOp::create(b, rowOffset, variable);
  if (offset)
    variable = arith::AddIOp::create(b, variable, offset);
  Value address = kernel.getAddress(matrix.pointer, b.getI8Type(), variable);
  // A part of the instruction.
  if (constant != 0)
    address = kernel.getAddress(address, b.getI8Type(), kernel.i32(constant));
  return loadMatrices(kernel, address, 4, transposed);
}
