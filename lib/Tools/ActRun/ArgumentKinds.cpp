//===- ArgumentKinds.cpp - What arguments of a step stand for ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Tools/ActRun/RandomArguments.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>
#include <deque>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::run;

/// State of optimizers is small.
static constexpr double stateScale = 1e-2;
static constexpr size_t maxVisited = 4000;

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// True if `op` hands the elements of its first operand on unchanged.
static bool isView(Operation *op) {
  static const llvm::StringSet<> names = {
      "sdy.sharding_constraint",    "stablehlo.bitcast_convert",
      "stablehlo.broadcast_in_dim", "stablehlo.convert",
      "stablehlo.dynamic_slice",    "stablehlo.optimization_barrier",
      "stablehlo.reduce_precision", "stablehlo.reshape",
      "stablehlo.reverse",          "stablehlo.slice",
      "stablehlo.transpose"};
  return names.contains(op->getName().getStringRef());
}

/// True if an index, or an index and a constant, passes through `op`.
static bool passesIndex(Operation *op) {
  static const llvm::StringSet<> names = {
      "stablehlo.add",         "stablehlo.and",     "stablehlo.clamp",
      "stablehlo.concatenate", "stablehlo.maximum", "stablehlo.minimum",
      "stablehlo.remainder",   "stablehlo.select",  "stablehlo.subtract"};
  return isView(op) || names.contains(op->getName().getStringRef());
}

/// True if the result of `op` is not negative where no operand is.
static bool keepsSign(Operation *op) {
  static const llvm::StringSet<> names = {
      "stablehlo.add",     "stablehlo.concatenate", "stablehlo.divide",
      "stablehlo.maximum", "stablehlo.multiply",    "stablehlo.power",
      "stablehlo.select"};
  return isView(op) || names.contains(op->getName().getStringRef());
}

static bool isConcatenation(Operation *op) {
  return isView(op) || op->getName().getStringRef() == "stablehlo.concatenate";
}

/// The name of what makes `value`, seen through views; empty for arguments.
static StringRef getProducer(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isView(op) && op->getNumOperands() > 0 &&
         op->getOperand(0).getDefiningOp())
    op = op->getOperand(0).getDefiningOp();
  return op && !isView(op) ? op->getName().getStringRef() : "";
}

static ArrayRef<int64_t> getShape(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

/// The numbers in `[...]` after `key = ` in the attribute `name`.
static SmallVector<int64_t> getNumbers(Operation *op, StringRef name,
                                       StringRef key) {
  Attribute attribute = op->getAttr(name);
  if (!attribute)
    return {};
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  StringRef rest = StringRef(text).split((key + " = [").str()).second;
  SmallVector<int64_t> numbers;
  for (StringRef part :
       llvm::split(rest.take_until([](char c) { return c == ']'; }), ',')) {
    int64_t number;
    if (!part.trim().getAsInteger(10, number))
      numbers.push_back(number);
  }
  return numbers;
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

namespace {
/// Follows values forward, through calls and into loops.
class UseFollower {
public:
  explicit UseFollower(ModuleOp module) : module(module) {
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      positions[op] = positions.size();
      if (auto call = dyn_cast<func::CallOp>(op))
        calls[call.getCallee()].push_back(call);
    });
  }

  size_t getPosition(Operation *op) const { return positions.lookup(op); }

  /// The uses of `value`, and of what operations with `passes` make of it, that
  /// are in no view, call or return.
  SmallVector<OpOperand *> follow(Value value,
                                  function_ref<bool(Operation *)> passes) const;

private:
  /// The values that `use` becomes across a region or call.
  SmallVector<Value> getTargets(OpOperand &use) const;

  mutable ModuleOp module;
  DenseMap<Operation *, size_t> positions;
  llvm::StringMap<SmallVector<func::CallOp>> calls;
};
} // namespace

