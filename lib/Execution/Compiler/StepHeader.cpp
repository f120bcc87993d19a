//===- StepHeader.cpp - C headers of compiled steps ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act-c/GpuRuntime.h"
#include "act/Execution/ObjectFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::execution;

/// A C type with the representation of `type`.
static StringRef getCType(ElementType type) {
  static constexpr StringRef names[numElementTypes] = {
      "uint8_t",  "int8_t",   "int16_t",  "int32_t",  "int64_t",
      "uint8_t",  "uint16_t", "uint32_t", "uint64_t", "uint16_t",
      "uint16_t", "float",    "double",   "uint8_t",  "uint8_t"};
  return names[static_cast<int32_t>(type)];
}

/// `text` without what would end a comment.
static std::string getCommentText(StringRef text) {
  std::string result;
  for (char c : text)
    result += llvm::isPrint(c) && c != '*' ? c : '?';
  return result;
}

static void writeValues(ArrayRef<ValueInfo> values, StringRef kind,
                        llvm::raw_ostream &os) {
  os << " *\n * " << kind << ": number, C type, shape, bytes, name\n";
  for (auto [number, value] : llvm::enumerate(values)) {
    os << " *   " << number << "  " << getCType(value.type) << " ("
       << getName(value.type) << ")  [";
    llvm::interleave(value.shape, os, "][");
    os << "]  " << value.getNumBytes() << "  " << getCommentText(value.name)
       << "\n";
  }
  if (values.empty())
    os << " *   none\n";
}

/// How a program executes a step for the CPU.
static void writeCPUUse(StringRef symbol, llvm::raw_ostream &os) {
  std::string prefix = symbol.upper();
  os << " * with the object file and with libActStepRuntime:\n"
        " *\n"
        " *   void *context = act_cpu_context_create(0);\n"
        " *   void *arena = aligned_alloc("
     << prefix << "_ARENA_ALIGNMENT, " << prefix
     << "_ARENA_ALLOCATION);\n"
        " *   if ("
     << symbol
     << "(arguments, results, arena, context) != 0)\n"
        " *     fprintf(stderr, \"%s\\n\", act_cpu_context_error(context));\n"
        " *   act_cpu_context_destroy(context);\n"
        " *\n"
        " * `arguments` and `results` point to one dense row-major array each; "
        "results\n"
        " * overlap nothing else.\n";
}

/// How a program executes a step for GPUs.
static void writeGPUUse(StringRef symbol, llvm::raw_ostream &os) {
  os << " * with the object file and with libActGpuRuntime "
        "(act-c/GpuRuntime.h):\n"
        " *\n"
        " *   void *context = act_gpu_context_create(NULL, 0);\n"
        " *   if (act_gpu_step(context, &"
     << symbol
     << "_info, arguments, results) != 0)\n"
        " *     fprintf(stderr, \"%s\\n\", act_gpu_context_error(context));\n"
        " *   act_gpu_context_destroy(context);\n"
        " *\n"
        " * `arguments` and `results` point to one dense row-major array in "
        "host "
        "memory\n"
        " * each. The function itself takes addresses of the device, and "
        "launches.\n";
}

void execution::writeStepHeader(const StepInfo &info, StringRef symbol,
                                bool isForGPU, llvm::raw_ostream &os) {
  std::string prefix = symbol.upper();
  os << "/* The training step '" << getCommentText(info.name)
     << "', compiled by act.\n"
        " *\n"
        " * Compile with the folder of act-c/StepInfo.h among the include "
        "folders, link\n";
  (isForGPU ? writeGPUUse : writeCPUUse)(symbol, os);
  writeValues(info.arguments, "Arguments", os);
  writeValues(info.results, "Results", os);
  int64_t alignment =
      isForGPU ? ACT_GPU_ARENA_ALIGNMENT : ACT_CPU_ARENA_ALIGNMENT;
  os << " */\n"
     << "#ifndef ACT_STEP_" << prefix << "_H\n"
     << "#define ACT_STEP_" << prefix << "_H\n\n"
     << "#include \"act-c/StepInfo.h\"\n\n"
     << "/* Bytes of temporary memory. */\n"
     << "#define " << prefix << "_ARENA_BYTES INT64_C(" << info.arenaBytes
     << ")\n"
     << "#define " << prefix << "_ARENA_ALIGNMENT " << alignment << "\n"
     << "/* The same as a positive multiple of the alignment, as aligned_alloc "
        "wants it. */\n"
     << "#define " << prefix << "_ARENA_ALLOCATION INT64_C("
     << std::max(llvm::alignTo(info.arenaBytes, alignment),
                 static_cast<uint64_t>(alignment))
     << ")\n"
     << "#define " << prefix << "_NUM_ARGUMENTS " << info.arguments.size()
     << "\n"
     << "#define " << prefix << "_NUM_RESULTS " << info.results.size() << "\n\n"
     << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
     << "int32_t " << symbol
     << "(const void *const *arguments, void *const *results, void *arena,\n"
        "    void *context);\n\n"
     << "/* Names, types and shapes. */\n"
     << "extern const act_step_info " << symbol << "_info;\n\n"
     << "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

llvm::Error execution::writeStepHeader(const StepInfo &info, StringRef symbol,
                                       StringRef path) {
  return llvm::writeToOutput(path, [&](llvm::raw_ostream &os) -> llvm::Error {
    writeStepHeader(info, symbol, /*isForGPU=*/false, os);
    return llvm::Error::success();
  });
}
