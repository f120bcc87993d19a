//===- StepTable.cpp - The table in the object file of a step ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepTable.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::execution;

namespace {
/// Builds the constants of one table.
class TableBuilder {
public:
  explicit TableBuilder(llvm::Module &module)
      : module(module), context(module.getContext()) {}

  llvm::Constant *number(int64_t value, unsigned bits) {
    return llvm::ConstantInt::getSigned(llvm::IntegerType::get(context, bits),
                                        value);
  }
  llvm::Constant *text(StringRef value) {
    return addPrivate(llvm::ConstantDataArray::getString(context, value));
  }
  /// A pointer to the structures of act_step_value for `values`.
  llvm::Constant *array(ArrayRef<ValueInfo> values);

private:
  llvm::Constant *addPrivate(llvm::Constant *value) {
    auto *global = new llvm::GlobalVariable(
        module, value->getType(), /*isConstant=*/true,
        llvm::GlobalValue::PrivateLinkage, value, ".act.table");
    global->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    return global;
  }
  llvm::Constant *null() {
    return llvm::ConstantPointerNull::get(llvm::PointerType::get(context, 0));
  }

  llvm::Module &module;
  llvm::LLVMContext &context;
};
} // namespace

llvm::Constant *TableBuilder::array(ArrayRef<ValueInfo> values) {
  if (values.empty())
    return null();
  SmallVector<llvm::Constant *> entries;
  for (const ValueInfo &value : values) {
    llvm::Constant *shape =
        value.shape.empty()
            ? null()
            : addPrivate(llvm::ConstantDataArray::get(
                  context, ArrayRef(reinterpret_cast<const uint64_t *>(
                                        value.shape.data()),
                                    value.shape.size())));
    entries.push_back(llvm::ConstantStruct::getAnon(
        {text(value.name), number(static_cast<int32_t>(value.type), 32),
         number(value.shape.size(), 32), shape,
         number(value.getNumBytes(), 64)}));
  }
  return addPrivate(llvm::ConstantArray::get(
      llvm::ArrayType::get(entries.front()->getType(), entries.size()),
      entries));
}

void execution::addStepTable(llvm::Function &function, const StepInfo &info,
                             StringRef name) {
  llvm::Module &module = *function.getParent();
  TableBuilder builder(module);
  llvm::Constant *table = llvm::ConstantStruct::getAnon(
      {builder.number(ACT_STEP_INFO_VERSION, 32),
       builder.number(info.arguments.size(), 32),
       builder.number(info.results.size(), 32),
       builder.number(info.kernels, 32), builder.text(info.name), &function,
       builder.number(info.arenaBytes, 64), builder.number(info.boundBytes, 64),
       builder.array(info.arguments), builder.array(info.results)});
  new llvm::GlobalVariable(module, table->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, table, name);
}
