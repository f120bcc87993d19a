//===- LoopFusion.cpp - What the target computes in one loop --------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// XLA for the CPU lets a kernel compute its operands itself, from the last
// kernel to the first, again for every reader where that is cheap. The rules
// are those of InstructionFusion, CpuInstructionFusion and
// FusionNodeIndexingEvaluation in XLA.
//
//===----------------------------------------------------------------------===//

#include "StepGraph.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::memory;

/// A kernel does not compute one operation more often than this.
static constexpr int64_t kMostCopies = 15;
/// Reductions in a kernel that is still given more of them.
static constexpr int64_t kMostReductions = 5;
/// Concatenations of more operands are kernels of their own.
static constexpr size_t kMostParts = 8;

namespace {
/// How often a kernel computes its members: each, once per way in which it gets
/// the index of an element.
struct IndexUses {
  DenseMap<Node *, SmallPtrSet<Node *, 4>> users;
  DenseMap<Node *, int64_t> count;
};

/// Fuses the nodes of one computation.
class LoopFuser {
public:
  explicit LoopFuser(Computation &computation) : computation(computation) {}
  void run();

private:
  using Input = std::pair<Node *, unsigned>;

  void findUnfusible();
  bool canFuseOnAllPaths(Node *producer, Node *consumer);
  bool reaches(Node *from, Node *to);
  void fuseInto(Node *consumer);
  bool shouldFuse(Node *producer, Node *consumer);
  bool reuses(Node *consumer, Node *producer);
  void fuse(Node *producer, Node *consumer);
  void addMember(IndexUses &uses, Node *kernel, Node *member);
  IndexUses &getIndexUses(Node *kernel);
  int64_t countCopies(Node *kernel, Node *producer);

  Computation &computation;
  SmallVector<Node *> order;
  DenseMap<Node *, unsigned> position;
  llvm::DenseSet<Node *> results, unfusible;
  DenseMap<Node *, llvm::SmallDenseSet<Node *, 4>> reused;
  DenseMap<Node *, IndexUses> indexUses;
  /// Of the producer that is looked at.
  DenseMap<Node *, bool> onAllPaths, reached;
};
} // namespace

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static bool isLoopFusible(Node *node) {
  if (node->isLibraryKernel)
    return false;
  switch (node->kind) {
  case NodeKind::Constant:
  case NodeKind::Iota:
  case NodeKind::Elementwise:
  case NodeKind::Bitcast:
  case NodeKind::Broadcast:
  case NodeKind::Permuting:
  case NodeKind::Concatenate:
  case NodeKind::Pad:
  case NodeKind::Gather:
  case NodeKind::DynamicSlice:
  case NodeKind::DynamicUpdateSlice:
  case NodeKind::Reduce:
    return true;
  default:
    return false;
  }
}

static bool isExpensive(Node *node) {
  if (node->kind == NodeKind::Gather || node->kind == NodeKind::Reduce)
    return true;
  if (node->kind != NodeKind::Elementwise)
    return false;
  Type element = node->types.front().getElementType();
  if (node->name == "divide" || node->name == "remainder")
    return isa<FloatType>(element);
  if (node->name == "convert")
    return element.isBF16() &&
           node->operands.front().node->types.front().getElementType().isF32();
  return llvm::StringSwitch<bool>(node->name)
      .Cases({"tanh", "atan2", "cbrt", "power", "rsqrt", "sqrt"}, true)
      .Cases({"exponential", "exponential_minus_one", "log"}, true)
      .Cases({"log_plus_one", "logistic", "erf", "erf_inv"}, true)
      .Default(false);
}

static RankedTensorType getInputType(std::pair<Node *, unsigned> input) {
  return input.first->types[input.second];
}

static bool isAlwaysRepeated(Node *node) {
  return node->kind == NodeKind::Broadcast ||
         (node->name == "convert" &&
          memory::getBytes(getInputType(node->inputs.front())) <
              memory::getBytes(*node));
}

/// True if `consumer` reads elements of its operand more than once.
static bool repeatsElements(Node *consumer, Node *producer) {
  switch (consumer->kind) {
  case NodeKind::Elementwise:
  case NodeKind::Constant:
  case NodeKind::Bitcast:
  case NodeKind::Permuting:
  case NodeKind::Concatenate:
    return false;
  case NodeKind::Reduce:
  case NodeKind::Gather:
  case NodeKind::Pad:
  case NodeKind::DynamicSlice:
    return consumer->operands.front().node != producer;
  case NodeKind::DynamicUpdateSlice:
    return consumer->operands[0].node != producer &&
           consumer->operands[1].node != producer;
  default:
    return true;
  }
}

