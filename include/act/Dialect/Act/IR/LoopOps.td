//===- LoopOps.td - Saves inside loops -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_LOOPOPS_TD
#define ACT_DIALECT_ACT_IR_LOOPOPS_TD

include "act/Dialect/Act/IR/ActTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Act_StackElement : AnyTypeOf<[Act_CompressedType, Act_StackType],
                                 "compressed tensor or stack">;

/// A place in a stack: an `index` in upstream loops, a rank-0 tensor of integers
/// in StableHLO.
def Act_StackIndex : AnyTypeOf<[Index, AnySignlessInteger, 0DTensorOf<[AnyInteger]>],
                               "integer, index or rank-0 tensor of integers">;

/// `value` is an element of `stack`.
class Act_IsElementOf<string stack, string value>
    : TypesMatchWith<"'" # value # "' is an element of '" # stack # "'",
                     stack, value,
                     "::llvm::cast<StackType>($_self).getElementType()">;

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

def Act_EmptyStackOp : Op<Act_Dialect, "empty_stack", [Pure]> {
  let summary = "A stack whose elements have not been set.";
  let description = [{
    The initial value of a stack that a loop carries. Reading an element before it
    was set gives an undefined value.

    Example:

    ```mlir
    %s = act.empty_stack : !act.stack<6 x !act.compressed<tensor<8x64xf32>, #act.raw>>
    ```
  }];
  let results = (outs Act_StackType:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}

def Act_StackPushOp : Op<Act_Dialect, "stack_push",
    [Pure, AllTypesMatch<["stack", "result"]>, Act_IsElementOf<"stack", "value">]> {
  let summary = "Set one element of a stack.";
  let description = [{
    Returns `stack` with `value` as its element `index`; an index outside of the
    stack is undefined.

    Constraints:

    * C1: the stack has elements of the type of `value`, and so has the result.

    Example:

    ```mlir
    %s1 = act.stack_push %c, %s[%i] : tensor<i32>,
        !act.stack<6 x !act.compressed<tensor<8x64xf32>, #act.raw>>
    ```
  }];
  let arguments = (ins
    Act_StackElement:$value, Act_StackType:$stack, Act_StackIndex:$index);
  let results = (outs Act_StackType:$result);
  let assemblyFormat = [{
    $value `,` $stack `[` $index `]` attr-dict `:` type($index) `,` type($stack)
  }];
}

def Act_StackReadOp : Op<Act_Dialect, "stack_read",
    [Pure, Act_IsElementOf<"stack", "result">]> {
  let summary = "One element of a stack.";
  let description = [{
    Returns the element `index` of `stack`, still encoded.

    Constraints:

    * C1: the result has the element type of the stack.

    Example:

    ```mlir
    %c = act.stack_read %s[%i] : tensor<i32>,
        !act.stack<6 x !act.compressed<tensor<8x64xf32>, #act.raw>>
    ```
  }];
  let arguments = (ins Act_StackType:$stack, Act_StackIndex:$index);
  let results = (outs Act_StackElement:$result);
  let assemblyFormat = [{
    $stack `[` $index `]` attr-dict `:` type($index) `,` type($stack)
  }];
}

//===----------------------------------------------------------------------===//
// Two loops as one step
//===----------------------------------------------------------------------===//

def Act_JointLoopOp : Op<Act_Dialect, "joint_loop", [SingleBlock]> {
  let summary = "The bodies of a forward and a backward loop as one step.";
  let description = [{
    Exists only while `act-partition` works. The body holds what one iteration of
    the forward loop does, `act.turning_point`, and what the iteration of the
    backward loop does that undoes it; reads of stacks that the forward loop wrote
    are the values themselves. The block has the counters and the carried values
    of both loops as arguments.

    Constraints:

    * C1: the body holds one `act.turning_point`.
    * C2: `trip_count`, how often both loops run, is positive.

    Example:

    ```mlir
    act.joint_loop 6 {
    ^bb0(%i: tensor<i32>, %h: tensor<8x8xf32>, %j: tensor<i32>, %g: tensor<8x8xf32>):
      %x = act.loop_state %h : tensor<8x8xf32>
      %y = stablehlo.tanh %x : tensor<8x8xf32>
      act.turning_point %y : tensor<8x8xf32>
      %dy = act.loop_state %g : tensor<8x8xf32>
      %dx = stablehlo.multiply %dy, %y : tensor<8x8xf32>
      act.joint_yield %dx : tensor<8x8xf32>
    }
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$trip_count);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$trip_count $body attr-dict";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    TurningPointOp getTurningPoint();
  }];
}

def Act_TurningPointOp : Op<Act_Dialect, "turning_point",
                            [HasParent<"JointLoopOp">]> {
  let summary = "The end of forward in a joint loop.";
  let description = [{
    The operands are what the forward loop carries into its next iteration.
  }];
  let arguments = (ins Variadic<AnyType>:$carried);
  let assemblyFormat = "($carried^ `:` type($carried))? attr-dict";
}

def Act_JointYieldOp : Op<Act_Dialect, "joint_yield",
    [HasParent<"JointLoopOp">, Pure, Terminator, ReturnLike]> {
  let summary = "The end of a joint loop.";
  let description = [{
    The operands are what the backward loop carries into its next iteration.
  }];
  let arguments = (ins Variadic<AnyType>:$carried);
  let assemblyFormat = "($carried^ `:` type($carried))? attr-dict";
}

def Act_LoopStateOp : Op<Act_Dialect, "loop_state",
                         [HasParent<"JointLoopOp">, Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "A value that a loop carries from the iteration before.";
  let description = [{
    Returns its operand. Cannot be computed again: what the forward loop carried
    is gone when the backward loop runs.
  }];
  let arguments = (ins AnyType:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

#endif // ACT_DIALECT_ACT_IR_LOOPOPS_TD
