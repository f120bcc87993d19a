//===- IterationAxesTest.cpp - Tests of the axes of operations ------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/StablehloShell/StablehloBuilder.h"
#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mlir::act;

namespace {
class IterationAxesTest : public testing::Test {
protected:
  IterationAxesTest() {
    context.loadDialect<func::FuncDialect, shell::StablehloShellDialect,
                        shell::ChloShellDialect>();
  }

  /// Parses a function whose operation `op` is the last one before its return.
  Operation *parse(StringRef parameters, StringRef op) {
    std::string text =
        ("func.func @f(" + parameters + ") {\n" + op + "\nreturn\n}").str();
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return nullptr;
    func::FuncOp function = *module->getOps<func::FuncOp>().begin();
    return function.front().getTerminator()->getPrevNode();
  }

  /// The axes of the last operation, each as `operand dims > result dims`, with
  /// `sum` before a reduction, and `into N` behind one with an accumulator.
  /// Builds a part of each.
  std::string getAxes(StringRef parameters, StringRef text) {
    Operation *op = parse(parameters, text);
    if (!op)
      return "not parsed";
    std::string axes;
    llvm::raw_string_ostream os(axes);
    for (const IterationAxis &axis : getIterationAxes(op)) {
      os << (axes.empty() ? "" : ", ");
      if (axis.kind == AxisKind::Reduction)
        os << "sum ";
      auto print = [&](int64_t dim) {
        dim < 0 ? void(os << "-") : void(os << dim);
      };
      llvm::interleave(axis.operandDims, os, print, " ");
      os << (axis.operandDims.empty() ? "> " : " > ");
      llvm::interleave(axis.resultDims, os, print, " ");
      if (axis.accumulator >= 0)
        os << " into " << axis.accumulator;
      checkPart(op, axis);
    }
    return axes;
  }

  /// `type` with `length` elements along `dim`, if that is a dimension.
  static Type getPartType(Type type, int64_t dim, int64_t length) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    if (dim >= 0)
      shape[dim] = length;
    return tensor.clone(shape);
  }

  /// Builds a part of one iteration, from `offset` on, and checks its types.
  Operation *checkPart(Operation *op, const IterationAxis &axis) {
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    StablehloBuilder b(builder, op->getLoc());
    SmallVector<Value> operands;
    for (auto [operand, dim] :
         llvm::zip_equal(op->getOperands(), axis.operandDims))
      operands.push_back(
          b.create("custom_call", getPartType(operand.getType(), dim, 1), {})
              ->getResult(0));
    Value offset = b.scalar(builder.getI32Type(), 1);
    Operation *part = buildPart(op, builder, operands, axis, 1, offset);
    EXPECT_EQ(part->getNumResults(), op->getNumResults());
    for (auto [result, partResult, dim] :
         llvm::zip_equal(op->getResults(), part->getResults(), axis.resultDims))
      EXPECT_EQ(partResult.getType(), getPartType(result.getType(), dim, 1));
    EXPECT_TRUE(succeeded(verify(*module)));
    last = part;
    return part;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Operation *last = nullptr; ///< the part built last
};
} // namespace

//===----------------------------------------------------------------------===//
// Elementwise operations and constants
//===----------------------------------------------------------------------===//

