//===- CodecEmitterTest.cpp - Codecs for any vector unit ------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels compute is tested against other implementations in
// python/tests/test_codec_kernels.py. Here it is that it does not depend on the
// width of vectors, on how units are handed out, nor on where a unit lies.
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/KernelsToCPU/CodecEmitter.h"
#include "act/Runtime/CPU/KernelCompiler.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "gtest/gtest.h"
#include <ostream>
#include <random>
#include <vector>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::runtime;

namespace {
using Bytes = std::vector<uint8_t>;

struct Case {
  const char *encoding;
  const char *type;
};

void PrintTo(const Case &test, std::ostream *stream) {
  *stream << test.encoding << " : " << test.type;
}

/// A tensor, what is stored of it and what is decoded of that.
struct Result {
  std::vector<Bytes> storage;
  Bytes decoded;
};

int64_t getBytes(RankedTensorType type) {
  return type.getNumElements() *
         llvm::divideCeil(type.getElementTypeBitWidth(), 8);
}

class CodecEmitterTest : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    context = createKernelContext();
    context->loadDialect<tensor::TensorDialect>();
    encoding = cast<EncodingAttrInterface>(
        parseAttribute(GetParam().encoding, context.get()));
    type = cast<RankedTensorType>(parseType(GetParam().type, context.get()));
    makeTensor();
  }

  /// Fills `tensor` with numbers of many sizes, or with small integers.
  void makeTensor();

  /// Adds to `module` the function `name`, which runs units one by one, each
  /// with a pointer to its own elements. Arguments are as for buildCodecKernel.
  void buildUnitKernel(ModuleOp module, StringRef name,
                       CodecDirection direction, const VectorTarget &target);

  using BuildFn = function_ref<CodecUnits(ModuleOp, StringRef, CodecDirection)>;
  /// Compiles what `build` builds and calls it for `step` units at a time.
  void call(BuildFn build, CodecDirection direction, int64_t step,
            uint8_t *plain, std::vector<Bytes> &storage);
  Result run(BuildFn build, int64_t step);
  Result runKernels(const VectorTarget &target, int64_t step);

  std::unique_ptr<MLIRContext> context;
  EncodingAttrInterface encoding;
  RankedTensorType type;
  Bytes tensor;
};
} // namespace

void CodecEmitterTest::makeTensor() {
  std::mt19937 random(1);
  tensor.resize(getBytes(type));
  Type element = type.getElementType();
  auto fill = [&](auto zero, auto next) {
    auto *numbers = reinterpret_cast<decltype(zero) *>(tensor.data());
    for (int64_t i = 0, e = type.getNumElements(); i < e; ++i)
      numbers[i] = next();
  };
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> exponent(-20, 20);
  auto number = [&] { return std::ldexp(normal(random), exponent(random)); };
  auto upperHalf = [&] {
    return static_cast<uint16_t>(llvm::bit_cast<uint32_t>(number()) >> 16);
  };
  if (element.isF32())
    fill(0.0f, number);
  else if (element.isBF16())
    fill(uint16_t(0), upperHalf);
  else if (element.isF16())
    fill(uint16_t(0), [&] { return uint16_t(random() % 0x7C00); });
  else if (element.isInteger(1))
    fill(uint8_t(0), [&] { return uint8_t(random() % 2); });
  else
    fill(uint32_t(0), [&] { return uint32_t(random() % 2); });
}

