//===- XlaHandlers.cpp - Linear attention for XLA ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The targets of custom calls `act_linear_attention`,
// `act_linear_attention_grad` and `act_linear_attention_state`, whose operands,
// results and backend_config are those of the operations of the act dialect.
//
//===----------------------------------------------------------------------===//

#include "act/Runtime/CPU/LinearAttention.h"
#include "xla/ffi/api/ffi.h"
#include "llvm/ADT/Twine.h"
#include <optional>
#include <string>

using namespace mlir::act::runtime;
namespace ffi = xla::ffi;

namespace {
/// XLA's threads.
class XlaWorkers : public Workers {
public:
  explicit XlaWorkers(ffi::ThreadPool pool) : pool(pool) {}
  int64_t getNumThreads() const override {
    // The pool's, one of which may be the one that calls.
    return std::max<int64_t>(pool.num_threads(), 1);
  }
  void schedule(std::function<void()> function) override {
    pool.Schedule(std::move(function));
  }

private:
  ffi::ThreadPool pool;
};

/// Reads operands and results one after the other and remembers the first
/// problem.
class CallReader {
public:
  CallReader(const ffi::RemainingArgs &arguments,
             const ffi::RemainingRets &results, const ffi::Dictionary &config)
      : arguments(arguments), results(results), config(config) {}

  template <typename T>
  T getAttribute(const char *name) {
    ffi::ErrorOr<T> value = config.get<T>(name);
    if (value.has_value())
      return *value;
    fail(llvm::Twine("expects an attribute ") + name + " in backend_config");
    return T();
  }

  std::optional<ffi::AnyBuffer> takeOperand(const char *name) {
    if (nextArgument >= arguments.size()) {
      fail(llvm::Twine("expects an operand ") + name + ", got " +
           llvm::Twine(arguments.size()) + " operands");
      return std::nullopt;
    }
    ffi::ErrorOr<ffi::AnyBuffer> buffer =
        arguments.get<ffi::AnyBuffer>(nextArgument++);
    if (buffer.has_value())
      return *buffer;
    fail(llvm::Twine("expects operand ") + name + " to be a buffer");
    return std::nullopt;
  }

  std::optional<ffi::AnyBuffer> takeResult(const char *name) {
    if (nextResult >= results.size()) {
      fail(llvm::Twine("expects a result ") + name + ", got " +
           llvm::Twine(results.size()) + " results");
      return std::nullopt;
    }
    ffi::ErrorOr<ffi::Result<ffi::AnyBuffer>> buffer =
        results.get<ffi::AnyBuffer>(nextResult++);
    if (buffer.has_value())
      return **buffer;
    fail(llvm::Twine("expects result ") + name + " to be a buffer");
    return std::nullopt;
  }

  /// The data of `buffer`, which must have the given shape and type.
  void *check(const char *name, std::optional<ffi::AnyBuffer> buffer,
              std::initializer_list<int64_t> shape, ffi::DataType type) {
    if (!buffer)
      return nullptr;
    auto dimensions = buffer->dimensions();
    bool matches = dimensions.size() == shape.size() &&
                   std::equal(shape.begin(), shape.end(), dimensions.begin());
    if (!matches)
      fail(llvm::Twine("expects ") + name + " of shape [" +
           toString(shape.begin(), shape.end()) + "], got [" +
           toString(dimensions.begin(), dimensions.end()) + "]");
    else if (buffer->element_type() != type)
      fail(llvm::Twine("expects ") + name + " of type " + getTypeName(type) +
           ", got " + getTypeName(buffer->element_type()));
    return buffer->untyped_data();
  }

  void expectAllTaken() {
    if (nextArgument != arguments.size())
      fail("expects " + llvm::Twine(nextArgument) + " operands, got " +
           llvm::Twine(arguments.size()));
    if (nextResult != results.size())
      fail("expects " + llvm::Twine(nextResult) + " results, got " +
           llvm::Twine(results.size()));
  }

  void fail(const llvm::Twine &problem) {
    if (message.empty())
      message = problem.str();
  }
  bool hasFailed() const { return !message.empty(); }
  const std::string &getMessage() const { return message; }

private:
  template <typename Iterator>
  static std::string toString(Iterator begin, Iterator end) {
    std::string text;
    for (; begin != end; ++begin)
      text += (text.empty() ? "" : ", ") + std::to_string(*begin);
    return text;
  }
  static const char *getTypeName(ffi::DataType type) {
    switch (type) {
    case ffi::DataType::F16:
      return "f16";
    case ffi::DataType::BF16:
      return "bf16";
    case ffi::DataType::F32:
      return "f32";
    case ffi::DataType::F64:
      return "f64";
    default:
      return "another type";
    }
  }

