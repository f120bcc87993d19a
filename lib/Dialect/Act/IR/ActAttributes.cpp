//===- ActAttributes.cpp - Encodings of the act dialect ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/ActAttributes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

using namespace mlir;
using namespace mlir::act;

#include "act/Dialect/Act/IR/ActEnums.cpp.inc"

#include "act/Dialect/Act/IR/ActAttrInterfaces.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "act/Dialect/Act/IR/ActAttributes.cpp.inc"

void ActDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "act/Dialect/Act/IR/ActAttributes.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

int64_t mlir::act::getStorageBytes(EncodingAttrInterface encoding,
                                   RankedTensorType type) {
  int64_t bytes = 0;
  for (RankedTensorType part : encoding.getStorageTypes(type)) {
    Type element = part.getElementType();
    int64_t width = 8;
    if (auto complex = dyn_cast<ComplexType>(element))
      width = 2 * complex.getElementType().getIntOrFloatBitWidth();
    else if (element.isIntOrFloat())
      width = element.getIntOrFloatBitWidth();
    if (part.hasStaticShape())
      bytes += part.getNumElements() * llvm::divideCeil(width, 8);
  }
  return bytes;
}

int64_t mlir::act::getPackedBytes(int64_t count, unsigned bits) {
  return llvm::divideCeil(count * bits, 8);
}

SmallVector<int64_t> GroupLayout::getShape(int64_t perGroup) const {
  SmallVector<int64_t> shape(outer);
  shape.append({numGroups, perGroup});
  llvm::append_range(shape, inner);
  return shape;
}

GroupLayout mlir::act::getGroupLayout(ArrayRef<int64_t> shape, int64_t group,
                                      int64_t axis, int64_t merge) {
  GroupLayout layout;
  if (axis < 0) {
    ArrayRef<int64_t> merged = shape.take_back(merge);
    layout.outer = llvm::to_vector(shape.drop_back(merge));
    layout.extent = std::accumulate(merged.begin(), merged.end(), int64_t{1},
                                    std::multiplies<>());
  } else {
    layout.outer = llvm::to_vector(shape.take_front(axis));
    layout.extent = shape[axis];
    layout.inner = llvm::to_vector(shape.drop_front(axis + 1));
  }
  layout.group = std::min(group, layout.extent);
  layout.numGroups = llvm::divideCeil(layout.extent, layout.group);
  return layout;
}

/// The shape of `shape` packed to `bits` bits per element along its last
/// `merge` axes taken as one, all of them or `group` elements at a time.
static SmallVector<int64_t> getPackedShape(ArrayRef<int64_t> shape,
                                           unsigned bits, int64_t merge,
                                           int64_t group) {
  SmallVector<int64_t> result(shape.drop_back(merge));
  ArrayRef<int64_t> merged = shape.take_back(merge);
  int64_t extent = std::accumulate(merged.begin(), merged.end(), int64_t{1},
                                   std::multiplies<>());
  if (group != 0)
    result.push_back(llvm::divideCeil(extent, group));
  result.push_back(getPackedBytes(group != 0 ? group : extent, bits));
  return result;
}

//===----------------------------------------------------------------------===//
// Constraints shared by encodings
//===----------------------------------------------------------------------===//

using EmitErrorFn = function_ref<InFlightDiagnostic()>;

static LogicalResult verifyCodeBits(unsigned bits, EmitErrorFn emitError) {
  if (bits == 1 || bits == 2 || bits == 4 || bits == 8)
    return success();
  return emitError() << "expects bits to be 1, 2, 4 or 8, got " << bits;
}

static LogicalResult verifyMerge(int64_t merge, EmitErrorFn emitError) {
  if (merge >= 1)
    return success();
  return emitError() << "expects merge to be at least 1, got " << merge;
}

/// A group of packed elements fills whole bytes.
static LogicalResult verifyPackedGroup(int64_t group, EmitErrorFn emitError) {
  if (group >= 0 && group % 8 == 0)
    return success();
  return emitError()
         << "expects group to be 0 or a positive multiple of 8, got " << group;
}

