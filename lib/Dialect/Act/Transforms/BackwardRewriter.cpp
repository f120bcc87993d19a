//===- BackwardRewriter.cpp - Let backward read forward through saves
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BackwardRewriter.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::act;

/// A cotangent that a barrier names is materialised; larger ones than this are
/// better fused into their users.
static constexpr int64_t kMaxTieElements = 100'000'000;

/// Splats from this size on are made again for their backward user (rule R4).
static constexpr int64_t kMinSplatBytes = int64_t{1} << 20;

static int64_t countElements(Value value) {
  return getNumElements(value.getType()).value_or(0);
}

//===----------------------------------------------------------------------===//
// CotangentFinder
//===----------------------------------------------------------------------===//

void CotangentFinder::add(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return;
  late.insert(value);
  all.push_back(value);
  int64_t size = countElements(value);
  if (size > 1)
    tensors.push_back(value);
  if (size >= kMinEncodedElements && size <= kMaxTieElements)
    wellSized.push_back(value);
}

bool CotangentFinder::isUseFrom(OpOperand &use, unsigned position) const {
  // A result of forward is returned as it is.
  if (use.getOwner() == graph.getTerminator() && graph.getForwardDef(use.get()))
    return false;
  std::optional<unsigned> at = graph.getPosition(use.getOwner());
  return at && *at >= position;
}

bool CotangentFinder::isUsedFrom(Value value, unsigned position) const {
  return llvm::any_of(value.getUses(),
                      [&](OpOperand &use) { return isUseFrom(use, position); });
}

Value CotangentFinder::findNewest(SmallVectorImpl<Value> &stack,
                                  unsigned position) const {
  while (!stack.empty() && !isUsedFrom(stack.back(), position))
    stack.pop_back();
  return stack.empty() ? Value() : stack.back();
}

Value CotangentFinder::find(Operation *op, unsigned position) {
  // 1. The largest cotangent that the operation reads itself.
  Value largest, smallest;
  for (Value operand : op->getOperands()) {
    int64_t size = countElements(operand);
    if (!isLate(operand) || size <= 1)
      continue;
    if (size <= kMaxTieElements && (!largest || size > countElements(largest)))
      largest = operand;
    if (!smallest || size < countElements(smallest))
      smallest = operand;
  }
  if (largest)
    return largest;
  // 2. The newest of a good size. 3. Any that the operation reads. 4. Any.
  if (Value newest = findNewest(wellSized, position))
    return newest;
  if (smallest)
    return smallest;
  if (Value newest = findNewest(tensors, position))
    return newest;
  return findNewest(all, position);
}

//===----------------------------------------------------------------------===//
// BackwardRewriter
//===----------------------------------------------------------------------===//

BackwardRewriter::BackwardRewriter(const AutodiffGraph &graph,
                                   const SurvivorSelection &selection,
                                   const StructuralKeys &keys,
                                   const PartitionOptions &options)
    : graph(graph), selection(selection), keys(keys), options(options),
      cotangents(graph), builder(graph.getTerminator()->getContext()) {}

void BackwardRewriter::save(Value survivor, unsigned id) {
  Operation *def = survivor.getDefiningOp();
  builder.setInsertionPointAfter(def);
  auto type = CompressedType::get(builder.getContext(),
                                  cast<RankedTensorType>(survivor.getType()),
                                  RawAttr::get(builder.getContext()));
  ExactnessAttr exact;
  if (std::optional<Exactness> reason = selection.getExactness(survivor))
    exact = ExactnessAttr::get(builder.getContext(), *reason);
  saves[survivor] =
      CompressedSaveOp::create(builder, def->getLoc(), type, survivor, exact,
                               builder.getI64IntegerAttr(id),
                               builder.getStringAttr(keys.getKey(survivor)));
}

void BackwardRewriter::makeForwardWait(Value survivor, Value saved) {
  unsigned turningPoint = graph.getForward().size();
  builder.setInsertionPointAfterValue(saved);
  auto barrier =
      BarrierOp::create(builder, saved.getLoc(), ValueRange{survivor, saved});
  saved.replaceAllUsesExcept(barrier.getResult(1), barrier);
  survivor.replaceUsesWithIf(barrier.getResult(0), [&](OpOperand &use) {
    std::optional<unsigned> at = graph.getPosition(use.getOwner());
    return at && *at < turningPoint;
  });
}

Value BackwardRewriter::lookUp(Value value) const {
  value = graph.getLeader(value);
  Operation *def = graph.getForwardDef(value);
  if (!def || graph.isHead(def) || graph.isKept(value) ||
      isSaved(value.getType()))
    return value;
  if (auto it = copies.find(value); it != copies.end())
    if (numContractions - it->second.contraction <= options.window)
      return it->second.value;
  if (saves.contains(value))
    return {};
  // Constants cost nothing; a copy would only hide what they are.
  return getAllOperands(def).empty() ? value : Value();
}