TEST_F(IterationAxesTest, Elementwise) {
  EXPECT_EQ(getAxes("%x: tensor<4x1x8xf32>, %y: tensor<4x1x8xf32>",
                    R"("stablehlo.add"(%x, %y) : (tensor<4x1x8xf32>,
                       tensor<4x1x8xf32>) -> tensor<4x1x8xf32>)"),
            "0 0 > 0, 2 2 > 2")
      << "one iteration is no axis";
  EXPECT_EQ(getAxes("%x: tensor<f32>",
                    R"("stablehlo.negate"(%x) : (tensor<f32>) ->
                       tensor<f32>)"),
            "");
  EXPECT_EQ(getAxes("%p: tensor<i1>, %x: tensor<4x8xf32>, %y: tensor<4x8xf32>",
                    R"("stablehlo.select"(%p, %x, %y) : (tensor<i1>,
                       tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>)"),
            "- 0 0 > 0, - 1 1 > 1");
  EXPECT_EQ(getAxes("%x: tensor<4xf32>, %low: tensor<f32>",
                    R"("stablehlo.clamp"(%low, %x, %low) : (tensor<f32>,
                       tensor<4xf32>, tensor<f32>) -> tensor<4xf32>)"),
            "- 0 - > 0");
  EXPECT_EQ(getAxes("%x: tensor<4x8xf32>", R"("stablehlo.bitcast_convert"(%x) :
                       (tensor<4x8xf32>) -> tensor<4x8x4xi8>)"),
            "")
      << "other elements";
  EXPECT_EQ(getAxes("%x: tensor<4xf32>", R"("stablehlo.map"(%x) <{
                       dimensions = array<i64: 0>}> ({
                     ^bb0(%a: tensor<f32>):
                       "stablehlo.return"(%a) : (tensor<f32>) -> ()
                     }) : (tensor<4xf32>) -> tensor<4xf32>)"),
            "")
      << "a region may do anything";
  EXPECT_EQ(getAxes("%x: tensor<?x8xf32>", R"("stablehlo.negate"(%x) :
                       (tensor<?x8xf32>) -> tensor<?x8xf32>)"),
            "")
      << "unknown length";
}

TEST_F(IterationAxesTest, Composite) {
  EXPECT_EQ(getAxes("%x: tensor<4x8xf32>", R"("stablehlo.composite"(%x) <{
                       composite_attributes = {}, decomposition = @erf,
                       name = "chlo.erf"}> :
                       (tensor<4x8xf32>) -> tensor<4x8xf32>)"),
            "0 > 0, 1 > 1");
  EXPECT_EQ(last->getName().getStringRef(), "chlo.erf");
  EXPECT_EQ(getAxes("%x: tensor<4xf32>", R"("stablehlo.composite"(%x) <{
                       composite_attributes = {}, decomposition = @f,
                       name = "mine.f"}> : (tensor<4xf32>) -> tensor<4xf32>)"),
            "");
  EXPECT_EQ(getAxes("%x: tensor<4x8xf32>", R"("chlo.erf"(%x) :
                       (tensor<4x8xf32>) -> tensor<4x8xf32>)"),
            "0 > 0, 1 > 1");
}

TEST_F(IterationAxesTest, Constants) {
  EXPECT_EQ(getAxes("", R"("stablehlo.constant"() <{
                       value = dense<2.0> : tensor<4x8xf32>}> : () ->
                       tensor<4x8xf32>)"),
            "> 0, > 1");
  EXPECT_EQ(getAxes("", R"("stablehlo.constant"() <{
                       value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () ->
                       tensor<2xf32>)"),
            "");
}

TEST_F(IterationAxesTest, Iota) {
  StringRef text = R"("stablehlo.iota"() <{iota_dimension = 1 : i64}> :
                      () -> tensor<4x8xTYPE>)";
  auto getPart = [&](StringRef type, unsigned axis) {
    std::string op = text.str();
    op.replace(op.find("TYPE"), 4, type);
    Operation *iota = parse("", op);
    return checkPart(iota, getIterationAxes(iota)[axis]);
  };
  EXPECT_EQ(getPart("i32", 0)->getName().getStringRef(), "stablehlo.iota")
      << "across the numbers: the same in each part";
  Operation *sum = getPart("i32", 1);
  ASSERT_EQ(sum->getName().getStringRef(), "stablehlo.add");
  EXPECT_EQ(sum->getOperand(0).getDefiningOp()->getName().getStringRef(),
            "stablehlo.iota");
  EXPECT_EQ(sum->getOperand(1).getDefiningOp()->getName().getStringRef(),
            "stablehlo.broadcast_in_dim");
  // 256 + 1 is no number of 8 bits: they are added up as integers.
  for (StringRef type : {"bf16", "f32"}) {
    Operation *convert = getPart(type, 1);
    ASSERT_EQ(convert->getName().getStringRef(), "stablehlo.convert")
        << type.str();
    Value integer = convert->getOperand(0);
    EXPECT_TRUE(getElementTypeOrSelf(integer.getType()).isInteger(32));
    EXPECT_EQ(integer.getDefiningOp()->getName().getStringRef(),
              "stablehlo.add");
  }
}

