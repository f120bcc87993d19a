//===- Manifest.cpp - Kernels for other programs ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/GPUToBinary/Manifest.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::act;

gpu::ObjectAttr act::getPtxObject(gpu::BinaryOp binary) {
  for (auto object : binary.getObjects().getAsRange<gpu::ObjectAttr>())
    if (object.getFormat() == gpu::CompilationTarget::Assembly)
      return object;
  return {};
}

StringRef act::getChip(gpu::ObjectAttr object) {
  auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget());
  return target ? target.getChip() : "";
}

ArrayRef<Type> act::getParameterTypes(gpu::KernelMetadataAttr kernel) {
  if (auto type = dyn_cast<LLVM::LLVMFunctionType>(kernel.getFunctionType()))
    return type.getParams();
  if (auto type = dyn_cast<FunctionType>(kernel.getFunctionType()))
    return type.getInputs();
  return {};
}

bool act::isOrderDependent(gpu::KernelMetadataAttr kernel) {
  return kernel.getAttr("order_dependent") != nullptr;
}

/// "pointer", or the type of a number.
static std::string getKind(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return "pointer";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static void writeParameter(gpu::KernelMetadataAttr kernel, unsigned number,
                           Type type, llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("kind", getKind(type));
    // A pointer to memory of the device has the width of one of the host.
    json.attribute(
        "size", type.isIntOrFloat()
                    ? int64_t(llvm::divideCeil(type.getIntOrFloatBitWidth(), 8))
                    : 8);
    if (!isa<LLVM::LLVMPointerType>(type))
      return;
    auto alignment = dyn_cast_or_null<IntegerAttr>(
        kernel.getArgAttr(number, LLVM::LLVMDialect::getAlignAttrName()));
    json.attribute("alignment", alignment ? alignment.getInt() : 1);
    json.attribute(
        "read_only",
        kernel.getArgAttr(number, LLVM::LLVMDialect::getReadonlyAttrName()) !=
            nullptr);
    if (auto bytes = dyn_cast_or_null<IntegerAttr>(kernel.getArgAttr(
            number, LLVM::LLVMDialect::getDereferenceableAttrName())))
      json.attribute("bytes", bytes.getInt());
  });
}

static void writeSizes(gpu::KernelMetadataAttr kernel, StringRef key,
                       llvm::json::OStream &json) {
  auto sizes = kernel.getAttr<DenseI32ArrayAttr>(key);
  if (!sizes)
    return;
  json.attributeArray(key, [&] {
    for (int32_t size : sizes.asArrayRef())
      json.value(size);
  });
}

static void writeKernel(gpu::KernelMetadataAttr kernel,
                        llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("name", kernel.getName().getValue());
    json.attributeArray("parameters", [&] {
      for (auto [number, parameter] :
           llvm::enumerate(getParameterTypes(kernel)))
        writeParameter(kernel, number, parameter, json);
    });
    writeSizes(kernel, "grid", json);
    writeSizes(kernel, "block", json);
    for (StringRef key : {"dynamic_shared_bytes", "static_shared_bytes"}) {
      auto bytes = kernel.getAttr<IntegerAttr>(key);
      json.attribute(key, bytes ? bytes.getInt() : 0);
    }
    json.attribute("order_dependent", isOrderDependent(kernel));
    auto chips = kernel.getAttr<DictionaryAttr>("resources");
    if (!chips)
      return;
    json.attributeObject("resources", [&] {
      for (NamedAttribute chip : chips)
        json.attributeObject(chip.getName(), [&] {
          for (NamedAttribute figure : cast<DictionaryAttr>(chip.getValue()))
            json.attribute(figure.getName(),
                           cast<IntegerAttr>(figure.getValue()).getInt());
        });
    });
  });
}

void act::writeManifest(gpu::BinaryOp binary, llvm::raw_ostream &os) {
  gpu::ObjectAttr object = getPtxObject(binary);
  llvm::json::OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("version", 1);
    json.attribute("module", binary.getName());
    json.attribute("chip", object ? getChip(object) : "");
    json.attributeArray("kernels", [&] {
      if (object && object.getKernels())
        for (gpu::KernelMetadataAttr kernel : object.getKernels())
          writeKernel(kernel, json);
    });
  });
  os << "\n";
}
