//===- LinearAttentionCalls.cpp - Linear attention as custom calls --------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/LinearAttentionCalls.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::act;

FeatureMapAttrInterface mlir::act::getFeatureMap(MLIRContext *context,
                                                 StringRef name) {
  FeatureMapAttrInterface maps[] = {
      IdentityAttr::get(context),   ReluAttr::get(context),
      EluPlusOneAttr::get(context), SquareAttr::get(context),
      ExpAttr::get(context),        FavorPlusAttr::get(context)};
  for (FeatureMapAttrInterface map : maps)
    if (map.getName() == name)
      return map;
  return {};
}

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

StringRef mlir::act::getCallTarget(LinearAttentionOpInterface op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op.getOperation())
      .Case([](LinearAttentionOp) { return kForwardCall; })
      .Case([](LinearAttentionGradOp) { return kGradientCall; })
      .Case([](LinearAttentionStateOp) { return kStateCall; });
}

static StringRef getPolicyName(Attribute policy) {
  return llvm::TypeSwitch<Attribute, StringRef>(policy)
      .Case<RescanAttr, CheckpointAttr, ReverseAttr>(
          [](auto typed) { return typed.getMnemonic(); });
}

DictionaryAttr mlir::act::getCallConfig(LinearAttentionOpInterface op) {
  Builder b(op.getContext());
  SmallVector<NamedAttribute> config;
  auto add = [&](StringRef name, Attribute value) {
    config.push_back(b.getNamedAttr(name, value));
  };
  auto addFactors = [&](auto typed) {
    add("scale", b.getFloatAttr(b.getF64Type(), typed.getScale()));
    add("epsilon", b.getFloatAttr(b.getF64Type(), typed.getEpsilon()));
  };
  add("feature_map", b.getStringAttr(op.getFeatureMap().getName()));
  add("normalize", b.getBoolAttr(op.getNormalize()));
  add("chunk", b.getI64IntegerAttr(op.getChunk()));
  add("decay", b.getStringAttr(stringifyDecayKind(op.getDecayKind())));
  llvm::TypeSwitch<Operation *>(op.getOperation())
      .Case([&](LinearAttentionOp forward) { addFactors(forward); })
      .Case([&](LinearAttentionGradOp gradient) {
        addFactors(gradient);
        Attribute policy = gradient.getStatePolicy();
        auto checkpoint = dyn_cast<CheckpointAttr>(policy);
        add("state_policy", b.getStringAttr(getPolicyName(policy)));
        add("segment",
            b.getI64IntegerAttr(checkpoint ? checkpoint.getSegment() : 0));
      })
      .Case([&](LinearAttentionStateOp state) {
        add("subtract", b.getBoolAttr(state.getSubtract()));
      });
  return b.getDictionaryAttr(config);
}

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

bool mlir::act::isLinearAttentionCall(Operation *op) {
  if (op->getName().getStringRef() != "stablehlo.custom_call")
    return false;
  auto target = op->getAttrOfType<StringAttr>("call_target_name");
  return target && llvm::is_contained({kForwardCall, kGradientCall, kStateCall},
                                      target.getValue());
}

namespace {
/// Reads one call and builds what it stands for.
class CallRaiser {
public:
  explicit CallRaiser(Operation *call)
      : call(call), b(call), operands(call->getOperands()),
        target(call->getAttrOfType<StringAttr>("call_target_name").getValue()) {
  }

  LogicalResult run();

private:
  LogicalResult verifyCall();
  LogicalResult verifyLayouts(StringRef name, TypeRange types);
  LogicalResult readConfig();
  LogicalResult readPolicy();
  LogicalResult checkKeys();
  LogicalResult checkCounts();
  LogicalResult checkStates();
  Operation *build();

  template <typename AttrTy>
  FailureOr<AttrTy> read(StringRef key, StringRef kind);
  FailureOr<int64_t> readInteger(StringRef key);
  FailureOr<bool> readBool(StringRef key);
  FailureOr<FloatAttr> readFloat(StringRef key);

  /// The next operand, or the next `count`.
  Value take() { return take(1).front(); }
  ValueRange take(size_t count) {
    ValueRange taken = operands.take_front(count);
    operands = operands.drop_front(count);
    return taken;
  }
  size_t getNumStates() const { return normalize ? 2 : 1; }
  bool isGradient() const { return target == kGradientCall; }
  bool isState() const { return target == kStateCall; }
  /// Results that are no states.
  size_t getNumRows() const;

  Operation *call;
  OpBuilder b;
  ValueRange operands;
  StringRef target;
  DictionaryAttr config;
  llvm::StringSet<> keys;
  FeatureMapAttrInterface map;
  DecayKind decay;
  bool normalize, subtract = false;
  int64_t chunk;
  FloatAttr scale, epsilon;
  Attribute policy;
};
} // namespace

