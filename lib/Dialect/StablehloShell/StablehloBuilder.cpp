//===- StablehloBuilder.cpp - Building StableHLO operations ---------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/StablehloShell/StablehloBuilder.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::act;

Operation *StablehloBuilder::create(StringRef name, TypeRange resultTypes,
                                    ValueRange operands,
                                    ArrayRef<NamedAttribute> attributes,
                                    unsigned numRegions) {
  OperationState state(loc, ("stablehlo." + name).str());
  state.addOperands(operands);
  state.addTypes(resultTypes);
  if (!attributes.empty())
    state.propertiesAttr = builder.getDictionaryAttr(attributes);
  for (unsigned i = 0; i < numRegions; ++i)
    state.addRegion();
  return builder.create(state);
}

Attribute StablehloBuilder::dialectAttr(StringRef text) const {
  MLIRContext *context = builder.getContext();
  // A loaded dialect, stand-in or real, knows what it makes of the text.
  if (context->getLoadedDialect("stablehlo"))
    return parseAttribute(("#stablehlo<" + text + ">").str(), context);
  return OpaqueAttr::get(builder.getStringAttr("stablehlo"), text,
                         builder.getNoneType());
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value StablehloBuilder::constant(ElementsAttr elements) {
  return create("constant", elements.getShapedType(), {},
                named("value", elements))
      ->getResult(0);
}

static DenseElementsAttr getScalarAttr(Type elementType, double value) {
  auto type = RankedTensorType::get({}, elementType);
  auto floatType = dyn_cast<FloatType>(elementType);
  if (!floatType) {
    unsigned width = elementType.getIntOrFloatBitWidth();
    return DenseElementsAttr::get(
        type, APInt(width, static_cast<int64_t>(value), /*isSigned=*/true,
                    /*implicitTrunc=*/true));
  }
  APFloat number(value);
  bool losesInfo;
  number.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return DenseElementsAttr::get(type, number);
}

static DenseElementsAttr getScalarAttr(Type elementType, int64_t value) {
  if (isa<FloatType>(elementType))
    return getScalarAttr(elementType, static_cast<double>(value));
  APInt number(elementType.getIntOrFloatBitWidth(), value, /*isSigned=*/true,
               /*implicitTrunc=*/true);
  return DenseElementsAttr::get(RankedTensorType::get({}, elementType), number);
}

Value StablehloBuilder::floatScalar(Type elementType, double value) {
  return constant(getScalarAttr(elementType, value));
}

Value StablehloBuilder::integerScalar(Type elementType, int64_t value) {
  return constant(getScalarAttr(elementType, value));
}

Value StablehloBuilder::iota(RankedTensorType type, int64_t dimension) {
  return create("iota", type, {},
                named("iota_dimension", builder.getI64IntegerAttr(dimension)))
      ->getResult(0);
}

//===----------------------------------------------------------------------===//
// Elementwise operations
//===----------------------------------------------------------------------===//

Value StablehloBuilder::unary(StringRef name, Value operand) {
  return create(name, operand.getType(), operand)->getResult(0);
}

Value StablehloBuilder::binary(StringRef name, Value lhs, Value rhs) {
  assert(lhs.getType() == rhs.getType() && "operand types must match");
  return create(name, lhs.getType(), {lhs, rhs})->getResult(0);
}

Value StablehloBuilder::isFinite(Value x) {
  return create("is_finite", typeOf(x).clone(builder.getI1Type()), x)
      ->getResult(0);
}

static StringRef stringify(StablehloBuilder::Comparison direction) {
  switch (direction) {
  case StablehloBuilder::Comparison::EQ:
    return "EQ";
  case StablehloBuilder::Comparison::NE:
    return "NE";
  case StablehloBuilder::Comparison::GE:
    return "GE";
  case StablehloBuilder::Comparison::GT:
    return "GT";
  case StablehloBuilder::Comparison::LE:
    return "LE";
  case StablehloBuilder::Comparison::LT:
    return "LT";
  }
  llvm_unreachable("unknown comparison");
}

Value StablehloBuilder::compare(Comparison direction, Value lhs, Value rhs) {
  assert(lhs.getType() == rhs.getType() && "operand types must match");
  Type elementType = typeOf(lhs).getElementType();
  StringRef kind =
      isa<FloatType, ComplexType>(elementType) ? "FLOAT"
      : elementType.isSignlessInteger() && !elementType.isInteger(1)
          ? "SIGNED"
          : "UNSIGNED";
  NamedAttribute attributes[] = {
      named("compare_type", dialectAttr(("comparison_type " + kind).str())),
      named(
          "comparison_direction",
          dialectAttr(("comparison_direction " + stringify(direction)).str()))};
  return create("compare", typeOf(lhs).clone(builder.getI1Type()), {lhs, rhs},
                attributes)
      ->getResult(0);
}

Value StablehloBuilder::select(Value predicate, Value onTrue, Value onFalse) {
  return create("select", onTrue.getType(), {predicate, onTrue, onFalse})
      ->getResult(0);
}

Value StablehloBuilder::clamp(Value minimum, Value operand, Value maximum) {
  return create("clamp", operand.getType(), {minimum, operand, maximum})
      ->getResult(0);
}

Value StablehloBuilder::convert(Value operand, Type elementType) {
  if (typeOf(operand).getElementType() == elementType)
    return operand;
  return create("convert", typeOf(operand).clone(elementType), operand)
      ->getResult(0);
}

Value StablehloBuilder::bitcastConvert(Value operand,
                                       RankedTensorType resultType) {
  return create("bitcast_convert", resultType, operand)->getResult(0);
}

Value StablehloBuilder::reducePrecision(Value operand, unsigned exponentBits,
                                        unsigned mantissaBits) {
  NamedAttribute attributes[] = {
      named("exponent_bits", builder.getI32IntegerAttr(exponentBits)),
      named("mantissa_bits", builder.getI32IntegerAttr(mantissaBits))};
  return create("reduce_precision", operand.getType(), operand, attributes)
      ->getResult(0);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value StablehloBuilder::broadcastInDim(Value operand, ArrayRef<int64_t> shape,
                                       ArrayRef<int64_t> dimensions) {
  auto type = RankedTensorType::get(shape, typeOf(operand).getElementType());
  if (type == operand.getType() &&
      llvm::equal(dimensions, llvm::seq<int64_t>(shape.size())))
    return operand;
  return create("broadcast_in_dim", type, operand,
                named("broadcast_dimensions", dimensions))
      ->getResult(0);
}

Value StablehloBuilder::reshape(Value operand, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, typeOf(operand).getElementType());
  if (type == operand.getType())
    return operand;
  return create("reshape", type, operand)->getResult(0);
}

Value StablehloBuilder::transpose(Value operand,
                                  ArrayRef<int64_t> permutation) {
  RankedTensorType type = typeOf(operand);
  SmallVector<int64_t> shape;
  for (int64_t dimension : permutation)
    shape.push_back(type.getDimSize(dimension));
  return create("transpose", type.clone(shape), operand,
                named("permutation", permutation))
      ->getResult(0);
}

Value StablehloBuilder::reverse(Value operand, ArrayRef<int64_t> dimensions) {
  return create("reverse", operand.getType(), operand,
                named("dimensions", dimensions))
      ->getResult(0);
}

Value StablehloBuilder::slice(Value operand, ArrayRef<int64_t> starts,
                              ArrayRef<int64_t> limits,
                              ArrayRef<int64_t> strides) {
  SmallVector<int64_t> ones(starts.size(), 1), shape;
  if (strides.empty())
    strides = ones;
  for (auto [start, limit, stride] : llvm::zip_equal(starts, limits, strides))
    shape.push_back(llvm::divideCeil(limit - start, stride));
  NamedAttribute attributes[] = {named("start_indices", starts),
                                 named("limit_indices", limits),
                                 named("strides", strides)};
  return create("slice", typeOf(operand).clone(shape), operand, attributes)
      ->getResult(0);
}

Value StablehloBuilder::pad(Value operand, Value value, ArrayRef<int64_t> low,
                            ArrayRef<int64_t> high,
                            ArrayRef<int64_t> interior) {
  SmallVector<int64_t> zeros(low.size(), 0), shape;
  if (interior.empty())
    interior = zeros;
  for (auto [size, before, after, between] :
       llvm::zip_equal(typeOf(operand).getShape(), low, high, interior))
    shape.push_back(before + size + after +
                    std::max<int64_t>(size - 1, 0) * between);
  NamedAttribute attributes[] = {named("edge_padding_low", low),
                                 named("edge_padding_high", high),
                                 named("interior_padding", interior)};
  return create("pad", typeOf(operand).clone(shape), {operand, value},
                attributes)
      ->getResult(0);
}

Value StablehloBuilder::concatenate(ValueRange operands, int64_t dimension) {
  if (operands.size() == 1)
    return operands.front();
  RankedTensorType type = typeOf(operands.front());
  SmallVector<int64_t> shape(type.getShape());
  shape[dimension] = 0;
  for (Value operand : operands)
    shape[dimension] += typeOf(operand).getDimSize(dimension);
  return create("concatenate", type.clone(shape), operands,
                named("dimension", builder.getI64IntegerAttr(dimension)))
      ->getResult(0);
}

Value StablehloBuilder::dynamicSlice(Value operand, ValueRange starts,
                                     ArrayRef<int64_t> sizes) {
  SmallVector<Value> operands{operand};
  llvm::append_range(operands, starts);
  return create("dynamic_slice", typeOf(operand).clone(sizes), operands,
                named("slice_sizes", sizes))
      ->getResult(0);
}

Value StablehloBuilder::dynamicUpdateSlice(Value operand, Value update,
                                           ValueRange starts) {
  SmallVector<Value> operands{operand, update};
  llvm::append_range(operands, starts);
  return create("dynamic_update_slice", operand.getType(), operands)
      ->getResult(0);
}

//===----------------------------------------------------------------------===//
// The rest
//===----------------------------------------------------------------------===//

static StringRef getCombinerName(StablehloBuilder::Combiner combiner) {
  switch (combiner) {
  case StablehloBuilder::Combiner::Add:
    return "add";
  case StablehloBuilder::Combiner::Multiply:
    return "multiply";
  case StablehloBuilder::Combiner::Maximum:
    return "maximum";
  case StablehloBuilder::Combiner::Minimum:
    return "minimum";
  case StablehloBuilder::Combiner::And:
    return "and";
  case StablehloBuilder::Combiner::Or:
    return "or";
  }
  llvm_unreachable("unknown combiner");
}

Value StablehloBuilder::reduce(Value operand, Value init,
                               ArrayRef<int64_t> dimensions,
                               Combiner combiner) {
  RankedTensorType type = typeOf(operand);
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(dimensions, static_cast<int64_t>(i)))
      shape.push_back(size);
  Operation *op = create("reduce", type.clone(shape), {operand, init},
                         named("dimensions", dimensions), /*numRegions=*/1);
  OpBuilder::InsertionGuard guard(builder);
  Type scalarType = init.getType();
  Block *body = builder.createBlock(&op->getRegion(0), {},
                                    {scalarType, scalarType}, {loc, loc});
  Value combined = binary(getCombinerName(combiner), body->getArgument(0),
                          body->getArgument(1));
  create("return", {}, combined);
  return op->getResult(0);
}

