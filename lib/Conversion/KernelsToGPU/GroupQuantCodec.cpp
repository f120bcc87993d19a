//===- GroupQuantCodec.cpp - Codes of groups on GPUs ----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupQuantCodec.h"
#include "CodecModels.h"
#include "act/Dialect/Act/IR/ActDialect.h"

using namespace mlir;
using namespace mlir::act;

GroupQuantShape::GroupQuantShape(GroupQuantAttr encoding, RankedTensorType type)
    : element(type.getElementType()),
      groups(getGroupLayout(type.getShape(), encoding.getGroup(),
                            encoding.getAxis(), encoding.getMerge())),
      options{encoding.getBits(), encoding.getParams(), element,
              encoding.usesSalt()},
      numBytes(getPackedBytes(groups.getGroup(), encoding.getBits())) {}

//===----------------------------------------------------------------------===//
// Groups of any size
//===----------------------------------------------------------------------===//

/// Elements that each of the lanes of a group takes at least.
static constexpr int64_t perLane = 4;

static void encodeAny(CodecThreads &t, const GroupQuantShape &shape,
                      const GpuCodecBuffers &buffers,
                      const GpuCodecPieces &pieces) {
  CodecVectors &v = t.getVectors();
  const GroupThreads &groups = shape.groups;
  int64_t lanes = groups.getLanes(perLane);
  groups.forGroups(t, pieces, lanes, [&](const GroupThreads::Group &group) {
    Value size = groups.getSize(t, group);
    ExtremePair found = {llvm::to_vector<2>(
        t.loop(group.lane, size, lanes, ExtremePair::none(t).values,
               [&](Value i, ValueRange carried) -> SmallVector<Value> {
                 Value number = t.loadNumber(buffers.plain, shape.element,
                                             groups.getElement(t, group, i));
                 ExtremePair before = {llvm::to_vector<2>(carried)};
                 return SmallVector<Value>(before.with(t, number).values);
               }))};
    CodeRange range =
        buildRange(v, reduceLanes(t, found, lanes), shape.options);
    t.when(group.isOwn, [&] {
      Value isFirst = v.compare(arith::CmpIPredicate::eq, group.lane, t.i32(0));
      t.when(isFirst, [&] {
        storeRange(t, range, buffers.storage, shape.options.params,
                   group.param);
      });
      CodeScale scale(t, range, shape.options);
      t.loop(group.lane, t.i32(shape.numBytes), lanes, [&](Value byte) {
        Value packed = t.i32(0);
        for (int64_t plane = 0; plane < shape.getPlanes(); ++plane) {
          Value i = v.add(byte, plane * shape.numBytes), isIn;
          if (group.size || !shape.isFilled()) {
            isIn = t.isLess(i, size);
            i = t.smaller(i, v.add(size, -1));
          }
          Value element = groups.getElement(t, group, i);
          Value place;
          if (shape.options.hasNoise)
            place = CodeScale::getPlace(t, buffers.salt, element);
          Value code = scale.getLimitedCode(
              t.loadNumber(buffers.plain, shape.element, element), place);
          if (isIn)
            code = v.select(isIn, code, t.i32(0));
          packed =
              v.bitOr(packed, v.shiftLeft(code, plane * shape.options.bits));
        }
        t.storeInteger(packed, buffers.storage[0], t.getBuilder().getI8Type(),
                       groups.getPlace(t, group, shape.numBytes, byte));
      });
    });
  });
}

static void decodeAny(CodecThreads &t, const GroupQuantShape &shape,
                      const GpuCodecBuffers &buffers,
                      const GpuCodecPieces &pieces) {
  CodecVectors &v = t.getVectors();
  const GroupThreads &groups = shape.groups;
  int64_t lanes = groups.getLanes(perLane);
  groups.forGroups(t, pieces, lanes, [&](const GroupThreads::Group &group) {
    CodeRange range =
        loadRange(t, buffers.storage, shape.options.params, group.param);
    Value size = groups.getSize(t, group);
    t.when(group.isOwn, [&] {
      t.loop(group.lane, t.i32(shape.numBytes), lanes, [&](Value byte) {
        Value packed =
            t.loadInteger(buffers.storage[0], t.getBuilder().getI8Type(),
                          groups.getPlace(t, group, shape.numBytes, byte));
        for (int64_t plane = 0; plane < shape.getPlanes(); ++plane) {
          Value i = v.add(byte, plane * shape.numBytes);
          Value isIn;
          if (group.size || !shape.isFilled())
            isIn = t.isLess(i, size);
          t.when(isIn, [&] {
            Value code =
                v.bitAnd(v.shiftRight(packed, plane * shape.options.bits),
                         shape.options.getLargest());
            t.storeNumber(getCodeValue(t, code, range), buffers.plain,
                          shape.element, groups.getElement(t, group, i));
          });
        }
      });
    });
  });
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

namespace {
struct GroupQuantModel
    : GpuEncodingInterface::ExternalModel<GroupQuantModel, GroupQuantAttr> {
  GpuCodecSplit getSplit(Attribute attr, RankedTensorType type) const {
    GroupQuantShape shape(cast<GroupQuantAttr>(attr), type);
    std::optional<GroupChunks> chunks = GroupChunks::get(shape);
    return shape.groups.getSplit(chunks ? chunks->lanes
                                        : shape.groups.getLanes(perLane));
  }
  void buildGpuEncode(Attribute attr, CodecThreads &t, RankedTensorType type,
                      const GpuCodecBuffers &buffers,
                      const GpuCodecPieces &pieces) const {
    GroupQuantShape shape(cast<GroupQuantAttr>(attr), type);
    if (std::optional<GroupChunks> chunks = GroupChunks::get(shape, buffers))
      encodeChunks(t, shape, *chunks, buffers, pieces);
    else
      encodeAny(t, shape, buffers, pieces);
  }
  void buildGpuDecode(Attribute attr, CodecThreads &t, RankedTensorType type,
                      const GpuCodecBuffers &buffers,
                      const GpuCodecPieces &pieces) const {
    GroupQuantShape shape(cast<GroupQuantAttr>(attr), type);
    if (std::optional<GroupChunks> chunks = GroupChunks::get(shape, buffers))
      decodeChunks(t, shape, *chunks, buffers, pieces);
    else
      decodeAny(t, shape, buffers, pieces);
  }
};
} // namespace

void mlir::act::attachGroupQuantGpuModel(MLIRContext *context) {
  GroupQuantAttr::attachInterface<GroupQuantModel>(*context);
}
