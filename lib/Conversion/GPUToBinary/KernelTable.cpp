//===- KernelTable.cpp - What is known of kernels ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTable.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::act;

/// The address space of shared memory.
static constexpr unsigned sharedSpace = 3;

/// Bytes of the variables in shared memory that `kernel` and what it calls use.
static int64_t getStaticSharedBytes(LLVM::LLVMFuncOp kernel) {
  llvm::SetVector<Operation *> reached;
  reached.insert(kernel);
  int64_t bytes = 0;
  for (size_t i = 0; i < reached.size(); ++i) {
    if (auto global = dyn_cast<LLVM::GlobalOp>(reached[i])) {
      // What is external has its size at the launch.
      if (global.getAddrSpace() == sharedSpace &&
          global.getLinkage() != LLVM::Linkage::External)
        bytes += DataLayout::closest(kernel).getTypeSize(global.getType());
    }
    reached[i]->walk([&](Operation *op) {
      FlatSymbolRefAttr symbol;
      if (auto address = dyn_cast<LLVM::AddressOfOp>(op))
        symbol = address.getGlobalNameAttr();
      else if (auto call = dyn_cast<LLVM::CallOp>(op))
        symbol = call.getCalleeAttr();
      if (!symbol)
        return;
      if (Operation *target =
              SymbolTable::lookupNearestSymbolFrom(kernel, symbol))
        reached.insert(target);
    });
  }
  return bytes;
}

/// Whether `op` adds floats to memory in an order that depends on the schedule.
static bool isOrderDependent(Operation *op) {
  if (auto atomic = dyn_cast<LLVM::AtomicRMWOp>(op))
    return atomic.getBinOp() == LLVM::AtomicBinOp::fadd ||
           atomic.getBinOp() == LLVM::AtomicBinOp::fsub;
  if (auto assembly = dyn_cast<LLVM::InlineAsmOp>(op)) {
    StringRef text = assembly.getAsmString();
    return (text.contains("red.") || text.contains("atom.")) &&
           text.contains(".add") &&
           (text.contains(".f32") || text.contains("f16") ||
            text.contains(".f64"));
  }
  return false;
}

static DictionaryAttr getResources(MLIRContext *context, StringRef kernel,
                                   ArrayRef<Cubin> cubins) {
  Builder builder(context);
  SmallVector<NamedAttribute> chips;
  for (const Cubin &cubin : cubins) {
    auto found = cubin.kernels.find(kernel);
    if (found == cubin.kernels.end())
      continue;
    const KernelResources &resources = found->second;
    chips.push_back(builder.getNamedAttr(
        cubin.chip,
        builder.getDictionaryAttr(
            {builder.getNamedAttr(
                 "registers", builder.getI64IntegerAttr(resources.registers)),
             builder.getNamedAttr("spill_bytes", builder.getI64IntegerAttr(
                                                     resources.spillBytes)),
             builder.getNamedAttr("stack_bytes", builder.getI64IntegerAttr(
                                                     resources.stackBytes))})));
  }
  return builder.getDictionaryAttr(chips);
}

static DictionaryAttr
getMetadata(LLVM::LLVMFuncOp kernel, gpu::GPUModuleOp module,
            const llvm::MapVector<SymbolRefAttr, LaunchSizes> &launches,
            ArrayRef<Cubin> cubins) {
  Builder builder(kernel.getContext());
  NamedAttrList metadata;
  auto launch = launches.find(SymbolRefAttr::get(
      module.getNameAttr(), {FlatSymbolRefAttr::get(kernel.getNameAttr())}));
  if (launch != launches.end()) {
    const LaunchSizes &sizes = launch->second;
    metadata.set("grid", builder.getDenseI32ArrayAttr(sizes.grid));
    metadata.set("block", builder.getDenseI32ArrayAttr(sizes.block));
    metadata.set("dynamic_shared_bytes",
                 builder.getI64IntegerAttr(sizes.dynamicSharedBytes));
  } else {
    // A kernel that nothing here launches may say how it is meant to be.
    if (Attribute grid = kernel->getAttr("gpu.known_grid_size"))
      metadata.set("grid", grid);
    if (Attribute block = kernel->getAttr("gpu.known_block_size"))
      metadata.set("block", block);
  }
  metadata.set("static_shared_bytes",
               builder.getI64IntegerAttr(getStaticSharedBytes(kernel)));
  bool orderDependent = kernel->hasAttr("act.order_dependent");
  kernel.walk([&](Operation *op) { orderDependent |= isOrderDependent(op); });
  if (orderDependent)
    metadata.set("order_dependent", builder.getUnitAttr());
  if (!cubins.empty())
    metadata.set("resources",
                 getResources(kernel.getContext(), kernel.getName(), cubins));
  return metadata.getDictionary(kernel.getContext());
}

gpu::KernelTableAttr act::createKernelTable(
    gpu::GPUModuleOp module,
    const llvm::MapVector<SymbolRefAttr, LaunchSizes> &launches,
    ArrayRef<Cubin> cubins) {
  SmallVector<gpu::KernelMetadataAttr> kernels;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
      kernels.push_back(gpu::KernelMetadataAttr::get(
          function, getMetadata(function, module, launches, cubins)));
  return gpu::KernelTableAttr::get(module.getContext(), kernels);
}
