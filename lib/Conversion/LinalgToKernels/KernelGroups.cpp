//===- KernelGroups.cpp - Which operations share a kernel ----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelGroups.h"
#include "act/Conversion/KernelUtils/Contractions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::act;

/// Number of groups that an operation may move up across.
static constexpr unsigned lookBack = 8;

Value mlir::act::getBaseBuffer(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

/// Whether `base` is memory that no other base buffer is a name of.
static bool isIdentified(Value base) {
  if (auto argument = dyn_cast<BlockArgument>(base))
    return isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return base.getDefiningOp<memref::AllocOp>() ||
         base.getDefiningOp<memref::GetGlobalOp>();
}

bool mlir::act::mayOverlap(Value base, Value other) {
  if (base == other)
    return true;
  if (isIdentified(base) && isIdentified(other)) {
    auto global = base.getDefiningOp<memref::GetGlobalOp>();
    auto otherGlobal = other.getDefiningOp<memref::GetGlobalOp>();
    return global && otherGlobal && global.getName() == otherGlobal.getName();
  }
  // Carried buffers of a loop are apart from each other and from what its body
  // allocates.
  auto argument = dyn_cast<BlockArgument>(base);
  auto otherArgument = dyn_cast<BlockArgument>(other);
  if (argument && otherArgument)
    return argument.getOwner() != otherArgument.getOwner();
  auto isInner = [](BlockArgument argument, Value value) {
    Operation *op = value.getDefiningOp();
    return argument && op && op->getBlock() == argument.getOwner() &&
           isa<memref::AllocOp>(op);
  };
  return !isInner(argument, other) && !isInner(otherArgument, base);
}

unsigned mlir::act::getContiguousLoop(linalg::GenericOp op) {
  SmallVector<double> votes(op.getNumLoops(), 0);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type || map.getNumResults() == 0)
      continue;
    if (auto dim = dyn_cast<AffineDimExpr>(map.getResults().back()))
      votes[dim.getPosition()] += (op.isDpsInit(&operand) ? 1.5 : 1.0) *
                                  static_cast<double>(type.getNumElements());
  }
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  unsigned best = op.getNumLoops() - 1;
  for (unsigned loop = 0; loop < votes.size(); ++loop)
    if (extents[loop] > 1 && votes[loop] > votes[best])
      best = loop;
  return best;
}

SmallVector<unsigned> mlir::act::getRowLoops(linalg::GenericOp op) {
  SmallVector<unsigned> loops;
  if (op.getNumLoops() == 0)
    return loops;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  unsigned contiguous = getContiguousLoop(op);
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || iterators[dim.getPosition()] != utils::IteratorType::parallel)
      break;
    // A reduction over columns goes along its rows.
    if (op.getNumReductionLoops() != 0 && dim.getPosition() == contiguous)
      break;
    loops.push_back(dim.getPosition());
  }
  return loops;
}

/// Number of first results of `map` that are `loops` in order.
static unsigned getRowDepth(AffineMap map, ArrayRef<unsigned> loops) {
  unsigned depth = 0;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || depth == loops.size() || dim.getPosition() != loops[depth])
      break;
    ++depth;
  }
  return depth;
}

/// Buffers that the regions of `op` use and that are defined outside.
static void addCaptured(Operation *op, SmallVectorImpl<BufferAccess> &accesses,
                        bool writes) {
  op->walk([&](Operation *inner) {
    if (inner == op)
      return;
    for (Value operand : inner->getOperands())
      if (isa<MemRefType>(operand.getType()) &&
          !op->isProperAncestor(operand.getParentBlock()->getParentOp()) &&
          operand.getParentBlock()->getParentOp() != op)
        accesses.push_back({operand, writes, 0});
  });
}

/// What `op` encodes or decodes, or null.
static Value getPlain(Operation *op) {
  if (auto encode = dyn_cast<EncodeOp>(op))
    return encode.getInput();
  if (auto decode = dyn_cast<DecodeOp>(op))
    return decode.getOuts()[0];
  return {};
}

