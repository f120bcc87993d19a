//===- ActToStablehlo.cpp - Saves, loads and barriers in StableHLO
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/ActToStablehlo/ActToStablehlo.h"
#include "CodecBuilder.h"
#include "EncodingModels.h"
#include "RunningRange.h"
#include "act/Analysis/AutodiffGraph.h"
#include "act/Analysis/OpModel/LoopModel.h"
#include "act/Conversion/Passes.h"
#include "act/Dialect/Act/IR/ActDialect.h"
#include "act/Dialect/Act/IR/ActOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::act {
#define GEN_PASS_DEF_CONVERTACTTOSTABLEHLOPASS
#include "act/Conversion/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

#include "act/Conversion/ActToStablehlo/StablehloEncodingInterface.cpp.inc"

void mlir::act::registerStablehloEncodingModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ActDialect *) {
    attachAxisQuantModel(context);
    attachFloatModel(context);
    attachGroupQuantModel(context);
    attachLosslessModels(context);
    // Whichever dialect of that name the tool has, the real one or a stand-in.
    context->getOrLoadDialect("stablehlo");
  });
}

uint32_t mlir::act::getSaveSalt(uint64_t seed, uint64_t id) {
  // splitmix64 of a counter that steps through its own constant.
  uint64_t state = seed + (id + 1) * 0x9E3779B97F4A7C15u;
  state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
  state = (state ^ (state >> 27)) * 0x94D049BB133111EBu;
  return static_cast<uint32_t>((state ^ (state >> 31)) >> 32);
}

//===----------------------------------------------------------------------===//
// What the conversion accepts
//===----------------------------------------------------------------------===//

/// Finds a compressed type that is in `type`, or null.
static CompressedType findCompressed(Type type) {
  CompressedType found;
  type.walk([&](CompressedType compressed) {
    found = compressed;
    return WalkResult::interrupt();
  });
  return found;
}

static LogicalResult verifyEncoding(Operation *op, Attribute encoding) {
  if (isa<StablehloEncodingInterface>(encoding))
    return success();
  return op->emitOpError("expects an encoding with a StableHLO lowering, got ")
         << encoding;
}

static bool isWhile(Operation *op) {
  return op && op->getName().getStringRef() == "stablehlo.while";
}

/// Block arguments are not compressed, except for stacks that a while carries.
static LogicalResult verifyArguments(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Type type : block.getArgumentTypes()) {
        CompressedType compressed = findCompressed(type);
        if (!compressed || (isWhile(op) && isa<StackType>(type)))
          continue;
        return op->emitOpError("expects block arguments that are not "
                               "compressed, got ")
               << type;
      }
  return success();
}

/// Compressed values are defined and used by act operations, stacks of them
/// carried by whiles, nowhere else.
static LogicalResult verifySupported(Operation *op) {
  if (auto function = dyn_cast<FunctionOpInterface>(op))
    if (CompressedType type = findCompressed(function.getFunctionType()))
      return op->emitOpError("expects a signature without compressed values, "
                             "got ")
             << type;
  if (failed(verifyArguments(op)))
    return failure();
  bool isAct = isa_and_nonnull<ActDialect>(op->getDialect());
  bool carries =
      isWhile(op) || (isWhile(op->getParentOp()) && op->getNumResults() == 0);
  if (isa<EmptyRangeOp>(op))
    return op->emitOpError("expects to be replaced by a state of the step: run "
                           "act-running-ranges, which running-ranges of "
                           "act-compress and running_ranges of act.compress "
                           "ask for");
  if (isAct &&
      !isa<CompressedSaveOp, DequantizeLoadOp, RoundTripOp, BarrierOp,
           EmptyStackOp, StackPushOp, StackReadOp, UpdateRangeOp>(op) &&
      !isa<LinearAttentionOpInterface>(op))
    return op->emitOpError("expects an operation with a StableHLO lowering");
  if (auto roundTrip = dyn_cast<RoundTripOp>(op))
    if (failed(verifyEncoding(op, roundTrip.getEncoding())))
      return failure();
  Value index;
  if (auto push = dyn_cast<StackPushOp>(op))
    index = push.getIndex();
  else if (auto read = dyn_cast<StackReadOp>(op))
    index = read.getIndex();
  if (index && !isa<RankedTensorType>(index.getType()))
    return op->emitOpError("expects a rank-0 tensor as place, got ")
           << index.getType();
  auto types = llvm::concat<const Type>(llvm::to_vector(op->getOperandTypes()),
                                        llvm::to_vector(op->getResultTypes()));
  for (Type type : types) {
    CompressedType compressed = findCompressed(type);
    if (!compressed)
      continue;
    if (!isAct && !(carries && isa<StackType>(type)))
      return op->emitOpError("expects operands and results that are not "
                             "compressed, got ")
             << type;
    if (failed(verifyEncoding(op, compressed.getEncoding())))
      return failure();
  }
  return success();
}

