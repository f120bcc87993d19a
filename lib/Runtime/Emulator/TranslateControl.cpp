//===- TranslateControl.cpp - Branches, calls and barriers ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionTranslator.h"

using namespace llvm;

namespace act::emulator {

bool FunctionTranslator::translateBranch(Instruction &instruction) {
  instruction.take("uni");
  if (instruction.getNumOperands() != 1)
    return false;
  branchTo(instruction.operand(0).name);
  return true;
}

/// brx.idx %r, targets.
bool FunctionTranslator::translateBranchTable(Instruction &instruction) {
  if (!instruction.take("idx"))
    return false;
  instruction.take("uni");
  auto found = targets.find(instruction.operand(1).name);
  if (found == targets.end())
    return false;
  flushCounts();
  for (const ptx::Operand &target : found->second->operands) {
    if (passed.count(target.name)) {
      pollFuel();
      break;
    }
  }
  Value *index = read(instruction.operand(0), 32);
  BasicBlock *outside = createBlock();
  auto *table = builder.CreateSwitch(index, outside);
  for (auto [number, target] : enumerate(found->second->operands))
    table->addCase(builder.getInt32(number), getLabel(target.name));
  builder.SetInsertPoint(outside);
  builder.CreateUnreachable();
  return true;
}

bool FunctionTranslator::translateReturn(Instruction &instruction) {
  instruction.take("uni");
  flushCounts();
  if (instruction.statement.opcode == "exit" && !body.function->isKernel) {
    error("exit inside of a device function is not supported");
    return true;
  }
  builder.CreateRetVoid();
  return true;
}

bool FunctionTranslator::translateTrap(Instruction &instruction) {
  Site &site = addSite(instruction.statement);
  callRuntime("act_emulator_trap", builder.getVoidTy(),
              {threadContext, getPointer(&site)});
  builder.CreateUnreachable();
  return true;
}

bool FunctionTranslator::translateSleep(Instruction &instruction) {
  if (!instruction.takeType())
    return false;
  Site &site = addSite(instruction.statement);
  translation.needsFibers = true;
  callRuntime("act_emulator_refuel", builder.getVoidTy(),
              {threadContext, getPointer(&site)});
  return true;
}

/// call (results), function, (parameters): every result and parameter is passed
/// by its address.
bool FunctionTranslator::translateCall(Instruction &instruction) {
  instruction.take("uni");
  const ptx::Statement &statement = instruction.statement;
  bool hasResults = instruction.operand(0).kind == ptx::Operand::Kind::Vector;
  const ptx::Operand &callee = instruction.operand(hasResults ? 1 : 0);
  SmallVector<Value *> operands{threadContext};
  auto addOperands = [&](const ptx::Operand &list) {
    for (const ptx::Operand &element : list.elements) {
      std::optional<Symbol> symbol = findSymbol(element.name);
      if (!symbol || symbol->space != Space::Parameter)
        error("expects variables in .param, got '" + element.name + "'");
      else
        operands.push_back(
            builder.CreateIntToPtr(symbol->address, pointerType));
    }
  };
  if (hasResults)
    addOperands(instruction.operand(0));
  addOperands(instruction.operand(hasResults ? 2 : 1));
  if (const Translation::Body *target = translation.findBody(callee.name)) {
    if (operands.size() != target->target->arg_size())
      return false;
    builder.CreateCall(target->target, operands);
    return true;
  }
  if (!isRuntimeFunction(callee.name)) {
    error("calls '" + callee.name + "', which is not defined in the module");
    return true;
  }
  Site &site = addSite(statement);
  operands.push_back(getPointer(&site));
  callRuntime(("act_emulator_call_" + callee.name).str(), builder.getVoidTy(),
              operands);
  return true;
}

/// bar.sync, barrier.sync, barrier.cta.sync and the forms .arrive and .red.
bool FunctionTranslator::translateBarrier(Instruction &instruction) {
  const ptx::Statement &statement = instruction.statement;
  if (instruction.take("warp"))
    return translateWarpBarrier(instruction);
  instruction.take("cta");
  StringRef kind = instruction.takeAny({"sync", "arrive", "red"});
  if (kind.empty())
    return false;
  Site &site = addSite(statement);
  // bar is short for barrier.cta with .aligned.
  site.isAligned = instruction.take("aligned") || statement.opcode == "bar";
  unsigned numOperands = instruction.getNumOperands();
  unsigned first = 0;
  Value *predicate = constant(0);
  StringRef reduction;
  if (kind == "arrive") {
    site.barrier = BarrierKind::Arrive;
  } else if (kind == "red") {
    reduction = instruction.takeAny({"popc", "and", "or"});
    instruction.takeType();
    site.barrier = reduction == "popc"  ? BarrierKind::Count
                   : reduction == "and" ? BarrierKind::And
                                        : BarrierKind::Or;
    first = 1;
    predicate = builder.CreateZExt(
        readPredicate(instruction.operand(--numOperands)), getInteger(32));
    if (reduction.empty())
      return false;
  }
  Value *number = read(instruction.operand(first), 32);
  Value *count = numOperands > first + 1
                     ? read(instruction.operand(first + 1), 32)
                     : constant(0);
  translation.needsFibers = true;
  Value *result =
      callRuntime("act_emulator_barrier", getInteger(32),
                  {threadContext, getPointer(&site), number, count, predicate});
  if (first == 1)
    write(instruction, reduction == "popc"
                           ? result
                           : builder.CreateTrunc(result, getInteger(1)));
  return true;
}

} // namespace act::emulator
