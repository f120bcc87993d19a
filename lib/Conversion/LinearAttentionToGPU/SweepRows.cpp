//===- SweepRows.cpp - Rows of a sweep -----------------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sweep.h"
#include "act/Conversion/LinearAttentionToVector/LinearAttentionToVector.h"

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

/// Offsets of sequences and heads are computed in 64 bits: buffers can have
/// more than 2^31 elements.
Value SweepEmitter::getBase(SweepBuffer which, Value headNumber) {
  const AttentionTensor &buffer = options[which];
  if (!headNumber)
    headNumber = divide(head, options.heads / buffer.heads);
  Value offset = add(multiply(kernel.toI64(sequence), buffer.sequenceStride),
                     multiply(kernel.toI64(headNumber), buffer.headStride));
  return kernel.getAddress(getParameter(which), buffer.type, offset);
}

Value SweepEmitter::getStateBase(SweepBuffer which, Value headNumber) {
  const AttentionTensor &buffer = options[which];
  Value offset = multiply(kernel.toI64(segment), buffer.tokenStride);
  return kernel.getAddress(getBase(which, headNumber), buffer.type, offset);
}

Value SweepEmitter::getToken(Value start, Value row) {
  if (options.isReverse())
    return subtract(add(start, C - 1), row);
  return add(start, row);
}

Value SweepEmitter::isToken(Value token) {
  return options.length % C ? less(token, options.length) : Value();
}

static Value both(ImplicitLocOpBuilder &b, Value left, Value right) {
  if (!left || !right)
    return left ? left : right;
  return arith::AndIOp::create(b, left, right);
}