SmallVector<Value> UseFollower::getTargets(OpOperand &use) const {
  Operation *op = use.getOwner();
  unsigned number = use.getOperandNumber();
  SmallVector<Value> targets;
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = module.lookupSymbol<func::FuncOp>(call.getCallee());
    if (callee && !callee.isExternal())
      targets.push_back(callee.getArgument(number));
  } else if (isa<func::ReturnOp>(op)) {
    auto function = op->getParentOfType<func::FuncOp>();
    for (func::CallOp call : calls.lookup(function.getName()))
      targets.push_back(call.getResult(number));
  } else if (op->getName().getStringRef() == "stablehlo.while") {
    for (Region &region : op->getRegions())
      if (number < region.getNumArguments())
        targets.push_back(region.getArgument(number));
  }
  return targets;
}

SmallVector<OpOperand *>
UseFollower::follow(Value value, function_ref<bool(Operation *)> passes) const {
  SmallVector<OpOperand *> uses;
  llvm::SetVector<Value> reached;
  reached.insert(value);
  for (size_t next = 0; next < reached.size() && reached.size() < maxVisited;
       ++next)
    for (OpOperand &use : reached[next].getUses()) {
      Operation *op = use.getOwner();
      SmallVector<Value> targets = getTargets(use);
      bool isPassed = passes(op);
      if (isPassed)
        llvm::append_range(targets, op->getResults());
      if (isPassed ? !isView(op) : !isView(op) && targets.empty())
        uses.push_back(&use);
      reached.insert(targets.begin(), targets.end());
    }
  return uses;
}

//===----------------------------------------------------------------------===//
// Kinds
//===----------------------------------------------------------------------===//

/// Below what an integer must stay, if anything says so.
static std::optional<int64_t> getIndexBound(Value value,
                                            const UseFollower &follower) {
  std::optional<int64_t> bound;
  auto add = [&](int64_t size) {
    if (size > 1)
      bound = std::min(bound.value_or(size), size);
  };
  for (OpOperand *use : follower.follow(value, passesIndex)) {
    Operation *op = use->getOwner();
    StringRef name = op->getName().getStringRef();
    unsigned number = use->getOperandNumber();
    bool isGather = name == "stablehlo.gather";
    if ((isGather || name == "stablehlo.scatter") && number == 1) {
      ArrayRef<int64_t> shape = getShape(op->getOperand(0));
      SmallVector<int64_t> dimensions =
          isGather ? getNumbers(op, "dimension_numbers", "start_index_map")
                   : getNumbers(op, "scatter_dimension_numbers",
                                "scatter_dims_to_operand_dims");
      for (int64_t dimension : dimensions)
        if (dimension < static_cast<int64_t>(shape.size()))
          add(shape[dimension]);
    } else if (name == "stablehlo.compare" &&
               getProducer(op->getOperand(1 - number)) == "stablehlo.iota") {
      ArrayRef<int64_t> shape = getShape(op->getResult(0));
      if (!shape.empty())
        add(shape.back());
    }
  }
  return bound;
}

/// Inverse root of the number of products that a dot_general adds up, so that
/// the variance stays.
static double getWeightDeviation(OpOperand &use) {
  Operation *op = use.getOwner();
  StringRef side = use.getOperandNumber() == 0 ? "lhs" : "rhs";
  int64_t size = 1;
  ArrayRef<int64_t> shape = getShape(use.get());
  for (int64_t dimension : getNumbers(op, "dot_dimension_numbers",
                                      (side + "_contracting_dimensions").str()))
    if (dimension < static_cast<int64_t>(shape.size()))
      size *= shape[dimension];
  return 1 / std::sqrt(std::max<int64_t>(size, 1));
}

/// The same for the kernel of a convolution with a rectifier behind it.
static double getKernelDeviation(OpOperand &use) {
  Operation *op = use.getOwner();
  ArrayRef<int64_t> shape = getShape(use.get());
  std::string text;
  if (Attribute attribute = op->getAttr("dimension_numbers"))
    llvm::raw_string_ostream(text) << attribute;
  // [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
  StringRef labels = StringRef(text).split("x[").second.split(']').first;
  int64_t outputs = shape.empty() ? 1 : shape.back();
  SmallVector<StringRef> names;
  labels.split(names, ',');
  for (auto [name, size] : llvm::zip(names, shape))
    if (name.trim() == "o")
      outputs = size;
  int64_t fanIn =
      ShapedType::getNumElements(shape) / std::max<int64_t>(outputs, 1);
  return std::sqrt(2.0 / std::max<int64_t>(fanIn, 1));
}

