//===- EncodingRules.cpp - Encodings per kind of value, read from a file
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodingRules.h"
#include "act/Analysis/AutodiffGraph.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::act;

/// Reads one rule; calls `emitError` and fails if it is malformed.
static LogicalResult parseRule(const llvm::json::Value &json,
                               EncodingRule &rule, MLIRContext *context,
                               function_ref<InFlightDiagnostic()> emitError) {
  const llvm::json::Object *object = json.getAsObject();
  if (!object)
    return emitError() << "expects a JSON object";
  for (const auto &[key, value] : *object) {
    StringRef name = key;
    std::optional<StringRef> text = value.getAsString();
    std::optional<int64_t> number = value.getAsInteger();
    if (name == "op" && text) {
      rule.operation = text->str();
    } else if (name == "name" && text) {
      std::string message;
      rule.locationName.emplace(*text);
      if (!rule.locationName->isValid(message))
        return emitError() << "expects a regular expression for 'name', got '"
                           << *text << "': " << message;
    } else if (name == "min-elements" && number) {
      rule.minElements = *number;
    } else if (name == "max-elements" && number) {
      rule.maxElements = *number;
    } else if (name == "encoding" && text) {
      std::string full =
          text->starts_with("#") ? text->str() : ("#act." + *text).str();
      rule.encoding = dyn_cast_or_null<EncodingAttrInterface>(
          parseAttribute(full, context));
      if (!rule.encoding)
        return emitError() << "expects an encoding attribute for 'encoding', "
                              "got '"
                           << *text << "'";
    } else {
      return emitError() << "expects 'op', 'name', 'encoding' (strings), "
                            "'min-elements' or 'max-elements' (integers), got '"
                         << name << "'";
    }
  }
  if (!rule.encoding)
    return emitError() << "expects 'encoding'";
  return success();
}

FailureOr<SmallVector<EncodingRule>>
mlir::act::readEncodingRules(StringRef path, Operation *op) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return op->emitError("cannot read rules file '")
           << path << "': " << buffer.getError().message();
  llvm::Expected<llvm::json::Value> json =
      llvm::json::parse((*buffer)->getBuffer());
  if (!json)
    return op->emitError("rules file '")
           << path << "' is not JSON: " << llvm::toString(json.takeError());
  const llvm::json::Array *array = json->getAsArray();
  if (!array)
    return op->emitError("rules file '") << path << "' expects a JSON array";
  SmallVector<EncodingRule> rules;
  for (auto [i, value] : llvm::enumerate(*array)) {
    auto emitError = [&, i = i]() -> InFlightDiagnostic {
      return op->emitError("rules file '") << path << "', rule " << i << " ";
    };
    if (failed(parseRule(value, rules.emplace_back(), op->getContext(),
                         emitError)))
      return failure();
  }
  return rules;
}

bool EncodingRule::matches(CompressedSaveOp save) const {
  auto type = cast<RankedTensorType>(save.getInput().getType());
  Operation *def = save.getInput().getDefiningOp();
  if (!operation.empty() &&
      (!def || def->getName().getStringRef() != operation))
    return false;
  if (locationName &&
      !locationName->match(getLocationName(save.getInput().getLoc())))
    return false;
  if (type.hasStaticShape() && (type.getNumElements() < minElements ||
                                type.getNumElements() > maxElements))
    return false;
  if (save.getExact() && !encoding.isLossless())
    return false;
  // Other than by an error, say whether the encoding applies.
  ScopedDiagnosticHandler quiet(save.getContext(),
                                [](Diagnostic &) { return success(); });
  return succeeded(
      encoding.verifyAppliesTo(type, [&] { return emitError(save.getLoc()); }));
}
