//===- BuildStep.h - Compiling the step of act-run -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ACT_TOOLS_ACTRUN_BUILDSTEP_H
#define LIB_ACT_TOOLS_ACTRUN_BUILDSTEP_H

#include "Options.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"

namespace mlir::act::run {

/// The file of the step, parsed when that is needed: a step that is in the
/// cache is not.
class StepSource {
public:
  static FailureOr<StepSource> open(StringRef path, MLIRContext &context);

  StringRef getText() const { return buffer->getBuffer(); }
  /// Null if the file cannot be parsed.
  OwningOpRef<ModuleOp> parse() const;
  MLIRContext &getContext() const { return *context; }

private:
  StepSource(std::unique_ptr<llvm::MemoryBuffer> buffer, MLIRContext &context)
      : buffer(std::move(buffer)), context(&context) {}

  std::unique_ptr<llvm::MemoryBuffer> buffer;
  MLIRContext *context;
};

/// What compileStep makes of a step.
struct BuiltStep {
  std::unique_ptr<llvm::MemoryBuffer> archive;
  /// The C header for it.
  std::string header;
  std::string symbol;
  bool isCached = false;
  /// Seconds; 0 if the step was in the cache.
  double lowering = 0;
  double compiling = 0;
};

/// The step as a module in the LLVM dialect with the attribute `act.step`.
FailureOr<OwningOpRef<ModuleOp>> lowerStep(const StepSource &source,
                                           const Options &options);

/// Compiles the step, unless it is in the cache.
FailureOr<BuiltStep> buildStep(const StepSource &source,
                               const Options &options);

/// Writes what options.emit says.
LogicalResult emitStep(const StepSource &source, const Options &options);

} // namespace mlir::act::run

#endif // LIB_ACT_TOOLS_ACTRUN_BUILDSTEP_H
