//===- Sensitivity.h - How much rounding a save harms gradients -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_ANALYSIS_SENSITIVITY_H
#define ACT_ANALYSIS_SENSITIVITY_H

#include "act/Dialect/Act/IR/ActOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <optional>

namespace mlir::act {

/// What `act.profile` measured of a training step and wrote into a file, whose
/// format is in docs/Profile.md: by structural key, what rounding a saved value
/// adds to the squared relative error of the gradient.
class SensitivityProfile {
public:
  /// A profile in which nothing was measured.
  SensitivityProfile() = default;

  /// Reads the file at `path`; an empty path gives an empty profile. Emits an
  /// error at `op` and fails if there is no such file or it is malformed.
  static FailureOr<SensitivityProfile> read(StringRef path, Operation *op);

  /// The squared relative error of the gradient if the values of this key alone
  /// are stored with an error variance of 1 (`getErrorVariance` of encodings);
  /// none if the profile does not know the key.
  std::optional<double> lookup(StringRef key) const;

  bool empty() const { return perVariance.empty(); }

private:
  friend class ProfileReader;
  llvm::StringMap<double> perVariance;
};

/// Predicts the error of the gradient from how saved values are stored. Errors
/// of different saves are independent and small, so their squares add up; each
/// is proportional to the error variance of the encoding.
///
/// Saves that the profile does not know count by a static model: the squared
/// relative error of a saved value times a constant that was measured once,
/// weighted by the value's share of all elements, and twice where the value
/// enters a product of activations. Where the profile knows others, it also
/// says by how much the model is wrong for this step on the whole.
class Sensitivity {
public:
  /// `saves` are all saves of the step that may be stored with a loss.
  Sensitivity(const SensitivityProfile &profile,
              ArrayRef<CompressedSaveOp> saves);

  /// The same with the profile in the file at `path`, empty for none; emits an
  /// error at `op` and fails if it cannot be read.
  static FailureOr<Sensitivity>
  read(StringRef path, ArrayRef<CompressedSaveOp> saves, Operation *op);

  /// What storing `save` (one of those given) as `encoding` adds to the squared
  /// relative error of the gradient, all copies together. 0 if lossless.
  double getErrorVariance(CompressedSaveOp save,
                          EncodingAttrInterface encoding) const;

  /// The relative error of the gradient for a sum of such variances.
  static double getError(double variance);

  /// How many of the saves the profile does not know.
  unsigned getNumUnknown() const { return numUnknown; }

private:
  /// Squared relative errors at an error variance of 1.
  llvm::DenseMap<Operation *, double> perVariance;
  unsigned numUnknown = 0;
};

} // namespace mlir::act

#endif // ACT_ANALYSIS_SENSITIVITY_H
