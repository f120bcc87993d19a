//===- Options.cpp - Options of the emulator ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>

using namespace llvm;

namespace act::emulator {

static Error reject(StringRef item, const Twine &expected) {
  return createStringError("expects " + expected + ", got '" + item + "'");
}

static Error parseSchedule(StringRef item, StringRef value, Options &options) {
  auto [name, seed] = value.split(':');
  if (name == "forward" && seed.empty()) {
    options.schedule = Schedule::Forward;
    return Error::success();
  }
  if (name == "reverse" && seed.empty()) {
    options.schedule = Schedule::Reverse;
    return Error::success();
  }
  if (name != "random" ||
      (!seed.empty() && seed.getAsInteger(10, options.seed)))
    return reject(item, "schedule=forward, reverse, random or random:SEED");
  options.schedule = Schedule::Random;
  return Error::success();
}

static Error parseFlag(StringRef item, StringRef value, bool &flag) {
  if (value != "0" && value != "1")
    return reject(item, "0 or 1");
  flag = value == "1";
  return Error::success();
}

template <typename Integer>
static Error parseInteger(StringRef item, StringRef value, Integer least,
                          Integer most, Integer &result) {
  Integer number;
  if (value.getAsInteger(10, number) || number < least || number > most)
    return reject(item,
                  "an integer from " + Twine(least) + " to " + Twine(most));
  result = number;
  return Error::success();
}

static Error parseItem(StringRef item, Options &options) {
  auto [key, value] = item.split('=');
  if (key == "check")
    return parseFlag(item, value, options.check);
  if (key == "uninitialized")
    return parseFlag(item, value, options.uninitialized);
  if (key == "verbose")
    return parseFlag(item, value, options.verbose);
  if (key == "schedule")
    return parseSchedule(item, value, options);
  if (key == "workers")
    return parseInteger(item, value, 1u, 64u, options.workers);
  if (key == "capability")
    return parseInteger(item, value, 50u, 129u, options.computeCapability);
  if (key == "stack")
    return parseInteger<uint64_t>(item, value, 16384, 1 << 24,
                                  options.stackBytes);
  if (key == "memory")
    return parseInteger<uint64_t>(item, value, 1 << 20, uint64_t(1) << 40,
                                  options.memoryBytes);
  if (key == "statistics") {
    options.statistics = !value.empty() && value != "0";
    options.statisticsFile = value == "0" || value == "1" ? "" : value.str();
    return Error::success();
  }
  if (key == "watchdog") {
    double seconds;
    if (value.getAsDouble(seconds) || !(seconds >= 0))
      return reject(item, "watchdog=SECONDS");
    options.watchdogSeconds = seconds;
    return Error::success();
  }
  return reject(item, "check, uninitialized, verbose, schedule, workers, "
                      "capability, stack, memory, statistics or watchdog");
}

Error parseOptions(StringRef text, Options &options) {
  Options changed = options;
  SmallVector<StringRef> items;
  text.split(items, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef item : items)
    if (Error error = parseItem(item.trim(), changed))
      return error;
  options = changed;
  return Error::success();
}

static Options readEnvironment() {
  Options options;
  const char *text = std::getenv("ACT_GPU_EMULATOR");
  if (!text)
    return options;
  if (Error error = parseOptions(text, options))
    errs() << "act-gpu-emulator: error: ACT_GPU_EMULATOR "
           << toString(std::move(error)) << "\n";
  return options;
}

Options &getOptions() {
  static Options options = readEnvironment();
  return options;
}

} // namespace act::emulator
