//===- MatrixTest.cpp - Tests of matrices spread over a warp ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "act-c/GpuEmulator.h"
#include <functional>

using namespace act::emulator::test;

namespace {

/// Bits of small integers in each format, written down from the formats.
uint32_t encodeHalf(int value) {
  if (value == 0)
    return 0;
  uint32_t sign = value < 0 ? 0x8000 : 0;
  unsigned magnitude = std::abs(value);
  unsigned exponent = 31 - __builtin_clz(magnitude);
  return sign | (exponent + 15) << 10 | ((magnitude << 10 >> exponent) & 0x3ff);
}
uint32_t encodeBfloat(int value) { return toBits(float(value)) >> 16; }
uint32_t encodeFloat(int value) { return toBits(float(value)); }
uint32_t encodeByte(int value) { return value & 0xff; }

struct Shape {
  const char *name;
  unsigned depth;
  unsigned elementBits;
  std::function<uint32_t(int)> encode;
  bool isInteger;
};

/// One lane of the tables of the PTX ISA, "Matrix Fragments for mma.m16n8k*":
/// the row and column of element i of A.
std::pair<unsigned, unsigned> positionOfA(const Shape &shape, unsigned lane,
                                          unsigned i) {
  unsigned group = lane >> 2;
  unsigned member = lane % 4;
  switch (shape.elementBits) {
  case 16:
    if (shape.depth == 8)
      return {i < 2 ? group : group + 8, member * 2 + (i & 1)};
    return {i < 2 || (i >= 4 && i < 6) ? group : group + 8,
            member * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  case 32:
    if (shape.depth == 4)
      return {i == 0 ? group : group + 8, member};
    return {i == 0 || i == 2 ? group : group + 8, i < 2 ? member : member + 4};
  default:
    if (shape.depth == 16)
      return {i < 4 ? group : group + 8, member * 4 + (i & 3)};
    return {i < 4 || (i >= 8 && i < 12) ? group : group + 8,
            member * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
  }
}

std::pair<unsigned, unsigned> positionOfB(const Shape &shape, unsigned lane,
                                          unsigned i) {
  unsigned group = lane >> 2;
  unsigned member = lane % 4;
  switch (shape.elementBits) {
  case 16:
    return {member * 2 + (i & 1) + (i >= 2 ? 8 : 0), group};
  case 32:
    return {i == 0 ? member : member + 4, group};
  default:
    return {member * 4 + (i & 3) + (i >= 4 ? 16 : 0), group};
  }
}

int valueOfA(unsigned row, unsigned column) {
  return int((row * 5 + column * 3) % 7) - 3;
}
int valueOfB(unsigned row, unsigned column) {
  return int((row * 2 + column * 7) % 5) - 2;
}
int valueOfC(unsigned row, unsigned column) { return int(row) - int(column); }

/// The kernel reads each lane's registers from memory: 12 words per lane.
std::string buildKernel(const Shape &shape, const std::string &types) {
  unsigned numB = shape.depth * shape.elementBits / 128;
  auto list = [](unsigned first, unsigned count) {
    std::string text = "{";
    for (unsigned i = 0; i < count; ++i)
      text += (i ? ", %r" : "%r") + std::to_string(first + i);
    return text + "}";
  };
  std::string text = ".visible .entry test(.param .u64 in, .param .u64 out) {\n"
                     ".reg .b32 %r<20>; .reg .b64 %rd<4>;\n"
                     "mov.u32 %r19, %tid.x; ld.param.u64 %rd0, [in];\n"
                     "mul.wide.u32 %rd1, %r19, 48; add.s64 %rd0, %rd0, %rd1;\n";
  for (unsigned i = 0; i < 12; ++i)
    text += "ld.global.b32 %r" + std::to_string(i) + ", [%rd0+" +
            std::to_string(i * 4) + "];\n";
  text += "mma.sync.aligned.m16n8k" + std::to_string(shape.depth) +
          ".row.col." + types + " " + list(12, 4) + ", " + list(0, numB * 2) +
          ", " + list(4, numB) + ", " + list(8, 4) + ";\n";
  text += "ld.param.u64 %rd2, [out]; mul.wide.u32 %rd1, %r19, 16;\n"
          "add.s64 %rd2, %rd2, %rd1;\n"
          "st.global.v4.b32 [%rd2], {%r12, %r13, %r14, %r15};\nret;\n}\n";
  return text;
}

void expectProduct(const Shape &shape, const std::string &types) {
  start();
  unsigned perWord = 32 / shape.elementBits;
  unsigned numB = shape.depth * shape.elementBits / 128;
  std::vector<uint32_t> words(32 * 12, 0);
  for (unsigned lane = 0; lane < 32; ++lane) {
    auto put = [&](unsigned word, unsigned i, int value) {
      words[lane * 12 + word + i / perWord] |=
          shape.encode(value) << i % perWord * shape.elementBits;
    };
    for (unsigned i = 0; i < numB * 2 * perWord; ++i) {
      auto [row, column] = positionOfA(shape, lane, i);
      put(0, i, valueOfA(row, column));
    }
    for (unsigned i = 0; i < numB * perWord; ++i) {
      auto [row, column] = positionOfB(shape, lane, i);
      put(4, i, valueOfB(row, column));
    }
    for (unsigned i = 0; i < 4; ++i) {
      int value = valueOfC(lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + (i & 1));
      words[lane * 12 + 8 + i] =
          shape.isInteger ? uint32_t(value) : encodeFloat(value);
    }
  }
  Buffer<uint32_t> in(words);
  Buffer<uint32_t> out(std::vector<uint32_t>(128, 0));
  ASSERT_EQ(
      launch(load(buildKernel(shape, types)), {&in.address, &out.address}), 0)
      << act_gpu_emulator_last_error();
  auto results = out.read();
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 4; ++i) {
      unsigned row = lane / 4 + (i >= 2 ? 8 : 0);
      unsigned column = lane % 4 * 2 + (i & 1);
      int expected = valueOfC(row, column);
      for (unsigned k = 0; k < shape.depth; ++k)
        expected += valueOfA(row, k) * valueOfB(k, column);
      uint32_t bits =
          shape.isInteger ? uint32_t(expected) : encodeFloat(expected);
      EXPECT_EQ(results[lane * 4 + i], bits)
          << shape.name << " row " << row << " column " << column;
    }
  }
}

TEST(EmulatorMatrix, Products) {
  expectProduct({"f16 k8", 8, 16, encodeHalf, false}, "f32.f16.f16.f32");
  expectProduct({"f16 k16", 16, 16, encodeHalf, false}, "f32.f16.f16.f32");
  expectProduct({"bf16 k8", 8, 16, encodeBfloat, false}, "f32.bf16.bf16.f32");
  expectProduct({"bf16 k16", 16, 16, encodeBfloat, false}, "f32.bf16.bf16.f32");
  expectProduct({"tf32 k4", 4, 32, encodeFloat, false}, "f32.tf32.tf32.f32");
  expectProduct({"tf32 k8", 8, 32, encodeFloat, false}, "f32.tf32.tf32.f32");
  expectProduct({"s8 k16", 16, 8, encodeByte, true}, "s32.s8.s8.s32");
  expectProduct({"s8 k32", 32, 8, encodeByte, true}, "s32.s8.s8.s32");
}

/// ldmatrix of four matrices whose element (i, j) of matrix m is 100m + 8i + j,
/// and stmatrix back to another place.
void expectMoves(bool isTransposed) {
  start();
  std::string trans = isTransposed ? ".trans" : "";
  std::string text = R"(
.visible .entry test(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<12>; .reg .b64 %rd<6>;
  .shared .align 16 .b8 buffer[1024];
  mov.u32 %r0, %tid.x;
  ld.param.u64 %rd0, [in];
  mul.wide.u32 %rd1, %r0, 16;
  add.s64 %rd0, %rd0, %rd1;
  ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd0];
  mov.u32 %r5, buffer;
  shl.b32 %r6, %r0, 4;
  add.s32 %r5, %r5, %r6;
  st.shared.v4.b32 [%r5], {%r1, %r2, %r3, %r4};
  bar.sync 0;
  ldmatrix.sync.aligned.m8n8.x4)" +
                     trans + R"(.shared.b16 {%r7, %r8, %r9, %r10}, [%r5];
  stmatrix.sync.aligned.m8n8.x4)" +
                     trans + R"(.shared.b16 [%r5+512], {%r7, %r8, %r9, %r10};
  bar.sync 0;
  ld.shared.v4.b32 {%r1, %r2, %r3, %r4}, [%r5+512];
  ld.param.u64 %rd2, [out];
  mul.wide.u32 %rd3, %r0, 32;
  add.s64 %rd2, %rd2, %rd3;
  st.global.v4.b32 [%rd2], {%r7, %r8, %r9, %r10};
  st.global.v4.b32 [%rd2+16], {%r1, %r2, %r3, %r4};
  ret;
})";
  std::vector<uint16_t> elements(256);
  for (unsigned i = 0; i < 256; ++i)
    elements[i] = i / 64 * 100 + i % 64;
  Buffer<uint16_t> in(elements);
  Buffer<uint16_t> out(std::vector<uint16_t>(512, 0));
  ASSERT_EQ(launch(load(text), {&in.address, &out.address}), 0)
      << act_gpu_emulator_last_error();
  auto results = out.read();
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned i = 0; i < 8; ++i) {
      unsigned row = lane / 4;
      unsigned column = lane % 4 * 2 + i % 2;
      unsigned expected =
          i / 2 * 100 + (isTransposed ? column * 8 + row : row * 8 + column);
      EXPECT_EQ(results[lane * 16 + i], expected) << "lane " << lane;
      // What went back is what was there.
      EXPECT_EQ(results[lane * 16 + 8 + i], elements[lane * 8 + i]);
    }
  }
}

TEST(EmulatorMatrix, LoadsAndStores) {
  expectMoves(/*isTransposed=*/false);
  expectMoves(/*isTransposed=*/true);
}

} // namespace