SmallVector<Value> BackwardRewriter::findMissing(ArrayRef<Value> roots) const {
  llvm::SetVector<Value> missing;
  SmallVector<Value> stack(roots);
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    if (lookUp(value) || !missing.insert(value))
      continue;
    if (!saves.contains(value))
      llvm::append_range(stack, graph.getOperandLeaders(value.getDefiningOp()));
  }
  SmallVector<Value> ordered = missing.takeVector();
  llvm::sort(ordered, [&](Value a, Value b) {
    auto getKey = [&](Value v) {
      return std::pair(*graph.getPosition(v.getDefiningOp()),
                       cast<OpResult>(v).getResultNumber());
    };
    return getKey(a) < getKey(b);
  });
  return ordered;
}

SmallVector<Value> BackwardRewriter::tie(ArrayRef<Value> values, Operation *op,
                                         unsigned position) {
  // Nothing may have to wait: copies of what is held back already.
  Value cotangent = values.empty() ? Value() : cotangents.find(op, position);
  if (!cotangent)
    return llvm::to_vector(values);
  SmallVector<Value> inputs(values);
  inputs.push_back(cotangent);
  auto barrier = BarrierOp::create(builder, op->getLoc(), inputs);
  Value later = barrier.getResults().back();
  // The barrier's result must be used, or nothing waits for it.
  cotangent.replaceUsesWithIf(later, [&](OpOperand &use) {
    return cotangents.isUseFrom(use, position);
  });
  cotangents.add(later);
  SmallVector<Value> results(barrier.getResults().drop_back());
  tied.insert_range(results);
  return results;
}

/// The tensor with the fewest elements among `operands`, if there is any:
/// scalars cannot pass a barrier.
static Value getSmallestTensor(ArrayRef<Value> operands) {
  Value smallest;
  for (Value operand : operands)
    if (isa<RankedTensorType>(operand.getType()) &&
        (!smallest || countElements(operand) < countElements(smallest)))
      smallest = operand;
  return smallest;
}

void BackwardRewriter::materialize(ArrayRef<Value> missing, Operation *op,
                                   unsigned position) {
  builder.setInsertionPoint(op);
  // What has to wait: the saves, and for every clone that nothing else holds
  // back its smallest operand (rule R2), arguments and constants included.
  llvm::MapVector<Value, Value> waiting;
  llvm::DenseSet<Value> held;
  llvm::DenseMap<Operation *, Value> leaves;
  for (Value value : missing) {
    held.insert(value);
    if (Value saved = saves.lookup(value)) {
      waiting[saved] = saved;
      continue;
    }
    Operation *def = value.getDefiningOp();
    SmallVector<Value> operands = graph.getOperandLeaders(def);
    if (llvm::any_of(operands, [&](Value operand) {
          return held.contains(operand) || isTied(lookUp(operand));
        }))
      continue;
    Value leaf = getSmallestTensor(operands);
    if (!leaf)
      continue;
    leaves[def] = leaf;
    waiting[leaf] = leaf;
  }
  SmallVector<Value> keys = llvm::to_vector(llvm::make_first_range(waiting));
  for (auto [key, result] : llvm::zip_equal(keys, tie(keys, op, position)))
    waiting[key] = result;

  for (Value value : missing) {
    Operation *def = value.getDefiningOp();
    if (Value saved = saves.lookup(value)) {
      Value load = DequantizeLoadOp::create(builder, op->getLoc(),
                                            value.getType(), waiting[saved]);
      tied.insert(load);
      copies[value] = {load, numContractions};
      continue;
    }
    if (lookUp(value))
      continue; // another result of an operation that has been cloned
    IRMapping mapping;
    Value leaf = leaves.lookup(def);
    for (Value operand : getAllOperands(def))
      mapping.map(operand, leaf && graph.getLeader(operand) == leaf
                               ? waiting[leaf]
                               : lookUp(operand));
    Operation *clone = builder.clone(*def, mapping);
    // What nothing holds back, because backward has computed nothing yet, may
    // be found equal to forward's value, which is still there.
    SmallVector<Value> operands = getAllOperands(clone);
    bool isHeldBack =
        !getSmallestTensor(operands) ||
        llvm::any_of(operands, [&](Value v) { return isTied(v); });
    clone->setLoc(getRecomputeLocation(def->getLoc(), isHeldBack));
    ++numClones;
    tied.insert_range(clone->getResults());
    for (auto [from, to] :
         llvm::zip_equal(def->getResults(), clone->getResults()))
      if (!saves.contains(from))
        copies[from] = {to, numContractions};
  }
}

/// True for operations that are fused into their users rather than run on whole
/// operands.
static bool isFusible(Operation *op) {
  switch (getOpKind(op)) {
  case OpKind::Elementwise:
  case OpKind::View:
  case OpKind::Broadcast:
  case OpKind::Constant:
    return true;
  default:
    return false;
  }
}

