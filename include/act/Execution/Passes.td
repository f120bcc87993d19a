//===- Passes.td - Passes that write machine code -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_EXECUTION_PASSES_TD
#define ACT_EXECUTION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ActEmitObjectPass : Pass<"act-emit-object", "ModuleOp"> {
  let summary = "Write a lowered step as an object file";
  let description = [{
    Compiles a module that consists of operations of the LLVM dialect and has the
    attribute `act.step`, and leaves it as it is. The object file defines the
    function of the step, of type `act_cpu_step` (act-c/StepRuntime.h), and the
    table `act_step_info` (act-c/StepInfo.h) under the same name and `_info`. It
    refers to functions of libActStepRuntime and of the C library. docs/Native.md
    shows a program that links it.

    The machine code does not depend on the number of cores that compile it.
    Contraction and reassociation of floats is left to what the module says.

    Example:

    ```
    act-opt lowered.mlir --act-emit-object="output=step.o header=step.h"
    cc application.c step.o -lActStepRuntime
    ```
  }];
  let options = [
    Option<"output", "output", "std::string", "",
           "File to write: FILE.a for an archive of object files, else one "
           "object file">,
    Option<"header", "header", "std::string", "",
           "C header to write, with the size of the arena and what arguments and "
           "results are; none if empty">,
    Option<"name", "name", "std::string", "",
           "C name of the function; if empty, the name of the file">,
    Option<"cpu", "cpu", "std::string", "",
           "Processor to compile for, as LLVM names it; if empty, the one that "
           "compiles">
  ];
}

#endif // ACT_EXECUTION_PASSES_TD
