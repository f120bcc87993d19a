//===- LoadedStep.cpp - A compiled step in this process ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Execution/LoadedStep.h"
#include "act-c/GpuRuntime.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/Core.h"
#include "llvm/ExecutionEngine/Orc/MapperJITLinkMemoryManager.h"
#include "llvm/ExecutionEngine/Orc/MemoryMapper.h"
#include "llvm/ExecutionEngine/Orc/ObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/Orc/SelfExecutorProcessControl.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/MathExtras.h"
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::execution;
namespace orc = llvm::orc;

//===----------------------------------------------------------------------===//
// Object files
//===----------------------------------------------------------------------===//

/// The object files in `code`, which is one or an archive.
static llvm::Expected<SmallVector<llvm::MemoryBufferRef>>
getObjects(llvm::MemoryBufferRef code) {
  llvm::file_magic magic = llvm::identify_magic(code.getBuffer());
  if (magic == llvm::file_magic::elf_relocatable)
    return SmallVector<llvm::MemoryBufferRef>{code};
  if (magic != llvm::file_magic::archive)
    return llvm::createStringError(
        "expects an object file or an archive of object files");
  auto archive = llvm::object::Archive::create(code);
  if (!archive)
    return archive.takeError();
  SmallVector<llvm::MemoryBufferRef> objects;
  llvm::Error error = llvm::Error::success();
  for (const llvm::object::Archive::Child &child :
       (*archive)->children(error)) {
    auto object = child.getMemoryBufferRef();
    if (!object) {
      llvm::consumeError(std::move(error));
      return object.takeError();
    }
    objects.push_back(*object);
  }
  if (error)
    return error;
  return objects;
}

/// Adds the symbols that `object` defines, and those it only refers to.
static llvm::Error collectSymbols(llvm::MemoryBufferRef object,
                                  llvm::StringSet<> &defined,
                                  llvm::SetVector<StringRef> &referred) {
  using llvm::object::SymbolRef;
  auto file = llvm::object::ObjectFile::createObjectFile(object);
  if (!file)
    return file.takeError();
  for (const SymbolRef &symbol : (*file)->symbols()) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    if (!flags)
      return flags.takeError();
    llvm::Expected<StringRef> name = symbol.getName();
    if (!name)
      return name.takeError();
    if (name->empty() || *name == "_GLOBAL_OFFSET_TABLE_")
      continue;
    // Names lie in the buffer, which outlives the file.
    if (*flags & SymbolRef::SF_Undefined)
      referred.insert(*name);
    else if (*flags & SymbolRef::SF_Global)
      defined.insert(*name);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Symbols of this process
//===----------------------------------------------------------------------===//

/// The handle of the library that `address` is in. It may be a library that
/// another one loaded for itself, as Python does it, whose functions cannot be
/// found by name alone.
static void *getLibrary(void *address) {
  Dl_info info;
  return dladdr(address, &info)
             ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD)
             : nullptr;
}

/// The address of a function that compiled steps may call, null if there is
/// none.
static void *findFunction(StringRef name) {
  static void *const runtimes[] = {
      getLibrary(reinterpret_cast<void *>(&act_cpu_launch)),
      getLibrary(reinterpret_cast<void *>(&act_gpu_launch))};
  std::string text = name.str();
  for (void *library : runtimes)
    if (library)
      if (void *address = dlsym(library, text.c_str()))
        return address;
  return dlsym(RTLD_DEFAULT, text.c_str());
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

struct LoadedStep::Session {
  std::unique_ptr<orc::ExecutionSession> execution;
  std::unique_ptr<orc::ObjectLinkingLayer> linker;

  ~Session() {
    if (execution)
      llvm::cantFail(execution->endSession());
  }

  /// `bytes` is the size of all objects together.
  static llvm::Expected<std::unique_ptr<Session>> create(size_t bytes);
  llvm::Error link(ArrayRef<llvm::MemoryBufferRef> objects,
                   orc::JITDylib &library);
};

llvm::Expected<std::unique_ptr<LoadedStep::Session>>
LoadedStep::Session::create(size_t bytes) {
  auto process = orc::SelfExecutorProcessControl::Create();
  if (!process)
    return process.takeError();
  auto session = std::make_unique<Session>();
  session->execution =
      std::make_unique<orc::ExecutionSession>(std::move(*process));
  // One reservation for all objects: they refer to each other by 32 bits.
  constexpr size_t unit = 1 << 20;
  auto memory = orc::MapperJITLinkMemoryManager::CreateWithMapper<
      orc::InProcessMemoryMapper>(llvm::alignTo(4 * bytes + unit, unit));
  if (!memory)
    return memory.takeError();
  session->linker = std::make_unique<orc::ObjectLinkingLayer>(
      *session->execution, std::move(*memory));
  return session;
}

llvm::Error LoadedStep::Session::link(ArrayRef<llvm::MemoryBufferRef> objects,
                                      orc::JITDylib &library) {
  llvm::StringSet<> defined;
  llvm::SetVector<StringRef> referred;
  for (llvm::MemoryBufferRef object : objects)
    if (llvm::Error error = collectSymbols(object, defined, referred))
      return error;
  orc::SymbolMap symbols;
  SmallVector<StringRef> missing;
  for (StringRef name : referred) {
    if (defined.contains(name))
      continue;
    void *address = findFunction(name);
    if (!address)
      missing.push_back(name);
    symbols[execution->intern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                        llvm::JITSymbolFlags::Exported};
  }
  if (!missing.empty())
    return llvm::createStringError(
        "the step refers to what is neither in act's runtimes nor in the C "
        "library: " +
        llvm::join(missing, ", "));
  if (llvm::Error error = library.define(orc::absoluteSymbols(symbols)))
    return error;
  for (llvm::MemoryBufferRef object : objects)
    if (llvm::Error error =
            linker->add(library, llvm::MemoryBuffer::getMemBuffer(
                                     object, /*RequiresNullTerminator=*/false)))
      return error;
  return llvm::Error::success();
}

LoadedStep::LoadedStep(std::unique_ptr<Session> session,
                       const act_step_info *table)
    : session(std::move(session)), table(table), info(readStepInfo(*table)) {}

LoadedStep::~LoadedStep() = default;

llvm::Expected<std::unique_ptr<LoadedStep>>
LoadedStep::load(llvm::MemoryBufferRef code, StringRef symbol) {
  auto objects = getObjects(code);
  if (!objects)
    return objects.takeError();
  auto session = Session::create(code.getBufferSize());
  if (!session)
    return session.takeError();
  orc::ExecutionSession &execution = *(*session)->execution;
  orc::JITDylib &library = execution.createBareJITDylib("step");
  if (llvm::Error error = (*session)->link(*objects, library))
    return error;
  // What the linker would report goes into the error.
  execution.setErrorReporter(llvm::consumeError);
  auto found = execution.lookup({&library}, (symbol + "_info").str());
  if (!found)
    return llvm::joinErrors(
        llvm::createStringError("cannot load the step '" + symbol + "'"),
        found.takeError());
  auto *table = found->getAddress().toPtr<const act_step_info *>();
  if (table->version != ACT_STEP_INFO_VERSION)
    return llvm::createStringError(
        "expects a step with a table of version " +
        llvm::Twine(int(ACT_STEP_INFO_VERSION)) + ", got version " +
        llvm::Twine(table->version) + ": compile it again");
  return std::unique_ptr<LoadedStep>(
      new LoadedStep(std::move(*session), table));
}