LogicalResult CallRaiser::verifyLayouts(StringRef name, TypeRange types) {
  auto layouts = call->getAttrOfType<ArrayAttr>(name);
  if (!layouts)
    return success();
  for (auto [layout, type] : llvm::zip(layouts, types)) {
    auto axes = dyn_cast<DenseIntElementsAttr>(layout);
    int64_t next = cast<RankedTensorType>(type).getRank();
    bool isRowMajor = axes && axes.getNumElements() == next &&
                      llvm::all_of(axes.getValues<APInt>(), [&](APInt axis) {
                        return axis.getSExtValue() == --next;
                      });
    if (!isRowMajor)
      return call->emitOpError("expects row-major ")
             << name << ", got " << layout;
  }
  return success();
}

LogicalResult CallRaiser::verifyCall() {
  auto types =
      llvm::concat<const Type>(llvm::to_vector(call->getOperandTypes()),
                               llvm::to_vector(call->getResultTypes()));
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return call->emitOpError("of ")
             << target << " expects tensors of static shape, got " << type;
  }
  if (auto effect = call->getAttrOfType<BoolAttr>("has_side_effect");
      effect && effect.getValue())
    return call->emitOpError("of ") << target << " expects no side effect";
  config = call->getAttrOfType<DictionaryAttr>("backend_config");
  if (!config)
    return call->emitOpError("of ")
           << target << " expects a dictionary as backend_config";
  if (failed(verifyLayouts("operand_layouts", call->getOperandTypes())))
    return failure();
  return verifyLayouts("result_layouts", call->getResultTypes());
}

template <typename AttrTy>
FailureOr<AttrTy> CallRaiser::read(StringRef key, StringRef kind) {
  keys.insert(key);
  Attribute value = config.get(key);
  if (auto typed = dyn_cast_or_null<AttrTy>(value))
    return typed;
  InFlightDiagnostic error = call->emitOpError("of ")
                             << target << " expects " << key
                             << " in its backend_config to be " << kind;
  if (value)
    error << ", got " << value;
  return failure();
}

FailureOr<int64_t> CallRaiser::readInteger(StringRef key) {
  FailureOr<IntegerAttr> value = read<IntegerAttr>(key, "an i64");
  if (failed(value))
    return failure();
  if (!value->getType().isInteger(64))
    return call->emitOpError("of ")
           << target << " expects " << key
           << " in its backend_config to be an i64, got " << *value;
  return value->getInt();
}

FailureOr<bool> CallRaiser::readBool(StringRef key) {
  FailureOr<BoolAttr> value = read<BoolAttr>(key, "an i1");
  if (failed(value))
    return failure();
  return value->getValue();
}

FailureOr<FloatAttr> CallRaiser::readFloat(StringRef key) {
  FailureOr<FloatAttr> value = read<FloatAttr>(key, "an f64");
  if (succeeded(value) && !value->getType().isF64())
    return call->emitOpError("of ")
           << target << " expects " << key
           << " in its backend_config to be an f64, got " << *value;
  return value;
}

LogicalResult CallRaiser::readPolicy() {
  FailureOr<StringAttr> name = read<StringAttr>("state_policy", "a string");
  if (failed(name))
    return failure();
  FailureOr<int64_t> segment = readInteger("segment");
  if (failed(segment))
    return failure();
  MLIRContext *context = call->getContext();
  bool isCheckpoint = name->getValue() == CheckpointAttr::getMnemonic();
  if (isCheckpoint != (*segment > 0) || *segment < 0)
    return call->emitOpError("of ")
           << target << " expects " << (isCheckpoint ? "a positive" : "no")
           << " segment with state_policy " << *name << ", got " << *segment;
  if (isCheckpoint)
    policy = CheckpointAttr::get(context, *segment);
  else if (name->getValue() == RescanAttr::getMnemonic())
    policy = RescanAttr::get(context);
  else if (name->getValue() == ReverseAttr::getMnemonic())
    policy = ReverseAttr::get(context);
  else
    return call->emitOpError("of ")
           << target
           << " expects state_policy to be rescan, checkpoint or reverse, got "
           << *name;
  return success();
}

LogicalResult CallRaiser::readConfig() {
  FailureOr<StringAttr> mapName = read<StringAttr>("feature_map", "a string");
  FailureOr<StringAttr> decayName = failure();
  FailureOr<bool> normalizes = failure();
  FailureOr<int64_t> chunkHint = failure();
  if (failed(mapName) ||
      failed(decayName = read<StringAttr>("decay", "a string")) ||
      failed(normalizes = readBool("normalize")) ||
      failed(chunkHint = readInteger("chunk")))
    return failure();
  normalize = *normalizes;
  chunk = *chunkHint;
  map = getFeatureMap(call->getContext(), mapName->getValue());
  if (!map)
    return call->emitOpError("of ")
           << target << " expects a known feature_map, got " << *mapName;
  std::optional<DecayKind> kind = symbolizeDecayKind(decayName->getValue());
  if (!kind)
    return call->emitOpError("of ")
           << target
           << " expects decay to be none, head, token or channel, got "
           << *decayName;
  decay = *kind;
  if (isState()) {
    FailureOr<bool> subtracts = readBool("subtract");
    if (failed(subtracts))
      return failure();
    subtract = *subtracts;
    return success();
  }
  FailureOr<FloatAttr> factor = readFloat("scale"), addend = failure();
  if (failed(factor) || failed(addend = readFloat("epsilon")))
    return failure();
  scale = *factor;
  epsilon = *addend;
  return isGradient() ? readPolicy() : success();
}

