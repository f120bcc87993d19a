//===- Device.cpp - Small programs on the emulator ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Device.h"
#include "act-c/GpuEmulator.h"

using namespace act::emulator::test;

const char *const act::emulator::test::prologue =
    ".version 8.0\n.target sm_80\n.address_size 64\n";

void act::emulator::test::start() {
  ASSERT_EQ(act_gpu_emulator_configure(
                "verbose=0,check=1,schedule=forward,workers=1,statistics=0"),
            0);
  ASSERT_EQ(cuInit(0), 0);
}

void *act::emulator::test::load(const std::string &text) {
  void *module = nullptr;
  void *kernel = nullptr;
  std::string whole = prologue + text;
  EXPECT_EQ(cuModuleLoadData(&module, whole.c_str()), 0)
      << act_gpu_emulator_last_error();
  if (module)
    EXPECT_EQ(cuModuleGetFunction(&kernel, module, "test"), 0)
        << act_gpu_emulator_last_error();
  return kernel;
}

int act::emulator::test::launch(void *kernel, std::vector<void *> parameters,
                                unsigned threads, unsigned blocks,
                                unsigned sharedBytes) {
  return cuLaunchKernel(kernel, blocks, 1, 1, threads, 1, 1, sharedBytes,
                        nullptr, parameters.data(), nullptr);
}

std::vector<uint64_t>
act::emulator::test::evaluate(const std::string &instructions,
                              const std::vector<std::vector<uint64_t>> &inputs,
                              unsigned inputBits, unsigned outputBits) {
  start();
  std::string parameters = ".param .u64 out";
  std::string loads;
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string number = std::to_string(i);
    parameters += ", .param .u64 in" + number;
    loads += "ld.param.u64 %p, [in" + number + "];\nadd.s64 %p, %p, %o;\n" +
             "ld.global.b" + std::to_string(inputBits) + " %a" + number +
             ", [%p];\n";
  }
  // All elements take 8 bytes, whatever their type.
  std::string text =
      ".visible .entry test(" + parameters +
      ") {\n.reg .b64 %p, %o;\n.reg .b32 %i;\n.reg .b" +
      std::to_string(inputBits) + " %a<3>;\n.reg .b" +
      std::to_string(outputBits) +
      " %d;\n.reg .pred %q<4>;\n.reg .b16 %h<4>;\n.reg .b32 %r<4>;\n"
      ".reg .b64 %l<4>;\nmov.u32 %i, %tid.x;\nmul.wide.u32 %o, %i, 8;\n" +
      loads + instructions +
      "\nld.param.u64 %p, [out];\nadd.s64 %p, %p, %o;\nst.global.b" +
      std::to_string(outputBits) + " [%p], %d;\nret;\n}\n";
  void *kernel = load(text);
  size_t count = inputs.front().size();
  Buffer<uint64_t> output(std::vector<uint64_t>(count, 0));
  std::vector<std::unique_ptr<Buffer<uint64_t>>> buffers;
  std::vector<void *> arguments{&output.address};
  for (const auto &input : inputs) {
    buffers.push_back(std::make_unique<Buffer<uint64_t>>(input));
    arguments.push_back(&buffers.back()->address);
  }
  EXPECT_EQ(launch(kernel, arguments, count), 0)
      << act_gpu_emulator_last_error() << "\n"
      << text;
  return output.read();
}
