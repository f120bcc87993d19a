//===- StepGraphBuilder.h - Nodes of operations -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_ANALYSIS_MEMORY_STEPGRAPHBUILDER_H
#define ACT_LIB_ANALYSIS_MEMORY_STEPGRAPHBUILDER_H

#include "StepGraph.h"
#include "act/Analysis/OpModel/LoopModel.h"
#include "act/Dialect/StablehloShell/StablehloBuilder.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace mlir::act::memory {

/// Makes nodes in one computation. Equal nodes are one, and those that only
/// rename a value are none.
class NodeBuilder {
public:
  explicit NodeBuilder(Computation &computation) : computation(computation) {}

  /// What the nodes that follow belong to.
  void setOrigin(Value value) { origin = value; }
  Computation &getComputation() { return computation; }

  Ref parameter(RankedTensorType type, Value value);
  Ref constant(RankedTensorType type, Attribute elements);
  Ref bitcast(Ref operand, ArrayRef<int64_t> shape);
  Ref broadcast(Ref operand, RankedTensorType type, ArrayRef<int64_t> dims);
  Ref transpose(Ref operand, ArrayRef<int64_t> permutation);
  Ref elementwise(StringRef name, RankedTensorType type, ArrayRef<Ref> operands,
                  Attribute attributes = {});
  /// Operands with 32 bits per element where they have bf16.
  SmallVector<Ref> widenOperands(ArrayRef<Ref> operands);
  /// A node of any other kind, equal to others of the same name, operands,
  /// attributes and signature.
  Node &node(NodeKind kind, StringRef name, ArrayRef<RankedTensorType> types,
             ArrayRef<Ref> operands, Attribute attributes = {},
             Attribute signature = {});

private:
  Computation &computation;
  Value origin;
  DenseMap<unsigned, SmallVector<Node *, 1>> known; ///< by hash
};

RankedTensorType getType(Ref ref);

/// A product of two tensors: the numbers of the batch dimensions and of those
/// that are summed over, of both operands.
struct DotDimensions {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContracting, rhsContracting;
};

/// A product with the free and the contracted dimensions of each operand merged
/// into one, operands transposed where those are not neighbours.
Ref buildDot(NodeBuilder &builder, Ref lhs, Ref rhs,
             const DotDimensions &dimensions, RankedTensorType type);

/// The gradient of max pooling: positions of the greatest elements of windows
/// of `operand`, and `source` added up there.
Ref buildSelectAndScatter(NodeBuilder &builder, Ref operand, Ref source,
                          Ref initial, Attribute attributes);

/// Builds the nodes of a region. Loops have builders of their own.
class RegionBuilder {
public:
  RegionBuilder(Computation &computation, RegionBuilder *parent)
      : nodes(computation), parent(parent) {}

  LogicalResult addArguments(Block &block);
  LogicalResult build(Block &block);
  /// The nodes that stand for `value`: several for what is saved.
  SmallVector<Ref> getParts(Value value);
  /// Values of the parent that nodes here read, in the order of the parameters
  /// that stand for them.
  ArrayRef<Ref> getCaptured() const { return captured; }

private:
  LogicalResult visit(Operation *op);
  LogicalResult visitLoop(LoopModelInterface loop);
  LogicalResult visitBranch(Operation *op);
  LogicalResult visitCall(CallOpInterface call);
  LogicalResult visitSave(CompressedSaveOp save);
  void visitLoad(DequantizeLoadOp load);
  void visitBarrier(ValueRange inputs, ValueRange results);
  void visitEmptyStack(EmptyStackOp stack);
  void visitPush(StackPushOp push);
  void visitRead(StackReadOp read);
  void visitConstant(Operation *op);
  bool visitStorage(Operation *op);
  std::optional<Ref> buildSpecial(Operation *op);
  Ref buildDotGeneral(Operation *op);
  SmallVector<bool> sinkConstants(LoopModelInterface loop);
  void visitGeneric(Operation *op);
  /// Nodes of a codec, built by `build` from `inputs`.
  SmallVector<Ref>
  expand(TypeRange inputs, ArrayRef<Ref> operands,
         llvm::function_ref<SmallVector<Value>(StablehloBuilder &, ValueRange)>
             build,
         Location loc, Value origin);

  Ref getRef(Value value) { return getParts(value).front(); }
  SmallVector<Ref> getRefs(ValueRange values);
  Ref capture(Ref outer);
  /// True while the body of `callee` is being built here or around here.
  bool isActive(Operation *callee) const {
    return llvm::is_contained(active, callee) ||
           (parent && parent->isActive(callee));
  }
  LogicalResult checkTypes(Operation *op, TypeRange types);
  void set(Value value, ArrayRef<Ref> refs) {
    parts[value].assign(refs.begin(), refs.end());
  }

  NodeBuilder nodes;
  RegionBuilder *parent;
  DenseMap<Value, SmallVector<Ref, 1>> parts;
  DenseMap<std::pair<Node *, unsigned>, Ref> inner;
  SmallVector<Ref> captured;
  SmallVector<Operation *> active;
  /// Where nodes of codecs belong to, if any are being built.
  Value codecOrigin;
};

/// The tensors that hold a value of type `type`; empty if not all are static.
SmallVector<RankedTensorType> getPartTypes(Type type);

} // namespace mlir::act::memory

#endif // ACT_LIB_ANALYSIS_MEMORY_STEPGRAPHBUILDER_H
