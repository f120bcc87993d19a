//===- StepGraphBuilder.cpp - Nodes of operations ---------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepGraphBuilder.h"
#include "act/Analysis/AutodiffGraph.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/StablehloShell/AttributeText.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::memory;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SmallVector<RankedTensorType> memory::getPartTypes(Type type) {
  SmallVector<int64_t> sizes;
  if (auto stack = dyn_cast<StackType>(type)) {
    sizes = stack.getSizes();
    type = stack.getCompressedType();
  }
  SmallVector<RankedTensorType> types;
  if (auto compressed = dyn_cast<CompressedType>(type)) {
    for (RankedTensorType part :
         compressed.getEncoding().getStorageTypes(compressed.getTensorType())) {
      SmallVector<int64_t> shape(sizes);
      llvm::append_range(shape, part.getShape());
      types.push_back(part.clone(shape));
    }
    return types;
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor && type.isIntOrIndexOrFloat())
    tensor = RankedTensorType::get({}, type);
  if (tensor && tensor.hasStaticShape())
    types.push_back(tensor);
  return types;
}

LogicalResult RegionBuilder::checkTypes(Operation *op, TypeRange types) {
  for (Type type : types)
    if (getPartTypes(type).empty())
      return op->emitOpError("expects tensors of static shape for a model of "
                             "memory, got ")
             << type;
  return success();
}

SmallVector<Ref> RegionBuilder::getParts(Value value) {
  auto found = parts.find(value);
  if (found != parts.end())
    return llvm::to_vector_of<Ref>(found->second);
  assert(parent && "definitions stand before uses");
  SmallVector<Ref> refs;
  for (Ref outer : parent->getParts(value))
    refs.push_back(capture(outer));
  set(value, refs);
  return refs;
}

SmallVector<Ref> RegionBuilder::getRefs(ValueRange values) {
  SmallVector<Ref> refs;
  for (Value value : values)
    llvm::append_range(refs, getParts(value));
  return refs;
}

/// True for constants and repeated constants, which are made again in the loops
/// that use them.
static bool isRepeatable(const Node &node) {
  return node.kind == NodeKind::Constant || node.kind == NodeKind::Iota ||
         (node.kind == NodeKind::Broadcast &&
          node.operands.front().node->kind == NodeKind::Constant);
}

Ref RegionBuilder::capture(Ref outer) {
  auto [found, isNew] = inner.try_emplace({outer.node, outer.result});
  if (!isNew)
    return found->second;
  Node &node = *outer.node;
  Ref result;
  if (isRepeatable(node)) {
    SmallVector<Ref> operands;
    for (Ref operand : node.operands)
      operands.push_back(capture(operand));
    result = {&nodes.node(node.kind, node.name, node.types, operands,
                          node.attributes, node.signature),
              outer.result};
  } else {
    result = nodes.parameter(getType(outer), node.origin);
    captured.push_back(outer);
  }
  inner[{outer.node, outer.result}] = result;
  return result;
}

LogicalResult RegionBuilder::addArguments(Block &block) {
  for (BlockArgument argument : block.getArguments()) {
    if (failed(checkTypes(block.getParentOp(), argument.getType())))
      return failure();
    SmallVector<Ref> refs;
    for (RankedTensorType type : getPartTypes(argument.getType()))
      refs.push_back(nodes.parameter(type, argument));
    set(argument, refs);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void RegionBuilder::visitConstant(Operation *op) {
  auto type = getPartTypes(op->getResult(0).getType()).front();
  Attribute elements = getConstantElements(op);
  if (!elements)
    elements = op->getAttrDictionary();
  set(op->getResult(0), nodes.constant(type, elements));
}

Ref RegionBuilder::buildDotGeneral(Operation *op) {
  std::string text = shell::getText(op, "dot_dimension_numbers");
  DotDimensions dims;
  dims.lhsBatch = shell::getDims(text, "lhs_batching_dimensions");
  dims.rhsBatch = shell::getDims(text, "rhs_batching_dimensions");
  dims.lhsContracting = shell::getDims(text, "lhs_contracting_dimensions");
  dims.rhsContracting = shell::getDims(text, "rhs_contracting_dimensions");
  Ref lhs = getRef(op->getOperand(0)), rhs = getRef(op->getOperand(1));
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  return buildDot(nodes, lhs, rhs, dims, type);
}

/// True if the body of a reduction adds its arguments or takes one of them.
static bool isSimpleReduction(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 1 ||
      !op->getRegion(0).hasOneBlock())
    return false;
  Block &body = op->getRegion(0).front();
  if (body.getOperations().size() != 2)
    return false;
  StringRef name = body.front().getName().stripDialect();
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  bool isFloat = element.isF32() || element.isF64() || element.isBF16();
  return isFloat && (name == "add" || name == "maximum" || name == "minimum");
}

/// The names of the operations in the regions of `op`.
static Attribute getSignature(Operation *op) {
  if (op->getNumRegions() == 0)
    return {};
  std::string names;
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      names += inner->getName().getStringRef();
      names += ' ';
    });
  return StringAttr::get(op->getContext(), names);
}

