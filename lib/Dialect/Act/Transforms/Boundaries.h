//===- Boundaries.h - All boundaries of a step -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_TRANSFORMS_BOUNDARIES_H
#define ACT_LIB_DIALECT_ACT_TRANSFORMS_BOUNDARIES_H

#include "act/Analysis/AutodiffGraph.h"

namespace mlir::act {

/// Calls `visit` for the loops in `block` whose own loops hold no step, from
/// the innermost outwards; it returns whether the loop holds one. Returns
/// whether there was any: then what such loops return are gradients, and the
/// block is no step. Fails if `visit` does.
FailureOr<bool>
visitStepLoops(Block &block,
               function_ref<FailureOr<bool>(LoopModelInterface)> visit);

/// Calls `visit` for every boundary between forward and backward in
/// `function`, from the innermost loops outwards: for pairs of loops, for
/// steps inside a loop, and for the function unless it runs steps in loops.
/// `reasons` gets sentences about loops that make no pair. The function is as
/// before afterwards. Fails if `visit` does or if there is no step.
LogicalResult
forEachBoundary(FunctionOpInterface function, unsigned numPrimalResults,
                function_ref<LogicalResult(const AutodiffGraph &)> visit,
                SmallVectorImpl<std::string> &reasons);

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_TRANSFORMS_BOUNDARIES_H
