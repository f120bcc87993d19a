//===- FunctionTranslator.cpp - Translates functions of PTX ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionTranslator.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace act::emulator {

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

bool Instruction::take(StringRef modifier) {
  for (size_t i = 0; i < isUsed.size(); ++i) {
    if (!isUsed[i] && statement.modifiers[i] == modifier) {
      isUsed[i] = true;
      return true;
    }
  }
  return false;
}

StringRef Instruction::takeAny(ArrayRef<StringRef> modifiers) {
  for (StringRef modifier : modifiers)
    if (take(modifier))
      return modifier;
  return "";
}

std::optional<ptx::Type> Instruction::takeType() {
  for (size_t i = 0; i < isUsed.size(); ++i) {
    std::optional<ptx::Type> type = ptx::parseType(statement.modifiers[i]);
    if (isUsed[i] || !type)
      continue;
    isUsed[i] = true;
    return type;
  }
  return std::nullopt;
}

StringRef Instruction::getUnused() const {
  for (size_t i = 0; i < isUsed.size(); ++i)
    if (!isUsed[i])
      return statement.modifiers[i];
  return "";
}

const ptx::Operand &Instruction::operand(size_t index) const {
  // Reading a missing operand gives one without a name, which is an error.
  static const ptx::Operand missing;
  return index < statement.operands.size() ? statement.operands[index]
                                           : missing;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

FunctionTranslator::FunctionTranslator(Translation &translation,
                                       const Translation::Body &body)
    : translation(translation), body(body), context(*translation.context),
      builder(context), function(body.target),
      pointerType(PointerType::get(context, 0)) {}

void FunctionTranslator::error(const Twine &message) {
  const ptx::Statement *statement = current;
  std::string text =
      ("PTX line " + Twine(statement ? statement->line : body.function->line) +
       " of " + body.function->name + ": " + message +
       (statement ? ": " + statement->text : std::string()))
          .str();
  translation.errors.push_back(std::move(text));
}

void FunctionTranslator::startFunction() {
  entry = BasicBlock::Create(context, "entry", function);
  builder.SetInsertPoint(entry);
  registers.emplace_back();
  symbols.emplace_back();
  threadContext = function->getArg(0);
  carry = builder.CreateAlloca(getInteger(1));
  builder.CreateStore(builder.getFalse(), carry);
  const ptx::Function &source = *body.function;
  auto addSymbol = [&](StringRef name, Value *pointer) {
    symbols.back()[name] = {Space::Parameter,
                            builder.CreatePtrToInt(pointer, getInteger(64))};
  };
  if (source.isKernel) {
    parameters = function->getArg(1);
    uint32_t bytes;
    auto offsets = ptx::getParameterOffsets(source.parameters, bytes);
    for (auto [parameter, offset] : zip_equal(source.parameters, offsets))
      addSymbol(parameter.name, builder.CreateConstGEP1_32(builder.getInt8Ty(),
                                                           parameters, offset));
  } else {
    unsigned number = 1;
    for (const ptx::Variable &result : source.results)
      addSymbol(result.name, function->getArg(number++));
    for (const ptx::Variable &parameter : source.parameters)
      addSymbol(parameter.name, function->getArg(number++));
  }
  BasicBlock *first = createBlock();
  builder.CreateBr(first);
  builder.SetInsertPoint(first);
}

void FunctionTranslator::finishFunction() {
  if (!builder.GetInsertBlock()->getTerminator()) {
    flushCounts();
    builder.CreateRetVoid();
  }
  for (auto &[name, block] : labels)
    if (!passed.count(name))
      error("there is no label '" + name + "'");
  for (BasicBlock &block : *function) {
    if (block.getTerminator())
      continue;
    builder.SetInsertPoint(&block);
    builder.CreateUnreachable();
  }
}

void FunctionTranslator::run() {
  startFunction();
  for (const ptx::Statement &statement : body.statements)
    if (statement.kind == ptx::Statement::Kind::Targets)
      targets[statement.name] = &statement;
  for (const ptx::Statement &statement : body.statements) {
    current = &statement;
    translate(statement);
  }
  current = nullptr;
  finishFunction();
}

void FunctionTranslator::translate(const ptx::Statement &statement) {
  switch (statement.kind) {
  case ptx::Statement::Kind::Label:
    return startLabel(statement.name);
  case ptx::Statement::Kind::Instruction:
    return translateInstruction(statement);
  case ptx::Statement::Kind::Registers:
    return declareRegisters(statement);
  case ptx::Statement::Kind::Variable:
    return declareVariable(statement.variable);
  case ptx::Statement::Kind::Open:
    registers.emplace_back();
    symbols.emplace_back();
    return;
  case ptx::Statement::Kind::Close:
    if (registers.size() > 1) {
      registers.pop_back();
      symbols.pop_back();
    }
    return;
  case ptx::Statement::Kind::Targets:
    return;
  }
}

void FunctionTranslator::declareRegisters(const ptx::Statement &statement) {
  IRBuilder<> atEntry(entry, entry->begin());
  llvm::Type *type = getInteger(statement.type.getBits());
  for (auto [name, count] : statement.registers) {
    if (count == 0)
      registers.back()[name] = atEntry.CreateAlloca(type);
    for (unsigned i = 0; i < count; ++i)
      registers.back()[(name + Twine(i)).str()] = atEntry.CreateAlloca(type);
  }
}

void FunctionTranslator::declareVariable(const ptx::Variable &variable) {
  if (variable.space == Space::Shared) {
    auto offset = translation.sharedOffsets.find(
        (body.function->name + "." + variable.name).str());
    symbols.back()[variable.name] = {Space::Shared,
                                     constant(offset->second, 64)};
    return;
  }
  if (variable.space != Space::Local && variable.space != Space::Parameter)
    return error("variables of this space are not supported in functions");
  IRBuilder<> atEntry(entry, entry->begin());
  auto *memory = atEntry.CreateAlloca(ArrayType::get(
      builder.getInt8Ty(), std::max<uint64_t>(1, variable.getBytes())));
  memory->setAlignment(Align(std::max(1u, variable.alignment)));
  symbols.back()[variable.name] = {
      variable.space, builder.CreatePtrToInt(memory, getInteger(64))};
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

BasicBlock *FunctionTranslator::createBlock() {
  return BasicBlock::Create(context, "", function);
}

BasicBlock *FunctionTranslator::getLabel(StringRef name) {
  BasicBlock *&block = labels[name];
  if (!block)
    block = createBlock();
  return block;
}

void FunctionTranslator::startLabel(StringRef name) {
  BasicBlock *block = getLabel(name);
  if (!passed.try_emplace(name, true).second)
    return error("the label '" + name + "' is defined twice");
  if (!builder.GetInsertBlock()->getTerminator()) {
    flushCounts();
    builder.CreateBr(block);
  }
  block->moveAfter(&function->back());
  builder.SetInsertPoint(block);
}

/// Loops count down the fuel of the thread, so that the runtime can look at the
/// clock and let other threads run.
void FunctionTranslator::pollFuel() {
  Value *field = builder.CreateConstGEP1_32(builder.getInt8Ty(), threadContext,
                                            offsetof(ThreadContext, fuel));
  Value *fuel = builder.CreateSub(builder.CreateLoad(getInteger(64), field),
                                  constant(1, 64));
  builder.CreateStore(fuel, field);
  BasicBlock *empty = createBlock();
  BasicBlock *rest = createBlock();
  builder.CreateCondBr(
      builder.CreateICmpSLT(fuel, constant(0, 64)), empty, rest,
      MDNode::get(context,
                  {MDString::get(context, "branch_weights"),
                   ConstantAsMetadata::get(cast<Constant>(constant(1))),
                   ConstantAsMetadata::get(cast<Constant>(constant(16384)))}));
  builder.SetInsertPoint(empty);
  Site &site = addSite(*current);
  callRuntime("act_emulator_refuel", builder.getVoidTy(),
              {threadContext, getPointer(&site)});
  builder.CreateBr(rest);
  builder.SetInsertPoint(rest);
}

void FunctionTranslator::branchTo(StringRef label) {
  flushCounts();
  if (passed.count(label))
    pollFuel();
  builder.CreateBr(getLabel(label));
}

void FunctionTranslator::translateInstruction(const ptx::Statement &statement) {
  auto opcode = getOpcodes().find(statement.opcode);
  if (opcode == getOpcodes().end())
    return error("unknown instruction '" + statement.opcode + "'");
  countInstruction(statement, opcode->second.counted);
  // What follows a jump without a label is never executed.
  if (builder.GetInsertBlock()->getTerminator())
    builder.SetInsertPoint(createBlock());
  BasicBlock *after = nullptr;
  if (!statement.guard.empty()) {
    flushCounts();
    ptx::Operand guard;
    guard.name = statement.guard;
    guard.isNegated = statement.isGuardNegated;
    BasicBlock *then = createBlock();
    after = createBlock();
    builder.CreateCondBr(readPredicate(guard), then, after);
    builder.SetInsertPoint(then);
  }
  Instruction instruction(statement);
  size_t numErrors = translation.errors.size();
  bool isSupported = (this->*opcode->second.handler)(instruction);
  if (numErrors == translation.errors.size()) {
    if (!isSupported)
      error("this form of '" + statement.opcode + "' is not supported");
    else if (!instruction.getUnused().empty())
      error("the modifier '." + instruction.getUnused() + "' of '" +
            statement.opcode + "' is not supported");
  }
  if (after) {
    if (!builder.GetInsertBlock()->getTerminator())
      builder.CreateBr(after);
    builder.SetInsertPoint(after);
  }
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

void FunctionTranslator::countInstruction(const ptx::Statement &statement,
                                          InstructionClass kind) {
  if (!translation.statistics)
    return;
  // Opcodes like add say by their type what they are.
  bool isFloat = any_of(statement.modifiers, [](StringRef modifier) {
    std::optional<ptx::Type> type = ptx::parseType(modifier);
    return type && type->isFloat();
  });
  if (kind == InstructionClass::Integer && isFloat)
    kind = InstructionClass::Float;
  if (kind == InstructionClass::OtherMemory) {
    bool isShared = is_contained(statement.modifiers, "shared") ||
                    is_contained(statement.modifiers, "shared::cta");
    bool isGlobal = is_contained(statement.modifiers, "global");
    bool isLoad = statement.opcode != "st";
    if (isShared)
      kind =
          isLoad ? InstructionClass::SharedLoad : InstructionClass::SharedStore;
    else if (isGlobal)
      kind =
          isLoad ? InstructionClass::GlobalLoad : InstructionClass::GlobalStore;
  }
  ++counts[unsigned(kind)];
}

/// Adds what was counted since the block of instructions began.
void FunctionTranslator::flushCounts() {
  if (builder.GetInsertBlock()->getTerminator()) {
    counts = {};
    return;
  }
  for (unsigned i = 0; i < numInstructionClasses; ++i) {
    if (counts[i] == 0)
      continue;
    Value *counters = getField(offsetof(ThreadContext, counters), pointerType);
    Value *counter = builder.CreateConstGEP1_32(getInteger(64), counters, i);
    Value *sum = builder.CreateAdd(builder.CreateLoad(getInteger(64), counter),
                                   constant(counts[i], 64));
    builder.CreateStore(sum, counter);
  }
  counts = {};
}

//===----------------------------------------------------------------------===//
// Calls of the runtime
//===----------------------------------------------------------------------===//

Site &FunctionTranslator::addSite(const ptx::Statement &statement) {
  Site &site = translation.sites.emplace_back();
  site.function = body.function->name.str();
  site.line = statement.line;
  site.text = statement.text;
  site.number = translation.sites.size() - 1;
  return site;
}

Value *FunctionTranslator::getPointer(const void *pointer) {
  return builder.CreateIntToPtr(
      constant(reinterpret_cast<uint64_t>(pointer), 64), pointerType);
}

Value *FunctionTranslator::callRuntime(StringRef name, llvm::Type *result,
                                       ArrayRef<Value *> operands) {
  SmallVector<llvm::Type *> types;
  for (Value *operand : operands)
    types.push_back(operand->getType());
  FunctionCallee callee = translation.module->getOrInsertFunction(
      name, FunctionType::get(result, types, false));
  auto *target = cast<llvm::Function>(callee.getCallee());
  target->setDoesNotThrow();
  return builder.CreateCall(callee, operands);
}

Value *FunctionTranslator::callNumeric(StringRef name, llvm::Type *result,
                                       ArrayRef<Value *> operands) {
  Value *call = callRuntime(name, result, operands);
  auto *target = cast<CallInst>(call)->getCalledFunction();
  target->setMemoryEffects(MemoryEffects::none());
  target->setWillReturn();
  return call;
}

} // namespace act::emulator
