//===- StepGraph.h - A step as its target's compiler sees it -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A graph of a step in which saves and loads are the arithmetic that they are
// lowered to, equal expressions are one node and reshapes that move nothing are
// names. Passes of the memory model work on it, not on the IR, which is the
// caller's: they fuse nodes and put them in order.
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_ANALYSIS_MEMORY_STEPGRAPH_H
#define ACT_LIB_ANALYSIS_MEMORY_STEPGRAPH_H

#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <deque>
#include <memory>

namespace mlir::act::memory {

/// The classes of nodes that rules of fusion tell apart.
enum class NodeKind {
  Parameter,    ///< an argument of the step or what a loop carries
  Constant,     ///< kept with the program, no buffer of the step
  Iota,         ///< no operands, elements from positions
  Elementwise,  ///< one element from one element of each operand
  Bitcast,      ///< the same bytes in another shape
  Broadcast,    ///< elements repeated
  Permuting,    ///< each element is one of the operand: transposes, slices
  Concatenate,  ///< several operands one behind the other
  Pad,          ///< an operand with a border
  Gather,       ///< elements at places that an operand gives
  DynamicSlice, ///< a part that starts where operands say
  DynamicUpdateSlice, ///< an operand with a part replaced, in place if it may
  Reduce,             ///< many elements combined to one, a single result
  Dot,                ///< a product
  Scatter,            ///< a combination in place with the first operand
  Barrier,            ///< names for its operands; nothing fuses across
  Loop,               ///< runs its body many times
  Branch,             ///< runs one of its bodies
  Opaque              ///< anything else: a call of a routine
};

struct Node;
struct Computation;

/// A result of a node.
struct Ref {
  Node *node = nullptr;
  unsigned result = 0;

  bool operator==(const Ref &other) const {
    return node == other.node && result == other.result;
  }
  bool operator!=(const Ref &other) const { return !(*this == other); }
};

/// Kernels that read a value, in the order in which the target lists them: one
/// that is removed leaves its place to the last.
class UserList {
public:
  ArrayRef<Node *> getArrayRef() const { return users; }
  size_t size() const { return users.size(); }
  bool empty() const { return users.empty(); }
  Node *front() const { return users.front(); }
  auto begin() const { return users.begin(); }
  auto end() const { return users.end(); }
  void clear() {
    users.clear();
    places.clear();
  }
  void insert(Node *user) {
    if (places.try_emplace(user, users.size()).second)
      users.push_back(user);
  }
  void remove(Node *user) {
    auto found = places.find(user);
    if (found == places.end())
      return;
    unsigned place = found->second;
    places.erase(found);
    Node *last = users.pop_back_val();
    if (last == user)
      return;
    users[place] = last;
    places[last] = place;
  }

private:
  SmallVector<Node *, 2> users;
  llvm::SmallDenseMap<Node *, unsigned, 2> places;
};

struct Node {
  unsigned id = 0; ///< in order of creation
  NodeKind kind = NodeKind::Opaque;
  /// Name of the operation without its dialect.
  StringRef name;
  SmallVector<RankedTensorType, 1> types;
  SmallVector<Ref, 4> operands;
  /// Attributes and regions, for comparison.
  Attribute attributes, signature;
  /// For products of two operands whether a library runs them, for reductions
  /// whether one may.
  bool isLibraryCall = false;
  /// Whose computation this is part of.
  Value origin;
  /// The save, and which of its tensors result i is, if it is that.
  CompressedSaveOp save;
  /// Bodies of loops (body, condition) and branches.
  SmallVector<std::unique_ptr<Computation>, 2> bodies;

  //===--------------------------------------------------------------------===//
  // What fusion makes of it
  //===--------------------------------------------------------------------===//

  /// Nodes that are computed in this one's kernel, itself included.
  llvm::SetVector<Node *> members;
  /// What the kernel reads, each once.
  llvm::SetVector<std::pair<Node *, unsigned>> inputs;
  /// Kernels that read a result of this one. Empty and not a root: dead.
  UserList users;
  /// Calls a library, which fuses by other rules.
  bool isLibraryKernel = false;
};

/// Nodes that run one after the other: a step, or the body of a loop.
struct Computation {
  std::deque<Node> nodes;
  SmallVector<Node *> parameters;
  /// What it returns.
  SmallVector<Ref> results;

  Node &create(NodeKind kind, StringRef name, ArrayRef<RankedTensorType> types,
               ArrayRef<Ref> operands, Value origin);
};

int64_t getBytes(RankedTensorType type);
/// Bytes of all results.
int64_t getBytes(const Node &node);
/// True for a tensor of one element.
bool isScalar(RankedTensorType type);

/// Builds the graph of a step. Emits an error on shapes that are not static.
FailureOr<std::unique_ptr<Computation>>
buildStepGraph(FunctionOpInterface function);

/// Nodes from which a result can be reached, operands before users: those that
/// are visited first by a depth-first walk from the results.
SmallVector<Node *> getPostOrder(Computation &computation);

/// Sets `inputs` and `users` of unfused nodes and drops what nothing needs.
void connect(Computation &computation);

/// Fuses what a library of the target computes in one call: reductions and
/// products with elementwise operations around them.
void fuseLibraryCalls(Computation &computation);

/// Fuses elementwise operations and the like into their users, computing them
/// several times where that is cheap.
void fuseLoops(Computation &computation);

/// Gives loops copies of initial values that they may not write over.
void copyInitialValues(Computation &computation);

/// Kernels in the order in which they run.
SmallVector<Node *> schedule(Computation &computation);

} // namespace mlir::act::memory

#endif // ACT_LIB_ANALYSIS_MEMORY_STEPGRAPH_H