  const ffi::RemainingArgs &arguments;
  const ffi::RemainingRets &results;
  const ffi::Dictionary &config;
  size_t nextArgument = 0;
  size_t nextResult = 0;
  std::string message;
};

/// Shapes that operands and results must have.
struct CallShape {
  ActLinearAttentionSignature signature = {};
  std::string featureMap;
  ffi::DataType type = ffi::DataType::F32;
  int64_t heads = 0;
  int64_t stateHeads = 0;
};
} // namespace

static void readDecayKind(CallReader &reader, CallShape &shape) {
  auto name = reader.getAttribute<std::string_view>("decay");
  if (name == "head")
    shape.signature.decay = ActDecayHead;
  else if (name == "token")
    shape.signature.decay = ActDecayToken;
  else if (name == "channel")
    shape.signature.decay = ActDecayChannel;
  else if (name != "none")
    reader.fail("expects decay none, head, token or channel in backend_config, "
                "got \"" +
                std::string(name) + "\"");
}

static void readElementType(CallReader &reader, CallShape &shape,
                            ffi::DataType type) {
  shape.type = type;
  if (type == ffi::DataType::F16)
    shape.signature.elementType = ActElementTypeF16;
  else if (type == ffi::DataType::BF16)
    shape.signature.elementType = ActElementTypeBF16;
  else if (type == ffi::DataType::F64)
    shape.signature.elementType = ActElementTypeF64;
  else if (type != ffi::DataType::F32)
    reader.fail("expects keys of type f16, bf16, f32 or f64");
}

namespace {
/// What every call starts with.
struct CommonOperands {
  const void *q = nullptr, *k = nullptr, *v = nullptr;
  const float *decay = nullptr;
};
} // namespace

/// Reads queries (if there are), keys, values and decay, and derives the shapes
/// of everything from them.
static CommonOperands readCommon(CallReader &reader, CallShape &shape,
                                 bool hasQueries) {
  CommonOperands operands;
  ActLinearAttentionSignature &signature = shape.signature;
  shape.featureMap = reader.getAttribute<std::string_view>("feature_map");
  signature.normalize = reader.getAttribute<bool>("normalize");
  signature.chunk = reader.getAttribute<int64_t>("chunk");
  signature.scale = 1.0;
  readDecayKind(reader, shape);
  std::optional<ffi::AnyBuffer> q;
  if (hasQueries)
    q = reader.takeOperand("query");
  auto k = reader.takeOperand("key");
  auto v = reader.takeOperand("value");
  for (auto &buffer : {q, k, v})
    if (buffer && buffer->dimensions().size() != 4)
      reader.fail("expects query, key and value of rank 4");
  if (reader.hasFailed())
    return operands;
  signature.batch = k->dimensions()[0];
  signature.tokens = k->dimensions()[1];
  signature.keyHeads = k->dimensions()[2];
  signature.features = k->dimensions()[3];
  signature.valueHeads = v->dimensions()[2];
  signature.values = v->dimensions()[3];
  shape.stateHeads = std::max(signature.keyHeads, signature.valueHeads);
  signature.queryHeads = hasQueries ? q->dimensions()[2] : shape.stateHeads;
  shape.heads = std::max(signature.queryHeads, shape.stateHeads);
  readElementType(reader, shape, k->element_type());
  int64_t batch = signature.batch, tokens = signature.tokens;
  if (hasQueries)
    operands.q = reader.check(
        "query", q, {batch, tokens, signature.queryHeads, signature.features},
        shape.type);
  operands.k = k->untyped_data();
  operands.v = reader.check(
      "value", v, {batch, tokens, signature.valueHeads, signature.values},
      shape.type);
  if (signature.decay == ActDecayNone)
    return operands;
  auto decay = reader.takeOperand("decay");
  if (signature.decay == ActDecayHead)
    operands.decay = static_cast<float *>(
        reader.check("decay", decay, {shape.stateHeads}, ffi::DataType::F32));
  else if (signature.decay == ActDecayToken)
    operands.decay = static_cast<float *>(reader.check(
        "decay", decay, {batch, tokens, shape.stateHeads}, ffi::DataType::F32));
  return operands;
}

/// The data of a state, and if there is a normaliser of a sum of keys.
static void checkState(CallReader &reader, const CallShape &shape,
                       std::optional<ffi::AnyBuffer> state, const char *name,
                       float *&data) {
  const ActLinearAttentionSignature &signature = shape.signature;
  data = static_cast<float *>(reader.check(
      name, state,
      {signature.batch, shape.stateHeads, signature.features, signature.values},
      ffi::DataType::F32));
}
static void checkSums(CallReader &reader, const CallShape &shape,
                      std::optional<ffi::AnyBuffer> sums, const char *name,
                      float *&data) {
  const ActLinearAttentionSignature &signature = shape.signature;
  data = static_cast<float *>(reader.check(
      name, sums, {signature.batch, shape.stateHeads, signature.features},
      ffi::DataType::F32));
}

