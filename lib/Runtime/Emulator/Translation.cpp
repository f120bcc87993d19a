//===- Translation.cpp - From PTX to LLVM IR ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translation.h"
#include "FunctionTranslator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace act::emulator {

Translation::Translation(const ptx::Module &source, bool check, bool statistics)
    : source(source), check(check), statistics(statistics),
      context(std::make_unique<LLVMContext>()),
      module(std::make_unique<llvm::Module>("ptx", *context)) {}

bool isRuntimeFunction(StringRef name) {
  return name == "vprintf" || name == "__assertfail" ||
         name == "act_gpu_emulator_check_conversion";
}

const Translation::Body *Translation::findBody(StringRef name) const {
  for (const Body &body : bodies)
    if (body.function->name == name)
      return &body;
  return nullptr;
}

/// The bodies of `kernel` and of all functions that can be called from it.
Error Translation::collectBodies(const ptx::Function &kernel) {
  bodies.push_back({&kernel, {}, nullptr});
  for (size_t i = 0; i < bodies.size(); ++i) {
    Expected<std::vector<ptx::Statement>> statements =
        ptx::parseBody(*bodies[i].function);
    if (!statements)
      return statements.takeError();
    bodies[i].statements = std::move(*statements);
    for (const ptx::Token &token : bodies[i].function->body) {
      if (token.kind != ptx::Token::Kind::Word)
        continue;
      const ptx::Function *callee = source.findFunction(token.text);
      if (callee && !callee->isDeclaration && !callee->isKernel &&
          !findBody(callee->name))
        bodies.push_back({callee, {}, nullptr});
    }
  }
  return Error::success();
}

/// Places variables in shared memory: static ones one after the other, then,
/// all at the same place, those whose size the launch gives.
Error Translation::layOutShared() {
  SmallVector<std::string> dynamic;
  unsigned dynamicAlignment = 16;
  auto place = [&](const ptx::Variable &variable, std::string name) {
    if (variable.space != Space::Shared || sharedOffsets.count(name))
      return;
    if (variable.isExtern || variable.count == 0) {
      dynamic.push_back(name);
      dynamicAlignment = std::max(dynamicAlignment, variable.alignment);
      return;
    }
    staticSharedBytes = alignTo(staticSharedBytes, variable.alignment);
    sharedOffsets[name] = staticSharedBytes;
    staticSharedBytes += variable.getBytes();
  };
  for (const Body &body : bodies) {
    for (const ptx::Token &token : body.function->body)
      if (const ptx::Variable *variable = source.findVariable(token.text))
        place(*variable, variable->name.str());
    for (const ptx::Statement &statement : body.statements)
      if (statement.kind == ptx::Statement::Kind::Variable)
        place(statement.variable,
              (body.function->name + "." + statement.variable.name).str());
  }
  if (!dynamic.empty())
    staticSharedBytes = alignTo(staticSharedBytes, dynamicAlignment);
  for (const std::string &name : dynamic)
    sharedOffsets[name] = staticSharedBytes;
  return Error::success();
}

void Translation::declare(Body &body) {
  Type *pointer = PointerType::get(*context, 0);
  SmallVector<Type *> operands{pointer};
  if (body.function->isKernel)
    operands.push_back(pointer);
  else
    operands.append(body.function->results.size() +
                        body.function->parameters.size(),
                    pointer);
  auto *type = FunctionType::get(Type::getVoidTy(*context), operands, false);
  bool isEntry = &body == &bodies.front();
  body.target = llvm::Function::Create(
      type,
      isEntry ? GlobalValue::ExternalLinkage : GlobalValue::InternalLinkage,
      isEntry ? "kernel" : body.function->name, *module);
  body.target->addFnAttr(Attribute::NoUnwind);
  // Large frames touch every page, so that none is larger than the guard.
  body.target->addFnAttr("probe-stack", "inline-asm");
  body.target->addParamAttr(0, Attribute::NoAlias);
}

Error Translation::run(const ptx::Function &kernel) {
  if (Error error = collectBodies(kernel))
    return error;
  if (Error error = layOutShared())
    return error;
  for (Body &body : bodies)
    declare(body);
  for (const Body &body : bodies)
    FunctionTranslator(*this, body).run();
  if (!errors.empty())
    return createStringError(join(errors, "\n"));
  std::string message;
  raw_string_ostream os(message);
  if (verifyModule(*module, &os))
    return createStringError("kernel " + kernel.name +
                             ": translation gives invalid IR: " + message);
  return Error::success();
}

} // namespace act::emulator
