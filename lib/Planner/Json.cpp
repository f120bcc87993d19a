//===- Json.cpp - Problems and solutions as JSON ------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Planner/Json.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>

namespace json = llvm::json;
using namespace mlir::act::planner;

namespace {
/// A place in the text: an element or a field of another place.
struct Place {
  const Place *parent = nullptr;
  llvm::StringRef field;
  size_t index = 0;

  void print(llvm::raw_ostream &os) const {
    if (!parent) {
      os << "problem";
      return;
    }
    parent->print(os);
    if (field.empty())
      os << '[' << index << ']';
    else
      os << '.' << field;
  }
};

/// Reads values; each function returns false after it has set `message`.
class Reader {
public:
  bool read(const json::Value &value, Problem &problem);
  std::string message;

private:
  bool fail(const json::Value &value, const Place &place,
            llvm::StringRef expected);
  bool readNumber(const json::Value &value, const Place &place, double &result);
  bool readIndex(const json::Value &value, const Place &place,
                 unsigned &result);
  const json::Object *readObject(const json::Value &value, const Place &place,
                                 llvm::ArrayRef<llvm::StringRef> fields);
  template <typename ReadFn>
  bool readArray(const json::Object &object, const Place &place,
                 llvm::StringRef field, bool isRequired, ReadFn readElement);
  bool readField(const json::Object &object, const Place &place,
                 llvm::StringRef field, double &result);
  bool readUse(const json::Value &value, const Place &place,
               llvm::SmallVectorImpl<Use> &uses);
  bool readOption(const json::Value &value, const Place &place, Option &option);
  bool readChoice(const json::Object &object, const Place &place,
                  llvm::StringRef field, unsigned &item, unsigned &option);
  bool readPair(const json::Value &value, const Place &place, Pair &pair);
};
} // namespace

bool Reader::fail(const json::Value &value, const Place &place,
                  llvm::StringRef expected) {
  static constexpr size_t kLongest = 60;
  std::string text;
  llvm::raw_string_ostream(text) << value;
  if (text.size() > kLongest)
    text = text.substr(0, kLongest) + "...";
  llvm::raw_string_ostream os(message);
  place.print(os);
  os << ": expects " << expected << ", got " << text;
  return false;
}

bool Reader::readNumber(const json::Value &value, const Place &place,
                        double &result) {
  std::optional<double> number = value.getAsNumber();
  if (!number)
    return fail(value, place, "a number");
  result = *number;
  return true;
}

bool Reader::readIndex(const json::Value &value, const Place &place,
                       unsigned &result) {
  std::optional<int64_t> number = value.getAsInteger();
  if (!number || *number < 0 || *number >= std::numeric_limits<int32_t>::max())
    return fail(value, place, "an integer from 0 below 2^31");
  result = *number;
  return true;
}

/// The object `value`, which has no fields besides `fields`.
const json::Object *Reader::readObject(const json::Value &value,
                                       const Place &place,
                                       llvm::ArrayRef<llvm::StringRef> fields) {
  std::string expected =
      "an object with the fields " + llvm::join(fields, ", ");
  const json::Object *object = value.getAsObject();
  if (object && llvm::all_of(*object, [&](const auto &entry) {
        return llvm::is_contained(fields, llvm::StringRef(entry.first));
      }))
    return object;
  fail(value, place, expected);
  return nullptr;
}

/// Calls `readElement` for each element of an array. A field that is not
/// required may be absent.
template <typename ReadFn>
bool Reader::readArray(const json::Object &object, const Place &place,
                       llvm::StringRef field, bool isRequired,
                       ReadFn readElement) {
  const json::Value *value = object.get(field);
  if (!value && !isRequired)
    return true;
  Place arrayPlace{&place, field};
  if (!value)
    return fail(nullptr, arrayPlace, "an array");
  const json::Array *array = value->getAsArray();
  if (!array)
    return fail(*value, arrayPlace, "an array");
  for (auto [index, element] : llvm::enumerate(*array))
    if (!readElement(element, Place{&arrayPlace, {}, index}))
      return false;
  return true;
}

bool Reader::readField(const json::Object &object, const Place &place,
                       llvm::StringRef field, double &result) {
  Place fieldPlace{&place, field};
  const json::Value *value = object.get(field);
  if (!value)
    return fail(nullptr, fieldPlace, "a number");
  return readNumber(*value, fieldPlace, result);
}

bool Reader::readUse(const json::Value &value, const Place &place,
                     llvm::SmallVectorImpl<Use> &uses) {
  const json::Array *array = value.getAsArray();
  if (!array || (array->size() != 2 && array->size() != 3))
    return fail(value, place, "[row, amount] or [first row, last row, amount]");
  unsigned first = 0;
  if (!readIndex((*array)[0], Place{&place, {}, 0}, first))
    return false;
  unsigned last = first;
  if (array->size() == 3 && !readIndex((*array)[1], Place{&place, {}, 1}, last))
    return false;
  double amount = 0;
  if (!readNumber(array->back(), Place{&place, {}, array->size() - 1}, amount))
    return false;
  uses.emplace_back(first, last, amount);
  return true;
}

