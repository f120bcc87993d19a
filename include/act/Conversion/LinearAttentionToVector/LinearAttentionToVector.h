//===- LinearAttentionToVector.h - Vector code for linear attention -*- C++
//-*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_LINEARATTENTIONTOVECTOR_LINEARATTENTIONTOVECTOR_H
#define ACT_CONVERSION_LINEARATTENTIONTOVECTOR_LINEARATTENTIONTOVECTOR_H

#include "act/Conversion/VectorTarget.h"
#include "act/Dialect/Act/IR/ActAttributes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include <string>

#include "act/Conversion/LinearAttentionToVector/VectorFeatureMapInterface.h.inc"

namespace mlir::act {

/// Makes the feature maps of the act dialect implement
/// VectorFeatureMapInterface.
void registerVectorFeatureMapModels(DialectRegistry &registry);

/// What one kernel computes, for one head of one sequence.
enum class LinearAttentionKernelKind {
  /// Outputs, denominators and the state after the last token.
  Forward,
  /// The state after the last token.
  State,
  /// The gradient of the queries, walking forwards.
  QueryGrad,
  /// The gradients of keys, values and of the state before the first token,
  /// walking backwards.
  KeyValueGrad
};

/// All that a kernel is specialised to. The number of tokens, row strides and
/// the number of heads are arguments at run time.
struct LinearAttentionKernelOptions {
  LinearAttentionKernelKind kind = LinearAttentionKernelKind::Forward;
  FeatureMapAttrInterface featureMap;
  /// Element type of queries, keys, values, outputs and their gradients.
  FloatType inputType;
  /// Number of features of a query or a key (M) and of a value (D).
  int64_t features = 0;
  int64_t values = 0;
  double scale = 1.0;
  double epsilon = 0.0;
  bool normalize = false;
  DecayKind decay = DecayKind::None;
  /// The state kernel takes the tokens off the state instead of adding them.
  bool subtract = false;
  /// Gradients are added to what their destination holds, as it takes when
  /// several heads share a query, key or value head.
  bool accumulateQuery = false;
  bool accumulateKey = false;
  bool accumulateValue = false;
  /// Tokens taken together; a multiple of the lanes of a vector, 0 to have it
  /// chosen by chooseChunk.
  int64_t chunk = 0;
};

/// Succeeds if there is a kernel for `options`; on failure `reason` says what
/// was expected.
LogicalResult
isLinearAttentionKernelSupported(const LinearAttentionKernelOptions &options,
                                 std::string &reason);

/// The number of tokens that `target` best takes together.
int64_t chooseChunk(const LinearAttentionKernelOptions &options,
                    const VectorTarget &target);

struct LinearAttentionKernel {
  func::FuncOp function;
  /// Bytes of workspace that it needs, aligned to 64 bytes.
  int64_t workspaceBytes = 0;
  /// Tokens that it takes together.
  int64_t chunk = 0;
};

/// Adds the function `name` to `module`, which computes what `options` say.
/// Its arguments, all memrefs with row strides and offsets known at run time,
/// T the number of tokens, in this order and only those that apply:
///
///   forward          q[T,M] k[T,M] v[T,D] decay S[M,D] z[M]
///                    -> o[T,D] d[T] S[M,D] z[M]
///   state            k v decay S z -> S z
///   query_grad       q k v decay o d do S z -> dq[T,M] ddecay S z
///   key_value_grad   q k v decay o d do dS dz -> dk[T,M] dv[T,D] ddecay dS dz
///
/// and last the workspace, memref<?xi8>; z are [1, M]. States may be written
/// over the ones they come from. Calls for consecutive parts of a sequence, in
/// their order or for key_value_grad in reverse order, pass them on.
///
/// `decay` is f32[T], or f32[1] per head. The kernels of gradients add what the
/// gradient of the decay consists of to `ddecay`: per token w_t = q_t.dq_t -
/// k_t.dk_t of features, f32[T]; per head the sums of (t + 1) w_t and of w_t,
/// f64[2]. The caller sums w over later tokens and adds the product of the last
/// state and its gradient.
FailureOr<LinearAttentionKernel>
buildLinearAttentionKernel(ModuleOp module, StringRef name,
                           const LinearAttentionKernelOptions &options,
                           const VectorTarget &target);

/// Lowers the operations on linear attention in `module`, which are on buffers:
/// see ConvertLinearAttentionToVectorPass.
LogicalResult convertLinearAttentionToVector(ModuleOp module,
                                             const VectorTarget &target);

/// Expands `math.exp` of f32 vectors: see ExpandVectorExpPass.
void populateExpandVectorExpPatterns(RewritePatternSet &patterns);

} // namespace mlir::act

#endif // ACT_CONVERSION_LINEARATTENTIONTOVECTOR_LINEARATTENTIONTOVECTOR_H
