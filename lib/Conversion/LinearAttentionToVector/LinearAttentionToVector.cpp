//===- LinearAttentionToVector.cpp - Vector code for linear attention
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/LinearAttentionToVector/LinearAttentionToVector.h"
#include "act/Conversion/Passes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::act {
#define GEN_PASS_DEF_CONVERTLINEARATTENTIONTOVECTORPASS
#define GEN_PASS_DEF_EXPANDVECTOREXPPASS
#include "act/Conversion/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

using AttentionKernelKind = LinearAttentionKernelKind;

namespace {
/// Replaces one operation on buffers by calls of kernels, one per sequence and
/// head.
class OpLowering {
public:
  OpLowering(LinearAttentionOpInterface op, SymbolTable &symbols,
             const VectorTarget &target)
      : op(op), module(op->getParentOfType<ModuleOp>()), symbols(symbols),
        target(target), b(op->getLoc(), op) {}

  LogicalResult lower();

private:
  LogicalResult verify();
  LinearAttentionKernelOptions getOptions(AttentionKernelKind kind);
  FailureOr<LinearAttentionKernel> getKernel(AttentionKernelKind kind);
  /// Calls a kernel that takes `rows` and the states, which it changes, and
  /// writes `results`. Null values are not passed.
  LogicalResult lowerSweep(AttentionKernelKind kind, ArrayRef<Value> rows,
                           ArrayRef<Value> results);
  LogicalResult lowerGrad(LinearAttentionGradOp grad);

  /// Emits a parallel loop over sequences and heads.
  void forHeads(int64_t heads,
                function_ref<void(Value sequence, Value head)> body);
  Value createIndex(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  /// The part of a buffer that belongs to a sequence and a head, cast to the
  /// type that the kernel's next argument has.
  Value createView(Value buffer, Value sequence, Value head, bool isState);
  void addArgument(SmallVectorImpl<Value> &arguments, func::FuncOp kernel,
                   Value view);
  void createCall(const LinearAttentionKernel &kernel,
                  SmallVectorImpl<Value> &arguments);

  LinearAttentionOpInterface op;
  ModuleOp module;
  SymbolTable &symbols;
  VectorTarget target;
  ImplicitLocOpBuilder b;
};
} // namespace

LogicalResult OpLowering::verify() {
  if (!isa<MemRefType>(op.getKey().getType()))
    return op->emitOpError("expects buffers, got ") << op.getKey().getType();
  int64_t heads = op.getNumStateHeads();
  if ((op.getQuery() && op.getNumQueryHeads() != heads) ||
      op.getNumKeyHeads() != heads || op.getNumValueHeads() != heads)
    return op->emitOpError("expects as many query, key and value heads as "
                           "states to lower it to vectors, ")
           << heads;
  if (isa<LinearAttentionGradOp>(op) && op.getDecay())
    return op->emitOpError("expects no decay to lower its gradient to vectors");
  for (int64_t size : {op.getNumFeatures(), op.getValueSize()})
    if (ShapedType::isDynamic(size))
      return op->emitOpError(
          "expects static numbers of features and values to lower it to "
          "vectors");
  for (Value operand : op->getOperands()) {
    auto type = cast<MemRefType>(operand.getType());
    if (!type.isLastDimUnitStride())
      return op->emitOpError("expects rows without gaps, got ") << type;
  }
  LinearAttentionKernelOptions options =
      getOptions(AttentionKernelKind::Forward);
  std::string reason;
  if (failed(isLinearAttentionKernelSupported(options, reason)))
    return op->emitOpError() << reason << " to lower it to vectors";
  return success();
}

LinearAttentionKernelOptions OpLowering::getOptions(AttentionKernelKind kind) {
  LinearAttentionKernelOptions options;
  options.kind = kind;
  options.featureMap = op.getFeatureMap();
  options.inputType = cast<FloatType>(op.getRowElementType());
  options.features = op.getNumFeatures();
  options.values = op.getValueSize();
  options.normalize = op.getNormalize();
  options.decay = op.getDecayKind();
  options.chunk = op.getChunk();
  if (auto attention = dyn_cast<LinearAttentionOp>(op.getOperation())) {
    options.scale = attention.getScale().convertToDouble();
    options.epsilon = attention.getEpsilon().convertToDouble();
  } else if (auto grad = dyn_cast<LinearAttentionGradOp>(op.getOperation())) {
    options.scale = grad.getScale().convertToDouble();
  } else {
    options.subtract =
        cast<LinearAttentionStateOp>(op.getOperation()).getSubtract();
  }
  return options;
}

FailureOr<LinearAttentionKernel>
OpLowering::getKernel(AttentionKernelKind kind) {
  static constexpr StringLiteral names[] = {
      "act_linear_attention_forward", "act_linear_attention_state",
      "act_linear_attention_query_grad", "act_linear_attention_key_value_grad"};
  auto kernel = buildLinearAttentionKernel(
      module, names[static_cast<int>(kind)], getOptions(kind), target);
  if (failed(kernel))
    return failure();
  kernel->function->remove();
  kernel->function.setPrivate();
  symbols.insert(kernel->function);
  return kernel;
}

void OpLowering::forHeads(int64_t heads,
                          function_ref<void(Value sequence, Value head)> body) {
  Value batch = b.createOrFold<memref::DimOp>(op.getKey(), 0);
  SmallVector<OpFoldResult> bounds{getAsOpFoldResult(batch),
                                   b.getIndexAttr(heads)};
  auto loop = scf::ForallOp::create(b, bounds, ValueRange(), std::nullopt);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVars()[0], loop.getInductionVars()[1]);
}

