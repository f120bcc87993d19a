//===- LinearAttentionOps.td - Causal linear attention -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_LINEARATTENTIONOPS_TD
#define ACT_DIALECT_ACT_IR_LINEARATTENTIONOPS_TD

include "act/Analysis/OpModel/OpModelInterface.td"
include "act/Dialect/Act/IR/FeatureMaps.td"
include "act/Dialect/Act/IR/LinearAttentionInterface.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Act_AttentionElement : AnyTypeOf<[F16, BF16, F32, F64]>;

/// All operands are tensors, or all are buffers.
def Act_AttentionShaped : AnyTypeOf<[RankedTensorOf<[Act_AttentionElement]>,
                                     MemRefOf<[Act_AttentionElement]>],
                                    "ranked tensor or memref of floats">;

def Act_StatePolicy : AnyAttrOf<[Act_RescanAttr, Act_CheckpointAttr, Act_ReverseAttr],
                                "rescan, checkpoint or reverse"> {
  let constBuilderCall = "$0";
}

class Act_LinearAttentionOpBase<string mnemonic, list<Trait> traits,
                                list<string> modelMethods = ["getFlops", "getIterationAxes"]>
    : Op<Act_Dialect, mnemonic, !listconcat([
        AttrSizedOperandSegments,
        DestinationStyleOpInterface,
        DeclareOpInterfaceMethods<ConditionallySpeculatable>,
        DeclareOpInterfaceMethods<InferTypeOpInterface>,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<ReifyRankedShapedTypeOpInterface,
                                  ["reifyResultShapes"]>,
        DeclareOpInterfaceMethods<Act_OpModelInterface, modelMethods>
      ], traits)> {
  let results = (outs Variadic<RankedTensorOf<[Act_AttentionElement]>>:$results);
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
  let hasFolder = 1;
  code sharedClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutsMutable(); }
    /// The result `number`, or the destination where all operands are buffers.
    ::mlir::Value getWritten(unsigned number) {
      return getNumResults() ? ::mlir::Value(getResult(number)) : getOuts()[number];
    }
  }];
  code sharedClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      Adaptor adaptor(operands, attributes, properties, regions);
      for (::mlir::Type type : adaptor.getOuts().getTypes())
        if (::llvm::isa<::mlir::RankedTensorType>(type))
          inferred.push_back(type);
      return ::llvm::success();
    }
    ::llvm::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::mlir::act::detail::reifyDestinations(builder, *this, shapes);
    }
    void $cppClass::getEffects(::llvm::SmallVectorImpl<
        ::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>>
            &effects) {
      ::mlir::act::detail::getLinearAttentionEffects(*this, effects);
    }
    ::mlir::Speculation::Speculatability $cppClass::getSpeculatability() {
      return hasPureTensorSemantics() ? ::mlir::Speculation::Speculatable
                                      : ::mlir::Speculation::NotSpeculatable;
    }
    ::mlir::act::OpKind $cppClass::getOpKind() { return OpKind::Contraction; }
  }];
  let extraClassDefinition = sharedClassDefinition;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

