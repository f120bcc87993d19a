//===- LinearAttentionLowering.cpp - Linear attention in StableHLO --------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LinearAttentionLoop.h"
#include "act/Dialect/Act/IR/LinearAttentionCalls.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::act;

static LogicalResult verifyLowerable(LinearAttentionOpInterface op) {
  for (Type type : op->getOperandTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return op.emitOpError("expects tensors of static shape, got ") << type;
  }
  if (!isa<StablehloFeatureMapInterface>(op.getFeatureMap()))
    return op.emitOpError("expects a feature map with a StableHLO lowering, "
                          "got ")
           << op.getFeatureMap();
  return success();
}

namespace {
/// Lowers the operations of a module, equal ones to calls of one function.
class LinearAttentionLowering {
public:
  explicit LinearAttentionLowering(ModuleOp module)
      : module(module), symbols(module), builder(module.getContext()) {}

  SmallVector<Value> buildLoop(LinearAttentionOpInterface op);
  SmallVector<Value> buildCall(LinearAttentionOpInterface op);

private:
  func::FuncOp getFunction(LinearAttentionOpInterface op);

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  /// By operation, attributes and types.
  DenseMap<Attribute, func::FuncOp> functions;
};
} // namespace

/// `act_linear_attention_square_2x512x8x64xf32`
static std::string getName(LinearAttentionOpInterface op) {
  std::string name;
  llvm::raw_string_ostream os(name);
  os << "act_" << op->getName().stripDialect() << '_'
     << op.getFeatureMap().getName() << '_';
  auto type = cast<RankedTensorType>(op.getKey().getType());
  for (int64_t size : type.getShape())
    os << size << 'x';
  os << type.getElementType();
  return name;
}

func::FuncOp
LinearAttentionLowering::getFunction(LinearAttentionOpInterface op) {
  SmallVector<Value> operands = getReadOperands(op);
  FunctionType type = builder.getFunctionType(TypeRange(ValueRange(operands)),
                                              op->getResultTypes());
  Attribute key = builder.getArrayAttr(
      {builder.getStringAttr(op->getName().getStringRef()),
       op->getPropertiesAsAttribute(), TypeAttr::get(type)});
  func::FuncOp &function = functions[key];
  if (function)
    return function;
  builder.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(builder, op.getLoc(), getName(op), type);
  function.setPrivate();
  symbols.insert(function);
  OpBuilder body = OpBuilder::atBlockEnd(function.addEntryBlock());
  StablehloBuilder stablehlo(body, op.getLoc());
  SmallVector<Value> results =
      buildLinearAttentionLoop(stablehlo, op, function.getArguments());
  func::ReturnOp::create(body, op.getLoc(), results);
  return function;
}

SmallVector<Value>
LinearAttentionLowering::buildLoop(LinearAttentionOpInterface op) {
  func::FuncOp function = getFunction(op);
  builder.setInsertionPoint(op);
  StablehloBuilder stablehlo(builder, op.getLoc());
  func::CallOp call = stablehlo.call(function, getReadOperands(op));
  return llvm::to_vector_of<Value>(call.getResults());
}

/// Row-major layouts of `types`, as XLA takes them.
static ArrayAttr getLayouts(Builder &builder, TypeRange types) {
  SmallVector<Attribute> layouts;
  for (Type type : types) {
    int64_t rank = cast<RankedTensorType>(type).getRank();
    auto axes = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(rank)));
    layouts.push_back(builder.getIndexTensorAttr(axes));
  }
  return builder.getArrayAttr(layouts);
}

SmallVector<Value>
LinearAttentionLowering::buildCall(LinearAttentionOpInterface op) {
  builder.setInsertionPoint(op);
  StablehloBuilder stablehlo(builder, op.getLoc());
  SmallVector<Value> operands = getReadOperands(op);
  NamedAttribute attributes[] = {
      builder.getNamedAttr("api_version", builder.getI32IntegerAttr(4)),
      builder.getNamedAttr("backend_config", getCallConfig(op)),
      builder.getNamedAttr("call_target_name",
                           builder.getStringAttr(getCallTarget(op))),
      builder.getNamedAttr("has_side_effect", builder.getBoolAttr(false)),
      builder.getNamedAttr(
          "operand_layouts",
          getLayouts(builder, TypeRange(ValueRange(operands)))),
      builder.getNamedAttr("result_layouts",
                           getLayouts(builder, op->getResultTypes()))};
  Operation *call = stablehlo.create("custom_call", op->getResultTypes(),
                                     operands, attributes);
  return llvm::to_vector_of<Value>(call->getResults());
}

LogicalResult
mlir::act::convertLinearAttentionToStablehlo(ModuleOp module,
                                             LinearAttentionForm form) {
  SmallVector<LinearAttentionOpInterface> ops;
  WalkResult result = module.walk([&](LinearAttentionOpInterface op) {
    ops.push_back(op);
    return failed(verifyLowerable(op)) ? WalkResult::interrupt()
                                       : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  LinearAttentionLowering lowering(module);
  llvm::SetVector<Operation *> destinations;
  for (LinearAttentionOpInterface op : ops) {
    SmallVector<Value> results = form == LinearAttentionForm::Loop
                                     ? lowering.buildLoop(op)
                                     : lowering.buildCall(op);
    op->replaceAllUsesWith(results);
    for (Value operand : op->getOperands())
      if (auto empty = operand.getDefiningOp<tensor::EmptyOp>())
        destinations.insert(empty);
    op->erase();
  }
  for (Operation *destination : destinations)
    if (destination->use_empty())
      destination->erase();
  return success();
}
