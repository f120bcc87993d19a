//===- EncodingRules.cpp - Encodings per kind of value, read from a file
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EncodingRules.h"
#include "QuantizedAxis.h"
#include "act/Analysis/AutodiffGraph.h"
#include "mlir/AsmParser/AsmParser.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::act;

using EmitErrorFn = function_ref<InFlightDiagnostic()>;

namespace {
/// Reads one rule.
class RuleParser {
public:
  RuleParser(EncodingRule &rule, MLIRContext *context, EmitErrorFn emitError)
      : rule(rule), context(context), emitError(emitError) {}

  LogicalResult parse(const llvm::json::Value &json);

private:
  LogicalResult parseEntry(StringRef name, const llvm::json::Value &value);
  LogicalResult parseName(StringRef text);
  LogicalResult parseEncoding(StringRef text);
  LogicalResult parseAxis(const llvm::json::Value &value);
  LogicalResult parseRange(StringRef text);
  /// Checks that entries fit together.
  LogicalResult finish();

  EncodingRule &rule;
  MLIRContext *context;
  EmitErrorFn emitError;
  /// Of codes along an axis; what is absent was not given.
  std::optional<AxisRule> axis;
  std::optional<int64_t> bits;
  std::optional<Range> range;
};
} // namespace

LogicalResult RuleParser::parse(const llvm::json::Value &json) {
  const llvm::json::Object *object = json.getAsObject();
  if (!object)
    return emitError() << "expects a JSON object";
  for (const auto &[key, value] : *object)
    if (failed(parseEntry(key, value)))
      return failure();
  return finish();
}

LogicalResult RuleParser::parseEntry(StringRef name,
                                     const llvm::json::Value &value) {
  std::optional<StringRef> text = value.getAsString();
  std::optional<int64_t> number = value.getAsInteger();
  if (name == "op" && text)
    rule.operation = text->str();
  else if (name == "name" && text)
    return parseName(*text);
  else if (name == "min-elements" && number)
    rule.minElements = *number;
  else if (name == "max-elements" && number)
    rule.maxElements = *number;
  else if (name == "encoding" && text)
    return parseEncoding(*text);
  else if (name == "axis" && (text || number))
    return parseAxis(value);
  else if (name == "bits" && number)
    bits = *number;
  else if (name == "range" && text)
    return parseRange(*text);
  else
    return emitError() << "expects 'op', 'name', 'encoding', 'range' "
                          "(strings), 'min-elements', 'max-elements', 'bits' "
                          "(integers) or 'axis' (either), got '"
                       << name << "'";
  return success();
}

LogicalResult RuleParser::parseName(StringRef text) {
  std::string message;
  rule.locationName.emplace(text);
  if (rule.locationName->isValid(message))
    return success();
  return emitError() << "expects a regular expression for 'name', got '" << text
                     << "': " << message;
}

LogicalResult RuleParser::parseEncoding(StringRef text) {
  std::string full =
      text.starts_with("#") ? text.str() : ("#act." + text).str();
  rule.encoding =
      dyn_cast_or_null<EncodingAttrInterface>(parseAttribute(full, context));
  if (rule.encoding)
    return success();
  return emitError() << "expects an encoding attribute for 'encoding', got '"
                     << text << "'";
}

LogicalResult RuleParser::parseAxis(const llvm::json::Value &value) {
  axis.emplace();
  if (std::optional<int64_t> number = value.getAsInteger()) {
    axis->kind = AxisRule::Kind::Number;
    axis->number = *number;
    if (*number >= 0)
      return success();
    return emitError() << "expects an 'axis' that is not negative, got "
                       << *number;
  }
  StringRef text = *value.getAsString();
  auto kind = llvm::StringSwitch<std::optional<AxisRule::Kind>>(text)
                  .Case("head", AxisRule::Kind::Head)
                  .Case("channel", AxisRule::Kind::Channel)
                  .Case("last", AxisRule::Kind::Last)
                  .Default(std::nullopt);
  if (!kind)
    return emitError() << "expects 'head', 'channel', 'last' or an integer for "
                          "'axis', got '"
                       << text << "'";
  axis->kind = *kind;
  return success();
}

LogicalResult RuleParser::parseRange(StringRef text) {
  range = symbolizeRange(text);
  if (range)
    return success();
  return emitError() << "expects 'batch' or 'running' for 'range', got '"
                     << text << "'";
}

LogicalResult RuleParser::finish() {
  if (axis && rule.encoding)
    return emitError() << "expects 'encoding' or 'axis', not both";
  if (!axis && (bits || range))
    return emitError() << "expects 'bits' and 'range' only beside 'axis'";
  if (!axis && !rule.encoding)
    return emitError() << "expects 'encoding', or 'axis' and 'bits'";
  if (!axis)
    return success();
  if (!bits || !llvm::is_contained<int64_t>({1, 2, 4, 8}, *bits))
    return emitError() << "expects 'bits' of 1, 2, 4 or 8 beside 'axis', got "
                       << (bits ? Twine(*bits).str() : std::string("none"));
  axis->bits = *bits;
  axis->range = range.value_or(Range::Batch);
  rule.axis = axis;
  return success();
}

FailureOr<SmallVector<EncodingRule>>
mlir::act::readEncodingRules(StringRef path, Operation *op) {
  if (path.empty())
    return SmallVector<EncodingRule>();
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
    RuleParser parser(rules.emplace_back(), op->getContext(), emitError);
    if (failed(parser.parse(value)))
      return failure();
  }
  return rules;
}

AxisQuantAttr AxisRule::getEncoding(Value value) const {
  std::optional<int64_t> axis;
  switch (kind) {
  case Kind::Head:
    axis = findHeadAxis(value);
    break;
  case Kind::Channel:
    axis = findChannelAxis(value);
    break;
  case Kind::Last:
    axis = cast<RankedTensorType>(value.getType()).getRank() - 1;
    break;
  case Kind::Number:
    axis = number;
    break;
  }
  if (!axis || *axis < 0) // none, or a scalar
    return {};
  return AxisQuantAttr::get(value.getContext(), bits, *axis,
                            Rounding::Stochastic, range);
}

bool EncodingRule::speaksOf(CompressedSaveOp save) const {
  auto type = cast<RankedTensorType>(save.getInput().getType());
  Operation *def = save.getInput().getDefiningOp();
  if (!operation.empty() &&
      (!def || def->getName().getStringRef() != operation))
    return false;
  if (locationName &&
      !locationName->match(getLocationName(save.getInput().getLoc())))
    return false;
  return !type.hasStaticShape() || (type.getNumElements() >= minElements &&
                                    type.getNumElements() <= maxElements);
}

EncodingAttrInterface EncodingRule::getEncoding(CompressedSaveOp save) const {
  if (!speaksOf(save))
    return {};
  EncodingAttrInterface chosen = encoding;
  if (axis)
    chosen = axis->getEncoding(save.getInput());
  if (!chosen || (save.getExact() && !chosen.isLossless()))
    return {};
  // Other than by an error, say whether the encoding applies.
  ScopedDiagnosticHandler quiet(save.getContext(),
                                [](Diagnostic &) { return success(); });
  auto type = cast<RankedTensorType>(save.getInput().getType());
  LogicalResult applies =
      chosen.verifyAppliesTo(type, [&] { return emitError(save.getLoc()); });
  return succeeded(applies) ? chosen : EncodingAttrInterface();
}
