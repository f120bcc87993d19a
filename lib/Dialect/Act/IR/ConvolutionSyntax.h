//===- ConvolutionSyntax.h - Dimensions of convolutions -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_IR_CONVOLUTIONSYNTAX_H
#define ACT_LIB_DIALECT_ACT_IR_CONVOLUTIONSYNTAX_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::act {

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`, for the custom directive
/// ConvolutionDimensions: see act.convolution.
ParseResult parseConvolutionDimensions(OpAsmParser &parser,
                                       DenseI64ArrayAttr &lhs,
                                       DenseI64ArrayAttr &rhs,
                                       DenseI64ArrayAttr &out);
void printConvolutionDimensions(OpAsmPrinter &printer, Operation *op,
                                DenseI64ArrayAttr lhs, DenseI64ArrayAttr rhs,
                                DenseI64ArrayAttr out);

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_IR_CONVOLUTIONSYNTAX_H