/// Checks all of `module`, and that definitions stand before uses.
static LogicalResult verifySupported(ModuleOp module) {
  DenseSet<Value> defined;
  WalkResult result =
      module.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
        if (failed(verifySupported(op)))
          return WalkResult::interrupt();
        for (Value operand : op->getOperands())
          if (isSaved(operand.getType()) && !defined.contains(operand))
            return op->emitOpError("expects compressed operands that are "
                                   "defined further up");
        defined.insert_range(op->getResults());
        for (Region &region : op->getRegions())
          for (Block &block : region)
            defined.insert_range(block.getArguments());
        return WalkResult::advance();
      });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// The conversion
//===----------------------------------------------------------------------===//

namespace {
/// Lowers act operations, definitions before uses.
class Lowering {
public:
  Lowering(ModuleOp module, uint64_t seed, CodecForm codecs)
      : codecs(module, codecs), builder(module.getContext()), seed(seed) {}

  /// Builds what `lower` needs from loops while they are as they were.
  void prepare(ModuleOp module);
  void lower(Region &region);
  /// Erases what has been lowered.
  void finish();

private:
  void lower(CompressedSaveOp op);
  void lower(DequantizeLoadOp op);
  void lower(RoundTripOp op);
  void lower(BarrierOp op);
  void lower(EmptyStackOp op);
  void lower(StackPushOp op);
  void lower(StackReadOp op);
  void lower(UpdateRangeOp op);
  /// Lets a while carry the tensors of stacks; `op` is erased.
  void lowerWhile(Operation *op);

  /// What makes the rounding of the save `id` at `op` its own: its id, and how
  /// often each of the loops around it has run.
  Value buildSalt(Operation *op, uint64_t id);
  /// The tensors that stand for `value`.
  SmallVector<Value> getParts(Value value) {
    return isSaved(value.getType()) ? storage.at(value)
                                    : SmallVector<Value>{value};
  }

  StablehloBuilder at(Operation *op) {
    builder.setInsertionPoint(op);
    return StablehloBuilder(builder, op->getLoc());
  }

  CodecBuilder codecs;
  OpBuilder builder;
  uint64_t seed;
  /// The tensors that stand for each compressed value and each stack.
  DenseMap<Value, SmallVector<Value>> storage;
  DenseMap<Operation *, Value> salts;
  SmallVector<Operation *> lowered;
  /// Blocks with the number of leading arguments that others stand for.
  SmallVector<std::pair<Block *, unsigned>> retired;
};
} // namespace

/// Hashes a rank-0 `ui32` (lowbias32): 0 becomes 0.
static Value buildHash(StablehloBuilder &b, Value x) {
  auto shiftXor = [&](Value y, int64_t amount) {
    return b.bitXor(y, b.shiftRightLogical(y, b.splatLike(y, amount)));
  };
  x = b.multiply(shiftXor(x, 16), b.splatLike(x, int64_t{0x7FEB352D}));
  x = b.multiply(shiftXor(x, 15), b.splatLike(x, int64_t{0x846CA68B}));
  return shiftXor(x, 16);
}

