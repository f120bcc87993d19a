//===- EncodingRules.h - Encodings per kind of value, read from a file -*- C++
//-*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_TRANSFORMS_ENCODINGRULES_H
#define ACT_LIB_DIALECT_ACT_TRANSFORMS_ENCODINGRULES_H

#include "act/Dialect/Act/IR/ActOps.h"
#include "llvm/Support/Regex.h"
#include <limits>
#include <optional>
#include <string>

namespace mlir::act {

/// Which axis of a value has a range per index, and how its codes are made.
struct AxisRule {
  enum class Kind { Head, Channel, Last, Number };
  Kind kind = Kind::Last;
  int64_t number = 0;
  unsigned bits = 0;
  Range range = Range::Batch;

  /// Null if `value` has no such axis.
  AxisQuantAttr getEncoding(Value value) const;
};

/// One rule of the file that `act-choose-encodings` reads; see there.
struct EncodingRule {
  std::string operation;
  std::optional<llvm::Regex> locationName;
  int64_t minElements = 0;
  int64_t maxElements = std::numeric_limits<int64_t>::max();
  /// Null if the rule names an axis instead.
  EncodingAttrInterface encoding;
  std::optional<AxisRule> axis;

  /// The encoding for `save`; null if the rule does not speak of what it
  /// stores, or if its encoding cannot store it.
  EncodingAttrInterface getEncoding(CompressedSaveOp save) const;

private:
  bool speaksOf(CompressedSaveOp save) const;
};

/// Reads the rules in the JSON file at `path`; an empty path gives none. Emits
/// an error at `op` and fails if the file cannot be read or a rule is
/// malformed.
FailureOr<SmallVector<EncodingRule>> readEncodingRules(StringRef path,
                                                       Operation *op);

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_TRANSFORMS_ENCODINGRULES_H
