//===- StepInfo.h - What a compiled step takes and returns -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_EXECUTION_STEPINFO_H
#define ACT_EXECUTION_STEPINFO_H

#include "act-c/StepInfo.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::act::execution {

/// Types of elements that steps take and return.
enum class ElementType : int32_t {
  Bool = ACT_STEP_BOOL,
  S8 = ACT_STEP_S8,
  S16 = ACT_STEP_S16,
  S32 = ACT_STEP_S32,
  S64 = ACT_STEP_S64,
  U8 = ACT_STEP_U8,
  U16 = ACT_STEP_U16,
  U32 = ACT_STEP_U32,
  U64 = ACT_STEP_U64,
  F16 = ACT_STEP_F16,
  BF16 = ACT_STEP_BF16,
  F32 = ACT_STEP_F32,
  F64 = ACT_STEP_F64,
  F8E4M3FN = ACT_STEP_F8E4M3FN,
  F8E5M2 = ACT_STEP_F8E5M2
};
constexpr int32_t numElementTypes = ACT_STEP_F8E5M2 + 1;

/// The name that StableHLO has for a type, such as "ui32".
StringRef getName(ElementType type);
int64_t getByteWidth(ElementType type);
bool isFloat(ElementType type);
/// Nothing if steps cannot take `type`.
std::optional<ElementType> getElementType(Type type);

/// An argument or a result.
struct ValueInfo {
  std::string name;
  ElementType type;
  SmallVector<int64_t> shape;

  int64_t getNumElements() const;
  int64_t getNumBytes() const { return getNumElements() * getByteWidth(type); }
  /// Such as "4x3xui32".
  std::string getTypeText() const;
};

/// `type` and `shape` as in ValueInfo::getTypeText.
std::string formatType(ElementType type, ArrayRef<int64_t> shape);

/// What the attribute `act.step` of a lowered module says.
struct StepInfo {
  std::string name;
  SmallVector<ValueInfo> arguments;
  SmallVector<ValueInfo> results;
  int64_t arenaBytes = 0;
  int64_t boundBytes = 0;
  int64_t kernels = 0;
};

/// The attribute of a module that is lowered to the LLVM dialect.
constexpr StringRef stepAttributeName = "act.step";

/// Reads the attribute; a diagnostic says what is wrong with it.
FailureOr<StepInfo> readStepInfo(ModuleOp module);

/// The same from the table in an object file.
StepInfo readStepInfo(const act_step_info &table);

} // namespace mlir::act::execution

#endif // ACT_EXECUTION_STEPINFO_H