/// Static shape, at least one element and at least `rank` axes.
static LogicalResult verifyShape(RankedTensorType type, int64_t rank,
                                 StringRef encoding, EmitErrorFn emitError) {
  if (!type.hasStaticShape())
    return emitError() << encoding << " expects a static shape, got " << type;
  if (type.getNumElements() == 0)
    return emitError() << encoding << " expects at least one element, got "
                       << type;
  if (type.getRank() < rank)
    return emitError() << encoding << " expects a tensor of rank " << rank
                       << " or more, got " << type;
  return success();
}

static LogicalResult verifyQuantizable(RankedTensorType type,
                                       StringRef encoding,
                                       EmitErrorFn emitError) {
  Type element = type.getElementType();
  if (element.isF16() || element.isBF16() || element.isF32() || element.isF64())
    return success();
  return emitError() << encoding
                     << " expects a floating-point element type of 16, 32 or "
                        "64 bits, got "
                     << element;
}

static RankedTensorType getByteTensor(MLIRContext *context,
                                      ArrayRef<int64_t> shape) {
  return RankedTensorType::get(
      shape, IntegerType::get(context, 8, IntegerType::Unsigned));
}

/// Largest error of a code of `bits` bits as a fraction of the range.
static double getCodeErrorBound(unsigned bits, Rounding rounding) {
  double step = 1.0 / ((1u << bits) - 1);
  return rounding == Rounding::Nearest ? step / 2 : step;
}

/// Variance of a uniformly spread value after rounding to codes of `bits` bits:
/// step^2/12 to the nearest; stochastic rounding doubles it.
static double getCodeErrorVariance(unsigned bits, Rounding rounding) {
  double step = 1.0 / ((1u << bits) - 1);
  return step * step / (rounding == Rounding::Nearest ? 12 : 6);
}

//===----------------------------------------------------------------------===//
// RawAttr
//===----------------------------------------------------------------------===//

LogicalResult RawAttr::verifyAppliesTo(RankedTensorType, EmitErrorFn) const {
  return success();
}

SmallVector<RankedTensorType>
RawAttr::getStorageTypes(RankedTensorType type) const {
  return {type};
}

bool RawAttr::isLossless() const { return true; }
double RawAttr::getErrorBound() const { return 0; }
double RawAttr::getErrorVariance() const { return 0; }
bool RawAttr::usesSalt() const { return false; }

//===----------------------------------------------------------------------===//
// GroupQuantAttr
//===----------------------------------------------------------------------===//

LogicalResult GroupQuantAttr::verify(EmitErrorFn emitError, unsigned bits,
                                     int64_t group, int64_t axis, int64_t merge,
                                     Rounding, Type params) {
  if (failed(verifyCodeBits(bits, emitError))) // C1
    return failure();
  if (group < 2) // C2
    return emitError() << "expects group to be at least 2, got " << group;
  if (!params.isF32() && !params.isBF16()) // C3
    return emitError() << "expects params to be f32 or bf16, got " << params;
  if (failed(verifyMerge(merge, emitError))) // C4
    return failure();
  if (merge > 1 && axis != -1) // C4
    return emitError() << "expects merge only with axis -1, got axis " << axis;
  if (axis < -1) // C5
    return emitError() << "expects axis to be at least -1, got " << axis;
  return success();
}

LogicalResult GroupQuantAttr::verifyAppliesTo(RankedTensorType type,
                                              EmitErrorFn emitError) const {
  if (failed(verifyQuantizable(type, "group_quant", emitError))) // C6
    return failure();
  return verifyShape(type, std::max(getAxis() + 1, getMerge()), "group_quant",
                     emitError); // C6
}