Value Lowering::buildSalt(Operation *op, uint64_t id) {
  StablehloBuilder stablehlo = at(op);
  auto type = builder.getIntegerType(32, /*isSigned=*/false);
  Value salt =
      stablehlo.scalar(type, static_cast<int64_t>(getSaveSalt(seed, id)));
  // Without the counter the noise of all iterations would be the same, and XLA
  // would move most of the hash out of the loop and keep it, in 32 bits an
  // element.
  uint32_t factor = 0x85EBCA77;
  for (Operation *parent = op->getParentOp(); parent;
       parent = parent->getParentOp()) {
    auto loop = dyn_cast<LoopModelInterface>(parent);
    Value counter = loop ? loop.getCounter() : Value();
    if (!counter || !isa<RankedTensorType>(counter.getType()))
      continue;
    Value count = stablehlo.convert(counter, type);
    salt = stablehlo.add(
        salt,
        stablehlo.multiply(count, stablehlo.scalar(type, int64_t{factor})));
    factor *= 0xC2B2AE3D;
  }
  return salt;
}

void Lowering::prepare(ModuleOp module) {
  module.walk([&](CompressedSaveOp op) {
    CompressedType type = op.getResult().getType();
    auto encoding = cast<StablehloEncodingInterface>(type.getEncoding());
    if (!encoding.storesTensorItself() && type.getEncoding().usesSalt())
      salts[op] = buildSalt(op, op.getId());
  });
  module.walk([&](RoundTripOp op) {
    if (!op.getEncoding().usesSalt())
      return;
    Value salt = buildSalt(op, op.getId());
    StablehloBuilder stablehlo = at(op);
    salts[op] = stablehlo.add(salt, buildHash(stablehlo, op.getSeed()));
  });
}

void Lowering::lower(CompressedSaveOp op) {
  CompressedType type = op.getResult().getType();
  auto encoding = cast<StablehloEncodingInterface>(type.getEncoding());
  if (encoding.storesTensorItself()) {
    storage[op.getResult()] = {op.getInput()};
    return;
  }
  builder.setInsertionPoint(op);
  storage[op.getResult()] =
      codecs.encode(builder, op.getLoc(), type, op.getInput(), salts.lookup(op),
                    op.getRange());
}

void Lowering::lower(UpdateRangeOp op) {
  StablehloBuilder stablehlo = at(op);
  RunningRange made =
      buildRangeUpdate(stablehlo, op.getInput(), op.getState(), op.getAxis(),
                       op.getDecay().convertToDouble());
  op.getNext().replaceAllUsesWith(made.next);
  op.getRange().replaceAllUsesWith(made.range);
}

void Lowering::lower(DequantizeLoadOp op) {
  CompressedType type = op.getInput().getType();
  ArrayRef<Value> parts = storage.at(op.getInput());
  auto encoding = cast<StablehloEncodingInterface>(type.getEncoding());
  if (encoding.storesTensorItself()) {
    op.getResult().replaceAllUsesWith(parts.front());
    return;
  }
  builder.setInsertionPoint(op);
  op.getResult().replaceAllUsesWith(
      codecs.decode(builder, op.getLoc(), type, parts));
}

void Lowering::lower(RoundTripOp op) {
  builder.setInsertionPoint(op);
  auto type = CompressedType::get(
      op.getContext(), cast<RankedTensorType>(op.getInput().getType()),
      op.getEncoding());
  op.getResult().replaceAllUsesWith(
      codecs.roundTrip(builder, op.getLoc(), type, op.getInput(),
                       op.getLevels(), salts.lookup(op)));
}

void Lowering::lower(BarrierOp op) {
  SmallVector<SmallVector<Value>> parts;
  llvm::SetVector<Value> distinct;
  for (Value input : op.getInputs()) {
    parts.push_back(getParts(input));
    distinct.insert_range(parts.back());
  }
  DenseMap<Value, Value> results;
  if (distinct.size() == 1) {
    results[distinct.front()] = distinct.front();
  } else {
    SmallVector<Value> held =
        at(op).optimizationBarrier(distinct.getArrayRef());
    for (auto [value, result] : llvm::zip_equal(distinct, held))
      results[value] = result;
  }
  for (auto [result, held] : llvm::zip_equal(op.getResults(), parts)) {
    for (Value &part : held)
      part = results.at(part);
    if (isSaved(result.getType()))
      storage[result] = held;
    else
      result.replaceAllUsesWith(held.front());
  }
}

