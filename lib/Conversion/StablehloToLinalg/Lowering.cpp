//===- Lowering.cpp - The state of a lowering to linalg -------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "act/Conversion/StablehloToLinalg/StablehloToLinalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

Type mlir::act::lowering::convertType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless()
               ? type
               : IntegerType::get(type.getContext(), integer.getWidth());
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return convertType(tensor);
  return type;
}

RankedTensorType mlir::act::lowering::convertType(RankedTensorType type) {
  return RankedTensorType::get(
      type.getShape(), convertType(type.getElementType()), type.getEncoding());
}

bool mlir::act::lowering::isSigned(Type elementType) {
  return elementType.isSignlessInteger() && !elementType.isInteger(1);
}

Type mlir::act::lowering::getAccumulatorType(Type elementType) {
  auto floatType = dyn_cast<FloatType>(elementType);
  return floatType && floatType.getWidth() < 32
             ? Type(Float32Type::get(elementType.getContext()))
             : elementType;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Lowering::Lowering(const LoweringPatterns &patterns, func::FuncOp function)
    : patterns(patterns), function(function),
      builder(function.getLoc(), function.getContext()) {}

/// Erases operations of `block`, and of blocks inside, whose results nothing
/// uses.
static void eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        eraseDeadOps(inner);
  }
}

LogicalResult Lowering::run() {
  if (function.isExternal()) {
    convertSignature();
    return success();
  }
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expects one block, got ")
           << function.getBody().getBlocks().size();
  Block &old = function.getBody().front();
  Block *block = builder.createBlock(&function.getBody());
  for (BlockArgument argument : old.getArguments())
    map(argument,
        block->addArgument(convertType(argument.getType()), argument.getLoc()));
  LogicalResult result = lowerOps(old);
  if (succeeded(result)) {
    Operation *end = old.getTerminator();
    builder.setLoc(end->getLoc());
    func::ReturnOp::create(builder, get(end->getOperands()));
  }
  if (failed(result)) {
    // The module stays as it was.
    block->dropAllReferences();
    block->erase();
    return failure();
  }
  old.dropAllReferences();
  old.erase();
  eraseDeadOps(*block);
  convertSignature();
  return success();
}

/// The element type of `type` if it is an integer with a sign.
static IntegerType getSignedElement(Type type) {
  auto element = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return element && !element.isSignless() ? element : IntegerType();
}

void Lowering::convertSignature() {
  FunctionType type = function.getFunctionType();
  for (auto [i, argument] : llvm::enumerate(type.getInputs()))
    if (IntegerType element = getSignedElement(argument))
      function.setArgAttr(i, kElementTypeAttrName, TypeAttr::get(element));
  for (auto [i, result] : llvm::enumerate(type.getResults()))
    if (IntegerType element = getSignedElement(result))
      function.setResultAttr(i, kElementTypeAttrName, TypeAttr::get(element));
  auto convert = [](Type type) { return convertType(type); };
  function.setType(FunctionType::get(
      function.getContext(), llvm::map_to_vector(type.getInputs(), convert),
      llvm::map_to_vector(type.getResults(), convert)));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void Lowering::map(Value value, Value replacement) {
  tensors[value] = replacement;
  scalars.erase(value);
}

void Lowering::mapScalar(Value value, Value element) {
  scalars[value] = element;
  tensors.erase(value);
}

Value Lowering::get(Value value) {
  if (Value tensor = tensors.lookup(value))
    return tensor;
  Value element = scalars.at(value);
  auto type = convertType(getTensorType(value));
  Attribute constant;
  if (matchPattern(element, m_Constant(&constant)))
    return tensors[value] = getSplat(type, constant);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(element);
  return tensors[value] =
             tensor::FromElementsOp::create(builder, type, element);
}

SmallVector<Value> Lowering::get(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return get(value); });
}

Value Lowering::findScalar(Value value) {
  if (Value element = scalars.lookup(value))
    return element;
  auto it = tensors.find(value);
  if (it == tensors.end())
    return {};
  auto type = dyn_cast<RankedTensorType>(it->second.getType());
  Attribute element = getSplatElement(it->second);
  if (!type || type.getRank() != 0 || !element)
    return {};
  return scalars[value] = getConstant(cast<TypedAttr>(element));
}

Value Lowering::getScalar(Value value) {
  if (Value element = findScalar(value))
    return element;
  Value tensor = tensors.at(value);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(tensor);
  return scalars[value] =
             tensor::ExtractOp::create(builder, tensor, ValueRange());
}

Value Lowering::getIndex(Value value) {
  Value element = getScalar(value);
  Type type = builder.getIndexType();
  return isSigned(getElementTypeOrSelf(value.getType()))
             ? builder.createOrFold<arith::IndexCastOp>(type, element)
             : builder.createOrFold<arith::IndexCastUIOp>(type, element);
}

/// True for rank-0 tensors of integers.
static bool isIntegerScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 &&
         isa<IntegerType>(tensor.getElementType());
}

Value Lowering::getPassed(Value value) {
  return isIntegerScalar(value.getType()) ? getScalar(value) : get(value);
}

Value Lowering::getPassedWritable(Value value) {
  return isIntegerScalar(value.getType()) ? getScalar(value)
                                          : getWritable(value);
}

Type Lowering::getPassedType(Value value) {
  Type type = convertType(value.getType());
  return isIntegerScalar(type) ? getElementTypeOrSelf(type) : type;
}

void Lowering::mapPassed(Value value, Value passed) {
  if (isIntegerScalar(value.getType()))
    mapScalar(value, passed);
  else
    map(value, passed);
}

