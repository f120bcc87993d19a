//===- ActDialect.h - The act dialect -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_ACTDIALECT_H
#define ACT_DIALECT_ACT_IR_ACTDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"

#include "act/Dialect/Act/IR/ActDialect.h.inc"

#endif // ACT_DIALECT_ACT_IR_ACTDIALECT_H