static ffi::Error toError(const CallReader &reader) {
  return ffi::Error(ffi::ErrorCode::kInvalidArgument, reader.getMessage());
}

/// Runs `compute` if there are kernels for the call.
static ffi::Error runCall(CallReader &reader, CallShape &shape,
                          ActLinearAttentionOperation operation,
                          llvm::function_ref<llvm::Error()> compute) {
  shape.signature.featureMap = shape.featureMap.c_str();
  // First, since what is not supported may have operands of its own.
  if (!reader.hasFailed() || shape.signature.decay == ActDecayChannel ||
      shape.featureMap == "favor_plus")
    if (llvm::Error error = verifySupportedOnce(operation, shape.signature))
      return ffi::Error(ffi::ErrorCode::kUnimplemented,
                        "no CPU kernel of linear attention: " +
                            llvm::toString(std::move(error)));
  if (!reader.hasFailed())
    reader.expectAllTaken();
  if (reader.hasFailed())
    return toError(reader);
  if (llvm::Error error = compute())
    return ffi::Error(ffi::ErrorCode::kInternal,
                      llvm::toString(std::move(error)));
  return ffi::Error::Success();
}

static ffi::Error runForwardCall(ffi::ThreadPool pool,
                                 ffi::RemainingArgs arguments,
                                 ffi::RemainingRets results,
                                 ffi::Dictionary config) {
  CallReader reader(arguments, results, config);
  CallShape shape;
  ActLinearAttentionSignature &signature = shape.signature;
  CommonOperands common = readCommon(reader, shape, /*hasQueries=*/true);
  signature.scale = reader.getAttribute<double>("scale");
  signature.epsilon = reader.getAttribute<double>("epsilon");
  ActLinearAttentionBuffers buffers = {};
  buffers.q = common.q;
  buffers.k = common.k;
  buffers.v = common.v;
  buffers.decay = common.decay;
  float *state = nullptr, *sums = nullptr;
  checkState(reader, shape, reader.takeOperand("state"), "state", state);
  if (signature.normalize)
    checkSums(reader, shape, reader.takeOperand("key sum"), "key sum", sums);
  buffers.state = state;
  buffers.sums = sums;
  buffers.o = reader.check(
      "output", reader.takeResult("output"),
      {signature.batch, signature.tokens, shape.heads, signature.values},
      shape.type);
  if (signature.normalize)
    buffers.d = static_cast<float *>(reader.check(
        "denominator", reader.takeResult("denominator"),
        {signature.batch, signature.tokens, shape.heads}, ffi::DataType::F32));
  checkState(reader, shape, reader.takeResult("final state"), "final state",
             buffers.finalState);
  if (signature.normalize)
    checkSums(reader, shape, reader.takeResult("final key sum"),
              "final key sum", buffers.finalSums);
  return runCall(reader, shape, ActOperationForward, [&] {
    XlaWorkers workers(pool);
    return runForward(signature, buffers, workers);
  });
}

static ffi::Error runStateCall(ffi::ThreadPool pool,
                               ffi::RemainingArgs arguments,
                               ffi::RemainingRets results,
                               ffi::Dictionary config) {
  CallReader reader(arguments, results, config);
  CallShape shape;
  CommonOperands common = readCommon(reader, shape, /*hasQueries=*/false);
  shape.signature.subtract = reader.getAttribute<bool>("subtract");
  ActLinearAttentionBuffers buffers = {};
  buffers.k = common.k;
  buffers.v = common.v;
  buffers.decay = common.decay;
  float *state = nullptr, *sums = nullptr;
  checkState(reader, shape, reader.takeOperand("state"), "state", state);
  if (shape.signature.normalize)
    checkSums(reader, shape, reader.takeOperand("key sum"), "key sum", sums);
  buffers.state = state;
  buffers.sums = sums;
  checkState(reader, shape, reader.takeResult("final state"), "final state",
             buffers.finalState);
  if (shape.signature.normalize)
    checkSums(reader, shape, reader.takeResult("final key sum"),
              "final key sum", buffers.finalSums);
  return runCall(reader, shape, ActOperationState, [&] {
    XlaWorkers workers(pool);
    return runState(shape.signature, buffers, workers);
  });
}

