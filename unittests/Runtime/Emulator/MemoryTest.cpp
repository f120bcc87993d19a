//===- MemoryTest.cpp - Tests of memory, spaces and functions ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "act-c/GpuEmulator.h"
#include <cmath>

using namespace act::emulator::test;
using ::testing::HasSubstr;

namespace {

/// 64 threads in 2 blocks apply `instructions` to the words that %p points to.
std::vector<uint32_t> accumulate(const std::string &instructions,
                                 std::vector<uint32_t> words) {
  start();
  void *kernel = load(".visible .entry test(.param .u64 data) {\n"
                      ".reg .b64 %p; .reg .b32 %i, %j, %r<4>; .reg .b64 %l<4>; "
                      ".reg .f32 %f<4>; .reg .f64 %g<2>; .reg .b16 %h<2>;\n"
                      "ld.param.u64 %p, [data]; mov.u32 %i, %tid.x; "
                      "mov.u32 %j, %ctaid.x; mad.lo.u32 %i, %j, 32, %i;\n" +
                      instructions + "\nret;\n}\n");
  Buffer<uint32_t> data(words);
  EXPECT_EQ(launch(kernel, {&data.address}, 32, 2), 0)
      << act_gpu_emulator_last_error();
  return data.read();
}

TEST(EmulatorMemory, AtomicIntegers) {
  EXPECT_EQ(accumulate("red.global.add.u32 [%p], %i;", {5})[0],
            5u + 63 * 64 / 2);
  EXPECT_EQ(accumulate("atom.global.max.s32 %r0, [%p], %i;", {~0u})[0], 63u);
  EXPECT_EQ(accumulate("atom.global.min.u32 %r0, [%p], %i;", {~0u})[0], 0u);
  EXPECT_EQ(
      accumulate("shl.b32 %r1, 1, %i; red.global.or.b32 [%p], %r1;", {0})[0],
      0xffffffffu);
  EXPECT_EQ(accumulate("red.global.xor.b32 [%p], %i;", {9})[0], 9u);
  EXPECT_EQ(accumulate("atom.global.inc.u32 %r0, [%p], 9;", {0})[0], 64u % 10);
  // From 10 to 0 and around again: 11 steps.
  EXPECT_EQ(accumulate("atom.global.dec.u32 %r0, [%p], 10;", {0})[0],
            (11 - 64 % 11) % 11);
  auto wide = accumulate("cvt.u64.u32 %l0, %i; add.s64 %l0, %l0, 4294967296; "
                         "red.global.add.u64 [%p], %l0;",
                         {0, 0});
  EXPECT_EQ(wide[0], 63u * 64 / 2);
  EXPECT_EQ(wide[1], 64u);
  // Each thread adds 1 with compare-and-swap.
  EXPECT_EQ(accumulate("{.reg .pred %q; ld.relaxed.gpu.global.u32 %r0, [%p];\n"
                       "AGAIN: add.s32 %r1, %r0, 1; mov.b32 %r2, %r0; "
                       "atom.global.cas.b32 %r0, [%p], %r2, %r1; "
                       "setp.ne.s32 %q, %r0, %r2; @%q bra AGAIN;}",
                       {7})[0],
            71u);
}

TEST(EmulatorMemory, AtomicNumbers) {
  EXPECT_EQ(toFloat(accumulate("cvt.rn.f32.u32 %f0, %i; "
                               "red.global.add.f32 [%p], %f0;",
                               {toBits(0.5f)})[0]),
            2016.5f);
  auto wide = accumulate("cvt.rn.f64.u32 %g0, %i; "
                         "red.global.add.f64 [%p], %g0;",
                         {0, 0});
  double sum;
  std::memcpy(&sum, wide.data(), sizeof(sum));
  EXPECT_EQ(sum, 2016.0);
  // Two halves: 64 times 1 and 64 times 0.5.
  EXPECT_EQ(accumulate("mov.b32 %r0, 0x38003c00; "
                       "red.global.add.noftz.f16x2 [%p], %r0;",
                       {0})[0],
            0x50005400u);
  EXPECT_EQ(accumulate("mov.b32 %r0, 0x3f003f80; "
                       "atom.global.add.noftz.bf16x2 %r1, [%p], %r0;",
                       {0})[0],
            0x42004280u);
}

/// Vectors of numbers can be compared, too: the least of i and of -i.
TEST(EmulatorMemory, AtomicVectors) {
  auto words = accumulate("cvt.rn.f16.u32 %h0, %i; neg.f16 %h1, %h0; "
                          "mov.b32 %r0, {%h0, %h1}; mov.b32 %r1, {%h1, %h0}; "
                          "red.global.min.noftz.v2.f16x2 [%p], {%r0, %r1};",
                          {0x3c003c00, 0x3c003c00});
  // 63 is 1.96875 times 2^5.
  EXPECT_EQ(words[0], 0xd3e00000u);
  EXPECT_EQ(words[1], 0x0000d3e0u);
}

TEST(EmulatorMemory, AtomicsInSharedMemory) {
  EXPECT_EQ(accumulate("{.shared .align 4 .b8 sum[4]; .reg .pred %q; "
                       "mov.u32 %r0, %tid.x; setp.ne.s32 %q, %r0, 0;\n"
                       "@!%q st.shared.u32 [sum], 0; bar.sync 0;\n"
                       "red.shared.add.u32 [sum], %r0; bar.sync 0;\n"
                       "@%q bra END; ld.shared.u32 %r1, [sum]; "
                       "red.global.add.u32 [%p], %r1;\nEND:}",
                       {0})[0],
            2u * 31 * 32 / 2);
}

/// Parts of the copies are zeros, and the copies happen at the wait.
TEST(EmulatorMemory, AsynchronousCopies) {
  start();
  void *kernel = load(R"(
.visible .entry test(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %rd<6>;
  .shared .align 16 .b8 buffer[512];
  mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 4; mov.u32 %r2, buffer;
  add.s32 %r2, %r2, %r1; cvt.u64.u32 %rd3, %r1;
  ld.param.u64 %rd0, [in]; ld.param.u64 %rd1, [out];
  add.s64 %rd0, %rd0, %rd3; add.s64 %rd1, %rd1, %rd3;
  and.b32 %r3, %r0, 15;
  cp.async.ca.shared.global [%r2], [%rd0], 16, %r3;
  cp.async.commit_group;
  cp.async.wait_group 0;
  ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r2];
  st.global.v4.b32 [%rd1], {%r4, %r5, %r6, %r7};
  ret;
})");
  std::vector<uint8_t> bytes(512);
  for (unsigned i = 0; i < 512; ++i)
    bytes[i] = i * 7 + 1;
  Buffer<uint8_t> in(bytes);
  Buffer<uint8_t> out(std::vector<uint8_t>(512, 0xee));
  ASSERT_EQ(launch(kernel, {&in.address, &out.address}), 0)
      << act_gpu_emulator_last_error();
  auto results = out.read();
  for (unsigned i = 0; i < 512; ++i)
    EXPECT_EQ(results[i], i % 16 < i / 16 % 16 ? bytes[i] : 0) << i;
}

