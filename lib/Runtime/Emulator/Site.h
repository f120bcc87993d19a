//===- Site.h - Instructions that the runtime knows -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_RUNTIME_EMULATOR_SITE_H
#define ACT_LIB_RUNTIME_EMULATOR_SITE_H

#include <cstdint>
#include <string>

namespace act::emulator {

/// What the lanes of a warp do together.
enum class Collective : uint8_t {
  None,
  ShuffleUp,
  ShuffleDown,
  ShuffleButterfly,
  ShuffleIndex,
  VoteAll,
  VoteAny,
  VoteUniform,
  VoteBallot,
  Reduce,
  MatchAny,
  MatchAll,
  Elect,
  Synchronize,
  MultiplyMatrices,
  LoadMatrix,
  StoreMatrix
};

/// The operations of redux.sync.
enum class Reduction : uint8_t {
  Add,
  UnsignedMin,
  UnsignedMax,
  SignedMin,
  SignedMax,
  And,
  Or,
  Xor
};

/// Elements of the matrices of mma.sync.
enum class MatrixElement : uint8_t {
  F16,
  BF16,
  TF32,
  S8,
  U8,
  E4M3,
  E5M2,
  F32,
  S32
};

/// mma.sync.m16n8kK.
struct MatrixShape {
  unsigned depth = 0;
  MatrixElement a = MatrixElement::F16;
  MatrixElement b = MatrixElement::F16;
  MatrixElement accumulator = MatrixElement::F32;
  MatrixElement result = MatrixElement::F32;
  bool saturates = false;
};

/// What barrier.cta does.
enum class BarrierKind : uint8_t { Synchronize, Arrive, Count, And, Or };

/// Where an access to memory goes, as the instruction says.
enum class Space : uint8_t {
  Generic,
  Global,
  Shared,
  Local,
  Constant,
  Parameter
};

/// An instruction of a kernel that the runtime has something to do for. Lives
/// as long as the code that refers to it.
struct Site {
  /// The function it is in.
  std::string function;
  /// The line of the PTX text, from 1.
  unsigned line = 0;
  /// The instruction as it is written.
  std::string text;

  // Accesses to memory.
  Space space = Space::Generic;
  uint32_t bytes = 0;
  uint32_t alignment = 1;
  bool reads = false;
  bool writes = false;
  /// Whether other threads may access the same bytes at the same time.
  bool isAtomic = false;

  // What lanes do together.
  Collective collective = Collective::None;
  Reduction reduction = Reduction::Add;
  /// 32-bit words that each lane gives and gets.
  uint32_t inputs = 0;
  uint32_t outputs = 0;
  MatrixShape matrix;
  bool isTransposed = false;

  // Barriers.
  BarrierKind barrier = BarrierKind::Synchronize;
  bool isAligned = false;

  /// The number of the site in its kernel, for statistics.
  uint32_t number = 0;
};

/// Whether lanes at `left` and at `right` do the same thing.
inline bool isSameCollective(const Site &left, const Site &right) {
  return left.collective == right.collective &&
         left.reduction == right.reduction && left.inputs == right.inputs &&
         left.outputs == right.outputs &&
         left.isTransposed == right.isTransposed &&
         left.matrix.depth == right.matrix.depth &&
         left.matrix.a == right.matrix.a && left.matrix.b == right.matrix.b &&
         left.matrix.result == right.matrix.result;
}

} // namespace act::emulator

#endif // ACT_LIB_RUNTIME_EMULATOR_SITE_H
