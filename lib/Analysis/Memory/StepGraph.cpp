//===- StepGraph.cpp - A step as its target's compiler sees it ------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepGraph.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::memory;

Node &Computation::create(NodeKind kind, StringRef name,
                          ArrayRef<RankedTensorType> types,
                          ArrayRef<Ref> operands, Value origin) {
  Node &node = nodes.emplace_back();
  node.id = nodes.size() - 1;
  node.kind = kind;
  node.name = name;
  node.types.assign(types.begin(), types.end());
  node.operands.assign(operands.begin(), operands.end());
  node.origin = origin;
  return node;
}

int64_t memory::getBytes(RankedTensorType type) {
  return getTensorBytes(type).value_or(0);
}

int64_t memory::getBytes(const Node &node) {
  int64_t bytes = 0;
  for (RankedTensorType type : node.types)
    bytes += getBytes(type);
  return bytes;
}

bool memory::isScalar(RankedTensorType type) {
  return getNumElements(type) == 1;
}

SmallVector<Node *> memory::getPostOrder(Computation &computation) {
  SmallVector<Node *> order;
  DenseSet<Node *> visited;
  SmallVector<std::pair<Node *, unsigned>> stack;
  auto push = [&](Node *node) {
    if (visited.insert(node).second)
      stack.push_back({node, 0});
  };
  for (Ref result : computation.results) {
    push(result.node);
    while (!stack.empty()) {
      auto &[node, next] = stack.back();
      if (next < node->inputs.size()) {
        push(node->inputs[next++].first);
        continue;
      }
      order.push_back(node);
      stack.pop_back();
    }
  }
  return order;
}

void memory::connect(Computation &computation) {
  for (Node &node : computation.nodes) {
    node.members.clear();
    node.inputs.clear();
    node.users.clear();
    node.members.insert(&node);
    for (Ref operand : node.operands)
      node.inputs.insert({operand.node, operand.result});
  }
  // The target reads the step in this order, which is that of its lists.
  for (Node *node : getPostOrder(computation))
    for (auto [input, result] : node->inputs)
      input->users.insert(node);
}
