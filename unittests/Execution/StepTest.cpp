//===- StepTest.cpp - Tests of loading and executing steps ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act-c/Step.h"
#include "act/Execution/ObjectFiles.h"
#include "act/Execution/StepCompiler.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::execution;
using testing::HasSubstr;

namespace {

std::unique_ptr<MLIRContext> makeContext() {
  DialectRegistry registry;
  registry.insert<LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  return std::make_unique<MLIRContext>(registry);
}

std::string makePath(StringRef suffix) {
  SmallString<128> path;
  EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("act", suffix, path));
  return path.str().str();
}

/// Executes test/act-run/Inputs/step.mlir through the C functions.
class StepTest : public testing::Test {
protected:
  static void SetUpTestSuite() {
    std::unique_ptr<MLIRContext> context = makeContext();
    auto module = parseSourceFile<ModuleOp>(ACT_TEST_STEP, context.get());
    ASSERT_TRUE(module);
    CompileOptions options;
    auto archive = compileStep(*module, options);
    ASSERT_TRUE(succeeded(archive));
    path = new std::string(makePath("a"));
    ASSERT_FALSE(llvm::errorToBool(
        writeObjectFile((*archive)->getMemBufferRef(), *path)));
  }
  static void TearDownTestSuite() {
    llvm::sys::fs::remove(*path);
    delete path;
  }

  void SetUp() override {
    step = act_step_load(path->c_str(), "step", 2, reason, sizeof(reason));
    ASSERT_NE(step, nullptr) << reason;
    for (int i = 0; i < 12; ++i)
      x[i] = static_cast<float>(i) / 10;
  }
  void TearDown() override { act_step_destroy(step); }

  bool execute() {
    return act_step_execute(step, arguments, results, reason, sizeof(reason));
  }

  static std::string *path;
  char reason[512] = "";
  act_step *step = nullptr;
  float x[12], offset = 0.5f, loss = 0, y[12] = {};
  const void *arguments[2] = {x, &offset};
  void *results[2] = {&loss, y};
};
std::string *StepTest::path = nullptr;

TEST_F(StepTest, Executes) {
  const act_step_info *info = act_step_get_info(step);
  EXPECT_STREQ(info->name, "main");
  EXPECT_EQ(info->num_arguments, 2);
  EXPECT_EQ(info->arguments[0].rank, 2);
  EXPECT_EQ(info->arguments[0].shape[1], 3);
  EXPECT_EQ(info->arguments[1].shape, nullptr);
  EXPECT_EQ(info->arena_bytes, 48);
  EXPECT_EQ(act_step_get_threads(step), 2);
  for (int i = 0; i < 3; ++i) {
    y[11] = 0;
    ASSERT_TRUE(execute()) << reason;
    EXPECT_FLOAT_EQ(y[11], std::exp(2.2f) + 0.5f);
  }
}

TEST_F(StepTest, WorksInAnArenaOfTheCaller) {
  alignas(64) char arena[64];
  ASSERT_TRUE(act_step_set_arena(step, arena, 48, reason, sizeof(reason)));
  ASSERT_TRUE(execute()) << reason;
  float doubled;
  std::memcpy(&doubled, arena + 44, sizeof(float));
  EXPECT_FLOAT_EQ(doubled, 2.2f);
}

TEST_F(StepTest, RejectsArenas) {
  alignas(64) char arena[128];
  auto set = [&](void *memory, int64_t bytes) {
    return act_step_set_arena(step, memory, bytes, reason, sizeof(reason));
  };
  EXPECT_FALSE(set(arena, 47));
  EXPECT_STREQ(reason, "expects an arena of 48 bytes, got 47");
  EXPECT_FALSE(set(nullptr, 48));
  EXPECT_STREQ(reason, "expects an arena, got null");
  EXPECT_FALSE(set(arena + 32, 64));
  EXPECT_STREQ(reason, "expects an arena aligned to 64 bytes");
  EXPECT_TRUE(execute()) << reason;
}

TEST_F(StepTest, RejectsBuffers) {
  arguments[1] = nullptr;
  EXPECT_FALSE(execute());
  EXPECT_STREQ(reason, "expects argument 1 ('offset') to point to 4 bytes, got "
                       "null");
  arguments[1] = reinterpret_cast<char *>(x) + 1;
  EXPECT_FALSE(execute());
  EXPECT_STREQ(reason, "expects argument 1 ('offset') to be aligned to its "
                       "elements of 4 bytes");
  arguments[1] = &offset;
  results[1] = nullptr;
  EXPECT_FALSE(execute());
  EXPECT_THAT(reason, HasSubstr("expects result 1 ('y') to point to 48 bytes"));
}

