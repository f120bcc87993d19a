//===- CodecBuilder.cpp - What encodes and decodes ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CodecBuilder.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::act;

/// `PREFIX_group_quant4_8x64xf32`
static std::string getName(StringRef prefix, CompressedType type) {
  RankedTensorType tensor = type.getTensorType();
  std::string name;
  llvm::raw_string_ostream os(name);
  os << prefix << '_'
     << cast<StablehloEncodingInterface>(type.getEncoding()).getStablehloName()
     << '_';
  for (int64_t size : tensor.getShape())
    os << size << 'x';
  os << tensor.getElementType();
  return name;
}

func::FuncOp CodecBuilder::create(StringRef prefix, CompressedType type,
                                  TypeRange inputs, TypeRange results) {
  auto function =
      func::FuncOp::create(endOfModule, module.getLoc(), getName(prefix, type),
                           endOfModule.getFunctionType(inputs, results));
  function.setPrivate();
  symbols.insert(function);
  function.addEntryBlock();
  return function;
}

/// The storage tensors of `type`.
static SmallVector<Type> getStorageTypes(CompressedType type) {
  return llvm::map_to_vector(
      type.getEncoding().getStorageTypes(type.getTensorType()),
      [](RankedTensorType part) -> Type { return part; });
}

func::FuncOp CodecBuilder::getEncode(CompressedType type) {
  func::FuncOp &function = encodes[type];
  if (function)
    return function;
  auto encoding = cast<StablehloEncodingInterface>(type.getEncoding());
  SmallVector<Type> inputs{type.getTensorType()};
  if (type.getEncoding().usesSalt())
    inputs.push_back(RankedTensorType::get(
        {}, endOfModule.getIntegerType(32, /*isSigned=*/false)));
  std::optional<int64_t> axis = type.getEncoding().getRunningAxis();
  if (axis)
    inputs.push_back(getRangeType(type.getTensorType(), *axis));
  function = create("act_save", type, inputs, getStorageTypes(type));

  OpBuilder body = OpBuilder::atBlockEnd(&function.front());
  StablehloBuilder builder(body, function.getLoc());
  // Behind a barrier the salt is an operand of the kernel that XLA makes of
  // this, not a constant in it: all saves of a type share one kernel, which is
  // what compiling a step with many takes most time for.
  Value salt;
  if (type.getEncoding().usesSalt())
    salt = builder.optimizationBarrier(function.getArgument(1)).front();
  func::ReturnOp::create(
      body, function.getLoc(),
      encoding.buildEncode(builder, function.getArgument(0), salt,
                           axis ? function.getArguments().back() : Value()));
  return function;
}

func::FuncOp CodecBuilder::getDecode(CompressedType type) {
  func::FuncOp &function = decodes[type];
  if (function)
    return function;
  auto encoding = cast<StablehloEncodingInterface>(type.getEncoding());
  function =
      create("act_load", type, getStorageTypes(type), type.getTensorType());

  OpBuilder body = OpBuilder::atBlockEnd(&function.front());
  StablehloBuilder builder(body, function.getLoc());
  func::ReturnOp::create(body, function.getLoc(),
                         encoding.buildDecode(builder, function.getArguments(),
                                              type.getTensorType()));
  return function;
}

func::FuncOp CodecBuilder::getRoundTrip(CompressedType type) {
  func::FuncOp &function = roundTrips[type];
  if (function)
    return function;
  auto encoding = cast<StablehloEncodingInterface>(type.getEncoding());
  bool usesSalt = type.getEncoding().usesSalt();
  SmallVector<Type> inputs{type.getTensorType(),
                           RankedTensorType::get({}, endOfModule.getF32Type())};
  if (usesSalt)
    inputs.push_back(RankedTensorType::get(
        {}, endOfModule.getIntegerType(32, /*isSigned=*/false)));
  function = create("act_round_trip", type, inputs, type.getTensorType());

  OpBuilder body = OpBuilder::atBlockEnd(&function.front());
  StablehloBuilder b(body, function.getLoc());
  Value tensor = function.getArgument(0), levels = function.getArgument(1);
  Value rounded = encoding.buildRoundTrip(
      b, tensor, levels, usesSalt ? function.getArgument(2) : Value());
  Value rounds = b.compare(StablehloBuilder::Comparison::GT, levels,
                           b.splatLike(levels, 0.0));
  func::ReturnOp::create(body, function.getLoc(),
                         b.select(rounds, rounded, tensor));
  return function;
}

/// Tensors of `types` without contents.
static SmallVector<Value> buildDestinations(OpBuilder &builder, Location loc,
                                            ArrayRef<RankedTensorType> types) {
  return llvm::map_to_vector(types, [&](RankedTensorType type) -> Value {
    return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                   type.getElementType());
  });
}

SmallVector<Value> CodecBuilder::encode(OpBuilder &builder, Location loc,
                                        CompressedType type, Value tensor,
                                        Value salt, Value range) {
  // No target has kernels that encode with ranges from elsewhere.
  if (form == CodecForm::Ops && !range) {
    SmallVector<Value> destinations = buildDestinations(
        builder, loc, type.getEncoding().getStorageTypes(type.getTensorType()));
    auto op = EncodeOp::create(builder, loc, tensor, salt, destinations,
                               type.getEncoding());
    return llvm::to_vector_of<Value>(op.getResults());
  }
  SmallVector<Value> operands{tensor};
  if (salt)
    operands.push_back(salt);
  if (range)
    operands.push_back(range);
  func::CallOp call =
      StablehloBuilder(builder, loc).call(getEncode(type), operands);
  return llvm::to_vector_of<Value>(call.getResults());
}

Value CodecBuilder::decode(OpBuilder &builder, Location loc,
                           CompressedType type, ValueRange storage) {
  if (form == CodecForm::Ops) {
    SmallVector<Value> destinations =
        buildDestinations(builder, loc, type.getTensorType());
    return DecodeOp::create(builder, loc, storage, destinations,
                            type.getEncoding())
        .getResult(0);
  }
  return StablehloBuilder(builder, loc)
      .call(getDecode(type), storage)
      .getResult(0);
}

Value CodecBuilder::roundTrip(OpBuilder &builder, Location loc,
                              CompressedType type, Value tensor, Value levels,
                              Value salt) {
  SmallVector<Value> operands{tensor, levels};
  if (salt)
    operands.push_back(salt);
  return StablehloBuilder(builder, loc)
      .call(getRoundTrip(type), operands)
      .getResult(0);
}
