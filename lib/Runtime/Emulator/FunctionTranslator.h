//===- FunctionTranslator.h - Translates functions of PTX -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_FUNCTIONTRANSLATOR_H
#define ACT_LIB_RUNTIME_EMULATOR_FUNCTIONTRANSLATOR_H

#include "Statistics.h"
#include "Translation.h"

namespace act::emulator {

/// An instruction being translated. Modifiers that nobody asked for are errors,
/// so that nothing is ignored by accident.
class Instruction {
public:
  explicit Instruction(const ptx::Statement &statement)
      : statement(statement), isUsed(statement.modifiers.size()) {}

  const ptx::Statement &statement;

  /// Whether the modifier is there; marks it as understood.
  bool take(llvm::StringRef modifier);
  /// The first of `modifiers` that is there, or an empty text.
  llvm::StringRef takeAny(llvm::ArrayRef<llvm::StringRef> modifiers);
  /// Marks modifiers that change nothing here, like hints for caches.
  void ignore(llvm::ArrayRef<llvm::StringRef> modifiers) {
    for (llvm::StringRef modifier : modifiers)
      take(modifier);
  }
  /// The next modifier that is a type.
  std::optional<ptx::Type> takeType();
  /// The first modifier that nobody took; empty if there is none.
  llvm::StringRef getUnused() const;

  size_t getNumOperands() const { return statement.operands.size(); }
  const ptx::Operand &operand(size_t index) const;

private:
  std::vector<bool> isUsed;
};

/// Translates the body of one function.
class FunctionTranslator {
public:
  FunctionTranslator(Translation &translation, const Translation::Body &body);
  void run();

  /// Translates one opcode. False if this form is not supported.
  using Handler = bool (FunctionTranslator::*)(Instruction &);
  struct Opcode {
    Handler handler;
    InstructionClass counted;
  };
  static const llvm::StringMap<Opcode> &getOpcodes();

private:
  using Value = llvm::Value;
  /// Something with an address.
  struct Symbol {
    Space space;
    /// An address of the host as i64, or an offset for shared memory.
    Value *address = nullptr;
  };
  using FloatFunction = llvm::function_ref<Value *(llvm::ArrayRef<Value *>)>;

  // Statements.
  void startFunction();
  void translate(const ptx::Statement &statement);
  void translateInstruction(const ptx::Statement &statement);
  void declareRegisters(const ptx::Statement &statement);
  void declareVariable(const ptx::Variable &variable);
  void startLabel(llvm::StringRef name);
  void branchTo(llvm::StringRef label);
  llvm::BasicBlock *getLabel(llvm::StringRef name);
  llvm::BasicBlock *createBlock();
  void pollFuel();
  void countInstruction(const ptx::Statement &statement, InstructionClass kind);
  void flushCounts();
  void error(const llvm::Twine &message);
  void finishFunction();

  // Operands.
  llvm::AllocaInst *findRegister(llvm::StringRef name) const;
  std::optional<Symbol> findSymbol(llvm::StringRef name);
  Value *readSpecialRegister(llvm::StringRef name);
  /// Integers of `bits` bits: the bits of any type.
  Value *read(const ptx::Operand &operand, unsigned bits);
  Value *readName(const ptx::Operand &operand, unsigned bits);
  Value *readPredicate(const ptx::Operand &operand);
  void write(const ptx::Operand &operand, Value *value, bool isSigned = false);
  Value *read(const Instruction &instruction, size_t index, ptx::Type type) {
    return read(instruction.operand(index), type.getBits());
  }
  void write(const Instruction &instruction, Value *value,
             bool isSigned = false) {
    write(instruction.operand(0), value, isSigned);
  }
  Value *getField(size_t offset, llvm::Type *type);
  /// Elements of {a, b}, or the operand itself.
  static llvm::ArrayRef<ptx::Operand> getElements(const ptx::Operand &operand);

  // Numbers.
  llvm::IntegerType *getInteger(unsigned bits) {
    return builder.getIntNTy(bits);
  }
  Value *constant(uint64_t value, unsigned bits = 32) {
    return llvm::ConstantInt::get(getInteger(bits), value, false, true);
  }
  /// From bits to float (f16, bf16, f32) or double, and back.
  Value *toFloat(Value *bits, ptx::Type type);
  Value *fromFloat(Value *number, ptx::Type type);
  Value *flushSubnormal(Value *number);
  Value *saturate(Value *number);
  /// Applies `function` to each lane of the operands from 1 on.
  Value *mapFloat(Instruction &instruction, ptx::Type type, unsigned operands,
                  FloatFunction function);
  /// With what .ftz, .sat and the rounding say; see FloatModifiers.
  struct FloatModifiers {
    bool flushes = false;
    bool saturates = false;
    llvm::StringRef rounding;
  };
  FloatModifiers takeFloatModifiers(Instruction &instruction);
  Value *mapFloat(Instruction &instruction, ptx::Type type, unsigned operands,
                  const FloatModifiers &modifiers, FloatFunction function);
  Value *roundToIntegral(Instruction &instruction, Value *number);
  Value *callNumeric(llvm::StringRef name, llvm::Type *result,
                     llvm::ArrayRef<Value *> operands);
  Value *fuse(ptx::Type type, const FloatModifiers &modifiers,
              llvm::ArrayRef<Value *> operands);
  Value *combineRounded(llvm::StringRef operation, ptx::Type type,
                        const FloatModifiers &modifiers,
                        llvm::ArrayRef<Value *> operands);

