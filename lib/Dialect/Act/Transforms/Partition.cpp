//===- Partition.cpp - Let backward read forward only through saves
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Partitioner.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "act/Dialect/Act/Transforms/Passes.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTPARTITIONPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

namespace {
struct ActPartitionPass
    : mlir::act::impl::ActPartitionPassBase<ActPartitionPass> {
  using Base::Base;

  void runOnOperation() override {
    FunctionOpInterface function = getOperation();
    if (function.isExternal() || function.isPrivate())
      return;
    if (bits != 0 && bits != 1 && bits != 2 && bits != 4 && bits != 8) {
      function.emitError("act-partition expects bits to be 0, 1, 2, 4 or 8, "
                         "got ")
          << bits.getValue();
      return signalPassFailure();
    }
    if (window == 0) {
      function.emitError(
          "act-partition expects window to be at least 1, got 0");
      return signalPassFailure();
    }
    PartitionOptions options{bits,    window,   cut, recompute,
                             unremat, rederive, {},  {}};
    if (failed(Partitioner(function, options)
                   .run(getNumPrimalResults(function, primalResults))))
      signalPassFailure();
  }
};
} // namespace