static NodeKind getNodeKind(Operation *op) {
  auto kind =
      llvm::StringSwitch<std::optional<NodeKind>>(op->getName().stripDialect())
          .Case("iota", NodeKind::Iota)
          .Cases({"slice", "reverse"}, NodeKind::Permuting)
          .Case("concatenate", NodeKind::Concatenate)
          .Case("pad", NodeKind::Pad)
          .Case("gather", NodeKind::Gather)
          .Case("dynamic_slice", NodeKind::DynamicSlice)
          .Case("dynamic_update_slice", NodeKind::DynamicUpdateSlice)
          .Case("reduce", NodeKind::Reduce)
          .Case("scatter", NodeKind::Scatter)
          .Default(std::nullopt);
  if (kind)
    return *kind;
  if (getOpKind(op) == OpKind::Elementwise && op->getNumRegions() == 0)
    return NodeKind::Elementwise;
  return NodeKind::Opaque;
}

/// Removes dimensions of one element from those that a reduction runs over.
static bool reducesNothing(Operation *op) {
  return op->getName().stripDialect() == "reduce" && op->getNumResults() == 1 &&
         getNumElements(op->getOperand(0).getType()) ==
             getNumElements(op->getResult(0).getType());
}

void RegionBuilder::visitGeneric(Operation *op) {
  SmallVector<Ref> operands = getRefs(op->getOperands());
  for (Value used : getAllOperands(op)) // by its regions too
    if (!llvm::is_contained(op->getOperands(), used))
      llvm::append_range(operands, getParts(used));
  SmallVector<RankedTensorType> types;
  for (Type type : op->getResultTypes())
    types.push_back(getPartTypes(type).front());
  NodeKind kind = getNodeKind(op);
  if (kind == NodeKind::Elementwise)
    return set(op->getResult(0),
               nodes.elementwise(op->getName().stripDialect(), types.front(),
                                 operands, op->getAttrDictionary()));
  // Sums of bf16 are computed in f32.
  RankedTensorType type = types.front();
  bool isShort = kind == NodeKind::Reduce && types.size() == 1 &&
                 type.getElementType().isBF16();
  if (isShort) {
    operands = nodes.widenOperands(operands);
    types = {type.clone(Float32Type::get(type.getContext()))};
  }
  Node &node = nodes.node(kind, op->getName().stripDialect(), types, operands,
                          op->getAttrDictionary(), getSignature(op));
  node.isLibraryCall = kind == NodeKind::Reduce && isSimpleReduction(op);
  if (isShort)
    return set(op->getResult(0),
               nodes.elementwise("convert", type, Ref{&node, 0}));
  for (auto [number, result] : llvm::enumerate(op->getResults()))
    set(result, Ref{&node, static_cast<unsigned>(number)});
}

/// Sets the results of what saves, loads, holds or stacks values.
bool RegionBuilder::visitStorage(Operation *op) {
  if (auto load = dyn_cast<DequantizeLoadOp>(op))
    visitLoad(load);
  else if (auto barrier = dyn_cast<BarrierOp>(op))
    visitBarrier(barrier.getInputs(), barrier.getResults());
  else if (getOpKind(op) == OpKind::Barrier)
    visitBarrier(op->getOperands(), op->getResults());
  else if (auto stack = dyn_cast<EmptyStackOp>(op))
    visitEmptyStack(stack);
  else if (auto push = dyn_cast<StackPushOp>(op))
    visitPush(push);
  else if (auto read = dyn_cast<StackReadOp>(op))
    visitRead(read);
  else
    return false;
  return true;
}