TEST_F(IterationAxesTest, Barrier) {
  EXPECT_EQ(getAxes("%x: tensor<4x8xf32>, %y: tensor<4xf32>, %z: tensor<f32>",
                    R"("stablehlo.optimization_barrier"(%x, %y, %z) :
                       (tensor<4x8xf32>, tensor<4xf32>, tensor<f32>) ->
                       (tensor<4x8xf32>, tensor<4xf32>, tensor<f32>))"),
            "0 - - > 0 - -, 1 - - > 1 - -, - 0 - > - 0 -")
      << "each value has its own";
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

TEST_F(IterationAxesTest, BroadcastInDim) {
  auto get = [&](StringRef from, StringRef dims, StringRef to) {
    return getAxes(("%x: tensor<" + from + "xf32>").str(),
                   ("\"stablehlo.broadcast_in_dim\"(%x) <{broadcast_dimensions "
                    "= array<i64" +
                    dims + ">}> : (tensor<" + from + "xf32>) -> tensor<" + to +
                    "xf32>")
                       .str());
  };
  EXPECT_EQ(get("4x8", ": 2, 0", "8x3x4"), "1 > 0, - > 1, 0 > 2");
  EXPECT_EQ(get("1x8", ": 0, 1", "4x8"), "- > 0, 1 > 1");
  EXPECT_EQ(get("4x8", ": 0", "4x8"), "") << "one number per dimension";
  EXPECT_EQ(get("4", ": 2", "4x8"), "") << "no dimension";
  EXPECT_EQ(get("4", ": -1", "4x8"), "") << "no dimension";
  EXPECT_EQ(get("3", ": 0", "4x8"), "- > 1") << "other length";
}

TEST_F(IterationAxesTest, Reshape) {
  auto get = [&](StringRef from, StringRef to) {
    return getAxes(("%x: tensor<" + from + "xf32>").str(),
                   ("\"stablehlo.reshape\"(%x) : (tensor<" + from +
                    "xf32>) -> tensor<" + to + "xf32>")
                       .str());
  };
  EXPECT_EQ(get("4x8", "4x2x4"), "0 > 0");
  EXPECT_EQ(get("4x2x4", "4x8"), "0 > 0");
  EXPECT_EQ(get("2x4x8", "8x8"), "2 > 1");
  EXPECT_EQ(get("4x8", "1x4x1x8x1"), "0 > 1, 1 > 3");
  EXPECT_EQ(get("4x8", "8x4"), "") << "other elements in each part";
  EXPECT_EQ(get("4x4", "2x2x4"), "1 > 2");
  EXPECT_EQ(get("32", "4x8"), "");
}

TEST_F(IterationAxesTest, Transpose) {
  auto get = [&](StringRef permutation) {
    return getAxes("%x: tensor<4x1x8xf32>",
                   ("\"stablehlo.transpose\"(%x) <{permutation = array<i64: " +
                    permutation +
                    ">}> : (tensor<4x1x8xf32>) -> tensor<8x4x1xf32>")
                       .str());
  };
  EXPECT_EQ(get("2, 0, 1"), "2 > 0, 0 > 1");
  EXPECT_EQ(get("0, 1, 2"), "") << "other lengths";
  EXPECT_EQ(get("2, 0, 7"), "") << "no permutation";
  EXPECT_EQ(get("-1, 0, 1"), "") << "no permutation";
  EXPECT_EQ(get("2, 0, 1, 0"), "") << "no permutation";
}

TEST_F(IterationAxesTest, Slice) {
  auto get = [&](StringRef starts, StringRef limits, StringRef strides) {
    return getAxes("%x: tensor<4x8xf32>",
                   ("\"stablehlo.slice\"(%x) <{start_indices = array<i64: " +
                    starts + ">, limit_indices = array<i64: " + limits +
                    ">, strides = array<i64: " + strides +
                    ">}> : (tensor<4x8xf32>) -> tensor<4x4xf32>")
                       .str());
  };
  EXPECT_EQ(get("0, 0", "4, 4", "1, 1"), "0 > 0");
  EXPECT_EQ(
      last->getAttrOfType<DenseI64ArrayAttr>("limit_indices").asArrayRef(),
      ArrayRef<int64_t>({1, 4}));
  EXPECT_EQ(get("0, 0", "4, 8", "1, 2"), "0 > 0");
  EXPECT_EQ(get("0, 4", "4, 8", "1, 1"), "0 > 0");
  EXPECT_EQ(get("0", "4, 8", "1, 1"), "") << "one start per dimension";
}

TEST_F(IterationAxesTest, Pad) {
  auto get = [&](StringRef low, StringRef high, StringRef interior) {
    return getAxes("%x: tensor<4x3xf32>, %v: tensor<f32>",
                   ("\"stablehlo.pad\"(%x, %v) <{edge_padding_low = array<i64"
                    ": " +
                    low + ">, edge_padding_high = array<i64: " + high +
                    ">, interior_padding = array<i64: " + interior +
                    ">}> : (tensor<4x3xf32>, tensor<f32>) -> tensor<4x5xf32>")
                       .str());
  };
  EXPECT_EQ(get("0, 1", "0, 1", "0, 0"), "0 - > 0");
  EXPECT_EQ(get("0, 0", "0, 0", "0, 1"), "0 - > 0");
  EXPECT_EQ(get("0, 1", "0, 1", "1, 0"), "") << "holes between elements";
  EXPECT_EQ(get("0", "0", "0"), "0 - > 0") << "what is missing is no zero";
}

TEST_F(IterationAxesTest, Concatenate) {
  auto get = [&](StringRef dimension) {
    return getAxes(
        "%x: tensor<4x3xf32>, %y: tensor<4x5xf32>",
        ("\"stablehlo.concatenate\"(%x, %y) <{dimension = " + dimension +
         " : i64}> : (tensor<4x3xf32>, tensor<4x5xf32>) -> "
         "tensor<4x8xf32>")
            .str());
  };
  EXPECT_EQ(get("1"), "0 0 > 0");
  EXPECT_EQ(get("0"), "") << "lengths differ along the other dimension";
}

TEST_F(IterationAxesTest, Reverse) {
  EXPECT_EQ(getAxes("%x: tensor<4x8xf32>",
                    R"("stablehlo.reverse"(%x) <{dimensions = array<i64: 0>}> :
                       (tensor<4x8xf32>) -> tensor<4x8xf32>)"),
            "1 > 1");
}

TEST_F(IterationAxesTest, DynamicSlice) {
  auto get = [&](StringRef sizes, StringRef start = "") {
    return getAxes(
        ("%x: tensor<4x8xf32>, %i: tensor<" + start + "i32>").str(),
        ("\"stablehlo.dynamic_slice\"(%x, %i, %i) <{slice_sizes = array<i64: " +
         sizes + ">}> : (tensor<4x8xf32>, tensor<" + start + "i32>, tensor<" +
         start + "i32>) -> tensor<4x2xf32>")
            .str());
  };
  EXPECT_EQ(get("4, 2"), "0 - - > 0");
  EXPECT_EQ(last->getAttrOfType<DenseI64ArrayAttr>("slice_sizes").asArrayRef(),
            ArrayRef<int64_t>({1, 2}));
  EXPECT_EQ(get("4"), "") << "one size per dimension";
  EXPECT_EQ(get("4, 2", "1x"), "") << "starts are scalars";
}

TEST_F(IterationAxesTest, DynamicUpdateSlice) {
  auto get = [&](StringRef update) {
    return getAxes(
        ("%x: tensor<4x8xf32>, %u: tensor<" + update + "xf32>, %i: tensor<i32>")
            .str(),
        ("\"stablehlo.dynamic_update_slice\"(%x, %u, %i, %i) : "
         "(tensor<4x8xf32>, tensor<" +
         update + "xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>")
            .str());
  };
  EXPECT_EQ(get("4x2"), "0 0 - - > 0");
  EXPECT_EQ(get("1x8"), "1 1 - - > 1");
  EXPECT_EQ(get("4"), "") << "of another rank";
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {
/// A sum over `dimensions`, or what `combiner` makes of it.
std::string getReduce(StringRef dimensions, StringRef init = "0.0",
                      StringRef combiner = "add",
                      StringRef result = "tensor<4xf32>",
                      StringRef operands = "%a, %b") {
  return ("%i = \"stablehlo.constant\"() <{value = dense<" + init +
          "> : tensor<f32>}> : () -> tensor<f32>\n"
          "\"stablehlo.reduce\"(%x, %i) <{dimensions = array<i64" +
          dimensions +
          ">}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
          "%c = \"stablehlo." +
          combiner + "\"(" + operands +
          ") : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
          "\"stablehlo.return\"(%c) : (tensor<f32>) -> ()\n"
          "}) : (tensor<4x8xf32>, tensor<f32>) -> " +
          result)
      .str();
}
} // namespace

TEST_F(IterationAxesTest, Reduce) {
  StringRef x = "%x: tensor<4x8xf32>";
  EXPECT_EQ(getAxes(x, getReduce(": 1")), "0 - > 0, sum 1 - > -");
  EXPECT_EQ(getAxes(x, getReduce(": 1", "-0.0")), "0 - > 0, sum 1 - > -");
  EXPECT_EQ(getAxes(x, getReduce(": 1", "1.0")), "0 - > 0")
      << "each part would add 1";
  EXPECT_EQ(getAxes(x, getReduce(": 1", "0.0", "maximum")), "0 - > 0");
  EXPECT_EQ(
      getAxes(x, getReduce(": 1", "0.0", "add", "tensor<4xf32>", "%a, %a")),
      "0 - > 0")
      << "no sum";
  EXPECT_EQ(getAxes(x, getReduce(": 0, 1", "0.0", "add", "tensor<f32>")),
            "sum 0 - > -, sum 1 - > -");
  EXPECT_EQ(getAxes(x, getReduce("", "0.0", "add", "tensor<4x8xf32>")),
            "0 - > 0, 1 - > 1");
  EXPECT_EQ(getAxes(x, getReduce(": 7")), "0 - > 0") << "no dimension";
}

TEST_F(IterationAxesTest, ReduceOfTwo) {
  EXPECT_EQ(
      getAxes("%x: tensor<4x8xf32>, %k: tensor<4x8xi32>, %i: tensor<f32>, %j: "
              "tensor<i32>",
              R"("stablehlo.reduce"(%x, %k, %i, %j) <{
                   dimensions = array<i64: 0>}> ({
                 ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>,
                      %d: tensor<i32>):
                   "stablehlo.return"(%a, %b) :
                     (tensor<f32>, tensor<i32>) -> ()
                 }) : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>,
                       tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>))"),
      "1 1 - - > 0 0");
}

