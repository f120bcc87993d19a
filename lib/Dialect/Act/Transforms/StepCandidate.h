//===- StepCandidate.h - A step partitioned one way -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_ACT_TRANSFORMS_STEPCANDIDATE_H
#define ACT_LIB_DIALECT_ACT_TRANSFORMS_STEPCANDIDATE_H

#include "EncodingRules.h"
#include "Partitioner.h"
#include "act/Analysis/MemoryLiveness.h"
#include "act/Analysis/Sensitivity.h"
#include "act/Planner/Problem.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"

namespace mlir::act {

/// What plans of one step have in common.
struct PlanContext {
  unsigned numPrimalResults = 1;
  /// Fewest bits per element of lossy saves, 0 for lossless ones only.
  unsigned leastBits = 4;
  /// Greatest predicted relative gradient error, 0 for any.
  double errorBudget = 0;
  SensitivityProfile profile; ///< measured sensitivities, or none
  /// The encodings of what these name are not up for decision.
  ArrayRef<EncodingRule> rules;
};

/// The bytes that moving data costs as much time as what a step does:
/// arithmetic counts as the bytes that are moved in the meantime.
///
/// Two cores of the machine that was measured on move 10 GB/s and multiply
/// matrices at 100 GFlop/s; an encoder runs at 5 GB/s of the tensor that it
/// encodes, a decoder at about the same (`benchmarks/quantizers.py`).
struct CostModel {
  double flopsPerByte = 10;
  double encodedByte = 2;
  double decodedByte = 2;

  /// Of running `op` once; a loop counts as often as it runs.
  double getCost(Operation *op) const;
  double getCost(Block &block) const;
};

/// What an option of a planned value means.
enum class PlanAction { Encode, Keep, Recompute };

/// How a saved value may be treated, and what follows from it in backward.
struct PlannedValue {
  std::string key;
  CompressedSaveOp save;
  /// What it may be stored as, the first raw unless a rule says otherwise.
  SmallVector<EncodingAttrInterface> encodings;
  /// Structural keys of the values that backward computes from it, and the
  /// bytes that they take if they are kept instead; none if they cannot be.
  SmallVector<std::string> followers;
  int64_t keptBytes = 0;
  /// Structural keys of the contractions with which backward can compute the
  /// value again from others that are saved, and the cost of that; none if it
  /// cannot.
  SmallVector<std::string> contractions;
  double contractionCost = 0;
  /// Cost of computing the followers again.
  double recomputeCost = 0;
  double codecCost = 0; ///< of encoding it once and decoding each load

  bool canKeep() const { return !followers.empty() && encodings.size() > 1; }
  bool canRecompute() const { return !contractions.empty(); }
  /// What option `choice` of its item means: first the encodings, then to keep,
  /// then to compute again, as far as these are possible.
  PlanAction getAction(unsigned choice) const {
    if (choice < encodings.size())
      return PlanAction::Encode;
    return choice == encodings.size() && canKeep() ? PlanAction::Keep
                                                   : PlanAction::Recompute;
  }
};

/// A copy of a step, partitioned with given options, and what lives in it when.
class StepCandidate {
public:
  /// Copies the module of `step` and partitions the copy of the function. Fails
  /// with an error as the partitioner and the analyses do.
  static FailureOr<StepCandidate> build(FunctionOpInterface step,
                                        const PartitionOptions &options,
                                        const PlanContext &context);

  /// The decision as a planner's problem, limits aside: an item per planned
  /// value, whose options are its encodings and, with `canPartition`, to keep
  /// what follows from it and to compute it again (`getOption`); and one item
  /// for what is not up for decision, the first. The peak rows are positions of
  /// the schedule; the last row is the error, limited if the context says so.
  /// Costs are parts of the time of the step, to which the squared error over
  /// that of a minibatch is added.
  planner::Problem getProblem(bool canPartition) const;

  /// Gives the saves the encodings of `choices`, and updates what lives when.
  LogicalResult apply(ArrayRef<unsigned> choices);

  ArrayRef<PlannedValue> getValues() const { return values; }
  const MemoryLiveness &getLiveness() const { return *liveness; }
  const PartitionOptions &getOptions() const { return options; }
  /// Predicted relative error of the gradient with the encodings as they are.
  double getError() const;
  FunctionOpInterface getStep() const { return step; }

private:
  StepCandidate(PartitionOptions options, const PlanContext &context)
      : options(std::move(options)), context(&context) {}
  /// Notes which contractions could make which survivor again.
  void findContractions(const PartitionedBoundary &boundary);
  /// Notes what backward computes from which survivor.
  void observe(const PartitionedBoundary &boundary);
  LogicalResult collectSaves();
  SmallVector<EncodingAttrInterface> getEncodings(CompressedSaveOp save) const;
  /// The options of `value`; `use` notes the bytes that one takes while the
  /// save lives.
  planner::Item getItem(const PlannedValue &value, bool canPartition,
                        function_ref<void(planner::Option &, double)> use,
                        unsigned errorRow) const;

  PartitionOptions options;
  const PlanContext *context;
  OwningOpRef<ModuleOp> module;
  FunctionOpInterface step;
  double stepCost = 0;
  /// Values that backward computes from survivors, by the key of the survivor.
  llvm::StringMap<PlannedValue> observed;
  std::vector<PlannedValue> values;
  std::optional<Sensitivity> sensitivity;
  std::optional<MemoryLiveness> liveness;
};

} // namespace mlir::act

#endif // ACT_LIB_DIALECT_ACT_TRANSFORMS_STEPCANDIDATE_H
