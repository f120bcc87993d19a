//===- Sensitivity.cpp - How much rounding a save harms gradients ---------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/Sensitivity.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Analysis/SavedValues.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cmath>

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Reading profiles
//===----------------------------------------------------------------------===//

/// The version of the format that is read.
static constexpr int64_t kProfileVersion = 1;

namespace mlir::act {
/// Reads a profile, with errors that name the file.
class ProfileReader {
public:
  ProfileReader(StringRef path, Operation *op) : path(path), op(op) {}

  FailureOr<SensitivityProfile> read();

private:
  LogicalResult readHead(const llvm::json::Object &object);
  LogicalResult readSurvivor(const llvm::json::Value &value, size_t number);
  InFlightDiagnostic emitError() {
    return op->emitError("profile '") << path << "' ";
  }

  StringRef path;
  Operation *op;
  double variance = 0; ///< that the contributions were measured at
  SensitivityProfile profile;
};
} // namespace mlir::act

LogicalResult ProfileReader::readHead(const llvm::json::Object &object) {
  std::optional<int64_t> version = object.getInteger("act_profile");
  if (!version)
    return emitError() << "expects 'act_profile', the version of the format";
  if (*version != kProfileVersion)
    return emitError() << "expects version " << kProfileVersion << ", got "
                       << *version;
  const llvm::json::Object *noise = object.getObject("noise");
  std::optional<double> number =
      noise ? noise->getNumber("variance") : std::nullopt;
  if (!number || !(*number > 0) || !std::isfinite(*number))
    return emitError() << "expects 'noise' with a positive 'variance'";
  variance = *number;
  return success();
}

LogicalResult ProfileReader::readSurvivor(const llvm::json::Value &value,
                                          size_t number) {
  const llvm::json::Object *object = value.getAsObject();
  std::optional<StringRef> key =
      object ? object->getString("key") : std::nullopt;
  if (!key)
    return emitError() << "expects a 'key' of survivor " << number;
  std::optional<double> contribution = object->getNumber("contribution");
  if (!contribution || !(*contribution >= 0) || !std::isfinite(*contribution))
    return emitError() << "expects a finite 'contribution' of '" << *key
                       << "' that is not negative";
  if (!profile.perVariance.try_emplace(*key, *contribution / variance).second)
    return emitError() << "expects keys that differ, got '" << *key
                       << "' twice";
  return success();
}

FailureOr<SensitivityProfile> ProfileReader::read() {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return op->emitError("cannot read profile '")
           << path << "': " << buffer.getError().message();
  llvm::Expected<llvm::json::Value> json =
      llvm::json::parse((*buffer)->getBuffer());
  if (!json)
    return emitError() << "is not JSON: " << llvm::toString(json.takeError());
  const llvm::json::Object *object = json->getAsObject();
  if (!object)
    return emitError() << "expects a JSON object";
  if (failed(readHead(*object)))
    return failure();
  const llvm::json::Array *survivors = object->getArray("survivors");
  if (!survivors)
    return emitError() << "expects an array 'survivors'";
  for (auto [number, value] : llvm::enumerate(*survivors))
    if (failed(readSurvivor(value, number)))
      return failure();
  return std::move(profile);
}

FailureOr<SensitivityProfile> SensitivityProfile::read(StringRef path,
                                                       Operation *op) {
  if (path.empty())
    return SensitivityProfile();
  return ProfileReader(path, op).read();
}

std::optional<double> SensitivityProfile::lookup(StringRef key) const {
  auto found = perVariance.find(key);
  if (found == perVariance.end())
    return std::nullopt;
  return found->second;
}

//===----------------------------------------------------------------------===//
// Predicting errors
//===----------------------------------------------------------------------===//

/// Relative gradient error per relative error of the saved values: 0.12 was
/// measured for a small GPT with 4 bits in groups of 64, whose codes have a
/// standard deviation of 1/15/sqrt(6) of their range. See docs/Encodings.md.
static constexpr double kErrorScale = 4.5;

/// Products of two activations (attention) feel an error in both operands.
static double getStaticWeight(Value value) {
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

static double getNumSavedElements(CompressedSaveOp save) {
  auto type = cast<RankedTensorType>(save.getInput().getType());
  return static_cast<double>(type.getNumElements()) * getNumCopies(save);
}

Sensitivity::Sensitivity(const SensitivityProfile &profile,
                         ArrayRef<CompressedSaveOp> saves) {
  // Values that the same expression computes share what was measured.
  llvm::StringMap<unsigned> numPerKey;
  double elements = 0;
  for (CompressedSaveOp save : saves) {
    elements += getNumSavedElements(save);
    if (std::optional<StringRef> key = save.getKey())
      ++numPerKey[*key];
  }
  double measured = 0, estimated = 0; // of what the profile knows
  SmallVector<CompressedSaveOp> unknown;
  for (CompressedSaveOp save : saves) {
    double weight = kErrorScale * kErrorScale *
                    getStaticWeight(save.getInput()) *
                    getNumSavedElements(save) / elements;
    perVariance[save] = weight;
    std::optional<StringRef> key = save.getKey();
    std::optional<double> known = key ? profile.lookup(*key) : std::nullopt;
    if (!known) {
      unknown.push_back(save);
      continue;
    }
    perVariance[save] = *known / numPerKey[*key];
    measured += perVariance[save];
    estimated += weight;
  }
  numUnknown = unknown.size();
  if (measured > 0 && estimated > 0)
    for (CompressedSaveOp save : unknown)
      perVariance[save] *= measured / estimated;
}

FailureOr<Sensitivity> Sensitivity::read(StringRef path,
                                         ArrayRef<CompressedSaveOp> saves,
                                         Operation *op) {
  FailureOr<SensitivityProfile> profile = SensitivityProfile::read(path, op);
  if (failed(profile))
    return failure();
  return Sensitivity(*profile, saves);
}

double Sensitivity::getErrorVariance(CompressedSaveOp save,
                                     EncodingAttrInterface encoding) const {
  auto found = perVariance.find(save);
  assert(found != perVariance.end() && "expects one of the saves given");
  return found->second * encoding.getErrorVariance();
}

double Sensitivity::getError(double variance) { return std::sqrt(variance); }