TEST_F(IterationAxesTest, ReduceWindow) {
  auto get = [&](StringRef attributes) {
    return getAxes("%x: tensor<4x8xf32>, %i: tensor<f32>",
                   (R"("stablehlo.reduce_window"(%x, %i) <{)" + attributes +
                    R"(}> ({
                       ^bb0(%a: tensor<f32>, %b: tensor<f32>):
                         "stablehlo.return"(%a) : (tensor<f32>) -> ()
                       }) : (tensor<4x8xf32>, tensor<f32>) ->
                            tensor<4x4xf32>)")
                       .str());
  };
  EXPECT_EQ(get("window_dimensions = array<i64: 1, 2>, window_strides = "
                "array<i64: 1, 2>"),
            "0 - > 0");
  EXPECT_EQ(get("window_dimensions = array<i64: 3, 2>, window_strides = "
                "array<i64: 1, 2>, padding = dense<[[1, 1], [0, 0]]> : "
                "tensor<2x2xi64>"),
            "")
      << "a window of three iterations";
  EXPECT_EQ(get("window_dimensions = array<i64: 1, 2>, window_strides = "
                "array<i64: 1, 2>, padding = dense<[[1, 0], [0, 0]]> : "
                "tensor<2x2xi64>"),
            "")
      << "one more iteration";
  EXPECT_EQ(get("window_dimensions = array<i64: 1, 2>, window_strides = "
                "array<i64>"),
            "0 - > 0");
  EXPECT_EQ(get("window_dimensions = array<i64: 1, 2>, base_dilations = "
                "array<i64: 2, 1>"),
            "");
  EXPECT_EQ(get("window_dimensions = array<i64>"), "");
  EXPECT_EQ(get("window_dimensions = array<i64: 2, 1>, window_strides = "
                "array<i64: 1>"),
            "")
      << "one stride per dimension";
}

