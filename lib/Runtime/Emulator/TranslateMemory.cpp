//===- TranslateMemory.cpp - Loads, stores and atomic operations ----------===//
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

/// Hints for caches, which change no values.
static constexpr StringRef cacheHints[] = {"nc",
                                           "ca",
                                           "cg",
                                           "cs",
                                           "lu",
                                           "cv",
                                           "wb",
                                           "wt",
                                           "L1::evict_normal",
                                           "L1::evict_unchanged",
                                           "L1::evict_first",
                                           "L1::evict_last",
                                           "L1::no_allocate",
                                           "L2::evict_last",
                                           "L2::evict_normal",
                                           "L2::evict_first",
                                           "L2::64B",
                                           "L2::128B",
                                           "L2::256B",
                                           "L2::cache_hint"};
static constexpr StringRef scopes[] = {"cta", "cluster", "gpu", "sys"};

FunctionTranslator::Access
FunctionTranslator::takeAccess(Instruction &instruction) {
  Access access;
  StringRef space =
      instruction.takeAny({"global", "shared", "shared::cta", "local", "const",
                           "param", "param::entry", "param::func"});
  access.space =
      StringSwitch<Space>(space)
          .Case("global", Space::Global)
          .Cases({"shared", "shared::cta"}, Space::Shared)
          .Case("local", Space::Local)
          .Case("const", Space::Constant)
          .Cases({"param", "param::entry", "param::func"}, Space::Parameter)
          .Default(Space::Generic);
  StringRef vector = instruction.takeAny({"v2", "v4", "v8"});
  access.vector = vector.empty() ? 1 : vector[1] - '0';
  instruction.take("weak");
  access.isVolatile = instruction.take("volatile");
  StringRef order =
      instruction.takeAny({"relaxed", "acquire", "release", "acq_rel", "mmio"});
  access.isStrong = access.isVolatile || !order.empty();
  instruction.ignore(scopes);
  instruction.ignore(cacheHints);
  return access;
}

FunctionTranslator::Value *
FunctionTranslator::getAddress(const ptx::Operand &operand) {
  if (operand.kind != ptx::Operand::Kind::Address) {
    error("expects an address in brackets");
    return constant(0, 64);
  }
  if (operand.name.empty())
    return constant(operand.offset, 64);
  ptx::Operand base;
  base.name = operand.name;
  return builder.CreateAdd(read(base, 64), constant(operand.offset, 64));
}

FunctionTranslator::Value *FunctionTranslator::toPointer(Value *address,
                                                         Space space) {
  if (space != Space::Shared)
    return builder.CreateIntToPtr(address, pointerType);
  return builder.CreateGEP(
      builder.getInt8Ty(),
      getField(offsetof(ThreadContext, shared), pointerType), address);
}

void FunctionTranslator::noteAccess(Value *address, const Access &access,
                                    bool reads, bool writes,
                                    const ptx::Statement &statement,
                                    unsigned alignment) {
  // Parameters and constants cannot be written, and local memory is private;
  // generic addresses of them are checked.
  if (access.space == Space::Parameter || access.space == Space::Local ||
      access.space == Space::Constant)
    return;
  if (!translation.check && !translation.statistics)
    return;
  Site &site = addSite(statement);
  site.space = access.space;
  site.bytes = access.type.getBytes() * access.vector;
  site.alignment = alignment ? alignment : site.bytes;
  site.reads = reads;
  site.writes = writes;
  site.isAtomic = access.isStrong || (reads && writes);
  if (translation.check)
    callRuntime(access.space == Space::Shared ? "act_emulator_check_shared"
                                              : "act_emulator_check",
                builder.getVoidTy(),
                {threadContext, address, getPointer(&site)});
  if (translation.statistics)
    callRuntime(
        "act_emulator_record", builder.getVoidTy(),
        {threadContext, toPointer(address, access.space), getPointer(&site)});
}

bool FunctionTranslator::translateLoad(Instruction &instruction) {
  Access access = takeAccess(instruction);
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  access.type = *type;
  ArrayRef<ptx::Operand> results = getElements(instruction.operand(0));
  if (results.size() != access.vector)
    return false;
  Value *address = getAddress(instruction.operand(1));
  noteAccess(address, access, true, false, instruction.statement);
  // Threads that spin on what others write need to take turns.
  translation.needsFibers |= access.isStrong;
  Value *pointer = toPointer(address, access.space);
  llvm::Type *element = getInteger(type->getBits());
  SmallVector<Value *> values;
  for (unsigned i = 0; i < access.vector; ++i) {
    Value *place = builder.CreateConstGEP1_32(element, pointer, i);
    auto *load = builder.CreateAlignedLoad(element, place, Align(1));
    load->setVolatile(access.isStrong);
    values.push_back(load);
  }
  for (auto [result, value] : zip_equal(results, values))
    write(result, value, type->isSigned());
  return true;
}

