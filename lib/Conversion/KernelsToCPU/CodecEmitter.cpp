//===- CodecEmitter.cpp - Vector code that encodes and decodes ------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelsToCPU/CodecEmitter.h"
#include "CodecModels.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::act;

#include "act/Conversion/KernelsToCPU/VectorEncodingInterface.cpp.inc"

void mlir::act::registerVectorEncodingModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ActDialect *) {
    attachAxisQuantCodecModel(context);
    attachFloatCodecModel(context);
    attachGroupQuantCodecModel(context);
    attachLosslessCodecModels(context);
  });
}

static FailureOr<VectorEncodingInterface>
getVectorEncoding(Operation *op, EncodingAttrInterface encoding) {
  if (auto vector = dyn_cast<VectorEncodingInterface>(encoding))
    return vector;
  return op->emitOpError("expects an encoding with kernels for the CPU, got ")
         << encoding;
}

static void emitUnits(CodecVectors &v, VectorEncodingInterface encoding,
                      CodecDirection direction, RankedTensorType type,
                      CodecBuffers buffers, Value begin, Value end) {
  CodecUnits units = cast<EncodingAttrInterface>(encoding).getUnits(type);
  // As if all of the tensor was in memory.
  if (buffers.plainIsLocal)
    buffers.plain = v.address(buffers.plain, type.getElementType(),
                              v.multiply(begin, -units.elements));
  if (direction == CodecDirection::Encode)
    encoding.buildVectorEncode(v, type, buffers, begin, end);
  else
    encoding.buildVectorDecode(v, type, buffers, begin, end);
}

/// Emits code for `op`, an EncodeOp or a DecodeOp.
template <typename OpTy>
static LogicalResult emitUnits(OpBuilder &builder, Location loc, OpTy op,
                               CodecDirection direction,
                               const CodecBuffers &buffers, Value begin,
                               Value end, const VectorTarget &target) {
  FailureOr<VectorEncodingInterface> encoding =
      getVectorEncoding(op, op.getEncoding());
  if (failed(encoding))
    return failure();
  RankedTensorType type = getPlainType(op);
  if (buffers.plainIsLocal && !op.getEncoding().getUnits(type).contiguous)
    return op.emitOpError("expects units that are contiguous where the tensor "
                          "is not in memory");
  if (!isa<IntegerType, FloatType, ComplexType, IndexType>(
          type.getElementType()))
    return op.emitOpError("expects numbers, got ") << type;
  if (!CodecVectors::getAllocationBlock(builder.getInsertionBlock()))
    return op.emitOpError("expects code for it to be inside of a function");
  CodecVectors vectors(builder, loc, target);
  emitUnits(vectors, *encoding, direction, type, buffers, begin, end);
  return success();
}

LogicalResult mlir::act::emitEncodeUnits(OpBuilder &builder, Location loc,
                                         EncodeOp op,
                                         const CodecBuffers &buffers,
                                         Value begin, Value end,
                                         const VectorTarget &target) {
  return emitUnits(builder, loc, op, CodecDirection::Encode, buffers, begin,
                   end, target);
}

LogicalResult mlir::act::emitDecodeUnits(OpBuilder &builder, Location loc,
                                         DecodeOp op,
                                         const CodecBuffers &buffers,
                                         Value begin, Value end,
                                         const VectorTarget &target) {
  return emitUnits(builder, loc, op, CodecDirection::Decode, buffers, begin,
                   end, target);
}

static Value getNext(OpBuilder &builder, Location loc, Value unit) {
  return arith::AddIOp::create(builder, loc, unit,
                               arith::ConstantIndexOp::create(builder, loc, 1));
}

LogicalResult mlir::act::emitEncodeUnit(OpBuilder &builder, Location loc,
                                        EncodeOp op,
                                        const CodecBuffers &buffers, Value unit,
                                        const VectorTarget &target) {
  return emitEncodeUnits(builder, loc, op, buffers, unit,
                         getNext(builder, loc, unit), target);
}

LogicalResult mlir::act::emitDecodeUnit(OpBuilder &builder, Location loc,
                                        DecodeOp op,
                                        const CodecBuffers &buffers, Value unit,
                                        const VectorTarget &target) {
  return emitDecodeUnits(builder, loc, op, buffers, unit,
                         getNext(builder, loc, unit), target);
}

FailureOr<CodecUnits>
mlir::act::buildCodecKernel(ModuleOp module, StringRef name,
                            CodecDirection direction,
                            EncodingAttrInterface encoding,
                            RankedTensorType type, const VectorTarget &target) {
  FailureOr<VectorEncodingInterface> vectorEncoding =
      getVectorEncoding(module, encoding);
  if (failed(vectorEncoding))
    return failure();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Type pointer = LLVM::LLVMPointerType::get(module.getContext());
  size_t numParts = encoding.getStorageTypes(type).size();
  SmallVector<Type> arguments(1 + numParts, pointer);
  bool hasSalt = direction == CodecDirection::Encode && encoding.usesSalt();
  if (hasSalt)
    arguments.push_back(builder.getI32Type());
  arguments.append(2, builder.getIndexType());
  auto function = func::FuncOp::create(builder, module.getLoc(), name,
                                       builder.getFunctionType(arguments, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Block::BlockArgListType values = function.getArguments();
  CodecBuffers buffers;
  buffers.plain = values.front();
  buffers.storage = llvm::to_vector_of<Value>(values.slice(1, numParts));
  if (hasSalt)
    buffers.salt = values[1 + numParts];
  CodecVectors vectors(builder, module.getLoc(), target);
  emitUnits(vectors, *vectorEncoding, direction, type, buffers,
            values.drop_back().back(), values.back());
  func::ReturnOp::create(builder, module.getLoc());
  return encoding.getUnits(type);
}