/// Dimensions of more than one element.
static int64_t getTrueRank(RankedTensorType type) {
  return llvm::count_if(type.getShape(), [](int64_t size) { return size > 1; });
}

/// True if `node` reads at most one operand of about its own size.
static bool isAtMostUnary(Node *node) {
  int64_t rank = 0;
  for (RankedTensorType type : node->types)
    rank = std::max(rank, getTrueRank(type));
  int64_t large = llvm::count_if(node->operands, [&](Ref operand) {
    NodeKind kind = operand.node->kind;
    RankedTensorType type = operand.node->types[operand.result];
    if (kind == NodeKind::Broadcast || kind == NodeKind::Iota ||
        (kind == NodeKind::Constant && isScalar(type)))
      return false;
    return getTrueRank(type) >= rank;
  });
  return large <= 1;
}

/// Concatenations along the last dimension are faster as copies.
static bool isSlowConcatenation(Node *node) {
  if (node->kind != NodeKind::Concatenate)
    return false;
  if (node->operands.size() > kMostParts)
    return true;
  RankedTensorType type = node->types.front();
  if (type.getRank() <= 1 || node->operands.empty())
    return false;
  int64_t last = type.getRank() - 1;
  Ref operand = node->operands.front();
  bool alongLast = operand.node->types[operand.result].getDimSize(last) !=
                   type.getDimSize(last);
  int64_t width = getNumElements(type) == 0
                      ? 0
                      : memory::getBytes(type) / *getNumElements(type);
  return alongLast && type.getDimSize(last) * width >= 64 &&
         memory::getBytes(type) >= 2048;
}

//===----------------------------------------------------------------------===//
// Which producers are never computed again
//===----------------------------------------------------------------------===//

bool LoopFuser::reaches(Node *from, Node *to) {
  SmallVector<std::pair<Node *, unsigned>> stack{{to, 0}};
  auto known = [&](Node *node) -> std::optional<bool> {
    if (node == from)
      return true;
    if (position.lookup(node) < position.lookup(from))
      return false;
    auto found = reached.find(node);
    if (found != reached.end())
      return found->second;
    return std::nullopt;
  };
  if (auto result = known(to))
    return *result;
  while (!stack.empty()) {
    auto [node, next] = stack.back();
    if (next == node->inputs.size()) {
      reached[node] = false;
      stack.pop_back();
      continue;
    }
    ++stack.back().second;
    Node *input = node->inputs[next].first;
    std::optional<bool> result = known(input);
    if (!result) {
      stack.push_back({input, 0});
    } else if (*result) {
      for (auto &[waiting, ignored] : stack)
        reached[waiting] = true;
      return true;
    }
  }
  return false;
}

bool LoopFuser::canFuseOnAllPaths(Node *producer, Node *consumer) {
  // Depth is bounded by the chains of nodes that may be fused.
  if (consumer == producer ||
      position.lookup(consumer) < position.lookup(producer))
    return true;
  if (!isLoopFusible(consumer))
    return false;
  auto found = onAllPaths.find(consumer);
  if (found != onAllPaths.end())
    return found->second;
  bool result = true;
  for (auto [operand, number] : llvm::to_vector(consumer->inputs)) {
    bool mayFuse = !unfusible.contains(operand) && operand->types.size() == 1 &&
                   shouldFuse(operand, consumer);
    if (mayFuse ? canFuseOnAllPaths(producer, operand)
                : !reaches(producer, operand))
      continue;
    result = false;
    break;
  }
  onAllPaths[consumer] = result;
  return result;
}

void LoopFuser::findUnfusible() {
  for (Node *producer : llvm::reverse(order)) {
    if (!isLoopFusible(producer) || isAtMostUnary(producer))
      continue;
    int64_t read = 0;
    for (Input input : producer->inputs)
      read += getNumElements(getInputType(input)).value_or(0);
    if (read <= getNumElements(producer->types.front()).value_or(0))
      continue;
    onAllPaths.clear();
    reached.clear();
    if (!llvm::all_of(producer->users, [&](Node *user) {
          return canFuseOnAllPaths(producer, user);
        }))
      unfusible.insert(producer);
  }
}

//===----------------------------------------------------------------------===//
// Copies of operations in a kernel
//===----------------------------------------------------------------------===//

void LoopFuser::addMember(IndexUses &uses, Node *kernel, Node *member) {
  int64_t total = 0;
  SmallPtrSet<Node *, 4> users = uses.users.lookup(member);
  for (Node *user : users)
    total += uses.count.lookup(user);
  uses.count[member] = total;
  for (Ref operand : member->operands) {
    RankedTensorType type = operand.node->types[operand.result];
    if (type.getShape() == member->types.front().getShape())
      uses.users[operand.node].insert(users.begin(), users.end());
    else
      uses.users[operand.node].insert(member);
  }
}

