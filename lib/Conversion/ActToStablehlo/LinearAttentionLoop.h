//===- LinearAttentionLoop.h - Linear attention as loops -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_ACTTOSTABLEHLO_LINEARATTENTIONLOOP_H
#define ACT_LIB_CONVERSION_ACTTOSTABLEHLO_LINEARATTENTIONLOOP_H

#include "AttentionChunk.h"

namespace mlir::act {

/// The operands of `op` that are read: all but destinations of which nothing
/// is.
SmallVector<Value> getReadOperands(LinearAttentionOpInterface op);

/// Builds what `op` computes from `operands`, which stand for its read
/// operands, as loops over chunks of the sequence. Returns the results of `op`.
SmallVector<Value> buildLinearAttentionLoop(StablehloBuilder &b,
                                            LinearAttentionOpInterface op,
                                            ValueRange operands);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_ACTTOSTABLEHLO_LINEARATTENTIONLOOP_H
