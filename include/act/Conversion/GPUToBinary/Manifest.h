//===- Manifest.h - Kernels for other programs -*- C++ -*- ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_GPUTOBINARY_MANIFEST_H
#define ACT_CONVERSION_GPUTOBINARY_MANIFEST_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::act {

/// The object of `binary` with PTX text, null if there is none.
gpu::ObjectAttr getPtxObject(gpu::BinaryOp binary);

/// The chip that `object` is for, such as "sm_80".
StringRef getChip(gpu::ObjectAttr object);

/// The types of the parameters of `kernel`, empty if its type is none of a
/// function.
ArrayRef<Type> getParameterTypes(gpu::KernelMetadataAttr kernel);

/// Whether results of a kernel depend on the order in which its blocks run.
bool isOrderDependent(gpu::KernelMetadataAttr kernel);

/// Writes what a program needs to launch the kernels of `binary`, as JSON;
/// docs/Gpu.md describes it.
void writeManifest(gpu::BinaryOp binary, llvm::raw_ostream &os);

} // namespace mlir::act

#endif // ACT_CONVERSION_GPUTOBINARY_MANIFEST_H
