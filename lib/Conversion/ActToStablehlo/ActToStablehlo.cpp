//===- ActToStablehlo.cpp - Saves, loads and barriers in StableHLO ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/Passes.h"

namespace mlir::act {
#define GEN_PASS_DEF_CONVERTACTTOSTABLEHLOPASS
#include "act/Conversion/Passes.h.inc"
} // namespace mlir::act

namespace {
struct ConvertActToStablehloPass
    : mlir::act::impl::ConvertActToStablehloPassBase<
          ConvertActToStablehloPass> {
  using Base::Base;
  void runOnOperation() override {}
};
} // namespace