SmallVector<RankedTensorType>
GroupQuantAttr::getStorageTypes(RankedTensorType type) const {
  GroupLayout layout =
      getGroupLayout(type.getShape(), getGroup(), getAxis(), getMerge());
  auto params = RankedTensorType::get(layout.getShape(1), getParams());
  return {getByteTensor(getContext(), layout.getShape(getPackedBytes(
                                          layout.group, getBits()))),
          params, params};
}

bool GroupQuantAttr::isLossless() const { return false; }
double GroupQuantAttr::getErrorBound() const {
  return getCodeErrorBound(getBits(), getRounding());
}
double GroupQuantAttr::getErrorVariance() const {
  return getCodeErrorVariance(getBits(), getRounding());
}
bool GroupQuantAttr::usesSalt() const {
  return getRounding() == Rounding::Stochastic;
}

//===----------------------------------------------------------------------===//
// AxisQuantAttr
//===----------------------------------------------------------------------===//

LogicalResult AxisQuantAttr::verify(EmitErrorFn emitError, unsigned bits,
                                    int64_t axis, Rounding, Range) {
  if (failed(verifyCodeBits(bits, emitError))) // C1
    return failure();
  if (axis < 0) // C2
    return emitError() << "expects an axis that is not negative, got " << axis;
  return success();
}

LogicalResult mlir::act::verifyRangesApplyTo(RankedTensorType type,
                                             int64_t axis, StringRef subject,
                                             EmitErrorFn emitError) {
  if (failed(verifyQuantizable(type, subject, emitError)))
    return failure();
  return verifyShape(type, axis + 1, subject, emitError);
}

RankedTensorType mlir::act::getRangeType(RankedTensorType type, int64_t axis) {
  return RankedTensorType::get({2, type.getDimSize(axis)},
                               Float32Type::get(type.getContext()));
}

LogicalResult AxisQuantAttr::verifyAppliesTo(RankedTensorType type,
                                             EmitErrorFn emitError) const {
  return verifyRangesApplyTo(type, getAxis(), "axis_quant", emitError); // C3
}

SmallVector<RankedTensorType>
AxisQuantAttr::getStorageTypes(RankedTensorType type) const {
  SmallVector<int64_t> codes(type.getShape());
  codes.back() = getPackedBytes(codes.back(), getBits());
  SmallVector<int64_t> range(type.getRank(), 1);
  range[getAxis()] = type.getDimSize(getAxis());
  auto params = RankedTensorType::get(range, Float32Type::get(getContext()));
  return {getByteTensor(getContext(), codes), params, params};
}