//===----------------------------------------------------------------------===//
// Stacks and loops
//===----------------------------------------------------------------------===//

/// The tensors that store a saved value, with `sizes` as leading axes.
static SmallVector<RankedTensorType> getPartTypes(CompressedType type,
                                                  ArrayRef<int64_t> sizes) {
  SmallVector<RankedTensorType> types;
  for (RankedTensorType part :
       type.getEncoding().getStorageTypes(type.getTensorType())) {
    SmallVector<int64_t> shape(sizes);
    llvm::append_range(shape, part.getShape());
    types.push_back(RankedTensorType::get(shape, part.getElementType()));
  }
  return types;
}

static SmallVector<RankedTensorType> getPartTypes(StackType type) {
  return getPartTypes(type.getCompressedType(), type.getSizes());
}

/// The index of row `index` of a tensor like `stack`.
static SmallVector<Value> getRowStart(StablehloBuilder &stablehlo, Value stack,
                                      Value index) {
  SmallVector<Value> start(cast<RankedTensorType>(stack.getType()).getRank(),
                           Value());
  Value zero = stablehlo.scalar(getElementTypeOrSelf(index.getType()), 0);
  llvm::fill(start, zero);
  start.front() = index;
  return start;
}

/// A rank-0 zero of type `element`.
static ElementsAttr getZero(Type element) {
  auto type = RankedTensorType::get({}, element);
  auto complex = dyn_cast<ComplexType>(element);
  if (!complex)
    return cast<ElementsAttr>(Builder(element.getContext()).getZeroAttr(type));
  if (auto parts = dyn_cast<FloatType>(complex.getElementType())) {
    auto zero = llvm::APFloat::getZero(parts.getFloatSemantics());
    return DenseElementsAttr::get(type, std::complex<APFloat>(zero, zero));
  }
  APInt zero(complex.getElementType().getIntOrFloatBitWidth(), 0);
  return DenseElementsAttr::get(type, std::complex<APInt>(zero, zero));
}

void Lowering::lower(EmptyStackOp op) {
  StablehloBuilder stablehlo = at(op);
  SmallVector<Value> &parts = storage[op.getResult()];
  for (RankedTensorType type : getPartTypes(op.getResult().getType())) {
    Value zero = stablehlo.constant(getZero(type.getElementType()));
    parts.push_back(stablehlo.broadcastInDim(zero, type.getShape(), {}));
  }
}

void Lowering::lower(StackPushOp op) {
  StablehloBuilder stablehlo = at(op);
  SmallVector<Value> parts;
  for (auto [stack, value] :
       llvm::zip_equal(getParts(op.getStack()), getParts(op.getValue()))) {
    SmallVector<int64_t> shape{1};
    llvm::append_range(shape,
                       cast<RankedTensorType>(value.getType()).getShape());
    parts.push_back(stablehlo.dynamicUpdateSlice(
        stack, stablehlo.reshape(value, shape),
        getRowStart(stablehlo, stack, op.getIndex())));
  }
  storage[op.getResult()] = parts;
}

void Lowering::lower(StackReadOp op) {
  StablehloBuilder stablehlo = at(op);
  SmallVector<Value> parts;
  for (Value stack : getParts(op.getStack())) {
    auto type = cast<RankedTensorType>(stack.getType());
    auto shape = llvm::to_vector(type.getShape());
    shape.front() = 1;
    Value row = stablehlo.dynamicSlice(
        stack, getRowStart(stablehlo, stack, op.getIndex()), shape);
    parts.push_back(stablehlo.reshape(row, ArrayRef(shape).drop_front()));
  }
  storage[op.getResult()] = parts;
}

