//===- DeviceBuffers.cpp - What is known of buffers on devices ------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceBuffers.h"
#include "act/Conversion/KernelUtils/ElementBytes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include <numeric>

using namespace mlir;
using namespace mlir::act;

bool DeviceMemory::overlaps(const DeviceMemory &other) const {
  if (root != other.root)
    return false;
  if (!bytes || !other.bytes)
    return true;
  return bytes->first < other.bytes->second &&
         other.bytes->first < bytes->second;
}

DeviceMemory mlir::act::getDeviceMemory(Value buffer) {
  // Part of the nearest view with constant bounds.
  std::optional<std::pair<int64_t, int64_t>> bytes;
  while (Operation *op = buffer.getDefiningOp()) {
    if (auto view = dyn_cast<memref::ViewOp>(op)) {
      APInt shift;
      auto type = cast<MemRefType>(view.getType());
      if (matchPattern(view.getByteShift(), m_ConstantInt(&shift)) &&
          type.hasStaticShape()) {
        int64_t begin = shift.getSExtValue();
        bytes = {begin, begin + type.getNumElements() *
                                    getElementBytes(type.getElementType())};
      }
      buffer = view.getSource();
      continue;
    }
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view)
      break;
    buffer = view.getViewSource();
  }
  return {buffer, bytes};
}

int64_t mlir::act::getDeviceAlignment(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t bytes = getElementBytes(type.getElementType());
  Operation *op = buffer.getDefiningOp();
  if (!op)
    return deviceAlignment;
  if (auto view = dyn_cast<memref::ViewOp>(op)) {
    APInt shift;
    if (!matchPattern(view.getByteShift(), m_ConstantInt(&shift)))
      return bytes;
    return std::gcd(getDeviceAlignment(view.getSource()), shift.getSExtValue());
  }
  if (auto view = dyn_cast<memref::SubViewOp>(op)) {
    int64_t alignment = getDeviceAlignment(view.getSource());
    auto [strides, offset] = view.getSourceType().getStridesAndOffset();
    for (auto [start, stride] :
         llvm::zip_equal(view.getMixedOffsets(), strides)) {
      if (ShapedType::isDynamic(stride))
        return bytes;
      int64_t step = stride * bytes;
      if (std::optional<int64_t> constant = getConstantIntValue(start))
        step *= *constant;
      alignment = std::gcd(alignment, step);
    }
    return alignment;
  }
  if (isa<memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(op))
    return getDeviceAlignment(op->getOperand(0));
  // What a step is given, and constants.
  if (isa<UnrealizedConversionCastOp, memref::GetGlobalOp>(op))
    return deviceAlignment;
  return bytes;
}
