//===- ContextTest.cpp - Tests of contexts, launches and traces ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elements.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <thread>

using namespace act::step::test;
using testing::HasSubstr;
using testing::StrEq;

/// Counts how often each unit runs.
static void countUnits(void *const *buffers, int64_t begin, int64_t end) {
  auto *counts = static_cast<std::atomic<int> *>(buffers[0]);
  for (int64_t i = begin; i < end; ++i)
    ++counts[i];
}

TEST(Context, CountsTheCallingThread) {
  ContextOwner three(act_cpu_context_create(3));
  EXPECT_EQ(act_cpu_context_threads(three.get()), 3);
  ContextOwner automatic(act_cpu_context_create(0));
  EXPECT_GE(act_cpu_context_threads(automatic.get()), 1);
  EXPECT_EQ(act_cpu_context_threads(nullptr), 0);
}

TEST(Launch, RunsEveryUnitOnce) {
  for (int64_t threads : {1, 2, 3, 5}) {
    ContextOwner context(act_cpu_context_create(threads));
    for (int64_t count : {0, 1, 2, 7, 64, 1001})
      for (int64_t grain : {1, 3, 64, 5000}) {
        std::vector<std::atomic<int>> counts(size_t(count) + 1);
        void *buffers[] = {counts.data()};
        act_cpu_launch(context.get(), "count", countUnits, buffers, count,
                       grain);
        for (int64_t i = 0; i < count; ++i)
          ASSERT_EQ(counts[size_t(i)], 1)
              << "unit " << i << " of " << count << ", grain " << grain;
        ASSERT_EQ(counts[size_t(count)], 0);
      }
    EXPECT_EQ(act_cpu_context_status(context.get()), 0);
  }
}

