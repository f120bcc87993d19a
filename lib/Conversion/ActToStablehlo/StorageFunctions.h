//===- StorageFunctions.h - Functions that encode and decode -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_ACTTOSTABLEHLO_STORAGEFUNCTIONS_H
#define ACT_LIB_CONVERSION_ACTTOSTABLEHLO_STORAGEFUNCTIONS_H

#include "act/Conversion/ActToStablehlo/ActToStablehlo.h"
#include "act/Dialect/Act/IR/ActTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::act {

/// The private functions of a module that encode and decode, one of each kind
/// per compressed type, built when first asked for and appended to the module.
class StorageFunctions {
public:
  explicit StorageFunctions(ModuleOp module)
      : module(module), symbols(module), endOfModule(module->getContext()) {
    endOfModule.setInsertionPointToEnd(module.getBody());
  }

  /// `(tensor, salt) -> storage`, without the salt if the encoding has no use
  /// for one.
  func::FuncOp getEncode(CompressedType type);
  /// `(storage) -> tensor`.
  func::FuncOp getDecode(CompressedType type);

private:
  func::FuncOp create(StringRef prefix, CompressedType type, TypeRange inputs,
                      TypeRange results);

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder endOfModule;
  llvm::DenseMap<CompressedType, func::FuncOp> encodes, decodes;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_ACTTOSTABLEHLO_STORAGEFUNCTIONS_H
