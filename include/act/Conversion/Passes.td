//===- Passes.td - Conversions from and to the act dialect -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_PASSES_TD
#define ACT_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertActToStablehloPass : Pass<"convert-act-to-stablehlo", "ModuleOp"> {
  let summary = "Lower saves, loads and barriers to StableHLO.";
  let description = [{
    Replaces every compressed value by the tensors that store it. A save and a
    load become calls of private functions, one per tensor type and encoding; a
    barrier becomes `stablehlo.optimization_barrier` over its distinct tensors and
    vanishes if there is only one, as it happens to a value and its raw save.
    Nothing of act is left. The result, printed in generic form, parses wherever
    StableHLO does.

    With `codecs=ops` saves and loads become `act.encode` and `act.decode` on the
    tensors that store the values, with `tensor.empty` as destinations, for targets
    that have kernels for them. All else is as without, and the codes are the same.

    Stochastic rounding draws its noise from a hash of a salt, the element's index
    and the element's bits. The salt is a constant made from the `id` of the save
    and `seed`.

    Before:

    ```mlir
    func.func @step(%x: tensor<8x64xf32>, %g: tensor<8x64xf32>) -> tensor<8x64xf32> {
      %c = act.compressed_save %x {id = 3 : i64} : tensor<8x64xf32>
          to !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>
      %c1, %g1 = act.barrier %c, %g
          : !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>,
            tensor<8x64xf32>
      %x1 = act.dequantize_load %c1
          : !act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64>>
          to tensor<8x64xf32>
      return %x1 : tensor<8x64xf32>
    }
    ```

    After:

    ```mlir
    func.func @step(%x: tensor<8x64xf32>, %g: tensor<8x64xf32>) -> tensor<8x64xf32> {
      %salt = "stablehlo.constant"() <{value = dense<4169906344> : tensor<ui32>}>
          : () -> tensor<ui32>
      %c:3 = call @act_save_group_quant4_8x64xf32(%x, %salt)
          : (tensor<8x64xf32>, tensor<ui32>)
          -> (tensor<8x1x32xui8>, tensor<8x1x1xbf16>, tensor<8x1x1xbf16>)
      %c1:4 = "stablehlo.optimization_barrier"(%c#0, %c#1, %c#2, %g) : ...
      %x1 = call @act_load_group_quant4_8x64xf32(%c1#0, %c1#1, %c1#2) : ...
      return %x1 : tensor<8x64xf32>
    }
    func.func private @act_save_group_quant4_8x64xf32(...)
    func.func private @act_load_group_quant4_8x64xf32(...)
    ```

    Operations on linear attention become, with `linear-attention=loop`, calls of
    private functions, one per operation, attributes and types, that go through the
    sequence in chunks: `stablehlo.while` loops that cut each chunk out of the
    tensors and write results in place. Memory beside operands and results does not
    grow with the sequence, but for 4 bytes per chunk and head with `#act.favor_plus`
    and with a decay per head. Products are summed in the type of the states. With
    `linear-attention=call` they become the custom calls that
    `act-raise-linear-attention` reads. Shapes have to be static.

    Compressed values live inside one function: as arguments or results of
    functions, as block arguments and as operands of operations of other dialects
    they are an error, and so is an encoding that has no StableHLO lowering.
  }];
  let options = [
    Option<"seed", "seed", "uint64_t", "0",
           "Mixed into the noise of stochastic rounding">,
    Option<"linearAttention", "linear-attention",
           "::mlir::act::LinearAttentionForm",
           "::mlir::act::LinearAttentionForm::Loop",
           "What operations on linear attention become",
           [{::llvm::cl::values(
               clEnumValN(::mlir::act::LinearAttentionForm::Loop, "loop",
                          "loops over chunks, for every target"),
               clEnumValN(::mlir::act::LinearAttentionForm::Call, "call",
                          "custom calls of act's kernels for the CPU"))}]>,
    Option<"codecs", "codecs", "::mlir::act::CodecForm",
           "::mlir::act::CodecForm::Functions",
           "What saves and loads become",
           [{::llvm::cl::values(
               clEnumValN(::mlir::act::CodecForm::Functions, "functions",
                          "calls of functions in StableHLO, for every target"),
               clEnumValN(::mlir::act::CodecForm::Ops, "ops",
                          "act.encode and act.decode"))}]>
  ];
}