/// The scalar constant that `value`, a splat of at least `kMinSplatBytes`,
/// repeats; null if it is none.
static Value getSplatScalar(Value value) {
  Operation *fill = value.getDefiningOp();
  if (!fill || getOpKind(fill) != OpKind::Broadcast ||
      fill->getNumOperands() == 0 ||
      getTensorBytes(value.getType()).value_or(0) < kMinSplatBytes)
    return {};
  Value scalar = fill->getOperand(0);
  Operation *constant = scalar.getDefiningOp();
  return constant && getConstantElements(constant) && countElements(scalar) == 1
             ? scalar
             : Value();
}

void BackwardRewriter::delaySplats(Operation *loop) {
  Operation *last = nullptr;
  OpOperand *anchor = nullptr;
  llvm::SetVector<Value> inputs;
  SmallVector<OpOperand *> splats;
  for (OpOperand &operand : loop->getOpOperands()) {
    Operation *def = operand.get().getDefiningOp();
    if (Value scalar = getSplatScalar(operand.get())) {
      splats.push_back(&operand);
      inputs.insert(scalar);
    } else if (def && def->getBlock() == loop->getBlock() &&
               getOpKind(def) != OpKind::Constant &&
               countElements(operand.get()) > 1 &&
               (!last || last->isBeforeInBlock(def))) {
      last = def;
      anchor = &operand;
    }
  }
  if (!anchor || splats.empty())
    return;
  OpBuilder builder(loop);
  inputs.insert(anchor->get());
  auto barrier =
      BarrierOp::create(builder, loop->getLoc(), inputs.getArrayRef());
  IRMapping mapping;
  mapping.map(inputs.getArrayRef(), barrier.getResults());
  for (OpOperand *splat : splats)
    splat->set(
        builder.clone(*splat->get().getDefiningOp(), mapping)->getResult(0));
  anchor->set(mapping.lookup(anchor->get()));
}

bool BackwardRewriter::recreateSplats(Operation *op, unsigned position) {
  if (isFusible(op))
    return false;
  bool isHeldBack = false;
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *fill = operand.get().getDefiningOp();
    Value scalar = getSplatScalar(operand.get());
    if (!scalar || !graph.getPosition(fill))
      continue;
    builder.setInsertionPoint(op);
    IRMapping mapping;
    mapping.map(scalar, tie(scalar, op, position).front());
    isHeldBack |= isTied(mapping.lookup(scalar));
    operand.set(
        builder.clone(*fill, mapping)
            ->getResult(cast<OpResult>(operand.get()).getResultNumber()));
  }
  return isHeldBack;
}

void BackwardRewriter::rewriteOperation(Operation *op, unsigned position) {
  // Uses by `op` and by operations nested in it.
  SmallVector<OpOperand *> uses;
  llvm::SetVector<Value> needed;
  bool isLate = isa<LoopStateOp>(op);
  op->walk([&](Operation *nested) {
    for (OpOperand &use : nested->getOpOperands()) {
      Value value = use.get();
      isLate |= cotangents.isLate(value) || isTied(value);
      Operation *def = graph.getForwardDef(value);
      if (!def)
        continue;
      isLate |= !selection.isArgument(value);
      if (!graph.isHead(def)) {
        uses.push_back(&use);
        needed.insert(value);
      }
    }
  });
  if (!needed.empty()) {
    SmallVector<Value> missing = findMissing(needed.getArrayRef());
    if (!missing.empty())
      materialize(missing, op, position);
    for (OpOperand *use : uses)
      if (Value copy = lookUp(use->get()))
        use->set(copy);
  }
  isLate |= recreateSplats(op, position);
  if (isLate)
    for (Value result : op->getResults())
      cotangents.add(result);
  if (hasContraction(op))
    ++numContractions;
}

void BackwardRewriter::addHead() {
  llvm::SetVector<Value> head;
  for (Operation *op : graph.getBackward())
    for (Value operand : getAllOperands(op))
      if (Operation *def = graph.getForwardDef(operand);
          def && graph.isHead(def) && !selection.isArgument(operand))
        head.insert(operand);
  SmallVector<Value> ordered = head.takeVector();
  llvm::sort(ordered, [&](Value a, Value b) {
    return *graph.getPosition(a.getDefiningOp()) <
           *graph.getPosition(b.getDefiningOp());
  });
  for (Value value : ordered)
    cotangents.add(value);
}

void BackwardRewriter::rewrite(ArrayRef<Value> survivors, unsigned &nextId) {
  for (Value survivor : survivors)
    save(survivor, nextId++);
  addHead();
  unsigned position = graph.getForward().size();
  for (Operation *op : graph.getBackward())
    rewriteOperation(op, position++);
  for (Value survivor : survivors) {
    Value saved = saves.lookup(survivor);
    if (saved.use_empty())
      saved.getDefiningOp()->erase();
    else
      makeForwardWait(survivor, saved);
  }
}
