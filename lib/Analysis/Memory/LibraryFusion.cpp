//===- LibraryFusion.cpp - What a library computes in one call ------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// XLA for the CPU gives products and reductions to the library YNNPACK before
// it fuses anything itself. A call grows around a reduction, up to what only it
// reads and down to its only reader, and takes in products that have no call of
// their own yet; a call of a product does not grow. The rules are those of
// LibraryRewriter and YnnMatcher in XLA.
//
//===----------------------------------------------------------------------===//

#include "StepGraph.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "llvm/ADT/StringSwitch.h"
#include <queue>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::memory;

/// Smaller tensors are not worth a call.
static constexpr int64_t kFewestElements = 4096;

namespace {
enum class Direction { Up, Down };

/// Makes the calls of one computation.
class LibraryFuser {
public:
  explicit LibraryFuser(Computation &computation) : computation(computation) {}
  void run();

private:
  /// Starts a call with `node` and lets it grow.
  void grow(Node *node);
  bool growOnce(Node *&kernel);
  void addCandidates(Node *kernel, Node *node, bool up, bool down);
  /// Makes `node` the last operation of `kernel`; returns the kernel.
  Node *fuseDown(Node *kernel, Node *node);
  void fuseUp(Node *kernel, Node *node);

  Computation &computation;
  llvm::DenseSet<Node *> results, fused, visited;
  std::queue<std::pair<Node *, Direction>> frontier;
};
} // namespace

static bool isLarge(RankedTensorType type) {
  return getNumElements(type).value_or(0) >= kFewestElements;
}

static bool isSupportedName(StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"abs", "ceil", "convert", "cosine", "erf", "exponential"}, true)
      .Cases({"exponential_minus_one", "floor", "log", "log_plus_one"}, true)
      .Cases({"logistic", "negate", "round_nearest_even", "rsqrt"}, true)
      .Cases({"sign", "sine", "sqrt", "tanh", "tan"}, true)
      .Cases({"add", "divide", "maximum", "minimum", "multiply"}, true)
      .Cases({"power", "subtract"}, true)
      .Default(false);
}

/// Element types of elementwise operations.
static bool isSupportedElement(Type type) {
  return type.isF32() || type.isF64() || type.isBF16() || type.isInteger(8);
}

/// Element types of operations that move elements.
static bool isMovableElement(Type type) {
  return isSupportedElement(type) || type.isF16() ||
         type.isSignlessInteger(32) || type.isInteger(4);
}

/// True if `node` may become part of a call.
static bool isSupported(Node *node) {
  auto hasElement = [](Ref ref) {
    return isSupportedElement(ref.node->types[ref.result].getElementType());
  };
  if (node->types.size() != 1 ||
      !isMovableElement(node->types.front().getElementType()))
    return false;
  switch (node->kind) {
  case NodeKind::Constant:
  case NodeKind::Iota:
  case NodeKind::Bitcast:
  case NodeKind::Broadcast:
  case NodeKind::Pad:
    return true;
  case NodeKind::Permuting:
    return node->name == "transpose";
  case NodeKind::Dot:
  case NodeKind::Reduce:
    return node->isLibraryCall;
  case NodeKind::Elementwise:
    return isSupportedName(node->name) && hasElement({node, 0}) &&
           llvm::all_of(node->operands, hasElement);
  default:
    return false;
  }
}

/// True if `node` is large enough to be part of a call.
static bool isPreferred(Node *node) {
  switch (node->kind) {
  case NodeKind::Constant:
  case NodeKind::Iota:
  case NodeKind::Bitcast:
  case NodeKind::Broadcast:
  case NodeKind::Permuting:
  case NodeKind::Pad:
  case NodeKind::Dot:
    return true;
  default:
    return isLarge(node->types.front()) ||
           llvm::any_of(node->operands, [](Ref operand) {
             return isLarge(operand.node->types[operand.result]);
           });
  }
}

void LibraryFuser::addCandidates(Node *kernel, Node *node, bool up, bool down) {
  auto isInside = [&](Node *user) { return user == kernel; };
  if (up)
    for (Ref operand : node->operands)
      if (!fused.contains(operand.node) && !results.contains(operand.node) &&
          llvm::all_of(operand.node->users, isInside) &&
          visited.insert(operand.node).second)
        frontier.push({operand.node, Direction::Up});
  if (!down || kernel->users.size() != 1 || results.contains(kernel))
    return;
  Node *user = kernel->users.front();
  if (!fused.contains(user) && visited.insert(user).second)
    frontier.push({user, Direction::Down});
}

/// Lets `kernel` compute `member` and what it computes.
static void absorb(Node *kernel, Node *member) {
  for (unsigned i = 0; i < member->types.size(); ++i)
    kernel->inputs.remove({member, i});
  for (auto [input, result] : member->inputs) {
    if (kernel->members.contains(input))
      continue;
    kernel->inputs.insert({input, result});
    input->users.remove(member);
    input->users.insert(kernel);
  }
  kernel->members.insert_range(member->members);
  member->inputs.clear();
  member->users.clear();
}

void LibraryFuser::fuseUp(Node *kernel, Node *node) { absorb(kernel, node); }

Node *LibraryFuser::fuseDown(Node *kernel, Node *node) {
  absorb(node, kernel);
  node->isLibraryKernel = true;
  return node;
}

bool LibraryFuser::growOnce(Node *&kernel) {
  frontier = {};
  visited.clear();
  visited.insert(kernel);
  for (Node *member : llvm::to_vector(kernel->members))
    addCandidates(kernel, member, /*up=*/true, /*down=*/member == kernel);
  bool changed = false;
  while (!frontier.empty()) {
    auto [node, direction] = frontier.front();
    frontier.pop();
    if (kernel->members.contains(node) || node->members.size() != 1 ||
        !isSupported(node) || !isPreferred(node))
      continue;
    if (node->kind == NodeKind::Constant && !isScalar(node->types.front()))
      continue;
    fused.insert(node);
    if (direction == Direction::Up) {
      fuseUp(kernel, node);
    } else {
      kernel = fuseDown(kernel, node);
      visited.insert(kernel);
    }
    addCandidates(kernel, node, direction == Direction::Up,
                  direction == Direction::Down);
    changed = true;
  }
  return changed;
}

void LibraryFuser::grow(Node *node) {
  fused.insert(node);
  node->isLibraryKernel = true;
  if (node->kind == NodeKind::Dot)
    return;
  while (growOnce(node)) {
  }
}

void LibraryFuser::run() {
  for (Ref result : computation.results)
    results.insert(result.node);
  SmallVector<Node *> order = getPostOrder(computation);
  for (Node *node : llvm::reverse(order))
    if ((node->kind == NodeKind::Dot || node->kind == NodeKind::Reduce) &&
        node->isLibraryCall && isPreferred(node) && !fused.contains(node))
      grow(node);
}

void memory::fuseLibraryCalls(Computation &computation) {
  LibraryFuser(computation).run();
}
