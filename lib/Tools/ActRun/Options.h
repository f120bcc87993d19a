//===- Options.h - Options of act-run -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ACT_TOOLS_ACTRUN_OPTIONS_H
#define LIB_ACT_TOOLS_ACTRUN_OPTIONS_H

#include "mlir/Support/LLVM.h"
#include <optional>
#include <string>

namespace mlir::act::run {

/// What act-run writes instead of executing the step.
enum class Emit { Nothing, Object, LLVMIR, LLVMDialect, Kernels, Linalg };

struct Options {
  std::string input;
  std::string output;
  std::string header;
  std::string symbol;
  Emit emit = Emit::Nothing;
  std::string cpu;
  bool sanitize = false;
  int64_t threads = 0;
  /// Options of act-compress; nothing if the step is not compressed.
  std::optional<std::string> compress;

  std::string arguments;
  bool randomArguments = false;
  uint64_t seed = 0;
  std::string results;
  std::string compare;
  std::optional<double> tolerance;
  /// Number of timed executions.
  std::optional<int64_t> time;
  bool peak = false;
  std::string trace;
  bool check = false;
};

/// Reads the command line; a message says what is wrong with it.
FailureOr<Options> parseOptions(int argc, char **argv);

} // namespace mlir::act::run

#endif // LIB_ACT_TOOLS_ACTRUN_OPTIONS_H
