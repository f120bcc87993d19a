//===- Slice.cpp - Regions of a step in parts -----------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SliceLoops.h"
#include "act/Analysis/AutodiffGraph.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::act {
#define GEN_PASS_DEF_ACTSLICEPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

using OpSet = llvm::DenseSet<Operation *>;

static int64_t countElements(Value value) {
  return getNumElements(value.getType()).value_or(0);
}

static int64_t getBytes(Value value) {
  return getTensorBytes(value.getType()).value_or(0);
}

/// Operations that compute nothing of what the contractions in `region`
/// compute: masks, positions, constants.
static OpSet findSources(const SliceRegion &region) {
  OpSet sources;
  for (Operation *op : region.getOps())
    if (getOpKind(op) != OpKind::Contraction &&
        llvm::all_of(op->getOperands(), [&](Value operand) {
          Operation *def = region.getDef(operand);
          return !def || sources.contains(def);
        }))
      sources.insert(op);
  return sources;
}

/// Bytes that a region reads and returns.
static int64_t getInterfaceBytes(const SliceRegion &region) {
  llvm::SmallSetVector<Value, 16> values;
  for (Operation *op : region.getOps()) {
    for (Value operand : op->getOperands())
      if (!region.getDef(operand))
        values.insert(operand);
    for (Value result : op->getResults())
      if (region.getDim(result) < 0)
        values.insert(result);
  }
  for (auto [reader, value] : region.getReaders())
    values.insert(value);
  int64_t bytes = 0;
  for (Value value : values)
    bytes += getBytes(value);
  return bytes;
}

/// The length of parts for which `bytes` divided by their number are at most
/// `budget`; one that divides `extent` if one is not much shorter.
static int64_t choosePartLength(int64_t extent, double bytes, double budget) {
  double wanted = std::max(2.0, std::ceil(bytes / std::max(budget, 1.0)));
  int64_t longest = std::max<int64_t>(1, std::floor(extent / wanted));
  for (int64_t length = longest; 2 * length > longest; --length)
    if (extent % length == 0)
      return length;
  return longest;
}

static std::string describe(Operation *op) {
  std::string text = ("'" + op->getName().getStringRef() + "'").str();
  if (op->getNumResults() > 0)
    llvm::raw_string_ostream(text) << " of type " << op->getResult(0).getType();
  return text;
}

//===----------------------------------------------------------------------===//
// Regions around one large product
//===----------------------------------------------------------------------===//

namespace {
/// What touches values about as large as the result of one contraction.
class LargeComponent {
public:
  LargeComponent(Operation *seed);

  const OpSet &getOps() const { return ops; }
  bool isLarge(Value value) const {
    return 2 * countElements(value) > seedElements;
  }
  bool mayContain(Operation *op) const {
    return ops.contains(op) || between.contains(op);
  }
  /// Says why `region`, grown from the component, is not good for it.
  std::optional<SliceRefusal> check(const SliceRegion &region) const;
  int64_t getLargestBytes() const { return largestBytes; }
  bool isSmall(Value value) const {
    return 4 * countElements(value) < seedElements;
  }

private:
  void connect();
  void findBetween();

  Operation *seed;
  Block &block;
  int64_t seedElements;
  int64_t largestBytes = 0;
  OpSet ops;
  OpSet between; ///< on ways from and to `ops` without other contractions
};
} // namespace

LargeComponent::LargeComponent(Operation *seed)
    : seed(seed), block(*seed->getBlock()),
      seedElements(countElements(seed->getResult(0))) {
  connect();
  findBetween();
}

void LargeComponent::connect() {
  // What no large product goes into, such as masks, may be shared by regions.
  OpSet derived;
  for (Operation &op : block) {
    bool isProduct = getOpKind(&op) == OpKind::Contraction &&
                     op.getNumResults() == 1 && isLarge(op.getResult(0));
    if (isProduct || llvm::any_of(getAllOperands(&op), [&](Value operand) {
          return derived.contains(operand.getDefiningOp());
        }))
      derived.insert(&op);
  }
  SmallVector<Operation *> work{seed};
  ops.insert(seed);
  auto visit = [&](Operation *op) {
    if (op && op->getBlock() == &block && op != block.getTerminator() &&
        ops.insert(op).second)
      work.push_back(op);
  };
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    for (Value operand : op->getOperands())
      if (isLarge(operand))
        visit(operand.getDefiningOp());
    for (Value result : op->getResults()) {
      if (!isLarge(result))
        continue;
      largestBytes = std::max(largestBytes, getBytes(result));
      if (derived.contains(op))
        for (Operation *user : result.getUsers())
          visit(block.findAncestorOpInBlock(*user));
    }
  }
}