def ConvertLinearAttentionToVectorPass
    : Pass<"convert-linear-attention-to-vector", "ModuleOp"> {
  let summary = "Lower linear attention on buffers to loops over vectors.";
  let description = [{
    Replaces `act.linear_attention`, `act.linear_attention_grad` and
    `act.linear_attention_state` on memrefs by a parallel loop over sequences and
    heads that calls kernels, private functions which this pass adds. A kernel
    walks over chunks of tokens with one state in a workspace; products are tiles
    of vectors in registers, over copies of the chunk's rows to which feature
    maps have been applied. Nothing is specialised to the number of tokens or to
    strides. The gradient is two kernels: one that walks forwards for queries,
    one that walks backwards for keys and values.

    Before:

    ```mlir
    act.linear_attention_state
        ins(%k, %v : memref<2x?x4x64xf32>, memref<2x?x4x64xf32>)
        outs(%s : memref<2x4x64x64xf32>) {feature_map = #act.square}
    ```

    After:

    ```mlir
    scf.forall (%b, %h) in (2, 4) {
      %k1 = memref.subview %k[%b, 0, %h, 0] ...
      %v1 = memref.subview %v[%b, 0, %h, 0] ...
      %s1 = memref.subview %s[%b, %h, 0, 0] ...
      %workspace = memref.alloc() {alignment = 64 : i64} : memref<30208xi8>
      func.call @act_linear_attention_state(%k1, %v1, %s1, %s1, %workspace)
      memref.dealloc %workspace : memref<30208xi8>
    }
    ```

    It is an error if an operation is on tensors, has numbers of features or values
    that are dynamic or above 1024, f64 rows, rows with gaps, a feature map with
    parameters, decay per channel, fewer heads of queries, keys or values than
    states, or is a gradient with `decay` or from the state after the last token.
  }];
  let options = [
    Option<"vectorBits", "vector-bits", "int64_t", "256",
           "Bits of a vector register: a power of two, at least 128">,
    Option<"vectorRegisters", "vector-registers", "int64_t", "16",
           "Number of vector registers, at least 8">
  ];
}

def ExpandVectorExpPass : Pass<"act-expand-vector-exp"> {
  let summary = "Expand exponentials of f32 to polynomials.";
  let description = [{
    `math.exp` of f32 or a vector of it becomes a polynomial of degree 7 after reduction
    by multiples of ln(2), as in the Cephes library. The error is below two units
    in the last place; results that are too small for normal numbers are denormal
    or 0, those that are too large infinity, and NaN is kept. Other exponentials
    are left alone.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::math::MathDialect"];
}

def ConvertStablehloToLinalgPass
    : Pass<"convert-stablehlo-to-linalg", "ModuleOp"> {
  let summary = "Lower StableHLO to linalg, tensor and scf operations.";
  let description = [{
    Replaces the operations of StableHLO, CHLO and Shardy in all functions. The
    result is on tensors of signless integers and floats; whether integers are
    unsigned is in the operations (`arith.divui`, `arith.cmpi ult`), and arguments
    and results of functions keep an element type that was not signless in the
    attribute `act.element_type`. Calls stay; `act-inline` removes them before.

    Before:

    ```mlir
    func.func @step(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %i: tensor<ui32>)
        -> tensor<4x2xf32> {
      %y = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers =
          #stablehlo.dot<lhs_contracting_dimensions = [1],
                         rhs_contracting_dimensions = [0]>}> : ...
      %z = "stablehlo.tanh"(%y) : (tensor<4x2xf32>) -> tensor<4x2xf32>
      return %z : tensor<4x2xf32>
    }
    ```

    After:

    ```mlir
    func.func @step(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>,
                    %i: tensor<i32> {act.element_type = ui32})
        -> tensor<4x2xf32> {
      %zero = arith.constant 0.0 : f32
      %0 = tensor.empty() : tensor<4x2xf32>
      %1 = linalg.fill ins(%zero) outs(%0) -> tensor<4x2xf32>
      %y = linalg.generic {..., iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w) outs(%1) { arith.mulf, arith.addf }
      %2 = tensor.empty() : tensor<4x2xf32>
      %z = linalg.generic {...} ins(%y) outs(%2) { math.tanh }
      return %z : tensor<4x2xf32>
    }
    ```

    What operations become:

    * Elementwise operations, broadcasts, transposes, iotas, reversals and gathers
      are `linalg.generic`; splat constants are constants in bodies. Contractions
      are one `linalg.generic` whose body multiplies and adds, in f32 for narrower
      floats, as sums of reductions are. Windows are `linalg.generic` too, with a
      further operand for their sizes.
    * Slices, padding and concatenations are slices of tensors; reshapes collapse
      and expand.
    * A `while` with a constant number of iterations is `scf.for`, unrolled if it
      has at most 8 cheap ones; others are `scf.while`, `if` and `case` are `scf.if`
      or `scf.index_switch`. Rank-0 integers, which count and point, pass regions
      and are computed as plain integers.
    * A scatter is a loop over blocks, or `linalg.generic` if each batch element
      has one block. Blocks that are not inside the operand are left out, as XLA
      does; StableHLO leaves out single elements.
    * A sort merges runs of each row, in loops over elements.
    * `optimization_barrier` is `act.barrier`. Annotations of shardings vanish.

    Numbers are those of XLA on CPUs: quotients by 0 have all bits set, floats
    that no integer can hold become the nearest one, shifts by the width or more
    move all bits out. Narrow floats are rounded after every operation.

    It is an error if a shape is not static, an element is not an integer or float,
    attributes do not fit types, or an operation has no lowering: `fft`,
    `rng_bit_generator`, complex numbers, custom calls except of shardings,
    collective operations.
  }];
  let dependentDialects = [
    "::mlir::act::ActDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
}

#endif // ACT_CONVERSION_PASSES_TD