TEST_F(IterationAxesTest, Sort) {
  auto get = [&](StringRef dimension) {
    return getAxes("%x: tensor<4x8xf32>, %k: tensor<4x8xi32>",
                   (R"("stablehlo.sort"(%x, %k) <{dimension = )" + dimension +
                    R"( : i64}> ({
                       ^bb0(%a: tensor<f32>, %b: tensor<f32>,
                            %c: tensor<i32>, %d: tensor<i32>):
                         %p = "stablehlo.compare"(%a, %b) :
                           (tensor<f32>, tensor<f32>) -> tensor<i1>
                         "stablehlo.return"(%p) : (tensor<i1>) -> ()
                       }) : (tensor<4x8xf32>, tensor<4x8xi32>) ->
                            (tensor<4x8xf32>, tensor<4x8xi32>))")
                       .str());
  };
  EXPECT_EQ(get("1"), "0 0 > 0 0");
  EXPECT_EQ(get("0"), "1 1 > 1 1");
  EXPECT_EQ(get("-1"), "0 0 > 0 0") << "counted from the last";
  EXPECT_EQ(get("-2"), "1 1 > 1 1") << "counted from the last";
  EXPECT_EQ(get("2"), "") << "no dimension";
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

TEST_F(IterationAxesTest, DotGeneral) {
  auto get = [&](StringRef dims, StringRef result = "2x4x6") {
    return getAxes("%x: tensor<2x4x8xf32>, %y: tensor<2x6x8xf32>",
                   ("\"stablehlo.dot_general\"(%x, %y) <{dot_dimension_numbers "
                    "= #stablehlo.dot<" +
                    dims +
                    ">}> : (tensor<2x4x8xf32>, tensor<2x6x8xf32>) -> tensor<" +
                    result + "xf32>")
                       .str());
  };
  StringRef batched = "lhs_batching_dimensions = [0], rhs_batching_dimensions "
                      "= [0], lhs_contracting_dimensions = [2], "
                      "rhs_contracting_dimensions = [2]";
  EXPECT_EQ(get(batched), "0 0 > 0, 1 - > 1, - 1 > 2, sum 2 2 > -");
  EXPECT_EQ(get("lhs_contracting_dimensions = [0, 2], "
                "rhs_contracting_dimensions = [0, 2]",
                "4x6"),
            "1 - > 0, - 1 > 1, sum 0 0 > -, sum 2 2 > -");
  EXPECT_EQ(get("lhs_contracting_dimensions = [2], "
                "rhs_contracting_dimensions = [2]",
                "2x4x2x6"),
            "0 - > 0, 1 - > 1, - 0 > 2, - 1 > 3, sum 2 2 > -");
  EXPECT_EQ(get("lhs_batching_dimensions = [0], rhs_batching_dimensions = [], "
                "lhs_contracting_dimensions = [2], rhs_contracting_dimensions "
                "= [2]"),
            "")
      << "batches in pairs";
  EXPECT_EQ(get("lhs_contracting_dimensions = [3], "
                "rhs_contracting_dimensions = [2]"),
            "")
      << "no dimension";
  EXPECT_EQ(get("lhs_contracting_dimensions = [x], "
                "rhs_contracting_dimensions = [2]"),
            "")
      << "no number";
  EXPECT_EQ(get(batched, "2x4"), "0 0 > 0, 1 - > 1, sum 2 2 > -")
      << "a result that lacks a dimension";
}

