//===- KernelBindings.h - Operands of kernels -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_KERNELBINDINGS_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_KERNELBINDINGS_H

#include "KernelEmitters.h"
#include "act/Conversion/KernelUtils/LoopNest.h"

namespace mlir::act {

/// The type in which a scalar is passed to a kernel.
Type getParameterType(Type type);

/// Gives `operand` its value in `kernel`: parameter `number`, a pointer with
/// strides, or a scalar. Fails at a buffer of unknown strides.
LogicalResult bindParameter(GpuKernelBuilder &kernel, unsigned number,
                            Value operand, const GpuParameter &parameter,
                            KernelValues &values);

/// Gives the operands and the constants of the requested kernel their values in
/// `kernel`: pointers with strides, and scalars. Fails with an error at a
/// buffer of unknown strides.
LogicalResult bindKernelOperands(GpuKernelBuilder &kernel,
                                 const KernelRequest &request,
                                 KernelValues &values);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_KERNELBINDINGS_H
