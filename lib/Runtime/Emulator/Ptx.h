//===- Ptx.h - PTX programs -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_PTX_H
#define ACT_LIB_RUNTIME_EMULATOR_PTX_H

#include "PtxLexer.h"
#include "Site.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <optional>
#include <string>

namespace act::emulator::ptx {

/// A fundamental type: a format and its bits, perhaps packed: "f16x2".
struct Type {
  enum class Kind {
    Bits,
    Unsigned,
    Signed,
    Float,
    Bfloat,
    Tf32,
    E4M3,
    E5M2,
    Predicate
  };
  Kind kind = Kind::Bits;
  /// Of one lane.
  unsigned bits = 32;
  unsigned lanes = 1;

  unsigned getBits() const { return bits * lanes; }
  unsigned getBytes() const { return getBits() / 8; }
  bool isSigned() const { return kind == Kind::Signed; }
  bool isFloat() const {
    return kind != Kind::Bits && kind != Kind::Unsigned &&
           kind != Kind::Signed && kind != Kind::Predicate;
  }
  bool isHalf() const { return isFloat() && bits == 16; }
};

/// The type that `name` ("f32", without a dot) names.
std::optional<Type> parseType(llvm::StringRef name);

/// A variable or parameter.
struct Variable {
  llvm::StringRef name;
  Space space = Space::Global;
  Type type;
  /// Elements of an array; 1 for scalars.
  uint64_t count = 1;
  bool isArray = false;
  bool isExtern = false;
  unsigned alignment = 0;
  /// For parameters that are pointers: alignment of what they point to.
  unsigned pointeeAlignment = 1;
  bool isPointer = false;
  /// Initial values: numbers, or names of variables with offsets.
  std::vector<Token> initializer;
  unsigned line = 0;

  uint64_t getBytes() const { return count * type.getBytes(); }
};

struct Operand {
  enum class Kind {
    /// A register, special register, variable or label.
    Name,
    Integer,
    /// Bits of an f32 or f64.
    Float32,
    Float64,
    /// [name + offset], [offset].
    Address,
    /// {a, b}
    Vector,
    /// d|p
    Pair
  };
  Kind kind = Kind::Name;
  llvm::StringRef name;
  uint64_t bits = 0;
  int64_t offset = 0;
  /// !p
  bool isNegated = false;
  std::vector<Operand> elements;
};

struct Statement {
  enum class Kind {
    Label,
    Instruction,
    Registers,
    Variable,
    Open,
    Close,
    Targets
  };
  Kind kind = Kind::Instruction;
  unsigned line = 0;
  /// The instruction as it is written, blanks reduced.
  std::string text;
  /// The predicate in front of an instruction; empty for none.
  llvm::StringRef guard;
  bool isGuardNegated = false;
  llvm::StringRef opcode;
  /// The words between the dots after the opcode.
  llvm::SmallVector<llvm::StringRef, 8> modifiers;
  std::vector<Operand> operands;
  /// Of labels and targets.
  llvm::StringRef name;
  /// Of .reg: the type and the names, where "%r<5>" has become a name and a
  /// count.
  Type type;
  std::vector<std::pair<llvm::StringRef, unsigned>> registers;
  Variable variable;
};

struct Function {
  llvm::StringRef name;
  bool isKernel = false;
  bool isDeclaration = false;
  std::vector<Variable> results;
  std::vector<Variable> parameters;
  /// From .maxntid and .reqntid; zeros for none.
  unsigned maxThreads[3] = {0, 0, 0};
  unsigned requiredThreads[3] = {0, 0, 0};
  /// The tokens between the braces.
  llvm::ArrayRef<Token> body;
  unsigned line = 0;
};

/// A module. Refers to `text`.
struct Module {
  std::string text;
  std::vector<Token> tokens;
  std::string target;
  /// In order of the text; functions may be declared first.
  std::vector<Function> functions;
  std::vector<Variable> variables;

  const Function *findFunction(llvm::StringRef name) const;
  const Variable *findVariable(llvm::StringRef name) const;

  llvm::StringMap<unsigned> functionNumbers;
  llvm::StringMap<unsigned> variableNumbers;
};

/// Reads what is outside of the bodies. Errors say "PTX line N: ...".
llvm::Expected<std::unique_ptr<Module>> parseModule(std::string text);

/// Reads the body of a function.
llvm::Expected<std::vector<Statement>> parseBody(const Function &function);

/// Where each parameter of a kernel lies in the buffer of parameters, and its
/// size.
std::vector<uint32_t> getParameterOffsets(llvm::ArrayRef<Variable> parameters,
                                          uint32_t &bytes);

} // namespace act::emulator::ptx

#endif // ACT_LIB_RUNTIME_EMULATOR_PTX_H
