//===- GroupQuantCodec.h - Codes of groups on GPUs -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_GROUPQUANTCODEC_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_GROUPQUANTCODEC_H

#include "GroupThreads.h"
#include "IntegerCodes.h"
#include "act/Dialect/Act/IR/ActAttributes.h"
#include <optional>

namespace mlir::act {

/// What encoding and decoding one tensor under `group_quant` needs to know.
struct GroupQuantShape {
  GroupQuantShape(GroupQuantAttr encoding, RankedTensorType type);

  Type element;
  GroupThreads groups;
  CodeOptions options;
  /// That hold the codes of a group.
  int64_t numBytes;

  int64_t getPlanes() const { return 8 / options.bits; }
  /// Bytes of full groups hold as many codes as they can.
  bool isFilled() const { return groups.getGroup() == numBytes * getPlanes(); }
};

/// How lanes share a group whose elements lie next to each other: in chunks of
/// `width` elements of each plane, 16 bytes of the tensor, that are as many
/// bytes of codes. Lane l takes chunks l, l + lanes, and so on.
struct GroupChunks {
  int64_t width;
  int64_t lanes;
  /// Of each lane.
  int64_t chunks;

  /// Nothing if groups do not divide so, or memory is not aligned to it.
  static std::optional<GroupChunks> get(const GroupQuantShape &shape,
                                        const GpuCodecBuffers &buffers);
  /// The same where memory is aligned.
  static std::optional<GroupChunks> get(const GroupQuantShape &shape);
};

/// Codes of whole groups held in registers.
void encodeChunks(CodecThreads &t, const GroupQuantShape &shape,
                  const GroupChunks &layout, const GpuCodecBuffers &buffers,
                  const GpuCodecPieces &pieces);
void decodeChunks(CodecThreads &t, const GroupQuantShape &shape,
                  const GroupChunks &layout, const GpuCodecBuffers &buffers,
                  const GpuCodecPieces &pieces);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_GROUPQUANTCODEC_H
