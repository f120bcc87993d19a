//===- MinCut.h - Minimum cuts -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_ANALYSIS_MINCUT_H
#define ACT_ANALYSIS_MINCUT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace mlir::act {

/// A directed network with integer capacities and its minimum cuts, found by
/// Dinic's algorithm (Y. Dinitz 1970): blocking flows on shortest-path layers.
class FlowNetwork {
public:
  /// Capacity of edges that no cut may contain.
  static constexpr int64_t kUnlimited = int64_t{1} << 60;

  explicit FlowNetwork(unsigned numNodes) : heads(numNodes, kNone) {}

  /// Adds an edge. `capacity` is not negative.
  void addEdge(unsigned from, unsigned to, int64_t capacity);

  /// Sends as much flow as possible and returns it. A result of at least
  /// `kUnlimited` means that every cut has an unlimited edge.
  int64_t maximizeFlow(unsigned source, unsigned sink);

  /// The nodes on the source's side of the minimum cut that lies nearest to the
  /// source (as few nodes as possible). Call after `maximizeFlow`.
  llvm::BitVector getSmallestSourceSide(unsigned source) const;

  /// The nodes on the source's side of the minimum cut that lies nearest to the
  /// sink (as many nodes as possible). Call after `maximizeFlow`.
  llvm::BitVector getLargestSourceSide(unsigned sink) const;

private:
  static constexpr unsigned kNone = ~0u;

  /// An edge and, at index ^ 1, its reverse.
  struct Edge {
    unsigned to;
    unsigned next; ///< next edge that leaves the same node
    int64_t residual;
  };

  /// Numbers nodes by their distance to `sink`; false if `source` is cut off.
  bool computeLevels(unsigned source, unsigned sink);
  /// Saturates one shortest path at a time until none is left on the levels.
  int64_t sendBlockingFlow(unsigned source, unsigned sink);

  SmallVector<unsigned> heads;
  std::vector<Edge> edges;
  std::vector<int> levels;
};

} // namespace mlir::act

#endif // ACT_ANALYSIS_MINCUT_H
