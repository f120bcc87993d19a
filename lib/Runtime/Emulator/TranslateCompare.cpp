//===- TranslateCompare.cpp - Comparisons and selections ----------===//
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

static constexpr StringRef comparisons[] = {
    "eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
    "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};

static CmpInst::Predicate getFloatPredicate(StringRef comparison) {
  return StringSwitch<CmpInst::Predicate>(comparison)
      .Case("eq", CmpInst::FCMP_OEQ)
      .Case("ne", CmpInst::FCMP_ONE)
      .Case("lt", CmpInst::FCMP_OLT)
      .Case("le", CmpInst::FCMP_OLE)
      .Case("gt", CmpInst::FCMP_OGT)
      .Case("ge", CmpInst::FCMP_OGE)
      .Case("equ", CmpInst::FCMP_UEQ)
      .Case("neu", CmpInst::FCMP_UNE)
      .Case("ltu", CmpInst::FCMP_ULT)
      .Case("leu", CmpInst::FCMP_ULE)
      .Case("gtu", CmpInst::FCMP_UGT)
      .Case("geu", CmpInst::FCMP_UGE)
      .Case("num", CmpInst::FCMP_ORD)
      .Case("nan", CmpInst::FCMP_UNO)
      .Default(CmpInst::BAD_FCMP_PREDICATE);
}

static CmpInst::Predicate getIntegerPredicate(StringRef comparison,
                                              bool isSigned) {
  // lo, ls, hi, hs are the unsigned lt, le, gt, ge.
  CmpInst::Predicate result = StringSwitch<CmpInst::Predicate>(comparison)
                                  .Case("eq", CmpInst::ICMP_EQ)
                                  .Case("ne", CmpInst::ICMP_NE)
                                  .Cases({"lt", "lo"}, CmpInst::ICMP_ULT)
                                  .Cases({"le", "ls"}, CmpInst::ICMP_ULE)
                                  .Cases({"gt", "hi"}, CmpInst::ICMP_UGT)
                                  .Cases({"ge", "hs"}, CmpInst::ICMP_UGE)
                                  .Default(CmpInst::BAD_ICMP_PREDICATE);
  bool isOrder = comparison == "lt" || comparison == "le" ||
                 comparison == "gt" || comparison == "ge";
  return isSigned && isOrder ? ICmpInst::getSignedPredicate(result) : result;
}

/// Operands 1 and 2, or one lane of them.
FunctionTranslator::Value *
FunctionTranslator::compare(Instruction &instruction, StringRef comparison,
                            ptx::Type type, bool flushes, unsigned lane) {
  auto readLane = [&](unsigned index) {
    return builder.CreateTrunc(
        builder.CreateLShr(read(instruction, index, type), lane * type.bits),
        getInteger(type.bits));
  };
  Value *left = readLane(1);
  Value *right = readLane(2);
  if (!type.isFloat()) {
    CmpInst::Predicate predicate =
        getIntegerPredicate(comparison, type.isSigned());
    if (predicate != CmpInst::BAD_ICMP_PREDICATE)
      return builder.CreateICmp(predicate, left, right);
  } else {
    CmpInst::Predicate predicate = getFloatPredicate(comparison);
    left = toFloat(left, type);
    right = toFloat(right, type);
    if (flushes) {
      left = flushSubnormal(left);
      right = flushSubnormal(right);
    }
    if (predicate != CmpInst::BAD_FCMP_PREDICATE)
      return builder.CreateFCmp(predicate, left, right);
  }
  error("the comparison '." + comparison + "' is not supported");
  return builder.getFalse();
}

bool FunctionTranslator::translateSetp(Instruction &instruction) {
  StringRef comparison = instruction.takeAny(comparisons);
  StringRef logic = instruction.takeAny({"and", "or", "xor"});
  bool flushes = instruction.take("ftz");
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type || comparison.empty())
    return false;
  auto combine = [&](Value *value) {
    if (logic.empty())
      return value;
    Value *other = readPredicate(instruction.operand(3));
    return logic == "and"  ? builder.CreateAnd(value, other)
           : logic == "or" ? builder.CreateOr(value, other)
                           : builder.CreateXor(value, other);
  };
  const ptx::Operand &result = instruction.operand(0);
  bool isPair = result.kind == ptx::Operand::Kind::Pair;
  Value *value = compare(instruction, comparison, *type, flushes);
  if (!isPair) {
    if (type->lanes > 1)
      return false;
    write(result, combine(value));
    return true;
  }
  // Of packed types the second lane, else the negated comparison.
  Value *second = type->lanes > 1
                      ? compare(instruction, comparison, *type, flushes, 1)
                      : builder.CreateNot(value);
  value = combine(value);
  second = combine(second);
  write(result.elements[0], value);
  write(result.elements[1], second);
  return true;
}

bool FunctionTranslator::translateSet(Instruction &instruction) {
  StringRef comparison = instruction.takeAny(comparisons);
  StringRef logic = instruction.takeAny({"and", "or", "xor"});
  bool flushes = instruction.take("ftz");
  std::optional<ptx::Type> to = instruction.takeType();
  std::optional<ptx::Type> from = instruction.takeType();
  if (!to || !from || comparison.empty() || from->lanes > 1)
    return false;
  Value *value = compare(instruction, comparison, *from, flushes);
  if (!logic.empty()) {
    Value *other = readPredicate(instruction.operand(3));
    value = logic == "and"  ? builder.CreateAnd(value, other)
            : logic == "or" ? builder.CreateOr(value, other)
                            : builder.CreateXor(value, other);
  }
  if (to->isFloat())
    write(instruction,
          fromFloat(builder.CreateUIToFP(value, to->bits == 64
                                                    ? builder.getDoubleTy()
                                                    : builder.getFloatTy()),
                    *to));
  else
    write(instruction, builder.CreateSExt(value, getInteger(to->bits)));
  return true;
}

bool FunctionTranslator::translateSelect(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  write(instruction, builder.CreateSelect(readPredicate(instruction.operand(3)),
                                          read(instruction, 1, *type),
                                          read(instruction, 2, *type)));
  return true;
}

/// slct: operand 1 if operand 3 is at least 0, else operand 2.
bool FunctionTranslator::translateSelectBySign(Instruction &instruction) {
  bool flushes = instruction.take("ftz");
  std::optional<ptx::Type> type = instruction.takeType();
  std::optional<ptx::Type> signType = instruction.takeType();
  if (!type || !signType)
    return false;
  Value *sign = read(instruction, 3, *signType);
  Value *takesFirst;
  if (signType->isFloat()) {
    Value *number = toFloat(sign, *signType);
    number = flushes ? flushSubnormal(number) : number;
    takesFirst =
        builder.CreateFCmpOGE(number, ConstantFP::get(number->getType(), 0.0));
  } else {
    takesFirst = builder.CreateICmpSGE(sign, constant(0, signType->bits));
  }
  write(instruction,
        builder.CreateSelect(takesFirst, read(instruction, 1, *type),
                             read(instruction, 2, *type)));
  return true;
}

} // namespace act::emulator
