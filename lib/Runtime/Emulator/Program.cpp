//===- Program.cpp - Loaded images ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "DeviceMemory.h"
#include "Options.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <map>

using namespace llvm;

namespace act::emulator {

Kernel::Kernel(Program &program, const ptx::Function &function)
    : program(program), function(function),
      offsets(ptx::getParameterOffsets(function.parameters, parameterBytes)) {}

Expected<const CompiledKernel *> Kernel::compile() {
  const Options &options = getOptions();
  std::lock_guard<std::mutex> lock(mutex);
  auto &variant = variants[options.check + 2 * options.statistics];
  if (variant)
    return variant.get();
  auto compiled = compileKernel(
      program.getModule(), function, options.check, options.statistics,
      [&](StringRef name) { return program.findVariable(name); });
  if (!compiled)
    return compiled.takeError();
  variant = std::move(*compiled);
  return variant.get();
}

Program::~Program() {
  for (auto &entry : variables)
    DeviceMemory::get().free(entry.second);
}

Kernel *Program::findKernel(StringRef name) {
  for (const auto &kernel : kernels)
    if (kernel->getName() == name)
      return kernel.get();
  return nullptr;
}

char *Program::findVariable(StringRef name) { return variables.lookup(name); }

/// Writes the initial value of a variable: numbers, names of variables, or
/// generic(name), with an offset.
Error Program::initialize(const ptx::Variable &variable, char *memory) {
  unsigned bytes = variable.type.getBytes();
  char *end = memory + variable.getBytes();
  auto reject = [&](const ptx::Token &token) {
    return createStringError("PTX line " + Twine(token.line) +
                             ": the initial value '" + token.text + "' of '" +
                             variable.name + "' is not supported");
  };
  bool isNegative = false;
  bool isOffset = false;
  for (const ptx::Token &token : variable.initializer) {
    if (token.is(",") || token.is("(") || token.is(")") || token.is("generic"))
      continue;
    if (token.is("-")) {
      isNegative = true;
      continue;
    }
    if (token.is("+")) {
      isOffset = true;
      continue;
    }
    uint64_t value = 0;
    StringRef digits =
        token.text.drop_front(std::min<size_t>(2, token.text.size()));
    if (token.kind == ptx::Token::Kind::Word) {
      char *address = findVariable(token.text);
      if (!address || bytes != 8)
        return reject(token);
      value = reinterpret_cast<uint64_t>(address);
    } else if (token.text.starts_with_insensitive("0f") ||
               token.text.starts_with_insensitive("0d")) {
      if (digits.getAsInteger(16, value))
        return reject(token);
    } else {
      StringRef text = token.text;
      text.consume_back("U");
      if (text.getAsInteger(0, value))
        return reject(token);
    }
    value = isNegative ? -value : value;
    isNegative = false;
    if (isOffset) {
      // Belongs to the element before.
      uint64_t base;
      memory -= bytes;
      std::memcpy(&base, memory, sizeof(base));
      value += base;
      isOffset = false;
    }
    if (memory + bytes > end)
      return reject(token);
    std::memcpy(memory, &value, bytes);
    memory += bytes;
  }
  return Error::success();
}

Error Program::allocateVariables() {
  for (const ptx::Variable &variable : module->variables) {
    if (variable.space != Space::Global && variable.space != Space::Constant)
      continue;
    if (variable.isExtern)
      return createStringError("PTX line " + Twine(variable.line) +
                               ": the variable '" + variable.name +
                               "' is not defined in the module");
    char *memory = DeviceMemory::get().allocate(
        variable.getBytes(), ("variable '" + variable.name + "'").str());
    if (!memory)
      return createStringError("no memory for the variable '" + variable.name +
                               "'");
    std::memset(memory, 0, variable.getBytes());
    variables[variable.name] = memory;
  }
  for (const ptx::Variable &variable : module->variables)
    if (char *memory = findVariable(variable.name))
      if (Error error = initialize(variable, memory))
        return error;
  return Error::success();
}

Expected<std::shared_ptr<Program>> Program::load(StringRef image) {
  // By content and by what the front end for bitcode adds.
  static std::map<std::string, std::shared_ptr<Program>> loaded;
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  bool isBitcode = getImageKind(image) == ImageKind::Bitcode;
  bool check = getOptions().check;
  std::string key = (isBitcode && check ? "checked:" : "") + image.str();
  if (auto found = loaded.find(key); found != loaded.end())
    return found->second;
  std::string text = image.str();
  if (isBitcode) {
    Expected<std::string> compiled = compileBitcode(image, check);
    if (!compiled)
      return compiled.takeError();
    text = std::move(*compiled);
  }
  Expected<std::unique_ptr<ptx::Module>> module =
      ptx::parseModule(std::move(text));
  if (!module)
    return module.takeError();
  auto program = std::make_shared<Program>();
  program->module = std::move(*module);
  if (Error error = program->allocateVariables())
    return std::move(error);
  for (const ptx::Function &function : program->module->functions)
    if (function.isKernel && !function.isDeclaration)
      program->kernels.push_back(std::make_unique<Kernel>(*program, function));
  if (program->variables.empty())
    loaded[key] = program;
  return program;
}

ImageKind getImageKind(StringRef image) {
  if (image.starts_with("\x7f"
                        "ELF"))
    return ImageKind::Elf;
  if (image.starts_with("BC\xC0\xDE"))
    return ImageKind::Bitcode;
  if (image.starts_with("\x50\xED\x55\xBA"))
    return ImageKind::FatBinary;
  bool isText = image.take_front(4096)
                    .take_until([](char c) { return c == '\0'; })
                    .contains(".version");
  return isText ? ImageKind::Ptx : ImageKind::Unknown;
}

StringRef delimitImage(const char *image, size_t bytes) {
  if (bytes != 0)
    return {image, bytes};
  ImageKind kind = getImageKind(StringRef(image, 4));
  if (kind == ImageKind::Unknown)
    return StringRef(image);
  return {image, 4};
}

} // namespace act::emulator
