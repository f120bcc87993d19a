//===- Npz.h - Arrays in NumPy's file format -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_TOOLS_ACTRUN_NPZ_H
#define ACT_TOOLS_ACTRUN_NPZ_H

#include "act/Tools/ActRun/Array.h"

namespace mlir::act::run {

/// Reads an archive as numpy.savez and numpy.savez_compressed write it: .npy
/// files of version 1 to 3 with little-endian elements of a type that steps can
/// have. bf16 and f8E4M3FN have the types V2 and V1 there, as ml_dtypes writes
/// them, f8E5M2 has f1.
llvm::Expected<std::vector<NamedArray>> readNpz(StringRef path);

/// Writes an archive that numpy.load reads, not compressed. The file appears
/// once it is complete.
llvm::Error writeNpz(StringRef path,
                     ArrayRef<std::pair<std::string, const Array *>> arrays);

/// What stands before the elements in a .npy file.
struct NpyHeader {
  ElementType type;
  SmallVector<int64_t> shape;
  /// The first index varies fastest.
  bool isFortranOrder = false;
  /// Where the elements start.
  size_t dataOffset = 0;
};

/// Reads the header at the start of `file`.
llvm::Expected<NpyHeader> parseNpyHeader(StringRef file);
/// The header of a row-major array; its length is a multiple of 64.
std::string buildNpyHeader(ElementType type, ArrayRef<int64_t> shape);

} // namespace mlir::act::run

#endif // ACT_TOOLS_ACTRUN_NPZ_H
