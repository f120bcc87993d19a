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

    A forward loop and the backward loop that reads its stacks in opposite order are
    partitioned as one step, and what crosses goes through `!act.stack` values that
    both carry. Steps inside a loop, as in gradient accumulation, are partitioned in
    its body. docs/Loops.md says which loops are understood.

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
                        "first layer of an MLP block"),
             clEnumValN(::mlir::act::RecomputedContractions::All, "all", "all"),
             clEnumValN(::mlir::act::RecomputedContractions::Auto, "auto",
                        "of these, in this order, each that saves a byte for at "
                        "most 1000 floating-point operations more than the one "
                        "before"))}]>,
    Option<"unremat", "unremat", "bool", "false",
           "Undo rematerialisation first: erase the `optimization_barrier`s of "
           "backward, so that what it computes again is found equal to forward's "
           "values and the cut decides anew">,
    Option<"rederive", "rederive", "bool", "false",
           "Let backward draw random masks again from their key, if `act-tile-random` "
           "has made loops of them, rather than save a bit per element">
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
      below this.

    Both predict the gradient error from the sensitivities that `act.profile` has
    measured and written to the file `profile` (docs/Profile.md), or, without one and
    for saves that it does not know, by a static model, which knows kinds of values,
    not their contents.

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

    Instead of `encoding` a rule may name an `axis` and the `bits` of codes that have a
    range for each of its indices (`axis_quant`), and whether the `range` is that of the
    `batch` (default) or `running`, an average over steps, which needs
    `act-running-ranges`:

    ```json
    [{"axis": "head", "bits": 8, "range": "running"},
     {"axis": "channel", "bits": 4}
    ]
    ```

    `axis` is an integer, `last`, `head` (the last batch dimension of a product that
    reads the value, or else computes it, behind views and elementwise operations: the
    heads of attention) or `channel` (the feature dimension of a convolution, likewise).
    A rule does not apply to values without such an axis.
  }];
  let options = [
    Option<"bits", "bits", "unsigned", "4",
           "Bits per element of lossy saves: 1, 2, 4, 8, or 0 for none">,
    Option<"rules", "rules", "std::string", "",
           "File with encodings per kind of value">,
    Option<"averageBits", "average-bits", "double", "0",
           "Budget of bits per element over all lossy saves">,
    Option<"errorBudget", "error-budget", "double", "0",
           "Budget of the predicted relative gradient error">,
    Option<"profile", "profile", "std::string", "",
           "File with measured sensitivities, for the budgets">
  ];
  let dependentDialects = ["::mlir::act::ActDialect"];
}

