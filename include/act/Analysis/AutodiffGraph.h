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

#include "act/Analysis/ValueNumbering.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include <memory>
#include <optional>

namespace mlir::act {

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
/// read by backward at once and are left alone (rule R6).
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

  /// Lets backward read the first of several equal values and erases operations
  /// of backward that compute what was computed before, Build the graph
  /// again afterwards.
  void mergeEqualValues() const;

  /// Operations of forward and backward in program order, without terminator.
  ArrayRef<Operation *> getForward() const {
    return ArrayRef(operations).take_front(numForward);
  }
  ArrayRef<Operation *> getBackward() const {
    return ArrayRef(operations).drop_front(numForward);
  }

  Operation *getTerminator() const { return terminator; }

  /// Position in the block, the same for operations nested in one of the block;
  /// nothing for operations added since.
  std::optional<unsigned> getPosition(Operation *op) const;

  /// The forward operation of the block that defines `value`, or null if it is
  /// an argument, defined by backward, or new.
  Operation *getForwardDef(Value value) const;

  /// The first value of the step that equals `value`.
  Value getLeader(Value value) const { return numbering->getLeader(value); }

  /// Leaders of the operands of `op` and of what its regions use from outside.
  SmallVector<Value> getOperandLeaders(Operation *op) const;

  /// True if `value` is a result of the step.
  bool isReturned(Value value) const { return returned.contains(value); }

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
  LogicalResult checkResults(FunctionOpInterface function,
                             unsigned numPrimalResults) const;
  void findCrossing();
  void findConstantLike();

  SmallVector<Operation *> operations;
  Operation *terminator = nullptr;
  Block *block = nullptr;
  unsigned numForward = 0;
  unsigned headBegin = 0;
  std::shared_ptr<const ValueNumbering> numbering;
  llvm::DenseMap<Operation *, unsigned> positions;
  llvm::DenseSet<Value> returned;
  llvm::DenseSet<Value> constantLike;
  llvm::SetVector<Value> crossing;
};

/// True if `loc` names a transposed computation, JAX's mark of backward.
bool isBackwardLocation(Location loc);

/// The location of a copy in backward of a forward operation at `loc`: its name
/// starts with "act.recompute".
Location getRecomputeLocation(Location loc);

/// True if `loc` was made by `getRecomputeLocation`.
bool isRecomputeLocation(Location loc);

/// The outermost name in `loc`, the way JAX names operations, or "".
StringRef getLocationName(Location loc);

/// The number of primal results of `function`: its attribute
/// `act.primal_results` if it has one, else `fallback`.
unsigned getNumPrimalResults(FunctionOpInterface function, unsigned fallback);

} // namespace mlir::act

#endif // ACT_ANALYSIS_AUTODIFFGRAPH_H
