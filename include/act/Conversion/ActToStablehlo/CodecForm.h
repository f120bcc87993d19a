//===- CodecForm.h - What saves and loads become -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_ACTTOSTABLEHLO_CODECFORM_H
#define ACT_CONVERSION_ACTTOSTABLEHLO_CODECFORM_H

namespace mlir::act {

/// What saves and loads of compressed values become beside StableHLO.
enum class CodecForm {
  Functions, ///< calls of private functions in StableHLO, for every target
  Ops        ///< `act.encode` and `act.decode`, for targets with kernels
};

} // namespace mlir::act

#endif // ACT_CONVERSION_ACTTOSTABLEHLO_CODECFORM_H
