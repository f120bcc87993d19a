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

  /// The storage of `tensor`. `salt` and `range` are null if the encoding has
  /// no use for them.
  SmallVector<Value> encode(OpBuilder &builder, Location loc,
                            CompressedType type, Value tensor, Value salt,
                            Value range);
  /// The tensor that `storage` holds.
  Value decode(OpBuilder &builder, Location loc, CompressedType type,
               ValueRange storage);
  /// What a save and a load of `tensor` as `type` make of it with codes from 0
  /// to `levels`; the tensor itself with 0 levels. Always a call.
  Value roundTrip(OpBuilder &builder, Location loc, CompressedType type,
                  Value tensor, Value levels, Value salt);

private:
  /// `(tensor, salt, range) -> storage`, without what the encoding has no use
  /// for.
  func::FuncOp getEncode(CompressedType type);
  /// `(storage) -> tensor`.
  func::FuncOp getDecode(CompressedType type);
  /// `(tensor, levels, salt) -> tensor`, likewise.
  func::FuncOp getRoundTrip(CompressedType type);
  func::FuncOp create(StringRef prefix, CompressedType type, TypeRange inputs,
                      TypeRange results);

  ModuleOp module;
  CodecForm form;
  SymbolTable symbols;
  OpBuilder endOfModule;
  llvm::DenseMap<CompressedType, func::FuncOp> encodes, decodes, roundTrips;
};

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_ACTTOSTABLEHLO_CODECBUILDER_H