static ArgumentKind makeNormal(double deviation, double mean = 0) {
  return {ArgumentRole::Normal, mean, deviation};
}

/// How to draw floats, by what first computes with them.
static ArgumentKind getFloatKind(const ValueInfo &info, Value value,
                                 const UseFollower &follower) {
  bool isScaledByConstant = false;
  SmallVector<OpOperand *> uses = follower.follow(value, isConcatenation);
  // What forward does with a weight comes before its gradient.
  llvm::sort(uses, [&](OpOperand *lhs, OpOperand *rhs) {
    return std::pair(follower.getPosition(lhs->getOwner()),
                     lhs->getOperandNumber()) <
           std::pair(follower.getPosition(rhs->getOwner()),
                     rhs->getOperandNumber());
  });
  for (OpOperand *use : uses) {
    Operation *op = use->getOwner();
    StringRef name = op->getName().getStringRef();
    unsigned number = use->getOperandNumber();
    if (name == "stablehlo.dot_general")
      return makeNormal(getWeightDeviation(*use));
    if (name == "stablehlo.convolution")
      return number == 0 ? makeNormal(1) : makeNormal(getKernelDeviation(*use));
    if (name == "stablehlo.multiply" || name == "stablehlo.divide") {
      if (getProducer(op->getOperand(1 - number)) == "stablehlo.constant")
        isScaledByConstant = true;
      else if (info.shape.size() <= 1)
        return makeNormal(0.1, /*mean=*/1);
    }
    if (name == "stablehlo.gather" && number == 0)
      return makeNormal(0.5);
  }
  if (isScaledByConstant)
    return makeNormal(stateScale);
  return makeNormal(info.shape.size() <= 1 ? 0.1 : 1);
}

static bool isRoot(OpOperand *use) {
  StringRef name = use->getOwner()->getName().getStringRef();
  return name == "stablehlo.sqrt" || name == "stablehlo.rsqrt" ||
         name == "stablehlo.log";
}

/// `value` is null if nothing is known about its uses.
static ArgumentKind getKind(const ValueInfo &info, Value value,
                            const UseFollower &follower) {
  if (info.type == ElementType::Bool)
    return {ArgumentRole::Mask};
  if (info.type == ElementType::U32 || info.type == ElementType::U64)
    return {ArgumentRole::Key};
  if (!execution::isFloat(info.type)) {
    std::optional<int64_t> bound;
    if (value)
      bound = getIndexBound(value, follower);
    if (!bound && info.shape.empty())
      return {ArgumentRole::Counter};
    int64_t limit = execution::getByteWidth(info.type) == 1 ? 1 << 7 : 1 << 15;
    ArgumentKind kind{ArgumentRole::Index};
    kind.bound = std::min(bound.value_or(kind.bound), limit);
    return kind;
  }
  if (!value)
    return makeNormal(info.shape.size() <= 1 ? 0.1 : 1);
  if (llvm::any_of(follower.follow(value, keepsSign), isRoot))
    return {ArgumentRole::SecondMoment, 0, stateScale * stateScale};
  return getFloatKind(info, value, follower);
}

SmallVector<ArgumentKind> run::getArgumentKinds(ModuleOp module, StringRef name,
                                                ArrayRef<ValueInfo> arguments) {
  UseFollower follower(module);
  auto function = module.lookupSymbol<func::FuncOp>(name);
  bool isKnown = function && !function.isExternal() &&
                 function.getNumArguments() == arguments.size();
  SmallVector<ArgumentKind> kinds;
  for (auto [number, info] : llvm::enumerate(arguments))
    kinds.push_back(getKind(
        info, isKnown ? function.getArgument(number) : Value(), follower));
  return kinds;
}
