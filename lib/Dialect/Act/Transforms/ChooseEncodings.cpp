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
  double weight;  ///< sensitivity of the gradient to it, per element
  unsigned bits;
};

struct ActChooseEncodingsPass
    : mlir::act::impl::ActChooseEncodingsPassBase<ActChooseEncodingsPass> {
  using Base::Base;
  void runOnOperation() override;

private:
  LogicalResult checkOptions();
  EncodingAttrInterface getEncoding(const Candidate &candidate, unsigned bits);
  double getError(ArrayRef<Candidate> candidates);
  double getAverageBits(ArrayRef<Candidate> candidates);
  LogicalResult assignBits(MutableArrayRef<Candidate> candidates);
};
} // namespace

/// Relative gradient error per relative error of the saved values: 0.12 was
/// measured for a small GPT with 4 bits in groups of 64, whose codes have a
/// standard deviation of 1/15/sqrt(6) of their range. See docs/Encodings.md.
static constexpr double kErrorScale = 4.5;

/// Products of two activations (attention) feel an error in both operands.
static double getSensitivity(Value value) {
  SmallVector<Value> stack = {value};
  llvm::DenseSet<Value> seen;
  while (!stack.empty() && seen.size() < 16) {
    Value next = stack.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    for (Operation *user : next.getUsers()) {
      OpKind kind = getOpKind(user);
      if (kind == OpKind::Contraction &&
          llvm::none_of(user->getOperands(), llvm::IsaPred<BlockArgument>))
        return 2;
      if (kind == OpKind::View || isa<BarrierOp>(user))
        llvm::append_range(stack, user->getResults());
    }
  }
  return 1;
}

/// Gives `save` the encoding and carries the type through barriers, stacks and
/// loops.
static void setEncoding(CompressedSaveOp save, EncodingAttrInterface encoding) {
  auto type = CompressedType::get(
      save.getContext(), cast<RankedTensorType>(save.getInput().getType()),
      encoding);
  for (Value value : findSavedValues(save)) {
    auto stack = dyn_cast<StackType>(value.getType());
    value.setType(stack ? Type(stack.withCompressedType(type)) : type);
  }
}

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

double ActChooseEncodingsPass::getError(ArrayRef<Candidate> candidates) {
  double sum = 0, elements = 0;
  for (const Candidate &candidate : candidates) {
    double n = candidate.type.getNumElements() * candidate.copies;
    elements += n;
    sum += candidate.weight * n *
           getEncoding(candidate, candidate.bits).getErrorVariance();
  }
  return elements == 0 ? 0 : kErrorScale * std::sqrt(sum / elements);
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

/// Lowers bits from 8 where that costs the least predicted variance per byte,
/// as long as the error budget allows or until the average is reached (the
/// greedy solution of a convex allocation problem, as in GACT, section 4.2).
LogicalResult
ActChooseEncodingsPass::assignBits(MutableArrayRef<Candidate> candidates) {
  for (Candidate &candidate : candidates)
    candidate.bits = 8;
  if (errorBudget > 0 && getError(candidates) > errorBudget)
    return getOperation().emitError("error budget ")
           << errorBudget.getValue()
           << " is below the predicted error at 8 bits, "
           << getError(candidates);
  while (averageBits == 0 || getAverageBits(candidates) > averageBits) {
    Candidate *best = nullptr;
    double bestCost = 0;
    for (Candidate &candidate : candidates) {
      if (candidate.bits == 1)
        continue;
      RankedTensorType type = candidate.type;
      EncodingAttrInterface now = getEncoding(candidate, candidate.bits);
      EncodingAttrInterface next = getEncoding(candidate, candidate.bits / 2);
      double saved = getStorageBytes(now, type) - getStorageBytes(next, type);
      double added = candidate.weight * type.getNumElements() *
                     (next.getErrorVariance() - now.getErrorVariance());
      double cost = saved > 0 ? added / saved : HUGE_VAL;
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
    if (errorBudget > 0 && getError(candidates) > errorBudget) {
      best->bits *= 2;
      return success();
    }
  }
  return success();
}

void ActChooseEncodingsPass::runOnOperation() {
  if (failed(checkOptions()))
    return signalPassFailure();
  SmallVector<EncodingRule> fileRules;
  if (!rules.empty()) {
    FailureOr<SmallVector<EncodingRule>> read =
        readEncodingRules(rules, getOperation());
    if (failed(read))
      return signalPassFailure();
    fileRules = std::move(*read);
  }

  EncodingPolicy policy = EncodingPolicy::get(getOperation());
  SmallVector<Candidate> candidates;
  getOperation().walk([&](CompressedSaveOp save) {
    if (!isa<RawAttr>(save.getResult().getType().getEncoding()))
      return;
    auto rule = llvm::find_if(
        fileRules, [&](const EncodingRule &r) { return r.matches(save); });
    if (rule != fileRules.end())
      return setEncoding(save, rule->encoding);
    if (save.getExact() || (bits == 0 && averageBits == 0 && errorBudget == 0))
      return setEncoding(save,
                         policy.getEncoding(save.getInput(), save.getExact(),
                                            /*bits=*/0, getNumCopies(save)));
    Value value = save.getInput();
    candidates.push_back({save, value, cast<RankedTensorType>(value.getType()),
                          getNumCopies(save), getSensitivity(value), bits});
  });
  if ((averageBits > 0 || errorBudget > 0) && failed(assignBits(candidates)))
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