void LargeComponent::findBetween() {
  OpSet down, up;
  auto isPassed = [&](Operation *op) {
    return ops.contains(op) || getOpKind(op) != OpKind::Contraction;
  };
  for (Operation &op : block)
    if (isPassed(&op) && llvm::any_of(getAllOperands(&op), [&](Value operand) {
          Operation *def = operand.getDefiningOp();
          return def && (ops.contains(def) || down.contains(def));
        }))
      down.insert(&op);
  for (Operation &op : llvm::reverse(block))
    if (isPassed(&op) && llvm::any_of(op.getUsers(), [&](Operation *user) {
          user = block.findAncestorOpInBlock(*user);
          return user && (ops.contains(user) || up.contains(user));
        }))
      up.insert(&op);
  for (Operation *op : down)
    if (up.contains(op) && !ops.contains(op))
      between.insert(op);
}

std::optional<SliceRefusal>
LargeComponent::check(const SliceRegion &region) const {
  for (Operation &each : block) { // not by address, the first one is named
    Operation *op = &each;
    if (!ops.contains(op) || region.contains(op))
      continue;
    bool readsRegion = llvm::any_of(op->getOperands(), [&](Value operand) {
      return region.getDim(operand) >= 0;
    });
    if (readsRegion || region.dependsOnRegion(op))
      return SliceRefusal{op, "cannot be computed in parts"};
  }
  for (auto [reader, value] : region.getReaders())
    if (isLarge(value))
      return SliceRefusal{reader, "reads a large value"};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
/// What a region is.
enum class SliceKind {
  Head,      ///< logits, forward and backward
  Attention, ///< scores of softmax attention, forward and backward
  Layer      ///< hidden values of an MLP block, backward
};
} // namespace

static StringRef getKindName(SliceKind kind) {
  switch (kind) {
  case SliceKind::Head:
    return "loss head";
  case SliceKind::Attention:
    return "attention";
  case SliceKind::Layer:
    return "layer";
  }
  llvm_unreachable("unknown kind of region");
}

namespace {
struct ActSlicePass : act::impl::ActSlicePassBase<ActSlicePass> {
  using Base::Base;

  void runOnOperation() override;

private:
  struct Candidate {
    SliceRegion region;
    int64_t partLength;
  };

  void sliceProducts(Block &block);
  void sliceProduct(Operation *seed, SliceKind kind,
                    const LargeComponent &component);
  std::optional<Candidate> chooseAxis(Operation *seed, SliceKind kind,
                                      const LargeComponent &component,
                                      SliceRefusal &refusal);
  LogicalResult sliceSequence(Block &block);
  FailureOr<SliceRegion> growSequence(Operation *seed, SliceRefusal &refusal);
  void build(StringRef what, const Candidate &candidate, OpSet sources,
             std::function<bool(Value)> isStored);
  remark::RemarkOpts getRemark() const {
    return remark::RemarkOpts::name("Slice").category("act");
  }

  unsigned numSliced = 0;
};
} // namespace

void ActSlicePass::build(StringRef what, const Candidate &candidate,
                         OpSet sources, std::function<bool(Value)> isStored) {
  const SliceRegion &region = candidate.region;
  SlicePlan plan{candidate.partLength, states, std::move(sources),
                 std::move(isStored)};
  size_t numOps = region.getOps().size();
  int64_t numParts = llvm::divideCeil(region.getLength(), candidate.partLength);
  SmallVector<Operation *> loops = buildSliceLoops(region, plan);
  if (loops.empty())
    return;
  remark::passed(loops.back()->getLoc(), getRemark())
      << "sliced " << what << ": " << std::to_string(numOps)
      << " operations in " << std::to_string(loops.size()) << " loops over "
      << std::to_string(numParts) << " parts of "
      << std::to_string(candidate.partLength);
  ++numSliced;
}

