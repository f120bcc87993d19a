//===- Opcodes.cpp - The instructions that are known ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionTranslator.h"

using namespace llvm;

namespace act::emulator {

const StringMap<FunctionTranslator::Opcode> &FunctionTranslator::getOpcodes() {
  using T = FunctionTranslator;
  using C = InstructionClass;
  static const StringMap<Opcode> opcodes = {
      {"add", {&T::translateAddition, C::Integer}},
      {"sub", {&T::translateAddition, C::Integer}},
      {"addc", {&T::translateCarryIn, C::Integer}},
      {"subc", {&T::translateCarryIn, C::Integer}},
      {"mul", {&T::translateProduct, C::Integer}},
      {"mad", {&T::translateProductSum, C::Integer}},
      {"mul24", {&T::translateShortProduct, C::Integer}},
      {"mad24", {&T::translateShortProduct, C::Integer}},
      {"fma", {&T::translateFused, C::Float}},
      {"div", {&T::translateDivision, C::Integer}},
      {"rem", {&T::translateDivision, C::Integer}},
      {"neg", {&T::translateNegation, C::Integer}},
      {"abs", {&T::translateAbsolute, C::Integer}},
      {"min", {&T::translateMinMax, C::Integer}},
      {"max", {&T::translateMinMax, C::Integer}},
      {"sad", {&T::translateSad, C::Integer}},
      {"and", {&T::translateLogic, C::Integer}},
      {"or", {&T::translateLogic, C::Integer}},
      {"xor", {&T::translateLogic, C::Integer}},
      {"not", {&T::translateNot, C::Integer}},
      {"cnot", {&T::translateNot, C::Integer}},
      {"shl", {&T::translateShift, C::Integer}},
      {"shr", {&T::translateShift, C::Integer}},
      {"shf", {&T::translateFunnelShift, C::Integer}},
      {"popc", {&T::translateBitCount, C::Integer}},
      {"clz", {&T::translateBitCount, C::Integer}},
      {"brev", {&T::translateBitCount, C::Integer}},
      {"bfind", {&T::translateFindBit, C::Integer}},
      {"bfe", {&T::translateExtract, C::Integer}},
      {"bfi", {&T::translateInsert, C::Integer}},
      {"lop3", {&T::translateLookup, C::Integer}},
      {"prmt", {&T::translatePermute, C::Integer}},
      {"dp4a", {&T::translateDotProduct, C::Integer}},
      {"dp2a", {&T::translateDotProduct, C::Integer}},
      {"sqrt", {&T::translateFloatUnary, C::Special}},
      {"rcp", {&T::translateFloatUnary, C::Special}},
      {"rsqrt", {&T::translateFloatUnary, C::Special}},
      {"sin", {&T::translateFloatUnary, C::Special}},
      {"cos", {&T::translateFloatUnary, C::Special}},
      {"ex2", {&T::translateFloatUnary, C::Special}},
      {"lg2", {&T::translateFloatUnary, C::Special}},
      {"tanh", {&T::translateFloatUnary, C::Special}},
      {"copysign", {&T::translateCopysign, C::Float}},
      {"testp", {&T::translateTestp, C::Float}},
      {"setp", {&T::translateSetp, C::Integer}},
      {"set", {&T::translateSet, C::Integer}},
      {"selp", {&T::translateSelect, C::Integer}},
      {"slct", {&T::translateSelectBySign, C::Integer}},
      {"mov", {&T::translateMove, C::Move}},
      {"cvt", {&T::translateConversion, C::Conversion}},
      {"cvta", {&T::translateConversionOfAddress, C::Move}},
      {"isspacep", {&T::translateIsSpace, C::Integer}},
      {"ld", {&T::translateLoad, C::OtherMemory}},
      {"ldu", {&T::translateLoad, C::OtherMemory}},
      {"st", {&T::translateStore, C::OtherMemory}},
      {"atom", {&T::translateAtom, C::Atomic}},
      {"red", {&T::translateRed, C::Atomic}},
      {"fence", {&T::translateFence, C::Barrier}},
      {"membar", {&T::translateFence, C::Barrier}},
      {"prefetch", {&T::translatePrefetch, C::OtherMemory}},
      {"prefetchu", {&T::translatePrefetch, C::OtherMemory}},
      {"cp", {&T::translateCopy, C::AsyncCopy}},
      {"bra", {&T::translateBranch, C::Control}},
      {"brx", {&T::translateBranchTable, C::Control}},
      {"ret", {&T::translateReturn, C::Control}},
      {"exit", {&T::translateReturn, C::Control}},
      {"trap", {&T::translateTrap, C::Control}},
      {"call", {&T::translateCall, C::Control}},
      {"bar", {&T::translateBarrier, C::Barrier}},
      {"barrier", {&T::translateBarrier, C::Barrier}},
      {"nanosleep", {&T::translateSleep, C::Control}},
      {"shfl", {&T::translateShuffle, C::Collective}},
      {"vote", {&T::translateVote, C::Collective}},
      {"match", {&T::translateMatch, C::Collective}},
      {"redux", {&T::translateRedux, C::Collective}},
      {"activemask", {&T::translateActiveMask, C::Collective}},
      {"elect", {&T::translateElect, C::Collective}},
      {"mma", {&T::translateMma, C::Matrix}},
      {"ldmatrix", {&T::translateLoadMatrix, C::Matrix}},
      {"stmatrix", {&T::translateStoreMatrix, C::Matrix}}};
  return opcodes;
}

} // namespace act::emulator
