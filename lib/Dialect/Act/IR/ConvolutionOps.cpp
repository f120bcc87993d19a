//===- ConvolutionOps.cpp - Convolutions into destinations ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConvolutionSyntax.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static int64_t getEntry(std::optional<ArrayRef<int64_t>> values, int64_t index,
                        int64_t otherwise) {
  return values ? (*values)[index] : otherwise;
}

int64_t ConvolutionOp::getStride(int64_t dim) {
  return getEntry(getWindowStrides(), dim, 1);
}
int64_t ConvolutionOp::getPaddingLow(int64_t dim) {
  return getEntry(getPadding(), 2 * dim, 0);
}
int64_t ConvolutionOp::getPaddingHigh(int64_t dim) {
  return getEntry(getPadding(), 2 * dim + 1, 0);
}
int64_t ConvolutionOp::getLhsDilationOf(int64_t dim) {
  return getEntry(getLhsDilation(), dim, 1);
}
int64_t ConvolutionOp::getRhsDilationOf(int64_t dim) {
  return getEntry(getRhsDilation(), dim, 1);
}
bool ConvolutionOp::isReversed(int64_t dim) {
  return getWindowReversal() && (*getWindowReversal())[dim];
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// Parses `[b, 0, 1, f]`, where `roles` names the first two roles.
static ParseResult parseDimensions(OpAsmParser &parser, StringRef roles,
                                   DenseI64ArrayAttr &attribute) {
  SmallVector<int64_t> dims;
  SmallVector<bool> seen;
  int64_t position = 0;
  SMLoc loc = parser.getCurrentLocation();
  auto parseRole = [&]() -> ParseResult {
    uint64_t role;
    std::string keyword;
    SMLoc loc = parser.getCurrentLocation();
    OptionalParseResult number = parser.parseOptionalInteger(role);
    if (number.has_value()) {
      // Also keeps a typing error from becoming gigabytes.
      if (failed(*number) || role > 1000)
        return parser.emitError(loc, "expects the number of a dimension");
      role += 2;
    } else {
      if (parser.parseKeywordOrString(&keyword))
        return failure();
      role = keyword.size() == 1 ? roles.find(keyword) : StringRef::npos;
      if (role == StringRef::npos)
        return parser.emitError(loc, "expects '")
               << roles.take_front(1) << "', '" << roles.drop_front(1)
               << "' or a number, got '" << keyword << "'";
    }
    if (role >= dims.size()) {
      dims.resize(role + 1, -1);
      seen.resize(role + 1);
    }
    if (seen[role])
      return parser.emitError(loc, "expects each dimension once");
    seen[role] = true;
    dims[role] = position++;
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRole))
    return failure();
  if (llvm::is_contained(seen, false) || seen.size() < 2)
    return parser.emitError(loc, "expects '")
           << roles.take_front(1) << "', '" << roles.drop_front(1)
           << "' and all numbers below that of spatial dimensions";
  attribute = parser.getBuilder().getDenseI64ArrayAttr(dims);
  return success();
}

ParseResult mlir::act::parseConvolutionDimensions(OpAsmParser &parser,
                                                  DenseI64ArrayAttr &lhs,
                                                  DenseI64ArrayAttr &rhs,
                                                  DenseI64ArrayAttr &out) {
  return failure(parseDimensions(parser, "bf", lhs) ||
                 parser.parseKeyword("x") ||
                 parseDimensions(parser, "io", rhs) || parser.parseArrow() ||
                 parseDimensions(parser, "bf", out));
}

static void printDimensions(OpAsmPrinter &printer, StringRef roles,
                            ArrayRef<int64_t> dims) {
  SmallVector<std::string> names(dims.size());
  for (auto [role, dim] : llvm::enumerate(dims))
    if (dim >= 0 && dim < static_cast<int64_t>(names.size()))
      names[dim] =
          role < 2 ? roles.substr(role, 1).str() : std::to_string(role - 2);
  printer << '[' << llvm::join(names, ", ") << ']';
}

