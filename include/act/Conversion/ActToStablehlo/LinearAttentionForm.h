//===- LinearAttentionForm.h - What linear attention becomes -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_ACTTOSTABLEHLO_LINEARATTENTIONFORM_H
#define ACT_CONVERSION_ACTTOSTABLEHLO_LINEARATTENTIONFORM_H

namespace mlir::act {

/// What operations on linear attention become in StableHLO.
enum class LinearAttentionForm {
  Loop, ///< a chunked `stablehlo.while`, for every target
  Call  ///< custom calls of the kernels that act has for the CPU
};

} // namespace mlir::act

#endif // ACT_CONVERSION_ACTTOSTABLEHLO_LINEARATTENTIONFORM_H