def Act_LinearAttentionOp : Act_LinearAttentionOpBase<"linear_attention",
    [DeclareOpInterfaceMethods<Act_LinearAttentionOpInterface,
                               ["getQuery", "getStates"]>]> {
  let summary = "Causal linear attention over a sequence.";
  let description = [{
    For each sequence and head, with the feature map f, rows q_t and k_t (M features
    each), values v_t (D numbers) and the state S, z before the first token:

    ```
    S_t = g_t * S_{t-1} + f(k_t) v_t^T        z_t = g_t * z_{t-1} + f(k_t)
    n_t = scale * S_t^T f(q_t)                d_t = scale * z_t . f(q_t) + epsilon
    o_t = n_t / d_t with `normalize`, else n_t
    ```

    `g_t = exp(decay_t)` multiplies all of S and z (one number per head, or per
    token and head) or each of their M rows (a number per token, head and feature);
    1 without `decay`, which is a logarithm and not positive. -inf, or anything
    below -1e4, is a reset: what came before does not count. The results are o, d
    (with `normalize`) and the state after the last token, S and z (with
    `normalize`). Sums are in the type of the states.

    The method is chunk-wise: within a chunk products of queries and keys, between
    chunks the state (Katharopoulos et al., arXiv 2006.16236; SLiM Performers, arXiv
    2012.11346). `chunk` is how many tokens are taken together, 0 for what suits the
    target; it changes results by rounding only.

    Shapes: `query` [B, T, Hq, P], `key` [B, T, Hk, P], `value` [B, T, Hv, D]. H =
    max(Hq, Hk, Hv) and Hs = max(Hk, Hv), the heads that have states; head h reads
    head h / (H / Hx) of a tensor of Hx heads. S is [B, Hs, M, D], z [B, Hs, M], o
    [B, T, H, D], d [B, T, H]; `decay` is [Hs], [B, T, Hs] or [B, T, Hs, M]. M = P,
    except with `#act.favor_plus`, whose `features` have the shape [M, P].

    `outs` are the destinations of o and d, whose elements are not read, and the
    state before the first token, S and z: destinations that are read, so that the
    operation can be cut into parts of the sequence.

    All three operations can be tiled (`TilingInterface`). The dimensions are groups
    of heads that share neither a row nor a state (parallel; all tiles of one size),
    sequences (parallel), tokens (in order, the state going from tile to tile) and
    numbers of `value` (parallel), of which the last is there without `normalize`
    only. A gradient has the first two, or only the first with a decay per head,
    whose gradient is a sum over sequences.

    Canonical forms: no `decay` where it is a constant zero and its gradient is not
    used; `act.linear_attention_state` where only states are used; destinations
    where there are no tokens.

    Constraints (L: of all three operations on linear attention):

    * L1: `query`, `key`, `value` and S have rank 4, `features` rank 2 and `decay`
      rank 1, 3 or 4.
    * L2: numbers of heads are static and positive; H is a multiple of Hq and Hs, Hs
      one of Hk and Hv.
    * L3: `query`, `key`, `value`, `features`, o and gradients of the first three have
      the same element type; `decay` and its gradient, d and states have type f64 if
      that is f64, else f32.
    * L4: there are `features` if and only if the feature map has parameters.
    * L5: shapes are as above.
    * L6: `chunk` is not negative.
    * L7: there is a state z, like S, if and only if there is `normalize`.
    * C1: `outs` are o and S, or with `normalize` o, d, S and z.
    * C2: `scale` is finite.
    * C3: `epsilon` is finite and not negative, and 0 without `normalize`.

    Example:

    ```mlir
    %o, %d, %s1, %z1 = act.linear_attention
        ins(%q, %k, %v : tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>,
                         tensor<2x512x8x64xf32>)
        outs(%o0, %d0, %s, %z : tensor<2x512x8x64xf32>, tensor<2x512x8xf32>,
                                tensor<2x8x64x64xf32>, tensor<2x8x64xf32>)
        {feature_map = #act.elu_plus_one, normalize, epsilon = 1.0e-06 : f64}
    ```
  }];
  let arguments = (ins
    Act_AttentionShaped:$query, Act_AttentionShaped:$key, Act_AttentionShaped:$value,
    Optional<Act_AttentionShaped>:$decay, Optional<Act_AttentionShaped>:$features,
    Variadic<Act_AttentionShaped>:$outs,
    Act_FeatureMapAttrInterface:$feature_map,
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    UnitAttr:$normalize,
    DefaultValuedAttr<F64Attr, "0.0">:$epsilon,
    DefaultValuedAttr<I64Attr, "0">:$chunk);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:`
              type($query) `,` type($key) `,` type($value) `)`
    (`decay` `(` $decay^ `:` type($decay) `)`)?
    (`features` `(` $features^ `:` type($features) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict
  }];
  let extraClassDeclaration = sharedClassDeclaration # [{
    /// Where S is among `outs` and results.
    unsigned getStateNumber() { return getNormalize() ? 2 : 1; }
    ::mlir::Value getOutput() { return getWritten(0); }
    /// d, or null.
    ::mlir::Value getDenominator() {
      return getNormalize() ? getWritten(1) : ::mlir::Value();
    }
    ::mlir::Value getFinalState() { return getWritten(getStateNumber()); }
    /// z after the last token, or null.
    ::mlir::Value getFinalKeySum() {
      return getNormalize() ? getWritten(3) : ::mlir::Value();
    }
  }];
}

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

def Act_LinearAttentionGradOp : Act_LinearAttentionOpBase<"linear_attention_grad",
    [DeclareOpInterfaceMethods<Act_LinearAttentionOpInterface, ["getQuery"]>],
    ["getFlops", "getIterationAxes", "getSingularOperands"]> {
  let summary = "Gradients of causal linear attention.";
  let description = [{
    With the operands, states and attributes of an `act.linear_attention`, what it
    returned as o and d (`output`, `denominator`; with `normalize`) and the gradients
    of o (`gradient`) and of its final state, the gradients of its operands: of
    `query`, `key`, `value`, `decay` (if there is one) and of the initial state S and
    z (with `normalize`). `denominator` is taken to have no gradient, nor have
    `features`.

    `outs` are the destinations of the former, whose elements are not read, and the
    gradients of the final state, which are. With dN = `gradient` / d and dd =
    -(`gradient` . o) / d, without `normalize` dN = `gradient` and dd = 0, and G, y the
    gradients of S_t, z_t:

    ```
    G_t = g_{t+1} * G_{t+1} + scale * f(q_t) dN_t^T
    y_t = g_{t+1} * y_{t+1} + scale * f(q_t) dd_t
    df(q_t) = scale * (S_t dN_t + z_t dd_t)        df(k_t) = G_t v_t + y_t
    dv_t = G_t^T f(k_t)
    ddecay_t = sum over s >= t of (f(q_s) * df(q_s) - f(k_s) * df(k_s))
               + sum over D of (S_T * G_T) + z_T * y_T
    ```

    `ddecay` is summed over what its element stands for. `state_policy` says where
    the states S_t come from. With `#act.reverse` the operands `states` hold the state
    after the last token instead of that before the first. `epsilon` is that of
    forward; d holds it already.

    Constraints: L1 to L7 of `act.linear_attention`, and

    * C1: `outs` are dq, dk, dv, then ddecay if there is `decay`, dS and with
      `normalize` dz.
    * C2: there are `output` and `denominator` if and only if there is `normalize`.
    * C3: `scale` and `epsilon` are as in C2 and C3 of `act.linear_attention`.
    * C4: there is no `decay` with `#act.reverse`, which would divide by it.

    Example:

    ```mlir
    %dq, %dk, %dv, %ds0 = act.linear_attention_grad
        ins(%q, %k, %v : tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>,
                         tensor<2x512x8x64xf32>)
        gradient(%do : tensor<2x512x8x64xf32>)
        states(%s : tensor<2x8x64x64xf32>)
        outs(%dq0, %dk0, %dv0, %ds : tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>,
                                     tensor<2x512x8x64xf32>, tensor<2x8x64x64xf32>)
        {feature_map = #act.square, state_policy = #act.checkpoint<segment = 256>}
    ```
  }];
  let arguments = (ins
    Act_AttentionShaped:$query, Act_AttentionShaped:$key, Act_AttentionShaped:$value,
    Optional<Act_AttentionShaped>:$decay, Optional<Act_AttentionShaped>:$features,
    Optional<Act_AttentionShaped>:$output, Optional<Act_AttentionShaped>:$denominator,
    Act_AttentionShaped:$gradient,
    Variadic<Act_AttentionShaped>:$states,
    Variadic<Act_AttentionShaped>:$outs,
    Act_FeatureMapAttrInterface:$feature_map,
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    UnitAttr:$normalize,
    DefaultValuedAttr<F64Attr, "0.0">:$epsilon,
    DefaultValuedAttr<I64Attr, "0">:$chunk,
    DefaultValuedAttr<Act_StatePolicy, "::mlir::act::RescanAttr::get($_builder.getContext())">:$state_policy);
  let assemblyFormat = [{
    `ins` `(` $query `,` $key `,` $value `:`
              type($query) `,` type($key) `,` type($value) `)`
    (`decay` `(` $decay^ `:` type($decay) `)`)?
    (`features` `(` $features^ `:` type($features) `)`)?
    (`output` `(` $output^ `:` type($output) `)`)?
    (`denominator` `(` $denominator^ `:` type($denominator) `)`)?
    `gradient` `(` $gradient `:` type($gradient) `)`
    `states` `(` $states `:` type($states) `)`
    `outs` `(` $outs `:` type($outs) `)` attr-dict
  }];
  let extraClassDeclaration = sharedClassDeclaration # [{
    /// Where dS is among `outs` and results.
    unsigned getStateNumber() { return getDecay() ? 4 : 3; }
    /// The gradients of the final state: dS and dz.
    ::mlir::Operation::operand_range getStateGradients() {
      return getOuts().drop_front(getStateNumber());
    }
    ::mlir::Value getQueryGradient() { return getWritten(0); }
    ::mlir::Value getKeyGradient() { return getWritten(1); }
    ::mlir::Value getValueGradient() { return getWritten(2); }
    /// The gradient of `decay`, or null.
    ::mlir::Value getDecayGradient() {
      return getDecay() ? getWritten(3) : ::mlir::Value();
    }
    /// The gradient of the initial S.
    ::mlir::Value getInitialStateGradient() { return getWritten(getStateNumber()); }
    /// The gradient of the initial z, or null.
    ::mlir::Value getInitialKeySumGradient() {
      return getNormalize() ? getWritten(getStateNumber() + 1) : ::mlir::Value();
    }
  }];
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

