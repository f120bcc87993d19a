//===- KernelArguments.h - What kernels are called with -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_CPU_KERNELARGUMENTS_H
#define ACT_RUNTIME_CPU_KERNELARGUMENTS_H

#include <array>
#include <cassert>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace mlir::act::runtime {

/// Rows of elements, `stride` elements apart.
struct Rows {
  void *data;
  int64_t count;
  int64_t columns;
  int64_t stride;
};

/// Single elements, one per row, `stride` elements apart.
struct Numbers {
  void *data;
  int64_t count;
  int64_t stride;
};

/// The arguments of one call, as CompiledKernel::call takes them.
class KernelArguments {
public:
  KernelArguments() = default;
  KernelArguments(const KernelArguments &) = delete;
  KernelArguments &operator=(const KernelArguments &) = delete;

  void addRows(const Rows &rows) {
    addMemRef(rows.data, {rows.count, rows.columns, rows.stride, 1});
  }
  void addMatrix(float *data, int64_t rows, int64_t columns) {
    addMemRef(data, {rows, columns, columns, 1});
  }
  void addNumbers(const Numbers &numbers) {
    addMemRef(numbers.data, {numbers.count, numbers.stride, 0, 0});
  }
  void addWorkspace(void *data, int64_t bytes) {
    addMemRef(data, {bytes, 1, 0, 0});
  }

  void **get() { return pointers.data(); }

private:
  /// A memref's descriptor: sizes, then strides. Its type has room for rank 2.
  struct Descriptor {
    void *allocated;
    void *aligned;
    int64_t offset;
    std::array<int64_t, 4> sizesAndStrides;
  };
  struct Argument {
    Descriptor descriptor;
    Descriptor *pointer;
  };

  static constexpr size_t maximum = 20;

  Argument &add() {
    assert(count < maximum && "too many arguments");
    return arguments[count++];
  }
  void addMemRef(void *data, std::array<int64_t, 4> sizesAndStrides) {
    Argument &argument = add();
    argument.descriptor = {data, data, 0, sizesAndStrides};
    argument.pointer = &argument.descriptor;
    pointers[count - 1] = &argument.pointer;
  }

  std::array<Argument, maximum> arguments;
  std::array<void *, maximum> pointers;
  size_t count = 0;
};

/// Memory for one kernel at a time on this thread, aligned to cache lines. It
/// stays with the thread: allocating it anew costs as much as a short sequence.
class Workspace {
public:
  explicit Workspace(int64_t bytes) {
    if (storage.bytes < bytes) {
      std::free(storage.data);
      storage.bytes = (bytes + 63) / 64 * 64;
      storage.data = static_cast<char *>(std::aligned_alloc(64, storage.bytes));
      if (!storage.data)
        std::abort();
    }
  }
  char *get() const { return storage.data; }

private:
  struct Storage {
    ~Storage() { std::free(data); }
    char *data = nullptr;
    int64_t bytes = 0;
  };
  static thread_local Storage storage;
};

} // namespace mlir::act::runtime

#endif // ACT_RUNTIME_CPU_KERNELARGUMENTS_H
