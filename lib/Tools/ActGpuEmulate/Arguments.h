//===- Arguments.h - Arguments of kernels -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_TOOLS_ACTGPUEMULATE_ARGUMENTS_H
#define ACT_LIB_TOOLS_ACTGPUEMULATE_ARGUMENTS_H

#include "act/Tools/ActRun/Array.h"

namespace mlir::act::emulate {

/// What --arg says of a parameter of the kernel.
struct Argument {
  enum class Kind {
    /// TYPE=VALUE
    Scalar,
    /// in:FILE, inout:FILE[:RESULT]
    File,
    /// out:TYPE[:RESULT], not initialised; zero:TYPE[:RESULT]
    Output,
    /// expect:FILE[:TOLERANCE]: an output like the file, compared with it
    Expected
  };
  Kind kind = Kind::Scalar;
  /// The scalar, what the buffer contains at first, or what is expected.
  run::Array array;
  bool isInitialized = false;
  /// Whether the contents are printed or written afterwards.
  bool isResult = false;
  /// Where to write the result; printed if empty.
  std::string resultFile;
  /// Largest relative error of what is expected.
  double tolerance = 0;
};

/// Parses the text of --arg, and reads its file.
llvm::Expected<Argument> parseArgument(StringRef text);

/// Prints, writes or compares what a buffer contains after the launch.
llvm::Error finishArgument(const Argument &argument, size_t number,
                           const run::Array &contents);

} // namespace mlir::act::emulate

#endif // ACT_LIB_TOOLS_ACTGPUEMULATE_ARGUMENTS_H
