//===- SaveNodes.cpp - Nodes of saves, loads and stacks -------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepGraphBuilder.h"
#include "act/Conversion/ActToStablehlo/ActToStablehlo.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::memory;

SmallVector<Ref> RegionBuilder::expand(
    TypeRange inputs, ArrayRef<Ref> operands,
    llvm::function_ref<SmallVector<Value>(StablehloBuilder &, ValueRange)>
        build,
    Location loc, Value origin) {
  Block block;
  for (Type type : inputs)
    block.addArgument(type, loc);
  OpBuilder builder(loc.getContext());
  builder.setInsertionPointToEnd(&block);
  StablehloBuilder stablehlo(builder, loc);
  SmallVector<Value> results = build(stablehlo, block.getArguments());
  for (auto [argument, operand] :
       llvm::zip_equal(block.getArguments(), operands))
    set(argument, operand);
  codecOrigin = origin;
  for (Operation &op : block)
    if (failed(visit(&op)))
      llvm_unreachable("codecs are of static shapes");
  codecOrigin = Value();
  SmallVector<Ref> refs;
  for (Value result : results)
    refs.push_back(getRef(result));
  // The values are gone with the block.
  for (Value argument : block.getArguments())
    parts.erase(argument);
  for (Operation &op : block)
    for (Value result : op.getResults())
      parts.erase(result);
  return refs;
}

LogicalResult RegionBuilder::visitSave(CompressedSaveOp save) {
  CompressedType type = save.getResult().getType();
  auto encoding = dyn_cast<StablehloEncodingInterface>(type.getEncoding());
  if (!encoding)
    return save.emitOpError("expects an encoding with a StableHLO lowering, "
                            "got ")
           << type.getEncoding();
  Ref input = getRef(save.getInput());
  SmallVector<Ref> storage{input};
  if (!encoding.storesTensorItself()) {
    SmallVector<Type> inputs{type.getTensorType()};
    SmallVector<Ref> operands{input};
    if (type.getEncoding().usesSalt()) {
      auto salt = RankedTensorType::get(
          {}, IntegerType::get(save.getContext(), 32, IntegerType::Unsigned));
      inputs.push_back(salt);
      operands.push_back(nodes.constant(salt, save.getIdAttr()));
    }
    bool hasSalt = operands.size() > 1;
    if (save.getRange()) {
      inputs.push_back(save.getRange().getType());
      operands.push_back(getRef(save.getRange()));
    }
    storage = expand(
        inputs, operands,
        [&](StablehloBuilder &builder, ValueRange values) {
          ValueRange rest = values.drop_front();
          return encoding.buildEncode(builder, values.front(),
                                      hasSalt ? rest.front() : Value(),
                                      save.getRange() ? rest.back() : Value());
        },
        save.getLoc(), save.getResult());
  }
  for (Ref part : storage)
    if (part.node->kind != NodeKind::Parameter)
      part.node->save = save;
  set(save.getResult(), storage);
  return success();
}

void RegionBuilder::visitLoad(DequantizeLoadOp load) {
  CompressedType type = load.getInput().getType();
  auto encoding = cast<StablehloEncodingInterface>(type.getEncoding());
  SmallVector<Ref> storage = getParts(load.getInput());
  if (encoding.storesTensorItself())
    return set(load.getResult(), storage);
  SmallVector<Type> inputs;
  for (Ref part : storage)
    inputs.push_back(getType(part));
  SmallVector<Ref> value = expand(
      inputs, storage,
      [&](StablehloBuilder &builder, ValueRange values) {
        return SmallVector<Value>{
            encoding.buildDecode(builder, values, type.getTensorType())};
      },
      load.getLoc(), load.getResult());
  set(load.getResult(), value);
}

void RegionBuilder::visitBarrier(ValueRange inputs, ValueRange results) {
  llvm::SetVector<std::pair<Node *, unsigned>> distinct;
  for (Ref ref : getRefs(inputs))
    distinct.insert({ref.node, ref.result});
  if (distinct.size() == 1 && inputs.size() > 1) {
    for (auto [input, result] : llvm::zip_equal(inputs, results))
      set(result, getParts(input));
    return;
  }
  SmallVector<RankedTensorType> types;
  SmallVector<Ref> operands;
  for (auto [node, number] : distinct) {
    operands.push_back({node, number});
    types.push_back(node->types[number]);
  }
  // Two barriers of equal operands are still two.
  Node &node = nodes.getComputation().create(NodeKind::Barrier, "barrier",
                                             types, operands, results.front());
  for (auto [input, result] : llvm::zip_equal(inputs, results)) {
    SmallVector<Ref> refs;
    for (Ref ref : getParts(input)) {
      auto found = llvm::find(distinct, std::pair(ref.node, ref.result));
      refs.push_back({&node, static_cast<unsigned>(found - distinct.begin())});
    }
    set(result, refs);
  }
}

void RegionBuilder::visitEmptyStack(EmptyStackOp stack) {
  SmallVector<Ref> refs;
  for (RankedTensorType type : getPartTypes(stack.getResult().getType())) {
    auto scalar = RankedTensorType::get({}, type.getElementType());
    refs.push_back(nodes.broadcast(
        nodes.constant(scalar, UnitAttr::get(stack.getContext())), type, {}));
  }
  set(stack.getResult(), refs);
}

void RegionBuilder::visitPush(StackPushOp push) {
  SmallVector<Ref> refs;
  Ref index = getRef(push.getIndex());
  for (auto [stack, value] :
       llvm::zip_equal(getParts(push.getStack()), getParts(push.getValue()))) {
    SmallVector<int64_t> shape{1};
    llvm::append_range(shape, getType(value).getShape());
    refs.push_back({&nodes.node(NodeKind::DynamicUpdateSlice,
                                "dynamic_update_slice", getType(stack),
                                {stack, nodes.bitcast(value, shape), index}),
                    0});
  }
  set(push.getResult(), refs);
}

void RegionBuilder::visitRead(StackReadOp read) {
  SmallVector<Ref> refs;
  Ref index = getRef(read.getIndex());
  for (Ref stack : getParts(read.getStack())) {
    auto shape = llvm::to_vector(getType(stack).getShape());
    shape.front() = 1;
    Ref row{&nodes.node(NodeKind::DynamicSlice, "dynamic_slice",
                        getType(stack).clone(shape), {stack, index}),
            0};
    refs.push_back(nodes.bitcast(row, ArrayRef(shape).drop_front()));
  }
  set(read.getResult(), refs);
}