Value StablehloBuilder::neutral(Type elementType, Combiner combiner) {
  auto scalarType = RankedTensorType::get({}, elementType);
  auto floatType = dyn_cast<FloatType>(elementType);
  bool isMaximum = combiner == Combiner::Maximum;
  if (combiner != Combiner::Maximum && combiner != Combiner::Minimum) {
    if (combiner == Combiner::And)
      return constant(DenseElementsAttr::get(
          scalarType, APInt::getAllOnes(elementType.getIntOrFloatBitWidth())));
    return scalar(elementType, combiner == Combiner::Multiply ? 1 : 0);
  }
  if (floatType)
    return constant(DenseElementsAttr::get(
        scalarType, APFloat::getInf(floatType.getFloatSemantics(),
                                    /*Negative=*/isMaximum)));
  unsigned width = elementType.getIntOrFloatBitWidth();
  bool isUnsigned = elementType.isUnsignedInteger() || width == 1;
  APInt least =
      isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  APInt greatest =
      isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  return constant(
      DenseElementsAttr::get(scalarType, isMaximum ? least : greatest));
}

Value StablehloBuilder::reduce(Value operand, ArrayRef<int64_t> dimensions,
                               Combiner combiner) {
  Value init = neutral(typeOf(operand).getElementType(), combiner);
  return reduce(operand, init, dimensions, combiner);
}