void CodecEmitterTest::buildUnitKernel(ModuleOp module, StringRef name,
                                       CodecDirection direction,
                                       const VectorTarget &target) {
  bool isEncode = direction == CodecDirection::Encode;
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(context.get());
  SmallVector<RankedTensorType> parts = encoding.getStorageTypes(type);
  SmallVector<Type> arguments(1 + parts.size(), pointer);
  bool hasSalt = isEncode && encoding.usesSalt();
  if (hasSalt)
    arguments.push_back(builder.getI32Type());
  arguments.append(2, builder.getIndexType());
  auto function = func::FuncOp::create(builder, loc, name,
                                       builder.getFunctionType(arguments, {}));
  builder.setInsertionPointToStart(function.addEntryBlock());
  Block::BlockArgListType values = function.getArguments();

  // The operation is there for its attribute and types only.
  auto empty = [&](RankedTensorType tensorType) -> Value {
    return tensor::EmptyOp::create(builder, loc, tensorType.getShape(),
                                   tensorType.getElementType());
  };
  SmallVector<Value> storage = llvm::map_to_vector(parts, empty);
  Value salt = hasSalt ? empty(RankedTensorType::get({}, builder.getI32Type()))
                       : Value();
  Operation *op =
      isEncode
          ? EncodeOp::create(builder, loc, empty(type), salt, storage, encoding)
                .getOperation()
          : DecodeOp::create(builder, loc, storage, empty(type), encoding)
                .getOperation();
  CodecUnits units = isEncode ? getCodecUnits(cast<EncodeOp>(op))
                              : getCodecUnits(cast<DecodeOp>(op));

  auto loop =
      scf::ForOp::create(builder, loc, values.drop_back().back(), values.back(),
                         arith::ConstantIndexOp::create(builder, loc, 1));
  builder.setInsertionPointToStart(loop.getBody());
  CodecBuffers buffers;
  buffers.storage = llvm::to_vector_of<Value>(values.slice(1, parts.size()));
  if (hasSalt)
    buffers.salt = values[1 + parts.size()];
  buffers.plain = values.front();
  buffers.plainIsLocal = units.contiguous;
  if (units.contiguous) {
    int64_t bytes = getBytes(type) / type.getNumElements() * units.elements;
    Value offset = arith::MulIOp::create(
        builder, loc, loop.getInductionVar(),
        arith::ConstantIndexOp::create(builder, loc, bytes));
    offset =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), offset);
    buffers.plain =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(),
                            buffers.plain, ArrayRef<LLVM::GEPArg>{offset});
  }
  Value unit = loop.getInductionVar();
  ASSERT_TRUE(succeeded(isEncode
                            ? emitEncodeUnit(builder, loc, cast<EncodeOp>(op),
                                             buffers, unit, target)
                            : emitDecodeUnit(builder, loc, cast<DecodeOp>(op),
                                             buffers, unit, target)));
  builder.setInsertionPointAfter(loop);
  func::ReturnOp::create(builder, loc);
  op->erase();
  for (Operation &dead : llvm::make_early_inc_range(
           llvm::reverse(function.front().getOperations())))
    if (isa<tensor::EmptyOp>(dead))
      dead.erase();
}

void CodecEmitterTest::call(BuildFn build, CodecDirection direction,
                            int64_t step, uint8_t *plain,
                            std::vector<Bytes> &storage) {
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(context.get()));
  CodecUnits units = build(*module, "codec", direction);
  auto kernel = compileKernel(*module, "codec");
  ASSERT_TRUE(static_cast<bool>(kernel)) << llvm::toString(kernel.takeError());
  std::vector<void *> buffers{plain};
  for (Bytes &part : storage)
    buffers.push_back(part.data());
  uint32_t salt = 12345;
  // From the last to the first: units do not depend on each other.
  for (int64_t end = units.units; end > 0; end -= std::min(step, end)) {
    int64_t begin = std::max<int64_t>(end - step, 0);
    std::vector<void *> arguments;
    for (void *&buffer : buffers)
      arguments.push_back(&buffer);
    if (direction == CodecDirection::Encode && encoding.usesSalt())
      arguments.push_back(&salt);
    arguments.push_back(&begin);
    arguments.push_back(&end);
    (*kernel)->call(arguments.data());
  }
}

Result CodecEmitterTest::run(BuildFn build, int64_t step) {
  Result result;
  for (RankedTensorType part : encoding.getStorageTypes(type))
    result.storage.emplace_back(getBytes(part), 0xA5);
  Bytes source = tensor;
  call(build, CodecDirection::Encode, step, source.data(), result.storage);
  result.decoded.assign(tensor.size(), 0xA5);
  call(build, CodecDirection::Decode, step, result.decoded.data(),
       result.storage);
  return result;
}

