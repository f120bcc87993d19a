//===- RangeOps.td - Ranges that outlive a step -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_RANGEOPS_TD
#define ACT_DIALECT_ACT_IR_RANGEOPS_TD

include "act/Dialect/Act/IR/ActTypes.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Row 0 holds widths (Mesa's alpha), row 1 minima (beta).
def Act_RangeTensor : 2DTensorOf<[F32]>;

def Act_EmptyRangeOp : Op<Act_Dialect, "empty_range", [Pure]> {
  let summary = "Ranges of which no value has been seen yet.";
  let description = [{
    The state that `act.update_range` begins with: all NaN. `act-choose-encodings`
    creates one for each save with running ranges, and `act-running-ranges` replaces
    it by an argument of the step. Nothing else gives such a state a meaning across
    steps, so the operation has no lowering.

    Constraints:

    * C1: the result is a `tensor<2xNxf32>` with constant N of at least 1.

    Example:

    ```mlir
    %s = act.empty_range : tensor<2x4xf32>
    ```
  }];
  let results = (outs Act_RangeTensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Act_UpdateRangeOp : Op<Act_Dialect, "update_range",
    [Pure, AllTypesMatch<["state", "next", "range"]>]> {
  let summary = "Let running ranges follow a value.";
  let description = [{
    Averages over steps of the ranges of a value, one range for each index of `axis`, as
    in Mesa (arXiv 2111.11124, section 3.2). Row 0 of `state` holds their widths `a`,
    row 1 their minima `b`. With `m` and `M` the least and greatest element at an index
    in `input`, converted to f32:

    ```
    a' = a - (1 - decay) * (a - (M - m))        b' = b - (1 - decay) * (b - m)
    ```

    Where `a` is NaN, nothing has been seen: a' = M - m and b' = m. Where M - m is not
    finite, because `input` holds a NaN or an infinity or its range is wider than the
    largest f32, the state stays as it is: one bad step does not spoil those after it.

    `next` is the state for the next step. `range` is what to encode this `input` with,
    which is `next` (as in Mesa: the range that follows the value includes its share of
    it), but NaN where M - m is not finite, as all that is stored there then decodes to
    NaN. Both are values like any other: a second forward before the first one's
    backward has ranges of its own.

    Constraints:

    * C1: `state`, and so `next` and `range`, is a `tensor<2xNxf32>` where N is the size
      of `axis` in `input`.
    * C2: `input` has a floating-point element type of 16, 32 or 64 bits, a static shape,
      at least one element and more axes than `axis`, which is not negative.
    * C3: `decay` is in [0, 1).

    Example:

    ```mlir
    %next, %range = act.update_range %q, %state axis 1 decay 9.000000e-01
        : tensor<8x4x64xf32>, tensor<2x4xf32>
    ```
  }];
  let arguments = (ins
    AnyRankedTensor:$input, Act_RangeTensor:$state, I64Attr:$axis, F64Attr:$decay);
  let results = (outs Act_RangeTensor:$next, Act_RangeTensor:$range);
  let assemblyFormat = [{
    $input `,` $state `axis` $axis `decay` $decay attr-dict `:` type($input) `,`
    type($state)
  }];
  let hasVerifier = 1;
}

#endif // ACT_DIALECT_ACT_IR_RANGEOPS_TD
