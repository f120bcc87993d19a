//===- PtxChunks.h - Dividing kernels between threads -*- C++ -*-
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ACT_CONVERSION_GPUTOBINARY_PTXCHUNKS_H
#define LIB_ACT_CONVERSION_GPUTOBINARY_PTXCHUNKS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <memory>
#include <string>

namespace llvm {
class LLVMContext;
class Module;
} // namespace llvm

namespace mlir::act {

/// Kernels that follow each other in a module and are compiled together.
struct PtxChunk {
  size_t number = 0;
  /// What it defines: kernels, and the functions and variables that they need.
  llvm::StringSet<> definitions;
  /// Those that other chunks define, too.
  llvm::StringSet<> copies;
};

/// Divides the kernels of `module` into chunks of similar size, in their order.
/// Functions and variables that several chunks need are copied: they get the
/// number of the chunk into their name by readChunk.
SmallVector<PtxChunk> divideIntoChunks(llvm::Module &module);

/// The module with what `chunk` defines, from the bitcode of all of it.
llvm::Expected<std::unique_ptr<llvm::Module>>
readChunk(llvm::MemoryBufferRef bitcode, const PtxChunk &chunk,
          llvm::LLVMContext &context);

/// One text of the texts of all chunks: with one header, and each declaration
/// once.
std::string joinTexts(ArrayRef<std::string> texts);

} // namespace mlir::act

#endif // LIB_ACT_CONVERSION_GPUTOBINARY_PTXCHUNKS_H
