//===- DriverTest.cpp - Tests of the driver API ----------===//
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

constexpr int invalidValue = 1;
constexpr int outOfMemory = 2;
constexpr int noBinary = 209;
constexpr int invalidPtx = 218;
constexpr int notFound = 500;
constexpr int illegalAddress = 700;
constexpr int captureUnsupported = 900;
constexpr int maxDynamicShared = 8;

/// Adds `amount` to one word.
const char *const adder = R"(
.visible .entry test(.param .u64 data, .param .u32 amount) {
  .reg .b32 %r<3>; .reg .b64 %rd<2>;
  ld.param.u64 %rd0, [data]; ld.param.u32 %r0, [amount];
  ld.global.u32 %r1, [%rd0]; add.s32 %r1, %r1, %r0; st.global.u32 [%rd0], %r1;
  ret;
})";

TEST(EmulatorDriver, Device) {
  start();
  int device = -1;
  ASSERT_EQ(cuDeviceGet(&device, 0), 0);
  EXPECT_EQ(cuDeviceGet(&device, 1), 101);
  char name[64];
  ASSERT_EQ(cuDeviceGetName(name, sizeof(name), 0), 0);
  EXPECT_STREQ(name, "act GPU emulator");
  auto getAttribute = [](int attribute) {
    int value = -1;
    EXPECT_EQ(cuDeviceGetAttribute(&value, attribute, 0), 0);
    return value;
  };
  EXPECT_EQ(getAttribute(1), 1024);
  EXPECT_EQ(getAttribute(8), 49152);
  EXPECT_EQ(getAttribute(97), 163 * 1024);
  EXPECT_EQ(getAttribute(75) * 10 + getAttribute(76), 80);
  int value;
  EXPECT_EQ(cuDeviceGetAttribute(&value, 9999, 0), invalidValue);
  EXPECT_THAT(act_gpu_emulator_last_error(), HasSubstr("9999"));
}

TEST(EmulatorDriver, Memory) {
  start();
  size_t before, after, total;
  ASSERT_EQ(cuMemGetInfo_v2(&before, &total), 0);
  unsigned long long pointer;
  EXPECT_EQ(cuMemAlloc_v2(&pointer, 0), invalidValue);
  EXPECT_EQ(cuMemAlloc_v2(&pointer, total + 1), outOfMemory);
  ASSERT_EQ(cuMemAlloc_v2(&pointer, 1000), 0);
  ASSERT_EQ(cuMemGetInfo_v2(&after, &total), 0);
  EXPECT_EQ(before - after, 1024u);
  std::vector<uint8_t> bytes(1000);
  ASSERT_EQ(cuMemsetD8_v2(pointer, 7, 1000), 0);
  ASSERT_EQ(cuMemsetD32_v2(pointer + 8, 0x01020304, 2), 0);
  ASSERT_EQ(cuMemcpyDtoH_v2(bytes.data(), pointer, 1000), 0);
  EXPECT_EQ(bytes[7], 7);
  EXPECT_EQ(bytes[8], 4);
  EXPECT_EQ(bytes[15], 1);
  EXPECT_EQ(bytes[16], 7);
  EXPECT_EQ(cuMemcpyDtoH_v2(bytes.data(), pointer + 1, 1000), invalidValue);
  EXPECT_EQ(cuMemsetD32_v2(pointer + 2, 0, 1), invalidValue);
  EXPECT_EQ(cuMemFree_v2(pointer + 256), invalidValue);
  EXPECT_EQ(cuMemFree_v2(pointer), 0);
  EXPECT_EQ(cuMemFree_v2(pointer), invalidValue);
  EXPECT_EQ(cuMemcpyDtoH_v2(bytes.data(), pointer, 1), invalidValue);
}