TEST_F(StepTest, RejectsOverlap) {
  results[1] = x;
  EXPECT_FALSE(execute());
  EXPECT_THAT(reason, HasSubstr("argument 0 and result 1 overlap"));
  results[1] = y;
  results[0] = y + 11;
  EXPECT_FALSE(execute());
  EXPECT_THAT(reason, HasSubstr("result 1 and result 0 overlap"));
  results[0] = &loss;
  alignas(64) float arena[32];
  ASSERT_TRUE(act_step_set_arena(step, arena, 48, reason, sizeof(reason)));
  results[1] = arena + 11;
  EXPECT_FALSE(execute());
  EXPECT_THAT(reason, HasSubstr("the arena and result 1 overlap"));
  // Beside each other is fine, and so are arguments that overlap.
  results[1] = arena + 12;
  arguments[1] = x + 3;
  EXPECT_TRUE(execute()) << reason;
}

TEST_F(StepTest, MeasuresThePeak) {
  // The last element of the arena is twice that of x; the other values are what
  // the arena is filled with before.
  for (uint32_t bits : {0x40000000u, 0xa5a5a5a5u, 0x5a5a5a5au}) {
    x[11] = llvm::bit_cast<float>(bits) / 2;
    int64_t bytes = 0;
    ASSERT_TRUE(act_step_measure_peak(step, arguments, results, &bytes, reason,
                                      sizeof(reason)))
        << reason;
    EXPECT_EQ(bytes, 48);
  }
}

TEST_F(StepTest, ChecksResults) {
  x[11] = 1e30f;
  EXPECT_TRUE(execute());
  act_step_set_check(step, true);
  EXPECT_FALSE(execute());
  EXPECT_STREQ(reason,
               "'result 1, y' has the non-finite value inf at element 11");
  // The error is gone with its cause.
  x[11] = 1;
  EXPECT_TRUE(execute()) << reason;
}

TEST_F(StepTest, WritesTraces) {
  std::string trace = makePath("json");
  EXPECT_TRUE(act_step_trace(step, arguments, results, trace.c_str(), reason,
                             sizeof(reason)));
  auto text = llvm::MemoryBuffer::getFile(trace);
  EXPECT_THAT((*text)->getBuffer().str(), HasSubstr("\"name\":\"shift\""));
  llvm::sys::fs::remove(trace);
  EXPECT_FALSE(act_step_trace(step, arguments, results, "/nonexistent/x.json",
                              reason, sizeof(reason)));
  EXPECT_THAT(reason, HasSubstr("/nonexistent/x.json"));
  EXPECT_TRUE(execute()) << reason;
}

TEST_F(StepTest, SaysWhyItCannotLoad) {
  auto load = [&](const char *file, const char *name) {
    act_step *loaded = act_step_load(file, name, 1, reason, sizeof(reason));
    EXPECT_EQ(loaded, nullptr);
    act_step_destroy(loaded);
    return StringRef(reason).str();
  };
  EXPECT_THAT(load("/nonexistent/step.o", "step"),
              HasSubstr("cannot read '/nonexistent/step.o'"));
  EXPECT_THAT(load(path->c_str(), "other"),
              HasSubstr("cannot load the step 'other'"));
  EXPECT_THAT(load(ACT_TEST_STEP, "step"),
              HasSubstr("expects an object file or an archive"));
  // A reason that does not fit is cut off, one that is not wanted is not there.
  char small[8];
  EXPECT_EQ(act_step_load("/nonexistent", "step", 1, small, sizeof(small)),
            nullptr);
  EXPECT_STREQ(small, "cannot ");
  EXPECT_EQ(act_step_load("/nonexistent", "step", 1, nullptr, 0), nullptr);
}

