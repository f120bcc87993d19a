//===- DecodedRange.h - Numbers that decoding returns -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_DECODEDRANGE_H
#define ACT_DIALECT_ACT_IR_DECODEDRANGE_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::act {

/// The largest number that decoding may return for elements of the float type
/// `original`, with room for its rounding. All targets clamp to it.
double getLargestDecoded(Type original);

} // namespace mlir::act

#endif // ACT_DIALECT_ACT_IR_DECODEDRANGE_H
