//===- RuntimeTest.cpp - The runtime of steps compiled for GPUs ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FakeDriver.h"
#include "act-c/GpuRuntime.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>
#include <dlfcn.h>
#include <fstream>
#include <thread>

using testing::ElementsAre;
using testing::HasSubstr;

FakeDriver &getFakeDriver() {
  static auto *get = reinterpret_cast<FakeDriver *(*)()>(
      dlsym(dlopen(ACT_FAKE_DRIVER, RTLD_NOW), "act_fake_driver"));
  return *get();
}

namespace {
class GpuRuntimeTest : public testing::Test {
protected:
  void SetUp() override {
    getFakeDriver() = FakeDriver();
    image.version = ACT_GPU_IMAGE_VERSION;
    image.num_kernels = 1;
    image.kernels = &kernel;
    image.ptx = "// text   ";
    image.ptx_architecture = 80;
  }
  void TearDown() override {
    act_gpu_context_destroy(context);
    EXPECT_EQ(getFakeDriver().pushes, getFakeDriver().pops);
  }
  void create() {
    context = act_gpu_context_create(ACT_FAKE_DRIVER, 0);
    ASSERT_NE(context, nullptr) << act_gpu_last_error();
  }
  int32_t launch() {
    void *values = memory;
    float value = 1.5f;
    int64_t count = 4;
    void *parameters[] = {&values, &value, &count};
    return act_gpu_launch(context, &image, 0, parameters);
  }
  std::string getError() {
    const char *error = act_gpu_context_error(context);
    return error ? error : "";
  }

  void *context = nullptr;
  void *memory = nullptr;
  act_gpu_kernel kernel = {"add", {2, 1, 1}, {64, 1, 1}, 0, 3, 0, 0};
  act_gpu_image image = {};
};
} // namespace

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

TEST_F(GpuRuntimeTest, SaysWhatDriverIsMissing) {
  EXPECT_EQ(act_gpu_context_create("/nowhere/libcuda.so.1", 0), nullptr);
  EXPECT_THAT(act_gpu_last_error(),
              HasSubstr("there is no driver for a GPU: /nowhere/libcuda"));
  // A library, but none of a driver.
  EXPECT_EQ(act_gpu_context_create("libm.so.6", 0), nullptr);
  EXPECT_THAT(act_gpu_last_error(), HasSubstr("'libm.so.6' has no cuInit"));
  EXPECT_EQ(act_gpu_context_create(ACT_FAKE_DRIVER, 1), nullptr);
  EXPECT_THAT(act_gpu_last_error(),
              HasSubstr("expects a device below 1, got 1"));
}

TEST_F(GpuRuntimeTest, DescribesTheDevice) {
  create();
  act_gpu_device_info info;
  ASSERT_EQ(act_gpu_get_device_info(context, &info), 0);
  EXPECT_STREQ(info.name, "fake");
  EXPECT_EQ(info.architecture, 80);
  EXPECT_EQ(info.num_multiprocessors, 108);
  EXPECT_EQ(info.memory_bytes, int64_t(1) << 30);
  EXPECT_EQ(info.shared_bytes, 163 * 1024);
  EXPECT_EQ(info.driver_version, 12040);
}

TEST_F(GpuRuntimeTest, KeepsTheErrorOfEachThread) {
  create();
  EXPECT_EQ(act_gpu_launch(context, nullptr, 0, nullptr), 1);
  EXPECT_STREQ(act_gpu_last_error(), "expects an image with kernels, got null");
  std::thread([] {
    EXPECT_EQ(act_gpu_last_error(), nullptr);
    EXPECT_EQ(act_gpu_synchronize(nullptr), 1);
    EXPECT_STREQ(act_gpu_last_error(), "expects a context, got null");
  }).join();
  EXPECT_STREQ(act_gpu_last_error(), "expects an image with kernels, got null");
}

