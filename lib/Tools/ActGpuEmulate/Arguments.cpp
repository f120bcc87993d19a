//===- Arguments.cpp - Arguments of kernels ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "act/Tools/ActRun/CompareResults.h"
#include "act/Tools/ActRun/Npz.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::emulate;
using llvm::createStringError;
using llvm::Expected;
using run::Array;
using run::ElementType;

/// More elements than this are not printed.
static constexpr int64_t maxPrinted = 64;

static std::optional<ElementType> parseElementType(StringRef name) {
  for (int32_t i = 0; i < execution::numElementTypes; ++i)
    if (execution::getName(ElementType(i)) == name)
      return ElementType(i);
  return std::nullopt;
}

/// "128x64xf32" or "f32".
static Expected<Array> parseShapedType(StringRef text) {
  SmallVector<StringRef> parts;
  text.split(parts, 'x');
  std::optional<ElementType> type = parseElementType(parts.pop_back_val());
  SmallVector<int64_t> shape;
  for (StringRef part : parts)
    if (part.getAsInteger(10, shape.emplace_back()) || shape.back() < 0)
      type = std::nullopt;
  if (!type)
    return createStringError("expects a type like 128x64xf32, got '" + text +
                             "'");
  return Array(*type, shape);
}

static Expected<Array> readNpy(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return createStringError("cannot read " + path + ": " +
                             file.getError().message());
  StringRef content = (*file)->getBuffer();
  Expected<run::NpyHeader> header = run::parseNpyHeader(content);
  if (!header)
    return createStringError(path + ": " + llvm::toString(header.takeError()));
  Array array(header->type, header->shape);
  if (header->isFortranOrder && header->shape.size() > 1)
    return createStringError(path + ": expects the last index to vary fastest");
  StringRef elements = content.drop_front(header->dataOffset);
  if (elements.size() != size_t(array.getNumBytes()))
    return createStringError(path + ": expects " + Twine(array.getNumBytes()) +
                             " bytes of elements, got " +
                             Twine(elements.size()));
  std::memcpy(array.data(), elements.data(), elements.size());
  return std::move(array);
}

static Expected<Argument> parseScalar(StringRef text) {
  auto [name, value] = text.split('=');
  std::optional<ElementType> type = parseElementType(name);
  double number;
  int64_t integer;
  Argument argument;
  argument.isInitialized = true;
  if (!type)
    return createStringError("expects TYPE=VALUE, in:, inout:, out:, zero: or "
                             "expect:, got '" +
                             text + "'");
  argument.array = Array(*type, {});
  if (!execution::isFloat(*type) && !value.getAsInteger(0, integer)) {
    // Integers of 64 bits would lose bits as numbers.
    std::memcpy(argument.array.data(), &integer,
                execution::getByteWidth(*type));
    return std::move(argument);
  }
  if (!execution::isFloat(*type) || value.getAsDouble(number))
    return createStringError("expects a value of type " + name + ", got '" +
                             value + "'");
  argument.array.setNumber(0, number);
  return std::move(argument);
}

Expected<Argument> emulate::parseArgument(StringRef text) {
  auto [key, rest] = text.split(':');
  auto [first, second] = rest.split(':');
  Argument argument;
  argument.isResult = key != "in";
  argument.resultFile = second.str();
  bool isFile = key == "in" || key == "inout" || key == "expect";
  if (!isFile && key != "out" && key != "zero")
    return parseScalar(text);
  Expected<Array> array = isFile ? readNpy(first) : parseShapedType(first);
  if (!array)
    return array.takeError();
  argument.array = std::move(*array);
  argument.kind = isFile ? Argument::Kind::File : Argument::Kind::Output;
  argument.isInitialized = key != "out";
  if (key == "zero")
    std::memset(argument.array.data(), 0, argument.array.getNumBytes());
  if (key == "in" && !second.empty())
    return createStringError("expects in:FILE, got '" + text + "'");
  if (key != "expect")
    return std::move(argument);
  argument.kind = Argument::Kind::Expected;
  argument.isInitialized = false;
  argument.resultFile.clear();
  argument.tolerance = run::getDefaultTolerance(argument.array.getType());
  if (!second.empty() && second.getAsDouble(argument.tolerance))
    return createStringError("expects a tolerance, got '" + second + "'");
  return std::move(argument);
}

static llvm::Error writeNpy(StringRef path, const Array &array) {
  std::error_code error;
  llvm::raw_fd_ostream os(path, error);
  if (error)
    return createStringError("cannot write " + path + ": " + error.message());
  os << run::buildNpyHeader(array.getType(), array.getShape())
     << array.getBytes();
  return llvm::Error::success();
}

static void print(const Array &array, size_t number) {
  llvm::raw_ostream &os = llvm::outs();
  os << "argument " << number << " (" << array.getTypeText() << "):";
  int64_t count = std::min(array.getNumElements(), maxPrinted);
  for (int64_t i = 0; i < count; ++i)
    os << ' ' << llvm::format("%.9g", array.getNumber(i));
  if (count < array.getNumElements())
    os << " ... (" << array.getNumElements() - count << " more)";
  os << "\n";
}

llvm::Error emulate::finishArgument(const Argument &argument, size_t number,
                                    const Array &contents) {
  if (!argument.isResult)
    return llvm::Error::success();
  if (argument.kind != Argument::Kind::Expected) {
    if (!argument.resultFile.empty())
      return writeNpy(argument.resultFile, contents);
    print(contents, number);
    return llvm::Error::success();
  }
  run::Difference difference = run::compareArrays(contents, argument.array);
  llvm::outs() << "argument " << number << " (" << contents.getTypeText()
               << "): relative error "
               << llvm::format("%.2g", difference.relativeError) << "\n";
  if (difference.relativeError <= argument.tolerance)
    return llvm::Error::success();
  return createStringError(
      llvm::formatv("argument {0}: expects a relative error of at most {1:e}, "
                    "got {2:e}",
                    number, argument.tolerance, difference.relativeError)
          .str());
}
