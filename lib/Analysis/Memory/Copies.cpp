//===- Copies.cpp - What may not be written over --------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop writes over the initial values of what it carries. Where something
// that may run later reads such a value too, or it belongs to the caller, XLA
// copies it as soon as it is there (CopyInsertion runs before the scheduler).
//
//===----------------------------------------------------------------------===//

#include "StepGraph.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::memory;

using Input = std::pair<Node *, unsigned>;

/// All nodes that `node` depends on.
static llvm::DenseSet<Node *> getAncestors(Node *node) {
  llvm::DenseSet<Node *> ancestors;
  SmallVector<Node *> pending{node};
  while (!pending.empty())
    for (auto [input, result] : pending.pop_back_val()->inputs)
      if (ancestors.insert(input).second)
        pending.push_back(input);
  return ancestors;
}

/// True if something that does not run before `loop` reads `value` too.
static bool isReadLater(Input value, Node *loop,
                        const llvm::DenseSet<Node *> &ancestors) {
  SmallVector<Input> names{value};
  while (!names.empty()) {
    auto [node, result] = names.pop_back_val();
    for (Node *user : node->users) {
      if (user == loop || !user->inputs.contains({node, result}))
        continue;
      if (user->kind == NodeKind::Bitcast && user->members.size() == 1)
        names.push_back({user, 0});
      else if (user->kind == NodeKind::Barrier)
        for (unsigned i = 0; i < user->types.size(); ++i) {
          if (user->operands[i] == Ref{node, result})
            names.push_back({user, i});
        }
      else if (!ancestors.contains(user))
        return true;
    }
  }
  return false;
}

/// What `value` is a name of.
static Input resolve(Input value) {
  while (true) {
    Node *node = value.first;
    bool isName =
        node->kind == NodeKind::Barrier ||
        (node->kind == NodeKind::Bitcast && node->members.size() == 1);
    if (!isName)
      return value;
    Ref operand =
        node->operands[node->kind == NodeKind::Barrier ? value.second : 0];
    value = {operand.node, operand.result};
  }
}

/// Makes a copy of `value` for `user`, which has to be told.
static Node &createCopy(Computation &computation, Input value, Node *user) {
  auto [node, result] = value;
  Node &copy = computation.create(NodeKind::Opaque, "copy", node->types[result],
                                  Ref{node, result}, node->origin);
  copy.members.insert(&copy);
  copy.inputs.insert(value);
  copy.users.insert(user);
  node->users.insert(&copy);
  return copy;
}

static void copyInitialValues(Computation &computation, Node *loop) {
  Computation &body = *loop->bodies.front();
  llvm::DenseSet<Node *> ancestors = getAncestors(loop);
  llvm::DenseSet<Input> seen;
  for (auto [i, parameter] : llvm::enumerate(body.parameters)) {
    Ref operand = loop->operands[i];
    bool isInvariant = body.results[i] == Ref{parameter, 0};
    Input value = resolve({operand.node, operand.result});
    bool isKept = value.first->kind == NodeKind::Parameter ||
                  value.first->kind == NodeKind::Constant ||
                  isReadLater(value, loop, ancestors);
    bool isFirst = seen.insert(value).second;
    if (isInvariant || (isFirst && !isKept))
      continue;
    loop->operands[i] = {
        &createCopy(computation, {operand.node, operand.result}, loop), 0};
  }
  Node *user = loop;
  llvm::SetVector<Input> inputs;
  for (Ref operand : loop->operands)
    inputs.insert({operand.node, operand.result});
  for (auto [input, result] : loop->inputs)
    if (!llvm::any_of(inputs,
                      [&](Input other) { return other.first == input; }))
      input->users.remove(user);
  loop->inputs = std::move(inputs);
}

void memory::copyInitialValues(Computation &computation) {
  for (Node *node : getPostOrder(computation))
    if (node->kind == NodeKind::Loop)
      ::copyInitialValues(computation, node);
}