/// Device functions, local memory, constants, generic addresses, a parameter
/// that is a struct, brx.idx and static and dynamic shared memory.
const char *const everything = R"(
.const .align 4 .u32 table[4] = {10, 20, 30, 40};
.global .align 8 .u64 pointer[1] = {generic(table)};
.extern .shared .align 16 .b8 dynamic[];
.func (.param .b32 result) twice(.param .b32 value) {
  .reg .b32 %r<3>;
  ld.param.b32 %r0, [value];
  add.s32 %r1, %r0, %r0;
  st.param.b32 [result], %r1;
  ret;
}
.visible .entry test(.param .u64 out, .param .align 4 .b8 pair[8]) {
  .reg .b32 %r<16>; .reg .b64 %rd<10>; .reg .pred %p<3>;
  .local .align 8 .b8 depot[16];
  .shared .align 4 .b8 fixed[132];
  mov.u32 %r0, %tid.x;
  and.b32 %r1, %r0, 3;
  mov.u64 %rd0, pointer;
  ld.global.u64 %rd1, [%rd0];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  ld.u32 %r2, [%rd1];
  {
  .param .b32 argument;
  st.param.b32 [argument], %r2;
  .param .b32 answer;
  call.uni (answer), twice, (argument);
  ld.param.b32 %r2, [answer];
  }
  mov.u64 %rd3, depot;
  cvta.local.u64 %rd4, %rd3;
  st.u32 [%rd4+8], %r2;
  ld.local.u32 %r3, [%rd3+8];
  ld.param.u32 %r4, [pair];
  ld.param.u32 %r5, [pair+4];
  mad.lo.s32 %r3, %r4, %r3, %r5;
  brx.idx %r1, targets;
targets: .branchtargets A, B, A, C;
A: add.s32 %r3, %r3, 1000; bra END;
B: add.s32 %r3, %r3, 2000; bra END;
C: add.s32 %r3, %r3, 3000;
END:
  mov.u64 %rd5, dynamic;
  cvta.shared.u64 %rd6, %rd5;
  mul.wide.u32 %rd7, %r0, 4;
  add.s64 %rd6, %rd6, %rd7;
  st.u32 [%rd6], %r3;
  st.shared.u32 [fixed+128], %r0;
  bar.sync 0;
  ld.u32 %r6, [%rd6];
  ld.param.u64 %rd8, [out];
  add.s64 %rd8, %rd8, %rd7;
  st.global.u32 [%rd8], %r6;
  ret;
})";

