//===- CodecKernels.cpp - Kernels that encode and decode ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecModels.h"
#include "act/Conversion/KernelsToGPU/GpuCodecs.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::act;

#include "act/Conversion/KernelsToGPU/GpuEncodingInterface.cpp.inc"

void mlir::act::registerGpuEncodingModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ActDialect *) {
    attachAxisQuantGpuModel(context);
    attachFloatGpuModel(context);
    attachGroupQuantGpuModel(context);
    attachLosslessGpuModels(context);
  });
}

template <typename OpTy>
static FailureOr<GpuEncodingInterface> getGpuEncoding(OpTy op) {
  auto encoding = dyn_cast<GpuEncodingInterface>(op.getEncoding());
  if (!encoding)
    return op.emitOpError("expects an encoding with kernels for GPUs, got ")
           << op.getEncoding();
  return encoding;
}

static void build(GpuEncodingInterface encoding, EncodeOp op,
                  CodecThreads &threads, const GpuCodecBuffers &buffers,
                  const GpuCodecPieces &pieces) {
  encoding.buildGpuEncode(threads, getPlainType(op), buffers, pieces);
}

static void build(GpuEncodingInterface encoding, DecodeOp op,
                  CodecThreads &threads, const GpuCodecBuffers &buffers,
                  const GpuCodecPieces &pieces) {
  encoding.buildGpuDecode(threads, getPlainType(op), buffers, pieces);
}

//===----------------------------------------------------------------------===//
// Inside of other kernels
//===----------------------------------------------------------------------===//

template <typename OpTy>
static LogicalResult emitGroup(GpuKernelBuilder &kernel, ThreadGroup &group,
                               OpTy op, GpuCodecBuffers buffers, Value first,
                               int64_t count) {
  FailureOr<GpuEncodingInterface> encoding = getGpuEncoding(op);
  if (failed(encoding))
    return failure();
  RankedTensorType type = getPlainType(op);
  CodecUnits units = op.getEncoding().getUnits(type);
  if (buffers.plainIsLocal && !units.contiguous)
    return op.emitOpError("expects units that are contiguous where the tensor "
                          "is not in memory");
  CodecThreads threads(kernel, group, type);
  CodecVectors &v = threads.getVectors();
  first = threads.toOffset(first);
  if (buffers.plainIsLocal) {
    // As if all of the tensor was in memory.
    int64_t bytes =
        v.getStored(type.getElementType()).getIntOrFloatBitWidth() / 8;
    if (!buffers.plainAlignment)
      buffers.plainAlignment = std::gcd(
          CodecThreads::getAlignment(buffers.plain), units.elements * bytes);
    buffers.plain =
        kernel.getAddress(buffers.plain, v.getStored(type.getElementType()),
                          v.multiply(first, -units.elements));
  }
  int64_t perUnit = encoding->getSplit(type).pieces / units.units;
  GpuCodecPieces pieces{v.multiply(first, perUnit), {}, count * perUnit};
  build(*encoding, op, threads, buffers, pieces);
  return success();
}

LogicalResult mlir::act::emitGroupEncode(GpuKernelBuilder &kernel,
                                         ThreadGroup &group, EncodeOp op,
                                         const GpuCodecBuffers &buffers,
                                         Value first, int64_t count) {
  return emitGroup(kernel, group, op, buffers, first, count);
}

LogicalResult mlir::act::emitGroupDecode(GpuKernelBuilder &kernel,
                                         ThreadGroup &group, DecodeOp op,
                                         const GpuCodecBuffers &buffers,
                                         Value first, int64_t count) {
  return emitGroup(kernel, group, op, buffers, first, count);
}

//===----------------------------------------------------------------------===//
// Kernels of their own
//===----------------------------------------------------------------------===//

static Value getPlain(EncodeOp op) { return op.getInput(); }
static Value getPlain(DecodeOp op) { return op.getOuts().front(); }
static ValueRange getStorage(EncodeOp op) { return op.getOuts(); }
static ValueRange getStorage(DecodeOp op) { return op.getInputs(); }
static Value getSalt(EncodeOp op) { return op.getSalt(); }
static Value getSalt(DecodeOp) { return {}; }

template <typename OpTy>
static FailureOr<GpuKernel> emitKernel(const KernelRequest &request, OpTy op) {
  FailureOr<GpuEncodingInterface> encoding = getGpuEncoding(op);
  if (failed(encoding))
    return failure();
  for (Value operand : op->getOperands())
    if (!isa<BlockArgument>(operand))
      return op.emitOpError("expects whole buffers of its kernel, got ")
             << operand;
  RankedTensorType type = getPlainType(op);
  GpuKernelBuilder kernel(request.module, op.getLoc(), request.name,
                          request.parameters, codecThreads);
  auto getPointer = [&](Value operand) {
    return kernel.getParameter(cast<BlockArgument>(operand).getArgNumber());
  };
  GpuCodecBuffers buffers;
  buffers.plain = getPointer(getPlain(op));
  for (Value part : getStorage(op))
    buffers.storage.push_back(getPointer(part));
  if (Value salt = getSalt(op))
    buffers.salt =
        kernel.load(kernel.getBuilder().getI32Type(), getPointer(salt));

  GpuCodecSplit split = encoding->getSplit(type);
  ThreadGroup group(kernel, split.groupThreads);
  CodecThreads threads(kernel, group, type);
  CodecVectors &v = threads.getVectors();
  int64_t perBlock = split.piecesPerGroup * group.getCount();
  Value number = threads.toOffset(kernel.getBlock());
  if (!group.isBlock())
    number = v.add(v.multiply(number, group.getCount()),
                   threads.toOffset(group.getNumber()));
  GpuCodecPieces pieces{v.multiply(number, split.piecesPerGroup),
                        {},
                        split.piecesPerGroup,
                        split.piecesPerGroup};
  if (split.pieces % perBlock != 0)
    pieces.count =
        threads.smaller(v.subtract(threads.offset(split.pieces), pieces.first),
                        threads.offset(split.piecesPerGroup));
  build(*encoding, op, threads, buffers, pieces);
  int64_t blocks = llvm::divideCeil(split.pieces, perBlock);
  return kernel.finish({blocks, 1, 1});
}

FailureOr<GpuKernel> mlir::act::emitCodecKernel(const KernelRequest &request) {
  KernelOp kernel = request.kernel;
  Operation &op = kernel.getBody().front().front();
  if (auto encode = dyn_cast<EncodeOp>(op))
    return emitKernel(request, encode);
  if (auto decode = dyn_cast<DecodeOp>(op))
    return emitKernel(request, decode);
  return kernel.emitOpError("expects act.encode or act.decode in a kernel of "
                            "this kind, got ")
         << op.getName();
}
