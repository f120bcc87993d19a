//===- ChooseEncodings.cpp - Choose how each saved value is stored
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodingRules.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Analysis/SavedValues.h"
#include "act/Analysis/Sensitivity.h"
#include "act/Dialect/Act/Transforms/EncodingPolicy.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Support/DebugStringHelper.h"
#include <cmath>

namespace mlir::act {
#define GEN_PASS_DEF_ACTCHOOSEENCODINGSPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

namespace {
/// A save that may be lossy, in the search for bits.
struct Candidate {
  CompressedSaveOp save;
  Value value;
  RankedTensorType type;
  int64_t copies; ///< in stacks
  unsigned bits;
};

struct ActChooseEncodingsPass
    : mlir::act::impl::ActChooseEncodingsPassBase<ActChooseEncodingsPass> {
  using Base::Base;
  void runOnOperation() override;

private:
  LogicalResult checkOptions();
  EncodingAttrInterface getEncoding(const Candidate &candidate, unsigned bits);
  double getError(ArrayRef<Candidate> candidates,
                  const Sensitivity &sensitivity);
  double getCost(const Candidate &candidate, const Sensitivity &sensitivity);
  double getAverageBits(ArrayRef<Candidate> candidates);
  FailureOr<Sensitivity> readSensitivity(ArrayRef<Candidate> candidates);
  LogicalResult lowerBits(MutableArrayRef<Candidate> candidates,
                          const Sensitivity &sensitivity);
  void raiseBits(MutableArrayRef<Candidate> candidates,
                 const Sensitivity &sensitivity);
  void compareWithUniform(MutableArrayRef<Candidate> candidates,
                          const Sensitivity &sensitivity);
  LogicalResult assignBits(MutableArrayRef<Candidate> candidates);
};
} // namespace

LogicalResult ActChooseEncodingsPass::checkOptions() {
  ModuleOp module = getOperation();
  if (bits != 0 && bits != 1 && bits != 2 && bits != 4 && bits != 8)
    return module.emitError(
               "act-choose-encodings expects bits to be 0, 1, 2, 4 "
               "or 8, got ")
           << bits.getValue();
  if (averageBits < 0 || errorBudget < 0)
    return module.emitError(
        "act-choose-encodings expects budgets that are not negative");
  if (averageBits > 0 && errorBudget > 0)
    return module.emitError("act-choose-encodings expects average-bits or "
                            "error-budget, not both");
  return success();
}

EncodingAttrInterface
ActChooseEncodingsPass::getEncoding(const Candidate &candidate, unsigned bits) {
  return EncodingPolicy::get(getOperation())
      .getEncoding(candidate.value, std::nullopt, bits, candidate.copies);
}

double ActChooseEncodingsPass::getError(ArrayRef<Candidate> candidates,
                                        const Sensitivity &sensitivity) {
  double sum = 0;
  for (const Candidate &candidate : candidates)
    sum += sensitivity.getErrorVariance(candidate.save,
                                        getEncoding(candidate, candidate.bits));
  return Sensitivity::getError(sum);
}

double ActChooseEncodingsPass::getAverageBits(ArrayRef<Candidate> candidates) {
  double bytes = 0, elements = 0;
  for (const Candidate &candidate : candidates) {
    elements += candidate.type.getNumElements() * candidate.copies;
    bytes +=
        candidate.copies *
        getStorageBytes(getEncoding(candidate, candidate.bits), candidate.type);
  }
  return elements == 0 ? 0 : 8 * bytes / elements;
}

FailureOr<Sensitivity>
ActChooseEncodingsPass::readSensitivity(ArrayRef<Candidate> candidates) {
  SmallVector<CompressedSaveOp> saves = llvm::map_to_vector(
      candidates, [](const Candidate &candidate) { return candidate.save; });
  FailureOr<Sensitivity> sensitivity =
      Sensitivity::read(profile, saves, getOperation());
  if (succeeded(sensitivity) && !profile.empty() &&
      sensitivity->getNumUnknown() > 0)
    getOperation().emitWarning("profile '")
        << profile << "' does not know " << sensitivity->getNumUnknown()
        << " of " << saves.size()
        << " lossy saves, whose sensitivity is estimated";
  return sensitivity;
}

/// The variance that halving the bits of `candidate` adds, per byte that it
/// saves.
double ActChooseEncodingsPass::getCost(const Candidate &candidate,
                                       const Sensitivity &sensitivity) {
  EncodingAttrInterface now = getEncoding(candidate, candidate.bits);
  EncodingAttrInterface next = getEncoding(candidate, candidate.bits / 2);
  double saved = candidate.copies * (getStorageBytes(now, candidate.type) -
                                     getStorageBytes(next, candidate.type));
  double added = sensitivity.getErrorVariance(candidate.save, next) -
                 sensitivity.getErrorVariance(candidate.save, now);
  return saved > 0 ? added / saved : HUGE_VAL;
}

/// Lowers bits from 8 where that costs the least predicted variance per byte,
/// as long as the error budget allows or until the average is reached (the
/// greedy solution of a convex allocation problem, as in GACT, section 4.2).
LogicalResult
ActChooseEncodingsPass::lowerBits(MutableArrayRef<Candidate> candidates,
                                  const Sensitivity &sensitivity) {
  for (Candidate &candidate : candidates)
    candidate.bits = 8;
  if (errorBudget > 0 && getError(candidates, sensitivity) > errorBudget)
    return getOperation().emitError("error budget ")
           << errorBudget.getValue()
           << " is below the predicted error at 8 bits, "
           << getError(candidates, sensitivity);
  while (averageBits == 0 || getAverageBits(candidates) > averageBits) {
    Candidate *best = nullptr;
    double bestCost = 0;
    for (Candidate &candidate : candidates) {
      if (candidate.bits == 1)
        continue;
      double cost = getCost(candidate, sensitivity);
      if (!best || cost < bestCost) {
        best = &candidate;
        bestCost = cost;
      }
    }
    if (!best) {
      if (averageBits == 0)
        return success();
      return getOperation().emitError("average-bits ")
             << averageBits.getValue()
             << " is below the least that can be reached, "
             << getAverageBits(candidates);
    }
    best->bits /= 2;
    if (errorBudget > 0 && getError(candidates, sensitivity) > errorBudget) {
      best->bits *= 2;
      return success();
    }
  }
  return success();
}

/// Spends what the last step of lowering spared too much: raises bits where
/// that spares the most predicted variance, as long as the average allows.
void ActChooseEncodingsPass::raiseBits(MutableArrayRef<Candidate> candidates,
                                       const Sensitivity &sensitivity) {
  for (Candidate *best = candidates.data(); best;) {
    best = nullptr;
    double mostSpared = 0;
    for (Candidate &candidate : candidates) {
      if (candidate.bits == 8)
        continue;
      double before = sensitivity.getErrorVariance(
          candidate.save, getEncoding(candidate, candidate.bits));
      candidate.bits *= 2;
      double spared =
          before - sensitivity.getErrorVariance(
                       candidate.save, getEncoding(candidate, candidate.bits));
      if (spared > mostSpared && getAverageBits(candidates) <= averageBits) {
        best = &candidate;
        mostSpared = spared;
      }
      candidate.bits /= 2;
    }
    if (best)
      best->bits *= 2;
  }
}

/// Keeps what lowering found unless the same bits for all, and what is then
/// left to spend, have a smaller predicted error: values are few and large.
void ActChooseEncodingsPass::compareWithUniform(
    MutableArrayRef<Candidate> candidates, const Sensitivity &sensitivity) {
  raiseBits(candidates, sensitivity);
  double least = getError(candidates, sensitivity);
  for (unsigned uniform : {8, 4, 2, 1}) {
    SmallVector<Candidate> others(candidates);
    for (Candidate &candidate : others)
      candidate.bits = uniform;
    if (getAverageBits(others) > averageBits)
      continue;
    raiseBits(others, sensitivity);
    if (getError(others, sensitivity) < least)
      llvm::copy(others, candidates.begin());
    return;
  }
}

LogicalResult
ActChooseEncodingsPass::assignBits(MutableArrayRef<Candidate> candidates) {
  FailureOr<Sensitivity> sensitivity = readSensitivity(candidates);
  if (failed(sensitivity) || failed(lowerBits(candidates, *sensitivity)))
    return failure();
  if (averageBits > 0)
    compareWithUniform(candidates, *sensitivity);
  return success();
}

void ActChooseEncodingsPass::runOnOperation() {
  if (failed(checkOptions()))
    return signalPassFailure();
  FailureOr<SmallVector<EncodingRule>> fileRules =
      readEncodingRules(rules, getOperation());
  if (failed(fileRules))
    return signalPassFailure();

  EncodingPolicy policy = EncodingPolicy::get(getOperation());
  SmallVector<Candidate> candidates;
  getOperation().walk([&](CompressedSaveOp save) {
    if (!isa<RawAttr>(save.getResult().getType().getEncoding()))
      return;
    for (const EncodingRule &rule : *fileRules)
      if (EncodingAttrInterface encoding = rule.getEncoding(save))
        return setEncoding(save, encoding);
    if (save.getExact() || (bits == 0 && averageBits == 0 && errorBudget == 0))
      return setEncoding(save,
                         policy.getEncoding(save.getInput(), save.getExact(),
                                            /*bits=*/0, getNumCopies(save)));
    Value value = save.getInput();
    candidates.push_back({save, value, cast<RankedTensorType>(value.getType()),
                          getNumCopies(save), bits});
  });
  bool hasBudget = averageBits > 0 || errorBudget > 0;
  if (!profile.empty() && !hasBudget) {
    // Nothing depends on it, but a bad file is an error all the same.
    if (failed(SensitivityProfile::read(profile, getOperation())))
      return signalPassFailure();
  }
  if (hasBudget && failed(assignBits(candidates)))
    return signalPassFailure();
  for (const Candidate &candidate : candidates)
    setEncoding(candidate.save, getEncoding(candidate, candidate.bits));

  getOperation().walk([&](CompressedSaveOp save) {
    auto type = save.getResult().getType();
    EncodingAttrInterface encoding = type.getEncoding();
    int64_t copies = getNumCopies(save);
    int64_t before = copies * getTensorBytes(type.getTensorType()).value_or(0);
    int64_t after = copies * getStorageBytes(encoding, type.getTensorType());
    auto options = remark::RemarkOpts::name("Encoding").category("act");
    if (isa<RawAttr>(encoding))
      remark::missed(save.getLoc(), options)
          << "stored raw, "
          << (save.getExact() ? stringifyExactness(*save.getExact())
                              : StringRef("recompute only"))
          << ", " << std::to_string(before) << " bytes";
    else
      remark::passed(save.getLoc(), options)
          << "stored as " << debugString(encoding) << ", saves "
          << std::to_string(before - after) << " of " << std::to_string(before)
          << " bytes";
  });
}
