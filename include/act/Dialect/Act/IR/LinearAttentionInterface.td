//===- LinearAttentionInterface.td - What its operations share -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_LINEARATTENTIONINTERFACE_TD
#define ACT_DIALECT_ACT_IR_LINEARATTENTIONINTERFACE_TD

include "mlir/IR/OpBase.td"

def Act_LinearAttentionOpInterface : OpInterface<"LinearAttentionOpInterface"> {
  let cppNamespace = "::mlir::act";
  let description = [{
    What `act.linear_attention`, its gradient and its state update have in common,
    so that passes need not tell them apart. Sizes are named as in
    `act.linear_attention`; a size may be dynamic, numbers of heads are not.
  }];
  let methods = [
    InterfaceMethod<"q, [B, T, Hq, P]; null where there are no queries.",
      "::mlir::Value", "getQuery", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<"k, [B, T, Hk, P].", "::mlir::Value", "getKey">,
    InterfaceMethod<"v, [B, T, Hv, D].", "::mlir::Value", "getValue">,
    InterfaceMethod<"Logarithms of what states are multiplied by, or null.",
      "::mlir::Value", "getDecay">,
    InterfaceMethod<"Parameters of the feature map, [M, P], or null.",
      "::mlir::Value", "getFeatures">,
    InterfaceMethod<"The feature map.",
      "::mlir::act::FeatureMapAttrInterface", "getFeatureMap">,
    InterfaceMethod<"True if there is a normaliser, hence sums of keys.",
      "bool", "getNormalize">,
    InterfaceMethod<"How many tokens to take together; 0 for the target's choice.",
      "uint64_t", "getChunk">,
    InterfaceMethod<"The destinations; states come last.",
      "::mlir::Operation::operand_range", "getOuts">,
    InterfaceMethod<[{
        The states that the operation starts from: S, [B, Hs, M, D], and with
        `normalize` z, [B, Hs, M].
      }],
      "::mlir::Operation::operand_range", "getStates">
  ];
  let extraSharedClassDeclaration = [{
    ::mlir::act::DecayKind getDecayKind() {
      return ::mlir::act::detail::getDecayKind($_op.getDecay());
    }
    /// S, the state that the operation starts from.
    ::mlir::Value getState() { return $_op.getStates().front(); }
    /// z, the sum of keys that the operation starts from, or null.
    ::mlir::Value getKeySum() {
      return $_op.getNormalize() ? $_op.getStates().back() : ::mlir::Value();
    }
    /// The type of rows, and that of states and all sums.
    ::mlir::Type getRowElementType() {
      return ::mlir::getElementTypeOrSelf($_op.getKey());
    }
    ::mlir::Type getStateElementType() {
      return ::mlir::act::detail::getStateElementType(getRowElementType());
    }
    int64_t getBatchSize() { return getSize($_op.getKey(), 0); }
    int64_t getLength() { return getSize($_op.getKey(), 1); }
    int64_t getNumQueryHeads() {
      return $_op.getQuery() ? getSize($_op.getQuery(), 2) : 1;
    }
    int64_t getNumKeyHeads() { return getSize($_op.getKey(), 2); }
    int64_t getNumValueHeads() { return getSize($_op.getValue(), 2); }
    /// Hs: a state for each head of keys and of values.
    int64_t getNumStateHeads() {
      return std::max(getNumKeyHeads(), getNumValueHeads());
    }
    /// H.
    int64_t getNumHeads() {
      return std::max(getNumQueryHeads(), getNumStateHeads());
    }
    /// P, the length of rows of queries and keys.
    int64_t getRowSize() { return getSize($_op.getKey(), 3); }
    /// M.
    int64_t getNumFeatures() {
      return $_op.getFeatures() ? getSize($_op.getFeatures(), 0) : getRowSize();
    }
    /// D, the length of rows of values.
    int64_t getValueSize() { return getSize($_op.getValue(), 3); }

  private:
    static int64_t getSize(::mlir::Value value, unsigned axis) {
      return ::llvm::cast<::mlir::ShapedType>(value.getType()).getDimSize(axis);
    }

  public:
  }];
}

#endif // ACT_DIALECT_ACT_IR_LINEARATTENTIONINTERFACE_TD
