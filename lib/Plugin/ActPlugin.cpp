//===- ActPlugin.cpp - act as a plugin of mlir-opt ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/InitAll.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "llvm/Config/llvm-config.h"

// Passes are registered by both entry points, so that one flag is enough to
// name a pass; doing it twice is harmless.

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "act", LLVM_VERSION_STRING,
          [](mlir::DialectRegistry *registry) {
            mlir::act::registerActDialects(*registry);
            mlir::act::registerAllActPasses();
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "act", LLVM_VERSION_STRING,
          [] { mlir::act::registerAllActPasses(); }};
}
