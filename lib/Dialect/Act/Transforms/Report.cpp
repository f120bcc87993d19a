//===- Report.cpp - Write what was saved, and what was not, as JSON
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/AutodiffGraph.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "act/Dialect/Act/Transforms/EncodingPolicy.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "mlir/Support/DebugStringHelper.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/ToolOutputFile.h"

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

namespace {
/// Writes the report of one function.
class ReportWriter {
public:
  ReportWriter(llvm::json::OStream &json, FunctionOpInterface function,
               const AutodiffGraph &graph)
      : json(json), function(function), graph(graph) {}

  void write(unsigned numPrimal);

private:
  void writeValue(Value value, RankedTensorType type);
  void writeSurvivor(CompressedSaveOp save);
  void writeNotCompressed(Value value, StringRef reason);
  void writeNotCompressed();

  llvm::json::OStream &json;
  FunctionOpInterface function;
  const AutodiffGraph &graph;
};
} // namespace

void ReportWriter::writeValue(Value value, RankedTensorType type) {
  Operation *def = value.getDefiningOp();
  json.attribute("operation", def ? def->getName().getStringRef() : "");
  json.attribute("location", getLocationName(value.getLoc()));
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
  int64_t before = getTensorBytes(type).value_or(0);
  int64_t after = getStorageBytes(encoding, type);
  int64_t elements = getNumElements(type).value_or(0);
  json.object([&] {
    writeValue(save.getInput(), type);
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

void ReportWriter::writeNotCompressed(Value value, StringRef reason) {
  json.object([&] {
    auto type = cast<RankedTensorType>(value.getType());
    writeValue(value, type);
    json.attribute("bytes", getTensorBytes(type).value_or(0));
    json.attribute("reason", reason);
  });
}

/// Large values that backward reads in full.
void ReportWriter::writeNotCompressed() {
  llvm::SetVector<Value> reported;
  auto report = [&](Value value, StringRef reason) {
    if (isa<RankedTensorType>(value.getType()) &&
        getNumElements(value.getType()).value_or(0) >= kMinEncodedElements &&
        reported.insert(value))
      writeNotCompressed(value, reason);
  };
  function.walk([&](CompressedSaveOp save) {
    if (!isa<RawAttr>(save.getResult().getType().getEncoding()))
      return;
    report(save.getInput(),
           save.getExact() ? explain(*save.getExact()) : "recomputation only");
  });
  for (Operation *op : graph.getBackward())
    for (Value operand : getAllOperands(op)) {
      Operation *def = graph.getForwardDef(operand);
      if (!def || getAllOperands(def).empty() ||
          isa<CompressedType>(operand.getType()))
        continue;
      if (graph.isHead(def))
        report(operand, "read at the turning point, where everything is alive");
      else if (graph.isReturned(operand))
        report(operand, "a result of the step, alive to the end");
      else
        report(operand,
               "the step was left alone: nothing large enough crosses");
    }
}

void ReportWriter::write(unsigned numPrimal) {
  int64_t rawBytes = 0, stashBytes = 0, clones = 0;
  SmallVector<CompressedSaveOp> saves;
  function.walk([&](CompressedSaveOp save) {
    saves.push_back(save);
    CompressedType stored = save.getResult().getType();
    rawBytes += getTensorBytes(stored.getTensorType()).value_or(0);
    stashBytes += getStorageBytes(stored.getEncoding(), stored.getTensorType());
  });
  for (Operation *op : graph.getBackward())
    clones += isRecomputeLocation(op->getLoc());
  json.object([&] {
    json.attribute("function", function.getName());
    json.attribute("primal_results", numPrimal);
    json.attribute("forward_operations",
                   static_cast<int64_t>(graph.getForward().size()));
    json.attribute("backward_operations",
                   static_cast<int64_t>(graph.getBackward().size()));
    json.attribute("cloned_operations", clones);
    json.attribute("raw_bytes", rawBytes);
    json.attribute("stash_bytes", stashBytes);
    json.attributeArray("survivors", [&] {
      for (CompressedSaveOp save : saves)
        writeSurvivor(save);
    });
    json.attributeArray("not_compressed", [&] { writeNotCompressed(); });
  });
}

namespace {
struct ActReportPass : mlir::act::impl::ActReportPassBase<ActReportPass> {
  using Base::Base;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    FunctionOpInterface step;
    getOperation().walk([&](FunctionOpInterface function) {
      if (!step && !function.isExternal() && !function.isPrivate())
        step = function;
    });
    if (!step) {
      getOperation().emitError("act-report expects a public function");
      return signalPassFailure();
    }
    unsigned numPrimal = getNumPrimalResults(step, primalResults);
    FailureOr<AutodiffGraph> graph = AutodiffGraph::build(step, numPrimal);
    if (failed(graph))
      return signalPassFailure();
    std::string message;
    std::unique_ptr<llvm::ToolOutputFile> file =
        openOutputFile(output, &message);
    if (!file) {
      getOperation().emitError("act-report cannot write '")
          << output << "': " << message;
      return signalPassFailure();
    }
    llvm::json::OStream json(file->os(), /*IndentSize=*/2);
    ReportWriter(json, step, *graph).write(numPrimal);
    file->os() << '\n';
    file->keep();
  }
};
} // namespace
