//===- StepInfo.cpp - What a compiled step takes and returns ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Execution/StepInfo.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::execution;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

namespace {
struct ElementTypeRow {
  StringRef name;
  int64_t bytes;
};
} // namespace

/// In the order of ElementType.
static constexpr ElementTypeRow elementTypes[numElementTypes] = {
    {"i1", 1},   {"i8", 1},   {"i16", 2},  {"i32", 4},      {"i64", 8},
    {"ui8", 1},  {"ui16", 2}, {"ui32", 4}, {"ui64", 8},     {"f16", 2},
    {"bf16", 2}, {"f32", 4},  {"f64", 8},  {"f8E4M3FN", 1}, {"f8E5M2", 1}};

StringRef execution::getName(ElementType type) {
  return elementTypes[static_cast<int32_t>(type)].name;
}

int64_t execution::getByteWidth(ElementType type) {
  return elementTypes[static_cast<int32_t>(type)].bytes;
}

bool execution::isFloat(ElementType type) { return type >= ElementType::F16; }

std::optional<ElementType> execution::getElementType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  StringRef name(text);
  // What is signed in StableHLO is signless there.
  if (name.starts_with("si"))
    name = name.drop_front();
  for (int32_t i = 0; i < numElementTypes; ++i)
    if (elementTypes[i].name == name)
      return static_cast<ElementType>(i);
  return std::nullopt;
}

int64_t ValueInfo::getNumElements() const {
  return ShapedType::getNumElements(shape);
}

std::string ValueInfo::getTypeText() const { return formatType(type, shape); }

std::string execution::formatType(ElementType type, ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (int64_t size : shape)
    stream << size << 'x';
  stream << getName(type);
  return text;
}

//===----------------------------------------------------------------------===//
// The attribute
//===----------------------------------------------------------------------===//

/// The entry `key`, an integer that is not negative.
static FailureOr<int64_t> readNumber(ModuleOp module, DictionaryAttr step,
                                     StringRef key) {
  auto number = step.getAs<IntegerAttr>(key);
  if (!number)
    return module.emitError()
           << "expects an integer '" << key << "' in '" << stepAttributeName
           << "', got " << step.get(key);
  if (number.getValue().isNegative())
    return module.emitError()
           << "expects '" << key << "' of '" << stepAttributeName
           << "' not to be negative, got " << number;
  return number.getInt();
}

static FailureOr<ValueInfo> readValue(ModuleOp module, Attribute attribute,
                                      const Twine &what) {
  auto fail = [&](const Twine &expected) -> LogicalResult {
    return module.emitError()
           << "expects " << expected << " for " << what << " in '"
           << stepAttributeName << "', got " << attribute;
  };
  auto entry = dyn_cast_or_null<DictionaryAttr>(attribute);
  auto typeAttr = entry ? entry.getAs<TypeAttr>("type") : TypeAttr();
  if (!typeAttr)
    return fail("a dictionary with a type");
  auto tensor = dyn_cast<RankedTensorType>(typeAttr.getValue());
  if (!tensor || !tensor.hasStaticShape())
    return fail("a tensor of static shape");
  std::optional<ElementType> type = getElementType(tensor.getElementType());
  if (!type)
    return fail("an element type that steps can pass");
  ValueInfo value;
  value.type = *type;
  value.shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  if (auto name = entry.getAs<StringAttr>("name"))
    value.name = name.str();
  return value;
}

static LogicalResult readValues(ModuleOp module, DictionaryAttr step,
                                StringRef key, StringRef what,
                                SmallVectorImpl<ValueInfo> &values) {
  auto entries = step.getAs<ArrayAttr>(key);
  if (!entries)
    return module.emitError()
           << "expects an array '" << key << "' in '" << stepAttributeName
           << "', got " << step.get(key);
  for (auto [number, entry] : llvm::enumerate(entries)) {
    FailureOr<ValueInfo> value =
        readValue(module, entry, what + " " + Twine(number));
    if (failed(value))
      return failure();
    values.push_back(std::move(*value));
  }
  return success();
}

FailureOr<StepInfo> execution::readStepInfo(ModuleOp module) {
  auto step = module->getAttrOfType<DictionaryAttr>(stepAttributeName);
  if (!step)
    return module.emitError()
           << "expects a module with the attribute '" << stepAttributeName
           << "', which a step has once it is lowered to the LLVM dialect";
  StepInfo info;
  auto name = step.getAs<StringAttr>("name");
  if (!name)
    return module.emitError()
           << "expects a string 'name' in '" << stepAttributeName << "', got "
           << step.get("name");
  info.name = name.str();
  FailureOr<int64_t> arena = readNumber(module, step, "arena_bytes");
  FailureOr<int64_t> bound = readNumber(module, step, "bound_bytes");
  FailureOr<int64_t> kernels = readNumber(module, step, "kernels");
  if (failed(arena) || failed(bound) || failed(kernels))
    return failure();
  info.arenaBytes = *arena;
  info.boundBytes = *bound;
  info.kernels = *kernels;
  if (failed(
          readValues(module, step, "arguments", "argument", info.arguments)) ||
      failed(readValues(module, step, "results", "result", info.results)))
    return failure();
  return info;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static ValueInfo readValue(const act_step_value &entry) {
  return {entry.name, static_cast<ElementType>(entry.type),
          SmallVector<int64_t>(entry.shape, entry.shape + entry.rank)};
}

StepInfo execution::readStepInfo(const act_step_info &table) {
  StepInfo info;
  info.name = table.name;
  info.arenaBytes = table.arena_bytes;
  info.boundBytes = table.bound_bytes;
  info.kernels = table.num_kernels;
  for (int32_t i = 0; i < table.num_arguments; ++i)
    info.arguments.push_back(readValue(table.arguments[i]));
  for (int32_t i = 0; i < table.num_results; ++i)
    info.results.push_back(readValue(table.results[i]));
  return info;
}
