//===- act-opt.cpp - The act optimizer driver ----------===//
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
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/Debug.h"
#include <cstdlib>

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::act::registerActDialects(registry);
  mlir::act::registerAllActPasses();
  registry.insert<mlir::act::shell::StablehloShellDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "act optimizer driver\n", registry));
}