/// Appends the sizes of `type` that are neither in `batch` nor `contracting`.
static void appendFree(RankedTensorType type, ArrayRef<int64_t> batch,
                       ArrayRef<int64_t> contracting,
                       SmallVectorImpl<int64_t> &shape) {
  for (auto [i, size] : llvm::enumerate(type.getShape())) {
    auto dimension = static_cast<int64_t>(i);
    if (!llvm::is_contained(batch, dimension) &&
        !llvm::is_contained(contracting, dimension))
      shape.push_back(size);
  }
}

Value StablehloBuilder::dotGeneral(Value lhs, Value rhs,
                                   ArrayRef<int64_t> lhsBatch,
                                   ArrayRef<int64_t> rhsBatch,
                                   ArrayRef<int64_t> lhsContracting,
                                   ArrayRef<int64_t> rhsContracting) {
  SmallVector<int64_t> shape;
  for (int64_t dimension : lhsBatch)
    shape.push_back(typeOf(lhs).getDimSize(dimension));
  appendFree(typeOf(lhs), lhsBatch, lhsContracting, shape);
  appendFree(typeOf(rhs), rhsBatch, rhsContracting, shape);
  std::string numbers;
  llvm::raw_string_ostream os(numbers);
  std::pair<StringRef, ArrayRef<int64_t>> lists[] = {
      {"lhs_batching_dimensions", lhsBatch},
      {"rhs_batching_dimensions", rhsBatch},
      {"lhs_contracting_dimensions", lhsContracting},
      {"rhs_contracting_dimensions", rhsContracting}};
  llvm::interleaveComma(lists, os, [&](auto &list) {
    os << list.first << " = [";
    llvm::interleaveComma(list.second, os);
    os << "]";
  });
  Attribute precision = dialectAttr("precision HIGHEST");
  NamedAttribute attributes[] = {
      named("dot_dimension_numbers", dialectAttr("dot<" + numbers + ">")),
      named("precision_config", builder.getArrayAttr({precision, precision}))};
  return create("dot_general", typeOf(lhs).clone(shape), {lhs, rhs}, attributes)
      ->getResult(0);
}

