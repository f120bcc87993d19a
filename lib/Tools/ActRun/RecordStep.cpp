//===- RecordStep.cpp - What a step does to memory ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordStep.h"
#include "act-c/GpuRuntime.h"
#include "act/Conversion/GPUToBinary/Manifest.h"
#include "act/Execution/StepInfo.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include <cstring>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::run;

namespace {
/// An argument, a result or the arena.
struct Buffer {
  StringRef kind;
  const act_step_value *value = nullptr;
  int64_t bytes = 0;
  char *device = nullptr;
  /// What the device had after the launch before.
  std::vector<char> content;
};

/// Executes a step and writes down what its launches do.
class Recorder {
public:
  Recorder(gpu::KernelTableAttr kernels, void *context, std::string &expected)
      : kernels(kernels), context(context), expected(expected) {}

  llvm::Error run(const act_step_info &step, ArrayRef<const void *> arguments,
                  llvm::raw_ostream &os);

private:
  void addBuffer(StringRef kind, const act_step_value *value, int64_t bytes,
                 const void *content);
  void writeBuffers(llvm::json::OStream &json) const;
  void recordLaunch(const act_gpu_image &image, int32_t index,
                    void *const *parameters);
  void writeParameters(StringRef name, void *const *parameters);
  void writeChanges();

  gpu::KernelTableAttr kernels;
  void *context;
  /// What launches write, one after the other.
  std::string &expected;
  std::vector<Buffer> buffers;
  llvm::json::OStream *json = nullptr;
  std::string problem;
};
} // namespace

void Recorder::addBuffer(StringRef kind, const act_step_value *value,
                         int64_t bytes, const void *content) {
  Buffer buffer{kind, value, bytes, nullptr, std::vector<char>(bytes)};
  buffer.device = static_cast<char *>(act_gpu_allocate(context, bytes));
  if (content)
    std::memcpy(buffer.content.data(), content, bytes);
  buffers.push_back(std::move(buffer));
  act_gpu_copy_in(context, buffers.back().device, buffers.back().content.data(),
                  bytes);
}

void Recorder::writeBuffers(llvm::json::OStream &json) const {
  for (const Buffer &buffer : buffers)
    json.object([&] {
      json.attribute("kind", buffer.kind);
      json.attribute("bytes", buffer.bytes);
      if (!buffer.value)
        return;
      json.attribute("name", buffer.value->name);
      json.attribute(
          "type", execution::getName(
                      static_cast<execution::ElementType>(buffer.value->type)));
    });
}

void Recorder::writeParameters(StringRef name, void *const *parameters) {
  gpu::KernelMetadataAttr kernel = kernels.lookup(name);
  if (!kernel) {
    problem = ("the kernel '" + name + "' is not in the manifest").str();
    return;
  }
  ArrayRef<Type> types = getParameterTypes(kernel);
  for (size_t number = 0; number < types.size(); ++number) {
    Type parameter = types[number];
    const void *value = parameters[number];
    if (isa<LLVM::LLVMPointerType>(parameter)) {
      const char *address = *static_cast<char *const *>(value);
      // An empty buffer has no address of its own.
      auto found = llvm::find_if(buffers, [&](const Buffer &buffer) {
        return address >= buffer.device &&
               address < buffer.device + std::max<int64_t>(buffer.bytes, 1);
      });
      if (found == buffers.end()) {
        problem = ("parameter " + Twine(number) + " of the kernel '" + name +
                   "' points to no buffer of the step")
                      .str();
        return;
      }
      json->object([&] {
        json->attribute("buffer", found - buffers.begin());
        json->attribute("offset", address - found->device);
      });
    } else if (parameter.isF32()) {
      json->value(static_cast<double>(*static_cast<const float *>(value)));
    } else if (parameter.isF64()) {
      json->value(*static_cast<const double *>(value));
    } else {
      int64_t integer = 0;
      std::memcpy(&integer, value, (parameter.getIntOrFloatBitWidth() + 7) / 8);
      json->value(integer);
    }
  }
}

/// Writes which bytes differ from what they were before.
void Recorder::writeChanges() {
  constexpr int64_t block = 64;
  std::vector<char> now;
  for (size_t number = 0; number < buffers.size(); ++number) {
    Buffer &buffer = buffers[number];
    if (buffer.kind == "argument")
      continue;
    now.resize(buffer.bytes);
    if (act_gpu_read(context, now.data(), buffer.device, buffer.bytes) != 0)
      return;
    auto differs = [&](int64_t begin) {
      return std::memcmp(now.data() + begin, buffer.content.data() + begin,
                         std::min(block, buffer.bytes - begin)) != 0;
    };
    for (int64_t begin = 0; begin < buffer.bytes; begin += block) {
      if (!differs(begin))
        continue;
      int64_t end = begin;
      while (end < buffer.bytes && differs(end))
        end += block;
      end = std::min(end, buffer.bytes);
      json->array([&] {
        json->value(number);
        json->value(begin);
        json->value(end - begin);
        json->value(expected.size());
      });
      expected.append(now.data() + begin, end - begin);
      begin = end;
    }
    buffer.content = now;
  }
}

