//===- ActTypes.h - Types of the act dialect -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_ACTTYPES_H
#define ACT_DIALECT_ACT_IR_ACTTYPES_H

#include "act/Dialect/Act/IR/ActAttributes.h"

#define GET_TYPEDEF_CLASSES
#include "act/Dialect/Act/IR/ActTypes.h.inc"

#endif // ACT_DIALECT_ACT_IR_ACTTYPES_H
