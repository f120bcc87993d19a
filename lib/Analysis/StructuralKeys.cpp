//===- StructuralKeys.cpp - Names of values that last ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/StructuralKeys.h"
#include "act/Analysis/AutodiffGraph.h"
#include "act/Analysis/OpModel/LoopModel.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::act;

/// Writes an attribute without the shape of a tensor of equal elements: the
/// same constant belongs to any batch size.
static void writeAttribute(Attribute attribute, raw_ostream &os) {
  auto elements = dyn_cast<DenseElementsAttr>(attribute);
  if (elements && elements.isSplat())
    os << elements.getSplatValue<Attribute>();
  else
    os << attribute;
}

/// Writes what `op` is, with the operations in its regions, but not its types.
static void writeOperation(Operation *op, raw_ostream &os) {
  os << op->getName() << '{';
  // Discardable attributes are marks of passes.
  DictionaryAttr properties;
  if (std::optional<RegisteredOperationName> info =
          op->getName().getRegisteredInfo();
      info && op->getPropertiesStorageSize())
    properties =
        dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute());
  if (!properties)
    properties = op->getAttrDictionary();
  for (NamedAttribute attribute : properties) {
    os << attribute.getName() << '=';
    writeAttribute(attribute.getValue(), os);
    os << ',';
  }
  os << '}';
  if (isa<LoopModelInterface>(op))
    return;
  for (Region &region : op->getRegions())
    for (Operation &nested : region.getOps())
      writeOperation(&nested, os);
}

StructuralKeys::StructuralKeys(Block &block, uint64_t seed) {
  for (BlockArgument argument : block.getArguments())
    hashes[argument] = llvm::xxh3_64bits(
        llvm::formatv("argument {0} of {1}", argument.getArgNumber(), seed)
            .str());
  for (Operation &op : block)
    addOperation(&op);
}

void StructuralKeys::addOperation(Operation *op) {
  if (getOpKind(op) == OpKind::Barrier &&
      op->getOperandTypes() == op->getResultTypes()) {
    for (auto [result, operand] :
         llvm::zip_equal(op->getResults(), op->getOperands()))
      hashes[result] = getHash(operand);
    return;
  }
  if (op->getNumResults() == 0)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  writeOperation(op, os);
  for (Value operand : op->getOperands())
    os << getHash(operand) << ' ';
  size_t size = text.size();
  for (OpResult result : op->getResults()) {
    text.resize(size);
    os << result.getResultNumber();
    hashes[result] = llvm::xxh3_64bits(text);
  }
}

uint64_t StructuralKeys::getHash(Value value) const {
  if (auto it = hashes.find(value); it != hashes.end())
    return it->second;
  // Defined around the block: where does not matter to it.
  return llvm::xxh3_64bits(getLocationName(value.getLoc()));
}

std::string StructuralKeys::getKey(Value value) const {
  return llvm::formatv("{0}#{1}", getLocationName(value.getLoc()),
                       llvm::utohexstr(getHash(value), /*LowerCase=*/true,
                                       /*Width=*/16))
      .str();
}
