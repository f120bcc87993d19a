//===- Options.h - Options of act-run -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ACT_TOOLS_ACTRUN_OPTIONS_H
#define LIB_ACT_TOOLS_ACTRUN_OPTIONS_H

#include "act/Pipelines/GpuPipelines.h"
#include "mlir/Support/LLVM.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir::act::run {

/// What executes the step.
enum class Target { CPU, CUDA, Emulator };

/// What act-run writes instead of executing the step. From `GPU` on it is for
/// GPUs: the module with lowered kernels, their text, machine code for one chip
/// or several, and the list of kernels.
enum class Emit {
  Nothing,
  Object,
  LLVMIR,
  LLVMDialect,
  Kernels,
  Linalg,
  GPU,
  PTX,
  Cubin,
  Fatbin,
  Manifest
};

struct Options {
  std::string input;
  std::string output;
  std::string header;
  std::string symbol;
  Emit emit = Emit::Nothing;
  Target target = Target::CPU;
  /// GPUs to compile for.
  std::vector<std::string> chips;
  /// How products of f32 are computed on GPUs.
  GpuMath math = GpuMath::Ieee;
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
  /// Compare with the results of the same step on the CPU.
  bool compareWithCPU = false;
  /// Execute under several schedules of the emulator.
  bool schedules = false;
  /// Folder for what utils/gpu-check.sh compares a GPU with.
  std::string record;
  std::optional<double> tolerance;
  /// Number of timed executions.
  std::optional<int64_t> time;
  bool peak = false;
  std::string trace;
  bool check = false;
};

/// Whether the step is lowered for GPUs.
bool isForGPU(const Options &options);

/// Reads the command line; a message says what is wrong with it.
FailureOr<Options> parseOptions(int argc, char **argv);

} // namespace mlir::act::run

#endif // LIB_ACT_TOOLS_ACTRUN_OPTIONS_H
