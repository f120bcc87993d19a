//===- Passes.td - Passes on the act dialect -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_TRANSFORMS_PASSES_TD
#define ACT_DIALECT_ACT_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ActPartitionPass : InterfacePass<"act-partition", "FunctionOpInterface"> {
  let summary = "Let backward read forward only through saves";
  let description = [{
    Applies to a function that holds forward and backward of a training step. Every
    forward value that backward reads becomes a *survivor*, saved with `#act.raw`
    and loaded right before its use, or is computed again in backward from
    survivors, arguments and constants. Survivors are a minimum cut with the bytes
    of the encoded values as capacities. Private functions are left alone; inline
    them first (`act-inline`).

    A load must not be scheduled before the cotangent that needs it exists. It is
    tied to one by `act.barrier`, and so is every clone that no other operand holds
    back; otherwise the compiler that runs the step finds forward's value equal to
    its copy and keeps it. See docs/Partition.md for all rules and what happens
    without them. The forward part stays as it was but for barriers, which are
    identities.

    Example, with `primal-results=1`:

    ```mlir
    func.func @step(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>)
        -> (tensor<f32>, tensor<256x256xf32>) {
      %z = "stablehlo.dot_general"(%x, %w) ...
      %h = "stablehlo.tanh"(%z) ...
      ...
      %dw = "stablehlo.dot_general"(%h, %g) ...
    ```

    becomes

    ```mlir
      %z = "stablehlo.dot_general"(%x, %w) ...
      %c = act.compressed_save %z : tensor<256x256xf32> to <..., #act.raw>
      %b:2 = act.barrier %z, %c : ...
      %h = "stablehlo.tanh"(%b#0) ...
      ...
      %b1:2 = act.barrier %b#1, %g : ...
      %z1 = act.dequantize_load %b1#0 : <..., #act.raw> to tensor<256x256xf32>
      %h1 = "stablehlo.tanh"(%z1) ...
      %dw = "stablehlo.dot_general"(%h1, %b1#1) ...
    ```
  }];
  let options = [
    Option<"primalResults", "primal-results", "unsigned", "1",
           "Number of leading results that forward computes (loss, auxiliary "
           "values); the attribute `act.primal_results` of a function overrides it">,
    Option<"bits", "bits", "unsigned", "4",
           "Bits per element assumed for lossy saves when comparing costs; with 0 "
           "nothing is lossy and comparisons may be computed again">,
    Option<"window", "window", "unsigned", "1",
           "Number of contractions of backward over which a load or clone is "
           "shared before it is made again">,
    Option<"cut", "cut", "::mlir::act::CutSide", "::mlir::act::CutSide::Sink",
           "Which of several minimum cuts to take",
           [{::llvm::cl::values(
             clEnumValN(::mlir::act::CutSide::Sink, "sink", "nearest to backward"),
             clEnumValN(::mlir::act::CutSide::Source, "source",
                        "nearest to where values are computed"))}]>,
    Option<"recompute", "recompute", "::mlir::act::RecomputedContractions",
           "::mlir::act::RecomputedContractions::None",
           "Which contractions may be computed again",
           [{::llvm::cl::values(
             clEnumValN(::mlir::act::RecomputedContractions::None, "none", "none"),
             clEnumValN(::mlir::act::RecomputedContractions::Batch, "batch",
                        "products of activations that are larger than both, such "
                        "as attention scores"),
             clEnumValN(::mlir::act::RecomputedContractions::Growing, "growing",
                        "also products of an activation with arguments that are "
                        "larger, together, than it: query, key and value, the "
                        "first layer of an MLP block"))}]>
  ];
  let dependentDialects = ["::mlir::act::ActDialect"];
}

def ActVerifyPartitionPass
    : InterfacePass<"act-verify-partition", "FunctionOpInterface"> {
  let summary = "Check that backward reads forward only through saves";
  let description = [{
    In functions that hold an `act.compressed_save`, every operation of backward may
    read from forward only saves that enter an `act.barrier` or an
    `act.dequantize_load`, results of the step, constants and values of the head
    (produced at or after the last contraction of forward); and every operation
    that was cloned into backward must depend on a barrier. Fails with the use and
    the definition otherwise.
  }];
  let options = [
    Option<"primalResults", "primal-results", "unsigned", "1",
           "Number of leading results that forward computes; the attribute "
           "`act.primal_results` of a function overrides it">
  ];
}

