//===- LinearAttentionInterface.h - What its operations share -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_LINEARATTENTIONINTERFACE_H
#define ACT_DIALECT_ACT_IR_LINEARATTENTIONINTERFACE_H

#include "act/Dialect/Act/IR/ActAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"
#include <algorithm>

namespace mlir::act::detail {

/// What a decay of the rank of `decay`, which may be null, stands for.
DecayKind getDecayKind(Value decay);

/// The type in which rows of type `rows` are summed up: f64 for f64, else f32.
Type getStateElementType(Type rows);

} // namespace mlir::act::detail

#include "act/Dialect/Act/IR/LinearAttentionInterface.h.inc"

#endif // ACT_DIALECT_ACT_IR_LINEARATTENTIONINTERFACE_H
