//===- act-gpu-emulate.cpp - Executes kernels on the emulator ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Tools/ActGpuEmulate/ActGpuEmulate.h"
#include "llvm/Support/InitLLVM.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  return mlir::failed(mlir::act::runActGpuEmulate(argc, argv));
}