LogicalResult CallRaiser::checkKeys() {
  for (NamedAttribute attribute : config)
    if (!keys.contains(attribute.getName().getValue()))
      return call->emitOpError("of ")
             << target << " expects no key " << attribute.getName()
             << " in its backend_config";
  return success();
}

size_t CallRaiser::getNumRows() const {
  if (isState())
    return 0;
  if (isGradient())
    return decay == DecayKind::None ? 3 : 4;
  return normalize ? 2 : 1;
}

LogicalResult CallRaiser::checkCounts() {
  size_t count = (isState() ? 2 : 3) + (decay == DecayKind::None ? 0 : 1) +
                 (map.hasParameters() ? 1 : 0) + getNumStates();
  if (isGradient())
    count += 1 + (normalize ? 2 : 0) + getNumStates();
  if (call->getNumOperands() != count)
    return call->emitOpError("of ")
           << target << " expects " << count << " operands, got "
           << call->getNumOperands();
  count = getNumRows() + getNumStates();
  if (call->getNumResults() != count)
    return call->emitOpError("of ")
           << target << " expects " << count << " results, got "
           << call->getNumResults();
  return success();
}

/// Results that are states have the types of those they start from.
LogicalResult CallRaiser::checkStates() {
  for (size_t i = 0, e = getNumStates(); i < e; ++i) {
    Type from = call->getOperands().take_back(e)[i].getType();
    Type to = call->getResults().take_back(e)[i].getType();
    if (from != to)
      return call->emitOpError("of ")
             << target << " expects result " << getNumRows() + i
             << " of the type of the state " << from << ", got " << to;
  }
  return success();
}

Operation *CallRaiser::build() {
  Location loc = call->getLoc();
  SmallVector<Value> outs;
  for (Value result : call->getResults().take_front(getNumRows())) {
    auto tensor = cast<RankedTensorType>(result.getType());
    outs.push_back(tensor::EmptyOp::create(b, loc, tensor.getShape(),
                                           tensor.getElementType()));
  }
  Value query = isState() ? Value() : take();
  Value key = take(), value = take();
  Value factors = decay == DecayKind::None ? Value() : take();
  Value features = map.hasParameters() ? take() : Value();
  UnitAttr normalizeAttr = normalize ? b.getUnitAttr() : UnitAttr();
  IntegerAttr chunkAttr = b.getI64IntegerAttr(chunk);
  auto appendStates = [&] { llvm::append_range(outs, take(getNumStates())); };
  if (isState()) {
    appendStates();
    return LinearAttentionStateOp::create(
        b, loc, key, value, factors, features, outs, map, normalizeAttr,
        chunkAttr, subtract ? b.getUnitAttr() : UnitAttr());
  }
  if (!isGradient()) {
    appendStates();
    return LinearAttentionOp::create(b, loc, query, key, value, factors,
                                     features, outs, map, scale, normalizeAttr,
                                     epsilon, chunkAttr);
  }
  Value output = normalize ? take() : Value();
  Value denominator = normalize ? take() : Value();
  Value gradient = take();
  ValueRange states = take(getNumStates());
  appendStates();
  return LinearAttentionGradOp::create(b, loc, query, key, value, factors,
                                       features, output, denominator, gradient,
                                       states, outs, map, scale, normalizeAttr,
                                       epsilon, chunkAttr, policy);
}

LogicalResult CallRaiser::run() {
  if (failed(verifyCall()) || failed(readConfig()) || failed(checkKeys()) ||
      failed(checkCounts()) || failed(checkStates()))
    return failure();
  Operation *op = build();
  if (failed(mlir::verify(op)))
    return failure();
  if (cast<LinearAttentionOpInterface>(op).getDecayKind() != decay)
    return call->emitOpError("of ")
           << target << " expects decay to be of the rank of decay "
           << stringifyDecayKind(decay) << ", got "
           << cast<LinearAttentionOpInterface>(op).getDecay().getType();
  call->replaceAllUsesWith(op->getResults());
  call->erase();
  return success();
}

LogicalResult mlir::act::raiseLinearAttentionCall(Operation *call) {
  return CallRaiser(call).run();
}
