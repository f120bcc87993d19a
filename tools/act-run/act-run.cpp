//===- act-run.cpp - Executes training steps ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "act/InitAll.h"
#include "act/Tools/ActRun/ActRun.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "llvm/Support/InitLLVM.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::act::registerActDialects(registry);
  mlir::act::shell::registerStandInDialects(registry);
  return mlir::failed(mlir::act::runActRun(argc, argv, registry));
}
