//===- KernelTable.h - What is known of kernels -*- C++ -*- ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ACT_CONVERSION_GPUTOBINARY_KERNELTABLE_H
#define LIB_ACT_CONVERSION_GPUTOBINARY_KERNELTABLE_H

#include "LaunchSizes.h"
#include "act/Conversion/GPUToBinary/CudaToolkit.h"

namespace mlir::act {

/// A table of the kernels in `module`, by their names, with the metadata that
/// the documentation of act-gpu-to-binary lists.
gpu::KernelTableAttr
createKernelTable(gpu::GPUModuleOp module,
                  const llvm::MapVector<SymbolRefAttr, LaunchSizes> &launches,
                  ArrayRef<Cubin> cubins);

} // namespace mlir::act

#endif // LIB_ACT_CONVERSION_GPUTOBINARY_KERNELTABLE_H