/// Many launches in a row, some of them after the workers fell asleep: no
/// launch returns before all of it is done.
TEST(Launch, WaitsForAllPieces) {
  ContextOwner context(act_cpu_context_create(4));
  std::vector<std::atomic<int>> counts(256);
  void *buffers[] = {counts.data()};
  for (int launch = 1; launch <= 3000; ++launch) {
    act_cpu_launch(context.get(), "count", countUnits, buffers, 256, 1);
    for (std::atomic<int> &count : counts)
      ASSERT_EQ(count, launch);
    if (launch % 300 == 0)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// Records the extents of pieces and the threads that run them.
namespace {
struct PieceLog {
  std::mutex mutex;
  std::vector<int64_t> sizes;
  std::set<std::thread::id> threads;
};
} // namespace

static void logPiece(void *const *buffers, int64_t begin, int64_t end) {
  auto *log = static_cast<PieceLog *>(buffers[0]);
  std::lock_guard<std::mutex> lock(log->mutex);
  log->sizes.push_back(end - begin);
  log->threads.insert(std::this_thread::get_id());
}

TEST(Launch, KeepsPiecesAboveTheGrain) {
  ContextOwner context(act_cpu_context_create(4));
  PieceLog log;
  void *buffers[] = {&log};
  act_cpu_launch(context.get(), "log", logPiece, buffers, 1000, 300);
  EXPECT_EQ(log.sizes.size(), 3u);
  for (int64_t size : log.sizes)
    EXPECT_GE(size, 300);
}

TEST(Launch, RunsSmallWorkOnTheCallingThread) {
  ContextOwner context(act_cpu_context_create(4));
  PieceLog log;
  void *buffers[] = {&log};
  act_cpu_launch(context.get(), "log", logPiece, buffers, 300, 300);
  EXPECT_EQ(log.sizes, std::vector<int64_t>{300});
  EXPECT_EQ(log.threads, std::set<std::thread::id>{std::this_thread::get_id()});
}

TEST(Launch, RefusesWhatMakesNoSense) {
  ContextOwner context(act_cpu_context_create(2));
  act_cpu_launch(context.get(), "bad", countUnits, nullptr, -1, 0);
  EXPECT_EQ(act_cpu_context_status(context.get()), 1);
  EXPECT_THAT(act_cpu_context_error(context.get()),
              StrEq("'bad' expects a kernel, a count of at least 0 and a grain "
                    "of at least 1, got count -1 and grain 0"));
}

TEST(Launch, DoesNothingAfterAnError) {
  ContextOwner context(act_cpu_context_create(2));
  PieceLog log;
  void *buffers[] = {&log};
  act_cpu_report_error(context.get(), "first");
  act_cpu_report_error(context.get(), "second");
  act_cpu_launch(context.get(), "log", logPiece, buffers, 8, 1);
  EXPECT_TRUE(log.sizes.empty());
  EXPECT_STREQ(act_cpu_context_error(context.get()), "first");
  act_cpu_context_clear_error(context.get());
  EXPECT_STREQ(act_cpu_context_error(context.get()), nullptr);
  act_cpu_launch(context.get(), "log", logPiece, buffers, 8, 8);
  EXPECT_EQ(log.sizes.size(), 1u);
}

TEST(Launch, SurvivesANullContext) {
  testing::internal::CaptureStderr();
  act_cpu_launch(nullptr, "lost", countUnits, nullptr, 1, 1);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("'lost' is called without a context"));
  EXPECT_EQ(act_cpu_context_status(nullptr), 1);
}

TEST(Check, FindsTheFirstNonFiniteValue) {
  struct Case {
    int64_t dtype;
    double value;
    const char *text;
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (Case test : {Case{ACT_CPU_F32, infinity, "inf"},
                    {ACT_CPU_F64, -infinity, "-inf"},
                    {ACT_CPU_BF16, NAN, "nan"},
                    {ACT_CPU_F16, infinity, "inf"}}) {
    Array values(test.dtype, 3000);
    values.fill(1);
    ContextOwner context(act_cpu_context_create(1));
    act_cpu_set_check(context.get(), 1);
    act_cpu_check_values(context.get(), "x", test.dtype, values.data(), 3000);
    EXPECT_STREQ(act_cpu_context_error(context.get()), nullptr);
    values.set(2047, test.value);
    values.set(2500, test.value);
    act_cpu_check_values(context.get(), "x", test.dtype, values.data(), 3000);
    EXPECT_EQ(std::string(act_cpu_context_error(context.get())),
              std::string("'x' has the non-finite value ") + test.text +
                  " at element 2047");
  }
}

TEST(Check, IsOffAtFirst) {
  ContextOwner context(act_cpu_context_create(1));
  float value = NAN;
  act_cpu_check_values(context.get(), "x", ACT_CPU_F32, &value, 1);
  EXPECT_STREQ(act_cpu_context_error(context.get()), nullptr);
  act_cpu_set_check(context.get(), 1);
  act_cpu_check_values(context.get(), "x", 9, &value, 1);
  EXPECT_THAT(act_cpu_context_error(context.get()),
              HasSubstr("expects an element type from 0 to 3, got 9"));
}

static std::string readFile(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

static int64_t countText(const std::string &text, const std::string &part) {
  int64_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(Trace, HasOneEventForEachLaunch) {
  ContextOwner context(act_cpu_context_create(2));
  std::vector<std::atomic<int>> counts(64);
  void *buffers[] = {counts.data()};
  act_cpu_launch(context.get(), "before", countUnits, buffers, 64, 1);
  act_cpu_trace_begin(context.get());
  act_cpu_launch(context.get(), "quote\"d", countUnits, buffers, 64, 1);
  act_cpu_launch(context.get(), "again", countUnits, buffers, 64, 64);
  std::string path = testing::TempDir() + "act_step_trace.json";
  ASSERT_EQ(act_cpu_trace_write(context.get(), path.c_str()), 0);
  act_cpu_launch(context.get(), "after", countUnits, buffers, 64, 1);
  std::string text = readFile(path);
  std::remove(path.c_str());
  EXPECT_EQ(countText(text, "\"cat\":\"launch\""), 2);
  EXPECT_THAT(text, HasSubstr("{\"name\":\"quote\\\"d\",\"cat\":\"launch\","
                              "\"ph\":\"X\",\"pid\":0,\"tid\":0,\"ts\":"));
  EXPECT_EQ(countText(text, "before") + countText(text, "after"), 0);
}

TEST(Trace, SaysThatAFileCannotBeWritten) {
  ContextOwner context(act_cpu_context_create(1));
  act_cpu_trace_begin(context.get());
  EXPECT_EQ(act_cpu_trace_write(context.get(), "/nonexistent/trace.json"), 1);
  EXPECT_STREQ(act_cpu_context_error(context.get()),
               "cannot write the trace to '/nonexistent/trace.json'");
}