IndexUses &LoopFuser::getIndexUses(Node *kernel) {
  auto [found, isNew] = indexUses.try_emplace(kernel);
  if (isNew) {
    // The kernel itself stands for who asks for the result.
    found->second.users[kernel].insert(nullptr);
    found->second.count[nullptr] = 1;
    addMember(found->second, kernel, kernel);
  }
  return found->second;
}

int64_t LoopFuser::countCopies(Node *kernel, Node *producer) {
  IndexUses &uses = getIndexUses(kernel);
  int64_t total = 0;
  for (Node *user : uses.users[producer])
    total += uses.count.lookup(user);
  return total;
}

/// Code behind these is not shared with what was generated before.
static bool invalidatesCache(Node *node) {
  switch (node->kind) {
  case NodeKind::Concatenate:
  case NodeKind::DynamicUpdateSlice:
  case NodeKind::Pad:
  case NodeKind::Reduce:
    return true;
  default:
    return false;
  }
}

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

bool LoopFuser::reuses(Node *consumer, Node *producer) {
  auto found = reused.find(consumer);
  if (found != reused.end())
    return found->second.contains(producer);
  return repeatsElements(consumer, producer);
}

bool LoopFuser::shouldFuse(Node *producer, Node *consumer) {
  if (producer->kind == NodeKind::Constant)
    return isScalar(producer->types.front()) && consumer->members.size() > 1;
  if (!isLoopFusible(producer) || producer->members.size() > 1 ||
      isSlowConcatenation(producer) || isSlowConcatenation(consumer))
    return false;
  bool isRepeated = producer->users.size() > 1 || results.contains(producer);
  if (isExpensive(producer) && (reuses(consumer, producer) ||
                                (isRepeated && !isAlwaysRepeated(producer))))
    return false;
  if (consumer->members.size() == 1)
    return isLoopFusible(consumer);
  if (producer->kind == NodeKind::Reduce &&
      llvm::count_if(consumer->members, [](Node *member) {
        return member->kind == NodeKind::Reduce;
      }) > kMostReductions)
    return false;
  if (producer->kind == NodeKind::Broadcast)
    return true;
  int64_t copies = countCopies(consumer, producer);
  return copies <= kMostCopies && !(invalidatesCache(producer) && copies > 1);
}

void LoopFuser::fuse(Node *producer, Node *consumer) {
  auto &reusedInputs = reused[consumer];
  if (consumer->members.size() == 1)
    for (auto [input, result] : consumer->inputs)
      if (repeatsElements(consumer, input))
        reusedInputs.insert(input);
  bool all = reusedInputs.erase(producer);
  for (auto [input, result] : producer->inputs)
    if (all || repeatsElements(producer, input))
      reusedInputs.insert(input);
  IndexUses &uses = getIndexUses(consumer);
  addMember(uses, consumer, producer);

  consumer->inputs.remove({producer, 0});
  for (auto [input, result] : producer->inputs) {
    if (consumer->members.contains(input))
      continue;
    consumer->inputs.insert({input, result});
    input->users.insert(consumer);
  }
  consumer->members.insert(producer);
  producer->users.remove(consumer);
  if (!producer->users.empty() || results.contains(producer))
    return;
  for (auto [input, result] : producer->inputs)
    input->users.remove(producer);
  producer->inputs.clear();
}

void LoopFuser::fuseInto(Node *consumer) {
  bool changed = true;
  while (changed) {
    changed = false;
    SmallVector<Input> inputs(consumer->inputs.begin(), consumer->inputs.end());
    llvm::stable_sort(inputs, [&](Input a, Input b) {
      return position.lookup(a.first) > position.lookup(b.first);
    });
    for (auto [producer, result] : inputs) {
      if (producer->types.size() != 1 || unfusible.contains(producer) ||
          !shouldFuse(producer, consumer))
        continue;
      fuse(producer, consumer);
      changed = true;
      break;
    }
  }
}

void LoopFuser::run() {
  for (Ref result : computation.results)
    results.insert(result.node);
  order = getPostOrder(computation);
  for (auto [number, node] : llvm::enumerate(order))
    position[node] = number;
  findUnfusible();
  for (Node *node : llvm::reverse(order)) {
    bool isDead = node->users.empty() && !results.contains(node);
    if (!isDead && isLoopFusible(node))
      fuseInto(node);
  }
}

void memory::fuseLoops(Computation &computation) {
  LoopFuser(computation).run();
}