TEST_F(IterationAxesTest, Gather) {
  auto get = [&](StringRef numbers, StringRef sizes, StringRef operand,
                 StringRef indices, StringRef result) {
    return getAxes(
        ("%x: tensor<" + operand + "xf32>, %i: tensor<" + indices + "xi32>")
            .str(),
        ("\"stablehlo.gather\"(%x, %i) <{dimension_numbers = "
         "#stablehlo.gather<" +
         numbers + ">, slice_sizes = array<i64: " + sizes + ">}> : (tensor<" +
         operand + "xf32>, tensor<" + indices + "xi32>) -> tensor<" + result +
         "xf32>")
            .str());
  };
  // Rows of an embedding.
  StringRef rows = "offset_dims = [2], collapsed_slice_dims = [0], "
                   "start_index_map = [0], index_vector_dim = 2";
  EXPECT_EQ(get(rows, "1, 8", "50x8", "4x3x1", "4x3x8"),
            "- 0 > 0, - 1 > 1, 1 - > 2");
  EXPECT_EQ(last->getAttrOfType<DenseI64ArrayAttr>("slice_sizes").asArrayRef(),
            ArrayRef<int64_t>({1, 1}));
  EXPECT_EQ(get(rows, "1, 4", "50x8", "4x3x1", "4x3x4"), "- 0 > 0, - 1 > 1")
      << "half a row";
  EXPECT_EQ(get(rows, "1", "50x8", "4x3x1", "4x3x8"), "")
      << "one size per dimension";
  // One element of each row, as the loss of a label.
  EXPECT_EQ(get("collapsed_slice_dims = [1], operand_batching_dims = [0], "
                "start_indices_batching_dims = [0], start_index_map = [1], "
                "index_vector_dim = 1",
                "1, 1", "4x50", "4x1", "4"),
            "0 0 > 0");
  EXPECT_EQ(get("operand_batching_dims = [0], start_index_map = [1], "
                "collapsed_slice_dims = [1], index_vector_dim = 1",
                "1, 1", "4x50", "4x1", "4"),
            "")
      << "batches in pairs";
  EXPECT_EQ(get("offset_dims = [1, 2], collapsed_slice_dims = [0], "
                "start_index_map = [0], index_vector_dim = 1",
                "1, 8", "50x8", "4x1", "4x8"),
            "")
      << "offsets of dimensions that are not there";
}

