//===- PtxChunks.cpp - Dividing kernels between threads ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxChunks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace mlir::act;
using llvm::GlobalValue;

/// A chunk but the last has at least so many instructions.
static constexpr int64_t minInstructions = 2000;

static bool isKernel(const GlobalValue &value) {
  auto *function = dyn_cast<llvm::Function>(&value);
  return function && !function->isDeclaration() &&
         function->getCallingConv() == llvm::CallingConv::PTX_Kernel;
}

/// Adds the definitions that `user` and what it is made of refer to.
static void collectNeeded(llvm::User &user,
                          llvm::SetVector<GlobalValue *> &needed) {
  SmallVector<llvm::User *> worklist = {&user};
  llvm::SmallPtrSet<llvm::User *, 16> seen;
  while (!worklist.empty()) {
    llvm::User *next = worklist.pop_back_val();
    for (llvm::Value *operand : next->operands()) {
      if (auto *value = dyn_cast<GlobalValue>(operand)) {
        if (!value->isDeclaration() && !isKernel(*value))
          needed.insert(value);
      } else if (auto *constant = dyn_cast<llvm::Constant>(operand)) {
        if (seen.insert(constant).second)
          worklist.push_back(constant);
      }
    }
  }
}

/// All definitions that `kernel` needs, directly or not.
static llvm::SetVector<GlobalValue *> getNeeded(llvm::Function &kernel) {
  llvm::SetVector<GlobalValue *> needed;
  auto visit = [&](GlobalValue &value) {
    if (auto *function = dyn_cast<llvm::Function>(&value))
      for (llvm::Instruction &instruction : llvm::instructions(*function))
        collectNeeded(instruction, needed);
    else
      collectNeeded(value, needed);
  };
  visit(kernel);
  for (size_t i = 0; i < needed.size(); ++i)
    visit(*needed[i]);
  return needed;
}

SmallVector<PtxChunk> act::divideIntoChunks(llvm::Module &module) {
  SmallVector<PtxChunk> chunks;
  llvm::MapVector<GlobalValue *, llvm::SetVector<size_t>> users;
  int64_t instructions = minInstructions;
  for (llvm::Function &function : module) {
    if (!isKernel(function))
      continue;
    if (instructions >= minInstructions) {
      chunks.emplace_back();
      chunks.back().number = chunks.size() - 1;
      instructions = 0;
    }
    instructions += function.getInstructionCount();
    PtxChunk &chunk = chunks.back();
    chunk.definitions.insert(function.getName());
    for (GlobalValue *value : getNeeded(function)) {
      chunk.definitions.insert(value->getName());
      users[value].insert(chunk.number);
    }
  }
  for (auto &[value, numbers] : users) {
    value->setVisibility(GlobalValue::DefaultVisibility);
    value->setLinkage(GlobalValue::InternalLinkage);
    if (numbers.size() > 1)
      for (size_t number : numbers)
        chunks[number].copies.insert(value->getName());
  }
  return chunks;
}

llvm::Expected<std::unique_ptr<llvm::Module>>
act::readChunk(llvm::MemoryBufferRef bitcode, const PtxChunk &chunk,
               llvm::LLVMContext &context) {
  auto module = llvm::getLazyBitcodeModule(bitcode, context);
  if (!module)
    return module.takeError();
  // What is not read costs nothing.
  for (llvm::Function &function : **module)
    if (!function.isDeclaration() &&
        !chunk.definitions.contains(function.getName()))
      function.deleteBody();
  if (llvm::Error error = (*module)->materializeAll())
    return error;
  SmallVector<GlobalValue *> unused;
  for (GlobalValue &value : (*module)->global_values())
    if (!chunk.definitions.contains(value.getName()) && value.use_empty())
      unused.push_back(&value);
  for (GlobalValue *value : unused)
    value->eraseFromParent();
  for (GlobalValue &value : (*module)->global_values())
    if (chunk.copies.contains(value.getName()))
      value.setName(value.getName() + "_" + Twine(chunk.number));
  return module;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string act::joinTexts(ArrayRef<std::string> texts) {
  constexpr llvm::StringLiteral endOfHeader = ".address_size 64\n";
  std::string joined;
  llvm::StringSet<> declared;
  for (StringRef text : texts) {
    if (!joined.empty())
      text = text.split(endOfHeader).second;
    while (!text.empty()) {
      auto [line, rest] = text.split('\n');
      text = rest;
      if (line.starts_with(".extern .") && line.ends_with(";") &&
          !declared.insert(line).second)
        continue;
      joined += line;
      joined += '\n';
    }
  }
  return joined;
}
