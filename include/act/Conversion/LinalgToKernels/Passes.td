//===- Passes.td - From tensors to kernels -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_LINALGTOKERNELS_PASSES_TD
#define ACT_CONVERSION_LINALGTOKERNELS_PASSES_TD

include "mlir/Pass/PassBase.td"

def ActNormalizePass : Pass<"act-normalize"> {
  let summary = "Bring structured operations into one form.";
  let description = [{
    Makes named structured operations generic, removes dimensions of extent 1,
    replaces `0 + x` by `x`, and lets a sum of products whose only use permutes it
    write the permuted result.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ActFusePass : Pass<"act-fuse"> {
  let summary = "Fuse elementwise operations into what reads them.";
  let description = [{
    Merges an elementwise `linalg.generic` into its users. A producer with several
    users is computed by each of them only if that costs less than reading its
    result: at most 12 operations, no division and no function, and at most one
    large operand that the user does not read anyway. Nothing is fused where it
    would be computed more often than it has elements, and into a sum of products
    only permutations are.
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ActSchedulePass : Pass<"act-schedule"> {
  let summary = "Order operations so that less is alive.";
  let description = [{
    Orders the operations of each block without effects: an operation that frees
    more memory than it takes comes as soon as its operands exist, such as the
    update of a parameter. One whose result is larger than what has to stay alive
    for it, such as decoding a saved value, waits until the result is needed. All
    others keep their order.
  }];
}

def ActPrepareDestinationsPass : Pass<"act-prepare-destinations"> {
  let summary = "Choose destinations so that nothing is copied.";
  let description = [{
    Gives each operation in destination-passing style an empty or filled tensor of
    its own. An elementwise operation writes to an input of its type that nothing
    reads afterwards. What an iteration of a loop yields is written to where the
    next one reads it. Parts of a concatenation are inserted in the order in which
    they are computed. Arguments of functions are marked as not writable.
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

def ActFormKernelsPass : Pass<"act-form-kernels"> {
  let summary = "Group structured operations on buffers into kernels.";
  let description = [{
    Wraps structured operations on buffers into `act.kernel`. Operations that share
    leading parallel loops, and whose data crosses from one to another only within
    a row, become one `row_program`: a softmax or a LayerNorm reads its operands
    from memory once. A buffer that only one row program uses becomes private to a
    row if `private-bytes` allow.

    A reduction that also writes a result in each iteration becomes two operations.
    A large reduction with few results is split into slabs, whose partial results a
    second reduction adds. How, depends on shapes alone, so that results do not
    depend on the number of threads.
  }];
  let options = [
    Option<"privateBytes", "private-bytes", "int64_t", "32768",
           "Most bytes of private buffers of a row">
  ];
  let dependentDialects = ["::mlir::act::ActDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ActPlanMemoryPass : Pass<"act-plan-memory", "::mlir::ModuleOp"> {
  let summary = "Place all buffers of a step in one arena.";
  let description = [{
    Replaces every `memref.alloc` of the public function by a view of one argument
    of bytes, the arena, at an offset chosen here, and every result by an argument
    that is written to. Buffers that are alive at the same time do not overlap;
    loops and branches count as their whole extent for what crosses them. The
    attribute `act.step` of the module states the bytes of the arena and the least
    possible, the most that is alive at once; a remark does so, too.

    Signature: arguments stay, then come one argument of bytes per result, then the
    arena.
  }];
  let options = [
    Option<"alignment", "alignment", "int64_t", "64",
           "Alignment of offsets in bytes">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect"];
}

#endif // ACT_CONVERSION_LINALGTOKERNELS_PASSES_TD
