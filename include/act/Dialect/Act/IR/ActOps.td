//===- ActOps.td - Everything the act dialect defines -*- tablegen -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_DIALECT_ACT_IR_ACTOPS_TD
#define ACT_DIALECT_ACT_IR_ACTOPS_TD

include "act/Dialect/Act/IR/CodecOps.td"
include "act/Dialect/Act/IR/CompressionOps.td"
include "act/Dialect/Act/IR/ConvolutionOps.td"
include "act/Dialect/Act/IR/KernelOps.td"
include "act/Dialect/Act/IR/LinearAttentionOps.td"
include "act/Dialect/Act/IR/LoopOps.td"
include "act/Dialect/Act/IR/RangeOps.td"

#endif // ACT_DIALECT_ACT_IR_ACTOPS_TD
