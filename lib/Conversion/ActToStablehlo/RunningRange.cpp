//===- RunningRange.cpp - Ranges that follow values over steps ------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunningRange.h"
#include "CodePacking.h"
#include "Quantization.h"
#include <limits>

using namespace mlir;
using namespace mlir::act;

RunningRange mlir::act::buildRangeUpdate(StablehloBuilder &b, Value input,
                                         Value state, int64_t axis,
                                         double decay) {
  SmallVector<int64_t> shape = getShape(state);
  int64_t size = shape.back();
  Value values = b.convert(input, b.getBuilder().getF32Type());
  auto [minimum, maximum] =
      buildMinMax(b, values, getOtherAxes(getTensorType(values), axis));
  Value width = b.subtract(maximum, minimum);
  Value batch = b.concatenate(
      {b.reshape(width, {1, size}), b.reshape(minimum, {1, size})}, 0);

  Value change =
      b.multiply(b.subtract(state, batch), b.splatLike(state, 1.0 - decay));
  Value oldWidth = b.reshape(b.slice(state, {0, 0}, {1, size}), {size});
  // Only a NaN differs from itself.
  Value isNew = b.compare(StablehloBuilder::Comparison::NE, oldWidth, oldWidth);
  Value updated = b.select(b.broadcastInDim(isNew, shape, {1}), batch,
                           b.subtract(state, change));

  Value isFinite = b.broadcastInDim(b.isFinite(width), shape, {1});
  double nan = std::numeric_limits<double>::quiet_NaN();
  return {b.select(isFinite, updated, state),
          b.select(isFinite, updated, b.splatLike(state, nan))};
}
