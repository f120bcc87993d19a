//===- OpModel.cpp - What act knows about operations ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Analysis/OpModel/OpModel.h"

using namespace mlir;
using namespace mlir::act;

#include "act/Analysis/OpModel/OpModelInterface.cpp.inc"
