//===- KernelCache.cpp - Kernels of linear attention ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Dialect/Act/IR/ActAttributes.h"
#include "act/Runtime/CPU/LinearAttention.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <map>
#include <mutex>
#include <set>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::runtime;

static FeatureMapAttrInterface getFeatureMap(MLIRContext *context,
                                             StringRef name) {
  for (FeatureMapAttrInterface map :
       {FeatureMapAttrInterface(IdentityAttr::get(context)),
        FeatureMapAttrInterface(ReluAttr::get(context)),
        FeatureMapAttrInterface(EluPlusOneAttr::get(context)),
        FeatureMapAttrInterface(SquareAttr::get(context)),
        FeatureMapAttrInterface(ExpAttr::get(context)),
        FeatureMapAttrInterface(FavorPlusAttr::get(context))})
    if (map.getName() == name)
      return map;
  return {};
}

static FloatType getElementType(MLIRContext *context, ActElementType type) {
  switch (type) {
  case ActElementTypeF32:
    return Float32Type::get(context);
  case ActElementTypeF16:
    return Float16Type::get(context);
  case ActElementTypeBF16:
    return BFloat16Type::get(context);
  case ActElementTypeF64:
    return Float64Type::get(context);
  }
  return {};
}

static LinearAttentionKernelOptions
getOptions(LinearAttentionKernelKind kind,
           const ActLinearAttentionSignature &signature, MLIRContext *context) {
  LinearAttentionKernelOptions options;
  options.kind = kind;
  options.featureMap = getFeatureMap(context, signature.featureMap);
  options.inputType = getElementType(context, signature.elementType);
  options.features = signature.features;
  options.values = signature.values;
  options.scale = signature.scale;
  options.epsilon = signature.epsilon;
  options.normalize = signature.normalize;
  options.decay = static_cast<DecayKind>(signature.decay);
  options.chunk = signature.chunk;
  if (kind == LinearAttentionKernelKind::State)
    options.subtract = signature.subtract || signature.reverse;
  int64_t heads = std::max(
      {signature.queryHeads, signature.keyHeads, signature.valueHeads});
  options.accumulateQuery = kind == LinearAttentionKernelKind::QueryGrad &&
                            signature.queryHeads < heads;
  options.accumulateKey = kind == LinearAttentionKernelKind::KeyValueGrad &&
                          signature.keyHeads < heads;
  options.accumulateValue = kind == LinearAttentionKernelKind::KeyValueGrad &&
                            signature.valueHeads < heads;
  return options;
}

/// All that a kernel depends on, as text. Made without a context, which takes
/// longer to create than a short sequence takes to compute.
static std::string getKey(LinearAttentionKernelKind kind,
                          const ActLinearAttentionSignature &signature) {
  std::string key;
  llvm::raw_string_ostream stream(key);
  int64_t heads = std::max(
      {signature.queryHeads, signature.keyHeads, signature.valueHeads});
  stream << static_cast<int>(kind) << ' ' << signature.featureMap << ' '
         << static_cast<int>(signature.elementType) << ' ' << signature.features
         << ' ' << signature.values << ' ' << signature.normalize << ' '
         << static_cast<int>(signature.decay) << ' ' << signature.chunk << ' '
         << signature.subtract << signature.reverse
         << (signature.queryHeads < heads) << (signature.keyHeads < heads)
         << (signature.valueHeads < heads)
         << llvm::format(" %a %a", signature.scale, signature.epsilon);
  return key;
}

