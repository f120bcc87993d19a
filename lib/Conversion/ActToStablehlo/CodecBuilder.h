//===- CodecBuilder.h - What encodes and decodes -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_ACTTOSTABLEHLO_CODECBUILDER_H
#define ACT_LIB_CONVERSION_ACTTOSTABLEHLO_CODECBUILDER_H

#include "act/Conversion/ActToStablehlo/ActToStablehlo.h"
#include "act/Dialect/Act/IR/ActTypes.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::act {

/// Builds what encodes and decodes: operations, or calls of private functions,
/// one of each kind per compressed type, which are built when first asked for
/// and appended to the module.
class CodecBuilder {
public:
  CodecBuilder(ModuleOp module, CodecForm form)
      : module(module), form(form), symbols(module),
        endOfModule(module->getContext()) {
    endOfModule.setInsertionPointToEnd(module.getBody());
  }

  /// The storage of `tensor`. `salt` is null if the encoding has no use for
  /// one.
  SmallVector<Value> encode(OpBuilder &builder, Location loc,
                            CompressedType type, Value tensor, Value salt);
  /// The tensor that `storage` holds.
  Value decode(OpBuilder &builder, Location loc, CompressedType type,
               ValueRange storage);

private:
  /// `(tensor, salt) -> storage`, without the salt if the encoding has no use
  /// for one.
  func::FuncOp getEncode(CompressedType type);
  /// `(storage) -> tensor`.
  func::FuncOp getDecode(CompressedType type);
  func::FuncOp create(StringRef prefix, CompressedType type, TypeRange inputs,
                      TypeRange results);

  ModuleOp module;
  CodecForm form;
  SymbolTable symbols;
  OpBuilder endOfModule;
  llvm::DenseMap<CompressedType, func::FuncOp> encodes, decodes;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_ACTTOSTABLEHLO_CODECBUILDER_H