/// The node of an operation of one tensor that has a form of its own.
std::optional<Ref> RegionBuilder::buildSpecial(Operation *op) {
  StringRef name = op->getName().stripDialect();
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  auto getDims = [&](StringRef attribute) {
    return op->getAttrOfType<DenseI64ArrayAttr>(attribute);
  };
  if (!type || op->getNumOperands() == 0)
    return std::nullopt;
  if (name == "dot_general")
    return buildDotGeneral(op);
  if (isReshape(op) || reducesNothing(op))
    return nodes.bitcast(getRef(op->getOperand(0)), type.getShape());
  if (name == "transpose" && getDims("permutation"))
    return nodes.transpose(getRef(op->getOperand(0)),
                           getDims("permutation").asArrayRef());
  if (name == "broadcast_in_dim" && getDims("broadcast_dimensions"))
    return nodes.broadcast(getRef(op->getOperand(0)), type,
                           getDims("broadcast_dimensions").asArrayRef());
  if (name == "select_and_scatter" && op->getNumOperands() == 3)
    return buildSelectAndScatter(
        nodes, getRef(op->getOperand(0)), getRef(op->getOperand(1)),
        getRef(op->getOperand(2)), op->getAttrDictionary());
  if (name == "sharding_constraint")
    return getRef(op->getOperand(0));
  return std::nullopt;
}

LogicalResult RegionBuilder::visit(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>())
    return success();
  if (failed(checkTypes(op, op->getResultTypes())))
    return failure();
  nodes.setOrigin(codecOrigin               ? codecOrigin
                  : op->getNumResults() > 0 ? op->getResult(0)
                                            : Value());
  if (auto save = dyn_cast<CompressedSaveOp>(op))
    return visitSave(save);
  if (auto loop = dyn_cast<LoopModelInterface>(op))
    return visitLoop(loop);
  if (auto call = dyn_cast<CallOpInterface>(op))
    return visitCall(call);
  StringRef name = op->getName().stripDialect();
  if (name == "case" || name == "if")
    return visitBranch(op);
  if (op->getNumResults() == 0 || visitStorage(op))
    return success();
  if (getOpKind(op) == OpKind::Constant && op->getNumOperands() == 0 &&
      name != "iota")
    visitConstant(op);
  else if (std::optional<Ref> special = buildSpecial(op))
    set(op->getResult(0), *special);
  else
    visitGeneric(op);
  return success();
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

LogicalResult RegionBuilder::build(Block &block) {
  for (Operation &op : block)
    if (failed(visit(&op)))
      return failure();
  return success();
}

/// Makes carried constants that never change in the body, which is built here;
/// they are carried no more. Says which they are.
SmallVector<bool> RegionBuilder::sinkConstants(LoopModelInterface loop) {
  SmallVector<bool> isSunk;
  DenseSet<Value> gone;
  for (auto [initial, argument, next] :
       llvm::zip_equal(loop.getInitialValues(), loop.getCarriedArguments(),
                       loop.getNextValues())) {
    SmallVector<Ref> refs = parent->getParts(initial);
    isSunk.push_back(next == argument && refs.size() == 1 &&
                     isRepeatable(*refs.front().node));
    if (!isSunk.back())
      continue;
    set(argument, capture(refs.front()));
    gone.insert(argument);
  }
  // Counters that are not carried, as those of scf.for, are scalars.
  SmallVector<Value> carried = loop.getCarriedArguments();
  llvm::erase_if(nodes.getComputation().parameters, [&](Node *node) {
    return gone.contains(node->origin) ||
           !llvm::is_contained(carried, node->origin);
  });
  return isSunk;
}