def ActChooseEncodingsPass : Pass<"act-choose-encodings", "ModuleOp"> {
  let summary = "Choose how each saved value is stored";
  let description = [{
    Gives every `act.compressed_save` with the encoding `#act.raw` an encoding, and
    changes the types of barriers and loads that it reaches. Exact values get a
    lossless one: one bit per predicate, fewer bits for bounded integers, else raw.
    The others get `bits` bits per element in groups of about 64 along the last axis
    (128 where it has 1024 elements or more, 256 at 8 bits and for results of
    exponentials and the like), unless a rule of the file `rules` names another encoding, or a budget
    is given:

    * `average-bits`: bits per element over all lossy saves, group parameters
      included, are at most this; bits go where they lower the predicted gradient
      error most;
    * `error-budget`: the fewest bits whose predicted relative gradient error stays
      below this. The prediction is the static model of docs/Encodings.md; it knows
      kinds of values, not their contents.

    `rules` is a JSON array of objects; the first that matches a save decides:

    ```json
    [{"op": "stablehlo.exponential", "encoding": "raw"},
     {"name": ".*attention.*", "min-elements": 1000000,
      "encoding": "#act.group_quant<bits = 2, group = 32>"}
    ]
    ```

    `op` is the name of the operation that defines the value, `name` a regular
    expression that its location name must contain, `min-elements` and
    `max-elements` bound its size. A lossy rule does not apply to exact values.
  }];
  let options = [
    Option<"bits", "bits", "unsigned", "4",
           "Bits per element of lossy saves: 1, 2, 4, 8, or 0 for none">,
    Option<"rules", "rules", "std::string", "",
           "File with encodings per kind of value">,
    Option<"averageBits", "average-bits", "double", "0",
           "Budget of bits per element over all lossy saves">,
    Option<"errorBudget", "error-budget", "double", "0",
           "Budget of the predicted relative gradient error">
  ];
  let dependentDialects = ["::mlir::act::ActDialect"];
}

def ActReportPass : Pass<"act-report", "ModuleOp"> {
  let summary = "Write what was saved, and what was not, as JSON";
  let description = [{
    Writes one JSON object with the survivors of the step, their encodings and
    bytes, and the large values that backward reads without compression, each with
    the reason. Does not change the IR. docs/Report.md describes the keys.
  }];
  let options = [
    Option<"output", "output", "std::string", "\"-\"",
           "File to write, - for the standard output">,
    Option<"primalResults", "primal-results", "unsigned", "1",
           "Number of leading results that forward computes; the attribute "
           "`act.primal_results` of a function overrides it">
  ];
}

def ActInlinePass : Pass<"act-inline", "ModuleOp"> {
  let summary = "Replace calls by the bodies of the functions they call";
  let description = [{
    Inlines every `func.call` in public functions, in the functions that these
    refer to in other ways, and in their regions, and erases the private functions
    that nothing refers to any more. Nothing else changes: attributes of functions,
    arguments and results stay, operations are neither folded nor merged (already
    merging common subexpressions changes the last bits of what XLA computes), and
    an inlined operation has its own location called from that of the call.

    Fails on recursion, and on a call of a function that is unknown, has no body or
    more than one block.

    Example:

    ```mlir
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = call @relu(%x) : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }
    func.func private @relu(%x: tensor<f32>) -> tensor<f32> {
      %0 = arith.constant dense<0.0> : tensor<f32>
      %1 = arith.maximumf %x, %0 : tensor<f32>
      return %1 : tensor<f32>
    }
    ```

    becomes

    ```mlir
    func.func @main(%x: tensor<f32>) -> tensor<f32> {
      %0 = arith.constant dense<0.0> : tensor<f32>
      %1 = arith.maximumf %x, %0 : tensor<f32>
      return %1 : tensor<f32>
    }
    ```
  }];
}

def ActExposeMasksPass : InterfacePass<"act-expose-masks", "FunctionOpInterface"> {
  let summary = "Let backward read predicates and indices instead of activations";
  let description = [{
    Some operations of backward read a whole activation to learn a bit or two per
    element. This pass computes those bits in forward, behind the operation that
    defines the activation, for `act-partition` to save. Forward itself is not
    touched: what the pass adds feeds only backward. Private functions are left
    alone; inline them first (`act-inline`).

    * Max- and min-pools. The gradient of a pool, a `select_and_scatter` that
      compares and adds, reads the index of the selected element in each window
      (2 bits for a window of 2x2, 4 for 3x3) instead of the pool's operand. Ties,
      zeros of either sign and NaN select as in the original. Where windows do not
      overlap the gradient is the same; where they do, its terms may be added in
      another order. The original skips the padding that it does itself (attribute
      `padding`; JAX pads before); here that padding is infinite, which differs only
      in a window at the border that holds nothing but such infinities or NaN.
    * Predicates. A comparison or `is_finite` of floats in backward whose operands
      forward has is moved into forward: the gradients of relu, of `clamp` and of
      `maximum` then need one bit per element. Constants, views, broadcasts,
      padding and widening of operands that stand in backward are copied.

    Softmax, LayerNorm and dropout need nothing here. JAX's backward already reads
    the exponentials or the output of softmax, the centred input of LayerNorm and
    the mask of dropout, which is a predicate that forward computes from the key.

    Example, the gradient of `relu`:

    ```mlir
      %y = "stablehlo.maximum"(%x, %zeros) ...
      ... // end of forward
      %p = "stablehlo.compare"(%x, %zeros) ... -> tensor<8x8xi1>
      %dx = "stablehlo.select"(%p, %dy, %zeros) ...
    ```

    becomes

    ```mlir
      %p = "stablehlo.compare"(%x, %zeros) ... -> tensor<8x8xi1>
      %y = "stablehlo.maximum"(%x, %zeros) ...
      ... // end of forward
      %dx = "stablehlo.select"(%p, %dy, %zeros) ...
    ```
  }];
  let options = [
    Option<"primalResults", "primal-results", "unsigned", "1",
           "Number of leading results that forward computes (loss, auxiliary "
           "values); the attribute `act.primal_results` of a function overrides it">
  ];
}

#endif // ACT_DIALECT_ACT_TRANSFORMS_PASSES_TD
