//===- RaiseLinearAttention.cpp - Operations from custom calls ------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/LinearAttentionCalls.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTRAISELINEARATTENTIONPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

namespace {
struct RaiseLinearAttentionPass
    : act::impl::ActRaiseLinearAttentionPassBase<RaiseLinearAttentionPass> {
  void runOnOperation() override {
    SmallVector<Operation *> calls;
    getOperation().walk([&](Operation *op) {
      if (isLinearAttentionCall(op))
        calls.push_back(op);
    });
    for (Operation *call : calls)
      if (failed(raiseLinearAttentionCall(call)))
        return signalPassFailure();
  }
};
} // namespace
