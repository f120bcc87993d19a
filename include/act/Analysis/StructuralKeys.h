//===- StructuralKeys.h - Names of values that last -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_ANALYSIS_STRUCTURALKEYS_H
#define ACT_ANALYSIS_STRUCTURALKEYS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::act {

/// Names the values of a block by the expressions that compute them, so that
/// what was measured or decided for a value is found again when the same step
/// is traced again, by another process or for another batch size.
///
/// A key is the location name of the value, `#`, and 16 hexadecimal digits: a
/// hash of the operation, its attributes and regions, which of its results it
/// is, and of the keys of its operands, down to arguments, which are numbered.
/// Types do not count, and barriers are seen through. Loops, whose bodies
/// passes rewrite, count by their operands alone.
class StructuralKeys {
public:
  /// `seed` tells the arguments of `block` from those of others.
  explicit StructuralKeys(Block &block, uint64_t seed = 0);

  /// The hash of `value`, defined in the block or in front of it.
  uint64_t getHash(Value value) const;

  std::string getKey(Value value) const;

private:
  void addOperation(Operation *op);

  llvm::DenseMap<Value, uint64_t> hashes;
};

} // namespace mlir::act

#endif // ACT_ANALYSIS_STRUCTURALKEYS_H
