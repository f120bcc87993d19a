//===- TranslateFloat.cpp - Arithmetic of floating-point numbers ----------===//
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

/// Arithmetic on f16 and bf16 happens in float and is rounded once more, which
/// gives the same as one rounding for sums, products and quotients.
FunctionTranslator::Value *FunctionTranslator::toFloat(Value *bits,
                                                       ptx::Type type) {
  if (type.kind == ptx::Type::Kind::Bfloat) {
    Value *wide = builder.CreateZExt(bits, getInteger(32));
    return builder.CreateBitCast(builder.CreateShl(wide, 16),
                                 builder.getFloatTy());
  }
  if (type.bits == 16)
    return builder.CreateFPExt(builder.CreateBitCast(bits, builder.getHalfTy()),
                               builder.getFloatTy());
  return builder.CreateBitCast(bits, type.bits == 64 ? builder.getDoubleTy()
                                                     : builder.getFloatTy());
}

/// `number` is of the type that toFloat gives, or, for 16 bits, a double.
FunctionTranslator::Value *FunctionTranslator::fromFloat(Value *number,
                                                         ptx::Type type) {
  if (type.bits == 16 && number->getType()->isDoubleTy())
    return builder.CreateTrunc(callNumeric(type.kind == ptx::Type::Kind::Bfloat
                                               ? "act_emulator_double_to_bfloat"
                                               : "act_emulator_double_to_half",
                                           getInteger(32), {number}),
                               getInteger(16));
  if (type.kind == ptx::Type::Kind::Bfloat) {
    // To nearest, ties to even; NaN becomes 0x7fff.
    Value *bits = builder.CreateBitCast(number, getInteger(32));
    Value *tie = builder.CreateAnd(builder.CreateLShr(bits, 16), 1);
    Value *rounded =
        builder.CreateAdd(bits, builder.CreateAdd(tie, constant(0x7fff)));
    Value *isNan = builder.CreateFCmpUNO(number, number);
    Value *result = builder.CreateSelect(isNan, constant(0x7fff0000), rounded);
    return builder.CreateTrunc(builder.CreateLShr(result, 16), getInteger(16));
  }
  if (type.bits == 16)
    return builder.CreateBitCast(
        builder.CreateFPTrunc(number, builder.getHalfTy()), getInteger(16));
  return builder.CreateBitCast(number, getInteger(type.bits));
}

/// Zero with the sign of the number for f32 numbers below 2^-126.
FunctionTranslator::Value *FunctionTranslator::flushSubnormal(Value *number) {
  if (!number->getType()->isFloatTy())
    return number;
  Value *magnitude = builder.CreateUnaryIntrinsic(Intrinsic::fabs, number);
  Value *isSmall = builder.CreateFCmpOLT(
      magnitude, ConstantFP::get(builder.getFloatTy(), 0x1p-126));
  Value *zero = builder.CreateBinaryIntrinsic(
      Intrinsic::copysign, ConstantFP::get(builder.getFloatTy(), 0.0), number);
  return builder.CreateSelect(isSmall, zero, number);
}

/// To [0, 1]; NaN becomes 0.
FunctionTranslator::Value *FunctionTranslator::saturate(Value *number) {
  Value *zero = ConstantFP::get(number->getType(), 0.0);
  Value *one = ConstantFP::get(number->getType(), 1.0);
  Value *isPositive = builder.CreateFCmpOGT(number, zero);
  number = builder.CreateSelect(isPositive, number, zero);
  return builder.CreateSelect(builder.CreateFCmpOLT(number, one), number, one);
}

FunctionTranslator::FloatModifiers
FunctionTranslator::takeFloatModifiers(Instruction &instruction) {
  FloatModifiers result;
  result.flushes = instruction.take("ftz");
  result.saturates = instruction.take("sat");
  result.rounding = instruction.takeAny({"rn", "rz", "rm", "rp"});
  if (result.rounding == "rn")
    result.rounding = "";
  return result;
}