/// A module with a step that calls `count` kernels, each of some thousand
/// instructions that all start from a helper.
std::string makeLargeModule(int count) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "module attributes {act.step = {name = \"main\", arena_bytes = 0, "
        "bound_bytes = 0, kernels = "
     << count << ", arguments = [], results = [{type = tensor<" << count
     << "xf32>}]}} {\n"
        "llvm.func @act_cpu_launch(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, "
        "i64, i64)\n"
        "llvm.mlir.global private constant @small(dense<2.0> : tensor<4xf32>) "
        ": !llvm.array<4 x f32>\n"
        "llvm.mlir.global private constant @large(dense<3.0> : "
        "tensor<4096xf32>) : !llvm.array<4096 x f32>\n"
        "llvm.mlir.global internal @variable(1.0 : f32) : f32\n"
        "llvm.func internal @helper(%x: f32) -> f32 {\n"
        "  %p = llvm.mlir.addressof @small : !llvm.ptr\n"
        "  %s = llvm.load %p : !llvm.ptr -> f32\n"
        "  %y = llvm.fmul %x, %s : f32\n"
        "  llvm.return %y : f32\n}\n";
  for (int k = 0; k < count; ++k) {
    os << "llvm.func internal @k" << k
       << "(%b: !llvm.ptr, %begin: i64, %end: i64) {\n"
          "  %o = llvm.load %b : !llvm.ptr -> !llvm.ptr\n"
          "  %to = llvm.getelementptr %o["
       << k
       << "] : (!llvm.ptr) -> !llvm.ptr, f32\n"
          "  %large = llvm.mlir.addressof @large : !llvm.ptr\n"
          "  %variable = llvm.mlir.addressof @variable : !llvm.ptr\n"
          "  %l = llvm.load %large : !llvm.ptr -> f32\n"
          "  %v = llvm.load %variable : !llvm.ptr -> f32\n"
          "  %c = llvm.mlir.constant("
       << k
       << ".0 : f32) : f32\n"
          "  %a0 = llvm.call @helper(%c) : (f32) -> f32\n"
          "  %a1 = llvm.fadd %a0, %l : f32\n"
          "  %x0 = llvm.fadd %a1, %v : f32\n";
    for (int i = 0; i < 1000; ++i)
      os << "  %x" << i + 1 << " = llvm.f" << (i % 2 ? "sub" : "add") << " %x"
         << i << ", %l : f32\n";
    os << "  llvm.store %x1000, %to : f32, !llvm.ptr\n  llvm.return\n}\n";
  }
  os << "llvm.func @main(%0: !llvm.ptr, %r: !llvm.ptr, %2: !llvm.ptr, "
        "%context: "
        "!llvm.ptr) -> i32 {\n"
        "  %zero = llvm.mlir.constant(0 : i32) : i32\n"
        "  %one = llvm.mlir.constant(1 : i64) : i64\n"
        "  %null = llvm.mlir.zero : !llvm.ptr\n";
  for (int k = 0; k < count; ++k)
    os << "  %k" << k << " = llvm.mlir.addressof @k" << k
       << " : !llvm.ptr\n  llvm.call @act_cpu_launch(%context, %null, %k" << k
       << ", %r, %one, %one) : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, "
          "i64, i64) -> ()\n";
  os << "  llvm.return %zero : i32\n}\n}\n";
  return text;
}

TEST(StepCompilerTest, PartsFitTogether) {
  constexpr int count = 40;
  std::unique_ptr<MLIRContext> context = makeContext();
  auto module =
      parseSourceString<ModuleOp>(makeLargeModule(count), context.get());
  ASSERT_TRUE(module);
  CompileOptions options;
  options.symbol = "large";
  auto archive = compileStep(*module, options);
  ASSERT_TRUE(succeeded(archive));
  // Several objects, the same on one thread.
  EXPECT_THAT((*archive)->getBuffer().str(), HasSubstr("large.7.o"));
  options.threads = 1;
  auto again = compileStep(*module, options);
  ASSERT_TRUE(succeeded(again));
  EXPECT_EQ((*archive)->getBuffer(), (*again)->getBuffer());

  std::string path = makePath("o");
  for (StringRef suffix : {"", ".a"}) {
    std::string file = path + suffix.str();
    ASSERT_FALSE(llvm::errorToBool(
        writeObjectFile((*archive)->getMemBufferRef(), file)));
    char reason[512] = "";
    act_step *step =
        act_step_load(file.c_str(), "large", 1, reason, sizeof(reason));
    ASSERT_NE(step, nullptr) << reason;
    float result[count] = {};
    void *results[] = {result};
    ASSERT_TRUE(
        act_step_execute(step, nullptr, results, reason, sizeof(reason)))
        << reason;
    for (int k = 0; k < count; ++k)
      EXPECT_EQ(result[k], 2.0f * k + 3 + 1);
    act_step_destroy(step);
    llvm::sys::fs::remove(file);
  }
}

} // namespace
