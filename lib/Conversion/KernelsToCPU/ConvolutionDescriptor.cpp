//===- ConvolutionDescriptor.cpp - Calls for convolutions -----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelsToCPU/ConvolutionDescriptor.h"
#include "act-c/StepRuntime.h"

using namespace mlir;
using namespace mlir::act;

static int64_t getElementCode(Type type) {
  if (type.isF32())
    return ACT_CPU_F32;
  if (type.isF64())
    return ACT_CPU_F64;
  return type.isBF16() ? ACT_CPU_BF16 : ACT_CPU_F16;
}

/// The strides of a tensor, as if it were row-major, or of a buffer.
static FailureOr<SmallVector<int64_t>> getStrides(ConvolutionOp op, Type type) {
  if (auto buffer = dyn_cast<MemRefType>(type)) {
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(buffer.getStridesAndOffset(strides, offset)) ||
        llvm::any_of(strides, ShapedType::isDynamic))
      return op.emitOpError("expects buffers with static strides, got ")
             << type;
    return strides;
  }
  auto shaped = cast<ShapedType>(type);
  SmallVector<int64_t> strides(shaped.getRank(), 1);
  for (int64_t dim = shaped.getRank() - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * shaped.getDimSize(dim);
  return strides;
}

namespace {
/// An operand: its type, its strides and which dimension each role has.
struct Operand {
  ShapedType type;
  ArrayRef<int64_t> dims;
  SmallVector<int64_t> strides;

  int64_t getSize(int64_t role) const { return type.getDimSize(dims[role]); }
  int64_t getStride(int64_t role) const { return strides[dims[role]]; }
};
} // namespace

static FailureOr<Operand> getOperand(ConvolutionOp op, Value value,
                                     ArrayRef<int64_t> dims) {
  FailureOr<SmallVector<int64_t>> strides = getStrides(op, value.getType());
  if (failed(strides))
    return failure();
  return Operand{cast<ShapedType>(value.getType()), dims, *strides};
}

static void fillSpatial(ConvolutionOp op, int64_t dim, const Operand &lhs,
                        const Operand &rhs, const Operand &out,
                        int64_t *entry) {
  int64_t role = dim + 2;
  entry[ACT_CPU_CONVOLUTION_SPATIAL_LHS_SIZE] = lhs.getSize(role);
  entry[ACT_CPU_CONVOLUTION_SPATIAL_RHS_SIZE] = rhs.getSize(role);
  entry[ACT_CPU_CONVOLUTION_SPATIAL_OUT_SIZE] = out.getSize(role);
  entry[ACT_CPU_CONVOLUTION_SPATIAL_STRIDE] = op.getStride(dim);
  entry[ACT_CPU_CONVOLUTION_SPATIAL_PADDING_LOW] = op.getPaddingLow(dim);
  entry[ACT_CPU_CONVOLUTION_SPATIAL_PADDING_HIGH] = op.getPaddingHigh(dim);
  entry[ACT_CPU_CONVOLUTION_SPATIAL_LHS_DILATION] = op.getLhsDilationOf(dim);
  entry[ACT_CPU_CONVOLUTION_SPATIAL_RHS_DILATION] = op.getRhsDilationOf(dim);
  entry[ACT_CPU_CONVOLUTION_SPATIAL_REVERSAL] = op.isReversed(dim);
  entry[ACT_CPU_CONVOLUTION_SPATIAL_LHS] = lhs.getStride(role);
  entry[ACT_CPU_CONVOLUTION_SPATIAL_RHS] = rhs.getStride(role);
  entry[ACT_CPU_CONVOLUTION_SPATIAL_OUT] = out.getStride(role);
}

FailureOr<SmallVector<int64_t>>
mlir::act::getConvolutionDescriptor(ConvolutionOp op) {
  int64_t rank = op.getNumSpatialDims();
  if (rank > ACT_CPU_MAX_SPATIAL_RANK)
    return op.emitOpError("expects at most ")
           << int64_t{ACT_CPU_MAX_SPATIAL_RANK} << " spatial dimensions, got "
           << rank;
  FailureOr<Operand> lhs = getOperand(op, op.getLhs(), op.getLhsDimensions());
  FailureOr<Operand> rhs = getOperand(op, op.getRhs(), op.getRhsDimensions());
  FailureOr<Operand> out = getOperand(op, op.getOut(), op.getOutDimensions());
  if (failed(lhs) || failed(rhs) || failed(out))
    return failure();
  SmallVector<int64_t> desc(ACT_CPU_CONVOLUTION_DESC_SPATIAL +
                            rank * ACT_CPU_CONVOLUTION_DESC_SPATIAL_SIZE);
  desc[ACT_CPU_CONVOLUTION_DESC_VERSION] = ACT_CPU_CONVOLUTION_VERSION;
  desc[ACT_CPU_CONVOLUTION_DESC_DTYPE] =
      getElementCode(lhs->type.getElementType());
  desc[ACT_CPU_CONVOLUTION_DESC_DTYPE_OUT] =
      getElementCode(out->type.getElementType());
  desc[ACT_CPU_CONVOLUTION_DESC_SPATIAL_RANK] = rank;
  desc[ACT_CPU_CONVOLUTION_DESC_BATCH] = lhs->getSize(0);
  desc[ACT_CPU_CONVOLUTION_DESC_FEATURES] = lhs->getSize(1);
  desc[ACT_CPU_CONVOLUTION_DESC_OUTPUT_FEATURES] = rhs->getSize(1);
  desc[ACT_CPU_CONVOLUTION_DESC_FEATURE_GROUPS] = op.getFeatureGroupCount();
  desc[ACT_CPU_CONVOLUTION_DESC_BATCH_GROUPS] = op.getBatchGroupCount();
  desc[ACT_CPU_CONVOLUTION_DESC_LHS_BATCH] = lhs->getStride(0);
  desc[ACT_CPU_CONVOLUTION_DESC_LHS_FEATURE] = lhs->getStride(1);
  desc[ACT_CPU_CONVOLUTION_DESC_RHS_INPUT] = rhs->getStride(0);
  desc[ACT_CPU_CONVOLUTION_DESC_RHS_OUTPUT] = rhs->getStride(1);
  desc[ACT_CPU_CONVOLUTION_DESC_OUT_BATCH] = out->getStride(0);
  desc[ACT_CPU_CONVOLUTION_DESC_OUT_FEATURE] = out->getStride(1);
  for (int64_t dim = 0; dim < rank; ++dim)
    fillSpatial(op, dim, *lhs, *rhs, *out,
                desc.data() + ACT_CPU_CONVOLUTION_DESC_SPATIAL +
                    dim * ACT_CPU_CONVOLUTION_DESC_SPATIAL_SIZE);
  return desc;
}

int64_t mlir::act::getConvolutionScratch(ArrayRef<int64_t> descriptor,
                                         int64_t threads) {
  int64_t bytes = act_cpu_convolution_scratch(descriptor.data(), threads);
  assert(bytes >= 0 && "descriptors of verified operations are sound");
  return bytes;
}
