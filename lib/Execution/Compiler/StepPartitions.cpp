//===- StepPartitions.cpp - Dividing a module into parts to compile
//----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepPartitions.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBufferRef.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::execution;
using llvm::GlobalValue;

/// A part has at least so many instructions, unless there are fewer.
static constexpr int64_t minInstructions = 2000;
static constexpr int64_t maxPartitions = 64;
/// A larger constant is not copied.
static constexpr uint64_t maxCopiedBytes = 4096;

/// True if every part that uses `value` gets a copy.
static bool isCopied(const GlobalValue &value) {
  if (value.isDeclaration() || !value.hasLocalLinkage())
    return false;
  if (auto *function = dyn_cast<llvm::Function>(&value))
    return !function->hasAddressTaken();
  auto *variable = dyn_cast<llvm::GlobalVariable>(&value);
  return variable && variable->isConstant() &&
         variable->getDataLayout().getTypeAllocSize(variable->getValueType()) <=
             maxCopiedBytes;
}

/// Adds the copied values that `user` and what it is made of refer to.
static void collectCopied(llvm::User &user,
                          llvm::SetVector<GlobalValue *> &copied) {
  SmallVector<llvm::User *> worklist = {&user};
  llvm::SmallPtrSet<llvm::User *, 16> seen;
  while (!worklist.empty()) {
    llvm::User *next = worklist.pop_back_val();
    for (llvm::Value *operand : next->operands()) {
      if (auto *value = dyn_cast<GlobalValue>(operand)) {
        if (isCopied(*value))
          copied.insert(value);
      } else if (auto *constant = dyn_cast<llvm::Constant>(operand)) {
        if (seen.insert(constant).second)
          worklist.push_back(constant);
      }
    }
  }
}

/// All copied values that `value` needs, directly or not.
static llvm::SetVector<GlobalValue *> getCopied(GlobalValue &value) {
  llvm::SetVector<GlobalValue *> copied;
  auto visit = [&](GlobalValue &next) {
    if (auto *function = dyn_cast<llvm::Function>(&next))
      for (llvm::Instruction &instruction : llvm::instructions(*function))
        collectCopied(instruction, copied);
    else
      collectCopied(next, copied);
  };
  visit(value);
  for (size_t i = 0; i < copied.size(); ++i)
    visit(*copied[i]);
  return copied;
}

static int64_t countInstructions(const GlobalValue &value) {
  auto *function = dyn_cast<llvm::Function>(&value);
  return function ? function->getInstructionCount() : 0;
}

SmallVector<StepPartition> execution::partitionStep(llvm::Module &module) {
  struct Item {
    size_t number;
    GlobalValue *value;
    llvm::SetVector<GlobalValue *> copied;
    int64_t instructions;
  };
  std::vector<Item> items;
  int64_t total = 0;
  for (GlobalValue &value : module.global_values()) {
    if (value.isDeclaration() || isCopied(value))
      continue;
    items.push_back(
        {items.size(), &value, getCopied(value), countInstructions(value)});
    for (GlobalValue *copied : items.back().copied)
      items.back().instructions += countInstructions(*copied);
    total += items.back().instructions;
    if (value.hasLocalLinkage()) {
      value.setLinkage(GlobalValue::ExternalLinkage);
      value.setVisibility(GlobalValue::HiddenVisibility);
      value.setDSOLocal(true);
    }
  }
  // The largest item goes to the smallest part.
  llvm::sort(items, [](const Item &lhs, const Item &rhs) {
    return std::pair(rhs.instructions, lhs.number) <
           std::pair(lhs.instructions, rhs.number);
  });
  SmallVector<StepPartition> partitions(
      std::clamp<int64_t>(total / minInstructions, 1, maxPartitions));
  for (const Item &item : items) {
    StepPartition &partition = *std::min_element(
        partitions.begin(), partitions.end(),
        [](const StepPartition &lhs, const StepPartition &rhs) {
          return lhs.instructions < rhs.instructions;
        });
    partition.instructions += item.instructions;
    partition.definitions.insert(item.value->getName());
    for (GlobalValue *copied : item.copied)
      partition.definitions.insert(copied->getName());
  }
  llvm::erase_if(partitions, [](const StepPartition &partition) {
    return partition.definitions.empty();
  });
  return partitions;
}

llvm::Expected<std::unique_ptr<llvm::Module>>
execution::readPartition(llvm::MemoryBufferRef bitcode,
                         const StepPartition &partition,
                         llvm::LLVMContext &context) {
  auto module = llvm::getLazyBitcodeModule(bitcode, context);
  if (!module)
    return module.takeError();
  // What is not read costs nothing.
  for (llvm::Function &function : **module)
    if (!function.isDeclaration() &&
        !partition.definitions.contains(function.getName()))
      function.deleteBody();
  if (llvm::Error error = (*module)->materializeAll())
    return error;
  for (llvm::GlobalVariable &variable : (*module)->globals())
    if (!variable.isDeclaration() &&
        !partition.definitions.contains(variable.getName())) {
      variable.setInitializer(nullptr);
      variable.setLinkage(GlobalValue::ExternalLinkage);
    }
  return module;
}
