//===- act-opt.cpp - The act optimizer driver ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "act/InitAll.h"
#include "act/Version.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include <cstdlib>
#include <string>

/// Prints the debug logs of the types that the environment variable ACT_DEBUG
/// names, separated by commas. This replaces --debug-only, which LLVM as Debian
/// builds it does not have. Only builds with assertions have logs.
static void enableDebugLogs() {
  const char *value = std::getenv("ACT_DEBUG");
  if (!value)
    return;
  llvm::SmallVector<std::string> types;
  for (llvm::StringRef type : llvm::split(value, ','))
    types.push_back(type.str());
  llvm::SmallVector<const char *> names;
  for (const std::string &type : types)
    names.push_back(type.c_str());
  using namespace llvm; // setCurrentDebugTypes is a macro without assertions
  DebugFlag = true;
  setCurrentDebugTypes(names.data(), names.size());
}

/// The arguments, with --allow-unregistered-dialect unless they decide on it:
/// programs of frameworks hold ops of dialects that act leaves alone (mhlo,
/// tf).
static llvm::SmallVector<char *> addDefaults(int argc, char **argv) {
  static char allow[] = "--allow-unregistered-dialect";
  llvm::SmallVector<char *> args(argv, argv + argc);
  if (llvm::none_of(args, [](llvm::StringRef arg) {
        return arg.ltrim('-').starts_with(allow + 2);
      }))
    args.insert(args.begin() + 1, allow);
  return args;
}

int main(int argc, char **argv) {
  enableDebugLogs();
  llvm::cl::AddExtraVersionPrinter([](llvm::raw_ostream &os) {
    os << "act " << ACT_VERSION_STRING << "\n";
  });
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::act::registerActDialects(registry);
  mlir::act::shell::registerStandInDialects(registry);
  mlir::act::registerAllActPasses();
  mlir::act::registerActTestPasses();
  llvm::SmallVector<char *> args = addDefaults(argc, argv);
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      args.size(), args.data(), "act optimizer driver\n", registry));
}
