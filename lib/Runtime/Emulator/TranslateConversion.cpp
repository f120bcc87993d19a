//===- TranslateConversion.cpp - Moves and conversions ----------===//
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

bool FunctionTranslator::translateMove(Instruction &instruction) {
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type)
    return false;
  write(instruction, read(instruction, 1, *type));
  return true;
}

/// cvta: only addresses in shared memory differ from generic ones.
bool FunctionTranslator::translateConversionOfAddress(
    Instruction &instruction) {
  bool isToSpace = instruction.take("to");
  StringRef space = instruction.takeAny(
      {"global", "shared", "shared::cta", "local", "const", "param"});
  std::optional<ptx::Type> type = instruction.takeType();
  if (!type || type->bits != 64 || space.empty())
    return false;
  Value *address = read(instruction, 1, *type);
  if (space.starts_with("shared")) {
    Value *base = builder.CreatePtrToInt(
        getField(offsetof(ThreadContext, shared), pointerType), getInteger(64));
    address = isToSpace ? builder.CreateSub(address, base)
                        : builder.CreateAdd(address, base);
  }
  write(instruction, address);
  return true;
}

bool FunctionTranslator::translateIsSpace(Instruction &instruction) {
  StringRef space = instruction.takeAny(
      {"global", "shared", "shared::cta", "local", "const", "param"});
  if (space.empty())
    return false;
  unsigned number = space == "global"             ? unsigned(Space::Global)
                    : space.starts_with("shared") ? unsigned(Space::Shared)
                    : space == "local"            ? unsigned(Space::Local)
                    : space == "const"            ? unsigned(Space::Constant)
                                                  : unsigned(Space::Parameter);
  Value *address = read(instruction.operand(1), 64);
  Value *result = callRuntime("act_emulator_is_space", getInteger(32),
                              {threadContext, address, constant(number)});
  write(instruction, builder.CreateTrunc(result, getInteger(1)));
  return true;
}

/// .rni, .rzi, .rmi, .rpi.
FunctionTranslator::Value *
FunctionTranslator::roundToIntegral(Instruction &instruction, Value *number) {
  StringRef mode = instruction.takeAny({"rni", "rzi", "rmi", "rpi"});
  if (mode.empty())
    return number;
  Intrinsic::ID id = mode == "rni"   ? Intrinsic::roundeven
                     : mode == "rzi" ? Intrinsic::trunc
                     : mode == "rmi" ? Intrinsic::floor
                                     : Intrinsic::ceil;
  return builder.CreateUnaryIntrinsic(id, number);
}

/// Saturates. NaN gives 0, as for all 32-bit targets of a GPU; for 64-bit ones
/// and NaN it gives the sign bit.
FunctionTranslator::Value *
FunctionTranslator::convertFloatToInteger(Instruction &instruction,
                                          Value *number, ptx::Type to) {
  number = roundToIntegral(instruction, number);
  Intrinsic::ID id =
      to.isSigned() ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat;
  Value *result = builder.CreateIntrinsic(
      id, {getInteger(to.bits), number->getType()}, {number});
  if (to.bits < 64)
    return result;
  return builder.CreateSelect(builder.CreateFCmpUNO(number, number),
                              constant(uint64_t(1) << 63, 64), result);
}

/// cvt.rn.bf16x2.f32 and the like: operand 1 becomes the high half.
bool FunctionTranslator::convertPair(Instruction &instruction, ptx::Type to,
                                     ptx::Type from) {
  bool clamps = instruction.take("relu");
  bool isToEight = to.bits == 8;
  if (isToEight && !instruction.take("satfinite"))
    return false;
  if (!isToEight && !to.isHalf())
    return false;
  StringRef mode = instruction.takeAny({"rn", "rz"});
  if (mode.empty())
    return false;
  Value *result = nullptr;
  bool isFromPair = from.lanes == 2;
  for (unsigned lane = 0; lane < 2; ++lane) {
    Value *number;
    if (isFromPair) {
      Value *both = read(instruction, 1, from);
      Value *bits = builder.CreateTrunc(
          builder.CreateLShr(both, lane * from.bits), getInteger(from.bits));
      number = from.bits == 8
                   ? callNumeric(from.kind == ptx::Type::Kind::E4M3
                                     ? "act_emulator_e4m3_to_float"
                                     : "act_emulator_e5m2_to_float",
                                 builder.getFloatTy(),
                                 {builder.CreateZExt(bits, getInteger(32))})
                   : toFloat(bits, from);
    } else {
      number = toFloat(read(instruction, lane == 0 ? 2 : 1, from), from);
    }
    if (clamps) {
      Value *zero = ConstantFP::get(number->getType(), 0.0);
      number = builder.CreateSelect(builder.CreateFCmpOLT(number, zero), zero,
                                    number);
    }
    Value *bits;
    if (isToEight)
      bits = builder.CreateTrunc(callNumeric(to.kind == ptx::Type::Kind::E4M3
                                                 ? "act_emulator_float_to_e4m3"
                                                 : "act_emulator_float_to_e5m2",
                                             getInteger(32), {number}),
                                 getInteger(8));
    else if (mode == "rz")
      bits = builder.CreateTrunc(
          callNumeric(to.kind == ptx::Type::Kind::Bfloat
                          ? "act_emulator_float_to_bfloat_rz"
                          : "act_emulator_float_to_half_rz",
                      getInteger(32), {number}),
          getInteger(16));
    else
      bits = fromFloat(number, to);
    bits = builder.CreateShl(builder.CreateZExt(bits, getInteger(to.getBits())),
                             lane * to.bits);
    result = result ? builder.CreateOr(result, bits) : bits;
  }
  write(instruction, result);
  return true;
}

