//===- LoopModel.h - What act knows about loops -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_ANALYSIS_OPMODEL_LOOPMODEL_H
#define ACT_ANALYSIS_OPMODEL_LOOPMODEL_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

#include "act/Analysis/OpModel/LoopModelInterface.h.inc"

#endif // ACT_ANALYSIS_OPMODEL_LOOPMODEL_H
