//===- act-capi-test.c - A user of the C API -*- C -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// act-capi-test FILE PIPELINE custom|generic: reads, transforms and prints. Run
// by run-pipeline.test.
//
//===----------------------------------------------------------------------===//

#include "act-c/Act.h"
#include "mlir-c/Diagnostics.h"
#include <stdio.h>
#include <string.h>

static void print(MlirStringRef text, void *stream) {
  fwrite(text.data, 1, text.length, (FILE *)stream);
}

static MlirLogicalResult printDiagnostic(MlirDiagnostic diagnostic,
                                         void *stream) {
  if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError)
    fputs("error: ", (FILE *)stream);
  mlirDiagnosticPrint(diagnostic, print, stream);
  fputc('\n', (FILE *)stream);
  return mlirLogicalResultSuccess();
}

static int run(MlirContext context, char **argv) {
  MlirModule module =
      actModuleParseFile(context, mlirStringRefCreateFromCString(argv[1]));
  if (mlirModuleIsNull(module))
    return 1;
  MlirLogicalResult result =
      actModuleRunPipeline(module, mlirStringRefCreateFromCString(argv[2]));
  if (mlirLogicalResultIsSuccess(result))
    actModulePrint(module,
                   strcmp(argv[3], "generic") == 0 ? ActPrintFormGeneric
                                                   : ActPrintFormCustom,
                   print, stdout);
  mlirModuleDestroy(module);
  return mlirLogicalResultIsFailure(result);
}

int main(int argc, char **argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s FILE PIPELINE custom|generic\n", argv[0]);
    return 2;
  }
  MlirStringRef version = actGetVersion();
  printf("version %.*s\n", (int)version.length, version.data);
  MlirContext context = actContextCreate();
  mlirContextAttachDiagnosticHandler(context, printDiagnostic, stderr, NULL);
  int status = run(context, argv);
  mlirContextDestroy(context);
  return status;
}
