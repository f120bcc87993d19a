//===- LoopModel.cpp - What act knows about loops ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/OpModel/LoopModel.h"

using namespace mlir;
using namespace mlir::act;

#include "act/Analysis/OpModel/LoopModelInterface.cpp.inc"
