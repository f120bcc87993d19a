//===- Device.h - The emulated device -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_TOOLS_ACTGPUEMULATE_DEVICE_H
#define ACT_LIB_TOOLS_ACTGPUEMULATE_DEVICE_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/Error.h"

namespace mlir::act::emulate {

/// Memory of the emulated device that is freed with the object.
class DeviceBuffer {
public:
  explicit DeviceBuffer(unsigned long long address) : address(address) {}
  DeviceBuffer(DeviceBuffer &&other) : address(other.address) {
    other.address = 0;
  }
  DeviceBuffer &operator=(DeviceBuffer &&) = delete;
  ~DeviceBuffer();

  static llvm::Expected<DeviceBuffer> allocate(size_t bytes);
  llvm::Error write(ArrayRef<uint8_t> bytes);
  llvm::Error read(MutableArrayRef<uint8_t> bytes) const;
  /// A parameter of a kernel is a pointer to the address.
  void *getParameter() { return &address; }

private:
  unsigned long long address;
};

/// An error with the text that the emulator stored, if `result` is one.
llvm::Error toError(int result);
llvm::Error startDevice(StringRef configuration);
llvm::Error configureDevice(StringRef configuration);
llvm::Expected<void *> loadModule(StringRef image);
llvm::Expected<void *> findKernel(void *module, StringRef name);
llvm::Error launchKernel(void *kernel, const unsigned (&grid)[3],
                         const unsigned (&block)[3], unsigned sharedBytes,
                         MutableArrayRef<void *> parameters);

} // namespace mlir::act::emulate

#endif // ACT_LIB_TOOLS_ACTGPUEMULATE_DEVICE_H