bool FunctionTranslator::translateStore(Instruction &instruction) {
  Access access = takeAccess(instruction);
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  access.type = *type;
  ArrayRef<ptx::Operand> operands = getElements(instruction.operand(1));
  if (operands.size() != access.vector)
    return false;
  Value *address = getAddress(instruction.operand(0));
  SmallVector<Value *> values;
  for (const ptx::Operand &operand : operands)
    values.push_back(read(operand, type->getBits()));
  noteAccess(address, access, false, true, instruction.statement);
  Value *pointer = toPointer(address, access.space);
  llvm::Type *element = getInteger(type->getBits());
  for (auto [index, value] : enumerate(values)) {
    Value *place = builder.CreateConstGEP1_32(element, pointer, index);
    auto *store = builder.CreateAlignedStore(value, place, Align(1));
    store->setVolatile(access.isStrong);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Atomic operations
//===----------------------------------------------------------------------===//

static constexpr StringRef atomicOperations[] = {
    "add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"};

FunctionTranslator::Value *
FunctionTranslator::emitAtomic(Value *pointer, StringRef operation,
                               ptx::Type type, Space space, Value *value,
                               bool flushes) {
  if (type.isFloat()) {
    // Loops of the runtime. f32 sums in global memory flush subnormal numbers.
    bool isBfloat = type.kind == ptx::Type::Kind::Bfloat;
    if (type.bits == 64)
      return callRuntime("act_emulator_atomic_" + operation.str() + "_f64",
                         getInteger(64), {pointer, value});
    if (type.bits == 32)
      return callRuntime("act_emulator_atomic_" + operation.str() + "_f32",
                         getInteger(32),
                         {pointer, value,
                          builder.getInt32(flushes || space != Space::Shared)});
    Value *bits = callRuntime(
        "act_emulator_atomic_" + operation.str() + "_half", getInteger(32),
        {pointer, builder.CreateZExt(value, getInteger(32)),
         builder.getInt32(isBfloat), builder.getInt32(type.lanes)});
    return builder.CreateTrunc(bits, getInteger(type.getBits()));
  }
  bool isSigned = type.isSigned();
  auto kind =
      StringSwitch<AtomicRMWInst::BinOp>(operation)
          .Case("add", AtomicRMWInst::Add)
          .Case("min", isSigned ? AtomicRMWInst::Min : AtomicRMWInst::UMin)
          .Case("max", isSigned ? AtomicRMWInst::Max : AtomicRMWInst::UMax)
          .Case("and", AtomicRMWInst::And)
          .Case("or", AtomicRMWInst::Or)
          .Case("xor", AtomicRMWInst::Xor)
          .Case("inc", AtomicRMWInst::UIncWrap)
          .Case("dec", AtomicRMWInst::UDecWrap)
          .Default(AtomicRMWInst::Xchg);
  return builder.CreateAtomicRMW(kind, pointer, value, Align(type.getBytes()),
                                 AtomicOrdering::SequentiallyConsistent);
}

/// Operands from `first` on: the address and what is combined with it. Writes
/// what was there before to operand 0 if `first` is 1.
void FunctionTranslator::translateAtomic(Instruction &instruction,
                                         unsigned first, const Access &access,
                                         StringRef operation) {
  unsigned bits = access.type.getBits();
  bool flushes = instruction.take("ftz");
  instruction.take("noftz");
  Value *address = getAddress(instruction.operand(first));
  noteAccess(address, access, true, true, instruction.statement);
  Value *pointer = toPointer(address, access.space);
  if (operation == "cas") {
    // Loops around it may wait for other threads.
    translation.needsFibers = true;
    Value *expected = read(instruction.operand(first + 1), bits);
    Value *replacement = read(instruction.operand(first + 2), bits);
    Value *pair = builder.CreateAtomicCmpXchg(
        pointer, expected, replacement, Align(bits / 8),
        AtomicOrdering::SequentiallyConsistent,
        AtomicOrdering::SequentiallyConsistent);
    if (first == 1)
      write(instruction, builder.CreateExtractValue(pair, 0),
            access.type.isSigned());
    return;
  }
  translation.needsFibers |= operation == "exch";
  ArrayRef<ptx::Operand> operands = getElements(instruction.operand(first + 1));
  if (operands.size() != access.vector)
    return error("expects " + Twine(access.vector) + " operands in a vector");
  SmallVector<Value *> before;
  for (auto [index, operand] : enumerate(operands)) {
    Value *place = builder.CreateConstGEP1_32(getInteger(bits), pointer, index);
    before.push_back(emitAtomic(place, operation, access.type, access.space,
                                read(operand, bits), flushes));
  }
  if (first != 1)
    return;
  for (auto [result, value] :
       zip_equal(getElements(instruction.operand(0)), before))
    write(result, value, access.type.isSigned());
}

/// Numbers can only be added, and vectors of 16-bit ones compared.
bool FunctionTranslator::isSupportedAtomic(StringRef operation,
                                           const Access &access) {
  if (access.type.bits == 128)
    return false;
  if (!access.type.isFloat() || operation == "add")
    return true;
  bool isOrder = operation == "min" || operation == "max";
  return isOrder && access.type.isHalf() && access.vector > 1;
}

bool FunctionTranslator::translateAtomicOf(Instruction &instruction,
                                           ArrayRef<StringRef> operations,
                                           unsigned first) {
  Access access = takeAccess(instruction);
  access.isStrong = true;
  StringRef operation = instruction.takeAny(operations);
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type || operation.empty())
    return false;
  access.type = *type;
  if (!isSupportedAtomic(operation, access))
    return false;
  translateAtomic(instruction, first, access, operation);
  return true;
}

bool FunctionTranslator::translateAtom(Instruction &instruction) {
  return translateAtomicOf(instruction, atomicOperations, 1);
}

bool FunctionTranslator::translateRed(Instruction &instruction) {
  return translateAtomicOf(
      instruction, {"add", "min", "max", "and", "or", "xor", "inc", "dec"}, 0);
}

bool FunctionTranslator::translateFence(Instruction &instruction) {
  instruction.ignore({"cta", "cluster", "gpu", "sys", "gl", "sc", "acq_rel",
                      "acquire", "release"});
  builder.CreateFence(AtomicOrdering::SequentiallyConsistent);
  return true;
}

bool FunctionTranslator::translatePrefetch(Instruction &instruction) {
  instruction.ignore(
      {"global", "local", "L1", "L2", "L2::evict_last", "L2::evict_normal"});
  return true;
}

//===----------------------------------------------------------------------===//
// cp.async
//===----------------------------------------------------------------------===//

bool FunctionTranslator::translateCopy(Instruction &instruction) {
  if (!instruction.take("async"))
    return false;
  if (instruction.take("commit_group")) {
    callRuntime("act_emulator_copy_commit", builder.getVoidTy(),
                {threadContext});
    return true;
  }
  if (instruction.take("wait_all")) {
    callRuntime("act_emulator_copy_wait_all", builder.getVoidTy(),
                {threadContext});
    return true;
  }
  if (instruction.take("wait_group")) {
    callRuntime("act_emulator_copy_wait", builder.getVoidTy(),
                {threadContext, read(instruction.operand(0), 32)});
    return true;
  }
  return translateCopyAsync(instruction);
}

/// cp.async.ca.shared.global [destination], [source], size{, source size or
/// predicate to ignore the source}.
bool FunctionTranslator::translateCopyAsync(Instruction &instruction) {
  if (instruction.takeAny({"ca", "cg"}).empty() ||
      instruction.takeAny({"shared", "shared::cta"}).empty() ||
      !instruction.take("global"))
    return false;
  bool hasPolicy = instruction.take("L2::cache_hint");
  instruction.ignore({"L2::64B", "L2::128B", "L2::256B"});
  const ptx::Operand &size = instruction.operand(2);
  bool isSize = size.kind == ptx::Operand::Kind::Integer &&
                (size.bits == 4 || size.bits == 8 || size.bits == 16);
  if (!isSize)
    return false;
  Value *sourceBytes = constant(size.bits);
  if (instruction.getNumOperands() - hasPolicy > 3) {
    const ptx::Operand &fourth = instruction.operand(3);
    AllocaInst *memory = findRegister(fourth.name);
    if (memory && memory->getAllocatedType()->isIntegerTy(1))
      sourceBytes =
          builder.CreateSelect(readPredicate(fourth), constant(0), sourceBytes);
    else
      sourceBytes = read(fourth, 32);
  }
  Site &site = addSite(instruction.statement);
  site.space = Space::Global;
  site.bytes = site.alignment = size.bits;
  site.reads = true;
  Value *destination =
      toPointer(getAddress(instruction.operand(0)), Space::Shared);
  Value *source = toPointer(getAddress(instruction.operand(1)), Space::Global);
  if (translation.statistics)
    callRuntime("act_emulator_record", builder.getVoidTy(),
                {threadContext, source, getPointer(&site)});
  callRuntime(
      "act_emulator_copy", builder.getVoidTy(),
      {threadContext, getPointer(&site), destination, source, sourceBytes});
  return true;
}

} // namespace act::emulator
