//===- Report.cpp - Write what was saved, and what was not, as JSON
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Boundaries.h"
#include "StepOutput.h"
#include "act/Analysis/AutodiffGraph.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Analysis/SavedValues.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "act/Dialect/Act/Transforms/EncodingPolicy.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "mlir/Support/DebugStringHelper.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTREPORTPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

/// A sentence for the reader of a report.
static StringRef explain(Exactness reason) {
  switch (reason) {
  case Exactness::Integer:
    return "integers are restored exactly";
  case Exactness::Predicate:
    return "predicates are restored exactly";
  case Exactness::Statistic:
    return "a statistic scales or shifts whole rows";
  case Exactness::MaskFill:
    return "mask fills would take the whole range of a code";
  case Exactness::Ordered:
    return "backward compares or sorts by it";
  case Exactness::LoopCarried:
    return "results of loops are left as they are";
  case Exactness::Small:
    return "too small to be worth an encoding";
  case Exactness::Unsupported:
    return "dynamic shape, rank 0 or an element type that no encoding takes";
  case Exactness::Divisor:
    return "rounded to zero, a divisor would make gradients infinite";
  }
  llvm_unreachable("unknown reason");
}

/// Loops in `step` with the unit attribute `name`.
static int64_t countLoops(FunctionOpInterface step, StringRef name) {
  int64_t count = 0;
  step.walk([&](Operation *op) { count += op->hasAttr(name); });
  return count;
}

namespace {
/// A large value that backward reads in full.
struct FullValue {
  std::string operation;
  std::string location;
  RankedTensorType type;
  int64_t copies;
  StringRef reason;
};

/// Collects what is known boundary by boundary, some of which exist only while
/// they are visited.
class BoundarySummary {
public:
  void add(const AutodiffGraph &graph);
  /// Adds saves that are stored in full.
  void addRawSaves(FunctionOpInterface function);

  int64_t numForward = 0, numBackward = 0, numBoundaries = 0, numPairs = 0;
  int64_t numClones = 0, numContractions = 0;
  double flops = 0;
  SmallVector<FullValue> fullValues;
  SmallVector<std::string> reasons; ///< why loops make no pair

private:
  void addFull(Value value, int64_t copies, StringRef reason);

  llvm::DenseSet<Value> seen;
};

/// Writes the report of one function.
class ReportWriter {
public:
  ReportWriter(llvm::json::OStream &json, FunctionOpInterface function,
               const BoundarySummary &summary)
      : json(json), function(function), summary(summary) {}

  void write(unsigned numPrimal);

private:
  void writeValue(StringRef operation, StringRef location,
                  RankedTensorType type);
  void writeSurvivor(CompressedSaveOp save);
  void writeFullValue(const FullValue &value);
  /// What `act-plan` decided for, if it did.
  void writePlan();

  llvm::json::OStream &json;
  FunctionOpInterface function;
  const BoundarySummary &summary;
};
} // namespace

static StringRef getDefName(Value value) {
  Operation *def = value.getDefiningOp();
  return def ? def->getName().getStringRef() : "";
}

void BoundarySummary::addFull(Value value, int64_t copies, StringRef reason) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (type && isWorthEncoding(getNumElements(type).value_or(0), copies) &&
      seen.insert(value).second)
    fullValues.push_back({getDefName(value).str(),
                          getLocationName(value.getLoc()).str(), type, copies,
                          reason});
}

void BoundarySummary::addRawSaves(FunctionOpInterface function) {
  function.walk([&](CompressedSaveOp save) {
    if (isa<RawAttr>(save.getResult().getType().getEncoding()))
      addFull(save.getInput(), getNumCopies(save),
              save.getExact() ? explain(*save.getExact())
                              : "recomputation only");
  });
}

void BoundarySummary::add(const AutodiffGraph &graph) {
  numForward += graph.getForward().size();
  numBackward += graph.getBackward().size();
  ++numBoundaries;
  numPairs += graph.getKind() == BoundaryKind::Loop;
  for (Operation *op : graph.getBackward()) {
    for (Value operand : getAllOperands(op)) {
      Operation *def = graph.getForwardDef(operand);
      if (!def || getAllOperands(def).empty())
        continue;
      if (graph.isHead(def))
        addFull(operand, 1,
                "read at the turning point, where everything is alive");
      else if (graph.isReturned(operand))
        addFull(operand, 1, "a result of the step, alive to the end");
      else if (def->hasAttr(kKeptAttr))
        addFull(operand, 1, "kept as it is: the budget allows it");
      else if (graph.isKept(operand))
        addFull(operand, graph.getNumCopies(),
                "needed in full by a loop of backward, or behind the loop");
      else
        addFull(operand, graph.getNumCopies(),
                "the step was left alone: nothing large enough crosses");
    }
    if (!isRecomputeLocation(op->getLoc()))
      continue;
    ++numClones;
    if (getOpKind(op) == OpKind::Contraction) {
      ++numContractions;
      flops += getFlops(op) * graph.getNumCopies();
    }
  }
}

