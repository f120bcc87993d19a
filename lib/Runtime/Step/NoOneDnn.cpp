//===- NoOneDnn.cpp - Builds without oneDNN ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Libraries.h"

using namespace act::step;

SingleThreaded::SingleThreaded() : before(1) {}
SingleThreaded::~SingleThreaded() { (void)before; }

bool act::step::hasOneDnn() { return false; }
bool act::step::hasFastBFloat16() { return false; }
bool act::step::hasAvx512() { return false; }
bool act::step::computeOneDnn(const GemmBlock &) { return false; }
bool act::step::computeOneDnnShort(Context &, const GemmBlock &, int64_t) {
  return false;
}