void Lowering::lowerWhile(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    llvm::append_range(operands, getParts(operand));
  SmallVector<Type> types = llvm::to_vector(ValueRange(operands).getTypes());
  StablehloBuilder stablehlo = at(op);
  Operation *loop = stablehlo.create("while", types, operands, {}, 2);
  for (NamedAttribute attr : op->getDiscardableAttrDictionary())
    if (!attr.getName().getValue().ends_with("sharding")) // one per value
      loop->setDiscardableAttr(attr.getName(), attr.getValue());
  auto pass = [&](Value from, ValueRange to) {
    if (isSaved(from.getType()))
      storage[from] = llvm::to_vector(to);
    else
      from.replaceAllUsesWith(to.front());
  };
  for (auto [from, to] :
       llvm::zip_equal(op->getRegions(), loop->getRegions())) {
    to.takeBody(from);
    Block &block = to.front();
    unsigned numOld = block.getNumArguments(), position = numOld;
    for (unsigned i = 0; i < numOld; ++i) {
      BlockArgument argument = block.getArgument(i);
      SmallVector<Value> parts;
      for (unsigned k = 0, e = getParts(op->getOperand(i)).size(); k < e; ++k)
        parts.push_back(
            block.addArgument(types[position++ - numOld], argument.getLoc()));
      pass(argument, parts);
    }
    lower(to);
    Operation *terminator = block.getTerminator();
    SmallVector<Value> carried;
    for (Value value : terminator->getOperands())
      llvm::append_range(carried, getParts(value));
    terminator->setOperands(carried);
    retired.emplace_back(&block, numOld);
  }
  unsigned position = 0;
  for (OpResult result : op->getResults()) {
    unsigned count = getParts(op->getOperand(result.getResultNumber())).size();
    pass(result, loop->getResults().slice(position, count));
    position += count;
  }
  lowered.push_back(op);
}

void Lowering::lower(Region &region) {
  for (Block &block : region)
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isWhile(&op) &&
          llvm::any_of(op.getOperandTypes(), llvm::IsaPred<StackType>)) {
        lowerWhile(&op);
        continue;
      }
      llvm::TypeSwitch<Operation *>(&op)
          .Case<CompressedSaveOp, DequantizeLoadOp, RoundTripOp, BarrierOp,
                EmptyStackOp, StackPushOp, StackReadOp, UpdateRangeOp>(
              [&](auto actOp) {
                lower(actOp);
                lowered.push_back(actOp);
              })
          .Default([&](Operation *other) {
            for (Region &inner : other->getRegions())
              lower(inner);
          });
    }
}

void Lowering::finish() {
  for (Operation *op : llvm::reverse(lowered))
    op->erase();
  for (auto [block, count] : retired)
    block->eraseArguments(0, count);
}

LogicalResult
mlir::act::convertActToStablehlo(ModuleOp module, uint64_t seed,
                                 LinearAttentionForm linearAttention,
                                 CodecForm codecs) {
  if (failed(verifySupported(module)) ||
      failed(convertLinearAttentionToStablehlo(module, linearAttention)))
    return failure();
  Lowering lowering(module, seed, codecs);
  lowering.prepare(module);
  // Functions that encode and decode are added meanwhile.
  SmallVector<Operation *> ops = llvm::to_vector(
      llvm::make_pointer_range(module.getBody()->getOperations()));
  for (Operation *op : ops)
    for (Region &region : op->getRegions())
      lowering.lower(region);
  lowering.finish();
  return success();
}

namespace {
struct ConvertActToStablehloPass
    : mlir::act::impl::ConvertActToStablehloPassBase<
          ConvertActToStablehloPass> {
  using Base::Base;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<ActDialect, func::FuncDialect>();
    registerStablehloEncodingModels(registry);
    registerStablehloFeatureMapModels(registry);
  }

  void runOnOperation() override {
    if (failed(convertActToStablehlo(getOperation(), seed, linearAttention,
                                     codecs)))
      signalPassFailure();
  }
};
} // namespace
