//===- LinearAttentionCalls.h - Linear attention as custom calls -*- C++
//-*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How operations on linear attention look outside of act:
// `stablehlo.custom_call`s with `api_version` 4, which JAX writes and for which
// act has kernels. Operands are those of the operation without destinations
// that are not read, in order; results are its results. Every key of the
// `backend_config` is there:
//
//   act_linear_attention        feature_map, scale, normalize, epsilon, chunk,
//   decay act_linear_attention_grad   the same, state_policy, segment
//   act_linear_attention_state  feature_map, normalize, chunk, decay, subtract
//
// with feature_map, decay and state_policy as strings, scale and epsilon as
// f64, normalize and subtract as i1, chunk and segment (0 unless state_policy
// is "checkpoint") as i64.
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_LINEARATTENTIONCALLS_H
#define ACT_DIALECT_ACT_IR_LINEARATTENTIONCALLS_H

#include "act/Dialect/Act/IR/ActOps.h"

namespace mlir::act {

constexpr llvm::StringLiteral kForwardCall = "act_linear_attention";
constexpr llvm::StringLiteral kGradientCall = "act_linear_attention_grad";
constexpr llvm::StringLiteral kStateCall = "act_linear_attention_state";

/// The target of the custom call that `op` is outside of act.
StringRef getCallTarget(LinearAttentionOpInterface op);

/// Its `backend_config`.
DictionaryAttr getCallConfig(LinearAttentionOpInterface op);

/// The feature map of that name, or null.
FeatureMapAttrInterface getFeatureMap(MLIRContext *context, StringRef name);

/// True if `op` is a custom call of one of the targets.
bool isLinearAttentionCall(Operation *op);

/// Replaces such a call by the operation it stands for, with destinations out
/// of `tensor.empty`. Emits an error if the call is not as above.
LogicalResult raiseLinearAttentionCall(Operation *call);

} // namespace mlir::act

#endif // ACT_DIALECT_ACT_IR_LINEARATTENTIONCALLS_H
