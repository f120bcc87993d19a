//===- StablehloToLinalg.cpp - Lower StableHLO to linalg ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/StablehloToLinalg/StablehloToLinalg.h"
#include "Lowering.h"
#include "PopulatePatterns.h"
#include "act/Conversion/Passes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::act {
#define GEN_PASS_DEF_CONVERTSTABLEHLOTOLINALGPASS
#include "act/Conversion/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

static LoweringPatterns getPatterns() {
  LoweringPatterns patterns;
  populateArithmeticPatterns(patterns);
  populateMathPatterns(patterns);
  populateConversionPatterns(patterns);
  populateConstantPatterns(patterns);
  populateShapePatterns(patterns);
  populateSlicePatterns(patterns);
  populateContractionPatterns(patterns);
  populateConvolutionPatterns(patterns);
  populateReductionPatterns(patterns);
  populateWindowPatterns(patterns);
  populateGatherPatterns(patterns);
  populateScatterPatterns(patterns);
  populateSortPatterns(patterns);
  populateControlFlowPatterns(patterns);
  populateAnnotationPatterns(patterns);
  return patterns;
}

LogicalResult mlir::act::convertStablehloToLinalg(ModuleOp module) {
  LoweringPatterns patterns = getPatterns();
  bool failed = false;
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    // Meshes only serve annotations, which are gone.
    if (op.getName().getDialectNamespace() == "sdy")
      op.erase();
    else if (auto function = dyn_cast<func::FuncOp>(op))
      failed |= Lowering(patterns, function).run().failed();
  }
  return failure(failed);
}

namespace {
struct ConvertStablehloToLinalgPass
    : mlir::act::impl::ConvertStablehloToLinalgPassBase<
          ConvertStablehloToLinalgPass> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(convertStablehloToLinalg(getOperation())))
      signalPassFailure();
  }
};
} // namespace