/// The extents of leading dimensions whose rows are coded on their own.
static SmallVector<int64_t> getCodecRows(Operation *op) {
  auto type = cast<MemRefType>(getPlain(op).getType());
  if (!type.getLayout().isIdentity())
    return {};
  CodecUnits units = isa<EncodeOp>(op) ? getCodecUnits(cast<EncodeOp>(op))
                                       : getCodecUnits(cast<DecodeOp>(op));
  SmallVector<int64_t> rows;
  int64_t elements = type.getNumElements();
  for (int64_t extent : type.getShape()) {
    elements /= extent;
    if (!units.contiguous || elements % units.elements != 0)
      break;
    rows.push_back(extent);
  }
  return rows;
}

SmallVector<BufferAccess> mlir::act::getAccesses(Operation *op) {
  SmallVector<BufferAccess> accesses;
  if (Value plain = getPlain(op)) {
    unsigned depth = getCodecRows(op).size();
    auto destination = cast<DestinationStyleOpInterface>(op);
    for (OpOperand &operand : op->getOpOperands())
      accesses.push_back({operand.get(), destination.isDpsInit(&operand),
                          operand.get() == plain ? depth : 0});
    return accesses;
  }
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    SmallVector<unsigned> loops = getRowLoops(generic);
    for (OpOperand &operand : op->getOpOperands())
      if (isa<MemRefType>(operand.get().getType()))
        accesses.push_back(
            {operand.get(), generic.isDpsInit(&operand),
             getRowDepth(generic.getMatchingIndexingMap(&operand), loops)});
    addCaptured(op, accesses, /*writes=*/false);
    return accesses;
  }
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands())
    if (isa<MemRefType>(operand.get().getType()))
      accesses.push_back(
          {operand.get(), !destination || destination.isDpsInit(&operand), 0});
  addCaptured(op, accesses, /*writes=*/true);
  return accesses;
}

unsigned KernelGroup::getNumRows() const {
  unsigned mostLoops = 0;
  for (Operation *op : ops)
    if (auto generic = dyn_cast<linalg::GenericOp>(op))
      mostLoops = std::max(mostLoops, generic.getNumLoops());
    else if (Value plain = getPlain(op))
      mostLoops = std::max<unsigned>(
          mostLoops, cast<MemRefType>(plain.getType()).getRank());
  return std::min<unsigned>(rows.size(), mostLoops ? mostLoops - 1 : 0);
}

namespace {
class Grouping {
public:
  explicit Grouping(Block &block) : block(block) {}
  SmallVector<KernelGroup> run();

private:
  KernelGroup start(Operation *op);
  bool conflicts(const KernelGroup &group, const KernelGroup &other);
  bool join(KernelGroup &group, KernelGroup &next);
  void takeFill(KernelGroup &next);
  bool add(KernelGroup &next);

  Block &block;
  SmallVector<KernelGroup> groups;
};
} // namespace

/// The group of `op` alone.
KernelGroup Grouping::start(Operation *op) {
  KernelGroup group;
  group.ops.push_back(op);
  group.accesses = getAccesses(op);
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    SmallVector<int64_t> extents = generic.getStaticLoopRanges();
    if (isContraction(generic)) {
      group.kind = KernelKind::Contraction;
      return group;
    }
    group.kind = generic.getNumReductionLoops() ? KernelKind::Reduction
                                                : KernelKind::Elementwise;
    for (unsigned loop : getRowLoops(generic))
      group.rows.push_back(extents[loop]);
    return group;
  }
  if (getPlain(op)) {
    group.kind = KernelKind::Codec;
    group.rows = getCodecRows(op);
    return group;
  }
  group.kind =
      isa<ConvolutionOp>(op) ? KernelKind::Convolution : KernelKind::Codec;
  group.opaque = true;
  return group;
}

/// Whether the order of the two matters.
bool Grouping::conflicts(const KernelGroup &group, const KernelGroup &other) {
  for (const BufferAccess &access : group.accesses)
    for (const BufferAccess &otherAccess : other.accesses)
      if ((access.writes || otherAccess.writes) &&
          mayOverlap(getBaseBuffer(access.buffer),
                     getBaseBuffer(otherAccess.buffer)))
        return true;
  return false;
}

/// What computes the operands of `op` and stands after `last` in the block.
static SmallVector<Operation *> getLaterProducers(Operation *op,
                                                  Operation *last) {
  llvm::SetVector<Operation *> producers;
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && producer->getBlock() == last->getBlock() &&
          producer != last && !producer->isBeforeInBlock(last))
        producers.insert(producer);
    }
  });
  return producers.takeVector();
}