Value OpLowering::createView(Value buffer, Value sequence, Value head,
                             bool isState) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t rank = type.getRank();
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets(rank, zero), sizes, strides(rank, one);
  for (int64_t axis = 0; axis < rank; ++axis)
    sizes.push_back(memref::getMixedSize(b, b.getLoc(), buffer, axis));
  int64_t headAxis = isState ? 1 : 2;
  // [H] holds a number per head; [B, T, H, ...] and states the rest.
  SmallVector<int64_t> kept;
  if (rank == 1) {
    offsets[0] = head;
    sizes[0] = one;
    kept.push_back(1);
  } else {
    offsets[0] = sequence;
    offsets[headAxis] = head;
    sizes[0] = sizes[headAxis] = one;
    if (isState && rank == 3)
      kept.push_back(1);
    for (int64_t axis = 1; axis < rank; ++axis)
      if (axis != headAxis)
        kept.push_back(type.getDimSize(axis));
  }
  auto viewType = memref::SubViewOp::inferRankReducedResultType(
      kept, type, offsets, sizes, strides);
  return memref::SubViewOp::create(b, cast<MemRefType>(viewType), buffer,
                                   offsets, sizes, strides);
}

void OpLowering::addArgument(SmallVectorImpl<Value> &arguments,
                             func::FuncOp kernel, Value view) {
  Type type = kernel.getArgumentTypes()[arguments.size()];
  if (view.getType() != type)
    view = memref::CastOp::create(b, type, view);
  arguments.push_back(view);
}

void OpLowering::createCall(const LinearAttentionKernel &kernel,
                            SmallVectorImpl<Value> &arguments) {
  auto type = MemRefType::get({kernel.workspaceBytes}, b.getI8Type());
  Value workspace =
      memref::AllocOp::create(b, type, /*alignment=*/b.getI64IntegerAttr(64));
  addArgument(arguments, kernel.function, workspace);
  func::CallOp::create(b, kernel.function, arguments);
  memref::DeallocOp::create(b, workspace);
}

LogicalResult OpLowering::lowerSweep(AttentionKernelKind kind,
                                     ArrayRef<Value> rows,
                                     ArrayRef<Value> results) {
  auto kernel = getKernel(kind);
  if (failed(kernel))
    return failure();
  forHeads(op.getNumHeads(), [&](Value sequence, Value head) {
    SmallVector<Value> arguments;
    auto add = [&](ArrayRef<Value> buffers, bool isState) {
      for (Value buffer : buffers)
        if (buffer)
          addArgument(arguments, kernel->function,
                      createView(buffer, sequence, head, isState));
    };
    Value states[] = {op.getState(), op.getKeySum()};
    add(rows, false);
    add(states, true);
    add(results, false);
    add(states, true);
    createCall(*kernel, arguments);
  });
  return success();
}