std::optional<ActSlicePass::Candidate>
ActSlicePass::chooseAxis(Operation *seed, SliceKind kind,
                         const LargeComponent &component,
                         SliceRefusal &refusal) {
  std::optional<Candidate> best;
  double bytes = 3.0 * component.getLargestBytes();
  auto getRank = [&](const Candidate &candidate) {
    // Enough parts first, then few loops, few sums, many parts.
    const SliceRegion &region = candidate.region;
    unsigned levels = 0;
    for (Operation *op : region.getOps())
      levels = std::max(levels, region.getLevel(op));
    int64_t sums = llvm::count_if(region.getOps(), [&](Operation *op) {
      return region.getAxis(op).kind == AxisKind::Reduction;
    });
    double excess = bytes / region.getLength() /
                    std::max<int64_t>(1, getInterfaceBytes(region));
    return std::make_tuple(std::max(excess, 1.0), levels,
                           kind == SliceKind::Attention ? sums : 0,
                           -region.getLength());
  };
  SmallVector<IterationAxis> axes = getIterationAxes(seed);
  for (const IterationAxis &axis : llvm::reverse(axes)) {
    if (axis.kind != AxisKind::Parallel)
      continue;
    SliceRegion region = SliceRegion::grow(
        seed, axis, [&](Operation *op) { return component.mayContain(op); });
    if (!region.contains(seed))
      continue;
    if (std::optional<SliceRefusal> why = component.check(region)) {
      refusal = *why;
      continue;
    }
    bool isGiven = chunk != 0 && kind == SliceKind::Head;
    if (isGiven && region.getLength() <= chunk) {
      refusal = {seed, "is not longer than chunk"};
      continue;
    }
    int64_t length = isGiven ? chunk.getValue()
                             : choosePartLength(region.getLength(), bytes,
                                                getInterfaceBytes(region));
    Candidate candidate{std::move(region), length};
    if (!best || getRank(candidate) < getRank(*best))
      best = std::move(candidate);
  }
  return best;
}

void ActSlicePass::sliceProduct(Operation *seed, SliceKind kind,
                                const LargeComponent &component) {
  if (component.getLargestBytes() < minBytes)
    return;
  SliceRefusal refusal;
  std::optional<Candidate> candidate =
      chooseAxis(seed, kind, component, refusal);
  if (candidate) {
    const SliceRegion &region = candidate->region;
    OpSet sources = findSources(region);
    if (kind == SliceKind::Layer)
      for (Operation *op : region.getOps())
        if (region.getLevel(op) == 0)
          sources.insert(op);
    auto isStored = [&, kind, sources](Value value) {
      Operation *def = value.getDefiningOp();
      if (kind == SliceKind::Layer)
        return false; // or it would have to be saved
      return !sources.contains(def) && component.isSmall(value);
    };
    return build(getKindName(kind), *candidate, std::move(sources), isStored);
  }
  if (refusal.op)
    remark::missed(seed->getLoc(), getRemark())
        << "not sliced: " << getKindName(kind) << " at " << describe(seed)
        << ", because " << describe(refusal.op) << " " << refusal.reason;
}

/// True for a product with one result, much larger than both operands.
static bool isExpanding(Operation *op) {
  if (getOpKind(op) != OpKind::Contraction || op->getNumResults() != 1 ||
      op->getNumOperands() != 2)
    return false;
  int64_t elements = countElements(op->getResult(0));
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return elements >= 2 * countElements(operand);
  });
}

/// True if activations are multiplied with each other: a dimension runs through
/// both operands and the result, or, where sequence and head are the only ones,
/// neither operand is there before the first product.
static bool isOfActivations(Operation *op, const OpSet &computed) {
  if (llvm::all_of(op->getOperands(), [&](Value operand) {
        return computed.contains(operand.getDefiningOp());
      }))
    return true;
  return llvm::any_of(getIterationAxes(op), [](const IterationAxis &axis) {
    return axis.kind == AxisKind::Parallel &&
           llvm::all_of(axis.operandDims, [](int64_t dim) { return dim >= 0; });
  });
}

/// The last contraction that one of `primal` depends on, or null.
static Operation *findLastContraction(Block &block, ValueRange primal) {
  OpSet ancestors;
  auto isNeeded = [&](Operation &op) {
    return llvm::any_of(op.getResults(), [&](Value result) {
      return llvm::is_contained(primal, result) ||
             llvm::any_of(result.getUsers(), [&](Operation *user) {
               return ancestors.contains(block.findAncestorOpInBlock(*user));
             });
    });
  };
  for (Operation &op : llvm::reverse(block)) {
    if (!isNeeded(op))
      continue;
    if (getOpKind(&op) == OpKind::Contraction)
      return &op;
    ancestors.insert(&op);
  }
  return nullptr;
}

