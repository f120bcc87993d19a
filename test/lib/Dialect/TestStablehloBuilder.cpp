//===- TestStablehloBuilder.cpp - Build every StableHLO operation ---------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestPasses.h"
#include "act/Dialect/StablehloShell/StablehloBuilder.h"
#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "mlir/Pass/Pass.h"

using namespace mlir;
using namespace mlir::act;

using Comparison = StablehloBuilder::Comparison;
using Combiner = StablehloBuilder::Combiner;

static void buildConstants(StablehloBuilder &b,
                           SmallVectorImpl<Value> &results) {
  Builder &builder = b.getBuilder();
  for (Type type : {builder.getF32Type(), builder.getBF16Type(),
                    builder.getF16Type(), builder.getF64Type()})
    results.push_back(b.scalar(type, 0.1));
  for (Type type : {Type(builder.getI32Type()), Type(builder.getI1Type()),
                    Type(builder.getIntegerType(8, false)),
                    Type(builder.getIntegerType(64, false))})
    results.push_back(b.scalar(type, -1));
  auto type = RankedTensorType::get({2, 3}, builder.getF32Type());
  results.push_back(b.splat(type, 2.5));
  results.push_back(b.splat(type, 3));
  results.push_back(b.splatLike(results.back(), 1));
  results.push_back(
      b.constant(DenseElementsAttr::get(type, {1.f, 2.f, 3.f, 4.f, 5.f, 6.f})));
  results.push_back(b.iota(type.clone(builder.getI32Type()), 1));
}

static void buildElementwise(StablehloBuilder &b, Value x, Value i, Value u,
                             SmallVectorImpl<Value> &results) {
  Builder &builder = b.getBuilder();
  for (Value value : {b.abs(x),
                      b.ceil(x),
                      b.exponential(x),
                      b.floor(x),
                      b.log(x),
                      b.negate(x),
                      b.roundNearestEven(x),
                      b.rsqrt(x),
                      b.sqrt(x),
                      b.logicalNot(u),
                      b.add(x, x),
                      b.bitAnd(u, u),
                      b.bitOr(u, u),
                      b.bitXor(u, u),
                      b.divide(x, x),
                      b.maximum(x, x),
                      b.minimum(x, x),
                      b.multiply(x, x),
                      b.power(x, x),
                      b.remainder(x, x),
                      b.shiftLeft(u, u),
                      b.shiftRightLogical(u, u),
                      b.subtract(x, x),
                      b.isFinite(x)})
    results.push_back(value);
  for (Comparison direction : {Comparison::EQ, Comparison::NE, Comparison::GE,
                               Comparison::GT, Comparison::LE, Comparison::LT})
    for (Value operand : {x, i, u})
      results.push_back(b.compare(direction, operand, operand));
  Value predicate = results.back();
  results.push_back(b.compare(Comparison::EQ, predicate, predicate));
  results.push_back(b.select(predicate, x, x));
  results.push_back(b.clamp(x, x, x));
  results.push_back(b.convert(x, builder.getBF16Type()));
  results.push_back(b.convert(x, builder.getF32Type()));
  results.push_back(b.bitcastConvert(x, cast<RankedTensorType>(u.getType())));
  results.push_back(b.reducePrecision(x, 8, 7));
}

static void buildShapes(StablehloBuilder &b, Value x,
                        SmallVectorImpl<Value> &results) {
  Value zero = b.scalar(b.getBuilder().getF32Type(), 0);
  for (Value value :
       {b.broadcastInDim(x, {4, 8, 2}, {0, 1}),
        b.broadcastInDim(x, {4, 8}, {0, 1}), b.reshape(x, {2, 16}),
        b.reshape(x, {4, 8}), b.transpose(x, {1, 0}), b.reverse(x, {0}),
        b.slice(x, {1, 0}, {4, 8}), b.slice(x, {0, 1}, {4, 8}, {2, 3}),
        b.pad(x, zero, {1, 0}, {0, 2}), b.pad(x, zero, {1, -1}, {0, 2}, {1, 2}),
        b.concatenate({x, x}, 1), b.concatenate({x}, 1)})
    results.push_back(value);
}

static void buildRest(StablehloBuilder &b, Value x, Value i, Value u,
                      SmallVectorImpl<Value> &results) {
  for (Combiner combiner :
       {Combiner::Add, Combiner::Multiply, Combiner::Maximum, Combiner::Minimum,
        Combiner::And, Combiner::Or}) {
    bool ofBits = combiner == Combiner::And || combiner == Combiner::Or;
    results.push_back(b.reduce(i, {0}, combiner));
    results.push_back(b.reduce(u, {0, 1}, combiner));
    if (!ofBits)
      results.push_back(b.reduce(x, {1}, combiner));
  }
  llvm::append_range(results, b.optimizationBarrier({x, i}));
  Value place = b.scalar(b.getBuilder().getI32Type(), 1);
  results.push_back(b.dynamicSlice(x, {place, place}, {2, 3}));
  results.push_back(b.dynamicUpdateSlice(x, results.back(), {place, place}));
  results.push_back(b.dotGeneral(x, x, {}, {}, {1}, {1}));
  results.push_back(b.dotGeneral(x, x, {0}, {0}, {1}, {1}));
  llvm::append_range(
      results, b.countedLoop(3, {x, i}, [&](Value number, ValueRange carried) {
        Value spread = b.broadcastInDim(number, {4, 8}, {});
        return SmallVector<Value>{b.add(carried[0], carried[0]),
                                  b.add(carried[1], spread)};
      }));
}

namespace {
struct TestStablehloBuilderPass
    : PassWrapper<TestStablehloBuilderPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestStablehloBuilderPass)

  StringRef getArgument() const final { return "test-stablehlo-builder"; }
  StringRef getDescription() const final {
    return "Add a function with everything that StablehloBuilder builds";
  }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<func::FuncDialect, shell::StablehloShellDialect>();
  }
  void runOnOperation() override {
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    Location loc = getOperation().getLoc();
    SmallVector<Type> arguments;
    for (Type type : {Type(builder.getF32Type()), Type(builder.getI32Type()),
                      Type(builder.getIntegerType(32, false))})
      arguments.push_back(RankedTensorType::get({4, 8}, type));
    auto function = func::FuncOp::create(
        builder, loc, "main", builder.getFunctionType(arguments, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    StablehloBuilder b(builder, loc);
    Value x = block->getArgument(0), i = block->getArgument(1),
          u = block->getArgument(2);
    SmallVector<Value> results;
    buildConstants(b, results);
    buildElementwise(b, x, i, u, results);
    buildShapes(b, x, results);
    buildRest(b, x, i, u, results);
    func::ReturnOp::create(builder, loc, results);
    function.setFunctionType(
        builder.getFunctionType(arguments, TypeRange(ValueRange(results))));
  }
};
} // namespace

void mlir::act::registerTestStablehloBuilderPass() {
  PassRegistration<TestStablehloBuilderPass>();
}