LogicalResult RegionBuilder::visitLoop(LoopModelInterface loop) {
  Operation *op = loop;
  Block *body = loop.getLoopBody();
  if (!body)
    return op->emitOpError("expects a body of one block for a model of memory");
  auto inside = std::make_unique<Computation>();
  RegionBuilder builder(*inside, this);
  if (failed(builder.addArguments(*body)))
    return failure();
  SmallVector<bool> isSunk = builder.sinkConstants(loop);
  if (failed(builder.build(*body)))
    return failure();
  SmallVector<Ref> operands;
  for (auto [initial, next, sunk] :
       llvm::zip_equal(loop.getInitialValues(), loop.getNextValues(), isSunk)) {
    if (sunk)
      continue;
    llvm::append_range(operands, getParts(initial));
    llvm::append_range(inside->results, builder.getParts(next));
  }
  llvm::append_range(operands, builder.getCaptured());
  for (Node *parameter :
       ArrayRef(inside->parameters).take_back(builder.getCaptured().size()))
    inside->results.push_back({parameter, 0});
  Node &node = nodes.getComputation().create(
      NodeKind::Loop, "while", llvm::map_to_vector(operands, getType), operands,
      op->getNumResults() ? op->getResult(0) : Value());
  node.bodies.push_back(std::move(inside));
  unsigned number = 0;
  for (auto [result, initial, sunk] :
       llvm::zip_equal(op->getResults(), loop.getInitialValues(), isSunk)) {
    SmallVector<Ref> refs = getParts(initial);
    if (!sunk)
      for (Ref &ref : refs)
        ref = {&node, number++};
    set(result, refs);
  }
  return success();
}

LogicalResult RegionBuilder::visitBranch(Operation *op) {
  SmallVector<RankedTensorType> types;
  for (Type type : op->getResultTypes())
    llvm::append_range(types, getPartTypes(type));
  SmallVector<Ref> operands = getRefs(op->getOperands());
  std::vector<std::unique_ptr<Computation>> bodies;
  for (Region &region : op->getRegions()) {
    if (region.empty())
      continue;
    auto inside = std::make_unique<Computation>();
    RegionBuilder builder(*inside, this);
    if (!region.hasOneBlock())
      return op->emitOpError("expects bodies of one block for a model of "
                             "memory");
    if (failed(builder.build(region.front())))
      return failure();
    for (Value result : region.front().getTerminator()->getOperands())
      llvm::append_range(inside->results, builder.getParts(result));
    llvm::append_range(operands, builder.getCaptured());
    bodies.push_back(std::move(inside));
  }
  Node &node = nodes.getComputation().create(
      NodeKind::Branch, "conditional", types, operands,
      op->getNumResults() ? op->getResult(0) : Value());
  for (std::unique_ptr<Computation> &body : bodies)
    node.bodies.push_back(std::move(body));
  unsigned number = 0;
  for (Value result : op->getResults()) {
    SmallVector<Ref> refs;
    for (size_t i = 0, e = getPartTypes(result.getType()).size(); i < e; ++i)
      refs.push_back({&node, number++});
    set(result, refs);
  }
  return success();
}

LogicalResult RegionBuilder::visitCall(CallOpInterface call) {
  auto callee = dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable());
  if (!callee || callee.isExternal() ||
      !callee.getFunctionBody().hasOneBlock() || isActive(callee))
    return call->emitOpError("expects a function of one block that does not "
                             "call itself for a model of memory");
  active.push_back(callee);
  Block &body = callee.getFunctionBody().front();
  // The body may be visited from several calls: its values are those of the
  // last one.
  for (auto [argument, operand] :
       llvm::zip_equal(body.getArguments(), call.getArgOperands()))
    set(argument, getParts(operand));
  if (failed(build(body)))
    return failure();
  active.pop_back();
  for (auto [result, value] :
       llvm::zip_equal(call->getResults(), body.getTerminator()->getOperands()))
    set(result, getParts(value));
  return success();
}

FailureOr<std::unique_ptr<Computation>>
memory::buildStepGraph(FunctionOpInterface function) {
  Region &region = function.getFunctionBody();
  if (!region.hasOneBlock()) {
    function.emitOpError("expects a body of one block for a model of memory");
    return failure();
  }
  auto computation = std::make_unique<Computation>();
  RegionBuilder builder(*computation, nullptr);
  Block &block = region.front();
  if (failed(builder.addArguments(block)) || failed(builder.build(block)))
    return failure();
  for (Value result : block.getTerminator()->getOperands())
    llvm::append_range(computation->results, builder.getParts(result));
  return computation;
}
