//===- KernelEmitter.cpp - Kernels of linear attention ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::act;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static MemRefType getStridedType(ArrayRef<int64_t> shape, Type elementType,
                                 ArrayRef<int64_t> strides) {
  auto layout = StridedLayoutAttr::get(elementType.getContext(),
                                       ShapedType::kDynamic, strides);
  return MemRefType::get(shape, elementType, layout);
}

namespace {
/// The types of a kernel's arguments.
struct ArgumentTypes {
  explicit ArgumentTypes(const LinearAttentionKernelOptions &options)
      : options(options) {
    MLIRContext *context = options.inputType.getContext();
    sumType = Float32Type::get(context);
  }

  Type getRows(int64_t columns) const {
    return getStridedType({ShapedType::kDynamic, columns}, options.inputType,
                          {ShapedType::kDynamic, 1});
  }
  Type getTokens() const {
    return getStridedType({ShapedType::kDynamic}, sumType,
                          {ShapedType::kDynamic});
  }
  Type getState() const {
    return getStridedType({options.features, options.values}, sumType,
                          {ShapedType::kDynamic, 1});
  }
  /// One row, so that it is accessed as a state is.
  Type getSums() const {
    return getStridedType({1, options.features}, sumType,
                          {ShapedType::kDynamic, 1});
  }
  Type getDecayGrad() const {
    if (options.decay == DecayKind::Token)
      return getTokens();
    return getStridedType({ShapedType::kDynamic},
                          Float64Type::get(sumType.getContext()),
                          {ShapedType::kDynamic});
  }
  Type getWorkspace() const {
    return MemRefType::get({ShapedType::kDynamic},
                           IntegerType::get(sumType.getContext(), 8));
  }

  const LinearAttentionKernelOptions &options;
  FloatType sumType;
};

/// What a kernel's arguments are, in order.
class ArgumentList {
public:
  explicit ArgumentList(const LinearAttentionKernelOptions &options);

  SmallVector<Type> types;
};
} // namespace

ArgumentList::ArgumentList(const LinearAttentionKernelOptions &options) {
  ArgumentTypes all(options);
  auto add = [&](Type type) { types.push_back(type); };
  auto addState = [&] {
    add(all.getState());
    if (options.normalize)
      add(all.getSums());
  };
  using Kind = LinearAttentionKernelKind;
  Kind kind = options.kind;
  bool isGrad = kind == Kind::QueryGrad || kind == Kind::KeyValueGrad;
  bool hasDecay = options.decay != DecayKind::None;
  Type features = all.getRows(options.features);
  Type values = all.getRows(options.values);
  if (kind != Kind::State)
    add(features);
  add(features);
  add(values);
  if (hasDecay)
    add(all.getTokens());
  if (isGrad && options.normalize) {
    add(values);
    add(all.getTokens());
  }
  if (isGrad)
    add(values);
  addState();
  if (kind == Kind::Forward) {
    add(values);
    if (options.normalize)
      add(all.getTokens());
    addState();
  } else if (kind == Kind::State) {
    addState();
  } else if (kind == Kind::QueryGrad) {
    add(features);
  } else {
    add(features);
    add(values);
  }
  if (isGrad && hasDecay)
    add(all.getDecayGrad());
  if (isGrad)
    addState();
  add(all.getWorkspace());
}

KernelEmitter::KernelEmitter(ImplicitLocOpBuilder &builder,
                             func::FuncOp function,
                             const LinearAttentionKernelOptions &options,
                             const VectorTarget &target)
    : b(builder), function(function), options(options),
      tiles(builder, target, builder.getF32Type(),
            function.getArguments().back()),
      C(options.chunk), M(options.features), D(options.values) {}

