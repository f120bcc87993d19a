//===- CudaToolkit.cpp - ptxas and fatbinary ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Conversion/GPUToBinary/CudaToolkit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::act;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

static std::string joinPath(const Twine &folder, const Twine &a,
                            const Twine &b = "", const Twine &c = "") {
  SmallString<128> joined;
  folder.toVector(joined);
  path::append(joined, a, b, c);
  return joined.str().str();
}

/// Whether ptxas is in the folder `programs`.
static bool hasPrograms(StringRef programs) {
  return fs::can_execute(joinPath(programs, "ptxas"));
}

/// The folder of programs that nvidia-cuda-nvcc has in the virtual environment
/// `environment`, empty if there is none. It is called differently for each
/// major version of CUDA.
static std::string findInEnvironment(StringRef environment) {
  SmallVector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator python(joinPath(environment, "lib"), error), end;
       python != end && !error; python.increment(error)) {
    std::error_code none;
    for (fs::directory_iterator
             package(joinPath(python->path(), "site-packages", "nvidia"), none),
         last;
         package != last && !none; package.increment(none))
      if (hasPrograms(joinPath(package->path(), "bin")))
        found.push_back(joinPath(package->path(), "bin"));
  }
  return found.empty() ? "" : *llvm::max_element(found);
}

/// The virtual environment beside the build folder that this program is in.
static std::string getProjectEnvironment() {
  static int symbol;
  std::string program = fs::getMainExecutable("", &symbol);
  StringRef root =
      path::parent_path(path::parent_path(path::parent_path(program)));
  return joinPath(root, ".venv");
}

static std::string findPrograms() {
  for (const char *variable : {"CUDA_HOME", "CUDA_ROOT", "CUDA_PATH"})
    if (std::optional<std::string> folder =
            llvm::sys::Process::GetEnv(variable))
      if (hasPrograms(joinPath(*folder, "bin")))
        return joinPath(*folder, "bin");
  if (auto program = llvm::sys::findProgramByName("ptxas"))
    return path::parent_path(*program).str();
  if (hasPrograms("/usr/local/cuda/bin"))
    return "/usr/local/cuda/bin";
  std::string active = llvm::sys::Process::GetEnv("VIRTUAL_ENV").value_or("");
  for (const std::string &environment : {active, getProjectEnvironment()})
    if (!environment.empty())
      if (std::string programs = findInEnvironment(environment);
          !programs.empty())
        return programs;
  return "";
}

llvm::Expected<CudaToolkit> CudaToolkit::find(StringRef folder) {
  if (!folder.empty()) {
    if (std::string programs = joinPath(folder, "bin"); hasPrograms(programs))
      return CudaToolkit(programs);
    return llvm::createStringError(
        "expects a CUDA toolkit with bin/ptxas in '" + folder + "'");
  }
  if (std::string programs = findPrograms(); !programs.empty())
    return CudaToolkit(programs);
  return llvm::createStringError(
      "there is no ptxas: set CUDA_HOME, or install the PyPI package "
      "nvidia-cuda-nvcc; PTX (format=ptx) needs none");
}

//===----------------------------------------------------------------------===//
// Executing
//===----------------------------------------------------------------------===//

namespace {
/// A file that is there as long as the object.
class TemporaryFile {
public:
  static llvm::Expected<TemporaryFile> create(StringRef extension,
                                              StringRef content = "") {
    SmallString<128> path;
    int descriptor;
    if (std::error_code error =
            fs::createTemporaryFile("act-kernels", extension, descriptor, path))
      return llvm::createStringError("cannot write a temporary file: " +
                                     error.message());
    TemporaryFile file(path);
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << content;
    stream.close();
    if (!stream.has_error())
      return file;
    std::string message = stream.error().message();
    stream.clear_error();
    return llvm::createStringError("cannot write '" + path + "': " + message);
  }

  StringRef getPath() const { return path; }
  llvm::Expected<std::string> read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false);
    if (!buffer)
      return llvm::createStringError("cannot read '" + path +
                                     "': " + buffer.getError().message());
    return (*buffer)->getBuffer().str();
  }

private:
  explicit TemporaryFile(StringRef path)
      : path(path.str()), remover(std::make_unique<llvm::FileRemover>(path)) {}

  std::string path;
  std::unique_ptr<llvm::FileRemover> remover;
};
} // namespace

/// Executes a program and returns what it prints, which is the error if it
/// fails.
static llvm::Expected<std::string> execute(StringRef program,
                                           ArrayRef<StringRef> arguments) {
  llvm::Expected<TemporaryFile> output = TemporaryFile::create("txt");
  if (!output)
    return output.takeError();
  SmallVector<StringRef> line = {program};
  llvm::append_range(line, arguments);
  std::optional<StringRef> redirects[] = {StringRef(), output->getPath(),
                                          output->getPath()};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(program, line, std::nullopt, redirects,
                                         0, 0, &message);
  llvm::Expected<std::string> text = output->read();
  if (!text)
    return text.takeError();
  if (status == 0)
    return text;
  std::string reason = StringRef(*text).trim().str();
  return llvm::createStringError(
      path::filename(program) + " fails: " +
      (reason.empty()
           ? message.empty() ? "status " + std::to_string(status) : message
           : reason));
}

