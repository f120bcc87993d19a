//===- Array.cpp - Arguments and results of a step ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Tools/ActRun/Array.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include <cmath>
#include <cstring>
#include <optional>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::run;

Array::Array(ElementType type, ArrayRef<int64_t> shape)
    : type(type), shape(shape.begin(), shape.end()), bytes(getNumBytes()) {}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

template <typename T>
static T load(const uint8_t *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

template <typename T>
static void store(uint8_t *data, T value) {
  std::memcpy(data, &value, sizeof(T));
}

static const llvm::fltSemantics &getSemantics(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return llvm::APFloat::IEEEhalf();
  case ElementType::F8E4M3FN:
    return llvm::APFloat::Float8E4M3FN();
  case ElementType::F8E5M2:
    return llvm::APFloat::Float8E5M2();
  default:
    return llvm::APFloat::BFloat();
  }
}

/// A float of a type that C++ has not.
static double loadShortFloat(ElementType type, const uint8_t *data) {
  if (type == ElementType::BF16)
    return llvm::bit_cast<float>(uint32_t(load<uint16_t>(data)) << 16);
  unsigned bits = 8 * execution::getByteWidth(type);
  uint64_t raw = bits == 16 ? load<uint16_t>(data) : *data;
  return llvm::APFloat(getSemantics(type), llvm::APInt(bits, raw))
      .convertToDouble();
}

static void storeShortFloat(ElementType type, uint8_t *data, double value) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(getSemantics(type), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  uint64_t raw = number.bitcastToAPInt().getZExtValue();
  std::memcpy(data, &raw, execution::getByteWidth(type));
}

double Array::getNumber(int64_t index) const {
  const uint8_t *at = data() + index * execution::getByteWidth(type);
  switch (type) {
  case ElementType::Bool:
  case ElementType::U8:
    return *at;
  case ElementType::S8:
    return load<int8_t>(at);
  case ElementType::S16:
    return load<int16_t>(at);
  case ElementType::S32:
    return load<int32_t>(at);
  case ElementType::S64:
    return static_cast<double>(load<int64_t>(at));
  case ElementType::U16:
    return load<uint16_t>(at);
  case ElementType::U32:
    return load<uint32_t>(at);
  case ElementType::U64:
    return static_cast<double>(load<uint64_t>(at));
  case ElementType::F32:
    return load<float>(at);
  case ElementType::F64:
    return load<double>(at);
  default:
    return loadShortFloat(type, at);
  }
}

void Array::setNumber(int64_t index, double value) {
  uint8_t *at = data() + index * execution::getByteWidth(type);
  if (type == ElementType::F32)
    return store<float>(at, value);
  if (type == ElementType::F64)
    return store<double>(at, value);
  if (execution::isFloat(type))
    return storeShortFloat(type, at, value);
  // Little endian: the low bytes come first.
  uint64_t bits = value < 0 ? static_cast<uint64_t>(static_cast<int64_t>(value))
                            : static_cast<uint64_t>(value);
  std::memcpy(at, &bits, execution::getByteWidth(type));
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

std::string run::describeValue(StringRef kind, size_t number,
                               const ValueInfo &value) {
  std::string text = (kind + " " + Twine(number)).str();
  if (!value.name.empty())
    text += " ('" + value.name + "')";
  return text;
}

/// The number N of a name such as arr_N.
static std::optional<size_t> getPosition(StringRef name, StringRef kind) {
  size_t number;
  for (StringRef prefix : {StringRef("arr"), kind.take_front(3), kind}) {
    StringRef rest = name;
    if (rest.consume_front(prefix) && rest.consume_front("_") &&
        !rest.getAsInteger(10, number))
      return number;
  }
  return std::nullopt;
}

/// The number of the value that the array `name` is for.
static std::optional<size_t> findValue(ArrayRef<ValueInfo> values,
                                       StringRef name, StringRef kind) {
  auto hasName = [&](const ValueInfo &value) { return value.name == name; };
  if (llvm::count_if(values, hasName) == 1)
    return std::distance(values.begin(), llvm::find_if(values, hasName));
  std::optional<size_t> position = getPosition(name, kind);
  if (position && *position < values.size())
    return position;
  return std::nullopt;
}

llvm::Expected<std::vector<Array>>
run::matchArrays(ArrayRef<ValueInfo> values, std::vector<NamedArray> arrays,
                 StringRef kind) {
  std::vector<std::optional<Array>> found(values.size());
  std::vector<std::string> problems;
  for (NamedArray &entry : arrays) {
    std::optional<size_t> number = findValue(values, entry.name, kind);
    if (!number) {
      problems.push_back("array '" + entry.name + "' is no " + kind.str() +
                         " of the step, which has " +
                         std::to_string(values.size()));
      continue;
    }
    const ValueInfo &value = values[*number];
    std::string what = describeValue(kind, *number, value);
    if (found[*number])
      problems.push_back(what + " is there twice, also as '" + entry.name +
                         "'");
    else if (entry.array.getTypeText() != value.getTypeText())
      problems.push_back(what + ": expects " + value.getTypeText() + ", got " +
                         entry.array.getTypeText());
    found[*number] = std::move(entry.array);
  }
  std::vector<Array> matched;
  for (auto [number, array] : llvm::enumerate(found)) {
    if (!array)
      problems.push_back(describeValue(kind, number, values[number]) +
                         " is missing: expects " +
                         values[number].getTypeText());
    else
      matched.push_back(std::move(*array));
  }
  if (problems.empty())
    return matched;
  constexpr size_t limit = 10;
  size_t count = problems.size();
  if (count > limit) {
    problems.resize(limit);
    problems.push_back("and " + std::to_string(count - limit) + " more");
  }
  return llvm::createStringError(llvm::join(problems, "\n"));
}
