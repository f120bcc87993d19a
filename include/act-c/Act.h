//===- Act.h - C API of act -*- C -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a program, runs passes on it and prints it. Works on the types of
// MLIR's C API, which the library contains, and adds what is missing there.
//
// Problems are reported as diagnostics: attach a handler to the context with
// mlirContextAttachDiagnosticHandler to receive them.
//
//===----------------------------------------------------------------------===//

#ifndef ACT_C_ACT_H
#define ACT_C_ACT_H

#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Act, act);

/// The version of act, for example "0.1.0". The string lives forever.
MLIR_CAPI_EXPORTED MlirStringRef actGetVersion(void);

/// Adds to `registry` the act dialect, all upstream dialects with their
/// extensions, what act knows about their operations, and the stand-ins for
/// StableHLO and its companions.
MLIR_CAPI_EXPORTED void actRegisterAllDialects(MlirDialectRegistry registry);

/// Registers the passes and pipelines of act and of upstream, for the whole
/// process. May be called any number of times, from any thread.
MLIR_CAPI_EXPORTED void actRegisterAllPasses(void);

/// Creates a context with all dialects and passes registered that leaves
/// operations of unknown dialects alone. Destroy it with mlirContextDestroy.
MLIR_CAPI_EXPORTED MlirContext actContextCreate(void);

/// Reads a module from a file, as text or bytecode; "-" is standard input. Null
/// if that fails. Destroy it with mlirModuleDestroy. (mlirModuleCreateParse
/// reads one from memory.)
MLIR_CAPI_EXPORTED MlirModule actModuleParseFile(MlirContext context,
                                                 MlirStringRef path);

/// Runs a pipeline given as text, for example
/// "builtin.module(canonicalize,cse)", on `module`. If a pass fails the module
/// may have been changed in part.
MLIR_CAPI_EXPORTED MlirLogicalResult
actModuleRunPipeline(MlirModule module, MlirStringRef pipeline);

/// How actModulePrint prints.
enum ActPrintForm {
  /// Each dialect's own syntax.
  ActPrintFormCustom,
  /// The syntax that tools can read which do not know the dialects.
  ActPrintFormGeneric
};
typedef enum ActPrintForm ActPrintForm;

/// Prints `module` with its locations left out, a piece at a time.
MLIR_CAPI_EXPORTED void actModulePrint(MlirModule module, ActPrintForm form,
                                       MlirStringCallback callback,
                                       void *userData);

#ifdef __cplusplus
}
#endif

#endif // ACT_C_ACT_H