TEST(EmulatorDriver, Images) {
  start();
  void *module;
  EXPECT_EQ(cuModuleLoadData(&module, "\x7f"
                                      "ELF\x02"),
            noBinary);
  EXPECT_EQ(cuModuleLoadData(&module, "hello"), 200);
  EXPECT_EQ(cuModuleLoadData(&module, ".version 8.0\n.entry (\n"), invalidPtx);
  EXPECT_THAT(act_gpu_emulator_last_error(), HasSubstr("PTX line 2"));
  std::string text = std::string(prologue) + adder;
  ASSERT_EQ(cuModuleLoadData(&module, text.c_str()), 0);
  void *kernel;
  EXPECT_EQ(cuModuleGetFunction(&kernel, module, "other"), notFound);
  EXPECT_EQ(cuModuleUnload(module), 0);
}

/// Unknown instructions, forms and modifiers are named with their line.
TEST(EmulatorDriver, UnsupportedInstructions) {
  start();
  auto getError = [](const std::string &instruction) {
    void *kernel = load(".visible .entry test() {\n.reg .b32 %r<9>;\n"
                        ".reg .b64 %rd<3>;\n" +
                        instruction + "\nret;\n}\n");
    EXPECT_EQ(launch(kernel, {}, 1), invalidPtx) << instruction;
    return std::string(act_gpu_emulator_last_error());
  };
  std::string text = getError("frobnicate.b32 %r0, %r1;");
  EXPECT_THAT(text, HasSubstr("unknown instruction 'frobnicate'"));
  EXPECT_THAT(text, HasSubstr("PTX line 7"));
  EXPECT_THAT(getError("add.wild.s32 %r0, %r1, %r2;"),
              HasSubstr("the modifier '.wild'"));
  EXPECT_THAT(getError("add.s32 %r0, %r1, %r99;"),
              HasSubstr("'%r99' is no register"));
  EXPECT_THAT(getError("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 "
                       "{%r0}, {%r1}, {%r2}, {%r3};"),
              HasSubstr("this form of 'mma'"));
  EXPECT_THAT(getError("atom.global.min.f32 %r0, [%rd0], %r1;"),
              HasSubstr("this form of 'atom'"));
  EXPECT_THAT(getError("bra NOWHERE;"), HasSubstr("no label 'NOWHERE'"));
  EXPECT_THAT(getError("wgmma.fence.sync.aligned;"),
              HasSubstr("unknown instruction 'wgmma'"));
}

TEST(EmulatorDriver, LaunchLimits) {
  start();
  void *kernel = load(adder);
  Buffer<uint32_t> data({0});
  uint32_t amount = 1;
  void *parameters[] = {&data.address, &amount};
  auto run = [&](unsigned gridX, unsigned gridY, unsigned block,
                 unsigned shared) {
    return cuLaunchKernel(kernel, gridX, gridY, 1, block, 1, 1, shared, nullptr,
                          parameters, nullptr);
  };
  EXPECT_EQ(run(1, 1, 1, 0), 0);
  EXPECT_EQ(run(1, 1, 1025, 0), invalidValue);
  EXPECT_THAT(act_gpu_emulator_last_error(), HasSubstr("kernel test"));
  EXPECT_EQ(run(0, 1, 1, 0), invalidValue);
  EXPECT_EQ(run(1, 65536, 1, 0), invalidValue);
  EXPECT_EQ(cuLaunchKernel(kernel, 1, 1, 1, 32, 32, 2, 0, nullptr, parameters,
                           nullptr),
            invalidValue);
  EXPECT_EQ(run(1, 1, 1, 48 << 10), 0);
  EXPECT_EQ(run(1, 1, 1, 64 << 10), invalidValue);
  EXPECT_EQ(cuFuncSetAttribute(kernel, maxDynamicShared, 164 << 10),
            invalidValue);
  EXPECT_EQ(cuFuncSetAttribute(kernel, maxDynamicShared, 100 << 10), 0);
  EXPECT_EQ(run(1, 1, 1, 64 << 10), 0);
  EXPECT_EQ(run(1, 1, 1, 101 << 10), invalidValue);
  // What one module asked for is not allowed to another with the same text.
  EXPECT_EQ(launch(load(adder), {&data.address, &amount}, 1, 1, 64 << 10),
            invalidValue);
  EXPECT_EQ(data.read()[0], 3u);
  int blocks;
  ASSERT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 512,
                                                        80 << 10),
            0);
  EXPECT_EQ(blocks, 2);
}