/// The offset of a number from its sequence and head, in 32 bits if it fits.
static Value getOffset(GpuKernelBuilder &kernel, KernelMath &math,
                       const AttentionTensor &buffer, int64_t length,
                       Value token, Value column) {
  if (length * buffer.tokenStride >= (int64_t(1) << 30)) {
    token = kernel.toI64(token);
    column = kernel.toI64(column);
  }
  return math.add(math.multiply(token, buffer.tokenStride), column);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Value SweepEmitter::loadToken(Value base, SweepBuffer which, Value token,
                              double otherwise) {
  const AttentionTensor &buffer = options[which];
  auto load = [&] {
    Value offset =
        getOffset(kernel, *this, buffer, options.length, token, kernel.i32(0));
    return kernel.load(buffer.type,
                       kernel.getAddress(base, buffer.type, offset));
  };
  Value valid = isToken(token);
  if (!valid)
    return load();
  return choose(
      valid, [&] { return SmallVector<Value>{load()}; },
      [&] { return SmallVector<Value>{f32(otherwise)}; })[0];
}

int64_t SweepEmitter::getVectorLength(const Role &role) const {
  const AttentionTensor &buffer = options[role.buffer];
  int64_t bytes = buffer.type.getIntOrFloatBitWidth() / 8;
  int64_t length = 16 / bytes;
  auto suits = [&](int64_t count) {
    return role.columns % count == 0 && role.wanted % count == 0 &&
           buffer.sequenceStride % count == 0 &&
           buffer.headStride % count == 0 && buffer.tokenStride % count == 0 &&
           buffer.alignment % (count * bytes) == 0;
  };
  while (length > 1 && !suits(length))
    length /= 2;
  return length;
}

SmallVector<Value> SweepEmitter::loadRaw(SweepBuffer which, Value base,
                                         Value token, Value column,
                                         int64_t count) {
  const AttentionTensor &buffer = options[which];
  Type type = buffer.type;
  if (count > 1)
    type = VectorType::get({count}, type);
  Value offset =
      getOffset(kernel, *this, buffer, options.length, token, column);
  Value loaded =
      kernel.load(type, kernel.getAddress(base, buffer.type, offset));
  SmallVector<Value> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(extract(loaded, i));
  return numbers;
}

bool SweepEmitter::isPlain(SweepBuffer which) const {
  switch (which) {
  case SweepBuffer::Query:
    return isa<IdentityAttr>(options.featureMap) && options.scale == 1.0;
  case SweepBuffer::Key:
    return isa<IdentityAttr>(options.featureMap);
  case SweepBuffer::Value:
    return !options.subtract;
  default:
    return true;
  }
}

Value SweepEmitter::mapNumber(SweepBuffer which, Value number, Value inverse) {
  auto map = cast<VectorFeatureMapInterface>(options.featureMap);
  switch (which) {
  case SweepBuffer::Query:
    number = map.buildMap(b, number);
    return options.scale == 1.0 ? number : multiply(number, f32(options.scale));
  case SweepBuffer::Key:
    return map.buildMap(b, number);
  case SweepBuffer::Value:
    return options.subtract ? Value(arith::NegFOp::create(b, number)) : number;
  default:
    return inverse ? multiply(number, inverse) : number;
  }
}

SmallVector<Value> SweepEmitter::loadRow(const Role &role, Value base,
                                         Value token, Value column,
                                         int64_t count) {
  auto load = [&] {
    Value inverse;
    if (role.buffer == SweepBuffer::Gradient && options.normalize &&
        !shape.usesMatrixUnits) {
      Value denominator =
          loadRaw(SweepBuffer::Denominator, getBase(SweepBuffer::Denominator),
                  token, kernel.i32(0), 1)[0];
      inverse = divideFloats(f32(1.0), denominator);
    }
    SmallVector<Value> numbers =
        loadRaw(role.buffer, base, token, column, count);
    if (shape.usesMatrixUnits && isPlain(role.buffer))
      return numbers;
    for (Value &number : numbers) {
      number = mapNumber(role.buffer, extend(number), inverse);
      if (shape.usesMatrixUnits)
        number = convert(number, options[role.buffer].type);
    }
    return numbers;
  };
  Value valid = isToken(token);
  if (role.columns % role.wanted)
    valid = both(b, valid, less(column, role.columns));
  if (!valid)
    return load();
  Type type =
      shape.usesMatrixUnits ? options[role.buffer].type : b.getF32Type();
  return choose(valid, load,
                [&] { return SmallVector<Value>(count, zero(type)); });
}

void SweepEmitter::forRows(
    const Role &role, Value start,
    function_ref<void(Value, Value, ArrayRef<Value>)> store) {
  Value base = role.buffer == roleC.buffer   ? baseC
               : role.buffer == roleB.buffer ? baseB
                                             : baseA;
  int64_t count = getVectorLength(role);
  int64_t perRow = role.wanted / count;
  forThreads(C * perRow, [&](Value number) {
    Value row = divide(number, perRow);
    Value column = multiply(remainder(number, perRow), count);
    store(row, column,
          loadRow(role, base, getToken(start, row),
                  add(role.firstColumn, column), count));
  });
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

Value SweepEmitter::writeRow(ArrayRef<Value> sums, Value token, Value column) {
  bool isQuery = options.kind == SweepKind::QueryGrad;
  bool isMapped = isQuery || options.kind == SweepKind::KeyGrad;
  SweepBuffer rows = isQuery ? SweepBuffer::Query : SweepBuffer::Key;
  int64_t width = static_cast<int64_t>(sums.size());
  int64_t count = std::min(
      width, getVectorLength({SweepBuffer::Output, {}, R, tileColumns}));
  if (isMapped)
    count = std::min(count, getVectorLength({rows, {}, R, tileColumns}));
  bool hasProducts = has(SweepBuffer::Products) && !isChannel();
  Value products;
  for (int64_t i = 0; i < width; i += count) {
    Value at = add(column, i);
    auto write = [&]() -> SmallVector<Value> {
      ArrayRef<Value> part = sums.slice(i, count);
      SmallVector<Value> numbers(part), terms;
      if (isMapped)
        terms = finishGradients(numbers, rows, token, at);
      storeOutput(SweepBuffer::Output, numbers, token, at);
      if (has(SweepBuffer::Products) && isChannel())
        storeOutput(SweepBuffer::Products, terms, token, at);
      if (!hasProducts)
        return {};
      Value sum = terms[0];
      for (Value term : ArrayRef(terms).drop_front())
        sum = add(sum, term);
      return {sum};
    };
    Value valid = isToken(token);
    if (R % tileColumns)
      valid = both(b, valid, less(at, R));
    SmallVector<Value> written;
    if (!valid)
      written = write();
    else if (hasProducts)
      written =
          choose(valid, write, [&] { return SmallVector<Value>{f32(0.0)}; });
    else
      when(valid, [&] { write(); });
    if (hasProducts)
      products = products ? add(products, written[0]) : written[0];
  }
  return products;
}

/// Replaces gradients of features by those of rows; returns the products of
/// features and their gradients.
SmallVector<Value> SweepEmitter::finishGradients(MutableArrayRef<Value> numbers,
                                                 SweepBuffer rows, Value token,
                                                 Value column) {
  auto map = cast<VectorFeatureMapInterface>(options.featureMap);
  SmallVector<Value> terms;
  SmallVector<Value> raw =
      loadRaw(rows, getBase(rows), token, column, numbers.size());
  for (auto [number, x] : llvm::zip_equal(numbers, raw)) {
    Value row = extend(x);
    if (rows == SweepBuffer::Query && options.scale != 1.0)
      number = multiply(number, f32(options.scale));
    if (has(SweepBuffer::Products))
      terms.push_back(multiply(map.buildMap(b, row), number));
    number = map.buildGradient(b, row, number);
  }
  return terms;
}

void SweepEmitter::storeOutput(SweepBuffer which, ArrayRef<Value> numbers,
                               Value token, Value column) {
  const AttentionTensor &buffer = options[which];
  SmallVector<Value> converted;
  for (Value number : numbers)
    converted.push_back(convert(number, buffer.type));
  Value offset =
      getOffset(kernel, *this, buffer, options.length, token, column);
  kernel.store(combine(converted),
               kernel.getAddress(getBase(which), buffer.type, offset));
}

void SweepEmitter::writeDenominator(Value base, Value sum, Value token) {
  const AttentionTensor &buffer = options[SweepBuffer::Denominator];
  Value valid = both(b, isToken(token), equal(tile, 0));
  when(valid, [&] {
    Value offset =
        getOffset(kernel, *this, buffer, options.length, token, kernel.i32(0));
    kernel.store(sum, kernel.getAddress(base, buffer.type, offset));
  });
}

void SweepEmitter::writeProducts(Value sum, Value token, Value part) {
  auto write = [&] { storeOutput(SweepBuffer::Products, sum, token, part); };
  if (Value valid = isToken(token))
    when(valid, write);
  else
    write();
}
