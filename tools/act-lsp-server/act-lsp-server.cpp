//===- act-lsp-server.cpp - Language server for editors ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "act/InitAll.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::act::registerActDialects(registry);
  mlir::act::shell::registerStandInDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