void ReportWriter::writeValue(StringRef operation, StringRef location,
                              RankedTensorType type) {
  json.attribute("operation", operation);
  json.attribute("location", location);
  json.attributeArray("shape", [&] {
    for (int64_t size : type.getShape())
      json.value(size);
  });
  json.attribute("element_type", debugString(type.getElementType()));
}

void ReportWriter::writeSurvivor(CompressedSaveOp save) {
  CompressedType stored = save.getResult().getType();
  RankedTensorType type = stored.getTensorType();
  EncodingAttrInterface encoding = stored.getEncoding();
  int64_t copies = getNumCopies(save);
  int64_t before = copies * getTensorBytes(type).value_or(0);
  int64_t after = copies * getStorageBytes(encoding, type);
  int64_t elements = copies * getNumElements(type).value_or(0);
  json.object([&] {
    Value value = save.getInput();
    writeValue(getDefName(value), getLocationName(value.getLoc()), type);
    if (save.getKey())
      json.attribute("key", *save.getKey());
    json.attribute("copies", copies);
    json.attribute("encoding", debugString(encoding));
    json.attribute("bits_per_element",
                   elements == 0 ? 0.0 : 8.0 * after / elements);
    json.attribute("bytes_before", before);
    json.attribute("bytes_after", after);
    json.attribute("lossless", encoding.isLossless());
    json.attribute("reason",
                   save.getExact() ? explain(*save.getExact())
                   : encoding.isLossless()
                       ? "recomputation only"
                       : "not recomputable, rounding errors are unbiased");
  });
}

void ReportWriter::writeFullValue(const FullValue &value) {
  json.object([&] {
    writeValue(value.operation, value.location, value.type);
    json.attribute("bytes",
                   value.copies * getTensorBytes(value.type).value_or(0));
    json.attribute("reason", value.reason);
  });
}

void ReportWriter::writePlan() {
  auto plan = function->getAttrOfType<DictionaryAttr>(kPlanAttr);
  if (!plan)
    return;
  json.attributeObject("plan", [&] {
    for (NamedAttribute entry : plan) {
      StringRef name = entry.getName();
      if (auto integer = dyn_cast<IntegerAttr>(entry.getValue()))
        json.attribute(name, integer.getInt());
      else if (auto number = dyn_cast<FloatAttr>(entry.getValue()))
        json.attribute(name, number.getValueAsDouble());
      else if (auto text = dyn_cast<StringAttr>(entry.getValue()))
        json.attribute(name, text.getValue());
    }
  });
}

void ReportWriter::write(unsigned numPrimal) {
  int64_t rawBytes = 0, stashBytes = 0;
  SmallVector<CompressedSaveOp> saves;
  function.walk([&](CompressedSaveOp save) {
    saves.push_back(save);
    CompressedType stored = save.getResult().getType();
    int64_t copies = getNumCopies(save);
    rawBytes += copies * getTensorBytes(stored.getTensorType()).value_or(0);
    stashBytes +=
        copies * getStorageBytes(stored.getEncoding(), stored.getTensorType());
  });
  json.object([&] {
    json.attribute("function", function.getName());
    json.attribute("primal_results", numPrimal);
    json.attribute("boundaries", summary.numBoundaries);
    json.attribute("loop_pairs", summary.numPairs);
    json.attribute("sliced_loops", countLoops(function, kSlicedAttr));
    json.attribute("sliced_steps", countLoops(function, kSlicedStepAttr));
    json.attribute("forward_operations", summary.numForward);
    json.attribute("backward_operations", summary.numBackward);
    json.attribute("cloned_operations", summary.numClones);
    json.attribute("recomputed_contractions", summary.numContractions);
    json.attribute("recomputed_flops", summary.flops);
    writePlan();
    json.attribute("raw_bytes", rawBytes);
    json.attribute("stash_bytes", stashBytes);
    json.attributeArray("survivors", [&] {
      for (CompressedSaveOp save : saves)
        writeSurvivor(save);
    });
    json.attributeArray("not_compressed", [&] {
      for (const FullValue &value : summary.fullValues)
        writeFullValue(value);
    });
    json.attributeArray("unpaired_loops", [&] {
      for (const std::string &reason : summary.reasons)
        json.value(reason);
    });
  });
}

namespace {
struct ActReportPass : mlir::act::impl::ActReportPassBase<ActReportPass> {
  using Base::Base;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    FunctionOpInterface step = findStep(getOperation(), "act-report");
    if (!step)
      return signalPassFailure();
    unsigned numPrimal = getNumPrimalResults(step, primalResults);
    BoundarySummary summary;
    summary.addRawSaves(step);
    auto visit = [&](const AutodiffGraph &graph) {
      summary.add(graph);
      return success();
    };
    if (failed(forEachBoundary(step, numPrimal, visit, summary.reasons)))
      return signalPassFailure();
    auto write = [&](llvm::json::OStream &json) {
      ReportWriter(json, step, summary).write(numPrimal);
    };
    if (failed(writeJson(getOperation(), "act-report", output, write)))
      signalPassFailure();
  }
};
} // namespace
