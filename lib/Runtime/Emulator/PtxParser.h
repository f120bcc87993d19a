//===- PtxParser.h - Parses PTX -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_PTXPARSER_H
#define ACT_LIB_RUNTIME_EMULATOR_PTXPARSER_H

#include "Ptx.h"

namespace act::emulator::ptx {

/// What the parsers of modules and of bodies share. The first error stays;
/// afterwards every token is the end.
class TokenReader {
public:
  explicit TokenReader(llvm::ArrayRef<Token> tokens) : tokens(tokens) {}

  const Token &peek(unsigned ahead = 0) const;
  bool atEnd() const { return peek().kind == Token::Kind::End; }
  Token take();
  bool consume(llvm::StringRef text);
  void expect(llvm::StringRef text);
  void fail(const llvm::Twine &message);
  llvm::Error takeError();
  /// Skips "{ ... }" with everything inside.
  void skipBraces();
  /// Skips to the next token on another line.
  void skipLine(unsigned line);

  uint64_t parseUnsigned();
  /// After the state space: alignment, type, name, size, initial value.
  Variable parseVariable(Space space, bool isExtern);

private:
  void parsePointer(Variable &variable);
  void parseInitializer(Variable &variable);

  llvm::ArrayRef<Token> tokens;
  size_t position = 0;
  std::string error;
};

/// The value of an integer constant: decimal, hexadecimal, octal, binary, with
/// an optional U.
std::optional<uint64_t> parseIntegerToken(llvm::StringRef text);

/// The space that ".global" names.
std::optional<Space> parseSpace(llvm::StringRef word);

} // namespace act::emulator::ptx

#endif // ACT_LIB_RUNTIME_EMULATOR_PTXPARSER_H
