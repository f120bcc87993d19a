//===- TestPasses.cpp - Passes for tests of analyses ----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"

void mlir::act::registerActTestPasses() {
  registerTestAutodiffGraphPass();
  registerTestEmitCodecsPass();
  registerTestEmitProductsPass();
  registerTestEmitGPUCodecsPass();
  registerTestOpModelPass();
  registerTestStablehloBuilderPass();
}
