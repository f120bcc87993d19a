//===- LinalgModels.h - Models of linalg operations -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_ANALYSIS_OPMODEL_LINALGMODELS_H
#define ACT_LIB_ANALYSIS_OPMODEL_LINALGMODELS_H

namespace mlir {
class MLIRContext;
namespace linalg {
class LinalgDialect;
} // namespace linalg

namespace act {
/// An extension of `DialectRegistry`.
void attachLinalgModels(MLIRContext *context, linalg::LinalgDialect *);
} // namespace act
} // namespace mlir

#endif // ACT_LIB_ANALYSIS_OPMODEL_LINALGMODELS_H
