//===- PtxLexer.h - Words of PTX -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_PTXLEXER_H
#define ACT_LIB_RUNTIME_EMULATOR_PTXLEXER_H

#include "llvm/ADT/StringRef.h"
#include <vector>

namespace act::emulator::ptx {

struct Token {
  enum class Kind { Word, Number, String, Punctuation, End };
  Kind kind = Kind::End;
  unsigned line = 0;
  /// Words include leading and inner dots: ".visible", "ld.global.f32".
  llvm::StringRef text;

  bool is(llvm::StringRef expected) const { return text == expected; }
};

/// Splits PTX text. The last token is of kind End. Tokens refer to `text`.
std::vector<Token> tokenize(llvm::StringRef text);

} // namespace act::emulator::ptx

#endif // ACT_LIB_RUNTIME_EMULATOR_PTXLEXER_H