def ActPlanPass : Pass<"act-plan", "ModuleOp"> {
  let summary = "Decide what is kept, encoded and computed again for a budget";
  let description = [{
    Does what `act-partition` and `act-choose-encodings` do, with decisions that
    keep the temporary memory of the step below `memory-budget` bytes at the least
    cost. For each value that could be saved one of these is chosen:

    * backward reads what follows from it as it is (*keep*), which costs no time;
    * it is stored in full, and what follows from it is computed again;
    * it is stored in 8, 4, 2 or 1 bits per element, not fewer than `bits`;
    * it is computed again from other values by contractions that make more than they
      read (with `recompute=auto`).

    Partitions with `window` and `recompute` are tried (with `window=0` 1 and 3, with
    `recompute=auto` none, batch and growing), and what lives when is modelled for
    each (`MemoryLiveness`). The decision is a multiple-choice knapsack problem with
    a row for each position of the schedule (docs/Budget.md) and is solved to a bound.
    Costs are parts of the time of the step, to which the squared gradient error
    over that of a minibatch is added. `error-budget` limits the predicted relative
    error of the gradient, `profile` is a file of measured sensitivities.

    The function gets the attribute `act.plan`, a dictionary:

    | key | value |
    |---|---|
    | `budget` | the budget in bytes |
    | `peak` | bytes that the model predicts |
    | `lower_bound` | bytes of the saves that are alive together, or of the largest buffer |
    | `least` | the least peak that was found for this step |
    | `cost`, `bound` | cost of the plan, and what no plan of this partition is below |
    | `error` | predicted relative error of the gradient |
    | `window`, `recompute` | the partition |
    | `kept` | number of values that backward reads as they are |
    | `recomputed` | number of contractions that are named to be run again, if `recompute` is `planned` |

    Fails, naming the least budget, if the model finds no plan; with `least=true` it
    then takes the plan with the least peak instead.
  }];
  let options = [
    Option<"primalResults", "primal-results", "unsigned", "1",
           "Number of leading results that forward computes; the attribute "
           "`act.primal_results` of a function overrides it">,
    Option<"memoryBudget", "memory-budget", "int64_t", "0",
           "Bytes of temporary memory">,
    Option<"least", "least", "bool", "false",
           "Take the plan with the least peak if none is within the budget">,
    Option<"bits", "bits", "unsigned", "4",
           "Fewest bits per element of lossy saves: 1, 2, 4, 8, or 0 for lossless "
           "saves only">,
    Option<"window", "window", "unsigned", "0",
           "See `act-partition`; 0 to choose">,
    Option<"cut", "cut", "::mlir::act::CutSide", "::mlir::act::CutSide::Sink",
           "See `act-partition`",
           [{::llvm::cl::values(
             clEnumValN(::mlir::act::CutSide::Sink, "sink", "nearest to backward"),
             clEnumValN(::mlir::act::CutSide::Source, "source",
                        "nearest to where values are computed"))}]>,
    Option<"recompute", "recompute", "::mlir::act::RecomputedContractions",
           "::mlir::act::RecomputedContractions::Auto",
           "See `act-partition`; auto to choose",
           [{::llvm::cl::values(
             clEnumValN(::mlir::act::RecomputedContractions::None, "none", "none"),
             clEnumValN(::mlir::act::RecomputedContractions::Batch, "batch",
                        "products of activations that are larger than both"),
             clEnumValN(::mlir::act::RecomputedContractions::Growing, "growing",
                        "also products with arguments that are larger"),
             clEnumValN(::mlir::act::RecomputedContractions::All, "all", "all"),
             clEnumValN(::mlir::act::RecomputedContractions::Auto, "auto",
                        "none, batch or growing"))}]>,
    Option<"unremat", "unremat", "bool", "false", "See `act-partition`">,
    Option<"rederive", "rederive", "bool", "false", "See `act-partition`">,
    Option<"rules", "rules", "std::string", "",
           "File with encodings per kind of value, see `act-choose-encodings`">,
    Option<"profile", "profile", "std::string", "",
           "File of measured sensitivities">,
    Option<"errorBudget", "error-budget", "double", "0",
           "Budget of the predicted relative gradient error, 0 for none">
  ];
}

def ActInstrumentPass : Pass<"act-instrument", "ModuleOp"> {
  let summary = "Let a running step choose how much it rounds saved values";
  let description = [{
    Makes of a compressed step one that measures what rounding its saves does to the
    gradient. It stores every saved value in full; but what would be stored with a
    loss is first rounded as its encoding would round it, with as many codes as the
    caller says. Compiled once, the step has the gradient of any assignment of bits.

    The function gets two more arguments, behind the others: `levels`, a number for
    each lossy save in program order, which is the order of the lossy ones among the
    survivors of `act-report`; and `seed`, for the noise. A level is the largest code,
    2^bits - 1, or 0 to keep the value as it is, bit for bit. Where there are no
    lossy saves, nothing changes.

    It is an error if lossy saves are in several functions.

    Example:

    ```mlir
    func.func @step(%x: tensor<256x256xf32>) -> tensor<256x256xf32> {
      %c = act.compressed_save %x {id = 1 : i64} : tensor<256x256xf32>
          to <tensor<256x256xf32>, #act.group_quant<bits = 4, group = 64>>
    ```

    becomes

    ```mlir
    func.func @step(%x: tensor<256x256xf32>, %levels: tensor<1xf32>,
                    %seed: tensor<ui32>) -> tensor<256x256xf32> {
      %0 = "stablehlo.slice"(%levels) ... -> tensor<1xf32>
      %l = "stablehlo.reshape"(%0) : (tensor<1xf32>) -> tensor<f32>
      %r = act.round_trip %x levels(%l : tensor<f32>)
          seed(%seed : tensor<ui32>) encoding(#act.group_quant<bits = 4, group = 64>)
          {id = 1 : i64} : tensor<256x256xf32>
      %c = act.compressed_save %r {id = 1 : i64} : tensor<256x256xf32>
          to <tensor<256x256xf32>, #act.raw>
    ```
  }];
  let dependentDialects = ["::mlir::act::ActDialect"];
}

