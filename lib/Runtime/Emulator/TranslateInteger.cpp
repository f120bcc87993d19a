//===- TranslateInteger.cpp - Arithmetic of integers ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionTranslator.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace act::emulator {

bool FunctionTranslator::translateAddition(Instruction &instruction) {
  bool subtracts = instruction.statement.opcode == "sub";
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  if (type->isFloat()) {
    FloatModifiers modifiers = takeFloatModifiers(instruction);
    write(instruction,
          mapFloat(instruction, *type, 2, modifiers,
                   [&](ArrayRef<Value *> operands) {
                     return combineRounded(subtracts ? "sub" : "add", *type,
                                           modifiers, operands);
                   }));
    return true;
  }
  if (instruction.take("cc"))
    return translateCarry(instruction, *type, /*takesCarry=*/false,
                          /*givesCarry=*/true, subtracts);
  Value *left = read(instruction, 1, *type);
  Value *right = read(instruction, 2, *type);
  if (type->lanes > 1) {
    llvm::Type *vector =
        FixedVectorType::get(getInteger(type->bits), type->lanes);
    left = builder.CreateBitCast(left, vector);
    right = builder.CreateBitCast(right, vector);
  }
  Value *result;
  if (instruction.take("sat"))
    result = builder.CreateBinaryIntrinsic(
        subtracts ? Intrinsic::ssub_sat : Intrinsic::sadd_sat, left, right);
  else
    result = subtracts ? builder.CreateSub(left, right)
                       : builder.CreateAdd(left, right);
  write(instruction, builder.CreateBitCast(result, getInteger(type->getBits())),
        type->isSigned());
  return true;
}

/// add.cc, addc, sub.cc, subc: with a carry (or borrow) in and out.
bool FunctionTranslator::translateCarry(Instruction &instruction,
                                        ptx::Type type, bool takesCarry,
                                        bool givesCarry, bool subtracts) {
  llvm::Type *wide = getInteger(type.bits * 2);
  Value *left = builder.CreateZExt(read(instruction, 1, type), wide);
  Value *right = builder.CreateZExt(read(instruction, 2, type), wide);
  Value *sum = subtracts ? builder.CreateSub(left, right)
                         : builder.CreateAdd(left, right);
  if (takesCarry) {
    Value *in =
        builder.CreateZExt(builder.CreateLoad(getInteger(1), carry), wide);
    sum = subtracts ? builder.CreateSub(sum, in) : builder.CreateAdd(sum, in);
  }
  write(instruction, builder.CreateTrunc(sum, getInteger(type.bits)));
  if (givesCarry)
    builder.CreateStore(
        builder.CreateTrunc(builder.CreateLShr(sum, type.bits), getInteger(1)),
        carry);
  return true;
}

bool FunctionTranslator::translateCarryIn(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  return translateCarry(instruction, *type, /*takesCarry=*/true,
                        instruction.take("cc"),
                        instruction.statement.opcode == "subc");
}

bool FunctionTranslator::translateProduct(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  if (type->isFloat()) {
    FloatModifiers modifiers = takeFloatModifiers(instruction);
    write(instruction, mapFloat(instruction, *type, 2, modifiers,
                                [&](ArrayRef<Value *> operands) {
                                  return combineRounded("mul", *type, modifiers,
                                                        operands);
                                }));
    return true;
  }
  return translateProductSum(instruction);
}