/// cvt.rna.tf32.f32 rounds to 10 bits, ties away from zero; .rn to even.
bool FunctionTranslator::convertTf32(Instruction &instruction) {
  StringRef mode = instruction.takeAny({"rna", "rn", "rz"});
  bool clamps = instruction.take("relu");
  if (mode.empty())
    return false;
  Value *bits = read(instruction.operand(1), 32);
  Value *exponent = builder.CreateAnd(bits, 0x7f800000);
  Value *isFinite = builder.CreateICmpNE(exponent, constant(0x7f800000));
  Value *increment = constant(mode == "rna" ? 0x1000 : 0);
  if (mode == "rn")
    increment = builder.CreateAdd(
        constant(0xfff), builder.CreateAnd(builder.CreateLShr(bits, 13), 1));
  Value *rounded = builder.CreateAnd(builder.CreateAdd(bits, increment),
                                     constant(0xffffe000u));
  Value *result = builder.CreateSelect(isFinite, rounded, bits);
  if (clamps)
    result = builder.CreateSelect(
        builder.CreateAnd(isFinite, builder.CreateICmpSLT(bits, constant(0))),
        constant(0), result);
  write(instruction, result);
  return true;
}

bool FunctionTranslator::translateConversion(Instruction &instruction) {
  std::optional<ptx::Type> to = instruction.takeType();
  std::optional<ptx::Type> from = instruction.takeType();
  if (!to || !from)
    return false;
  if (to->kind == ptx::Type::Kind::Tf32)
    return convertTf32(instruction);
  if (to->lanes == 2)
    return convertPair(instruction, *to, *from);
  bool saturates = instruction.take("sat");
  bool flushes = instruction.take("ftz");
  Value *bits = read(instruction, 1, *from);
  if (!from->isFloat() && !to->isFloat()) {
    // Integers: to a narrower type, or, with .sat, to its range.
    bool isSigned = from->isSigned();
    if (saturates)
      bits = callNumeric("act_emulator_saturate_integer", getInteger(64),
                         {isSigned ? builder.CreateSExt(bits, getInteger(64))
                                   : builder.CreateZExt(bits, getInteger(64)),
                          constant(isSigned), constant(to->bits),
                          constant(to->isSigned())});
    write(instruction,
          isSigned ? builder.CreateSExtOrTrunc(bits, getInteger(to->bits))
                   : builder.CreateZExtOrTrunc(bits, getInteger(to->bits)),
          to->isSigned());
    return true;
  }
  if (from->isFloat() && !to->isFloat()) {
    Value *number = toFloat(bits, *from);
    if (flushes)
      number = flushSubnormal(number);
    write(instruction, convertFloatToInteger(instruction, number, *to),
          to->isSigned());
    return true;
  }
  StringRef mode = instruction.takeAny({"rn", "rz", "rm", "rp"});
  Value *number;
  if (!from->isFloat()) {
    bool isSigned = from->isSigned();
    llvm::Type *result =
        to->bits == 64 ? builder.getDoubleTy() : builder.getFloatTy();
    bool isNearest = mode.empty() || mode == "rn";
    Value *wide = isSigned ? builder.CreateSExt(bits, getInteger(64))
                           : builder.CreateZExt(bits, getInteger(64));
    if (to->bits == 16) {
      // Rounded to odd first, so that the last step rounds once.
      if (!isNearest)
        return false;
      number = callNumeric("act_emulator_integer_to_odd", builder.getDoubleTy(),
                           {wide, constant(isSigned)});
    } else if (isNearest) {
      number = isSigned ? builder.CreateSIToFP(bits, result)
                        : builder.CreateUIToFP(bits, result);
    } else {
      number = callNumeric(("act_emulator_integer_to_" +
                            Twine(to->bits == 64 ? "f64_" : "f32_") + mode)
                               .str(),
                           result, {wide, constant(isSigned)});
    }
  } else {
    number = toFloat(bits, *from);
    if (flushes)
      number = flushSubnormal(number);
    if (to->bits == from->bits && to->kind == from->kind)
      number = roundToIntegral(instruction, number);
    if (to->bits == 64)
      number = builder.CreateFPExt(number, builder.getDoubleTy());
    else if (to->bits == 32 && from->bits == 64)
      number = mode.empty() || mode == "rn"
                   ? builder.CreateFPTrunc(number, builder.getFloatTy())
                   : callNumeric(("act_emulator_f64_to_f32_" + mode).str(),
                                 builder.getFloatTy(), {number});
    else if (to->bits == 16 && !mode.empty() && mode != "rn") {
      if (mode != "rz" || from->bits != 32)
        return false;
      write(instruction, builder.CreateTrunc(
                             callNumeric(to->kind == ptx::Type::Kind::Bfloat
                                             ? "act_emulator_float_to_bfloat_rz"
                                             : "act_emulator_float_to_half_rz",
                                         getInteger(32), {number}),
                             getInteger(16)));
      return true;
    }
  }
  if (instruction.take("relu")) {
    Value *zero = ConstantFP::get(number->getType(), 0.0);
    number =
        builder.CreateSelect(builder.CreateFCmpOLT(number, zero), zero, number);
  }
  if (saturates)
    number = saturate(number);
  if (flushes)
    number = flushSubnormal(number);
  write(instruction, fromFloat(number, *to));
  return true;
}

} // namespace act::emulator
