//===- EncodingPolicy.h - Which encoding suits which value -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_TRANSFORMS_ENCODINGPOLICY_H
#define ACT_DIALECT_ACT_TRANSFORMS_ENCODINGPOLICY_H

#include "act/Dialect/Act/IR/ActTypes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace mlir::act {

/// Values with fewer elements are never stored in fewer bits: parameters, calls
/// and loss of accuracy outweigh the bytes. Where a loop saves a value in each
/// iteration, all of them count together.
constexpr int64_t kMinEncodedElements = 16384;

/// Not even in a loop are values with fewer elements stored in fewer bits.
constexpr int64_t kMinEncodedElementsInLoop = 1024;

/// True if a value of `elements` of which `copies` are saved may be worth an
/// encoding.
bool isWorthEncoding(int64_t elements, int64_t copies);

/// Chooses encodings by the type of a value and by what must hold of it. The
/// defaults and their evidence are in docs/Encodings.md.
class EncodingPolicy {
public:
  /// `isSharded` says that the step runs on several devices: then no axes are
  /// merged, since merging an axis that is sharded would gather it.
  explicit EncodingPolicy(bool isSharded) : isSharded(isSharded) {}
  bool isPartitioned() const { return isSharded; }

  /// Reads from the module that holds `op` whether the step is partitioned over
  /// devices (`mhlo.num_partitions`).
  static EncodingPolicy get(Operation *op);

  /// The reason why tensors of type `type`, of which `copies` are saved, cannot
  /// be stored with a loss, if it follows from the type alone.
  static std::optional<Exactness> getTypeExactness(RankedTensorType type,
                                                   int64_t copies = 1);

  /// The encoding for `value`, of which `copies` are saved. A lossless one if
  /// `exact` or `bits` is 0, else `bits` (1, 2, 4 or 8) per element in groups.
  EncodingAttrInterface getEncoding(Value value, std::optional<Exactness> exact,
                                    unsigned bits, int64_t copies = 1) const;

private:
  EncodingAttrInterface getLossless(Value value, int64_t copies) const;
  /// Codes in groups of about `target` elements.
  EncodingAttrInterface getGroupQuant(RankedTensorType type, unsigned bits,
                                      int64_t target) const;

  bool isSharded;
};

} // namespace mlir::act

#endif // ACT_DIALECT_ACT_TRANSFORMS_ENCODINGPOLICY_H
