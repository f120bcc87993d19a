//===- StablehloTableTest.cpp - Tests of StablehloOps.def -----------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::shell;

static const OpRow *findRow(StringRef name) {
  const OpRow *row = llvm::find_if(
      getStablehloOps(), [&](const OpRow &row) { return row.name == name; });
  return row == getStablehloOps().end() ? nullptr : row;
}

/// The operations of StableHLO 1.x in the order of docs/spec.md, and those that
/// the dialect has besides.
static constexpr StringLiteral kSpec[] = {"abs",
                                          "add",
                                          "after_all",
                                          "all_gather",
                                          "all_reduce",
                                          "all_to_all",
                                          "and",
                                          "async_done",
                                          "async_start",
                                          "atan2",
                                          "batch_norm_grad",
                                          "batch_norm_inference",
                                          "batch_norm_training",
                                          "bitcast_convert",
                                          "broadcast_in_dim",
                                          "case",
                                          "cbrt",
                                          "ceil",
                                          "cholesky",
                                          "clamp",
                                          "collective_broadcast",
                                          "collective_permute",
                                          "compare",
                                          "complex",
                                          "composite",
                                          "concatenate",
                                          "constant",
                                          "convert",
                                          "convolution",
                                          "cosine",
                                          "count_leading_zeros",
                                          "custom_call",
                                          "divide",
                                          "dot_general",
                                          "dynamic_broadcast_in_dim",
                                          "dynamic_conv",
                                          "dynamic_gather",
                                          "dynamic_iota",
                                          "dynamic_pad",
                                          "dynamic_reshape",
                                          "dynamic_slice",
                                          "dynamic_update_slice",
                                          "exponential",
                                          "exponential_minus_one",
                                          "fft",
                                          "floor",
                                          "gather",
                                          "get_dimension_size",
                                          "get_tuple_element",
                                          "if",
                                          "imag",
                                          "infeed",
                                          "iota",
                                          "is_finite",
                                          "log",
                                          "log_plus_one",
                                          "logistic",
                                          "map",
                                          "maximum",
                                          "minimum",
                                          "multiply",
                                          "negate",
                                          "not",
                                          "optimization_barrier",
                                          "or",
                                          "outfeed",
                                          "pad",
                                          "partition_id",
                                          "popcnt",
                                          "power",
                                          "real",
                                          "recv",
                                          "reduce",
                                          "reduce_precision",
                                          "reduce_scatter",
                                          "reduce_window",
                                          "remainder",
                                          "replica_id",
                                          "reshape",
                                          "reverse",
                                          "rng",
                                          "rng_bit_generator",
                                          "round_nearest_afz",
                                          "round_nearest_even",
                                          "rsqrt",
                                          "scatter",
                                          "select",
                                          "select_and_scatter",
                                          "send",
                                          "shift_left",
                                          "shift_right_arithmetic",
                                          "shift_right_logical",
                                          "sign",
                                          "sine",
                                          "slice",
                                          "sort",
                                          "sqrt",
                                          "subtract",
                                          "tan",
                                          "tanh",
                                          "transpose",
                                          "triangular_solve",
                                          "tuple",
                                          "uniform_dequantize",
                                          "uniform_quantize",
                                          "while",
                                          "xor",
                                          "broadcast",
                                          "collective_reduce",
                                          "create_token",
                                          "dot",
                                          "einsum",
                                          "real_dynamic_slice",
                                          "return",
                                          "set_dimension_size",
                                          "torch_index_select",
                                          "unary_einsum"};

TEST(StablehloTableTest, CoversTheSpecification) {
  for (StringRef name : kSpec)
    EXPECT_TRUE(findRow(name)) << name.str();
  EXPECT_EQ(getStablehloOps().size(), std::size(kSpec));
}

TEST(StablehloTableTest, NamesAreUnique) {
  for (ArrayRef<OpRow> rows : {getStablehloOps(), getChloOps(), getSdyOps()}) {
    llvm::StringSet<> names;
    for (const OpRow &row : rows)
      EXPECT_TRUE(names.insert(row.name).second) << row.name.str();
  }
}

TEST(StablehloTableTest, EveryOperationIsRegistered) {
  DialectRegistry registry;
  registerStandInDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto check = [&](StringRef dialect, ArrayRef<OpRow> rows) {
    for (const OpRow &row : rows) {
      OperationName name((dialect + "." + row.name).str(), &context);
      EXPECT_TRUE(name.isRegistered()) << row.name.str();
      EXPECT_EQ(name.hasTrait<OpTrait::IsTerminator>(), row.name == "return");
      EXPECT_EQ(name.hasTrait<OpTrait::HasRecursiveMemoryEffects>(),
                row.effects == OpEffects::Regions);
      EXPECT_EQ(name.hasInterface<MemoryEffectOpInterface>(),
                row.effects == OpEffects::Pure ||
                    row.effects == OpEffects::Attributes);
      EXPECT_EQ(name.hasInterface<ConditionallySpeculatable>(),
                row.effects == OpEffects::Pure);
    }
  };
  check("stablehlo", getStablehloOps());
  check("chlo", getChloOps());
  check("sdy", getSdyOps());
}

/// Nothing that has effects, communicates or draws hidden random numbers may be
/// computed again.
TEST(StablehloTableTest, NothingWithEffectsIsCheap) {
  for (ArrayRef<OpRow> rows : {getStablehloOps(), getChloOps(), getSdyOps()})
    for (const OpRow &row : rows)
      if (row.effects == OpEffects::Unknown ||
          row.effects == OpEffects::Attributes) {
        EXPECT_FALSE(isCheapKind(row.kind)) << row.name.str();
      }
}

TEST(StablehloTableTest, Kinds) {
  for (const char *name : {"dot", "dot_general", "convolution", "einsum"})
    EXPECT_EQ(findRow(name)->kind, OpKind::Contraction) << name;
  for (const char *name : {"reshape", "transpose", "reverse"})
    EXPECT_EQ(findRow(name)->kind, OpKind::View) << name;
  for (const char *name : {"while", "if", "case"})
    EXPECT_EQ(findRow(name)->kind, OpKind::Control) << name;
  for (const char *name : {"all_reduce", "custom_call", "send", "composite"})
    EXPECT_EQ(findRow(name)->kind, OpKind::Opaque) << name;
  for (const char *name : {"floor", "ceil", "round_nearest_even",
                           "select_and_scatter", "sort", "is_finite"})
    EXPECT_TRUE(findRow(name)->has(OpFlags::Jumps)) << name;
  for (const char *name : {"exponential", "logistic", "tanh", "compare"})
    EXPECT_TRUE(findRow(name)->has(OpFlags::Squashes)) << name;
  for (const char *name : {"add", "maximum", "log", "clamp", "select"})
    EXPECT_FALSE(findRow(name)->has(OpFlags::Squashes)) << name;
}
