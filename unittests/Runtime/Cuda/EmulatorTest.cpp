//===- EmulatorTest.cpp - The runtime for GPUs over the emulator ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act-c/GpuRuntime.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <vector>

using testing::Each;
using testing::HasSubstr;

namespace {
/// Adds a number to 64 elements, by way of dynamic shared memory.
const char text[] = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 dynamic_shared[];
.visible .entry add(
    .param .u64 .ptr .global .align 4 add_param_0,
    .param .f32 add_param_1
)
{
    .reg .b32 %t, %o;
    .reg .f32 %v, %c;
    .reg .b64 %x, %i;
    mov.u32 %t, %tid.x;
    ld.param.u64 %x, [add_param_0];
    ld.param.f32 %c, [add_param_1];
    mul.wide.u32 %i, %t, 4;
    add.s64 %x, %x, %i;
    ld.global.f32 %v, [%x];
    add.rn.f32 %v, %v, %c;
    shl.b32 %o, %t, 2;
    mov.u32 %t, dynamic_shared;
    add.u32 %t, %t, %o;
    st.shared.f32 [%t], %v;
    ld.shared.f32 %c, [%t];
    st.global.f32 [%x], %c;
    ret;
}
)";

class GpuRuntimeEmulatorTest : public testing::Test {
protected:
  static constexpr int64_t count = 64;

  void SetUp() override {
    setenv("ACT_GPU_EMULATOR", "check=1,verbose=0", 1);
    context = act_gpu_context_create(ACT_GPU_EMULATOR_PATH, 0);
    ASSERT_NE(context, nullptr) << act_gpu_last_error();
    memory = act_gpu_allocate(context, count * sizeof(float));
    act_gpu_fill(context, memory, 0, count * sizeof(float));
    image.version = ACT_GPU_IMAGE_VERSION;
    image.num_kernels = 1;
    image.kernels = &kernel;
    image.ptx = text;
    image.ptx_architecture = 80;
  }
  void TearDown() override { act_gpu_context_destroy(context); }

  int32_t launch(void *values, float value) {
    void *parameters[] = {&values, &value};
    return act_gpu_launch(context, &image, 0, parameters);
  }
  std::vector<float> read() {
    std::vector<float> values(count);
    EXPECT_EQ(
        act_gpu_read(context, values.data(), memory, count * sizeof(float)), 0)
        << act_gpu_context_error(context);
    return values;
  }

  void *context = nullptr;
  void *memory = nullptr;
  // More shared memory than a kernel may use without asking.
  act_gpu_kernel kernel = {"add", {1, 1, 1}, {count, 1, 1}, 100 << 10, 2, 0, 0};
  act_gpu_image image = {};
};
} // namespace

TEST_F(GpuRuntimeEmulatorTest, LaunchesText) {
  EXPECT_EQ(launch(memory, 1.5f), 0) << act_gpu_context_error(context);
  EXPECT_THAT(read(), Each(1.5f));
}

TEST_F(GpuRuntimeEmulatorTest, CapturesGraphs) {
  ASSERT_EQ(launch(memory, 0), 0);
  ASSERT_EQ(act_gpu_graph_begin(context), 0) << act_gpu_context_error(context);
  EXPECT_EQ(launch(memory, 1), 0);
  EXPECT_EQ(launch(memory, 2), 0);
  void *graph = act_gpu_graph_end(context);
  ASSERT_NE(graph, nullptr) << act_gpu_context_error(context);
  EXPECT_THAT(read(), Each(0.0f));
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(act_gpu_graph_launch(context, graph), 0);
  EXPECT_THAT(read(), Each(9.0f));
  act_gpu_graph_destroy(context, graph);
  EXPECT_EQ(act_gpu_context_error(context), nullptr);
}

TEST_F(GpuRuntimeEmulatorTest, ReadsNothingWhileItCaptures) {
  float value = 7;
  ASSERT_EQ(act_gpu_graph_begin(context), 0);
  EXPECT_EQ(act_gpu_read(context, &value, memory, sizeof(value)), 1);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(act_gpu_graph_end(context), nullptr);
  EXPECT_THAT(act_gpu_context_error(context),
              HasSubstr("cannot be captured in a graph"));
  // The stream works again.
  act_gpu_context_clear_error(context);
  EXPECT_EQ(launch(memory, 1), 0);
  EXPECT_THAT(read(), Each(1.0f));
}

TEST_F(GpuRuntimeEmulatorTest, SaysWhereAKernelFails) {
  launch(static_cast<char *>(memory) + 4, 1);
  act_gpu_synchronize(context);
  ASSERT_NE(act_gpu_context_error(context), nullptr);
  EXPECT_THAT(act_gpu_context_error(context), HasSubstr("add"));
  EXPECT_THAT(act_gpu_context_error(context), HasSubstr("thread (63,0,0)"));
}

TEST_F(GpuRuntimeEmulatorTest, SaysWhatIsWrongWithText) {
  image.ptx = ".version 8.0\n.target sm_80\n.address_size 64\nnonsense";
  EXPECT_EQ(act_gpu_load(context, &image), 1);
  EXPECT_THAT(act_gpu_context_error(context),
              HasSubstr("cannot load kernels for"));
}

TEST_F(GpuRuntimeEmulatorTest, MeasuresTimes) {
  double seconds = -1;
  ASSERT_EQ(act_gpu_timer_start(context), 0);
  launch(memory, 1);
  ASSERT_EQ(act_gpu_timer_stop(context, &seconds), 0)
      << act_gpu_context_error(context);
  EXPECT_GT(seconds, 0);
}
