//===- TestPasses.h - Passes for tests of analyses -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_TEST_LIB_TESTPASSES_H
#define ACT_TEST_LIB_TESTPASSES_H

namespace mlir::act {

void registerTestAutodiffGraphPass();
void registerTestEmitCodecsPass();
void registerTestEmitProductsPass();
void registerTestEmitGPUCodecsPass();
void registerTestOpModelPass();
void registerTestStablehloBuilderPass();

/// Registers all of the above.
void registerActTestPasses();

} // namespace mlir::act

#endif // ACT_TEST_LIB_TESTPASSES_H
