//===- QuantizedAxis.h - The axis that has a range per index -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_TRANSFORMS_QUANTIZEDAXIS_H
#define ACT_LIB_DIALECT_ACT_TRANSFORMS_QUANTIZEDAXIS_H

#include "mlir/IR/Value.h"
#include <optional>

namespace mlir::act {

/// The axis of `value` that runs over attention heads: the last batch dimension
/// of a product that reads the value or computes it. Between product and value
/// there may be views, barriers and elementwise operations. Nothing if there is
/// no such product, or if a reshape joins the axis with others.
std::optional<int64_t> findHeadAxis(Value value);

/// The axis of `value` that runs over channels: the feature dimension of a
/// convolution that reads the value or computes it, in the same sense.
std::optional<int64_t> findChannelAxis(Value value);

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_TRANSFORMS_QUANTIZEDAXIS_H
