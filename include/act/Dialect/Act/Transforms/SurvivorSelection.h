//===- SurvivorSelection.h - Which forward values cross the boundary -*- C++
//-*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_TRANSFORMS_SURVIVORSELECTION_H
#define ACT_DIALECT_ACT_TRANSFORMS_SURVIVORSELECTION_H

#include "act/Analysis/AutodiffGraph.h"
#include "act/Analysis/StructuralKeys.h"
#include "act/Dialect/Act/Transforms/EncodingPolicy.h"
#include "act/Dialect/Act/Transforms/PartitionOptions.h"

namespace mlir::act {

/// Chooses the forward values that cross into backward: a minimum cut between
/// what must be kept (results of operations that are not run again, capacity
/// the bytes of the encoded value) and what backward reads.
class SurvivorSelection {
public:
  /// `keys` name the contractions of a plan, if `options` have one.
  SurvivorSelection(const AutodiffGraph &graph, const EncodingPolicy &policy,
                    const PartitionOptions &options,
                    const StructuralKeys *keys = nullptr);

  /// Lets `values`, which backward reads, be survivors whatever they cost.
  void require(ArrayRef<Value> values) { required.insert_range(values); }

  /// The survivors in program order.
  SmallVector<Value> select() const;

  /// Bytes of `survivors` as they will be encoded, all copies together.
  int64_t getStorage(ArrayRef<Value> survivors) const;

  /// Floating-point operations of the contractions that backward runs again if
  /// it has `survivors`, once for each value that it needs.
  double getRecomputedFlops(ArrayRef<Value> survivors) const;

  /// True if `op` of forward may be run again in backward.
  bool isRecomputable(Operation *op) const;

  /// True if backward has `value` for free: an argument, a constant or a cheap
  /// function of such.
  bool isArgument(Value value) const;

  /// Why `value` must be restored exactly, if it must.
  std::optional<Exactness> getExactness(Value value) const;

private:
  void findStatistics();
  void findMaskFills();
  void findFree();
  void findOrdered();
  void findDivisors();
  /// Among what loops carry.
  void findCarriedDivisors();
  void findRederived();
  void findProductSizes();
  void findGrown();

  bool isRecomputableContraction(Operation *op) const;
  int64_t getCapacity(Value value) const;
  EncodingAttrInterface getEncoding(Value value) const;

  const AutodiffGraph &graph;
  const EncodingPolicy &policy;
  const PartitionOptions &options;
  llvm::DenseSet<Value> required; ///< survivors in any case
  /// Contractions that a plan computes again.
  llvm::DenseSet<Operation *> planned;
  llvm::DenseSet<Value> statistics; ///< reductions and functions of them only
  llvm::DenseSet<Value> maskFills;  ///< may hold huge sentinels
  llvm::DenseSet<Value> free;       ///< cheap functions of arguments, constants
  llvm::DenseSet<Value> ordered;    ///< backward compares or sorts by them
  llvm::DenseSet<Value> divisors;   ///< must not be rounded to zero
  /// Functions of random values that backward draws again.
  llvm::DenseSet<Value> rederived;
  /// Elements of all products of an activation with arguments.
  llvm::DenseMap<Value, int64_t> productSizes;
  /// Results of contractions that may be computed again, and what is made of
  /// them element by element.
  llvm::DenseSet<Value> grown;
};

} // namespace mlir::act

#endif // ACT_DIALECT_ACT_TRANSFORMS_SURVIVORSELECTION_H
