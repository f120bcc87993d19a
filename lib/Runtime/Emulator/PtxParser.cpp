//===- PtxParser.cpp - Parses PTX modules ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxParser.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;

namespace act::emulator::ptx {

std::optional<Type> parseType(StringRef name) {
  using Kind = Type::Kind;
  static const StringMap<Type> types = {
      {"pred", {Kind::Predicate, 1, 1}}, {"b8", {Kind::Bits, 8, 1}},
      {"b16", {Kind::Bits, 16, 1}},      {"b32", {Kind::Bits, 32, 1}},
      {"b64", {Kind::Bits, 64, 1}},      {"b128", {Kind::Bits, 128, 1}},
      {"u8", {Kind::Unsigned, 8, 1}},    {"u16", {Kind::Unsigned, 16, 1}},
      {"u32", {Kind::Unsigned, 32, 1}},  {"u64", {Kind::Unsigned, 64, 1}},
      {"s8", {Kind::Signed, 8, 1}},      {"s16", {Kind::Signed, 16, 1}},
      {"s32", {Kind::Signed, 32, 1}},    {"s64", {Kind::Signed, 64, 1}},
      {"f16", {Kind::Float, 16, 1}},     {"f16x2", {Kind::Float, 16, 2}},
      {"f32", {Kind::Float, 32, 1}},     {"f64", {Kind::Float, 64, 1}},
      {"bf16", {Kind::Bfloat, 16, 1}},   {"bf16x2", {Kind::Bfloat, 16, 2}},
      {"tf32", {Kind::Tf32, 32, 1}},     {"e4m3", {Kind::E4M3, 8, 1}},
      {"e5m2", {Kind::E5M2, 8, 1}},      {"e4m3x2", {Kind::E4M3, 8, 2}},
      {"e5m2x2", {Kind::E5M2, 8, 2}},    {"s16x2", {Kind::Signed, 16, 2}},
      {"u16x2", {Kind::Unsigned, 16, 2}}};
  auto found = types.find(name);
  if (found == types.end())
    return std::nullopt;
  return found->second;
}

std::optional<uint64_t> parseIntegerToken(StringRef text) {
  text.consume_back("U");
  uint64_t value;
  if (text.getAsInteger(0, value))
    return std::nullopt;
  return value;
}

std::optional<Space> parseSpace(StringRef word) {
  return StringSwitch<std::optional<Space>>(word)
      .Case(".global", Space::Global)
      .Cases({".shared", ".shared::cta"}, Space::Shared)
      .Case(".const", Space::Constant)
      .Case(".local", Space::Local)
      .Cases({".param", ".param::entry", ".param::func"}, Space::Parameter)
      .Default(std::nullopt);
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

const Token &TokenReader::peek(unsigned ahead) const {
  static const Token end;
  if (!error.empty() || position + ahead >= tokens.size())
    return end;
  return tokens[position + ahead];
}

Token TokenReader::take() {
  Token token = peek();
  ++position;
  return token;
}

bool TokenReader::consume(StringRef text) {
  if (atEnd() || !peek().is(text))
    return false;
  ++position;
  return true;
}

void TokenReader::expect(StringRef text) {
  if (!consume(text))
    fail("expects '" + text + "'");
}

void TokenReader::fail(const Twine &message) {
  if (!error.empty())
    return;
  unsigned line = tokens.empty() ? 0 : tokens.back().line;
  StringRef got = "the end";
  if (position < tokens.size()) {
    line = tokens[position].line;
    if (tokens[position].kind != Token::Kind::End)
      got = tokens[position].text;
  }
  error = ("PTX line " + Twine(line) + ": " + message + ", got '" + got + "'")
              .str();
}

Error TokenReader::takeError() {
  if (error.empty())
    return Error::success();
  return createStringError(error);
}

void TokenReader::skipBraces() {
  expect("{");
  for (unsigned depth = 1; depth > 0 && !atEnd();) {
    Token token = take();
    depth += token.is("{");
    depth -= token.is("}");
  }
}

void TokenReader::skipLine(unsigned line) {
  while (!atEnd() && peek().line == line)
    take();
}

uint64_t TokenReader::parseUnsigned() {
  std::optional<uint64_t> value = parseIntegerToken(peek().text);
  if (!value) {
    fail("expects a number");
    return 0;
  }
  take();
  return *value;
}

/// ".ptr .global .align 16" after the type of a parameter.
void TokenReader::parsePointer(Variable &variable) {
  if (!consume(".ptr"))
    return;
  variable.isPointer = true;
  if (parseSpace(peek().text))
    take();
  if (consume(".align"))
    variable.pointeeAlignment = parseUnsigned();
}

void TokenReader::parseInitializer(Variable &variable) {
  if (!consume("="))
    return;
  unsigned depth = 0;
  while (!atEnd() && !(depth == 0 && (peek().is(";") || peek().is(",")))) {
    Token token = take();
    if (token.is("{"))
      ++depth;
    else if (token.is("}"))
      --depth;
    else
      variable.initializer.push_back(token);
  }
}

Variable TokenReader::parseVariable(Space space, bool isExtern) {
  Variable variable;
  variable.space = space;
  variable.isExtern = isExtern;
  variable.line = peek().line;
  if (consume(".align"))
    variable.alignment = parseUnsigned();
  unsigned vector = consume(".v2") ? 2 : consume(".v4") ? 4 : 1;
  std::optional<Type> type =
      parseType(peek().text.drop_front(peek().text.starts_with(".") ? 1 : 0));
  if (!type)
    fail("expects a type");
  else
    variable.type = *type;
  take();
  parsePointer(variable);
  if (consume(".align"))
    variable.alignment = parseUnsigned();
  if (peek().kind != Token::Kind::Word)
    fail("expects a name");
  variable.name = take().text;
  variable.count = vector;
  while (consume("[")) {
    variable.isArray = true;
    if (!consume("]")) {
      variable.count *= parseUnsigned();
      expect("]");
    } else {
      variable.count = 0;
    }
  }
  if (variable.alignment == 0)
    variable.alignment = variable.type.getBytes() * vector;
  parseInitializer(variable);
  return variable;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

namespace {
class ModuleParser {
public:
  explicit ModuleParser(Module &module)
      : module(module), reader(module.tokens) {}

  Error run() {
    while (!reader.atEnd())
      parseDirective();
    return reader.takeError();
  }

private:
  void parseDirective();
  void parseTarget();
  void parseFunction(bool isKernel);
  void parsePerformance(Function &function);
  void parseThreads(unsigned (&threads)[3]);
  std::vector<Variable> parseParameters();
  void parseBodyTokens(Function &function);
  void parseVariables(Space space, bool isExtern);

  Module &module;
  TokenReader reader;
};
} // namespace

void ModuleParser::parseTarget() {
  module.target = reader.take().text.str();
  while (reader.consume(","))
    reader.take();
}

void ModuleParser::parseDirective() {
  unsigned line = reader.peek().line;
  if (reader.consume(".version") || reader.consume(".address_size")) {
    reader.take();
    return;
  }
  if (reader.consume(".target"))
    return parseTarget();
  if (reader.consume(".file") || reader.consume(".loc"))
    return reader.skipLine(line);
  if (reader.consume(".section")) {
    while (!reader.atEnd() && !reader.peek().is("{"))
      reader.take();
    return reader.skipBraces();
  }
  if (reader.consume(".pragma")) {
    reader.take();
    return reader.expect(";");
  }
  if (reader.consume("}") || reader.consume("{") || reader.consume(";"))
    return reader.fail("expects a directive before this");
  bool isExtern = false;
  while (reader.peek().is(".visible") || reader.peek().is(".extern") ||
         reader.peek().is(".weak") || reader.peek().is(".common"))
    isExtern |= reader.take().is(".extern");
  if (reader.consume(".entry"))
    return parseFunction(/*isKernel=*/true);
  if (reader.consume(".func"))
    return parseFunction(/*isKernel=*/false);
  std::optional<Space> space = parseSpace(reader.peek().text);
  if (!space || *space == Space::Parameter)
    return reader.fail("expects a directive that is known");
  reader.take();
  parseVariables(*space, isExtern);
}

void ModuleParser::parseVariables(Space space, bool isExtern) {
  do {
    Variable variable = reader.parseVariable(space, isExtern);
    if (reader.atEnd())
      break;
    auto known = module.variableNumbers.find(variable.name);
    if (known != module.variableNumbers.end()) {
      // A definition takes the place of declarations.
      if (!isExtern)
        module.variables[known->second] = variable;
      continue;
    }
    module.variableNumbers[variable.name] = module.variables.size();
    module.variables.push_back(variable);
  } while (reader.consume(","));
  reader.expect(";");
}

std::vector<Variable> ModuleParser::parseParameters() {
  std::vector<Variable> result;
  if (!reader.consume("("))
    return result;
  while (!reader.atEnd() && !reader.peek().is(")")) {
    if (reader.consume(".reg"))
      reader.fail("expects parameters in .param, .reg is not supported");
    else
      reader.expect(".param");
    result.push_back(reader.parseVariable(Space::Parameter, false));
    if (!reader.consume(","))
      break;
  }
  reader.expect(")");
  return result;
}

void ModuleParser::parseThreads(unsigned (&threads)[3]) {
  for (unsigned &number : threads) {
    number = reader.parseUnsigned();
    if (!reader.consume(","))
      break;
  }
  for (unsigned &number : threads)
    number = std::max(number, 1u);
}

void ModuleParser::parsePerformance(Function &function) {
  while (!reader.atEnd()) {
    if (reader.consume(".maxntid"))
      parseThreads(function.maxThreads);
    else if (reader.consume(".reqntid"))
      parseThreads(function.requiredThreads);
    else if (reader.consume(".minnctapersm") || reader.consume(".maxnreg") ||
             reader.consume(".maxnctapersm"))
      reader.parseUnsigned();
    else if (reader.consume(".pragma")) {
      reader.take();
      reader.expect(";");
    } else if (!reader.consume(".noreturn"))
      return;
  }
}

void ModuleParser::parseBodyTokens(Function &function) {
  size_t begin = &reader.peek(1) - module.tokens.data();
  reader.skipBraces();
  size_t end = module.tokens.size() - 1;
  if (!reader.atEnd())
    end = &reader.peek() - module.tokens.data();
  function.body = ArrayRef<Token>(module.tokens).slice(begin, end - 1 - begin);
}

void ModuleParser::parseFunction(bool isKernel) {
  Function function;
  function.isKernel = isKernel;
  function.line = reader.peek().line;
  if (!isKernel)
    function.results = parseParameters();
  if (reader.peek().kind != Token::Kind::Word)
    return reader.fail("expects the name of a function");
  function.name = reader.take().text;
  function.parameters = parseParameters();
  parsePerformance(function);
  if (reader.consume(";"))
    function.isDeclaration = true;
  else if (!reader.peek().is("{"))
    return reader.fail("expects the body of a function");
  else
    parseBodyTokens(function);
  auto known = module.functionNumbers.find(function.name);
  if (known != module.functionNumbers.end()) {
    if (!function.isDeclaration)
      module.functions[known->second] = function;
    return;
  }
  module.functionNumbers[function.name] = module.functions.size();
  module.functions.push_back(function);
}

const Function *Module::findFunction(StringRef name) const {
  auto found = functionNumbers.find(name);
  return found == functionNumbers.end() ? nullptr : &functions[found->second];
}

const Variable *Module::findVariable(StringRef name) const {
  auto found = variableNumbers.find(name);
  return found == variableNumbers.end() ? nullptr : &variables[found->second];
}

Expected<std::unique_ptr<Module>> parseModule(std::string text) {
  auto module = std::make_unique<Module>();
  module->text = std::move(text);
  module->tokens = tokenize(module->text);
  if (Error error = ModuleParser(*module).run())
    return std::move(error);
  return std::move(module);
}

std::vector<uint32_t> getParameterOffsets(ArrayRef<Variable> parameters,
                                          uint32_t &bytes) {
  std::vector<uint32_t> offsets;
  bytes = 0;
  for (const Variable &parameter : parameters) {
    bytes = alignTo(bytes, std::max(1u, parameter.alignment));
    offsets.push_back(bytes);
    bytes += parameter.getBytes();
  }
  return offsets;
}

} // namespace act::emulator::ptx
