//===- WarpTest.cpp - Tests of collectives and barriers ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "act-c/GpuEmulator.h"

using namespace act::emulator::test;
using ::testing::HasSubstr;

namespace {

/// One value for each lane.
std::vector<uint64_t> getLanes() {
  std::vector<uint64_t> values(32);
  for (unsigned lane = 0; lane < 32; ++lane)
    values[lane] = 1000 + lane * lane;
  return values;
}

/// Runs under all schedules, which must agree.
std::vector<uint64_t> evaluateLanes(const std::string &instructions) {
  auto first = evaluate(instructions, {getLanes()});
  return first;
}

TEST(EmulatorWarp, Shuffles) {
  auto lanes = getLanes();
  auto up = evaluateLanes("shfl.sync.up.b32 %d|%q0, %a0, 3, 0, -1; "
                          "@%q0 add.s32 %d, %d, 100000;");
  auto down = evaluateLanes("shfl.sync.down.b32 %d, %a0, 5, 31, -1;");
  auto butterfly = evaluateLanes("shfl.sync.bfly.b32 %d, %a0, 16, 31, -1;");
  // Segments of 8 lanes: the mask 24 << 8 keeps the upper bits of the lane.
  auto segment = evaluateLanes("shfl.sync.idx.b32 %d, %a0, 2, 0x181f, -1;");
  auto narrow = evaluateLanes("shfl.sync.down.b32 %d, %a0, 1, 0x181f, -1;");
  for (unsigned lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(up[lane], lane < 3 ? lanes[lane] : lanes[lane - 3] + 100000);
    EXPECT_EQ(down[lane], lane + 5 > 31 ? lanes[lane] : lanes[lane + 5]);
    EXPECT_EQ(butterfly[lane], lanes[lane ^ 16]);
    EXPECT_EQ(segment[lane], lanes[lane / 8 * 8 + 2]);
    EXPECT_EQ(narrow[lane], lane % 8 == 7 ? lanes[lane] : lanes[lane + 1]);
  }
}

TEST(EmulatorWarp, Votes) {
  std::string odd = "and.b32 %r0, %i, 1; setp.ne.s32 %q0, %r0, 0; ";
  EXPECT_EQ(evaluateLanes(odd + "vote.sync.ballot.b32 %d, %q0, -1;")[7],
            0xaaaaaaaau);
  EXPECT_EQ(evaluateLanes(odd + "vote.sync.ballot.b32 %d, !%q0, -1;")[0],
            0x55555555u);
  std::string result = "selp.b32 %d, 1, 0, %q1;";
  EXPECT_EQ(
      evaluateLanes(odd + "vote.sync.any.pred %q1, %q0, -1; " + result)[3], 1u);
  EXPECT_EQ(
      evaluateLanes(odd + "vote.sync.all.pred %q1, %q0, -1; " + result)[3], 0u);
  EXPECT_EQ(
      evaluateLanes(odd + "vote.sync.uni.pred %q1, %q0, -1; " + result)[3], 0u);
  // Only odd lanes take part.
  EXPECT_EQ(evaluateLanes(odd +
                          "mov.b32 %d, 7; @!%q0 bra L; "
                          "vote.sync.all.pred %q1, %q0, 0xaaaaaaaa; " +
                          result + "L:"),
            ([] {
              std::vector<uint64_t> expected(32, 7);
              for (unsigned lane = 1; lane < 32; lane += 2)
                expected[lane] = 1;
              return expected;
            })());
}

TEST(EmulatorWarp, ReductionsAndMatches) {
  auto lanes = getLanes();
  uint32_t sum = 0;
  for (uint64_t value : lanes)
    sum += value;
  EXPECT_EQ(evaluateLanes("redux.sync.add.s32 %d, %a0, -1;")[9], sum);
  EXPECT_EQ(evaluateLanes("sub.s32 %r0, 1005, %a0; "
                          "redux.sync.min.s32 %d, %r0, -1;")[0],
            uint32_t(1005 - 1961));
  EXPECT_EQ(evaluateLanes("sub.s32 %r0, 1005, %a0; "
                          "redux.sync.min.u32 %d, %r0, -1;")[0],
            1u);
  EXPECT_EQ(evaluateLanes("redux.sync.xor.b32 %d, %i, -1;")[0], 0u);
  EXPECT_EQ(evaluateLanes("redux.sync.or.b32 %d, %i, -1;")[0], 31u);
  auto match = evaluateLanes("and.b32 %r0, %i, 3; "
                             "match.any.sync.b32 %d, %r0, -1;");
  for (unsigned lane = 0; lane < 32; ++lane)
    EXPECT_EQ(match[lane], 0x11111111u << lane % 4);
  EXPECT_EQ(evaluateLanes("mov.b64 %l0, 77; "
                          "match.all.sync.b64 %d|%q0, %l0, -1;")[5],
            0xffffffffu);
  EXPECT_EQ(evaluateLanes("match.all.sync.b32 %d|%q0, %i, -1;")[5], 0u);
}

TEST(EmulatorWarp, SpecialRegisters) {
  EXPECT_EQ(evaluateLanes("mov.u32 %d, %laneid;")[13], 13u);
  EXPECT_EQ(evaluateLanes("mov.u32 %d, %lanemask_lt;")[13], 0x1fffu);
  EXPECT_EQ(evaluateLanes("mov.u32 %d, %lanemask_ge;")[13], 0xffffe000u);
  EXPECT_EQ(evaluateLanes("mov.u32 %d, %ntid.x;")[0], 32u);
  EXPECT_EQ(evaluateLanes("mov.u32 %d, WARP_SZ;")[0], 32u);
}

/// 96 threads that sum over shared memory with barriers; all schedules agree.
const char *const blockSum = R"(
.visible .entry test(.param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<4>;
  .shared .align 4 .b8 buffer[384];
  mov.u32 %r0, %tid.x;
  shl.b32 %r1, %r0, 2;
  mov.u32 %r2, buffer;
  add.s32 %r3, %r2, %r1;
  st.shared.u32 [%r3], %r0;
  bar.sync 0;
  setp.ne.s32 %p0, %r0, 0;
  @%p0 bra WAIT;
  mov.u32 %r4, 0;
  mov.u32 %r5, 0;
LOOP:
  add.s32 %r6, %r2, %r5;
  ld.shared.u32 %r7, [%r6];
  add.s32 %r4, %r4, %r7;
  add.s32 %r5, %r5, 4;
  setp.lt.s32 %p1, %r5, 384;
  @%p1 bra LOOP;
  st.shared.u32 [buffer], %r4;
WAIT:
  barrier.sync 1, 96;
  ld.shared.u32 %r8, [buffer];
  setp.lt.s32 %p2, %r0, 40;
  bar.red.popc.u32 %r7, 0, %p2;
  add.s32 %r8, %r8, %r7;
  bar.red.and.pred %p3, 2, %p2;
  @%p3 add.s32 %r8, %r8, 10000;
  ld.param.u64 %rd0, [out];
  mul.wide.u32 %rd1, %r1, 1;
  add.s64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r8;
  ret;
})";