/// mul and mad of integers: .lo, .hi and .wide.
bool FunctionTranslator::translateProductSum(Instruction &instruction) {
  bool adds = instruction.statement.opcode == "mad";
  if (instruction.statement.modifiers.empty())
    return false;
  std::optional<ptx::Type> type =
      ptx::parseType(instruction.statement.modifiers.back());
  if (!type)
    return false;
  if (type->isFloat())
    return translateFused(instruction);
  instruction.takeType();
  StringRef part = instruction.takeAny({"lo", "hi", "wide"});
  if (part.empty() || type->lanes > 1)
    return false;
  unsigned bits = type->bits;
  Value *left = read(instruction, 1, *type);
  Value *right = read(instruction, 2, *type);
  Value *result;
  if (part == "lo") {
    result = builder.CreateMul(left, right);
  } else {
    auto widen = [&](Value *value) {
      return type->isSigned() ? builder.CreateSExt(value, getInteger(bits * 2))
                              : builder.CreateZExt(value, getInteger(bits * 2));
    };
    result = builder.CreateMul(widen(left), widen(right));
    if (part == "hi")
      result = builder.CreateTrunc(builder.CreateLShr(result, bits),
                                   getInteger(bits));
  }
  if (adds) {
    Value *sum =
        read(instruction.operand(3), result->getType()->getIntegerBitWidth());
    result =
        instruction.take("sat")
            ? builder.CreateBinaryIntrinsic(Intrinsic::sadd_sat, result, sum)
            : builder.CreateAdd(result, sum);
  }
  write(instruction, result, type->isSigned());
  return true;
}

/// mul24 and mad24.
bool FunctionTranslator::translateShortProduct(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  StringRef part = instruction.takeAny({"lo", "hi"});
  if (!type || type->bits != 32 || part.empty())
    return false;
  auto widen = [&](unsigned index) {
    Value *value = builder.CreateShl(read(instruction, index, *type), 8);
    llvm::Type *wide = getInteger(64);
    return type->isSigned()
               ? builder.CreateSExt(builder.CreateAShr(value, 8), wide)
               : builder.CreateZExt(builder.CreateLShr(value, 8), wide);
  };
  Value *product = builder.CreateMul(widen(1), widen(2));
  Value *result = builder.CreateTrunc(
      builder.CreateLShr(product, part == "hi" ? 16 : 0), getInteger(32));
  if (instruction.statement.opcode == "mad24")
    result = builder.CreateAdd(result, read(instruction, 3, *type));
  write(instruction, result, type->isSigned());
  return true;
}

bool FunctionTranslator::translateDivision(Instruction &instruction) {
  bool isRemainder = instruction.statement.opcode == "rem";
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  if (type->isFloat()) {
    if (isRemainder || type->isHalf())
      return false;
    instruction.ignore({"full", "approx"});
    FloatModifiers modifiers = takeFloatModifiers(instruction);
    write(instruction, mapFloat(instruction, *type, 2, modifiers,
                                [&](ArrayRef<Value *> operands) {
                                  return combineRounded("div", *type, modifiers,
                                                        operands);
                                }));
    return true;
  }
  Value *left = read(instruction, 1, *type);
  Value *right = read(instruction, 2, *type);
  // A GPU does not trap: it gives all ones for x / 0 and x for x % 0.
  Value *isZero = builder.CreateICmpEQ(right, constant(0, type->bits));
  Value *isBad = isZero;
  Value *fallback = isRemainder ? left : constant(~uint64_t(0), type->bits);
  if (type->isSigned()) {
    Value *least = constant(uint64_t(1) << (type->bits - 1), type->bits);
    Value *overflows = builder.CreateAnd(
        builder.CreateICmpEQ(left, least),
        builder.CreateICmpEQ(right, constant(~uint64_t(0), type->bits)));
    isBad = builder.CreateOr(isZero, overflows);
    fallback = builder.CreateSelect(
        overflows, isRemainder ? constant(0, type->bits) : least, fallback);
  }
  right = builder.CreateSelect(isBad, constant(1, type->bits), right);
  Value *result = type->isSigned()
                      ? (isRemainder ? builder.CreateSRem(left, right)
                                     : builder.CreateSDiv(left, right))
                      : (isRemainder ? builder.CreateURem(left, right)
                                     : builder.CreateUDiv(left, right));
  write(instruction, builder.CreateSelect(isBad, fallback, result),
        type->isSigned());
  return true;
}

bool FunctionTranslator::translateSad(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type || type->isFloat())
    return false;
  Value *left = read(instruction, 1, *type);
  Value *right = read(instruction, 2, *type);
  Value *isLess = type->isSigned() ? builder.CreateICmpSLT(left, right)
                                   : builder.CreateICmpULT(left, right);
  Value *difference = builder.CreateSelect(
      isLess, builder.CreateSub(right, left), builder.CreateSub(left, right));
  write(instruction, builder.CreateAdd(difference, read(instruction, 3, *type)),
        type->isSigned());
  return true;
}

