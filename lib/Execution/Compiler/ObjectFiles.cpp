//===- ObjectFiles.cpp - Object files of compiled steps ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Execution/ObjectFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Object/Archive.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::execution;

/// The linker, by the names it has where LLVM or a compiler is installed.
static llvm::Expected<std::string> findLinker() {
  for (StringRef name : {"ld.lld-22", "ld.lld", "ld"})
    if (llvm::ErrorOr<std::string> path = llvm::sys::findProgramByName(name))
      return *path;
  return llvm::createStringError(
      "expects ld.lld-22, ld.lld or ld on PATH, which makes one object file of "
      "several; without a linker, write an archive (FILE.a)");
}

/// Writes the members of `archive` to files in `folder`.
static llvm::Expected<std::vector<std::string>>
extractMembers(llvm::MemoryBufferRef archive, StringRef folder) {
  auto file = llvm::object::Archive::create(archive);
  if (!file)
    return file.takeError();
  std::vector<std::string> paths;
  llvm::Error error = llvm::Error::success();
  for (const llvm::object::Archive::Child &child : (*file)->children(error)) {
    auto buffer = child.getMemoryBufferRef();
    if (!buffer) {
      llvm::consumeError(std::move(error));
      return buffer.takeError();
    }
    SmallString<128> path(folder);
    llvm::sys::path::append(path, std::to_string(paths.size()) + ".o");
    paths.push_back(path.str().str());
    if (llvm::Error writing = llvm::writeToOutput(
            path, [&](llvm::raw_ostream &os) -> llvm::Error {
              os << buffer->getBuffer();
              return llvm::Error::success();
            })) {
      llvm::consumeError(std::move(error));
      return writing;
    }
  }
  if (error)
    return error;
  return paths;
}

/// Links the members of `archive` to one object file at `path`.
static llvm::Error linkMembers(llvm::MemoryBufferRef archive, StringRef path) {
  llvm::Expected<std::string> linker = findLinker();
  if (!linker)
    return linker.takeError();
  SmallString<128> folder;
  if (std::error_code code =
          llvm::sys::fs::createUniqueDirectory("act-step", folder))
    return llvm::createStringError("cannot make a temporary folder: " +
                                   code.message());
  llvm::scope_exit remove([&] { llvm::sys::fs::remove_directories(folder); });
  auto members = extractMembers(archive, folder);
  if (!members)
    return members.takeError();
  // Written beside the result, which is then replaced at once.
  std::string partial = (path + ".partial").str();
  SmallString<128> messages(folder);
  llvm::sys::path::append(messages, "messages");
  std::vector<StringRef> command = {*linker, "-r", "-o", partial};
  llvm::append_range(command, *members);
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(messages),
                                          StringRef(messages)};
  std::string failure;
  int status = llvm::sys::ExecuteAndWait(*linker, command, std::nullopt,
                                         redirects, 0, 0, &failure);
  if (status != 0) {
    llvm::sys::fs::remove(partial);
    auto text = llvm::MemoryBuffer::getFile(messages);
    return llvm::createStringError("cannot write '" + path + "': " + *linker +
                                   " failed: " + failure +
                                   (text ? (*text)->getBuffer() : ""));
  }
  if (std::error_code code = llvm::sys::fs::rename(partial, path))
    return llvm::createStringError("cannot write '" + path +
                                   "': " + code.message());
  return llvm::Error::success();
}

llvm::Error execution::writeObjectFile(llvm::MemoryBufferRef archive,
                                       StringRef path) {
  if (!path.ends_with(".a"))
    return linkMembers(archive, path);
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &os) -> llvm::Error {
    os << archive.getBuffer();
    return llvm::Error::success();
  });
}

std::string execution::getSymbolForFile(StringRef path) {
  std::string name = llvm::sys::path::stem(path).str();
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  if (name.empty() || llvm::isDigit(name.front()))
    name.insert(0, "step_");
  return name;
}
