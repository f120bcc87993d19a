//===- RunningRange.h - Ranges that follow values over steps -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_ACTTOSTABLEHLO_RUNNINGRANGE_H
#define ACT_LIB_CONVERSION_ACTTOSTABLEHLO_RUNNINGRANGE_H

#include "act/Dialect/StablehloShell/StablehloBuilder.h"

namespace mlir::act {

/// The results of `act.update_range`, f32[2, N] each.
struct RunningRange {
  Value next;
  Value range;
};

/// What `act.update_range` stands for.
RunningRange buildRangeUpdate(StablehloBuilder &b, Value input, Value state,
                              int64_t axis, double decay);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_ACTTOSTABLEHLO_RUNNINGRANGE_H
