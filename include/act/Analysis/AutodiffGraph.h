//===- AutodiffGraph.h - Forward and backward of a training step -*- C++
//-*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_ANALYSIS_AUTODIFFGRAPH_H
#define ACT_ANALYSIS_AUTODIFFGRAPH_H

#include "act/Analysis/OpModel/LoopModel.h"
#include "act/Analysis/ValueNumbering.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <memory>
#include <optional>

namespace mlir::act {

class JointLoopOp;

/// The two kinds of boundaries between forward and backward.
enum class BoundaryKind {
  /// Forward, then backward in one block: of a function or of a loop that runs
  /// whole steps (gradient accumulation).
  StraightLine,
  /// Iterations of forward and backward, each of which reads what the other
  /// left many iterations ago: the two bodies in an `act.joint_loop`.
  Loop
};

/// The boundary between forward and backward in a joint training step.
///
/// The first results of the step, the *primal results*, are computed by
/// forward. In program order forward ends with the last operation that computes
/// one of them, the *turning point*; what follows is backward. Frameworks emit
/// steps in this order. Where they do not (metrics returned as primal results
/// but computed after the gradients), `hoistForward` moves the stragglers,
/// which it finds by JAX's locations: a name with `transpose(` marks backward.
///
/// Values produced at or after the last forward contraction, the *head*, are
/// read by backward at once and are left alone (rule R6). If that contraction
/// is the only one behind a loop whose saves are in stacks, the head begins
/// with the loop: the peak is inside of it. A loop boundary has no head.
///
/// In a loop that runs whole steps the primal values are the scalars that it
/// adds up or writes to a stack and that no operation known to be of backward
/// contributes to; without any, backward begins with the first such operation.
///
/// The analysis holds for the block as it was when built; new operations are
/// unknown to it.
class AutodiffGraph {
public:
  /// Moves operations that primal results depend on, but that stand behind the
  /// first operation known to be backward by its location, in front of it.
  /// Returns how many were moved.
  static unsigned hoistForward(FunctionOpInterface function,
                               unsigned numPrimalResults);

  /// Analyses `function`, whose first `numPrimalResults` results are primal.
  /// Emits an error and fails if it has fewer results, more than one block, if
  /// a primal result is known to come from backward, or if there is no
  /// backward.
  static FailureOr<AutodiffGraph> build(FunctionOpInterface function,
                                        unsigned numPrimalResults);

  /// Analyses one iteration of `loop`; nothing if it does not hold a step. The
  /// first form moves operations that primal values depend on like
  /// `hoistForward`.
  static std::optional<AutodiffGraph> hoistAndBuild(LoopModelInterface loop);
  static std::optional<AutodiffGraph> build(LoopModelInterface loop);

  /// Analyses `joint`. What is in `kept` stays available to backward for
  /// other reasons than being saved.
  static AutodiffGraph build(JointLoopOp joint,
                             const llvm::DenseSet<Value> &kept);

  BoundaryKind getKind() const { return kind; }

  /// How many copies of a saved value are alive at the turning point: as many
  /// as the joint loops have iterations.
  int64_t getNumCopies() const { return numCopies; }

  /// Lets backward read the first of several equal values and erases operations
  /// of backward that compute what was computed before, Build the graph
  /// again afterwards.
  void mergeEqualValues() const;

  /// Moves what backward computes of forward's values alone, without any
  /// cotangent, to the end of forward: factors of derivatives, which
  /// rematerialised sources compute in backward. Values of the head count as
  /// cotangents. Returns how many were moved; build the graph again afterwards.
  unsigned moveToForward() const;

  /// Operations of forward and backward in program order, without terminator.
  ArrayRef<Operation *> getForward() const {
    return ArrayRef(operations).take_front(numForward);
  }
  ArrayRef<Operation *> getBackward() const {
    return ArrayRef(operations).drop_front(numForward);
  }

  Operation *getTerminator() const { return terminator; }
  Block &getBlock() const { return *block; }

  /// Position in the block, the same for operations nested in one of the block;
  /// nothing for operations added since.
  std::optional<unsigned> getPosition(Operation *op) const;

  /// True if `op`, or what it is nested in, is an operation of forward.
  bool isForward(Operation *op) const {
    std::optional<unsigned> position = getPosition(op);
    return position && *position < numForward;
  }

  /// The forward operation of the block that defines `value`, or null if it is
  /// an argument, defined by backward, or new.
  Operation *getForwardDef(Value value) const;

  /// The first value of the step that equals `value`.
  Value getLeader(Value value) const { return numbering->getLeader(value); }

  /// Leaders of the operands of `op` and of what its regions use from outside.
  SmallVector<Value> getOperandLeaders(Operation *op) const;

  /// True if `value` is a result of the step.
  bool isReturned(Value value) const { return returned.contains(value); }

  /// True if backward may read `value` of forward as it is, because it is alive
  /// at the peak whether or not it is saved: a loop of backward with saves in
  /// stacks reads it whole, or it is the row of a stack that is needed as such,
  /// or a budget allows it (`kKeptAttr`).
  bool isKept(Value value) const { return kept.contains(value); }

  /// True if forward's `op` belongs to the head.
  bool isHead(Operation *op) const;

  /// Forward values that backward reads, in order of first use, values used by
  /// nested operations included; without the head.
  ArrayRef<Value> getCrossing() const { return crossing.getArrayRef(); }

  /// True if `value` is made of constants only.
  bool isConstantLike(Value value) const {
    return constantLike.contains(value);
  }

  void print(raw_ostream &os) const;

private:
  explicit AutodiffGraph(Block &block, BoundaryKind kind);
  void setForward(unsigned count);
  void findHead();
  void findKept();
  LogicalResult checkResults(FunctionOpInterface function,
                             unsigned numPrimalResults) const;
  void findCrossing();
  void findConstantLike();

  BoundaryKind kind;
  int64_t numCopies = 1;
  SmallVector<Operation *> operations;
  Operation *terminator = nullptr;
  Block *block;
  unsigned numForward = 0;
  unsigned headBegin = 0;
  std::shared_ptr<const ValueNumbering> numbering;
  llvm::DenseMap<Operation *, unsigned> positions;
  llvm::DenseSet<Value> returned;
  llvm::DenseSet<Value> kept;
  llvm::DenseSet<Value> constantLike;
  llvm::SetVector<Value> crossing;
};

/// True if `type` is that of a saved value, or of a stack of them.
bool isSaved(Type type);

/// True if `op` returns stacks of saved values: a forward loop with saves.
bool savesInStacks(Operation *op);

/// True if `loc` names a transposed computation, JAX's mark of backward.
bool isBackwardLocation(Location loc);

/// The location of a copy in backward of a forward operation at `loc`: its name
/// starts with "act.recompute", or with "act.recompute_early" if nothing holds
/// the copy back because backward has computed nothing yet.
Location getRecomputeLocation(Location loc, bool isHeldBack);

/// True if `loc` was made by `getRecomputeLocation`.
bool isRecomputeLocation(Location loc);

/// True if it was made so for a copy that something holds back.
bool isHeldBackLocation(Location loc);

/// The outermost name in `loc`, the way JAX names operations, or "".
StringRef getLocationName(Location loc);

/// The number of primal results of `function`: its attribute
/// `act.primal_results` if it has one, else `fallback`.
unsigned getNumPrimalResults(FunctionOpInterface function, unsigned fallback);

} // namespace mlir::act

#endif // ACT_ANALYSIS_AUTODIFFGRAPH_H