bool Reader::readOption(const json::Value &value, const Place &place,
                        Option &option) {
  const json::Object *object = readObject(value, place, {"cost", "uses"});
  return object && readField(*object, place, "cost", option.cost) &&
         readArray(*object, place, "uses", /*isRequired=*/false,
                   [&](const json::Value &element, const Place &at) {
                     return readUse(element, at, option.uses);
                   });
}

bool Reader::readChoice(const json::Object &object, const Place &place,
                        llvm::StringRef field, unsigned &item,
                        unsigned &option) {
  Place fieldPlace{&place, field};
  const json::Value *value = object.get(field);
  const json::Array *array = value ? value->getAsArray() : nullptr;
  if (!array || array->size() != 2)
    return fail(value ? *value : json::Value(nullptr), fieldPlace,
                "[item, option]");
  return readIndex((*array)[0], Place{&fieldPlace, {}, 0}, item) &&
         readIndex((*array)[1], Place{&fieldPlace, {}, 1}, option);
}

bool Reader::readPair(const json::Value &value, const Place &place,
                      Pair &pair) {
  const json::Object *object =
      readObject(value, place, {"first", "second", "cost"});
  return object &&
         readChoice(*object, place, "first", pair.first, pair.firstOption) &&
         readChoice(*object, place, "second", pair.second, pair.secondOption) &&
         readField(*object, place, "cost", pair.cost);
}

bool Reader::read(const json::Value &value, Problem &problem) {
  Place root;
  const json::Object *object =
      readObject(value, root, {"limits", "items", "pairs", "peak_rows"});
  if (!object)
    return false;
  auto readItem = [&](const json::Value &element, const Place &at) {
    Item &item = problem.items.emplace_back();
    const json::Object *fields = readObject(element, at, {"options"});
    return fields && readArray(*fields, at, "options", /*isRequired=*/true,
                               [&](const json::Value &option, const Place &in) {
                                 return readOption(option, in,
                                                   item.options.emplace_back());
                               });
  };
  return readArray(*object, root, "limits", /*isRequired=*/true,
                   [&](const json::Value &element, const Place &at) {
                     return readNumber(element, at,
                                       problem.limits.emplace_back());
                   }) &&
         readArray(*object, root, "items", /*isRequired=*/true, readItem) &&
         readArray(*object, root, "pairs", /*isRequired=*/false,
                   [&](const json::Value &element, const Place &at) {
                     return readPair(element, at, problem.pairs.emplace_back());
                   }) &&
         readArray(*object, root, "peak_rows", /*isRequired=*/false,
                   [&](const json::Value &element, const Place &at) {
                     return readIndex(element, at,
                                      problem.peakRows.emplace_back());
                   });
}

llvm::Expected<Problem> mlir::act::planner::parseProblem(llvm::StringRef text) {
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return value.takeError();
  Problem problem;
  Reader reader;
  if (!reader.read(*value, problem))
    return llvm::createStringError(reader.message);
  if (llvm::Error error = checkProblem(problem))
    return std::move(error);
  return problem;
}

/// JSON has no infinity.
static json::Value toNumber(double value) {
  if (std::isfinite(value))
    return value;
  return nullptr;
}

static llvm::StringRef toText(Status status) {
  switch (status) {
  case Status::Optimal:
    return "optimal";
  case Status::Feasible:
    return "feasible";
  case Status::Infeasible:
    return "infeasible";
  case Status::Unknown:
    return "unknown";
  }
  llvm_unreachable("all statuses are handled");
}

static void addEffort(json::Object &object, const Effort &effort) {
  object["work"] = effort.work;
  object["iterations"] = effort.iterations;
  object["nodes"] = effort.nodes;
  object["rows_generated"] = effort.rowsGenerated;
}

json::Value mlir::act::planner::toJson(const Problem &problem,
                                       const Solution &solution) {
  json::Object object{{"status", toText(solution.status)},
                      {"cost", toNumber(solution.cost)},
                      {"bound", toNumber(solution.bound)},
                      {"gap", toNumber(solution.getGap())},
                      {"choices", json::Array(solution.choices)}};
  object["peak"] = solution.hasPlan()
                       ? toNumber(getPeak(problem, solution.choices))
                       : nullptr;
  addEffort(object, solution.effort);
  return object;
}

json::Value mlir::act::planner::toJson(const LeastLimit &least) {
  json::Object object{{"status", toText(least.status)},
                      {"limit", toNumber(least.limit)},
                      {"bound", toNumber(least.bound)},
                      {"choices", json::Array(least.choices)}};
  addEffort(object, least.effort);
  return object;
}