/// Reads the results of a gradient.
static void readGradResults(CallReader &reader, const CallShape &shape,
                            ActLinearAttentionGradBuffers &buffers) {
  const ActLinearAttentionSignature &signature = shape.signature;
  int64_t batch = signature.batch, tokens = signature.tokens;
  buffers.queryGrad = reader.check(
      "gradient of query", reader.takeResult("gradient of query"),
      {batch, tokens, signature.queryHeads, signature.features}, shape.type);
  buffers.keyGrad = reader.check(
      "gradient of key", reader.takeResult("gradient of key"),
      {batch, tokens, signature.keyHeads, signature.features}, shape.type);
  buffers.valueGrad = reader.check(
      "gradient of value", reader.takeResult("gradient of value"),
      {batch, tokens, signature.valueHeads, signature.values}, shape.type);
  if (signature.decay != ActDecayNone) {
    auto decay = reader.takeResult("gradient of decay");
    if (signature.decay == ActDecayHead)
      buffers.decayGrad = static_cast<float *>(reader.check(
          "gradient of decay", decay, {shape.stateHeads}, ffi::DataType::F32));
    else if (signature.decay == ActDecayToken)
      buffers.decayGrad = static_cast<float *>(
          reader.check("gradient of decay", decay,
                       {batch, tokens, shape.stateHeads}, ffi::DataType::F32));
  }
  checkState(reader, shape, reader.takeResult("gradient of state"),
             "gradient of state", buffers.stateGrad);
  if (signature.normalize)
    checkSums(reader, shape, reader.takeResult("gradient of key sum"),
              "gradient of key sum", buffers.sumsGrad);
}

/// Reads the operands that only a gradient has.
static void readGradOperands(CallReader &reader, const CallShape &shape,
                             ActLinearAttentionGradBuffers &buffers) {
  const ActLinearAttentionSignature &signature = shape.signature;
  int64_t batch = signature.batch, tokens = signature.tokens;
  if (signature.normalize) {
    buffers.o = reader.check("output", reader.takeOperand("output"),
                             {batch, tokens, shape.heads, signature.values},
                             shape.type);
    buffers.d = static_cast<float *>(
        reader.check("denominator", reader.takeOperand("denominator"),
                     {batch, tokens, shape.heads}, ffi::DataType::F32));
  }
  buffers.outputGrad =
      reader.check("gradient", reader.takeOperand("gradient"),
                   {batch, tokens, shape.heads, signature.values}, shape.type);
  float *state = nullptr, *sums = nullptr;
  checkState(reader, shape, reader.takeOperand("state"), "state", state);
  if (signature.normalize)
    checkSums(reader, shape, reader.takeOperand("key sum"), "key sum", sums);
  buffers.state = state;
  buffers.sums = sums;
  float *stateGrad = nullptr, *sumsGrad = nullptr;
  checkState(reader, shape, reader.takeOperand("gradient of final state"),
             "gradient of final state", stateGrad);
  if (signature.normalize)
    checkSums(reader, shape, reader.takeOperand("gradient of final key sum"),
              "gradient of final key sum", sumsGrad);
  buffers.finalStateGrad = stateGrad;
  buffers.finalSumsGrad = sumsGrad;
}

static ffi::Error runGradCall(ffi::ThreadPool pool,
                              ffi::RemainingArgs arguments,
                              ffi::RemainingRets results,
                              ffi::Dictionary config) {
  CallReader reader(arguments, results, config);
  CallShape shape;
  CommonOperands common = readCommon(reader, shape, /*hasQueries=*/true);
  shape.signature.scale = reader.getAttribute<double>("scale");
  // Checkpoints save nothing here: states are computed twice in the cache.
  auto policy = reader.getAttribute<std::string_view>("state_policy");
  shape.signature.reverse = policy == "reverse";
  if (policy != "rescan" && policy != "checkpoint" && policy != "reverse")
    reader.fail("expects state_policy rescan, checkpoint or reverse in "
                "backend_config, got \"" +
                std::string(policy) + "\"");
  ActLinearAttentionGradBuffers buffers = {};
  buffers.q = common.q;
  buffers.k = common.k;
  buffers.v = common.v;
  buffers.decay = common.decay;
  readGradOperands(reader, shape, buffers);
  readGradResults(reader, shape, buffers);
  return runCall(reader, shape, ActOperationGrad, [&] {
    XlaWorkers workers(pool);
    return runGrad(shape.signature, buffers, workers);
  });
}

#define ACT_DEFINE_HANDLER(NAME, FUNCTION)                                     \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(NAME, FUNCTION,                                \
                                ffi::Ffi::Bind()                               \
                                    .Ctx<ffi::ThreadPool>()                    \
                                    .RemainingArgs()                           \
                                    .RemainingRets()                           \
                                    .Attrs())

// The macro says nothing about visibility.
#pragma GCC visibility push(default)
ACT_DEFINE_HANDLER(ActLinearAttention, runForwardCall);
ACT_DEFINE_HANDLER(ActLinearAttentionGrad, runGradCall);
ACT_DEFINE_HANDLER(ActLinearAttentionState, runStateCall);
#pragma GCC visibility pop
