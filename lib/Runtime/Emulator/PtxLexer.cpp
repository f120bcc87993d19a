//===- PtxLexer.cpp - Words of PTX ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxLexer.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace act::emulator::ptx {

static bool isWordStart(char c) {
  return isAlpha(c) || c == '_' || c == '$' || c == '%' || c == '.';
}
static bool isWordPart(char c) { return isWordStart(c) || isDigit(c); }

namespace {
class Lexer {
public:
  explicit Lexer(StringRef text)
      : text(text.take_until([](char c) { return c == '\0'; })) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    tokens.reserve(text.size() / 4);
    while (skipBlanks())
      tokens.push_back(next());
    tokens.push_back({Token::Kind::End, line, ""});
    return tokens;
  }

private:
  /// False at the end.
  bool skipBlanks() {
    while (position < text.size()) {
      char c = text[position];
      StringRef rest = text.substr(position);
      if (c == '\n')
        ++line;
      if (isSpace(c)) {
        ++position;
      } else if (rest.starts_with("//")) {
        position = std::min(text.find('\n', position), text.size());
      } else if (rest.starts_with("/*")) {
        size_t end = std::min(text.find("*/", position), text.size() - 2) + 2;
        line += text.slice(position, end).count('\n');
        position = end;
      } else {
        return true;
      }
    }
    return false;
  }

  Token take(Token::Kind kind, size_t length) {
    Token token{kind, line, text.substr(position, length)};
    position += length;
    return token;
  }

  Token next() {
    StringRef rest = text.substr(position);
    char c = rest[0];
    if (isDigit(c)) {
      auto isPart = [](char c) { return isAlnum(c) || c == '_' || c == '.'; };
      return take(Token::Kind::Number, rest.take_while(isPart).size());
    }
    if (isWordStart(c)) {
      size_t length = 0;
      while (length < rest.size() && (isWordPart(rest[length]) ||
                                      rest.substr(length).starts_with("::")))
        length += rest[length] == ':' ? 2 : 1;
      return take(Token::Kind::Word, length);
    }
    if (c == '"') {
      size_t end = std::min(rest.find('"', 1), rest.size() - 1);
      return take(Token::Kind::String, end + 1);
    }
    return take(Token::Kind::Punctuation, 1);
  }

  StringRef text;
  size_t position = 0;
  unsigned line = 1;
};
} // namespace

std::vector<Token> tokenize(StringRef text) { return Lexer(text).run(); }

} // namespace act::emulator::ptx
