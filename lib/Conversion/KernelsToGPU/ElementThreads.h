//===- ElementThreads.h - Threads that go through elements -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_KERNELSTOGPU_ELEMENTTHREADS_H
#define ACT_LIB_CONVERSION_KERNELSTOGPU_ELEMENTTHREADS_H

#include "CodecThreads.h"

namespace mlir::act {

/// Elements of type `element` that codecs go through one by one.
struct ElementRange {
  Value base;
  Type element;
  /// Known alignment of the first one in bytes; found out if 0.
  int64_t alignment;
};

/// With pieces that are elements.
GpuCodecSplit getElementSplit(int64_t numElements);

/// Computes `to` from `from` for each piece, several next to each other at a
/// time where addresses are known to be aligned. `body` gets and returns
/// elements as they are loaded and stored: integers, or f16, f32 and f64.
void forElements(CodecThreads &t, const GpuCodecPieces &pieces,
                 const ElementRange &from, const ElementRange &to,
                 function_ref<Value(Value)> body);

/// A loaded element of float type `element` as f32, or f64 if it is one; the
/// inverse of an f32.
Value toFloat(CodecThreads &t, Value loaded, Type element);
Value toStored(CodecThreads &t, Value number, Type element);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_KERNELSTOGPU_ELEMENTTHREADS_H