FunctionTranslator::Value *
FunctionTranslator::mapFloat(Instruction &instruction, ptx::Type type,
                             unsigned operands, const FloatModifiers &modifiers,
                             FloatFunction apply) {
  SmallVector<Value *> packed;
  for (unsigned i = 0; i < operands; ++i)
    packed.push_back(read(instruction, 1 + i, type));
  Value *result = nullptr;
  for (unsigned lane = 0; lane < type.lanes; ++lane) {
    SmallVector<Value *> numbers;
    for (Value *value : packed) {
      Value *bits = builder.CreateTrunc(
          builder.CreateLShr(value, lane * type.bits), getInteger(type.bits));
      Value *number = toFloat(bits, type);
      numbers.push_back(modifiers.flushes ? flushSubnormal(number) : number);
    }
    Value *number = apply(numbers);
    if (modifiers.saturates)
      number = saturate(number);
    if (modifiers.flushes)
      number = flushSubnormal(number);
    Value *bits =
        builder.CreateZExt(fromFloat(number, type), getInteger(type.getBits()));
    bits = builder.CreateShl(bits, lane * type.bits);
    result = result ? builder.CreateOr(result, bits) : bits;
  }
  return result;
}

FunctionTranslator::Value *
FunctionTranslator::mapFloat(Instruction &instruction, ptx::Type type,
                             unsigned operands, FloatFunction apply) {
  FloatModifiers modifiers = takeFloatModifiers(instruction);
  return mapFloat(instruction, type, operands, modifiers, apply);
}

/// "add", "sub", "mul" or "div", rounded as the modifiers say.
FunctionTranslator::Value *
FunctionTranslator::combineRounded(StringRef operation, ptx::Type type,
                                   const FloatModifiers &modifiers,
                                   ArrayRef<Value *> operands) {
  Value *left = operands[0];
  Value *right = operands[1];
  if (!modifiers.rounding.empty()) {
    if (type.bits == 16)
      error("directed rounding of 16-bit numbers is not supported");
    return callNumeric(("act_emulator_" + operation + "_" + modifiers.rounding +
                        (type.bits == 64 ? "_f64" : "_f32"))
                           .str(),
                       left->getType(), {left, right});
  }
  if (operation == "add")
    return builder.CreateFAdd(left, right);
  if (operation == "sub")
    return builder.CreateFSub(left, right);
  if (operation == "mul")
    return builder.CreateFMul(left, right);
  return builder.CreateFDiv(left, right);
}

FunctionTranslator::Value *
FunctionTranslator::fuse(ptx::Type type, const FloatModifiers &modifiers,
                         ArrayRef<Value *> operands) {
  if (type.bits == 16) {
    if (!modifiers.rounding.empty())
      error("directed rounding of 16-bit numbers is not supported");
    // Rounded to odd, so that rounding to 16 bits rounds only once.
    SmallVector<Value *> wide;
    for (Value *operand : operands)
      wide.push_back(builder.CreateFPExt(operand, builder.getDoubleTy()));
    return callNumeric("act_emulator_fuse_to_odd", builder.getDoubleTy(), wide);
  }
  if (!modifiers.rounding.empty())
    return callNumeric(("act_emulator_fma_" + modifiers.rounding +
                        (type.bits == 64 ? "_f64" : "_f32"))
                           .str(),
                       operands[0]->getType(), operands);
  return builder.CreateIntrinsic(Intrinsic::fma, {operands[0]->getType()},
                                 operands);
}

bool FunctionTranslator::translateFused(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type || !type->isFloat())
    return false;
  FloatModifiers modifiers = takeFloatModifiers(instruction);
  bool clamps = instruction.take("relu");
  write(instruction,
        mapFloat(instruction, *type, 3, modifiers,
                 [&](ArrayRef<Value *> operands) {
                   Value *result = fuse(*type, modifiers, operands);
                   if (!clamps)
                     return result;
                   // NaN stays NaN.
                   Value *zero = ConstantFP::get(result->getType(), 0.0);
                   return builder.CreateSelect(
                       builder.CreateFCmpOLT(result, zero), zero, result);
                 }));
  return true;
}

bool FunctionTranslator::translateNegation(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  if (type->isFloat()) {
    write(instruction,
          mapFloat(instruction, *type, 1, [&](ArrayRef<Value *> operands) {
            return builder.CreateFNeg(operands[0]);
          }));
    return true;
  }
  write(instruction, builder.CreateNeg(read(instruction, 1, *type)),
        type->isSigned());
  return true;
}

bool FunctionTranslator::translateAbsolute(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  if (type->isFloat()) {
    write(instruction,
          mapFloat(instruction, *type, 1, [&](ArrayRef<Value *> operands) {
            return builder.CreateUnaryIntrinsic(Intrinsic::fabs, operands[0]);
          }));
    return true;
  }
  write(instruction,
        builder.CreateBinaryIntrinsic(
            Intrinsic::abs, read(instruction, 1, *type), builder.getFalse()),
        type->isSigned());
  return true;
}