bool AxisQuantAttr::isLossless() const { return false; }
double AxisQuantAttr::getErrorBound() const {
  return getCodeErrorBound(getBits(), getRounding());
}
double AxisQuantAttr::getErrorVariance() const {
  return getCodeErrorVariance(getBits(), getRounding());
}
bool AxisQuantAttr::usesSalt() const {
  return getRounding() == Rounding::Stochastic;
}
std::optional<int64_t> AxisQuantAttr::getRunningAxis() const {
  return getRange() == Range::Running ? std::optional(getAxis()) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// FloatCodeAttr
//===----------------------------------------------------------------------===//

LogicalResult FloatCodeAttr::verify(EmitErrorFn emitError, Type type,
                                    int64_t group) {
  if (!isa<Float8E4M3FNType, Float8E5M2Type, BFloat16Type, Float16Type>(
          type)) // C1
    return emitError() << "expects type to be f8E4M3FN, f8E5M2, bf16 or f16, "
                          "got "
                       << type;
  if (group != 0 && group < 2) // C2
    return emitError() << "expects group to be 0 or at least 2, got " << group;
  return success();
}

LogicalResult FloatCodeAttr::verifyAppliesTo(RankedTensorType type,
                                             EmitErrorFn emitError) const {
  if (failed(verifyQuantizable(type, "float", emitError))) // C3
    return failure();
  if (type.getElementTypeBitWidth() <= getType().getIntOrFloatBitWidth())
    return emitError() << "float expects an element type wider than "
                       << getType() << ", got " << type.getElementType(); // C3
  return verifyShape(type, 1, "float", emitError);                        // C3
}

SmallVector<RankedTensorType>
FloatCodeAttr::getStorageTypes(RankedTensorType type) const {
  if (getGroup() == 0)
    return {RankedTensorType::get(type.getShape(), getType())};
  GroupLayout layout = getGroupLayout(type.getShape(), getGroup(), -1, 1);
  return {RankedTensorType::get(layout.getShape(layout.group), getType()),
          RankedTensorType::get(layout.getShape(1),
                                Float32Type::get(getContext()))};
}

bool FloatCodeAttr::isLossless() const { return false; }

double FloatCodeAttr::getErrorBound() const {
  // Half a unit in the last place of the mantissa.
  unsigned precision = cast<mlir::FloatType>(getType()).getFPMantissaWidth();
  return std::ldexp(1.0, -static_cast<int>(precision));
}

double FloatCodeAttr::getErrorVariance() const {
  double bound = getErrorBound();
  return bound * bound / 3;
}
bool FloatCodeAttr::usesSalt() const { return false; }

//===----------------------------------------------------------------------===//
// MaskAttr
//===----------------------------------------------------------------------===//

LogicalResult MaskAttr::verify(EmitErrorFn emitError, int64_t merge,
                               int64_t group) {
  if (failed(verifyMerge(merge, emitError))) // C1
    return failure();
  return verifyPackedGroup(group, emitError); // C3
}

LogicalResult MaskAttr::verifyAppliesTo(RankedTensorType type,
                                        EmitErrorFn emitError) const {
  if (!type.getElementType().isInteger(1)) // C2
    return emitError() << "mask expects element type i1, got "
                       << type.getElementType();
  return verifyShape(type, getMerge(), "mask", emitError); // C2
}

SmallVector<RankedTensorType>
MaskAttr::getStorageTypes(RankedTensorType type) const {
  return {
      getByteTensor(getContext(), getPackedShape(type.getShape(), /*bits=*/1,
                                                 getMerge(), getGroup()))};
}

bool MaskAttr::isLossless() const { return true; }
double MaskAttr::getErrorBound() const { return 0; }
double MaskAttr::getErrorVariance() const { return 0; }
bool MaskAttr::usesSalt() const { return false; }

//===----------------------------------------------------------------------===//
// NarrowAttr
//===----------------------------------------------------------------------===//

LogicalResult NarrowAttr::verify(EmitErrorFn emitError, unsigned bits,
                                 int64_t merge, int64_t group) {
  if (!llvm::is_contained({1u, 2u, 4u, 8u, 16u}, bits)) // C1
    return emitError() << "expects bits to be 1, 2, 4, 8 or 16, got " << bits;
  if (failed(verifyMerge(merge, emitError))) // C2
    return failure();
  return verifyPackedGroup(group, emitError); // C4
}

LogicalResult NarrowAttr::verifyAppliesTo(RankedTensorType type,
                                          EmitErrorFn emitError) const {
  auto element = dyn_cast<IntegerType>(type.getElementType());
  if (!element || element.getWidth() <= getBits()) // C3
    return emitError() << "narrow expects an integer element type of more than "
                       << getBits() << " bits, got " << type.getElementType();
  return verifyShape(type, getMerge(), "narrow", emitError); // C3
}

SmallVector<RankedTensorType>
NarrowAttr::getStorageTypes(RankedTensorType type) const {
  if (getBits() == 16)
    return {RankedTensorType::get(
        type.getShape(),
        IntegerType::get(getContext(), 16, IntegerType::Unsigned))};
  if (getBits() == 8)
    return {getByteTensor(getContext(), type.getShape())};
  return {getByteTensor(getContext(), getPackedShape(type.getShape(), getBits(),
                                                     getMerge(), getGroup()))};
}

bool NarrowAttr::isLossless() const { return true; }
double NarrowAttr::getErrorBound() const { return 0; }
double NarrowAttr::getErrorVariance() const { return 0; }
bool NarrowAttr::usesSalt() const { return false; }