void mlir::act::printConvolutionDimensions(OpAsmPrinter &printer, Operation *,
                                           DenseI64ArrayAttr lhs,
                                           DenseI64ArrayAttr rhs,
                                           DenseI64ArrayAttr out) {
  printDimensions(printer, "bf", lhs);
  printer << 'x';
  printDimensions(printer, "io", rhs);
  printer << "->";
  printDimensions(printer, "bf", out);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyTypes(ConvolutionOp op) {
  auto isBuffer = [](Type type) { return isa<BaseMemRefType>(type); };
  if (llvm::any_of(op->getOperandTypes(), isBuffer) &&
      !llvm::all_of(op->getOperandTypes(), isBuffer)) // C1
    return op.emitOpError("expects operands that are all tensors or all "
                          "buffers, got ")
           << op->getOperandTypes();
  auto lhs = cast<ShapedType>(op.getLhs().getType());
  for (Type type : op->getOperandTypes()) // C1
    if (cast<ShapedType>(type).getRank() != lhs.getRank() || lhs.getRank() < 2)
      return op.emitOpError("expects operands of one rank of at least 2, got ")
             << op->getOperandTypes();
  Type element = lhs.getElementType();
  Type rhs = cast<ShapedType>(op.getRhs().getType()).getElementType();
  if (rhs != element) // C2
    return op.emitOpError("expects lhs and rhs of one element type, got ")
           << element << " and " << rhs;
  Type out = cast<ShapedType>(op.getOut().getType()).getElementType();
  bool isWidened = out.isF32() && element.getIntOrFloatBitWidth() == 16;
  if (out != element && !isWidened) // C2
    return op.emitOpError("expects a destination of ")
           << element << ", or of f32 for f16 and bf16, got " << out;
  return success();
}

static LogicalResult verifyDimensions(ConvolutionOp op, StringRef what,
                                      ArrayRef<int64_t> dims) {
  int64_t rank = cast<ShapedType>(op.getLhs().getType()).getRank();
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted);
  if (static_cast<int64_t>(sorted.size()) != rank ||
      !llvm::equal(sorted, llvm::seq<int64_t>(0, rank))) // C3
    return op.emitOpError("expects every dimension below ")
           << rank << " once as " << what << ", got [" << dims << "]";
  return success();
}

static LogicalResult verifyEntries(ConvolutionOp op, StringRef what,
                                   std::optional<ArrayRef<int64_t>> entries,
                                   int64_t count, bool arePositive) {
  if (!entries)
    return success();
  if (static_cast<int64_t>(entries->size()) != count) // C4
    return op.emitOpError("expects ")
           << count << " entries of " << what << ", got " << entries->size();
  for (int64_t entry : *entries)
    if (arePositive && entry < 1) // C4
      return op.emitOpError("expects positive entries of ")
             << what << ", got " << entry;
  return success();
}

static LogicalResult verifyWindow(ConvolutionOp op) {
  int64_t count = op.getNumSpatialDims();
  if (failed(verifyEntries(op, "window_strides", op.getWindowStrides(), count,
                           /*arePositive=*/true)) ||
      failed(verifyEntries(op, "lhs_dilation", op.getLhsDilation(), count,
                           /*arePositive=*/true)) ||
      failed(verifyEntries(op, "rhs_dilation", op.getRhsDilation(), count,
                           /*arePositive=*/true)) ||
      failed(verifyEntries(op, "padding", op.getPadding(), 2 * count,
                           /*arePositive=*/false)))
    return failure();
  std::optional<ArrayRef<bool>> reversal = op.getWindowReversal();
  if (reversal && static_cast<int64_t>(reversal->size()) != count) // C4
    return op.emitOpError("expects ")
           << count << " entries of window_reversal, got " << reversal->size();
  return success();
}

/// The size of the dimension of `value` with role `role`.
static int64_t getSize(Value value, ArrayRef<int64_t> dims, int64_t role) {
  return cast<ShapedType>(value.getType()).getDimSize(dims[role]);
}

