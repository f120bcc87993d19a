//===- AttributeText.cpp - Reading attributes of StableHLO ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/StablehloShell/AttributeText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::act::shell;

std::string mlir::act::shell::getText(Operation *op, StringRef attribute) {
  std::string text;
  if (Attribute value = op->getAttr(attribute))
    llvm::raw_string_ostream(text) << value;
  return text;
}

SmallVector<StringRef> mlir::act::shell::getList(StringRef text,
                                                 StringRef key) {
  size_t position = text.find(key);
  if (position == StringRef::npos)
    return {};
  StringRef list = text.drop_front(position + key.size());
  list = list.drop_front(std::min(list.find('['), list.size()));
  list = list.drop_front(std::min<size_t>(1, list.size()));
  list = list.take_front(list.find(']'));
  SmallVector<StringRef> entries;
  for (StringRef entry : llvm::split(list, ','))
    if (!entry.trim().empty())
      entries.push_back(entry.trim());
  return entries;
}

SmallVector<int64_t> mlir::act::shell::getDims(StringRef text, StringRef key) {
  return llvm::map_to_vector(getList(text, key), [](StringRef entry) {
    int64_t dim;
    return entry.getAsInteger(10, dim) ? int64_t{-1} : dim;
  });
}

int64_t mlir::act::shell::getDim(StringRef text, StringRef key) {
  size_t position = text.find(key);
  if (position == StringRef::npos)
    return 0;
  StringRef rest = text.drop_front(position + key.size()).ltrim(" =");
  int64_t dim = 0;
  return rest.consumeInteger(10, dim) ? 0 : dim;
}