Value Lowering::getConstant(TypedAttr value) {
  Value &constant = constants[value];
  if (constant)
    return constant;
  OpBuilder::InsertionGuard guard(builder);
  if (lastConstant)
    builder.setInsertionPointAfter(lastConstant);
  else
    builder.setInsertionPointToStart(&function.getBody().back());
  auto op = arith::ConstantOp::create(builder, value);
  lastConstant = op;
  return constant = op;
}

Value Lowering::getSplat(RankedTensorType type, Attribute element) {
  return getConstant(cast<TypedAttr>(DenseElementsAttr::get(type, element)));
}

Value Lowering::getIndexConstant(int64_t value) {
  return getConstant(builder.getIndexAttr(value));
}

Attribute Lowering::getSplatElement(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return {};
  return elements.getSplatValue<Attribute>();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult Lowering::lowerOps(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(lower(op)))
      return failure();
  return success();
}

static bool isHlo(Operation &op) {
  StringRef dialect = op.getName().getDialectNamespace();
  return dialect == "stablehlo" || dialect == "chlo" || dialect == "sdy" ||
         dialect == "mhlo";
}

/// True if nothing is left to compute: all results are tensors without
/// elements.
static bool isEmpty(Operation &op) {
  auto isEmpty = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getNumElements() == 0;
  };
  return op.getNumResults() > 0 && op.getName().stripDialect() != "while" &&
         op.getName().stripDialect() != "custom_call" &&
         llvm::all_of(op.getResultTypes(), isEmpty);
}

LogicalResult Lowering::lower(Operation &op) {
  builder.setLoc(op.getLoc());
  if (!isHlo(op))
    return cloneOp(op);
  const LoweringPatterns::Entry *entry = patterns.find(&op);
  if (!entry)
    return op.emitOpError("has no native lowering yet");
  if (failed(verify(&op, *entry)))
    return failure();
  if (isEmpty(op)) {
    for (Value result : op.getResults())
      map(result, createEmpty(convertType(getTensorType(result))));
    return success();
  }
  return entry->lower ? entry->lower(&op, *this)
                      : lowerElementwise(&op, *entry);
}

LogicalResult Lowering::cloneOp(Operation &op) {
  for (Region &region : op.getRegions())
    if (!region.empty() && !region.hasOneBlock())
      return op.emitOpError("expects regions of one block");
  IRMapping mapping;
  for (Value operand : op.getOperands())
    mapping.map(operand, get(operand));
  Operation *copy = builder.insert(op.cloneWithoutRegions(mapping));
  for (auto [from, to] : llvm::zip_equal(op.getResults(), copy->getResults())) {
    to.setType(convertType(from.getType()));
    map(from, to);
  }
  OpBuilder::InsertionGuard guard(builder);
  for (auto [from, to] : llvm::zip_equal(op.getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    Block *block = builder.createBlock(&to);
    for (BlockArgument argument : from.getArguments())
      map(argument, block->addArgument(convertType(argument.getType()),
                                       argument.getLoc()));
    Block &old = from.front();
    bool ends = old.mightHaveTerminator();
    if (failed(lowerOps(old)) || (ends && failed(lower(old.back()))))
      return failure();
  }
  return success();
}

LogicalResult Lowering::verifyScalarRegion(Operation *op, Region &region,
                                           unsigned numArguments,
                                           unsigned numResults) {
  if (!region.hasOneBlock() || region.front().empty() ||
      region.getNumArguments() != numArguments)
    return op->emitOpError("expects a region of one block with ")
           << numArguments << " arguments";
  Block &block = region.front();
  if (block.back().getNumOperands() != numResults)
    return op->emitOpError("expects a region that returns ")
           << numResults << " values, got " << block.back().getNumOperands();
  auto isScalar = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() == 0;
  };
  if (!llvm::all_of(block.getArgumentTypes(), isScalar))
    return op->emitOpError("expects a region on rank-0 tensors");
  for (Operation &inner : block.without_terminator()) {
    const LoweringPatterns::Entry *entry = patterns.find(&inner);
    bool isConstant =
        inner.getName().getStringRef() == "stablehlo.constant" &&
        isa_and_nonnull<DenseElementsAttr>(inner.getAttr("value"));
    if (!entry || !(entry->emitScalar || isConstant) ||
        !llvm::all_of(inner.getResultTypes(), isScalar)) {
      InFlightDiagnostic diagnostic = op->emitOpError(
          "expects a region of elementwise operations on rank-0 tensors");
      diagnostic.attachNote(inner.getLoc())
          << "got '" << inner.getName() << "'";
      return diagnostic;
    }
    if (failed(verify(&inner, *entry)))
      return failure();
  }
  return success();
}

SmallVector<Value> Lowering::emitScalarRegion(ImplicitLocOpBuilder &b,
                                              Region &region,
                                              ValueRange arguments) {
  Block &block = region.front();
  DenseMap<Value, Value> elements;
  for (auto [argument, element] :
       llvm::zip_equal(block.getArguments(), arguments))
    elements[argument] = element;
  auto find = [&](Value value) {
    Value element = elements.lookup(value);
    return element ? element : getScalar(value);
  };
  for (Operation &op : block.without_terminator()) {
    Value result;
    if (EmitScalar emitScalar = patterns.find(&op)->emitScalar) {
      result = emitScalar(b, &op, llvm::map_to_vector(op.getOperands(), find));
    } else {
      auto type = convertType(getTensorType(op.getResult(0)));
      auto value = cast<DenseElementsAttr>(op.getAttr("value"))
                       .bitcast(type.getElementType());
      result = arith::ConstantOp::create(
          b, cast<TypedAttr>(value.getSplatValue<Attribute>()));
    }
    elements[op.getResult(0)] = result;
  }
  return llvm::map_to_vector(block.back().getOperands(), find);
}
