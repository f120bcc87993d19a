//===- PtxCompiler.h - PTX of a GPU module -*- C++ -*- ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ACT_CONVERSION_GPUTOBINARY_PTXCOMPILER_H
#define LIB_ACT_CONVERSION_GPUTOBINARY_PTXCOMPILER_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::act {

/// The number in "sm_80" or "sm_90a"; an error unless LLVM knows the chip and
/// act's kernels run on it. It lists the chips that can be chosen.
llvm::Expected<unsigned> getArchitecture(StringRef chip);

/// The features that LLVM needs to be told for `chip`.
StringRef getPtxFeatures(unsigned architecture);

/// Compiles a module of operations of the LLVM and NVVM dialects with O3.
/// Kernels come in the order of the module. Diagnostics say what fails.
FailureOr<std::string> compileToPtx(gpu::GPUModuleOp module, StringRef chip);

} // namespace mlir::act

#endif // LIB_ACT_CONVERSION_GPUTOBINARY_PTXCOMPILER_H
