//===- TranslateWarp.cpp - What lanes of a warp do together ----------===//
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

std::vector<FunctionTranslator::Value *>
FunctionTranslator::callCollective(Site &site, Value *mask,
                                   ArrayRef<Value *> inputs, unsigned outputs) {
  translation.needsFibers = true;
  site.inputs = inputs.size();
  site.outputs = outputs;
  IRBuilder<> atEntry(entry, entry->begin());
  llvm::Type *word = getInteger(32);
  auto allocate = [&](size_t size) {
    return atEntry.CreateAlloca(
        ArrayType::get(word, std::max<size_t>(1, size)));
  };
  Value *inputMemory = allocate(inputs.size());
  Value *outputMemory = allocate(outputs);
  for (auto [index, input] : enumerate(inputs))
    builder.CreateStore(input,
                        builder.CreateConstGEP1_32(word, inputMemory, index));
  callRuntime(
      "act_emulator_collective", builder.getVoidTy(),
      {threadContext, getPointer(&site), mask, inputMemory, outputMemory});
  std::vector<Value *> results;
  for (unsigned i = 0; i < outputs; ++i)
    results.push_back(builder.CreateLoad(
        word, builder.CreateConstGEP1_32(word, outputMemory, i)));
  return results;
}

bool FunctionTranslator::translateWarpBarrier(Instruction &instruction) {
  if (!instruction.take("sync"))
    return false;
  Site &site = addSite(instruction.statement);
  site.collective = Collective::Synchronize;
  callCollective(site, read(instruction.operand(0), 32), {}, 0);
  return true;
}

bool FunctionTranslator::translateShuffle(Instruction &instruction) {
  StringRef mode = instruction.takeAny({"up", "down", "bfly", "idx"});
  std::optional<ptx::Type> type = instruction.takeType();
  if (!instruction.take("sync") || mode.empty() || !type || type->bits != 32)
    return false;
  Site &site = addSite(instruction.statement);
  site.collective = mode == "up"     ? Collective::ShuffleUp
                    : mode == "down" ? Collective::ShuffleDown
                    : mode == "bfly" ? Collective::ShuffleButterfly
                                     : Collective::ShuffleIndex;
  auto readWord = [&](unsigned i) { return read(instruction.operand(i), 32); };
  std::vector<Value *> results = callCollective(
      site, readWord(4), {readWord(1), readWord(2), readWord(3)}, 2);
  const ptx::Operand &target = instruction.operand(0);
  bool isPair = target.kind == ptx::Operand::Kind::Pair;
  write(isPair ? target.elements[0] : target, results[0]);
  if (isPair)
    write(target.elements[1], builder.CreateTrunc(results[1], getInteger(1)));
  return true;
}

bool FunctionTranslator::translateVote(Instruction &instruction) {
  StringRef mode = instruction.takeAny({"all", "any", "uni", "ballot"});
  if (!instruction.take("sync") || mode.empty() || !instruction.takeType())
    return false;
  Site &site = addSite(instruction.statement);
  site.collective = mode == "all"   ? Collective::VoteAll
                    : mode == "any" ? Collective::VoteAny
                    : mode == "uni" ? Collective::VoteUniform
                                    : Collective::VoteBallot;
  Value *vote =
      builder.CreateZExt(readPredicate(instruction.operand(1)), getInteger(32));
  Value *result =
      callCollective(site, read(instruction.operand(2), 32), {vote}, 1)[0];
  write(instruction,
        mode == "ballot" ? result : builder.CreateTrunc(result, getInteger(1)));
  return true;
}

bool FunctionTranslator::translateMatch(Instruction &instruction) {
  StringRef mode = instruction.takeAny({"any", "all"});
  std::optional<ptx::Type> type = instruction.takeType();
  if (!instruction.take("sync") || mode.empty() || !type)
    return false;
  Site &site = addSite(instruction.statement);
  site.collective = mode == "any" ? Collective::MatchAny : Collective::MatchAll;
  Value *value = read(instruction, 1, *type);
  SmallVector<Value *> words{builder.CreateTrunc(value, getInteger(32))};
  if (type->bits == 64)
    words.push_back(
        builder.CreateTrunc(builder.CreateLShr(value, 32), getInteger(32)));
  std::vector<Value *> results =
      callCollective(site, read(instruction.operand(2), 32), words, 2);
  const ptx::Operand &target = instruction.operand(0);
  bool isPair = target.kind == ptx::Operand::Kind::Pair;
  write(isPair ? target.elements[0] : target, results[0]);
  if (isPair)
    write(target.elements[1], builder.CreateTrunc(results[1], getInteger(1)));
  return true;
}

bool FunctionTranslator::translateRedux(Instruction &instruction) {
  StringRef operation =
      instruction.takeAny({"add", "min", "max", "and", "or", "xor"});
  std::optional<ptx::Type> type = instruction.takeType();
  if (!instruction.take("sync") || operation.empty() || !type ||
      type->isFloat() || type->bits != 32)
    return false;
  Site &site = addSite(instruction.statement);
  site.collective = Collective::Reduce;
  bool isSigned = type->isSigned();
  site.reduction =
      StringSwitch<Reduction>(operation)
          .Case("min", isSigned ? Reduction::SignedMin : Reduction::UnsignedMin)
          .Case("max", isSigned ? Reduction::SignedMax : Reduction::UnsignedMax)
          .Case("and", Reduction::And)
          .Case("or", Reduction::Or)
          .Case("xor", Reduction::Xor)
          .Default(Reduction::Add);
  write(instruction, callCollective(site, read(instruction.operand(2), 32),
                                    {read(instruction, 1, *type)}, 1)[0]);
  return true;
}