def ActRunningRangesPass : Pass<"act-running-ranges", "ModuleOp"> {
  let summary = "Pass running ranges from step to step";
  let description = [{
    Replaces each `act.empty_range` that an `act.update_range` reads by a state of the
    step: a new argument, behind all others, and the state after the step as a new
    result, behind all others and in the same order. Both have the attribute `act.range`
    with a name for the state, the `key` of the save or, without one, `save` and its
    `id`; a second state of one name gets `.2` behind it. The host passes NaN to the
    first step, and what a step returned to the next.

    Loops around the update carry the state. Where the save is collected in a stack, as
    in a scan over layers, each iteration has ranges of its own: the state is `f32[n, 2,
    N]` (with one more leading size for each further loop), and iteration i reads and
    writes row i. Where it is not, as in gradient accumulation, the iterations update one
    state in turn.

    Fails if an update is nested in anything but functions and loops that carry values,
    if a loop that collects saves has no counter that is a tensor, and if the function
    is called by another one.

    Example:

    ```mlir
    func.func @step(%x: tensor<8x64xf32>, %w: tensor<64x64xf32>) -> tensor<f32> {
      ...
      %s = act.empty_range : tensor<2x64xf32>
      %n, %r = act.update_range %z, %s axis 1 decay 9.000000e-01
          : tensor<8x64xf32>, tensor<2x64xf32>
      %c = act.compressed_save %z range(%r : tensor<2x64xf32>) : ... key "dot#01"
      ...
      return %loss : tensor<f32>
    ```

    becomes

    ```mlir
    func.func @step(%x: tensor<8x64xf32>, %w: tensor<64x64xf32>,
                    %s: tensor<2x64xf32> {act.range = "dot#01"})
        -> (tensor<f32>, tensor<2x64xf32> {act.range = "dot#01"}) {
      ...
      %n, %r = act.update_range %z, %s axis 1 decay 9.000000e-01
          : tensor<8x64xf32>, tensor<2x64xf32>
      %c = act.compressed_save %z range(%r : tensor<2x64xf32>) : ... key "dot#01"
      ...
      return %loss, %n : tensor<f32>, tensor<2x64xf32>
    ```
  }];
  let options = [
    Option<"decay", "decay", "double", "0.9",
           "Part of the ranges that a step keeps, at least 0 and less than 1">
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

def ActMemoryPass : Pass<"act-memory", "ModuleOp"> {
  let summary = "Write a model of the memory that a step needs as JSON";
  let description = [{
    Writes one JSON object about the public function of a module: what XLA for the
    CPU will keep in temporary buffers when it runs it, as `MemoryLiveness` predicts.
    Does not change the IR. It reads StableHLO, with or without act operations; saves
    and loads count as what `convert-act-to-stablehlo` makes of them.

    Keys, sizes in bytes:

    * `function`: its name;
    * `packed`: the heap that all temporaries share, the prediction of
      `temp_size_in_bytes`;
    * `peak`: the most that is alive at once, without gaps between buffers;
    * `lower_bound`: what the saves that are alive together take, or the largest
      buffer if that is more;
    * `positions`, `peak_position`: how many kernels run, and where the peak is;
    * `timeline`: what is alive at each position;
    * `transients`: the part of it that loops need inside;
    * `at_peak`: the buffers that are alive at the peak, largest first, each with
      `bytes`, `begin`, `end`, `kind` (`temporary` or `save`), `operation` and
      `location` of its value.

    Fails on shapes that are not static.
  }];
  let options = [
    Option<"output", "output", "std::string", "\"-\"",
           "File to write, - for the standard output">,
    Option<"unfused", "unfused", "bool", "false",
           "Give every operation as it stands a buffer of its own: an upper bound">
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

def ActSlicePass : InterfacePass<"act-slice", "FunctionOpInterface"> {
  let summary = "Run token-wise regions and linear attention models in parts";
  let description = [{
    Replaces regions of a training step by loops over parts of them, so that what
    they compute exists for one part at a time. It runs before `act-partition`, on the
    whole step, and cuts along the axes that each operation has (`getIterationAxes` of
    `OpModelInterface`): a region is a set of operations such that a part of the
    results of one is all that a part of the next needs, or is summed up.

    * `head`: what touches the logits of a language model, forward and backward, in
      one loop: logits, cross-entropy, its gradient, the products with it. Weight
      gradients are summed up over the parts (in f32 where they are shorter). If the
      gradient depends on a sum over all tokens that is not known before, two loops,
      the second of which computes the logits again.
    * `attention`: what touches the scores of softmax attention, along sequences,
      heads or queries, in two loops: forward, and backward, which computes the scores
      and their softmax again from queries and keys.
    * `layers`: of layers that are wider inside than outside, such as MLP blocks,
      backward in one loop, which computes the first product and the activation
      function again, so that nothing inside of the layer is saved.
    * `sequence`: with `act.linear_attention` in it, all of the model from the tokens to
      the loss of each, cut along the sequence (SLiM Performers, arXiv 2012.11346,
      section 3). A first sweep computes the states of linear attention before each
      part; a second walks the parts from the last to the first, computes forward of a
      part again and then its gradients. With `states=reverse` the first sweep only
      computes the final states, and the second subtracts what each part added
      (section 3.2 there): memory does not grow with the number of parts, but errors
      do, 17 to 530 times in measurements.

    Values keep their bits where parts of an operation compute what the whole does:
    loss values per token are collected and summed up as before. Random masks depend on
    the position of an element alone, so they do not depend on the parts.

    The size of the parts, without `chunk`, is the largest for which what a region has
    alive for a part is below what it reads and returns. Where that does not divide the
    axis the last part is shorter.

    Regions that cannot be cut are left alone with a remark that names the operation.
    With `act.linear_attention` in the step, or `required`, this is an error.

    Example, with `chunk=16`:

    ```mlir
    %logits = "stablehlo.dot_general"(%x, %w) ... -> tensor<64x1000xf32>
    %shift = "stablehlo.exponential"(%logits) ...
    %sum = "stablehlo.reduce"(%shift, %zero) ... -> tensor<64xf32>
    ```

    becomes

    ```mlir
    %r:2 = "stablehlo.while"(%i0, %sum0) ({ ... }, {
    ^bb0(%i: tensor<i32>, %sums: tensor<64xf32>):
      %x1 = "stablehlo.dynamic_slice"(%x, %offset, %c0) ... -> tensor<16x32xf32>
      %logits = "stablehlo.dot_general"(%x1, %w) ... -> tensor<16x1000xf32>
      %shift = "stablehlo.exponential"(%logits) ...
      %sum = "stablehlo.reduce"(%shift, %zero) ... -> tensor<16xf32>
      %next = "stablehlo.dynamic_update_slice"(%sums, %sum, %offset) ...
      "stablehlo.return"(%i1, %next) ...
    }) {act.sliced} ...
    ```
  }];
  let options = [
    Option<"primalResults", "primal-results", "unsigned", "1",
           "Number of leading results that forward computes; the attribute "
           "`act.primal_results` of a function overrides it">,
    Option<"chunk", "chunk", "int64_t", "0",
           "Length of the parts of heads and sequences, 0 to choose one">,
    Option<"head", "head", "bool", "true", "Slice the loss head">,
    Option<"attention", "attention", "bool", "true", "Slice softmax attention">,
    Option<"layers", "layers", "bool", "true",
           "Slice backward of layers that are wider inside than outside">,
    Option<"sequence", "sequence", "bool", "true",
           "Slice models with linear attention along the sequence">,
    Option<"states", "states", "::mlir::act::SliceStates",
           "::mlir::act::SliceStates::Stored",
           "Where states come from against the sequence",
           [{::llvm::cl::values(
             clEnumValN(::mlir::act::SliceStates::Stored, "stored",
                        "a first sweep stores them"),
             clEnumValN(::mlir::act::SliceStates::Reverse, "reverse",
                        "what a part added is subtracted again"))}]>,
    Option<"minBytes", "min-bytes", "int64_t", "1 << 20",
           "Regions whose largest value has fewer bytes are left alone">,
    Option<"required", "required", "bool", "false",
           "Fail if nothing can be sliced">
  ];
  let dependentDialects = ["::mlir::act::ActDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ActSequenceUpdatesPass
    : InterfacePass<"act-sequence-updates", "FunctionOpInterface"> {
  let summary = "Update one parameter after the other";
  let description = [{
    An optimizer inside of the step makes new parameters and moments of gradients.
    Frameworks write that down tensor list by tensor list: all gradients are clipped,
    then all moments computed, then all parameters. XLA then has a copy of every
    gradient alive at once, often wider than the gradient itself, which is the peak
    once activations are gone. This pass finds the elementwise operations from each
    gradient of at least `min-elements` elements to results of the step, and lets an
    `act.barrier` hold each such update back until the one before is done. No value
    changes.

    Example:

    ```mlir
    %p1 = "stablehlo.subtract"(%p, %g) ... // of one parameter
    %r1 = "stablehlo.subtract"(%r, %h) ... // of another
    return %p1, %r1
    ```

    becomes

    ```mlir
    %p1 = "stablehlo.subtract"(%p, %g) ...
    %b:2 = act.barrier %h, %p1 : tensor<512x512xf32>, tensor<512x512xf32>
    %r1 = "stablehlo.subtract"(%r, %b#0) ...
    return %b#1, %r1
    ```
  }];
  let options = [
    Option<"minElements", "min-elements", "int64_t", "1 << 16",
           "Elements of the smallest gradients that are held back">
  ];
  let dependentDialects = ["::mlir::act::ActDialect"];
}

def ActTileRandomPass : InterfacePass<"act-tile-random", "FunctionOpInterface"> {
  let summary = "Compute random masks and bits tile by tile";
  let description = [{
    On the CPU, JAX draws random bits with a `while` over integers of the size of the
    result (threefry). With its counters about ten tensors of 32 bits per element are
    alive at once, for a dropout mask that is 1 bit. This pass moves such a chain of
    operations, from the key to the mask, into a loop that computes a part of the
    mask, about `tile-bytes` of bits, in each iteration. No bit of the result changes.
    Every block is looked at, bodies of loops too. Private functions are left alone;
    inline them first (`act-inline`).

    A chain begins with small values, iotas and splats. It holds at least one `while`
    over integers whose body is elementwise, and elementwise operations, reshapes,
    slices and concatenations of such results. It ends with the integers and
    predicates that something else reads. Floats may only occur on the way to a
    predicate, and only if they do not depend on what XLA fuses: a sum with a product
    in it, which can be one instruction with one rounding, must be exact. Therefore
    `jax.random.uniform` and `jax.random.normal` are tiled up to their bits,
    `jax.random.bernoulli` up to the mask.

    The tiles divide the outermost dimension that allows it. If its length is no
    multiple of theirs, the last tile begins earlier and computes some elements again.
    The loop has the attribute `act.tiled_random`: it is pure, and depends on small
    values only (and on probabilities, if these are a large tensor).

    Left alone, with a remark if large: steps that are partitioned over devices;
    several results of different shapes; more than 2^28 elements; and with
    `jax_threefry_partitionable=False`, which draws both halves of a result together,
    results whose outermost dimension is odd or 2. `rng_bit_generator` cannot be tiled.

    Example, with `%w` of size 64x128 and a body that computes the same on any shape:

    ```mlir
    %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<64x128xui32>
    ...
    %w:2 = "stablehlo.while"(%i, %key) ...
    %mask = "stablehlo.compare"(%w#0, %limits) ... -> tensor<64x128xi1>
    ```

    becomes, with `tile-bytes=4096`,

    ```mlir
    %t:2 = "stablehlo.while"(%zero, %falses) ({
    ^bb0(%n: tensor<i32>, %m: tensor<64x128xi1>):
      %c = "stablehlo.compare"(%n, %eight) ...
      "stablehlo.return"(%c) ...
    }, {
    ^bb0(%n: tensor<i32>, %m: tensor<64x128xi1>):
      %start = "stablehlo.multiply"(%n, %eight) ...
      %i = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8x128xui32>
      %j = "stablehlo.add"(%i, %starts) ...
      ...
      %w:2 = "stablehlo.while"(%j, %key) ...
      %tile = "stablehlo.compare"(%w#0, %limits) ... -> tensor<8x128xi1>
      %m1 = "stablehlo.dynamic_update_slice"(%m, %tile, %start, %zero) ...
      %n1 = "stablehlo.add"(%n, %one) ...
      "stablehlo.return"(%n1, %m1) ...
    }) {act.tiled_random} : ... // %t#1 is %mask
    ```
  }];
  let options = [
    Option<"tileBytes", "tile-bytes", "int64_t", "1 << 18",
           "Bytes that the bits of a tile take, four for each element of the result; "
           "results of less than two tiles are left alone">
  ];
}

def ActDelayRandomPass : InterfacePass<"act-delay-random", "FunctionOpInterface"> {
  let summary = "Compute random masks not before forward gets there";
  let description = [{
    A loop that `act-tile-random` made needs nothing but a key, so XLA runs the loops
    of all layers first, and all masks are alive at the start of the step. After
    `act-partition` and `act-choose-encodings`, this pass lets the counter of each such
    loop pass the last `act.barrier` before it that holds a compressed value other
    than a random mask. The barrier is there anyway and lowers to one in StableHLO, so
    the rest of forward is fused as before.

    Example:

    ```mlir
    %b:2 = act.barrier %x, %save : tensor<64x128xf32>, !save
    %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> ...
    %t:2 = "stablehlo.while"(%zero, %falses) ... {act.tiled_random} ...
    ```

    becomes

    ```mlir
    %zero = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> ...
    %b:3 = act.barrier %x, %save, %zero : tensor<64x128xf32>, !save, tensor<i32>
    %t:2 = "stablehlo.while"(%b#2, %falses) ... {act.tiled_random} ...
    ```
  }];
  let dependentDialects = ["::mlir::act::ActDialect"];
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

def ActRaiseLinearAttentionPass : Pass<"act-raise-linear-attention", "ModuleOp"> {
  let summary = "Turn custom calls of linear attention into operations.";
  let description = [{
    Replaces every `stablehlo.custom_call` of `act_linear_attention`,
    `act_linear_attention_grad` and `act_linear_attention_state`, which is what
    `act.linear_attention` is in a step that JAX lowers, by the operation of that
    name. `convert-act-to-stablehlo` with `linear-attention=call` is the inverse.

    Operands are those of the operation in order, without the destinations whose
    elements are not read: `q, k, v[, decay][, features], S[, z]` for forward, `q, k,
    v[, decay][, features][, o, d], do, S[, z], dS[, dz]` for the gradient and `k, v[,
    decay][, features], S[, z]` for the state. Results are those of the operation.
    The `backend_config` has the keys

    | key | value | in calls of |
    |---|---|---|
    | `feature_map` | string: `identity`, `relu`, `elu_plus_one`, `square`, `exp`, `favor_plus` | all |
    | `normalize` | i1 | all |
    | `chunk` | i64 | all |
    | `decay` | string: `none`, `head`, `token`, `channel` | all |
    | `scale`, `epsilon` | f64 | forward, gradient |
    | `state_policy` | string: `rescan`, `checkpoint`, `reverse` | gradient |
    | `segment` | i64, 0 unless `checkpoint` | gradient |
    | `subtract` | i1 | state |

    and no others. A call that is not as described is an error, and so are shapes
    that are not static.

    Example:

    ```mlir
    %0:2 = "stablehlo.custom_call"(%q, %k, %v, %s) <{api_version = 4 : i32,
        backend_config = {chunk = 0 : i64, decay = "none", epsilon = 0.0 : f64,
                          feature_map = "square", normalize = false, scale = 1.0 : f64},
        call_target_name = "act_linear_attention"}> : ...
    ```

    becomes

    ```mlir
    %o = tensor.empty() : tensor<2x512x8x64xf32>
    %0:2 = act.linear_attention ins(%q, %k, %v : ...) outs(%o, %s : ...)
        {feature_map = #act.square}
    ```
  }];
  let dependentDialects = ["::mlir::act::ActDialect", "::mlir::tensor::TensorDialect"];
}

#endif // ACT_DIALECT_ACT_TRANSFORMS_PASSES_TD