static llvm::Error verifyShape(ActLinearAttentionOperation operation,
                               const ActLinearAttentionSignature &signature) {
  auto fail = [](const llvm::Twine &message) {
    return llvm::createStringError(message);
  };
  if (signature.batch < 0 || signature.tokens < 0)
    return fail("expects a batch and tokens that are not negative, got " +
                llvm::Twine(signature.batch) + " and " +
                llvm::Twine(signature.tokens));
  int64_t states = std::max(signature.keyHeads, signature.valueHeads);
  bool hasQueries = operation != ActOperationState;
  int64_t heads = hasQueries ? std::max(signature.queryHeads, states) : states;
  for (auto [name, count] :
       {std::pair("query", hasQueries ? signature.queryHeads : heads),
        std::pair("key", signature.keyHeads),
        std::pair("value", signature.valueHeads)})
    if (count < 1 || heads % count != 0)
      return fail(llvm::Twine("expects a positive number of ") + name +
                  " heads that divides " + llvm::Twine(heads) + ", got " +
                  llvm::Twine(count));
  if (!std::isfinite(signature.scale) || !std::isfinite(signature.epsilon) ||
      signature.epsilon < 0)
    return fail("expects a finite scale, and an epsilon that is finite and not "
                "negative");
  if ((signature.subtract || signature.reverse) &&
      signature.decay != ActDecayNone)
    return fail("expects no decay where tokens are taken off a state");
  return llvm::Error::success();
}

/// Success if there are kernels of `kind`.
static llvm::Error verifyKernel(LinearAttentionKernelKind kind,
                                const ActLinearAttentionSignature &signature) {
  std::unique_ptr<MLIRContext> context = createKernelContext();
  LinearAttentionKernelOptions options =
      getOptions(kind, signature, context.get());
  if (!options.featureMap)
    return llvm::createStringError(
        llvm::Twine("expects the name of a feature map, got \"") +
        signature.featureMap + "\"");
  std::string reason;
  if (failed(isLinearAttentionKernelSupported(options, reason)))
    return llvm::createStringError(reason);
  return llvm::Error::success();
}

llvm::Error
runtime::verifySignature(ActLinearAttentionOperation operation,
                         const ActLinearAttentionSignature &signature) {
  if (llvm::Error error = verifyShape(operation, signature))
    return error;
  if (!signature.featureMap)
    return llvm::createStringError("expects the name of a feature map");
  if (operation == ActOperationGrad &&
      signature.elementType != ActElementTypeF32 &&
      (signature.queryHeads != signature.keyHeads ||
       signature.queryHeads != signature.valueHeads))
    return llvm::createStringError(
        "expects f32 gradients where heads share queries, keys or values");
  return llvm::Error::success();
}

llvm::Error
runtime::verifySupported(ActLinearAttentionOperation operation,
                         const ActLinearAttentionSignature &signature) {
  if (llvm::Error error = verifySignature(operation, signature))
    return error;
  return verifyKernel(LinearAttentionKernelKind::Forward, signature);
}

llvm::Error
runtime::verifySupportedOnce(ActLinearAttentionOperation operation,
                             const ActLinearAttentionSignature &signature) {
  static std::mutex mutex;
  static auto *supported = new std::set<std::string>;
  if (llvm::Error error = verifySignature(operation, signature))
    return error;
  std::string key = getKey(LinearAttentionKernelKind::Forward, signature);
  std::lock_guard<std::mutex> lock(mutex);
  if (supported->count(key))
    return llvm::Error::success();
  if (llvm::Error error =
          verifyKernel(LinearAttentionKernelKind::Forward, signature))
    return error;
  supported->insert(key);
  return llvm::Error::success();
}

llvm::Expected<const CompiledKernel *>
runtime::getKernel(LinearAttentionKernelKind kind,
                   const ActLinearAttentionSignature &signature) {
  static std::mutex mutex;
  static auto *kernels =
      new std::map<std::string, std::unique_ptr<CompiledKernel>>;
  std::string key = getKey(kind, signature);
  std::lock_guard<std::mutex> lock(mutex);
  auto found = kernels->find(key);
  if (found != kernels->end())
    return found->second.get();

  if (llvm::Error error = verifyKernel(kind, signature))
    return error;
  std::unique_ptr<MLIRContext> context = createKernelContext();
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(context.get()));
  constexpr StringRef name = "act_kernel";
  auto built = buildLinearAttentionKernel(
      *module, name, getOptions(kind, signature, context.get()),
      getHostVectorTarget());
  if (failed(built))
    return llvm::createStringError("cannot build the kernel");
  auto compiled = compileKernel(*module, name);
  if (!compiled)
    return compiled.takeError();
  (*compiled)->workspaceBytes = built->workspaceBytes;
  (*compiled)->chunk = built->chunk;
  return kernels->emplace(key, std::move(*compiled)).first->second.get();
}
