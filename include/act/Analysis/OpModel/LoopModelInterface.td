//===- LoopModelInterface.td - What act knows about a loop -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_ANALYSIS_OPMODEL_LOOPMODELINTERFACE_TD
#define ACT_ANALYSIS_OPMODEL_LOOPMODELINTERFACE_TD

include "mlir/IR/OpBase.td"

def Act_LoopModelInterface : OpInterface<"LoopModelInterface"> {
  let cppNamespace = "::mlir::act";
  let description = [{
    A loop that carries values from one iteration to the next. The carried values
    are numbered; number i has an initial value, an argument of the body, a value
    for the next iteration and, as result i of the operation, a final value.
  }];
  let methods = [
    InterfaceMethod<"The block that an iteration runs; null if there is not one.",
      "::mlir::Block *", "getLoopBody">,
    InterfaceMethod<[{
        The number of the iteration, 0 in the first, in the body; null unless the
        loop runs a constant number of times that only depends on it.
      }],
      "::mlir::Value", "getCounter">,
    InterfaceMethod<"How often the loop runs, if it has a counter.",
      "int64_t", "getTripCount">,
    InterfaceMethod<"The initial values.",
      "::llvm::SmallVector<::mlir::Value>", "getInitialValues">,
    InterfaceMethod<"The arguments of the body.",
      "::llvm::SmallVector<::mlir::Value>", "getCarriedArguments">,
    InterfaceMethod<"The values for the next iteration.",
      "::llvm::SmallVector<::mlir::Value>", "getNextValues">,
    InterfaceMethod<[{
        Creates a loop that runs as often as this one, which must have a counter,
        and carries other values. `origins[i]` is the number that carried value i
        of the new loop has in this one, -1 for a new value; a counter that is
        carried must be among them. The new body has its arguments but no
        operations.
      }],
      "::mlir::Operation *", "createLike",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::ValueRange":$initialValues,
           "::llvm::ArrayRef<int64_t>":$origins)>,
    InterfaceMethod<"Ends the body of a loop made by `createLike`.",
      "void", "finishBody", (ins "::mlir::ValueRange":$nextValues)>,
    InterfaceMethod<[{
        Builds `last - counter`, where `last` is the number of the last iteration.
      }],
      "::mlir::Value", "buildReversedCounter",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Location":$loc,
           "::mlir::Value":$counter)>
  ];
}

#endif // ACT_ANALYSIS_OPMODEL_LOOPMODELINTERFACE_TD
