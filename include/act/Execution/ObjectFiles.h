//===- ObjectFiles.h - Object files and headers of compiled steps -*- C++
//-*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_EXECUTION_OBJECTFILES_H
#define ACT_EXECUTION_OBJECTFILES_H

#include "act/Execution/StepInfo.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::act::execution {

/// Writes what compileStep returned to `path`: as it is if that ends in .a,
/// else as one object file, which the system's linker makes of it. The file
/// appears once it is complete.
llvm::Error writeObjectFile(llvm::MemoryBufferRef archive, StringRef path);

/// Writes the C header that declares the step `symbol`: its function and table,
/// the size of its arena, and what each argument and result is.
void writeStepHeader(const StepInfo &info, StringRef symbol, bool isForGPU,
                     llvm::raw_ostream &os);

/// Writes the header to `path`, which appears once it is complete.
llvm::Error writeStepHeader(const StepInfo &info, StringRef symbol,
                            StringRef path);

/// The name of a file without folder and extension as an identifier of C.
std::string getSymbolForFile(StringRef path);

} // namespace mlir::act::execution

#endif // ACT_EXECUTION_OBJECTFILES_H
