//===- GroupQuantChunks.cpp - Groups of codes in registers ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lanes hold a group in registers between the search for its range and its
// codes. All accesses to the tensor are of 16 bytes, and those of neighbouring
// lanes are next to each other.
//
//===----------------------------------------------------------------------===//

#include "GroupQuantCodec.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::act;

/// Bytes of one access to the tensor.
static constexpr int64_t accessBytes = 16;

std::optional<GroupChunks> GroupChunks::get(const GroupQuantShape &shape) {
  unsigned bits = shape.element.getIntOrFloatBitWidth();
  int64_t group = shape.groups.getGroup();
  if (!shape.groups.isEven() || shape.groups.getInner() != 1 ||
      !shape.isFilled() || bits > 32)
    return std::nullopt;
  int64_t width = accessBytes * 8 / bits;
  int64_t chunks = shape.numBytes / width;
  if (shape.numBytes % width != 0)
    return std::nullopt;
  // As many as registers hold: finding the range costs the same for any number.
  int64_t mostElements = bits == 32 ? 32 : 64;
  int64_t lanes = 1;
  while (group / lanes > mostElements)
    lanes *= 2;
  if (lanes > warpThreads || chunks % lanes != 0)
    return std::nullopt;
  return GroupChunks{width, lanes, chunks / lanes};
}

std::optional<GroupChunks> GroupChunks::get(const GroupQuantShape &shape,
                                            const GpuCodecBuffers &buffers) {
  std::optional<GroupChunks> layout = get(shape);
  int64_t plain = buffers.plainAlignment
                      ? buffers.plainAlignment
                      : CodecThreads::getAlignment(buffers.plain);
  if (!layout || plain % accessBytes != 0 ||
      CodecThreads::getAlignment(buffers.storage[0]) % layout->width != 0)
    return std::nullopt;
  return layout;
}

namespace {
/// What one lane does with its chunks of a group.
class LaneChunks {
public:
  LaneChunks(CodecThreads &t, const GroupQuantShape &shape,
             const GroupChunks &layout, const GpuCodecBuffers &buffers,
             const GroupThreads::Group &group);

  void encode();
  void decode();

private:
  int64_t getPlaces(int64_t plane, int64_t chunk) const {
    return plane * shape.numBytes + layout.width * layout.lanes * chunk;
  }
  int64_t getNumWords() const { return layout.width / 4; }
  bool isWide() const { return shape.element.isF32(); }
  Type getPair() { return VectorType::get({2}, shape.element); }

  void loadElements();
  /// Element `i` of a chunk as f32.
  Value getNumber(int64_t plane, int64_t chunk, int64_t i);
  Value toNumber(Value element);
  Extremes findExtremes();
  /// The codes of four elements as bytes, perhaps one too large.
  Value packCodes(const CodeScale &scale, int64_t plane, int64_t chunk,
                  int64_t word);
  /// Codes of 2^bits become the largest ones: this is rare.
  SmallVector<Value> limitCodes(SmallVector<Value> words);
  void storeCodes(ArrayRef<Value> words);
  void storeNumbers(ArrayRef<Value> numbers, int64_t plane, int64_t chunk);

  Value getPlainAddress(int64_t plane, int64_t chunk) {
    return kernel.getAddress(plain, v.getStored(shape.element),
                             kernel.i64(getPlaces(plane, chunk)));
  }
  Value getCodeAddress(int64_t chunk) {
    return kernel.getAddress(codes, b.getI8Type(),
                             kernel.i64(getPlaces(0, chunk)));
  }

  CodecThreads &t;
  CodecVectors &v;
  GpuKernelBuilder &kernel;
  ImplicitLocOpBuilder &b;
  const GroupQuantShape &shape;
  const GroupChunks &layout;
  const GpuCodecBuffers &buffers;
  const GroupThreads::Group &group;
  /// Of the lane's first chunk.
  Value plain, codes, place;
  /// By plane and chunk, in 32 bits each: one f32 or two shorter floats.
  SmallVector<SmallVector<SmallVector<Value>>> elements;
};
} // namespace

