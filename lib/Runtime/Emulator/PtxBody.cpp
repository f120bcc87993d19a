//===- PtxBody.cpp - Parses bodies of PTX functions ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxParser.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace act::emulator::ptx {

namespace {
/// Parses the body of a function.
class BodyParser {
public:
  explicit BodyParser(ArrayRef<Token> tokens) : reader(tokens) {}

  Expected<std::vector<Statement>> run() {
    while (!reader.atEnd())
      parseStatement();
    if (Error error = reader.takeError())
      return std::move(error);
    return std::move(statements);
  }

private:
  void parseStatement();
  void parseRegisters();
  void parseVariables(Space space);
  void parseLabel();
  void parseInstruction();
  Operand parseOperand();
  Operand parsePlainOperand();
  Operand parseAddress();
  Operand parseNumber();
  Statement &add(Statement::Kind kind) {
    Statement &statement = statements.emplace_back();
    statement.kind = kind;
    statement.line = reader.peek().line;
    return statement;
  }

  TokenReader reader;
  std::vector<Statement> statements;
};
} // namespace

void BodyParser::parseStatement() {
  unsigned line = reader.peek().line;
  if (reader.peek().is("{") || reader.peek().is("}")) {
    add(reader.peek().is("{") ? Statement::Kind::Open : Statement::Kind::Close);
    reader.take();
    return;
  }
  if (reader.consume(";"))
    return;
  if (reader.consume(".reg"))
    return parseRegisters();
  if (reader.consume(".loc") || reader.consume(".file"))
    return reader.skipLine(line);
  if (reader.consume(".pragma")) {
    reader.take();
    return reader.expect(";");
  }
  if (std::optional<Space> space = parseSpace(reader.peek().text)) {
    reader.take();
    return parseVariables(*space);
  }
  if (reader.peek().kind == Token::Kind::Word && reader.peek(1).is(":"))
    return parseLabel();
  if (reader.peek().is("@") || reader.peek().kind == Token::Kind::Word)
    return parseInstruction();
  reader.fail("expects an instruction");
}

void BodyParser::parseRegisters() {
  Statement &statement = add(Statement::Kind::Registers);
  std::optional<Type> type =
      parseType(StringRef(reader.peek().text).ltrim('.'));
  if (!type)
    return reader.fail("expects the type of a register");
  reader.take();
  statement.type = *type;
  do {
    StringRef name = reader.take().text;
    unsigned count = 0;
    if (reader.consume("<")) {
      count = reader.parseUnsigned();
      reader.expect(">");
    }
    statement.registers.push_back({name, count});
  } while (reader.consume(","));
  reader.expect(";");
}

void BodyParser::parseVariables(Space space) {
  do {
    Statement &statement = add(Statement::Kind::Variable);
    statement.variable = reader.parseVariable(space, false);
  } while (reader.consume(","));
  reader.expect(";");
}

void BodyParser::parseLabel() {
  StringRef name = reader.take().text;
  reader.expect(":");
  if (!reader.consume(".branchtargets")) {
    add(Statement::Kind::Label).name = name;
    return;
  }
  Statement &statement = add(Statement::Kind::Targets);
  statement.name = name;
  do {
    Operand &target = statement.operands.emplace_back();
    target.name = reader.take().text;
  } while (reader.consume(","));
  reader.expect(";");
}

Operand BodyParser::parseNumber() {
  Operand result;
  bool isNegative = reader.consume("-");
  StringRef text = reader.peek().text;
  StringRef digits = text.drop_front(std::min<size_t>(2, text.size()));
  if (text.starts_with_insensitive("0f") &&
      !digits.getAsInteger(16, result.bits)) {
    result.kind = Operand::Kind::Float32;
  } else if (text.starts_with_insensitive("0d") &&
             !digits.getAsInteger(16, result.bits)) {
    result.kind = Operand::Kind::Float64;
  } else if (std::optional<uint64_t> value = parseIntegerToken(text)) {
    result.kind = Operand::Kind::Integer;
    result.bits = isNegative ? -*value : *value;
  } else if (double number; !text.getAsDouble(number)) {
    result.kind = Operand::Kind::Float64;
    number = isNegative ? -number : number;
    std::memcpy(&result.bits, &number, sizeof(number));
  } else {
    reader.fail("expects a number");
  }
  reader.take();
  return result;
}

Operand BodyParser::parseAddress() {
  Operand result;
  result.kind = Operand::Kind::Address;
  reader.expect("[");
  if (reader.peek().kind == Token::Kind::Word)
    result.name = reader.take().text;
  else
    result.offset = int64_t(parseNumber().bits);
  if (reader.consume("+"))
    result.offset += int64_t(parseNumber().bits);
  else if (reader.peek().is("-"))
    result.offset += int64_t(parseNumber().bits);
  reader.expect("]");
  return result;
}

Operand BodyParser::parsePlainOperand() {
  Operand result;
  if (reader.peek().is("["))
    return parseAddress();
  if (reader.consume("{") || reader.peek().is("(")) {
    result.kind = Operand::Kind::Vector;
    StringRef end = reader.consume("(") ? ")" : "}";
    while (!reader.atEnd() && !reader.peek().is(end)) {
      result.elements.push_back(parseOperand());
      if (!reader.consume(","))
        break;
    }
    reader.expect(end);
    return result;
  }
  if (reader.peek().kind == Token::Kind::Number || reader.peek().is("-"))
    return parseNumber();
  result.isNegated = reader.consume("!");
  if (reader.peek().kind != Token::Kind::Word)
    reader.fail("expects an operand");
  result.name = reader.take().text;
  if (reader.consume("+"))
    result.offset = int64_t(parseNumber().bits);
  return result;
}

Operand BodyParser::parseOperand() {
  Operand first = parsePlainOperand();
  if (!reader.consume("|"))
    return first;
  Operand result;
  result.kind = Operand::Kind::Pair;
  result.elements.push_back(std::move(first));
  result.elements.push_back(parsePlainOperand());
  return result;
}

/// The tokens up to the semicolon with one blank where they need some.
static std::string getText(const TokenReader &reader) {
  std::string text;
  for (unsigned i = 0;; ++i) {
    const Token &token = reader.peek(i);
    if (token.kind == Token::Kind::End || token.is(";"))
      return text;
    bool isWord =
        token.kind == Token::Kind::Word || token.kind == Token::Kind::Number;
    char last = text.empty() ? '\0' : text.back();
    if (last == ',' || (last && (isWord || token.is("{") || token.is("[")) &&
                        (isAlnum(last) || last == '_')))
      text += ' ';
    text += token.text;
  }
}

void BodyParser::parseInstruction() {
  Statement &statement = add(Statement::Kind::Instruction);
  statement.text = getText(reader);
  if (reader.consume("@")) {
    statement.isGuardNegated = reader.consume("!");
    statement.guard = reader.take().text;
  }
  SmallVector<StringRef, 8> words;
  reader.take().text.split(words, '.');
  statement.opcode = words.front();
  statement.modifiers.assign(words.begin() + 1, words.end());
  while (!reader.atEnd() && !reader.peek().is(";")) {
    Operand operand = parseOperand();
    statement.operands.push_back(std::move(operand));
    if (!reader.consume(","))
      break;
  }
  reader.expect(";");
}

Expected<std::vector<Statement>> parseBody(const Function &function) {
  return BodyParser(function.body).run();
}

} // namespace act::emulator::ptx
