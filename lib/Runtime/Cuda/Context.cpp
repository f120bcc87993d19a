//===- Context.cpp - A device and what steps need of it ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"

using namespace act::gpu;

std::string &act::gpu::getThreadError() {
  thread_local std::string error;
  return error;
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

bool Context::fail(const std::string &message) {
  getThreadError() = message;
  if (!failed) {
    error = message;
    failed = true;
  }
  return false;
}

bool Context::check(Result result, const std::string &what) {
  return result == success || fail(what + ": " + driver->describe(result));
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

int Context::getDeviceAttribute(int attribute) {
  int value = 0;
  check(driver->deviceGetAttribute(&value, attribute, device),
        "cannot read attribute " + std::to_string(attribute) +
            " of the device");
  return value;
}

bool Context::readDeviceInfo() {
  size_t bytes = 0;
  if (!check(driver->deviceGetName(info.name, sizeof(info.name), device),
             "cannot read the name of the device") ||
      !check(driver->deviceTotalMem(&bytes, device),
             "cannot read the size of the device's memory") ||
      !check(driver->driverGetVersion(&info.driver_version),
             "cannot read the version of the driver"))
    return false;
  info.name[sizeof(info.name) - 1] = 0;
  info.architecture =
      10 * getDeviceAttribute(computeMajor) + getDeviceAttribute(computeMinor);
  info.num_multiprocessors = getDeviceAttribute(numMultiprocessors);
  info.memory_bytes = int64_t(bytes);
  info.shared_bytes = getDeviceAttribute(maxSharedOptIn);
  return !failed;
}

bool Context::start(const char *library, int32_t number) {
  std::string message;
  driver = Driver::open(library, message);
  if (!driver)
    return fail(message);
  int count = 0;
  if (!check(driver->init(0), "cannot start '" + driver->getPath() + "'") ||
      !check(driver->deviceGetCount(&count), "cannot count devices"))
    return false;
  if (number < 0 || number >= count)
    return fail("expects a device below " + std::to_string(count) + ", got " +
                std::to_string(number));
  if (!check(driver->deviceGet(&device, number), "cannot open the device") ||
      !check(driver->primaryContextRetain(&context, device),
             "cannot use the device"))
    return false;
  CurrentContext current(*this);
  if (!check(driver->streamCreate(&ownStream, streamNonBlocking),
             "cannot create a stream"))
    return false;
  stream = ownStream;
  return readDeviceInfo();
}

Context::~Context() {
  if (!context)
    return;
  {
    CurrentContext current(*this);
    if (ownStream)
      driver->streamSynchronize(ownStream);
    if (stream != ownStream)
      driver->streamSynchronize(stream);
    dropTrace();
    if (timer)
      driver->eventDestroy(timer);
    for (auto &[image, loaded] : images)
      driver->moduleUnload(loaded.module);
    for (auto &[memory, bytes] : sizes)
      driver->memoryFree(memory);
    if (ownStream)
      driver->streamDestroy(ownStream);
  }
  driver->primaryContextRelease(device);
}

bool Context::synchronize() {
  return check(driver->streamSynchronize(stream), "the device failed");
}
