//===- TranslateOperands.cpp - Operands of PTX ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionTranslator.h"
#include "Numbers.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;

namespace act::emulator {

AllocaInst *FunctionTranslator::findRegister(StringRef name) const {
  for (const auto &scope : reverse(registers)) {
    auto found = scope.find(name);
    if (found != scope.end())
      return found->second;
  }
  return nullptr;
}

std::optional<FunctionTranslator::Symbol>
FunctionTranslator::findSymbol(StringRef name) {
  for (const auto &scope : reverse(symbols)) {
    auto found = scope.find(name);
    if (found != scope.end())
      return found->second;
  }
  const ptx::Variable *variable = translation.source.findVariable(name);
  if (!variable)
    return std::nullopt;
  if (variable->space == Space::Shared)
    return Symbol{Space::Shared,
                  constant(translation.sharedOffsets.lookup(name), 64)};
  char *address = translation.getVariable(name);
  if (!address)
    return std::nullopt;
  return Symbol{variable->space,
                constant(reinterpret_cast<uint64_t>(address), 64)};
}

FunctionTranslator::Value *FunctionTranslator::getField(size_t offset,
                                                        llvm::Type *type) {
  auto *load = builder.CreateLoad(
      type,
      builder.CreateConstGEP1_32(builder.getInt8Ty(), threadContext, offset));
  load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(context, {}));
  return load;
}

/// The byte offset in ThreadContext of registers like %tid.x; -1 for others.
static int getFieldOffset(StringRef name) {
  auto [base, axis] = name.split('.');
  int offset = StringSwitch<int>(base)
                   .Case("%tid", offsetof(ThreadContext, tid))
                   .Case("%ntid", offsetof(ThreadContext, ntid))
                   .Case("%ctaid", offsetof(ThreadContext, ctaid))
                   .Case("%nctaid", offsetof(ThreadContext, nctaid))
                   .Default(-1);
  if (offset >= 0) {
    int number =
        StringSwitch<int>(axis).Case("x", 0).Case("y", 1).Case("z", 2).Default(
            -1);
    return number < 0 ? -1 : offset + number * 4;
  }
  return StringSwitch<int>(name)
      .Case("%laneid", offsetof(ThreadContext, lane))
      .Case("%warpid", offsetof(ThreadContext, warp))
      .Case("%nwarpid", offsetof(ThreadContext, numWarps))
      .Case("%dynamic_smem_size", offsetof(ThreadContext, dynamicSharedBytes))
      .Case("%total_smem_size", offsetof(ThreadContext, totalSharedBytes))
      .Default(-1);
}

/// Null for registers that are not known.
FunctionTranslator::Value *
FunctionTranslator::readSpecialRegister(StringRef name) {
  if (int offset = getFieldOffset(name); offset >= 0)
    return getField(offset, getInteger(32));
  if (name == "WARP_SZ")
    return constant(32);
  if (name == "%smid")
    return constant(0);
  if (name == "%nsmid")
    return constant(1);
  if (name == "%gridid")
    return constant(0, 64);
  if (name == "%clock" || name == "%clock_hi" || name == "%clock64" ||
      name == "%globaltimer")
    return callRuntime("act_emulator_clock", getInteger(64), {});
  if (!name.consume_front("%lanemask_"))
    return nullptr;
  Value *bit = builder.CreateShl(
      constant(1), getField(offsetof(ThreadContext, lane), getInteger(32)));
  Value *below = builder.CreateSub(bit, constant(1));
  if (name == "eq")
    return bit;
  if (name == "lt")
    return below;
  if (name == "le")
    return builder.CreateOr(below, bit);
  if (name == "ge")
    return builder.CreateNot(below);
  if (name == "gt")
    return builder.CreateNot(builder.CreateOr(below, bit));
  return nullptr;
}

FunctionTranslator::Value *
FunctionTranslator::readName(const ptx::Operand &operand, unsigned bits) {
  if (AllocaInst *memory = findRegister(operand.name)) {
    if (operand.offset != 0)
      error("a register with an offset is no operand");
    Value *value = builder.CreateLoad(memory->getAllocatedType(), memory);
    if (operand.isNegated)
      value = builder.CreateNot(value);
    return builder.CreateZExtOrTrunc(value, getInteger(bits));
  }
  if (Value *value = readSpecialRegister(operand.name))
    return builder.CreateZExtOrTrunc(value, getInteger(bits));
  if (std::optional<Symbol> symbol = findSymbol(operand.name)) {
    if (bits < 64 && symbol->space != Space::Shared)
      error("addresses have 64 bits, got " + Twine(bits) + " for '" +
            operand.name + "'");
    Value *address =
        builder.CreateAdd(symbol->address, constant(operand.offset, 64));
    return builder.CreateZExtOrTrunc(address, getInteger(bits));
  }
  if (operand.name == "true" || operand.name == "false")
    return constant(operand.name == "true", bits);
  error("'" + operand.name + "' is no register and no variable");
  return constant(0, bits);
}

FunctionTranslator::Value *FunctionTranslator::read(const ptx::Operand &operand,
                                                    unsigned bits) {
  switch (operand.kind) {
  case ptx::Operand::Kind::Name:
    return readName(operand, bits);
  case ptx::Operand::Kind::Integer:
    return constant(operand.bits, bits);
  case ptx::Operand::Kind::Float32:
    if (bits == 64)
      return constant(doubleToBits(bitsToFloat(operand.bits)), 64);
    return constant(operand.bits, bits);
  case ptx::Operand::Kind::Float64:
    if (bits == 32)
      return constant(floatToBits(float(bitsToDouble(operand.bits))), 32);
    return constant(operand.bits, bits);
  case ptx::Operand::Kind::Vector: {
    // mov.b64 %rd1, {%r1, %r2}: the first element has the low bits.
    unsigned part = bits / std::max<size_t>(1, operand.elements.size());
    Value *result = constant(0, bits);
    for (auto [index, element] : enumerate(operand.elements)) {
      Value *piece = builder.CreateZExt(read(element, part), getInteger(bits));
      result = builder.CreateOr(result, builder.CreateShl(piece, index * part));
    }
    return result;
  }
  case ptx::Operand::Kind::Address:
  case ptx::Operand::Kind::Pair:
    break;
  }
  error("an operand of this kind is not supported here");
  return constant(0, bits);
}

FunctionTranslator::Value *
FunctionTranslator::readPredicate(const ptx::Operand &operand) {
  return read(operand, 1);
}

void FunctionTranslator::write(const ptx::Operand &operand, Value *value,
                               bool isSigned) {
  if (operand.name == "_")
    return;
  unsigned bits = value->getType()->getIntegerBitWidth();
  if (operand.kind == ptx::Operand::Kind::Vector) {
    unsigned part = bits / std::max<size_t>(1, operand.elements.size());
    for (auto [index, element] : enumerate(operand.elements))
      write(element,
            builder.CreateTrunc(builder.CreateLShr(value, index * part),
                                getInteger(part)));
    return;
  }
  AllocaInst *memory = findRegister(operand.name);
  if (!memory || operand.kind != ptx::Operand::Kind::Name)
    return error("'" + operand.name + "' is no register");
  llvm::Type *type = memory->getAllocatedType();
  value = isSigned ? builder.CreateSExtOrTrunc(value, type)
                   : builder.CreateZExtOrTrunc(value, type);
  builder.CreateStore(value, memory);
}

ArrayRef<ptx::Operand>
FunctionTranslator::getElements(const ptx::Operand &operand) {
  if (operand.kind == ptx::Operand::Kind::Vector)
    return operand.elements;
  return operand;
}

} // namespace act::emulator
