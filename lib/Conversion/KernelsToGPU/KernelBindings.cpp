//===- KernelBindings.cpp - Operands of kernels ---------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelBindings.h"

using namespace mlir;
using namespace mlir::act;

Type mlir::act::getParameterType(Type type) { return getStoredType(type); }

/// The scalar of type `type` that was passed as `value`.
static Value fromParameter(ImplicitLocOpBuilder &b, Value value, Type type) {
  if (type.isIndex())
    return arith::IndexCastOp::create(b, type, value);
  if (type.isInteger(1))
    return arith::TruncIOp::create(b, type, value);
  return value;
}

LogicalResult mlir::act::bindParameter(GpuKernelBuilder &kernel,
                                       unsigned number, Value operand,
                                       const GpuParameter &parameter,
                                       KernelValues &values) {
  Value value = kernel.getParameter(number);
  auto type = dyn_cast<MemRefType>(operand.getType());
  if (!type) {
    values.scalars[operand] =
        fromParameter(kernel.getBuilder(), value, operand.getType());
    return success();
  }
  FailureOr<SmallVector<int64_t>> strides = getKnownStrides(type);
  if (failed(strides))
    return failure();
  values.buffers[operand] = {value, type.getElementType(), *strides,
                             parameter.alignment};
  return success();
}

LogicalResult mlir::act::bindKernelOperands(GpuKernelBuilder &kernel,
                                            const KernelRequest &request,
                                            KernelValues &values) {
  Block &body = request.kernel->getRegion(0).front();
  for (auto [i, argument] : llvm::enumerate(body.getArguments()))
    if (failed(
            bindParameter(kernel, i, argument, request.parameters[i], values)))
      return request.kernel->emitOpError("expects buffers of known shape and "
                                         "strides, got ")
             << argument.getType();
  for (Operation &op : body)
    if (isa<arith::ConstantOp>(op))
      values.scalars[op.getResult(0)] =
          kernel.getBuilder().clone(op)->getResult(0);
  return success();
}
