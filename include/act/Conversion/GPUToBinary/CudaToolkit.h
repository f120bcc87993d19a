//===- CudaToolkit.h - ptxas and fatbinary -*- C++ -*- ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_GPUTOBINARY_CUDATOOLKIT_H
#define ACT_CONVERSION_GPUTOBINARY_CUDATOOLKIT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mlir::act {

/// What ptxas says of a kernel.
struct KernelResources {
  int64_t registers = 0;
  int64_t spillBytes = 0;
  int64_t stackBytes = 0;
};

/// Machine code of one chip.
struct Cubin {
  std::string chip;
  std::string code;
  llvm::StringMap<KernelResources> kernels;
};

/// The programs of a CUDA toolkit.
class CudaToolkit {
public:
  /// The one in `folder`, or the one that is found if that is empty. An error
  /// says where it was looked for.
  static llvm::Expected<CudaToolkit> find(StringRef folder);

  /// Assembles `ptx` with ptxas. An error has its message and the kernel that
  /// the message is about.
  llvm::Expected<Cubin> assemble(StringRef ptx, StringRef chip) const;
  /// Joins text for `ptxChip` and machine code with fatbinary.
  llvm::Expected<std::string> createFatbin(StringRef ptx, StringRef ptxChip,
                                           ArrayRef<Cubin> cubins) const;

private:
  explicit CudaToolkit(std::string programs) : programs(std::move(programs)) {}

  /// Folder of the programs.
  std::string programs;
};

} // namespace mlir::act

#endif // ACT_CONVERSION_GPUTOBINARY_CUDATOOLKIT_H
