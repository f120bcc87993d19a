//===- KernelBuilder.h - Building kernels for GPUs -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_CONVERSION_KERNELSTOGPU_KERNELBUILDER_H
#define ACT_CONVERSION_KERNELSTOGPU_KERNELBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::act {

/// Address spaces of pointers.
enum class GpuMemory : unsigned { Global = 1, Shared = 3 };

/// Threads of a warp.
constexpr int64_t warpThreads = 32;
/// Bytes of shared memory that a kernel may have without asking for more at its
/// launch.
constexpr int64_t mostStaticSharedBytes = 48 * 1024;

/// A parameter of a kernel: a pointer to global memory, or a scalar.
struct GpuParameter {
  GpuParameter(Type type = {}, bool readOnly = false, int64_t alignment = 1)
      : type(type), readOnly(readOnly), alignment(alignment) {}

  Type type;
  /// The kernel only reads what the pointer leads to, and nothing writes it
  /// meanwhile: loads may go through the read-only path.
  bool readOnly;
  /// Known alignment of a pointer in bytes.
  int64_t alignment;
  /// Not empty for a pointer into this global variable of the module. What is
  /// passed is the number of bytes, i64, by which it is behind the start.
  std::string global;
};

/// A kernel with the extents it is launched with, which are constants.
struct GpuKernel {
  gpu::GPUFuncOp function;
  std::array<int64_t, 3> grid = {1, 1, 1};
  int64_t threads = 1;
  /// Dynamic shared memory to be asked for at the launch.
  int64_t dynamicSharedBytes = 0;
};

/// Builds one kernel: `gpu.func` over pointers, launched as blocks of `threads`
/// threads in one dimension. Positions of threads are i32. Offsets of elements
/// are i32 or i64; addresses are computed in 64 bits.
class GpuKernelBuilder {
public:
  GpuKernelBuilder(gpu::GPUModuleOp module, Location loc, StringRef name,
                   ArrayRef<GpuParameter> parameters, int64_t threads);

  /// At the end of the kernel's body, unless someone moved it.
  ImplicitLocOpBuilder &getBuilder() { return b; }
  gpu::GPUFuncOp getFunction() { return function; }
  int64_t getNumThreads() const { return threads; }
  /// A multiprocessor should run `blocks` blocks at once: bounds the registers.
  void setBlocksPerMultiprocessor(int64_t blocks);
  /// Changes the number of threads of a block, which nothing has used yet.
  void setNumThreads(int64_t count);
  Value getParameter(unsigned number) { return values[number]; }

  //===--------------------------------------------------------------------===//
  // Positions and constants, i32
  //===--------------------------------------------------------------------===//

  /// In the block, and of the block in the grid.
  Value getThread();
  Value getBlock(gpu::Dimension dimension = gpu::Dimension::x);
  /// Of the thread in its warp, and of the warp in the block.
  Value getLane();
  Value getWarp();
  Value i32(int64_t value);
  Value i64(int64_t value);
  /// A constant of the integer type of `like`.
  Value intLike(Value like, int64_t value);
  /// Sign-extended or cut to 64 or 32 bits.
  Value toI64(Value value);
  Value toI32(Value value);

  //===--------------------------------------------------------------------===//
  // Memory
  //===--------------------------------------------------------------------===//

  LLVM::LLVMPointerType getPointerType(GpuMemory memory);
  /// `bytes` of shared memory, the same for all threads of a block, aligned to
  /// 16; a pointer to shared memory. All such memory of a kernel together is
  /// static if it fits there, else dynamic.
  Value allocateShared(int64_t bytes);
  /// The address `offset` elements of `elementType` behind `pointer`.
  Value getAddress(Value pointer, Type elementType, Value offset);
  /// A scalar or a vector (of at most 16 bytes to be one access) at `address`,
  /// aligned to `alignment` bytes, of a vector to its size if 0.
  Value load(Type type, Value address, int64_t alignment = 0);
  void store(Value value, Value address, int64_t alignment = 0);

  //===--------------------------------------------------------------------===//
  // Threads together
  //===--------------------------------------------------------------------===//

  /// All threads of the block wait; what they wrote is visible to all.
  void barrier();
  /// The same for the threads of a warp.
  void warpBarrier();
  /// What the thread whose number differs from this one's in the bits of `mask`
  /// has for `value`, a scalar of 16, 32 or 64 bits.
  Value shuffleXor(Value value, int64_t mask);
  /// What thread `lane` of the warp has.
  Value shuffle(Value value, Value lane);

  /// Ends the kernel. Its builder must be at the end of the body.
  GpuKernel finish(std::array<int64_t, 3> grid);

private:
  gpu::GPUModuleOp module;
  ImplicitLocOpBuilder b;
  gpu::GPUFuncOp function;
  SmallVector<Value> values; // of parameters
  int64_t threads;
  int64_t sharedBytes = 0;
  /// The address of all shared memory; its constant offsets are added to it.
  LLVM::AddressOfOp sharedBase;
};

/// Threads that work together: a warp or a block, or one thread alone.
class ThreadGroup {
public:
  /// A block if `size` is that of the block, else a warp or, for 1, a thread.
  ThreadGroup(GpuKernelBuilder &kernel, int64_t size);

  int64_t getSize() const { return size; }
  bool isBlock() const { return block; }
  /// Groups of a block.
  int64_t getCount() const { return kernel.getNumThreads() / size; }
  /// Of the thread in the group, and of the group in the block; i32.
  Value getRank();
  Value getNumber();
  /// Waits for the threads of the group and makes visible what they wrote.
  void barrier();
  /// Combines one value of every thread to one that all threads have. Every
  /// thread of the group takes part. The order depends on nothing but the size.
  SmallVector<Value>
  reduce(ValueRange values,
         function_ref<Value(unsigned number, Value left, Value right)> combine);

private:
  GpuKernelBuilder &kernel;
  int64_t size;
  bool block;
  Value partials; // of warps
  int64_t partialBytes = 0;
};

} // namespace mlir::act

#endif // ACT_CONVERSION_KERNELSTOGPU_KERNELBUILDER_H