  // Calls of the runtime.
  Site &addSite(const ptx::Statement &statement);
  Value *getPointer(const void *pointer);
  Value *callRuntime(llvm::StringRef name, llvm::Type *result,
                     llvm::ArrayRef<Value *> operands);
  /// Collects words, calls the collective, returns the words that come out.
  std::vector<Value *> callCollective(Site &site, Value *mask,
                                      llvm::ArrayRef<Value *> inputs,
                                      unsigned outputs);

  // Memory.
  struct Access {
    Space space = Space::Generic;
    unsigned vector = 1;
    bool isStrong = false;
    bool isVolatile = false;
    ptx::Type type;
  };
  Access takeAccess(Instruction &instruction);
  /// The address (or the offset in shared memory) as i64.
  Value *getAddress(const ptx::Operand &operand);
  Value *toPointer(Value *address, Space space);
  /// Checks and counts an access.
  void noteAccess(Value *address, const Access &access, bool reads, bool writes,
                  const ptx::Statement &statement, unsigned alignment = 0);
  /// `atom` and `red`: one of `operations`, with operands from `first` on.
  bool translateAtomicOf(Instruction &instruction,
                         llvm::ArrayRef<llvm::StringRef> operations,
                         unsigned first);
  void translateAtomic(Instruction &instruction, unsigned first,
                       const Access &access, llvm::StringRef operation);
  static bool isSupportedAtomic(llvm::StringRef operation,
                                const Access &access);
  Value *emitAtomic(Value *pointer, llvm::StringRef operation, ptx::Type type,
                    Space space, Value *value, bool flushes);

  // Opcodes.
  bool translateAddition(Instruction &instruction);
  bool translateCarry(Instruction &instruction, ptx::Type type, bool takesCarry,
                      bool givesCarry, bool subtracts);
  bool translateCarryIn(Instruction &instruction);
  bool translateProduct(Instruction &instruction);
  bool translateProductSum(Instruction &instruction);
  bool translateFused(Instruction &instruction);
  bool translateDivision(Instruction &instruction);
  bool translateNegation(Instruction &instruction);
  bool translateAbsolute(Instruction &instruction);
  bool translateMinMax(Instruction &instruction);
  bool translateLogic(Instruction &instruction);
  bool translateNot(Instruction &instruction);
  bool translateShift(Instruction &instruction);
  bool translateFunnelShift(Instruction &instruction);
  bool translateBitCount(Instruction &instruction);
  bool translateFindBit(Instruction &instruction);
  bool translateExtract(Instruction &instruction);
  bool translateInsert(Instruction &instruction);
  bool translateLookup(Instruction &instruction);
  bool translatePermute(Instruction &instruction);
  bool translateDotProduct(Instruction &instruction);
  bool translateSad(Instruction &instruction);
  bool translateShortProduct(Instruction &instruction);
  bool translateFloatUnary(Instruction &instruction);
  bool translateCopysign(Instruction &instruction);
  bool translateTestp(Instruction &instruction);
  bool translateSetp(Instruction &instruction);
  bool translateSet(Instruction &instruction);
  Value *compare(Instruction &instruction, llvm::StringRef comparison,
                 ptx::Type type, bool flushes, unsigned lane = 0);
  bool translateSelect(Instruction &instruction);
  bool translateSelectBySign(Instruction &instruction);
  bool translateMove(Instruction &instruction);
  bool translateConversion(Instruction &instruction);
  bool convertPair(Instruction &instruction, ptx::Type to, ptx::Type from);
  bool convertTf32(Instruction &instruction);
  Value *convertFloatToInteger(Instruction &instruction, Value *number,
                               ptx::Type to);
  bool translateConversionOfAddress(Instruction &instruction);
  bool translateIsSpace(Instruction &instruction);
  bool translateLoad(Instruction &instruction);
  bool translateStore(Instruction &instruction);
  bool translateAtom(Instruction &instruction);
  bool translateRed(Instruction &instruction);
  bool translateFence(Instruction &instruction);
  bool translatePrefetch(Instruction &instruction);
  bool translateCopy(Instruction &instruction);
  bool translateCopyAsync(Instruction &instruction);
  bool translateBranch(Instruction &instruction);
  bool translateBranchTable(Instruction &instruction);
  bool translateReturn(Instruction &instruction);
  bool translateTrap(Instruction &instruction);
  bool translateCall(Instruction &instruction);
  bool translateBarrier(Instruction &instruction);
  bool translateSleep(Instruction &instruction);
  bool translateShuffle(Instruction &instruction);
  bool translateVote(Instruction &instruction);
  bool translateMatch(Instruction &instruction);
  bool translateRedux(Instruction &instruction);
  bool translateActiveMask(Instruction &instruction);
  bool translateElect(Instruction &instruction);
  bool translateMma(Instruction &instruction);
  bool translateLoadMatrix(Instruction &instruction);
  bool translateStoreMatrix(Instruction &instruction);
  bool translateWarpBarrier(Instruction &instruction);

  Translation &translation;
  const Translation::Body &body;
  llvm::LLVMContext &context;
  llvm::IRBuilder<> builder;
  llvm::Function *function;
  /// Where variables are allocated.
  llvm::BasicBlock *entry = nullptr;
  Value *threadContext = nullptr;
  Value *parameters = nullptr;
  llvm::PointerType *pointerType;
  /// One map for each { }, the innermost last.
  std::vector<llvm::StringMap<llvm::AllocaInst *>> registers;
  std::vector<llvm::StringMap<Symbol>> symbols;
  llvm::StringMap<llvm::BasicBlock *> labels;
  llvm::StringMap<const ptx::Statement *> targets;
  /// Labels that stand before the current statement.
  llvm::StringMap<bool> passed;
  llvm::AllocaInst *carry = nullptr;
  const ptx::Statement *current = nullptr;
  std::array<unsigned, numInstructionClasses> counts = {};
};

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_FUNCTIONTRANSLATOR_H
