//===- CodecEmitter.h - Vector code that encodes and decodes -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encoders and decoders for processors, in arith, math, scf and vector with
// loads and stores of the LLVM dialect. They compute what the lowering to
// StableHLO does: see docs/Encodings.md.
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELSTOCPU_CODECEMITTER_H
#define ACT_CONVERSION_KERNELSTOCPU_CODECEMITTER_H

#include "act/Conversion/VectorTarget.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace mlir::act {

/// Pointers (`!llvm.ptr`) to the first element of each buffer of a codec, all
/// row-major without gaps and aligned to their elements only. Elements of type
/// i1 are bytes, 0 or 1.
struct CodecBuffers {
  /// The tensor that is encoded or decoded.
  Value plain;
  /// What the encoding stores, in its order.
  SmallVector<Value, 3> storage;
  /// The salt of an encoder, an i32; null if the encoding uses none.
  Value salt;
  /// `plain` points to the first element of the first unit asked for, not to
  /// that of the tensor, as if the rest was not in memory. For contiguous units
  /// only.
  bool plainIsLocal = false;
};

/// Emits code that encodes units `[begin, end)`, which are index values, at the
/// builder's insertion point. Nothing in it depends on what saves of equal
/// types do not have in common but for the salt, a value. Small workspaces are
/// allocated on the stack of the enclosing function (or other region that is
/// isolated from above): two threads must not run the code in one call of it.
LogicalResult emitEncodeUnits(OpBuilder &builder, Location loc, EncodeOp op,
                              const CodecBuffers &buffers, Value begin,
                              Value end, const VectorTarget &target);
/// The same for decoding.
LogicalResult emitDecodeUnits(OpBuilder &builder, Location loc, DecodeOp op,
                              const CodecBuffers &buffers, Value begin,
                              Value end, const VectorTarget &target);

/// One unit only.
LogicalResult emitEncodeUnit(OpBuilder &builder, Location loc, EncodeOp op,
                             const CodecBuffers &buffers, Value unit,
                             const VectorTarget &target);
LogicalResult emitDecodeUnit(OpBuilder &builder, Location loc, DecodeOp op,
                             const CodecBuffers &buffers, Value unit,
                             const VectorTarget &target);

/// Which way a kernel works.
enum class CodecDirection { Encode, Decode };

/// Adds the function `name` to `module`, which encodes or decodes units of a
/// tensor of type `type`. Its arguments are pointers to the tensor and to each
/// buffer of the storage, the salt (i32) of an encoder that uses one, and the
/// first unit and the one after the last (index). Fails with a message at
/// `module` if the encoding has no kernels.
FailureOr<CodecUnits> buildCodecKernel(ModuleOp module, StringRef name,
                                       CodecDirection direction,
                                       EncodingAttrInterface encoding,
                                       RankedTensorType type,
                                       const VectorTarget &target);

/// Makes the encodings of the act dialect implement VectorEncodingInterface,
/// which the functions above need.
void registerVectorEncodingModels(DialectRegistry &registry);

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELSTOCPU_CODECEMITTER_H