def Act_LinearAttentionStateOp : Act_LinearAttentionOpBase<"linear_attention_state",
    [DeclareOpInterfaceMethods<Act_LinearAttentionOpInterface, ["getStates"]>]> {
  let summary = "The state of causal linear attention after a sequence.";
  let description = [{
    The state S and z (with `normalize`) that `act.linear_attention` returns, without
    attending: from that before the first token that after the last, or with
    `subtract` the other way round. `outs` are the states to start from.

    Constraints: L1 to L7 of `act.linear_attention`, and

    * C1: `outs` are S, and with `normalize` z.
    * C2: there is no `decay` with `subtract`, which would divide by it.

    Example:

    ```mlir
    %s1 = act.linear_attention_state
        ins(%k, %v : tensor<2x512x8x64xf32>, tensor<2x512x8x64xf32>)
        outs(%s : tensor<2x8x64x64xf32>) {feature_map = #act.square}
    ```
  }];
  let arguments = (ins
    Act_AttentionShaped:$key, Act_AttentionShaped:$value,
    Optional<Act_AttentionShaped>:$decay, Optional<Act_AttentionShaped>:$features,
    Variadic<Act_AttentionShaped>:$outs,
    Act_FeatureMapAttrInterface:$feature_map,
    UnitAttr:$normalize,
    DefaultValuedAttr<I64Attr, "0">:$chunk,
    UnitAttr:$subtract);
  let assemblyFormat = [{
    `ins` `(` $key `,` $value `:` type($key) `,` type($value) `)`
    (`decay` `(` $decay^ `:` type($decay) `)`)?
    (`features` `(` $features^ `:` type($features) `)`)?
    `outs` `(` $outs `:` type($outs) `)` attr-dict
  }];
  let extraClassDeclaration = sharedClassDeclaration # [{
    ::mlir::Value getFinalState() { return getWritten(0); }
    /// z after the last token (before the first with `subtract`), or null.
    ::mlir::Value getFinalKeySum() {
      return getNormalize() ? getWritten(1) : ::mlir::Value();
    }
  }];
}

#endif // ACT_DIALECT_ACT_IR_LINEARATTENTIONOPS_TD