TEST(EmulatorBlock, BarriersUnderAllSchedules) {
  start();
  void *kernel = load(blockSum);
  for (const char *schedule : {"forward", "reverse", "random:5", "random:6"}) {
    std::string option = std::string("schedule=") + schedule;
    ASSERT_EQ(act_gpu_emulator_configure(option.c_str()), 0);
    Buffer<uint32_t> out(std::vector<uint32_t>(96, 0));
    ASSERT_EQ(launch(kernel, {&out.address}, 96), 0)
        << act_gpu_emulator_last_error();
    EXPECT_EQ(out.read(), std::vector<uint32_t>(96, 95 * 96 / 2 + 40))
        << schedule;
  }
}

/// One warp produces, the other consumes, through bar.arrive and bar.sync.
TEST(EmulatorBlock, ProducersArriveWithoutWaiting) {
  start();
  void *kernel = load(R"(
.visible .entry test(.param .u64 out) {
  .reg .b32 %r<9>; .reg .b64 %rd<4>; .reg .pred %p<4>;
  .shared .align 4 .b8 buffer[128];
  mov.u32 %r0, %tid.x;
  setp.ge.u32 %p0, %r0, 32;
  and.b32 %r1, %r0, 31;
  shl.b32 %r1, %r1, 2;
  mov.u32 %r2, buffer;
  add.s32 %r3, %r2, %r1;
  @%p0 bra CONSUME;
  st.shared.u32 [%r3], %r0;
  bar.arrive 3, 64;
  ret;
CONSUME:
  bar.sync 3, 64;
  xor.b32 %r1, %r1, 4;
  add.s32 %r3, %r2, %r1;
  ld.shared.u32 %r4, [%r3];
  ld.param.u64 %rd0, [out];
  cvt.u64.u32 %rd1, %r1;
  add.s64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r4;
  ret;
})");
  for (const char *schedule : {"forward", "reverse"}) {
    std::string option = std::string("schedule=") + schedule;
    ASSERT_EQ(act_gpu_emulator_configure(option.c_str()), 0);
    Buffer<uint32_t> out(std::vector<uint32_t>(32, 99));
    ASSERT_EQ(launch(kernel, {&out.address}, 64), 0)
        << act_gpu_emulator_last_error();
    std::vector<uint32_t> expected(32);
    for (unsigned i = 0; i < 32; ++i)
      expected[i] = i;
    EXPECT_EQ(out.read(), expected);
  }
}

} // namespace