SmallVector<Value> StablehloBuilder::countedLoop(
    int64_t count, ValueRange carried,
    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  SmallVector<Value> operands{scalar(builder.getI32Type(), 0)};
  llvm::append_range(operands, carried);
  SmallVector<Type> types = llvm::to_vector(ValueRange(operands).getTypes());
  Operation *loop = create("while", types, operands, {}, 2);
  SmallVector<Location> locations(types.size(), loc);
  OpBuilder::InsertionGuard guard(builder);

  Block *condition =
      builder.createBlock(&loop->getRegion(0), {}, types, locations);
  Value limit = scalar(builder.getI32Type(), count);
  create("return", {},
         compare(Comparison::LT, condition->getArgument(0), limit));

  Block *block = builder.createBlock(&loop->getRegion(1), {}, types, locations);
  Value number = block->getArgument(0);
  SmallVector<Value> following =
      body(number, block->getArguments().drop_front());
  SmallVector<Value> next{add(number, scalar(builder.getI32Type(), 1))};
  llvm::append_range(next, following);
  create("return", {}, next);
  return llvm::to_vector_of<Value>(loop->getResults().drop_front());
}

SmallVector<Value> StablehloBuilder::optimizationBarrier(ValueRange operands) {
  Operation *op = create("optimization_barrier", operands.getTypes(), operands);
  return llvm::to_vector_of<Value>(op->getResults());
}

func::CallOp StablehloBuilder::call(func::FuncOp callee, ValueRange operands) {
  return func::CallOp::create(builder, loc, callee, operands);
}