LaneChunks::LaneChunks(CodecThreads &t, const GroupQuantShape &shape,
                       const GroupChunks &layout,
                       const GpuCodecBuffers &buffers,
                       const GroupThreads::Group &group)
    : t(t), v(t.getVectors()), kernel(t.getKernel()), b(t.getBuilder()),
      shape(shape), layout(layout), buffers(buffers), group(group) {
  Value start = v.multiply(group.lane, layout.width);
  Value first = shape.groups.getElement(t, group, start);
  plain = kernel.getAddress(buffers.plain, v.getStored(shape.element), first);
  codes =
      kernel.getAddress(buffers.storage[0], b.getI8Type(),
                        shape.groups.getPlace(t, group, shape.numBytes, start));
  if (buffers.salt)
    place = CodeScale::getPlace(t, buffers.salt, first);
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

void LaneChunks::loadElements() {
  Type word = isWide() ? v.getF32() : v.getI32();
  auto type = VectorType::get({4}, word);
  for (int64_t plane = 0; plane < shape.getPlanes(); ++plane) {
    auto &loaded = elements.emplace_back();
    for (int64_t chunk = 0; chunk < layout.chunks; ++chunk) {
      Value vector =
          kernel.load(type, getPlainAddress(plane, chunk), accessBytes);
      auto &words = loaded.emplace_back();
      for (int64_t i = 0; i < 4; ++i)
        words.push_back(LLVM::ExtractElementOp::create(b, vector, t.i32(i)));
    }
  }
}

Value LaneChunks::toNumber(Value element) {
  return v.convertFloat(element, v.getF32());
}

Value LaneChunks::getNumber(int64_t plane, int64_t chunk, int64_t i) {
  ArrayRef<Value> words = elements[plane][chunk];
  if (isWide())
    return words[i];
  Value word = words[i / 2];
  // The bits of a bf16 are the upper half of those of an f32.
  if (shape.element.isBF16())
    return v.fromBits(i % 2 == 0 ? v.shiftLeft(word, 16)
                                 : v.bitAnd(word, 0xFFFF0000));
  Value pair = LLVM::BitcastOp::create(b, getPair(), word);
  return toNumber(LLVM::ExtractElementOp::create(b, pair, t.i32(i % 2)));
}

Extremes LaneChunks::findExtremes() {
  SmallVector<Value> smallest, largest;
  for (auto &plane : elements)
    for (auto &chunk : plane)
      for (auto [i, word] : llvm::enumerate(chunk)) {
        Value value = word;
        if (!isWide())
          value = LLVM::BitcastOp::create(b, getPair(), word);
        if (smallest.size() <= i) {
          smallest.push_back(value);
          largest.push_back(value);
          continue;
        }
        smallest[i] = t.minimum(smallest[i], value);
        largest[i] = t.maximum(largest[i], value);
      }
  auto combine = [&](MutableArrayRef<Value> values,
                     function_ref<Value(Value, Value)> choose) {
    Value chosen =
        choose(choose(values[0], values[1]), choose(values[2], values[3]));
    if (isWide())
      return chosen;
    Value low = LLVM::ExtractElementOp::create(b, chosen, t.i32(0));
    Value high = LLVM::ExtractElementOp::create(b, chosen, t.i32(1));
    return choose(toNumber(low), toNumber(high));
  };
  ExtremePair found = {
      {combine(smallest, [&](Value x, Value y) { return t.minimum(x, y); }),
       combine(largest, [&](Value x, Value y) { return t.maximum(x, y); })}};
  return reduceLanes(t, found, layout.lanes);
}

Value LaneChunks::packCodes(const CodeScale &scale, int64_t plane,
                            int64_t chunk, int64_t word) {
  SmallVector<Value> found;
  for (int64_t i = 4 * word; i < 4 * word + 4; ++i) {
    Value number = getNumber(plane, chunk, i), at;
    if (place)
      at = v.add(place, (getPlaces(plane, chunk) + i) * noisePlaceFactor);
    // A code of 9 bits does not fit into a byte.
    found.push_back(shape.options.bits == 8 ? scale.getLimitedCode(number, at)
                                            : scale.getCode(number, at));
  }
  Value low = t.permute(found[0], found[1], 0x0040);
  Value high = t.permute(found[2], found[3], 0x0040);
  return t.permute(low, high, 0x5410);
}

SmallVector<Value> LaneChunks::limitCodes(SmallVector<Value> words) {
  if (shape.options.bits == 8)
    return words;
  int64_t bit = int64_t{0x01010101} << shape.options.bits;
  Value any = words[0];
  for (Value word : ArrayRef(words).drop_front())
    any = v.bitOr(any, word);
  Value isAbove =
      v.compare(arith::CmpIPredicate::ne, v.bitAnd(any, bit), t.i32(0));
  SmallVector<Type> types(words.size(), v.getI32());
  auto branch = scf::IfOp::create(b, types, isAbove, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> limited;
  for (Value word : words)
    limited.push_back(v.subtract(
        word, v.shiftRight(v.bitAnd(word, bit), shape.options.bits)));
  scf::YieldOp::create(b, limited);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, words);
  return llvm::to_vector_of<Value>(branch.getResults());
}

void LaneChunks::storeCodes(ArrayRef<Value> words) {
  for (int64_t chunk = 0; chunk < layout.chunks; ++chunk) {
    Value stored;
    for (int64_t word = 0; word < getNumWords(); ++word) {
      Value packed;
      for (int64_t plane = 0; plane < shape.getPlanes(); ++plane) {
        Value codes =
            words[(plane * layout.chunks + chunk) * getNumWords() + word];
        // A sum, since a shift and an addition are one instruction.
        codes = v.shiftLeft(codes, plane * shape.options.bits);
        packed = packed ? v.add(packed, codes) : codes;
      }
      if (getNumWords() == 1) {
        stored = packed;
        continue;
      }
      if (!stored)
        stored = LLVM::PoisonOp::create(
            b, VectorType::get({getNumWords()}, v.getI32()));
      stored = LLVM::InsertElementOp::create(b, stored, packed, t.i32(word));
    }
    kernel.store(stored, getCodeAddress(chunk), layout.width);
  }
}

void LaneChunks::encode() {
  loadElements();
  CodeRange range = buildRange(v, findExtremes(), shape.options);
  t.when(group.isOwn, [&] {
    Value isFirst = v.compare(arith::CmpIPredicate::eq, group.lane, t.i32(0));
    t.when(isFirst, [&] {
      storeRange(t, range, buffers.storage, shape.options.params, group.param);
    });
    CodeScale scale(t, range, shape.options);
    SmallVector<Value> words;
    for (int64_t plane = 0; plane < shape.getPlanes(); ++plane)
      for (int64_t chunk = 0; chunk < layout.chunks; ++chunk)
        for (int64_t word = 0; word < getNumWords(); ++word)
          words.push_back(packCodes(scale, plane, chunk, word));
    storeCodes(limitCodes(words));
  });
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

void LaneChunks::storeNumbers(ArrayRef<Value> numbers, int64_t plane,
                              int64_t chunk) {
  Value vector =
      LLVM::PoisonOp::create(b, VectorType::get({layout.width}, v.getF32()));
  for (auto [i, number] : llvm::enumerate(numbers))
    vector = LLVM::InsertElementOp::create(b, vector, number, t.i32(i));
  if (!isWide())
    vector = arith::TruncFOp::create(
        b, VectorType::get({layout.width}, shape.element), vector);
  kernel.store(vector, getPlainAddress(plane, chunk), accessBytes);
}

void LaneChunks::decode() {
  CodeRange range =
      loadRange(t, buffers.storage, shape.options.params, group.param);
  SmallVector<SmallVector<Value>> words;
  for (int64_t chunk = 0; chunk < layout.chunks; ++chunk) {
    auto &loaded = words.emplace_back();
    if (getNumWords() == 1) {
      loaded.push_back(kernel.load(v.getI32(), getCodeAddress(chunk)));
      continue;
    }
    auto type = VectorType::get({getNumWords()}, v.getI32());
    Value vector = kernel.load(type, getCodeAddress(chunk), layout.width);
    for (int64_t word = 0; word < getNumWords(); ++word)
      loaded.push_back(LLVM::ExtractElementOp::create(b, vector, t.i32(word)));
  }
  int64_t mask = shape.options.getLargest() * 0x01010101;
  t.when(group.isOwn, [&] {
    for (int64_t chunk = 0; chunk < layout.chunks; ++chunk)
      for (int64_t plane = 0; plane < shape.getPlanes(); ++plane) {
        SmallVector<Value> numbers;
        for (Value word : words[chunk]) {
          Value codes =
              v.bitAnd(v.shiftRight(word, plane * shape.options.bits), mask);
          for (int64_t i = 0; i < 4; ++i) {
            // Bits of 2^23 and the code.
            Value sum = t.permute(codes, t.i32(0x4B000000), 0x7650 | i);
            Value code = v.add(v.fromBits(sum), t.f32(-0x1p23));
            numbers.push_back(t.fma(code, range.step, range.minimum));
          }
        }
        storeNumbers(numbers, plane, chunk);
      }
  });
}

//===----------------------------------------------------------------------===//
// All groups
//===----------------------------------------------------------------------===//

void mlir::act::encodeChunks(CodecThreads &t, const GroupQuantShape &shape,
                             const GroupChunks &layout,
                             const GpuCodecBuffers &buffers,
                             const GpuCodecPieces &pieces) {
  shape.groups.forGroups(
      t, pieces, layout.lanes, [&](const GroupThreads::Group &group) {
        LaneChunks(t, shape, layout, buffers, group).encode();
      });
}

void mlir::act::decodeChunks(CodecThreads &t, const GroupQuantShape &shape,
                             const GroupChunks &layout,
                             const GpuCodecBuffers &buffers,
                             const GpuCodecPieces &pieces) {
  shape.groups.forGroups(
      t, pieces, layout.lanes, [&](const GroupThreads::Group &group) {
        LaneChunks(t, shape, layout, buffers, group).decode();
      });
}