LogicalResult OpLowering::lowerGrad(LinearAttentionGradOp grad) {
  if (isa<ReverseAttr>(grad.getStatePolicy()))
    return op->emitOpError("expects the state before the first token to lower "
                           "it to vectors, got state_policy ")
           << grad.getStatePolicy();
  auto queries = getKernel(AttentionKernelKind::QueryGrad);
  auto keys = getKernel(AttentionKernelKind::KeyValueGrad);
  if (failed(queries) || failed(keys))
    return failure();
  auto getStateCopy = [&](Type type) -> Value {
    // The states that the query kernel comes to are not wanted.
    auto memref = cast<MemRefType>(type);
    return memref::AllocOp::create(
        b, MemRefType::get(memref.getShape(), memref.getElementType()));
  };
  forHeads(op.getNumHeads(), [&](Value sequence, Value head) {
    SmallVector<Value> arguments, unwanted;
    func::FuncOp kernel = queries->function;
    auto add = [&](Value buffer, bool isState) {
      if (buffer)
        addArgument(arguments, kernel,
                    createView(buffer, sequence, head, isState));
    };
    auto addInputs = [&] {
      for (Value buffer :
           {op.getQuery(), op.getKey(), op.getValue(), grad.getOutput(),
            grad.getDenominator(), grad.getGradient()})
        add(buffer, false);
    };
    addInputs();
    add(op.getState(), true);
    add(op.getKeySum(), true);
    add(grad.getQueryGradient(), false);
    for (int i = 0; i < (op.getNormalize() ? 2 : 1); ++i) {
      unwanted.push_back(
          getStateCopy(kernel.getArgumentTypes()[arguments.size()]));
      addArgument(arguments, kernel, unwanted.back());
    }
    createCall(*queries, arguments);
    for (Value buffer : unwanted)
      memref::DeallocOp::create(b, buffer);

    arguments.clear();
    kernel = keys->function;
    addInputs();
    Value state = grad.getInitialStateGradient();
    Value sums = grad.getInitialKeySumGradient();
    add(state, true);
    add(sums, true);
    add(grad.getKeyGradient(), false);
    add(grad.getValueGradient(), false);
    add(state, true);
    add(sums, true);
    createCall(*keys, arguments);
  });
  return success();
}

LogicalResult OpLowering::lower() {
  if (failed(verify()))
    return failure();
  LogicalResult result = success();
  if (auto attention = dyn_cast<LinearAttentionOp>(op.getOperation()))
    result =
        lowerSweep(AttentionKernelKind::Forward,
                   {op.getQuery(), op.getKey(), op.getValue(), op.getDecay()},
                   {attention.getOutput(), attention.getDenominator()});
  else if (auto grad = dyn_cast<LinearAttentionGradOp>(op.getOperation()))
    result = lowerGrad(grad);
  else
    result = lowerSweep(AttentionKernelKind::State,
                        {op.getKey(), op.getValue(), op.getDecay()}, {});
  if (succeeded(result))
    op->erase();
  return result;
}

LogicalResult
mlir::act::convertLinearAttentionToVector(ModuleOp module,
                                          const VectorTarget &target) {
  SmallVector<LinearAttentionOpInterface> ops;
  module.walk([&](LinearAttentionOpInterface op) { ops.push_back(op); });
  SymbolTable symbols(module);
  for (LinearAttentionOpInterface op : ops)
    if (failed(OpLowering(op, symbols, target).lower()))
      return failure();
  return success();
}

namespace {
struct ConvertLinearAttentionToVectorPass
    : public act::impl::ConvertLinearAttentionToVectorPassBase<
          ConvertLinearAttentionToVectorPass> {
  using ConvertLinearAttentionToVectorPassBase::
      ConvertLinearAttentionToVectorPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, func::FuncDialect, math::MathDialect,
                    memref::MemRefDialect, scf::SCFDialect,
                    vector::VectorDialect>();
    registerVectorFeatureMapModels(registry);
  }

  void runOnOperation() override {
    if (vectorBits < 128 || vectorBits > 2048 ||
        (vectorBits & (vectorBits - 1)) != 0) {
      getOperation().emitError(
          "expects vector-bits to be a power of two from 128 to 2048, got ")
          << vectorBits.getValue();
      return signalPassFailure();
    }
    if (vectorRegisters < 8 || vectorRegisters > 1024) {
      getOperation().emitError("expects vector-registers from 8 to 1024, got ")
          << vectorRegisters.getValue();
      return signalPassFailure();
    }
    if (failed(convertLinearAttentionToVector(getOperation(),
                                              {vectorBits, vectorRegisters})))
      signalPassFailure();
  }
};

struct ExpandVectorExpPass
    : public act::impl::ExpandVectorExpPassBase<ExpandVectorExpPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateExpandVectorExpPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
