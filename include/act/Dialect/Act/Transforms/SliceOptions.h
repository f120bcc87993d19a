//===- SliceOptions.h - Options of slicing -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_TRANSFORMS_SLICEOPTIONS_H
#define ACT_DIALECT_ACT_TRANSFORMS_SLICEOPTIONS_H

namespace mlir::act {

/// Where the states of linear attention before each part of a sequence come
/// from when the parts are walked from the last to the first.
enum class SliceStates {
  Stored, ///< a first sweep stores them
  Reverse ///< what a part added is subtracted from the state after it
};

} // namespace mlir::act

#endif // ACT_DIALECT_ACT_TRANSFORMS_SLICEOPTIONS_H