Result CodecEmitterTest::runKernels(const VectorTarget &target, int64_t step) {
  return run(
      [&](ModuleOp module, StringRef name, CodecDirection direction) {
        return *buildCodecKernel(module, name, direction, encoding, type,
                                 target);
      },
      step);
}

TEST_P(CodecEmitterTest, unitsCoverTheTensor) {
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(context.get()));
  auto units = buildCodecKernel(*module, "codec", CodecDirection::Encode,
                                encoding, type, VectorTarget());
  ASSERT_TRUE(succeeded(units));
  EXPECT_EQ(units->units * units->elements, type.getNumElements());
}

TEST_P(CodecEmitterTest, resultsDoNotDependOnVectors) {
  Result want = runKernels({128, 16}, INT64_MAX);
  for (VectorTarget target : {VectorTarget{256, 16}, VectorTarget{512, 32}}) {
    Result got = runKernels(target, INT64_MAX);
    EXPECT_EQ(got.storage, want.storage) << target.vectorBits;
    EXPECT_EQ(got.decoded, want.decoded) << target.vectorBits;
  }
}

TEST_P(CodecEmitterTest, unitsAreIndependent) {
  Result want = runKernels(getHostVectorTarget(), INT64_MAX);
  for (int64_t step : {1, 3, 17}) {
    Result got = runKernels(getHostVectorTarget(), step);
    EXPECT_EQ(got.storage, want.storage) << step;
    EXPECT_EQ(got.decoded, want.decoded) << step;
  }
}

TEST_P(CodecEmitterTest, unitsMayLieElsewhere) {
  VectorTarget target = getHostVectorTarget();
  Result want = runKernels(target, INT64_MAX);
  Result got = run(
      [&](ModuleOp module, StringRef name, CodecDirection direction) {
        buildUnitKernel(module, name, direction, target);
        // For the units only.
        OwningOpRef<ModuleOp> other =
            ModuleOp::create(UnknownLoc::get(context.get()));
        return *buildCodecKernel(*other, name, direction, encoding, type,
                                 target);
      },
      /*step=*/5);
  EXPECT_EQ(got.storage, want.storage);
  EXPECT_EQ(got.decoded, want.decoded);
}

static const Case cases[] = {
    {"#act.raw", "tensor<7x11xf32>"},
    {"#act.mask", "tensor<5x77xi1>"},
    {"#act.mask<group = 16>", "tensor<5x80xi1>"},
    {"#act.narrow<bits = 4, merge = 2>", "tensor<5x7x9xi32>"},
    {"#act.narrow<bits = 8>", "tensor<5x77xi32>"},
    {"#act.group_quant<bits = 8, group = 256>", "tensor<3x1024xf32>"},
    {"#act.group_quant<bits = 4, group = 64>", "tensor<9x320xbf16>"},
    {"#act.group_quant<bits = 2, group = 64, params = f32>",
     "tensor<9x128xf32>"},
    {"#act.group_quant<bits = 1, group = 64>", "tensor<9x128xbf16>"},
    {"#act.group_quant<bits = 4, group = 50>", "tensor<5x333xf32>"},
    {"#act.group_quant<bits = 2, group = 7, rounding = nearest>",
     "tensor<5x33xf16>"},
    {"#act.group_quant<bits = 4, group = 8, axis = 1>", "tensor<3x21x37xbf16>"},
    {"#act.axis_quant<bits = 4, axis = 0>", "tensor<5x3x37xf32>"},
    {"#act.axis_quant<bits = 2, axis = 1>", "tensor<5x3x37xbf16>"},
    {"#act.axis_quant<bits = 1, axis = 2>", "tensor<5x3x37xf32>"},
    {"#act.float<type = f8E4M3FN>", "tensor<5x77xf32>"},
    {"#act.float<type = bf16, group = 32>", "tensor<5x77xf32>"},
    {"#act.float<type = f8E5M2, group = 32>", "tensor<5x64xbf16>"},
};

INSTANTIATE_TEST_SUITE_P(Encodings, CodecEmitterTest, testing::ValuesIn(cases));
