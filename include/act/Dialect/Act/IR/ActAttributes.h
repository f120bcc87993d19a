//===- ActAttributes.h - Encodings of the act dialect -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_ACTATTRIBUTES_H
#define ACT_DIALECT_ACT_IR_ACTATTRIBUTES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include <cstdint>

#include "act/Dialect/Act/IR/ActEnums.h.inc"

namespace mlir::act {

/// How encoding or decoding a tensor divides into pieces that may run in any
/// order and at the same time. A unit is as small as it can be, a group or even
/// an element, so that work is handed out in ranges of units.
struct CodecUnits {
  /// Number of units, at least 1.
  int64_t units;
  /// Elements of a unit: unit u covers [u * elements, (u + 1) * elements) of
  /// the tensor in row-major order. units * elements is all of them.
  int64_t elements;
  /// False if the elements of a unit are not a contiguous range (`axis_quant`
  /// over an axis that is not the first of more than one element).
  bool contiguous;
};

} // namespace mlir::act

#include "act/Dialect/Act/IR/ActAttrInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "act/Dialect/Act/IR/ActAttributes.h.inc"

namespace mlir::act {

/// Bytes that `encoding` needs to store a tensor of type `type`: the sum over
/// its storage tensors. The encoding must apply to the type.
int64_t getStorageBytes(EncodingAttrInterface encoding, RankedTensorType type);

/// How a tensor is cut into groups: as if it had the shape
/// `outer x extent x inner`, with groups of `group` elements along `extent`.
struct GroupLayout {
  SmallVector<int64_t> outer; ///< axes before the grouped one
  int64_t extent;             ///< elements along the grouped axis
  SmallVector<int64_t> inner; ///< axes after it
  int64_t group;              ///< elements of a full group
  int64_t numGroups;          ///< ceil(extent / group)

  /// `outer x numGroups x perGroup x inner`.
  SmallVector<int64_t> getShape(int64_t perGroup) const;
  /// Groups if they are of one size, else rows along `extent`.
  CodecUnits getUnits() const;
};

/// The layout of a `shape` under `group_quant` or scaled `float` parameters:
/// see GroupQuantAttr for `axis` and `merge`.
GroupLayout getGroupLayout(ArrayRef<int64_t> shape, int64_t group, int64_t axis,
                           int64_t merge);

/// The type of running ranges for the indices of `axis` in tensors of type
/// `type`: widths, then minima.
RankedTensorType getRangeType(RankedTensorType type, int64_t axis);

/// Checks that ranges of indices of `axis` exist for tensors of type `type`:
/// C3 of `axis_quant`. `subject` begins the message.
LogicalResult verifyRangesApplyTo(RankedTensorType type, int64_t axis,
                                  StringRef subject,
                                  function_ref<InFlightDiagnostic()> emitError);

/// Bytes that hold `count` codes of `bits` bits.
int64_t getPackedBytes(int64_t count, unsigned bits);

} // namespace mlir::act

#endif // ACT_DIALECT_ACT_IR_ACTATTRIBUTES_H