TEST_F(GpuRuntimeTest, DoesNothingAfterAnError) {
  create();
  memory = act_gpu_allocate(context, 16);
  act_gpu_report_error(context, "first");
  act_gpu_report_error(context, "second");
  EXPECT_EQ(getError(), "first");
  EXPECT_EQ(act_gpu_context_status(context), 1);
  EXPECT_EQ(launch(), 1);
  EXPECT_TRUE(getFakeDriver().launched.empty());
  act_gpu_context_clear_error(context);
  EXPECT_EQ(launch(), 0);
  EXPECT_EQ(getFakeDriver().launched.size(), 1u);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

TEST_F(GpuRuntimeTest, UsesMemoryAgain) {
  create();
  void *first = act_gpu_allocate(context, 1000);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % ACT_GPU_ARENA_ALIGNMENT, 0u);
  EXPECT_EQ(act_gpu_allocated_bytes(context), 1024);
  act_gpu_release(context, first);
  EXPECT_EQ(act_gpu_allocate(context, 900), first);
  // More than twice as much as is asked for would be a waste.
  act_gpu_release(context, first);
  EXPECT_NE(act_gpu_allocate(context, 256), first);
  EXPECT_EQ(getFakeDriver().allocations, 2);
  EXPECT_EQ(act_gpu_trim(context), 0);
  EXPECT_EQ(getFakeDriver().frees, 1);
  EXPECT_EQ(act_gpu_allocated_bytes(context), 256);
  EXPECT_NE(act_gpu_allocate(context, 0), nullptr);
}

TEST_F(GpuRuntimeTest, RefusesMemoryThatIsNotThere) {
  create();
  EXPECT_EQ(act_gpu_allocate(context, int64_t(1) << 31), nullptr);
  EXPECT_THAT(getError(), HasSubstr("cannot allocate 2147483648 bytes of the "
                                    "device beside 0 bytes"));
  act_gpu_context_clear_error(context);
  EXPECT_EQ(act_gpu_allocate(context, -1), nullptr);
  act_gpu_context_clear_error(context);
  void *block = act_gpu_allocate(context, 8);
  act_gpu_release(context, block);
  act_gpu_release(context, block);
  EXPECT_EQ(getError(), "expects memory that is released once");
  act_gpu_context_clear_error(context);
  act_gpu_release(context, this);
  EXPECT_EQ(getError(), "expects memory of this context to release");
}

