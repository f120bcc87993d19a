//===- FeatureMaps.td - Attributes of linear attention -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_FEATUREMAPS_TD
#define ACT_DIALECT_ACT_IR_FEATUREMAPS_TD

include "act/Dialect/Act/IR/ActBase.td"
include "act/Dialect/Act/IR/ActInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

//===----------------------------------------------------------------------===//
// Feature maps
//===----------------------------------------------------------------------===//

class Act_FeatureMap<string name, string attrMnemonic>
    : AttrDef<Act_Dialect, name,
        [DeclareAttrInterfaceMethods<Act_FeatureMapAttrInterface>]> {
  let mnemonic = attrMnemonic;
}

def Act_IdentityAttr : Act_FeatureMap<"Identity", "identity"> {
  let summary = "f(x) = x";
  let description = [{
    The rows are the features, as in RetNet (arXiv 2307.08621) and gated linear
    attention (arXiv 2312.06635).
  }];
}

def Act_ReluAttr : Act_FeatureMap<"Relu", "relu"> {
  let summary = "f(x) = max(x, 0)";
  let description = [{
    The gradient at 0 is 0.
  }];
}

def Act_EluPlusOneAttr : Act_FeatureMap<"EluPlusOne", "elu_plus_one"> {
  let summary = "f(x) = x + 1 for x > 0, else exp(x)";
  let description = [{
    Katharopoulos et al., arXiv 2006.16236, equation 7.
  }];
}

def Act_SquareAttr : Act_FeatureMap<"Square", "square"> {
  let summary = "f(x) = x^2";
  let description = [{
    The map of SLiM Performers, arXiv 2012.11346, section 4.
  }];
}

def Act_ExpAttr : Act_FeatureMap<"Exp", "exp"> {
  let summary = "f(x) = exp(x)";
  let description = [{
    Computed as it stands: rows above 88 overflow in f32.
  }];
}

def Act_FavorPlusAttr : Act_FeatureMap<"FavorPlus", "favor_plus"> {
  let summary = "f(x)_m = exp(w_m . x - |x|^2 / 2) / sqrt(M)";
  let description = [{
    Positive random features (Choromanski et al., arXiv 2009.14794, lemma 1); the
    operand `features` holds w, [M, P], and has no gradient.

    What is computed is stabilised by maxima that cancel: features of a query are
    taken relative to the greatest of its exponents, states and features of keys
    relative to the greatest exponent of the keys so far. States outside of the
    operation are as in the formula.
  }];
}

//===----------------------------------------------------------------------===//
// State policies
//===----------------------------------------------------------------------===//

def Act_RescanAttr : AttrDef<Act_Dialect, "Rescan"> {
  let mnemonic = "rescan";
  let summary = "Compute the states of forward again from the initial one";
  let description = [{
    Two sweeps: one in forward order that computes the states again, for the
    gradients of queries, and one in reverse order for those of keys and values.
    Memory does not grow with the sequence.
  }];
}

def Act_CheckpointAttr : AttrDef<Act_Dialect, "Checkpoint"> {
  let mnemonic = "checkpoint";
  let summary = "Keep the state at the start of each segment of tokens";
  let description = [{
    One sweep in forward order that computes states only and keeps one per
    `segment` tokens (rounded up to whole chunks), then one in reverse order over
    segments, within each as for `rescan`. Queries, keys and values are read twice
    while they are near. Computes what `rescan` does, in the same order.

    Constraints:

    * C1: `segment` is positive.
  }];
  let parameters = (ins "int64_t":$segment);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Act_ReverseAttr : AttrDef<Act_Dialect, "Reverse"> {
  let mnemonic = "reverse";
  let summary = "Subtract from the final state";
  let description = [{
    One sweep in reverse order that takes what each chunk added off the state.
    Errors grow with the length of the sequence, by about 1e-9 of the state per
    token in f32; see SLiM Performers, arXiv 2012.11346, section 3.
  }];
}

#endif // ACT_DIALECT_ACT_IR_FEATUREMAPS_TD