void ActSlicePass::sliceProducts(Block &block) {
  ValueRange results = block.getTerminator()->getOperands();
  unsigned numPrimal = getNumPrimalResults(getOperation(), primalResults);
  Operation *last = findLastContraction(
      block, results.take_front(std::min<size_t>(numPrimal, results.size())));
  SmallVector<std::pair<Operation *, SliceKind>> seeds;
  if (last && head && isExpanding(last))
    seeds.emplace_back(last, SliceKind::Head);
  OpSet computed;
  for (Operation &op : block) {
    if (&op != last && isExpanding(&op)) {
      bool isAttention = isOfActivations(&op, computed);
      if (isAttention ? attention : layers)
        seeds.emplace_back(&op, isAttention ? SliceKind::Attention
                                            : SliceKind::Layer);
    }
    if (getOpKind(&op) == OpKind::Contraction ||
        llvm::any_of(getAllOperands(&op), [&](Value operand) {
          return computed.contains(operand.getDefiningOp());
        }))
      computed.insert(&op);
  }
  OpSet done;
  for (auto [seed, kind] : seeds) {
    if (done.contains(seed))
      continue;
    LargeComponent component(seed);
    done.insert_range(component.getOps());
    sliceProduct(seed, kind, component);
  }
}

FailureOr<SliceRegion> ActSlicePass::growSequence(Operation *seed,
                                                  SliceRefusal &refusal) {
  for (const IterationAxis &axis : getIterationAxes(seed)) {
    if (axis.kind != AxisKind::Sequential)
      continue;
    Block &block = *seed->getBlock();
    SliceRegion region = SliceRegion::grow(
        seed, axis, [&](Operation *op) { return op != block.getTerminator(); });
    if (!region.contains(seed)) {
      refusal = {seed, "mixes tokens in another way"};
      return failure();
    }
    for (auto [reader, value] : region.getReaders())
      if (reader != block.getTerminator() &&
          countElements(value) / region.getLength() >
              SliceRegion::kMaxCollected) {
        refusal = {reader, "mixes tokens in another way"};
        return failure();
      }
    for (Operation &op : block)
      if (isa<LinearAttentionOpInterface>(op) && !region.contains(&op)) {
        refusal = {&op, "is of another sequence, or cannot be cut"};
        return failure();
      }
    if (states == SliceStates::Reverse)
      for (Operation *op : region.getOps())
        if (auto other = dyn_cast<LinearAttentionOpInterface>(op);
            other && other.getDecay()) {
          refusal = {op, "has decay, which states=reverse cannot undo"};
          return failure();
        }
    return region;
  }
  refusal = {seed, "has no sequence that can be cut"};
  return failure();
}

LogicalResult ActSlicePass::sliceSequence(Block &block) {
  auto attentions = block.getOps<LinearAttentionOp>();
  if (attentions.empty())
    return success();
  Operation *seed = *attentions.begin();
  SliceRefusal refusal;
  FailureOr<SliceRegion> region = growSequence(seed, refusal);
  if (failed(region)) {
    InFlightDiagnostic diag =
        refusal.op->emitError("act-slice expects a step that it can cut along "
                              "the sequence of 'act.linear_attention', but ")
        << describe(refusal.op) << " " << refusal.reason;
    diag.attachNote(seed->getLoc()) << "the sequence is cut here";
    return failure();
  }
  double bytes = 0;
  for (Operation *op : region->getOps())
    for (Value result : op->getResults())
      if (region->getDim(result) >= 0)
        bytes += getBytes(result) / 2.0;
  int64_t length = chunk != 0 ? std::min<int64_t>(chunk, region->getLength())
                              : choosePartLength(region->getLength(), bytes,
                                                 getInterfaceBytes(*region));
  OpSet sources = findSources(*region);
  build("sequence", Candidate{std::move(*region), length}, std::move(sources),
        [](Value) { return false; });
  return success();
}

void ActSlicePass::runOnOperation() {
  FunctionOpInterface function = getOperation();
  if (function.isExternal() || function.isPrivate() ||
      !function.getFunctionBody().hasOneBlock())
    return;
  if (chunk < 0) {
    function.emitError("act-slice expects chunk not to be negative, got ")
        << chunk.getValue();
    return signalPassFailure();
  }
  numSliced = 0; // one pass object sees several functions
  Block &block = function.getFunctionBody().front();
  if (sequence && failed(sliceSequence(block)))
    return signalPassFailure();
  if (numSliced == 0)
    sliceProducts(block);
  if (numSliced == 0 && required) {
    function.emitError("act-slice expects a step with a loss head, attention "
                       "or linear attention that it can slice, got none");
    signalPassFailure();
  }
}