TEST(EmulatorMemory, SpacesAndFunctions) {
  start();
  std::string text = everything;
  // All threads write the same word, which is a race unless only one does.
  std::string store = "st.shared.u32 [fixed+128], %r0;";
  text.replace(text.find(store), store.size(),
               "setp.eq.s32 %p0, %r0, 0; @%p0 " + store);
  void *kernel = load(text);
  Buffer<uint32_t> out(std::vector<uint32_t>(32, 0));
  uint32_t pair[2] = {3, 5};
  ASSERT_EQ(launch(kernel, {&out.address, pair}, 32, 1, 128), 0)
      << act_gpu_emulator_last_error();
  auto results = out.read();
  const uint32_t offsets[] = {1000, 2000, 1000, 3000};
  for (unsigned i = 0; i < 32; ++i)
    EXPECT_EQ(results[i], 3 * 2 * (i % 4 + 1) * 10 + 5 + offsets[i % 4]);
  int bytes;
  ASSERT_EQ(cuFuncGetAttribute(&bytes, 1, kernel), 0);
  EXPECT_EQ(bytes, 144);
}

TEST(EmulatorMemory, NarrowAndWideAccesses) {
  start();
  void *kernel = load(R"(
.visible .entry test(.param .u64 data) {
  .reg .b16 %h<5>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [data];
  ld.global.nc.L1::no_allocate.s8 %r0, [%rd0];
  ld.global.u8 %r1, [%rd0];
  ld.global.v4.u16 {%h0, %h1, %h2, %h3}, [%rd0+8];
  ld.global.v2.u64 {%rd1, %rd2}, [%rd0+16];
  st.global.cs.b32 [%rd0+32], %r0;
  st.global.b32 [%rd0+36], %r1;
  st.global.v2.b16 [%rd0+40], {%h3, %h0};
  st.global.v2.b64 [%rd0+48], {%rd2, %rd1};
  st.volatile.global.u8 [%rd0+44], %r1;
  ret;
})");
  std::vector<uint32_t> words(16, 0);
  words[0] = 0x80;
  words[2] = 0x22221111;
  words[3] = 0x44443333;
  words[4] = 1;
  words[6] = 2;
  Buffer<uint32_t> data(words);
  ASSERT_EQ(launch(kernel, {&data.address}, 1), 0)
      << act_gpu_emulator_last_error();
  auto results = data.read();
  EXPECT_EQ(results[8], 0xffffff80u);
  EXPECT_EQ(results[9], 0x80u);
  EXPECT_EQ(results[10], 0x11114444u);
  EXPECT_EQ(results[11], 0x80u);
  EXPECT_EQ(results[12], 2u);
  EXPECT_EQ(results[14], 1u);
}

TEST(EmulatorMemory, CountsWhatKernelsDo) {
  start();
  act_gpu_emulator_clear_statistics();
  ASSERT_EQ(act_gpu_emulator_configure("statistics=1"), 0);
  // 4 bytes from 32 sectors each, then 32 words from one bank.
  void *kernel = load(R"(
.visible .entry test(.param .u64 data) {
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .f32 %f<1>;
  .shared .align 4 .b8 buffer[4096];
  mov.u32 %r0, %tid.x;
  ld.param.u64 %rd0, [data];
  mul.wide.u32 %rd1, %r0, 32;
  add.s64 %rd0, %rd0, %rd1;
  ld.global.u32 %r1, [%rd0];
  shl.b32 %r2, %r0, 7;
  mov.u32 %r3, buffer;
  add.s32 %r3, %r3, %r2;
  st.shared.u32 [%r3], %r1;
  add.rn.f32 %f0, %f0, %f0;
  ret;
})");
  Buffer<uint32_t> data(std::vector<uint32_t>(256, 1));
  ASSERT_EQ(launch(kernel, {&data.address}), 0)
      << act_gpu_emulator_last_error();
  std::string statistics = act_gpu_emulator_statistics();
  EXPECT_THAT(statistics, HasSubstr("\"global_bytes_loaded\": 128"));
  EXPECT_THAT(statistics, HasSubstr("\"global_sectors\": 32"));
  EXPECT_THAT(statistics, HasSubstr("\"global_sectors_ideal\": 4"));
  EXPECT_THAT(statistics, HasSubstr("\"bank_conflict_cycles\": 31"));
  EXPECT_THAT(statistics, HasSubstr("\"global_load\": 32"));
  EXPECT_THAT(statistics, HasSubstr("\"integer\": 128"));
  EXPECT_THAT(statistics, HasSubstr("\"float\": 32"));
  EXPECT_THAT(statistics, HasSubstr("\"launches\": 1"));
  ASSERT_EQ(act_gpu_emulator_configure("statistics=0"), 0);
}

} // namespace