bool FunctionTranslator::translateLogic(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  Value *left = read(instruction, 1, *type);
  Value *right = read(instruction, 2, *type);
  StringRef opcode = instruction.statement.opcode;
  write(instruction, opcode == "and"  ? builder.CreateAnd(left, right)
                     : opcode == "or" ? builder.CreateOr(left, right)
                                      : builder.CreateXor(left, right));
  return true;
}

bool FunctionTranslator::translateNot(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  Value *value = read(instruction, 1, *type);
  if (instruction.statement.opcode == "cnot")
    value =
        builder.CreateZExt(builder.CreateICmpEQ(value, constant(0, type->bits)),
                           getInteger(type->bits));
  else
    value = builder.CreateNot(value);
  write(instruction, value);
  return true;
}

/// Counts of shl and shr are clamped to the width.
bool FunctionTranslator::translateShift(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type || type->isFloat())
    return false;
  unsigned bits = type->bits;
  Value *value = read(instruction, 1, *type);
  Value *count = read(instruction.operand(2), 32);
  Value *isTooLarge = builder.CreateICmpUGE(count, constant(bits));
  Value *safe = builder.CreateZExtOrTrunc(
      builder.CreateSelect(isTooLarge, constant(0), count), getInteger(bits));
  Value *beyond = constant(0, bits);
  Value *result;
  if (instruction.statement.opcode == "shl") {
    result = builder.CreateShl(value, safe);
  } else if (type->isSigned()) {
    result = builder.CreateAShr(value, safe);
    beyond = builder.CreateAShr(value, bits - 1);
  } else {
    result = builder.CreateLShr(value, safe);
  }
  write(instruction, builder.CreateSelect(isTooLarge, beyond, result),
        type->isSigned());
  return true;
}

/// shf.l and shf.r shift {b, a} by c; d is its high or low half.
bool FunctionTranslator::translateFunnelShift(Instruction &instruction) {
  StringRef direction = instruction.takeAny({"l", "r"});
  StringRef mode = instruction.takeAny({"clamp", "wrap"});
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type || direction.empty() || mode.empty())
    return false;
  Value *low = builder.CreateZExt(read(instruction, 1, *type), getInteger(64));
  Value *high = builder.CreateZExt(read(instruction, 2, *type), getInteger(64));
  Value *both = builder.CreateOr(builder.CreateShl(high, 32), low);
  Value *count = read(instruction.operand(3), 32);
  if (mode == "clamp")
    count = builder.CreateBinaryIntrinsic(Intrinsic::umin, count, constant(32));
  else
    count = builder.CreateAnd(count, 31);
  count = builder.CreateZExt(count, getInteger(64));
  Value *result = direction == "l"
                      ? builder.CreateLShr(builder.CreateShl(both, count), 32)
                      : builder.CreateLShr(both, count);
  write(instruction, builder.CreateTrunc(result, getInteger(32)));
  return true;
}

bool FunctionTranslator::translateBitCount(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  Value *value = read(instruction, 1, *type);
  StringRef opcode = instruction.statement.opcode;
  Value *result =
      opcode == "popc" ? builder.CreateUnaryIntrinsic(Intrinsic::ctpop, value)
      : opcode == "brev"
          ? builder.CreateUnaryIntrinsic(Intrinsic::bitreverse, value)
          : builder.CreateBinaryIntrinsic(Intrinsic::ctlz, value,
                                          builder.getFalse());
  write(instruction, result);
  return true;
}

/// bfind: the position of the highest bit that differs from the sign.
bool FunctionTranslator::translateFindBit(Instruction &instruction) {
  bool countsShift = instruction.take("shiftamt");
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  Value *value = read(instruction, 1, *type);
  if (type->isSigned())
    value = builder.CreateXor(value, builder.CreateAShr(value, type->bits - 1));
  Value *zeros = builder.CreateZExtOrTrunc(
      builder.CreateBinaryIntrinsic(Intrinsic::ctlz, value, builder.getFalse()),
      getInteger(32));
  Value *result =
      countsShift ? zeros : builder.CreateSub(constant(type->bits - 1), zeros);
  Value *isZero = builder.CreateICmpEQ(value, constant(0, type->bits));
  write(instruction, builder.CreateSelect(isZero, constant(~0u), result));
  return true;
}

