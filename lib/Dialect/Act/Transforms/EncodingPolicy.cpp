//===- EncodingPolicy.cpp - Which encoding suits which value ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/Transforms/EncodingPolicy.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "mlir/IR/BuiltinOps.h"
#include <cstdlib>

using namespace mlir;
using namespace mlir::act;

EncodingPolicy EncodingPolicy::get(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    module = op->getParentOfType<ModuleOp>();
  auto partitions =
      module ? module->getAttrOfType<IntegerAttr>("mhlo.num_partitions")
             : IntegerAttr();
  return EncodingPolicy(partitions && partitions.getValue().getZExtValue() > 1);
}

bool mlir::act::isWorthEncoding(int64_t elements, int64_t copies) {
  return elements >= kMinEncodedElementsInLoop &&
         elements >= kMinEncodedElements / std::max<int64_t>(copies, 1);
}

std::optional<Exactness> EncodingPolicy::getTypeExactness(RankedTensorType type,
                                                          int64_t copies) {
  Type element = type.getElementType();
  if (element.isInteger(1))
    return Exactness::Predicate;
  if (element.isIntOrIndex())
    return Exactness::Integer;
  if (!type.hasStaticShape() || type.getRank() == 0 ||
      type.getNumElements() == 0 ||
      !(element.isF16() || element.isBF16() || element.isF32() ||
        element.isF64()))
    return Exactness::Unsupported;
  if (!isWorthEncoding(type.getNumElements(), copies))
    return Exactness::Small;
  return std::nullopt;
}

/// About how many elements of `value` share their parameters.
static int64_t getGroupTarget(Value value, unsigned bits) {
  // Results of tanh, softmax and the like share a range anyway, and 8 bits lose
  // little in larger groups.
  Operation *def = value.getDefiningOp();
  if (bits == 8 || (def && hasBoundedRange(def)))
    return 256;
  // Wide layers have many groups a row.
  constexpr int64_t kWide = 1024;
  return cast<RankedTensorType>(value.getType()).getShape().back() >= kWide
             ? 128
             : 64;
}

EncodingAttrInterface
EncodingPolicy::getEncoding(Value value, std::optional<Exactness> exact,
                            unsigned bits, int64_t copies) const {
  auto type = cast<RankedTensorType>(value.getType());
  if (exact || bits == 0 || getTypeExactness(type, copies))
    return getLossless(value, copies);
  return getGroupQuant(type, bits, getGroupTarget(value, bits));
}

EncodingAttrInterface EncodingPolicy::getLossless(Value value,
                                                  int64_t copies) const {
  auto type = cast<RankedTensorType>(value.getType());
  MLIRContext *context = type.getContext();
  auto raw = RawAttr::get(context);
  auto element = dyn_cast<IntegerType>(type.getElementType());
  if (!element || !type.hasStaticShape() ||
      !isWorthEncoding(type.getNumElements(), copies))
    return raw;
  // Take as many trailing axes together as fill a few bytes.
  int64_t merge = 0, extent = 1;
  while (merge < type.getRank() && extent < 64 && (merge == 0 || !isSharded))
    extent *= type.getDimSize(type.getRank() - ++merge);
  if (merge == 0)
    return raw;
  // Bits stay on the device that holds their elements.
  int64_t group = isSharded && extent > 64 ? 64 : 0;
  if (element.getWidth() == 1)
    return MaskAttr::get(context, merge, group);
  std::optional<uint64_t> bound = getUpperBound(value);
  if (!bound)
    return raw;
  for (unsigned bits : {1u, 2u, 4u, 8u, 16u})
    if (bits < element.getWidth() && *bound < (uint64_t{1} << bits))
      return bits < 8 ? NarrowAttr::get(context, bits, merge, group)
                      : NarrowAttr::get(context, bits, 1, 0);
  return raw;
}

/// The divisor of `extent` nearest to `target` within [low, high], or 0. Codes
/// of a group must fill whole bytes, so it is a multiple of `step`.
static int64_t findGroup(int64_t extent, int64_t target, int64_t low,
                         int64_t high, int64_t step) {
  int64_t best = 0;
  for (int64_t d = std::max<int64_t>(low, 2); d <= std::min(high, extent); ++d)
    if (extent % d == 0 && d % step == 0 &&
        (best == 0 || std::abs(d - target) < std::abs(best - target)))
      best = d;
  return best;
}

EncodingAttrInterface EncodingPolicy::getGroupQuant(RankedTensorType type,
                                                    unsigned bits,
                                                    int64_t target) const {
  MLIRContext *context = type.getContext();
  int64_t step = 8 / bits;
  auto get = [&](int64_t group, int64_t merge) {
    return GroupQuantAttr::get(context, bits, group, /*axis=*/-1, merge,
                               Rounding::Stochastic,
                               BFloat16Type::get(context));
  };
  // Groups of about the target size that divide the axis; merge axes if the
  // last is too short, but stay with as few as possible.
  int64_t maxMerge = isSharded ? 1 : type.getRank();
  std::pair<int64_t, int64_t> ranges[] = {{target * 3 / 4, target * 3 / 2},
                                          {target / 2, target * 2}};
  for (auto [low, high] : ranges) {
    int64_t extent = 1;
    for (int64_t merge = 1; merge <= maxMerge; ++merge) {
      extent *= type.getDimSize(type.getRank() - merge);
      if (int64_t group = findGroup(extent, target, low, high, step))
        return get(group, merge);
    }
  }
  // No divisor: the last group of each row is shorter.
  int64_t merge = 1, extent = type.getShape().back();
  while (merge < maxMerge && extent < 4 * target)
    extent *= type.getDimSize(type.getRank() - ++merge);
  return get(target, merge);
}
