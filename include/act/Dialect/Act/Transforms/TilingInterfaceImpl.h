//===- TilingInterfaceImpl.h - Tiles of linear attention -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_TRANSFORMS_TILINGINTERFACEIMPL_H
#define ACT_DIALECT_ACT_TRANSFORMS_TILINGINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
namespace act {

/// Makes the operations on linear attention implement TilingInterface. The
/// dimensions of the iteration domain are, in this order:
///
/// 0. groups of heads (parallel): the fewest heads that share no state, no row
///    of `query`, `key` and `value` and no row of gradients with others, where
///    a tensor of one head may be read by all groups. A tile has a constant
///    number of groups, as numbers of heads are constants.
/// 1. sequences (parallel), but for the gradient of a decay per head, which is
///    a sum over them.
/// 2. tokens (reduction: in order, the states carried from tile to tile), but
///    for `act.linear_attention_grad`, which needs the states before its tile.
/// 3. numbers of a row of `value` (parallel), only without `normalize`.
///
/// The operations fuse into the tiled loops of consumers, except of parts of
/// the tokens.
void registerTilingInterfaceExternalModels(DialectRegistry &registry);

} // namespace act
} // namespace mlir

#endif // ACT_DIALECT_ACT_TRANSFORMS_TILINGINTERFACEIMPL_H