bool FunctionTranslator::translateMinMax(Instruction &instruction) {
  bool isMax = instruction.statement.opcode == "max";
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  if (type->isFloat()) {
    bool keepsNan = instruction.take("NaN");
    bool isXorSign = instruction.take("xorsign") && instruction.take("abs");
    Intrinsic::ID id =
        keepsNan ? (isMax ? Intrinsic::maximum : Intrinsic::minimum)
                 : (isMax ? Intrinsic::maximumnum : Intrinsic::minimumnum);
    unsigned operands = instruction.getNumOperands() - 1;
    write(instruction,
          mapFloat(instruction, *type, operands, [&](ArrayRef<Value *> values) {
            Value *result = values[0];
            for (Value *value : values.drop_front())
              result = builder.CreateBinaryIntrinsic(id, result, value);
            return result;
          }));
    return !isXorSign;
  }
  Intrinsic::ID id = type->isSigned()
                         ? (isMax ? Intrinsic::smax : Intrinsic::smin)
                         : (isMax ? Intrinsic::umax : Intrinsic::umin);
  Value *left = read(instruction, 1, *type);
  Value *right = read(instruction, 2, *type);
  if (type->lanes > 1) {
    llvm::Type *vector =
        FixedVectorType::get(getInteger(type->bits), type->lanes);
    left = builder.CreateBitCast(left, vector);
    right = builder.CreateBitCast(right, vector);
  }
  Value *result = builder.CreateBinaryIntrinsic(id, left, right);
  if (instruction.take("relu"))
    result = builder.CreateBinaryIntrinsic(
        Intrinsic::smax, result, Constant::getNullValue(result->getType()));
  write(instruction, builder.CreateBitCast(result, getInteger(type->getBits())),
        type->isSigned());
  return true;
}

/// sqrt, rcp, rsqrt, sin, cos, ex2, lg2, tanh. Approximations are as exact as
/// the host's functions.
bool FunctionTranslator::translateFloatUnary(Instruction &instruction) {
  StringRef opcode = instruction.statement.opcode;
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type || !type->isFloat())
    return false;
  bool isApproximate = instruction.take("approx");
  FloatModifiers modifiers = takeFloatModifiers(instruction);
  StringRef suffix = type->bits == 64 ? "_f64" : "_f32";
  bool isExact = opcode == "sqrt" || opcode == "rcp";
  if (!isExact && !isApproximate)
    return false;
  write(instruction,
        mapFloat(instruction, *type, 1, modifiers,
                 [&](ArrayRef<Value *> operands) -> Value * {
                   Value *operand = operands[0];
                   llvm::Type *number = operand->getType();
                   if (!modifiers.rounding.empty())
                     return callNumeric(("act_emulator_" + opcode + "_" +
                                         modifiers.rounding + suffix)
                                            .str(),
                                        number, {operand});
                   if (opcode == "sqrt")
                     return builder.CreateUnaryIntrinsic(Intrinsic::sqrt,
                                                         operand);
                   if (opcode == "rcp")
                     return builder.CreateFDiv(ConstantFP::get(number, 1.0),
                                               operand);
                   return callNumeric(("act_emulator_" + opcode + suffix).str(),
                                      number, {operand});
                 }));
  return true;
}

/// copysign a, b: the sign of a with the magnitude of b.
bool FunctionTranslator::translateCopysign(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type || !type->isFloat() || type->bits < 32)
    return false;
  uint64_t sign = uint64_t(1) << (type->bits - 1);
  Value *signBits = builder.CreateAnd(read(instruction, 1, *type),
                                      constant(sign, type->bits));
  Value *magnitude = builder.CreateAnd(read(instruction, 2, *type),
                                       constant(~sign, type->bits));
  write(instruction, builder.CreateOr(signBits, magnitude));
  return true;
}

bool FunctionTranslator::translateTestp(Instruction &instruction) {
  StringRef property = instruction.takeAny(
      {"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type || property.empty())
    return false;
  unsigned classes = property == "finite"       ? fcFinite
                     : property == "infinite"   ? fcInf
                     : property == "number"     ? fcAllFlags & ~fcNan
                     : property == "notanumber" ? fcNan
                     : property == "normal"     ? fcNormal
                                                : fcSubnormal;
  Value *number = toFloat(read(instruction, 1, *type), *type);
  write(instruction, builder.createIsFPClass(number, classes));
  return true;
}

} // namespace act::emulator