bool FunctionTranslator::translateExtract(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type || (type->bits != 32 && type->bits != 64))
    return false;
  std::string name = "act_emulator_bfe_" +
                     std::string(type->isSigned() ? "s" : "u") +
                     std::to_string(type->bits);
  write(instruction, callNumeric(name, getInteger(type->bits),
                                 {read(instruction, 1, *type),
                                  read(instruction.operand(2), 32),
                                  read(instruction.operand(3), 32)}));
  return true;
}

bool FunctionTranslator::translateInsert(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type || (type->bits != 32 && type->bits != 64))
    return false;
  write(instruction,
        callNumeric("act_emulator_bfi_" + std::to_string(type->bits),
                    getInteger(type->bits),
                    {read(instruction, 1, *type), read(instruction, 2, *type),
                     read(instruction.operand(3), 32),
                     read(instruction.operand(4), 32)}));
  return true;
}

/// lop3: each bit of the result is looked up in an 8-bit table.
bool FunctionTranslator::translateLookup(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  const ptx::Operand &table = instruction.operand(4);
  if (!type || table.kind != ptx::Operand::Kind::Integer ||
      instruction.getNumOperands() != 5)
    return false;
  Value *result = constant(0);
  for (unsigned index = 0; index < 8; ++index) {
    if (!(table.bits >> index & 1))
      continue;
    Value *term = constant(~0u);
    for (unsigned i = 0; i < 3; ++i) {
      Value *operand = read(instruction, 1 + i, *type);
      if (!(index >> (2 - i) & 1))
        operand = builder.CreateNot(operand);
      term = builder.CreateAnd(term, operand);
    }
    result = builder.CreateOr(result, term);
  }
  write(instruction, result);
  return true;
}

bool FunctionTranslator::translatePermute(Instruction &instruction) {
  static constexpr StringRef modes[] = {"f4e", "b4e", "rc8",
                                        "ecl", "ecr", "rc16"};
  std::optional<ptx::Type> type = instruction.takeType();
  StringRef mode = instruction.takeAny(modes);
  if (!type)
    return false;
  unsigned number = mode.empty() ? 0 : find(modes, mode) - modes + 1;
  write(instruction,
        callNumeric("act_emulator_prmt", getInteger(32),
                    {read(instruction, 1, *type), read(instruction, 2, *type),
                     read(instruction, 3, *type), constant(number)}));
  return true;
}

/// dp4a and dp2a.
bool FunctionTranslator::translateDotProduct(Instruction &instruction) {
  bool isShort = instruction.statement.opcode == "dp2a";
  StringRef half = isShort ? instruction.takeAny({"lo", "hi"}) : "lo";
  std::optional<ptx::Type> left = instruction.takeType();
  std::optional<ptx::Type> right = instruction.takeType();
  if (!left || !right || half.empty())
    return false;
  auto extract = [&](Value *word, unsigned bits, unsigned index,
                     bool isSigned) {
    Value *part = builder.CreateTrunc(builder.CreateLShr(word, index * bits),
                                      getInteger(bits));
    return isSigned ? builder.CreateSExt(part, getInteger(32))
                    : builder.CreateZExt(part, getInteger(32));
  };
  Value *a = read(instruction.operand(1), 32);
  Value *b = read(instruction.operand(2), 32);
  Value *sum = read(instruction.operand(3), 32);
  for (unsigned i = 0; i < (isShort ? 2 : 4); ++i) {
    Value *first = extract(a, isShort ? 16 : 8, i, left->isSigned());
    Value *second = extract(b, 8, half == "hi" ? i + 2 : i, right->isSigned());
    sum = builder.CreateAdd(sum, builder.CreateMul(first, second));
  }
  write(instruction, sum);
  return true;
}

} // namespace act::emulator