TEST_F(IterationAxesTest, Scatter) {
  auto get = [&](StringRef numbers, StringRef combiner, StringRef operand,
                 StringRef indices, StringRef updates) {
    return getAxes(("%x: tensor<" + operand + "xf32>, %i: tensor<" + indices +
                    "xi32>, %u: tensor<" + updates + "xf32>")
                       .str(),
                   ("\"stablehlo.scatter\"(%x, %i, %u) <{"
                    "scatter_dimension_numbers = #stablehlo.scatter<" +
                    numbers +
                    ">}> ({\n^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"
                    "%c = \"stablehlo." +
                    combiner +
                    "\"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>\n"
                    "\"stablehlo.return\"(%c) : (tensor<f32>) -> ()\n}) : "
                    "(tensor<" +
                    operand + "xf32>, tensor<" + indices + "xi32>, tensor<" +
                    updates + "xf32>) -> tensor<" + operand + "xf32>")
                       .str());
  };
  // The gradient of an embedding.
  StringRef rows = "update_window_dims = [1], inserted_window_dims = [0], "
                   "scatter_dims_to_operand_dims = [0], index_vector_dim = 1";
  EXPECT_EQ(get(rows, "add", "50x8", "4x1", "4x8"),
            "sum - 0 0 > - into 0, 1 - 1 > 1");
  EXPECT_EQ(get(rows, "maximum", "50x8", "4x1", "4x8"), "1 - 1 > 1");
  EXPECT_EQ(get(rows, "add", "50x8", "4x1", "4x6"), "sum - 0 0 > - into 0")
      << "half a row";
  EXPECT_EQ(get("inserted_window_dims = [1], input_batching_dims = [0], "
                "scatter_indices_batching_dims = [0], "
                "scatter_dims_to_operand_dims = [1], index_vector_dim = 1",
                "maximum", "4x50", "4x1", "4"),
            "0 0 0 > 0");
  EXPECT_EQ(get("update_window_dims = [5], inserted_window_dims = [0], "
                "scatter_dims_to_operand_dims = [0], index_vector_dim = 1",
                "add", "50x8", "4x1", "4x8"),
            "")
      << "no dimension";
}

TEST_F(IterationAxesTest, WrongNumberOfResults) {
  EXPECT_EQ(getAxes("%x: tensor<4xf32>", R"("stablehlo.reshape"(%x) :
                       (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>))"),
            "");
  EXPECT_EQ(getAxes("%x: tensor<4xf32>", R"("stablehlo.negate"(%x) :
                       (tensor<4xf32>) -> ())"),
            "");
  EXPECT_EQ(getAxes("%x: tensor<4xf32>", R"("stablehlo.dynamic_slice"(%x) <{
                       slice_sizes = array<i64: 4>}> :
                       (tensor<4xf32>) -> (tensor<4xf32>, tensor<2xf32>))"),
            "");
}

TEST_F(IterationAxesTest, Opaque) {
  EXPECT_EQ(getAxes("%x: tensor<4x8xf32>",
                    R"("stablehlo.custom_call"(%x) <{call_target_name = "f"}> :
                       (tensor<4x8xf32>) -> tensor<4x8xf32>)"),
            "");
}