TEST(EmulatorDriver, RequiredSizesAndAlignment) {
  start();
  void *kernel = load(".visible .entry test(.param .u64 .ptr .global .align 16 "
                      "data)\n.reqntid 64, 1, 1\n{ ret; }\n");
  Buffer<uint32_t> data(std::vector<uint32_t>(8, 0));
  EXPECT_EQ(launch(kernel, {&data.address}, 64), 0);
  EXPECT_EQ(launch(kernel, {&data.address}, 32), invalidValue);
  EXPECT_THAT(act_gpu_emulator_last_error(), HasSubstr(".reqntid"));
  unsigned long long inside = data.address + 4;
  EXPECT_EQ(launch(kernel, {&inside}, 64), 716);
  EXPECT_THAT(act_gpu_emulator_last_error(), HasSubstr("multiples of 16"));
}

TEST(EmulatorDriver, ParametersInABuffer) {
  start();
  void *kernel = load(adder);
  Buffer<uint32_t> data({1});
  struct {
    unsigned long long data;
    uint32_t amount;
  } packed = {data.address, 41};
  size_t bytes = 12;
  void *extra[] = {reinterpret_cast<void *>(1), &packed,
                   reinterpret_cast<void *>(2), &bytes, nullptr};
  ASSERT_EQ(
      cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra), 0);
  EXPECT_EQ(data.read()[0], 42u);
  EXPECT_EQ(
      cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
      invalidValue);
}

TEST(EmulatorDriver, GraphsReplayWhatWasCaptured) {
  start();
  void *kernel = load(adder);
  Buffer<uint32_t> data({0});
  uint32_t amount = 5;
  void *parameters[] = {&data.address, &amount};
  void *stream, *other, *graph, *executable, *event;
  ASSERT_EQ(cuStreamCreate(&stream, 0), 0);
  ASSERT_EQ(cuStreamCreate(&other, 0), 0);
  ASSERT_EQ(cuEventCreate(&event, 0), 0);
  int status;
  EXPECT_EQ(cuStreamBeginCapture_v2(nullptr, 0), captureUnsupported);
  ASSERT_EQ(cuStreamBeginCapture_v2(stream, 0), 0);
  ASSERT_EQ(cuStreamIsCapturing(stream, &status), 0);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(cuStreamSynchronize(stream), captureUnsupported);
  ASSERT_EQ(cuMemsetD32Async(data.address, 100, 1, stream), 0);
  // Another stream joins by waiting for an event of the first.
  ASSERT_EQ(cuEventRecord(event, stream), 0);
  ASSERT_EQ(cuStreamWaitEvent(other, event, 0), 0);
  ASSERT_EQ(
      cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, other, parameters, nullptr),
      0);
  // Parameters are those of the capture.
  amount = 1000;
  ASSERT_EQ(cuStreamEndCapture(stream, &graph), 0);
  EXPECT_EQ(data.read()[0], 0u);
  ASSERT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), 0);
  ASSERT_EQ(cuGraphDestroy(graph), 0);
  for (int i = 0; i < 2; ++i)
    ASSERT_EQ(cuGraphLaunch(executable, stream), 0);
  EXPECT_EQ(data.read()[0], 105u);
  EXPECT_EQ(cuStreamEndCapture(stream, &graph), 903);
  EXPECT_EQ(cuGraphExecDestroy(executable), 0);
  EXPECT_EQ(cuEventDestroy_v2(event), 0);
  EXPECT_EQ(cuStreamDestroy_v2(other), 0);
  EXPECT_EQ(cuStreamDestroy_v2(stream), 0);
  EXPECT_EQ(cuStreamDestroy_v2(stream), 400);
}

TEST(EmulatorDriver, Events) {
  start();
  void *first, *second;
  ASSERT_EQ(cuEventCreate(&first, 0), 0);
  ASSERT_EQ(cuEventCreate(&second, 0), 0);
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime_v2(&milliseconds, first, second), 400);
  ASSERT_EQ(cuEventRecord(first, nullptr), 0);
  ASSERT_EQ(cuEventRecord(second, nullptr), 0);
  EXPECT_EQ(cuEventElapsedTime_v2(&milliseconds, first, second), 0);
  EXPECT_GE(milliseconds, 0);
  cuEventDestroy_v2(first);
  cuEventDestroy_v2(second);
}