/// Lanes run one after the other, so each is active alone, which PTX allows.
bool FunctionTranslator::translateActiveMask(Instruction &instruction) {
  if (!instruction.takeType())
    return false;
  write(instruction,
        builder.CreateShl(constant(1), getField(offsetof(ThreadContext, lane),
                                                getInteger(32))));
  return true;
}

bool FunctionTranslator::translateElect(Instruction &instruction) {
  const ptx::Operand &target = instruction.operand(0);
  if (!instruction.take("sync") || target.kind != ptx::Operand::Kind::Pair)
    return false;
  Site &site = addSite(instruction.statement);
  site.collective = Collective::Elect;
  std::vector<Value *> results =
      callCollective(site, read(instruction.operand(1), 32), {}, 2);
  write(target.elements[0], results[0]);
  write(target.elements[1], builder.CreateTrunc(results[1], getInteger(1)));
  return true;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

static std::optional<MatrixElement> getElement(ptx::Type type) {
  switch (type.kind) {
  case ptx::Type::Kind::Float:
    if (type.bits == 16)
      return MatrixElement::F16;
    if (type.bits == 32)
      return MatrixElement::F32;
    return std::nullopt;
  case ptx::Type::Kind::Bfloat:
    return MatrixElement::BF16;
  case ptx::Type::Kind::Tf32:
    return MatrixElement::TF32;
  case ptx::Type::Kind::E4M3:
    return MatrixElement::E4M3;
  case ptx::Type::Kind::E5M2:
    return MatrixElement::E5M2;
  case ptx::Type::Kind::Signed:
    return type.bits == 8 ? MatrixElement::S8 : MatrixElement::S32;
  case ptx::Type::Kind::Unsigned:
    if (type.bits == 8)
      return MatrixElement::U8;
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

/// The depths K of m16n8kK for elements of `bits` bits.
static bool isDepth(unsigned depth, unsigned bits) {
  return depth * bits == 128 || depth * bits == 256;
}

bool FunctionTranslator::translateMma(Instruction &instruction) {
  if (!instruction.take("sync") || !instruction.take("aligned") ||
      !instruction.take("row") || !instruction.take("col"))
    return false;
  StringRef shape =
      instruction.takeAny({"m16n8k4", "m16n8k8", "m16n8k16", "m16n8k32"});
  Site &site = addSite(instruction.statement);
  site.collective = Collective::MultiplyMatrices;
  site.matrix.saturates = instruction.take("satfinite");
  std::optional<MatrixElement> elements[4];
  ptx::Type types[4];
  for (unsigned i = 0; i < 4; ++i) {
    std::optional<ptx::Type> type = instruction.takeType();
    if (!type)
      return false;
    types[i] = *type;
    elements[i] = getElement(*type);
    if (!elements[i])
      return false;
  }
  unsigned depth;
  if (shape.drop_front(std::min<size_t>(6, shape.size()))
          .getAsInteger(10, depth) ||
      types[1].bits != types[2].bits || !isDepth(depth, types[1].bits))
    return false;
  site.matrix.depth = depth;
  site.matrix.result = *elements[0];
  site.matrix.a = *elements[1];
  site.matrix.b = *elements[2];
  site.matrix.accumulator = *elements[3];
  SmallVector<Value *> words;
  for (unsigned i = 1; i < 4; ++i)
    for (const ptx::Operand &element : getElements(instruction.operand(i)))
      words.push_back(read(element, 32));
  unsigned expected =
      depth * types[1].bits / 128 * 3 + (types[3].bits == 16 ? 2 : 4);
  ArrayRef<ptx::Operand> targets = getElements(instruction.operand(0));
  if (words.size() != expected ||
      targets.size() != (types[0].bits == 16 ? 2u : 4u))
    return false;
  std::vector<Value *> results =
      callCollective(site, constant(~0u), words, targets.size());
  for (auto [target, result] : zip_equal(targets, results))
    write(target, result);
  return true;
}

/// Takes what ldmatrix and stmatrix have in common.
static bool takeMatrixForm(Instruction &instruction) {
  return instruction.take("sync") && instruction.take("aligned") &&
         instruction.take("m8n8") &&
         !instruction.takeAny({"x1", "x2", "x4"}).empty() &&
         !instruction.takeAny({"shared", "shared::cta"}).empty() &&
         instruction.take("b16");
}

bool FunctionTranslator::translateLoadMatrix(Instruction &instruction) {
  if (!takeMatrixForm(instruction))
    return false;
  Site &site = addSite(instruction.statement);
  site.collective = Collective::LoadMatrix;
  site.isTransposed = instruction.take("trans");
  site.space = Space::Shared;
  site.bytes = site.alignment = 16;
  site.reads = true;
  Value *address =
      builder.CreateTrunc(getAddress(instruction.operand(1)), getInteger(32));
  ArrayRef<ptx::Operand> targets = getElements(instruction.operand(0));
  std::vector<Value *> results =
      callCollective(site, constant(~0u), {address}, targets.size());
  for (auto [target, result] : zip_equal(targets, results))
    write(target, result);
  return true;
}

bool FunctionTranslator::translateStoreMatrix(Instruction &instruction) {
  if (!takeMatrixForm(instruction))
    return false;
  Site &site = addSite(instruction.statement);
  site.collective = Collective::StoreMatrix;
  site.isTransposed = instruction.take("trans");
  site.space = Space::Shared;
  site.bytes = site.alignment = 16;
  site.writes = true;
  SmallVector<Value *> words{
      builder.CreateTrunc(getAddress(instruction.operand(0)), getInteger(32))};
  for (const ptx::Operand &element : getElements(instruction.operand(1)))
    words.push_back(read(element, 32));
  callCollective(site, constant(~0u), words, 0);
  return true;
}

} // namespace act::emulator