TEST_F(GpuRuntimeTest, CopiesFillsAndReads) {
  create();
  int32_t values[] = {1, 2, 3, 4}, back[4] = {};
  void *a = act_gpu_allocate(context, 16), *b = act_gpu_allocate(context, 16);
  EXPECT_EQ(act_gpu_copy_in(context, a, values, 16), 0);
  EXPECT_EQ(act_gpu_copy(context, b, a, 16), 0);
  EXPECT_EQ(act_gpu_fill(context, b, 0xff, 4), 0);
  EXPECT_EQ(getFakeDriver().synchronizations, 0);
  EXPECT_EQ(act_gpu_read(context, back, b, 16), 0);
  EXPECT_EQ(getFakeDriver().synchronizations, 1);
  EXPECT_THAT(back, ElementsAre(-1, 2, 3, 4));
  act_gpu_report_error(context, "stop");
  EXPECT_EQ(act_gpu_read(context, back, b, 16), 1);
  EXPECT_THAT(back, ElementsAre(0, 0, 0, 0));
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

TEST_F(GpuRuntimeTest, LaunchesOnTheStreamOfTheCaller) {
  create();
  memory = act_gpu_allocate(context, 16);
  act_gpu_fill(context, memory, 0, 16);
  EXPECT_EQ(launch(), 0) << getError();
  EXPECT_EQ(getFakeDriver().streams.back(), act_gpu_get_stream(context));
  act_gpu_set_stream(context, this);
  EXPECT_EQ(launch(), 0);
  EXPECT_EQ(getFakeDriver().streams.back(), this);
  act_gpu_use_own_stream(context);
  float values[4];
  act_gpu_read(context, values, memory, 16);
  EXPECT_THAT(values, ElementsAre(3.0f, 3.0f, 3.0f, 3.0f));
  // Loaded once, at the first launch.
  EXPECT_THAT(getFakeDriver().loaded, ElementsAre("// text "));
  act_gpu_counts counts;
  act_gpu_get_counts(context, &counts);
  EXPECT_EQ(counts.launches, 2);
  EXPECT_EQ(counts.order_dependent_launches, 0);
}

TEST_F(GpuRuntimeTest, ChoosesTheCodeOfTheDevice) {
  const char code80[] = "sm_80   ", code86[] = "sm_86   ",
             code90[] = "sm_90   ", fat[] = "fatbin  ";
  act_gpu_cubin cubins[] = {
      {80, 0, code80, 8}, {90, 0, code90, 8}, {86, 0, code86, 8}};
  image.cubins = cubins;
  image.num_cubins = 3;
  image.fatbin = fat;
  auto load = [&](int major, int minor) {
    getFakeDriver().loaded.clear();
    getFakeDriver().major = major;
    getFakeDriver().minor = minor;
    void *other = act_gpu_context_create(ACT_FAKE_DRIVER, 0);
    int32_t status = act_gpu_load(other, &image);
    std::string error = status ? act_gpu_context_error(other) : "";
    act_gpu_context_destroy(other);
    return error;
  };
  load(8, 0);
  EXPECT_THAT(getFakeDriver().loaded, ElementsAre("sm_80   "));
  load(8, 9);
  EXPECT_THAT(getFakeDriver().loaded, ElementsAre("sm_86   "));
  load(12, 0);
  EXPECT_THAT(getFakeDriver().loaded, ElementsAre("fatbin  "));
  getFakeDriver().refused = "sm_";
  EXPECT_EQ(load(8, 6), "");
  EXPECT_THAT(getFakeDriver().loaded,
              ElementsAre("sm_86   ", "sm_80   ", "fatbin  "));
  image.fatbin = nullptr;
  EXPECT_EQ(load(9, 0), "");
  EXPECT_THAT(getFakeDriver().loaded, ElementsAre("sm_90   ", "// text "));
  EXPECT_EQ(load(7, 5),
            "cannot load kernels for fake (sm_75): its code is for other "
            "devices, its text for sm_80 and newer");
  getFakeDriver().refused = "// text";
  getFakeDriver().log = "line 7: unknown instruction";
  EXPECT_THAT(load(12, 0),
              HasSubstr("as the test wants it: line 7: unknown instruction"));
}

TEST_F(GpuRuntimeTest, AsksForMuchSharedMemory) {
  create();
  memory = act_gpu_allocate(context, 16);
  kernel.dynamic_shared_bytes = 100 * 1024;
  EXPECT_EQ(launch(), 0);
  EXPECT_EQ(launch(), 0);
  EXPECT_THAT(getFakeDriver().sharedRequests, ElementsAre(100 * 1024));
  // Static shared memory counts as well.
  act_gpu_image other = image;
  getFakeDriver().staticShared = 40 * 1024;
  kernel.dynamic_shared_bytes = 10 * 1024;
  image = other;
  void *second = act_gpu_context_create(ACT_FAKE_DRIVER, 0);
  std::swap(context, second);
  EXPECT_EQ(launch(), 0);
  EXPECT_THAT(getFakeDriver().sharedRequests,
              ElementsAre(100 * 1024, 10 * 1024));
  act_gpu_context_destroy(second);
}

TEST_F(GpuRuntimeTest, ChecksLimits) {
  create();
  memory = act_gpu_allocate(context, 16);
  auto expectError = [&](const char *text) {
    EXPECT_EQ(launch(), 1);
    EXPECT_THAT(getError(), HasSubstr(text));
    act_gpu_context_clear_error(context);
  };
  kernel.dynamic_shared_bytes = 200 * 1024;
  expectError("the kernel 'add' expects 204800 bytes of shared memory in a "
              "block; fake has 166912");
  kernel.dynamic_shared_bytes = 0;
  kernel.grid[1] = 65536;
  expectError(
      "the kernel 'add' expects blocks in y from 1 to 65535, got 65536");
  kernel.grid[1] = 1;
  kernel.block[2] = 65;
  expectError("the kernel 'add' expects threads in z from 1 to 64, got 65");
  kernel.block[2] = 32;
  expectError("expects threads in a block from 1 to 1024, got 2048");
  kernel.block[2] = 0;
  expectError("expects threads in z from 1 to 64, got 0");
  kernel.block[2] = 1;
  act_gpu_kernel absent = kernel;
  absent.name = "missing";
  act_gpu_image incomplete = image;
  incomplete.kernels = &absent;
  EXPECT_EQ(act_gpu_launch(context, &incomplete, 0, nullptr), 1);
  EXPECT_THAT(getError(),
              HasSubstr("cannot find the kernel 'missing': CUDA_ERROR_FAKE"));
  act_gpu_context_clear_error(context);
  EXPECT_EQ(act_gpu_launch(context, &image, 1, nullptr), 1);
  EXPECT_EQ(getError(), "expects a kernel below 1, got 1");
  act_gpu_context_clear_error(context);
  EXPECT_EQ(act_gpu_launch(context, &image, 0, nullptr), 1);
  EXPECT_EQ(getError(), "the kernel 'add' expects parameters, got null");
  act_gpu_context_clear_error(context);
  getFakeDriver().launchResult = 719;
  expectError("cannot launch the kernel 'add': CUDA_ERROR_FAKE: as the test");
  getFakeDriver().launchResult = 0;
  act_gpu_image old = image;
  old.version = 7;
  EXPECT_EQ(act_gpu_load(context, &old), 1);
  EXPECT_THAT(getError(), HasSubstr("expects an image of version 1, got "
                                    "version 7"));
}

TEST_F(GpuRuntimeTest, DescribesKernels) {
  create();
  act_gpu_kernel_info info;
  getFakeDriver().staticShared = 512;
  ASSERT_EQ(act_gpu_get_kernel_info(context, &image, 0, &info), 0);
  EXPECT_EQ(info.registers, 32);
  EXPECT_EQ(info.static_shared_bytes, 512);
  EXPECT_EQ(info.local_bytes, 0);
}

//===----------------------------------------------------------------------===//
// Graphs, times, traces
//===----------------------------------------------------------------------===//

TEST_F(GpuRuntimeTest, SaysThatDriversHaveNoGraphs) {
  create();
  EXPECT_EQ(act_gpu_graph_begin(context), 1);
  EXPECT_THAT(getError(), HasSubstr("has no graphs"));
  act_gpu_context_clear_error(context);
  EXPECT_EQ(act_gpu_graph_end(context), nullptr);
  EXPECT_EQ(getError(), "no graph is being captured");
}

TEST_F(GpuRuntimeTest, MeasuresTimes) {
  create();
  double seconds = 0;
  EXPECT_EQ(act_gpu_timer_stop(context, &seconds), 1);
  act_gpu_context_clear_error(context);
  EXPECT_EQ(act_gpu_timer_start(context), 0);
  EXPECT_EQ(act_gpu_timer_stop(context, &seconds), 0);
  EXPECT_DOUBLE_EQ(seconds, 2e-3);
}

TEST_F(GpuRuntimeTest, WritesTraces) {
  create();
  memory = act_gpu_allocate(context, 16);
  std::string path = testing::TempDir() + "act_gpu_trace.json";
  EXPECT_EQ(act_gpu_trace_write(context, path.c_str()), 1);
  act_gpu_context_clear_error(context);
  EXPECT_EQ(act_gpu_trace_begin(context), 0);
  launch();
  launch();
  EXPECT_EQ(act_gpu_trace_write(context, path.c_str()), 0);
  std::ifstream file(path);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  size_t first = text.find("\"name\":\"add\"");
  EXPECT_NE(first, std::string::npos);
  EXPECT_NE(text.find("\"name\":\"add\"", first + 1), std::string::npos);
  EXPECT_THAT(text, HasSubstr("\"dur\":2000.000"));
  EXPECT_EQ(act_gpu_trace_begin(context), 0);
  EXPECT_EQ(act_gpu_trace_write(context, "/nowhere/trace.json"), 1);
  EXPECT_THAT(getError(), HasSubstr("'/nowhere/trace.json'"));
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

namespace {
const act_gpu_kernel addKernel = {
    "add", {1, 1, 1}, {32, 1, 1}, 0, 3, ACT_GPU_KERNEL_ORDER_DEPENDENT, 0};
const act_gpu_image addImage = {ACT_GPU_IMAGE_VERSION,
                                1,
                                &addKernel,
                                "// text ",
                                80,
                                0,
                                nullptr,
                                nullptr,
                                0};
/// What the step adds, and how many bytes of the arena it writes.
float addend = 0;
int64_t writtenBytes = 0;

/// y = x + addend by way of the arena.
int32_t addStep(const void *const *arguments, void *const *results, void *arena,
                void *context) {
  act_gpu_fill(context, arena, 0x11, writtenBytes);
  act_gpu_copy(context, arena, arguments[0], 16);
  void *values = arena;
  int64_t count = 4;
  void *parameters[] = {&values, &addend, &count};
  act_gpu_launch(context, &addImage, 0, parameters);
  act_gpu_copy(context, results[0], arena, 16);
  return act_gpu_context_status(context);
}

const int64_t shape[] = {4};
const act_step_value argument = {"x", ACT_STEP_F32, 1, shape, 16};
const act_step_value result = {"y", ACT_STEP_F32, 1, shape, 16};
const act_step_info stepInfo = {ACT_STEP_INFO_VERSION,
                                1,
                                1,
                                1,
                                "add",
                                addStep,
                                1024,
                                1024,
                                &argument,
                                &result};
} // namespace

TEST_F(GpuRuntimeTest, ExecutesSteps) {
  create();
  addend = 0.5f;
  writtenBytes = 1024;
  float x[] = {1, 2, 3, 4}, y[4];
  const void *arguments[] = {x};
  void *results[] = {y};
  ASSERT_EQ(act_gpu_step(context, &stepInfo, arguments, results), 0)
      << getError();
  EXPECT_THAT(y, ElementsAre(1.5f, 2.5f, 3.5f, 4.5f));
  // Memory is kept.
  int64_t allocations = getFakeDriver().allocations;
  ASSERT_EQ(act_gpu_step(context, &stepInfo, arguments, results), 0);
  EXPECT_EQ(getFakeDriver().allocations, allocations);
  act_gpu_counts counts;
  act_gpu_get_counts(context, &counts);
  EXPECT_EQ(counts.order_dependent_launches, 2);
  void *none[] = {nullptr};
  EXPECT_EQ(act_gpu_step(context, &stepInfo, none, results), 1);
  EXPECT_EQ(getError(),
            "expects argument 0 ('x') to point to 16 bytes, got null");
}

TEST_F(GpuRuntimeTest, ChecksResults) {
  create();
  addend = INFINITY;
  writtenBytes = 1024;
  float x[] = {1, 2, 3, 4}, y[4];
  const void *arguments[] = {x};
  void *results[] = {y};
  EXPECT_EQ(act_gpu_step(context, &stepInfo, arguments, results), 0);
  act_gpu_set_check(context, 1);
  EXPECT_EQ(act_gpu_step(context, &stepInfo, arguments, results), 1);
  EXPECT_EQ(getError(),
            "result 0 ('y') has the non-finite value inf at element 0");
}

TEST_F(GpuRuntimeTest, MeasuresThePeak) {
  create();
  addend = 1;
  float x[] = {1, 2, 3, 4}, y[4];
  const void *arguments[] = {x};
  void *results[] = {y};
  int64_t bytes = 0;
  for (int64_t written : {1024, 1000, 17}) {
    writtenBytes = written;
    ASSERT_EQ(
        act_gpu_measure_peak(context, &stepInfo, arguments, results, &bytes), 0)
        << getError();
    EXPECT_EQ(bytes, written);
  }
  writtenBytes = 1025;
  EXPECT_EQ(
      act_gpu_measure_peak(context, &stepInfo, arguments, results, &bytes), 1);
  EXPECT_EQ(getError(), "the step writes behind its arena of 1024 bytes");
}
