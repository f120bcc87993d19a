//===- BufferizableOpInterfaceImpl.h - From tensors to buffers -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
#define ACT_DIALECT_ACT_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
namespace act {

/// Makes the operations on linear attention implement BufferizableOpInterface:
/// results are written to the buffers of destinations.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace act
} // namespace mlir

#endif // ACT_DIALECT_ACT_TRANSFORMS_BUFFERIZABLEOPINTERFACEIMPL_H