TEST(EmulatorDriver, Errors) {
  const char *text;
  ASSERT_EQ(cuGetErrorName(illegalAddress, &text), 0);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  ASSERT_EQ(cuGetErrorString(illegalAddress, &text), 0);
  EXPECT_STREQ(text, "an illegal memory access was encountered");
  EXPECT_EQ(cuGetErrorName(12345, &text), invalidValue);
}

TEST(EmulatorDriver, EntryPoints) {
  void *function;
  int status = -1;
  ASSERT_EQ(cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, &status), 0);
  EXPECT_EQ(function, reinterpret_cast<void *>(&cuMemAlloc_v2));
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cuGetProcAddress_v2("cuFrobnicate", &function, 12000, 0, &status),
            notFound);
  EXPECT_EQ(status, 1);
}

/// Modules with variables do not share them.
TEST(EmulatorDriver, VariablesOfModules) {
  start();
  std::string text = std::string(prologue) +
                     ".global .align 4 .u32 counter = 5;"
                     ".visible .entry test() { ret; }";
  void *first, *second;
  ASSERT_EQ(cuModuleLoadData(&first, text.c_str()), 0);
  ASSERT_EQ(cuModuleLoadData(&second, text.c_str()), 0);
  unsigned long long pointers[2];
  size_t bytes;
  ASSERT_EQ(cuModuleGetGlobal_v2(&pointers[0], &bytes, first, "counter"), 0);
  ASSERT_EQ(cuModuleGetGlobal_v2(&pointers[1], &bytes, second, "counter"), 0);
  EXPECT_EQ(bytes, 4u);
  EXPECT_NE(pointers[0], pointers[1]);
  uint32_t value;
  ASSERT_EQ(cuMemcpyDtoH_v2(&value, pointers[1], 4), 0);
  EXPECT_EQ(value, 5u);
}

/// Without checks, addresses that are no memory are errors of the kernel, too.
TEST(EmulatorDriver, WildAddressesWithoutChecks) {
  start();
  void *kernel = load(adder);
  ASSERT_EQ(act_gpu_emulator_configure("check=0"), 0);
  unsigned long long nowhere = 64;
  uint32_t amount = 1;
  EXPECT_EQ(launch(kernel, {&nowhere, &amount}, 1), illegalAddress);
  EXPECT_THAT(act_gpu_emulator_last_error(), HasSubstr("address 0x40"));
  Buffer<uint32_t> data({1});
  EXPECT_EQ(launch(kernel, {&data.address, &amount}, 1), 0);
  EXPECT_EQ(data.read()[0], 2u);
}

TEST(EmulatorDriver, UseAfterFree) {
  start();
  void *kernel = load(adder);
  unsigned long long freed;
  ASSERT_EQ(cuMemAlloc_v2(&freed, 64), 0);
  ASSERT_EQ(cuMemFree_v2(freed), 0);
  uint32_t amount = 1;
  EXPECT_EQ(launch(kernel, {&freed, &amount}, 1), illegalAddress);
  EXPECT_THAT(
      act_gpu_emulator_last_error(),
      HasSubstr("kernel test, block (0,0,0), thread (0,0,0): read after "
                "free: offset 0 of the 64-byte buffer"));
  EXPECT_THAT(act_gpu_emulator_last_error(),
              HasSubstr("at PTX line 8 of test: ld.global.u32"));
}

TEST(EmulatorDriver, Options) {
  EXPECT_EQ(act_gpu_emulator_configure("verbose=0"), 0);
  EXPECT_EQ(act_gpu_emulator_configure("schedule=sideways"), invalidValue);
  EXPECT_THAT(act_gpu_emulator_last_error(), HasSubstr("schedule=sideways"));
  EXPECT_EQ(act_gpu_emulator_configure("colour=red"), invalidValue);
  EXPECT_EQ(act_gpu_emulator_configure("workers=0"), invalidValue);
}

} // namespace
