//===- Codec.cpp - Encoding and decoding by kernels -----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Runtime/CPU/Codec.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <map>
#include <mutex>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::runtime;

namespace {
/// Keeps the first error reported while it lives.
class ErrorCollector {
public:
  explicit ErrorCollector(MLIRContext *context)
      : handler(context, [this](Diagnostic &diagnostic) {
          if (message.empty() &&
              diagnostic.getSeverity() == DiagnosticSeverity::Error)
            message = diagnostic.str();
          return success();
        }) {}

  llvm::Error take(const Twine &what) const {
    return llvm::createStringError(what +
                                   (message.empty() ? "" : ": " + message));
  }
  InFlightDiagnostic emit(MLIRContext *context) const {
    return mlir::emitError(UnknownLoc::get(context));
  }

private:
  std::string message;
  ScopedDiagnosticHandler handler;
};
} // namespace

/// Compiles a kernel in a context of its own.
static llvm::Expected<CodecKernel>
compileCodecKernel(CodecDirection direction,
                   const ActCodecSignature &signature) {
  std::unique_ptr<MLIRContext> context = createKernelContext();
  ErrorCollector errors(context.get());
  auto encoding = dyn_cast_or_null<EncodingAttrInterface>(
      parseAttribute(signature.encoding, context.get()));
  if (!encoding)
    return errors.take(Twine("expects an encoding of the act dialect, got ") +
                       signature.encoding);
  auto type = dyn_cast_or_null<RankedTensorType>(
      parseType(signature.type, context.get()));
  if (!type)
    return errors.take(Twine("expects a ranked tensor type, got ") +
                       signature.type);
  if (failed(encoding.verifyAppliesTo(
          type, [&] { return errors.emit(context.get()); })))
    return errors.take("expects a tensor that the encoding applies to");

  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(context.get()));
  constexpr StringRef name = "act_codec";
  auto units = buildCodecKernel(*module, name, direction, encoding, type,
                                getHostVectorTarget());
  if (failed(units))
    return errors.take("cannot build the kernel");
  auto compiled = compileKernel(*module, name);
  if (!compiled)
    return compiled.takeError();
  return CodecKernel{
      std::move(*compiled), *units, encoding.getStorageTypes(type).size(),
      direction == CodecDirection::Encode && encoding.usesSalt()};
}

llvm::Expected<const CodecKernel *>
runtime::getCodecKernel(CodecDirection direction,
                        const ActCodecSignature &signature) {
  static std::mutex mutex;
  static auto *kernels = new std::map<std::string, CodecKernel>;
  if (!signature.encoding || !signature.type)
    return llvm::createStringError(
        "expects the encoding and the type of a tensor");
  std::string key = direction == CodecDirection::Encode ? "encode " : "decode ";
  key += signature.encoding;
  key += " : ";
  key += signature.type;
  std::lock_guard<std::mutex> lock(mutex);
  auto found = kernels->find(key);
  if (found != kernels->end())
    return &found->second;
  auto compiled = compileCodecKernel(direction, signature);
  if (!compiled)
    return compiled.takeError();
  return &kernels->emplace(key, std::move(*compiled)).first->second;
}

/// Calls `kernel` for the units `[begin, end)`.
static void callKernel(const CodecKernel &kernel, void *tensor, uint32_t salt,
                       void *const *storage, int64_t begin, int64_t end) {
  SmallVector<void *, 4> buffers{tensor};
  buffers.append(storage, storage + kernel.numParts);
  SmallVector<void *, 8> arguments;
  for (void *&buffer : buffers)
    arguments.push_back(&buffer);
  if (kernel.hasSalt)
    arguments.push_back(&salt);
  arguments.append({&begin, &end});
  kernel.function->call(arguments.data());
}

llvm::Error runtime::runCodec(CodecDirection direction,
                              const ActCodecSignature &signature, void *tensor,
                              uint32_t salt, void *const *storage,
                              Workers &workers) {
  auto kernel = getCodecKernel(direction, signature);
  if (!kernel)
    return kernel.takeError();
  // Several pieces per thread, none too short to be worth handing out.
  constexpr int64_t minimumElements = 1 << 15;
  const CodecUnits &units = (*kernel)->units;
  int64_t most = workers.getNumThreads() * 8;
  int64_t perPiece =
      std::max<int64_t>(llvm::divideCeil(minimumElements, units.elements),
                        llvm::divideCeil(units.units, most));
  // Kernels take 16 groups together.
  perPiece = llvm::alignTo(perPiece, 16);
  workers.run(llvm::divideCeil(units.units, perPiece), [&](int64_t piece) {
    int64_t begin = piece * perPiece;
    callKernel(**kernel, tensor, salt, storage, begin,
               std::min(begin + perPiece, units.units));
  });
  return llvm::Error::success();
}