/// Whether `op`, which stands after `last`, can stand right after it: its
/// operands are computed before, or by what can be, too.
static bool canMoveUp(Operation *op, Operation *last) {
  SmallVector<Operation *> pending = getLaterProducers(op, last);
  while (!pending.empty()) {
    Operation *producer = pending.pop_back_val();
    if (!isa<memref::AllocOp, ViewLikeOpInterface>(producer) &&
        !isMemoryEffectFree(producer))
      return false;
    llvm::append_range(pending, getLaterProducers(producer, last));
  }
  return true;
}

/// Moves `op` and what computes its operands to right after `last`, which
/// becomes `op`.
static void moveUp(Operation *op, Operation *&last) {
  // Chains of views are short.
  for (Operation *producer : getLaterProducers(op, last))
    if (!producer->isBeforeInBlock(last))
      moveUp(producer, last);
  op->moveAfter(last);
  last = op;
}

/// Adds `next` to `group` if they share rows.
bool Grouping::join(KernelGroup &group, KernelGroup &next) {
  if (group.opaque || next.opaque || group.kind == KernelKind::Contraction ||
      next.kind == KernelKind::Contraction)
    return false;
  size_t depth = std::min(group.rows.size(), next.rows.size());
  bool shares = false;
  for (const BufferAccess &access : group.accesses)
    for (const BufferAccess &other : next.accesses) {
      if (!mayOverlap(getBaseBuffer(access.buffer),
                      getBaseBuffer(other.buffer)))
        continue;
      size_t common = access.buffer == other.buffer
                          ? std::min(access.rowDepth, other.rowDepth)
                          : 0;
      if (access.writes || other.writes)
        depth = std::min(depth, common);
      shares |= common > 0;
    }
  for (size_t i = 0; i < depth; ++i)
    if (group.rows[i] != next.rows[i])
      depth = i;
  if (!shares || depth == 0)
    return false;
  KernelGroup joined = group;
  llvm::append_range(joined.ops, next.ops);
  joined.rows.resize(depth);
  Operation *last = group.ops.back();
  if (joined.getNumRows() == 0 || !llvm::all_of(next.ops, [&](Operation *op) {
        return canMoveUp(op, last);
      }))
    return false;
  for (Operation *op : next.ops)
    moveUp(op, last);
  joined.kind = KernelKind::RowProgram;
  llvm::append_range(joined.accesses, next.accesses);
  group = std::move(joined);
  return true;
}

/// Whether `group` only fills a buffer.
static bool isFill(const KernelGroup &group) {
  return group.ops.size() == 1 && isScalarFill(group.ops.front());
}

/// Puts the group that fills the destination of `next` before it.
void Grouping::takeFill(KernelGroup &next) {
  if (next.kind != KernelKind::Reduction &&
      next.kind != KernelKind::Contraction)
    return;
  auto generic = cast<linalg::GenericOp>(next.ops.front());
  for (auto [i, group] : llvm::enumerate(llvm::reverse(groups))) {
    if (i == lookBack)
      return;
    bool fills = isFill(group) &&
                 group.accesses.front().buffer == generic.getOutputs()[0];
    if (!fills && conflicts(group, next))
      return;
    if (!fills)
      continue;
    auto place = groups.end() - 1 - i;
    for (auto later = place + 1; later != groups.end(); ++later)
      if (conflicts(group, *later))
        return;
    Operation *fill = group.ops.front();
    fill->moveBefore(next.ops.front());
    next.ops.insert(next.ops.begin(), fill);
    llvm::append_range(next.accesses, group.accesses);
    groups.erase(place);
    return;
  }
}

/// Adds `next` to the last group that takes it and that it can move up to.
bool Grouping::add(KernelGroup &next) {
  unsigned looked = 0;
  for (KernelGroup &group : llvm::reverse(groups)) {
    if (++looked > lookBack)
      return false;
    if (join(group, next))
      return true;
    if (conflicts(group, next))
      return false;
  }
  return false;
}

SmallVector<KernelGroup> Grouping::run() {
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (isa<memref::AllocOp, ViewLikeOpInterface>(op) ||
        isMemoryEffectFree(&op))
      continue;
    KernelGroup next = start(&op);
    takeFill(next);
    if (!add(next))
      groups.push_back(std::move(next));
  }
  return std::move(groups);
}

SmallVector<KernelGroup> mlir::act::formKernelGroups(Block &block) {
  return Grouping(block).run();
}
