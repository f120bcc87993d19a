//===- KernelOps.td - Units of native execution -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_KERNELOPS_TD
#define ACT_DIALECT_ACT_IR_KERNELOPS_TD

include "act/Dialect/Act/IR/ActBase.td"
include "act/Dialect/Act/IR/ActEnums.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Act_KernelOp : Op<Act_Dialect, "kernel",
    [IsolatedFromAbove, NoTerminator, RecursiveMemoryEffects, SingleBlock]> {
  let summary = "Run operations on buffers as one kernel.";
  let description = [{
    The body is a sequence of operations on buffers that a target turns into one
    kernel: one launch on a GPU, one parallel loop on a CPU. `rows` are the extents
    of the outermost loops of every operation in the body; their product is the
    number of independent *units*, which run in any order and at the same time. In
    a unit the operations run one after the other. A `memref.alloc` in the body is
    private to a unit: only the part that belongs to the unit's row exists.

    `kind` says what a target makes of it:

    | kind | body |
    |---|---|
    | `elementwise` | one operation without reduction |
    | `row_program` | operations that share rows, such as a softmax |
    | `reduction` | one reduction |
    | `contraction` | one sum of products of two operands |
    | `convolution` | one `act.convolution` |
    | `codec` | `act.encode` or `act.decode` alone |

    Constraints:

    * C1: the arguments of the body are the operands: same number and types.
    * C2: every extent in `rows` is positive.
    * C3: a structured operation of the body has at least as many loops as there
      are rows, and its first loops are parallel with the extents of `rows`.

    Example:

    ```mlir
    act.kernel row_program [128] (%x, %y : memref<128x64xf32>, memref<128x64xf32>) {
    ^bb0(%in: memref<128x64xf32>, %out: memref<128x64xf32>):
      %max = memref.alloc() : memref<128xf32>
      linalg.generic ... ins(%in) outs(%max) {iterators = parallel, reduction}
      linalg.generic ... ins(%in, %max) outs(%out) {iterators = parallel, parallel}
    }
    ```
  }];
  let arguments = (ins
    Act_KernelKindAttr:$kind,
    DenseI64ArrayAttr:$rows,
    Variadic<AnyType>:$buffers);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $kind $rows `(` ($buffers^ `:` type($buffers))? `)` $body attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Number of independent pieces.
    int64_t getUnits();
  }];
}

#endif // ACT_DIALECT_ACT_IR_KERNELOPS_TD