void KernelEmitter::takeArguments() {
  unsigned position = 0;
  auto take = [&]() -> Value { return function.getArgument(position++); };
  auto takeState = [&](Value &state, Value &sums) {
    state = take();
    if (options.normalize)
      sums = take();
  };
  using Kind = LinearAttentionKernelKind;
  bool isGrad =
      options.kind == Kind::QueryGrad || options.kind == Kind::KeyValueGrad;
  if (options.kind != Kind::State)
    q = take();
  k = take();
  v = take();
  if (hasDecay())
    decayArgument = take();
  if (isGrad && options.normalize) {
    o = take();
    d = take();
  }
  if (isGrad)
    outputGrad = take();
  takeState(stateIn, sumsIn);
  if (options.kind == Kind::Forward) {
    o = take();
    if (options.normalize)
      d = take();
    takeState(stateOut, sumsOut);
  } else if (options.kind == Kind::State) {
    takeState(stateOut, sumsOut);
  } else if (options.kind == Kind::QueryGrad) {
    queryGrad = take();
  } else {
    keyGrad = take();
    valueGrad = take();
  }
  if (isGrad && hasDecay())
    decayGrad = take();
  if (isGrad)
    takeState(stateOut, sumsOut);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

void KernelEmitter::emit() {
  takeArguments();
  tokenCount = memref::DimOp::create(b, k, 0);
  FloatType type = options.inputType;
  queryStaging = tiles.allocate(C, M, type);
  keyStaging = tiles.allocate(C, M, type);
  valueStaging = tiles.allocate(C, D, type);
  outputStaging = tiles.allocate(C, D, type);
  destinationStaging = tiles.allocate(C, M, type);
  if (options.normalize) {
    secondStaging = tiles.allocate(C, D, type);
    denominators = tiles.allocate(1, C);
    inverses = tiles.allocate(1, C);
    denominatorGrads = tiles.allocate(1, C);
  }
  switch (options.kind) {
  case LinearAttentionKernelKind::Forward:
  case LinearAttentionKernelKind::State:
    emitForward();
    break;
  case LinearAttentionKernelKind::QueryGrad:
    emitQueryGrad();
    break;
  case LinearAttentionKernelKind::KeyValueGrad:
    emitKeyValueGrad();
    break;
  }
  func::ReturnOp::create(b);
}

void KernelEmitter::emitForward() {
  bool hasQueries = options.kind == LinearAttentionKernelKind::Forward;
  Value state = tiles.allocate(M, D), sums;
  Value keys = tiles.allocate(C, M), values = tiles.allocate(C, D);
  Value queries, pairs;
  if (hasQueries) {
    queries = tiles.allocate(tiles.roundUp(M), C);
    pairs = tiles.allocate(C, C);
  }
  ChunkDecay decay = allocateDecay();
  loadState(stateIn, state);
  if (options.normalize) {
    sums = tiles.allocate(1, M);
    loadState(sumsIn, sums);
  }
  SmallVector<Value> inputs{k, v};
  if (hasQueries)
    inputs.push_back(q);
  forChunks(/*backwards=*/false, [&](const Chunk &chunk) {
    pack(readRows(k, chunk, keyStaging), keys, Value(),
         [&](Value x, Value) { return mapFeatures(x, /*isQuery=*/false); });
    pack(readRows(v, chunk, valueStaging), values, Value(),
         [&](Value x, Value) -> Value {
           return options.subtract ? Value(arith::NegFOp::create(b, x)) : x;
         });
    computeDecay(chunk, decay);
    if (hasQueries) {
      pack(readRows(q, chunk, queryStaging), Value(), queries,
           [&](Value x, Value) { return mapFeatures(x, /*isQuery=*/true); });
      computePairs(pairs, keys, queries, M, /*initial=*/Value(), decay);
      if (options.normalize)
        computeDenominators(chunk, pairs, queries, sums, decay);
    }
    if (decay)
      scaleRows(keys, keys, decay.untilEnd);
    Value outputs;
    if (hasQueries)
      outputs = writeRows(o, chunk, outputStaging, /*accumulate=*/false);
    // Some columns of the state at a time: they are near when they change.
    tiles.forColumnTiles(D, [&](int64_t vectors, Value column) {
      if (hasQueries)
        computeOutputs(chunk, queries, state, pairs, values, decay, vectors,
                       column, outputs);
      updateState(chunk, state, M, keys, values, decay, vectors, column,
                  inputs);
    });
    if (hasQueries)
      finishRows(o, chunk, outputStaging);
    if (options.normalize)
      updateSums(sums, keys, /*factors=*/Value(), chunk.tokens, decay);
  });
  storeState(state, stateOut);
  if (options.normalize)
    storeState(sums, sumsOut);
}

void KernelEmitter::computeOutputs(const Chunk &chunk, Value queries,
                                   Value state, Value pairs, Value values,
                                   const ChunkDecay &decay, int64_t vectors,
                                   Value column, Value outputs) {
  tiles.forRowTiles(C, vectors, [&](TileShape shape, Value row) {
    Tile tile = tiles.zeroTile(shape);
    tiles.accumulate(shape, tile, {queries, /*transposed=*/true}, row, state,
                     column, M);
    if (decay)
      tiles.scaleRows(shape, tile, decay.sinceStart, row);
    tiles.accumulateTriangle(shape, tile, {pairs, /*transposed=*/true}, row,
                             values, column, Triangle::Lower, C);
    if (options.normalize)
      tiles.scaleRows(shape, tile, inverses, row);
    forVectors(shape, row, column, [&](int64_t i, Value r, Value c) {
      storeRow(tile[i], outputs, r, c, /*accumulate=*/false);
    });
  });
}

void KernelEmitter::forVectors(TileShape shape, Value row, Value column,
                               function_ref<void(int64_t, Value, Value)> body) {
  for (int64_t r = 0; r < shape.rows; ++r)
    for (int64_t c = 0; c < shape.vectors; ++c)
      body(r * shape.vectors + c, tiles.add(row, r),
           tiles.add(column, c * tiles.getLanes()));
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

int64_t mlir::act::chooseChunk(const LinearAttentionKernelOptions &options,
                               const VectorTarget &target) {
  int64_t lanes = std::max<int64_t>(target.vectorBits / 32, 1);
  int64_t preferred = 16;
  return (preferred + lanes - 1) / lanes * lanes;
}

FailureOr<LinearAttentionKernel> mlir::act::buildLinearAttentionKernel(
    ModuleOp module, StringRef name,
    const LinearAttentionKernelOptions &original, const VectorTarget &target) {
  LinearAttentionKernelOptions options = original;
  std::string reason;
  if (failed(isLinearAttentionKernelSupported(options, reason)))
    return module.emitError(reason);
  int64_t lanes = target.vectorBits / 32;
  if (options.chunk == 0)
    options.chunk = chooseChunk(options, target);
  options.chunk = (options.chunk + lanes - 1) / lanes * lanes;

  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  auto type = b.getFunctionType(ArgumentList(options).types, {});
  auto function = func::FuncOp::create(b, name, type);
  b.setInsertionPointToStart(function.addEntryBlock());
  KernelEmitter emitter(b, function, options, target);
  emitter.emit();
  return LinearAttentionKernel{function, emitter.getWorkspaceBytes(),
                               options.chunk};
}

LogicalResult mlir::act::isLinearAttentionKernelSupported(
    const LinearAttentionKernelOptions &options, std::string &reason) {
  auto fail = [&](const Twine &message) {
    reason = message.str();
    return failure();
  };
  if (!isa<VectorFeatureMapInterface>(options.featureMap))
    return fail("expects a feature map that works element by element, got " +
                options.featureMap.getName());
  if (options.decay == DecayKind::Channel)
    return fail("expects decay per head or per token, got one per channel");
  if (!options.inputType ||
      !(options.inputType.isF32() || options.inputType.isF16() ||
        options.inputType.isBF16()))
    return fail("expects f32, f16 or bf16 inputs, got " +
                llvm::formatv("{0}", Type(options.inputType)).str());
  constexpr int64_t maximum = 1024;
  if (options.features < 1 || options.features > maximum)
    return fail("expects 1 to 1024 features, got " + Twine(options.features));
  if (options.values < 1 || options.values > maximum)
    return fail("expects 1 to 1024 values, got " + Twine(options.values));
  if (options.chunk < 0)
    return fail("expects a chunk that is not negative, got " +
                Twine(options.chunk));
  return success();
}