static LogicalResult verifyGroups(ConvolutionOp op) {
  int64_t featureGroups = op.getFeatureGroupCount();
  int64_t batchGroups = op.getBatchGroupCount();
  if (featureGroups < 1 || batchGroups < 1 ||
      (featureGroups > 1 && batchGroups > 1)) // C5
    return op.emitOpError("expects positive group counts, one of them 1, got ")
           << featureGroups << " and " << batchGroups;
  int64_t batch = getSize(op.getLhs(), op.getLhsDimensions(), 0);
  int64_t features = getSize(op.getLhs(), op.getLhsDimensions(), 1);
  int64_t inputs = getSize(op.getRhs(), op.getRhsDimensions(), 0);
  int64_t outputs = getSize(op.getRhs(), op.getRhsDimensions(), 1);
  if (outputs % (featureGroups * batchGroups) != 0) // C5
    return op.emitOpError("expects output features that are a multiple of the ")
           << featureGroups * batchGroups << " groups, got " << outputs;
  if (features % featureGroups != 0) // C5
    return op.emitOpError("expects features that are a multiple of "
                          "feature_group_count = ")
           << featureGroups << ", got " << features;
  if (batch % batchGroups != 0) // C5
    return op.emitOpError("expects a batch that is a multiple of "
                          "batch_group_count = ")
           << batchGroups << ", got " << batch;
  if (inputs != features / featureGroups) // C6
    return op.emitOpError("expects ")
           << features / featureGroups << " input features of rhs, got "
           << inputs;
  return success();
}

/// How many positions a window has in spatial dimension `dim`.
static int64_t countPositions(ConvolutionOp op, int64_t dim) {
  int64_t lhs = getSize(op.getLhs(), op.getLhsDimensions(), dim + 2);
  int64_t rhs = getSize(op.getRhs(), op.getRhsDimensions(), dim + 2);
  int64_t dilated = lhs == 0 ? 0 : (lhs - 1) * op.getLhsDilationOf(dim) + 1;
  int64_t window = rhs == 0 ? 0 : (rhs - 1) * op.getRhsDilationOf(dim) + 1;
  int64_t padded = dilated + op.getPaddingLow(dim) + op.getPaddingHigh(dim);
  if (padded <= 0 || window > padded)
    return 0;
  return (padded - window) / op.getStride(dim) + 1;
}

static LogicalResult verifyOutput(ConvolutionOp op) {
  auto expects = [&](StringRef what, int64_t role, int64_t size) {
    int64_t got = getSize(op.getOut(), op.getOutDimensions(), role);
    if (got == size)
      return success();
    return LogicalResult(op.emitOpError("expects a destination with ")
                         << size << " as the size of " << what << ", got "
                         << got);
  };
  int64_t batch = getSize(op.getLhs(), op.getLhsDimensions(), 0);
  if (failed(expects("the batch", 0, batch / op.getBatchGroupCount())) ||
      failed(expects("features", 1,
                     getSize(op.getRhs(), op.getRhsDimensions(), 1)))) // C7
    return failure();
  for (int64_t dim = 0; dim < op.getNumSpatialDims(); ++dim)
    if (failed(expects("spatial dimension " + std::to_string(dim), dim + 2,
                       countPositions(op, dim)))) // C7
      return failure();
  return success();
}

LogicalResult ConvolutionOp::verify() {
  if (failed(verifyTypes(*this)) ||
      failed(verifyDimensions(*this, "lhs_dimensions", getLhsDimensions())) ||
      failed(verifyDimensions(*this, "rhs_dimensions", getRhsDimensions())) ||
      failed(verifyDimensions(*this, "out_dimensions", getOutDimensions())) ||
      failed(verifyWindow(*this)) || failed(verifyGroups(*this)))
    return failure();
  return verifyOutput(*this);
}

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

LogicalResult ConvolutionOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands,
    DictionaryAttr attributes, OpaqueProperties properties, RegionRange regions,
    SmallVectorImpl<Type> &inferred) {
  Adaptor adaptor(operands, attributes, properties, regions);
  if (auto type = dyn_cast<RankedTensorType>(adaptor.getOut().getType()))
    inferred.push_back(type);
  return success();
}

LogicalResult
ConvolutionOp::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
  return detail::reifyDestinations(builder, *this, shapes);
}

void ConvolutionOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  detail::getCodecEffects(*this, effects);
}

Speculation::Speculatability ConvolutionOp::getSpeculatability() {
  return hasPureTensorSemantics() ? Speculation::Speculatable
                                  : Speculation::NotSpeculatable;
}