//===----------------------------------------------------------------------===//
// ptxas
//===----------------------------------------------------------------------===//

/// The number before `unit` in `line`, 0 if there is none.
static int64_t getNumberBefore(StringRef line, StringRef unit) {
  StringRef before = line.take_front(line.find(unit)).rtrim();
  if (before.size() == line.size())
    return 0;
  int64_t number = 0;
  before.take_back(before.size() - before.find_last_not_of("0123456789") - 1)
      .getAsInteger(10, number);
  return number;
}

/// Reads what `ptxas -v` says.
static llvm::StringMap<KernelResources> parseResources(StringRef text) {
  llvm::StringMap<KernelResources> kernels;
  KernelResources *current = nullptr;
  for (StringRef line : llvm::split(text, '\n')) {
    if (StringRef rest = line.split("Compiling entry function '").second;
        !rest.empty())
      current = &kernels[rest.split('\'').first];
    if (!current)
      continue;
    current->stackBytes += getNumberBefore(line, " bytes stack frame");
    current->spillBytes += getNumberBefore(line, " bytes spill stores") +
                           getNumberBefore(line, " bytes spill loads");
    current->registers =
        std::max(current->registers, getNumberBefore(line, " registers"));
  }
  return kernels;
}

/// The kernel that line `number` of `ptx` is in, empty if it is in none.
static StringRef getKernelAtLine(StringRef ptx, size_t number) {
  StringRef kernel;
  for (size_t i = 0; i < number && !ptx.empty(); ++i) {
    auto [line, rest] = ptx.split('\n');
    ptx = rest;
    if (StringRef name = line.split(".entry ").second; !name.empty())
      kernel = name.take_until([](char c) { return c == '(' || c == ' '; });
    else if (line.starts_with("}"))
      // A message at the end of a kernel is about it, too.
      kernel = i + 1 == number ? kernel : "";
  }
  return kernel;
}

/// The message of ptxas with the kernels that it is about.
static std::string addKernelNames(StringRef message, StringRef ptx) {
  llvm::SetVector<StringRef> kernels;
  for (StringRef line : llvm::split(message, '\n')) {
    size_t number = 0;
    if (line.split(", line ").second.consumeInteger(10, number))
      continue;
    if (StringRef kernel = getKernelAtLine(ptx, number); !kernel.empty())
      kernels.insert(kernel);
  }
  if (kernels.empty())
    return message.str();
  return ("in kernel '" + llvm::join(kernels.getArrayRef(), "', '") +
          "': " + message)
      .str();
}

llvm::Expected<Cubin> CudaToolkit::assemble(StringRef ptx,
                                            StringRef chip) const {
  auto input = TemporaryFile::create("ptx", ptx);
  if (!input)
    return input.takeError();
  auto output = TemporaryFile::create("cubin");
  if (!output)
    return output.takeError();
  std::string architecture = ("-arch=" + chip).str();
  auto text = execute(
      joinPath(programs, "ptxas"),
      {architecture, "-O3", "-v", input->getPath(), "-o", output->getPath()});
  if (!text)
    return llvm::createStringError(
        "for " + chip + ", " +
        addKernelNames(llvm::toString(text.takeError()), ptx));
  auto code = output->read();
  if (!code)
    return code.takeError();
  return Cubin{chip.str(), std::move(*code), parseResources(*text)};
}

//===----------------------------------------------------------------------===//
// fatbinary
//===----------------------------------------------------------------------===//

llvm::Expected<std::string>
CudaToolkit::createFatbin(StringRef ptx, StringRef ptxChip,
                          ArrayRef<Cubin> cubins) const {
  SmallVector<TemporaryFile> files;
  SmallVector<std::string> images;
  auto add = [&](StringRef kind, StringRef chip,
                 StringRef content) -> llvm::Error {
    auto file = TemporaryFile::create(kind == "ptx" ? "ptx" : "cubin", content);
    if (!file)
      return file.takeError();
    images.push_back(("--image3=kind=" + kind + ",sm=" + chip.drop_front(3) +
                      ",file=" + file->getPath())
                         .str());
    files.push_back(std::move(*file));
    return llvm::Error::success();
  };
  for (const Cubin &cubin : cubins)
    if (llvm::Error error = add("elf", cubin.chip, cubin.code))
      return error;
  if (llvm::Error error = add("ptx", ptxChip, ptx))
    return error;
  auto output = TemporaryFile::create("fatbin");
  if (!output)
    return output.takeError();
  std::string create = ("--create=" + output->getPath()).str();
  SmallVector<StringRef> arguments = {"--64", create};
  llvm::append_range(arguments, images);
  auto text = execute(joinPath(programs, "fatbinary"), arguments);
  if (!text)
    return text.takeError();
  return output->read();
}
