//===- AttributeText.h - Reading attributes of StableHLO -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes of the StableHLO dialect are kept as text, for example
// `#stablehlo.dot<lhs_contracting_dimensions = [1], ...>`. These functions read
// the numbers in it.
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_STABLEHLOSHELL_ATTRIBUTETEXT_H
#define ACT_DIALECT_STABLEHLOSHELL_ATTRIBUTETEXT_H

#include "mlir/IR/Operation.h"
#include <string>

namespace mlir::act::shell {

/// The text of an attribute, empty if there is none.
std::string getText(Operation *op, StringRef attribute);

/// The entries of the list after `key` in `text`: {"0", "1", "i", "o"} for
/// "[0, 1, i, o]".
SmallVector<StringRef> getList(StringRef text, StringRef key);

/// The integers of the list after `key` in `text`, the negative number -1 in
/// place of what is none.
SmallVector<int64_t> getDims(StringRef text, StringRef key);

/// The integer after `key` in `text`, 0 if there is none.
int64_t getDim(StringRef text, StringRef key);

} // namespace mlir::act::shell

#endif // ACT_DIALECT_STABLEHLOSHELL_ATTRIBUTETEXT_H