void Recorder::recordLaunch(const act_gpu_image &image, int32_t index,
                            void *const *parameters) {
  StringRef name = image.kernels[index].name;
  json->object([&] {
    json->attribute("kernel", name);
    json->attributeArray("parameters",
                         [&] { writeParameters(name, parameters); });
    json->attributeArray("changes", [&] { writeChanges(); });
  });
}

llvm::Error Recorder::run(const act_step_info &step,
                          ArrayRef<const void *> arguments,
                          llvm::raw_ostream &os) {
  for (int32_t i = 0; i < step.num_arguments; ++i)
    addBuffer("argument", &step.arguments[i], step.arguments[i].bytes,
              arguments[i]);
  for (int32_t i = 0; i < step.num_results; ++i)
    addBuffer("result", &step.results[i], step.results[i].bytes, nullptr);
  addBuffer("arena", nullptr, step.arena_bytes, nullptr);
  SmallVector<void *> addresses;
  for (const Buffer &buffer : buffers)
    addresses.push_back(buffer.device);
  llvm::json::OStream stream(os);
  json = &stream;
  act_gpu_set_launch_hook(
      context,
      [](void *user, const act_gpu_image *image, int32_t index,
         void *const *parameters) {
        static_cast<Recorder *>(user)->recordLaunch(*image, index, parameters);
      },
      this);
  stream.object([&] {
    stream.attribute("version", 1);
    stream.attribute("step", step.name);
    stream.attributeArray("buffers", [&] { writeBuffers(stream); });
    stream.attributeArray("launches", [&] {
      step.function(addresses.data(), addresses.data() + step.num_arguments,
                    addresses.back(), context);
    });
  });
  act_gpu_set_launch_hook(context, nullptr, nullptr);
  if (const char *message = act_gpu_context_error(context))
    return llvm::createStringError(message);
  if (!problem.empty())
    return llvm::createStringError(problem);
  return llvm::Error::success();
}

llvm::Error run::recordStep(ModuleOp module, const act_step_info &step,
                            ArrayRef<const void *> arguments, StringRef driver,
                            StringRef folder) {
  SmallVector<gpu::BinaryOp> binaries(module.getOps<gpu::BinaryOp>());
  gpu::ObjectAttr ptx =
      binaries.size() == 1 ? getPtxObject(binaries[0]) : gpu::ObjectAttr();
  if (!ptx)
    return llvm::createStringError("expects one module of kernels");
  if (std::error_code error = llvm::sys::fs::create_directories(folder))
    return llvm::createStringError("cannot create '" + folder +
                                   "': " + error.message());
  void *context = act_gpu_context_create(driver.str().c_str(), /*device=*/0);
  if (!context)
    return llvm::createStringError(act_gpu_last_error());
  llvm::scope_exit destroy([&] { act_gpu_context_destroy(context); });
  std::string launches, expected;
  llvm::raw_string_ostream stream(launches);
  if (llvm::Error error = Recorder(ptx.getKernels(), context, expected)
                              .run(step, arguments, stream))
    return error;
  auto write = [&](StringRef name,
                   function_ref<void(llvm::raw_ostream &)> content) {
    SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    return llvm::writeToOutput(path, [&](llvm::raw_ostream &os) -> llvm::Error {
      content(os);
      return llvm::Error::success();
    });
  };
  llvm::Error error = write("kernels.ptx", [&](llvm::raw_ostream &os) {
    os << ptx.getObject().getValue();
  });
  auto add = [&](StringRef name,
                 function_ref<void(llvm::raw_ostream &)> content) {
    error = llvm::joinErrors(std::move(error), write(name, content));
  };
  add("manifest.json",
      [&](llvm::raw_ostream &os) { writeManifest(binaries[0], os); });
  add("launches.json", [&](llvm::raw_ostream &os) { os << launches << "\n"; });
  add("expected.bin", [&](llvm::raw_ostream &os) { os << expected; });
  add("arguments.bin", [&](llvm::raw_ostream &os) {
    for (int32_t i = 0; i < step.num_arguments; ++i)
      os.write(static_cast<const char *>(arguments[i]),
               step.arguments[i].bytes);
  });
  return error;
}
