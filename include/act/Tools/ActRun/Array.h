//===- Array.h - Arguments and results of a step -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_TOOLS_ACTRUN_ARRAY_H
#define ACT_TOOLS_ACTRUN_ARRAY_H

#include "act/Execution/StepInfo.h"
#include "act/Execution/StepRunner.h"

namespace mlir::act::run {

using execution::ElementType;
using execution::ValueInfo;

/// A dense row-major array in host memory, aligned as arenas are.
class Array {
public:
  Array() = default;
  /// Not initialised. `data()` is null if there is no memory.
  Array(ElementType type, ArrayRef<int64_t> shape);

  ElementType getType() const { return type; }
  ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getNumElements() const { return ShapedType::getNumElements(shape); }
  int64_t getNumBytes() const {
    return getNumElements() * execution::getByteWidth(type);
  }
  std::string getTypeText() const { return execution::formatType(type, shape); }

  uint8_t *data() { return static_cast<uint8_t *>(bytes.get()); }
  const uint8_t *data() const {
    return static_cast<const uint8_t *>(bytes.get());
  }
  StringRef getBytes() const {
    return {reinterpret_cast<const char *>(data()),
            static_cast<size_t>(getNumBytes())};
  }

  /// Element `index` in row-major order. Integers beyond 2^53 are rounded.
  double getNumber(int64_t index) const;
  /// Writes a number, rounded to the nearest one of the type; integers wrap.
  void setNumber(int64_t index, double value);

private:
  ElementType type = ElementType::F32;
  SmallVector<int64_t> shape;
  execution::AlignedBytes bytes;
};

/// An array in a file.
struct NamedArray {
  std::string name;
  Array array;
};

/// One array for each of `values`, in their order. Arrays are called as the
/// value is, or `arr_N`, `arg_N` or `argument_N` (`arr_N`, `res_N`, `result_N`)
/// with the number N of the value. An error lists what is missing, what fits no
/// value, and what has another type or shape.
llvm::Expected<std::vector<Array>> matchArrays(ArrayRef<ValueInfo> values,
                                               std::vector<NamedArray> arrays,
                                               StringRef kind);

/// How messages call value `number`: "argument 3 ('weights')".
std::string describeValue(StringRef kind, size_t number,
                          const ValueInfo &value);

} // namespace mlir::act::run

#endif // ACT_TOOLS_ACTRUN_ARRAY_H
