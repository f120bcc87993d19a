//===- ExpandFunctions.h - Functions of f32 by way of f64 -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_EXPANDFUNCTIONS_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_EXPANDFUNCTIONS_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace mlir::act {

/// Expands powers, sines, cosines, hyperbolic sines and cosines, and the
/// complementary error function of f32, to within 1 ulp; sines and cosines of
/// numbers up to 2^30, beyond which their error grows with the number.
void populateExpandFunctionPatterns(RewritePatternSet &patterns);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_EXPANDFUNCTIONS_H
