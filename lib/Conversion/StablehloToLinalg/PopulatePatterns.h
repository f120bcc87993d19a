//===- PopulatePatterns.h - Lowerings by families of operations -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_STABLEHLOTOLINALG_POPULATEPATTERNS_H
#define ACT_LIB_CONVERSION_STABLEHLOTOLINALG_POPULATEPATTERNS_H

#include "Lowering.h"

namespace mlir::act::lowering {

/// Arithmetic, comparisons, bits and choices.
void populateArithmeticPatterns(LoweringPatterns &patterns);
/// Functions of analysis on floats.
void populateMathPatterns(LoweringPatterns &patterns);
/// Conversions between element types and roundings.
void populateConversionPatterns(LoweringPatterns &patterns);
/// Operations that keep every element and change shapes.
void populateShapePatterns(LoweringPatterns &patterns);
/// Slices, padding, concatenation.
void populateSlicePatterns(LoweringPatterns &patterns);
void populateConstantPatterns(LoweringPatterns &patterns);
void populateContractionPatterns(LoweringPatterns &patterns);
void populateConvolutionPatterns(LoweringPatterns &patterns);
void populateReductionPatterns(LoweringPatterns &patterns);
/// Windows: reduce_window, select_and_scatter.
void populateWindowPatterns(LoweringPatterns &patterns);
void populateGatherPatterns(LoweringPatterns &patterns);
void populateScatterPatterns(LoweringPatterns &patterns);
void populateSortPatterns(LoweringPatterns &patterns);
void populateControlFlowPatterns(LoweringPatterns &patterns);
/// Barriers, annotations of shardings, calls of known functions.
void populateAnnotationPatterns(LoweringPatterns &patterns);

} // namespace mlir::act::lowering

#endif // ACT_LIB_CONVERSION_STABLEHLOTOLINALG_POPULATEPATTERNS_H
