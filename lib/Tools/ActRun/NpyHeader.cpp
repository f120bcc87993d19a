//===- NpyHeader.cpp - Headers of NumPy's arrays ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Tools/ActRun/Npz.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::run;

namespace {
struct TypeCode {
  ElementType type;
  StringRef code;
};
} // namespace

/// Without the mark of the byte order.
static constexpr TypeCode typeCodes[] = {
    {ElementType::Bool, "b1"},
    {ElementType::S8, "i1"},
    {ElementType::S16, "i2"},
    {ElementType::S32, "i4"},
    {ElementType::S64, "i8"},
    {ElementType::U8, "u1"},
    {ElementType::U16, "u2"},
    {ElementType::U32, "u4"},
    {ElementType::U64, "u8"},
    {ElementType::F16, "f2"},
    {ElementType::BF16, "V2"},
    {ElementType::F32, "f4"},
    {ElementType::F64, "f8"},
    {ElementType::F8E4M3FN, "V1"},
    {ElementType::F8E5M2, "f1"},
    {ElementType::BF16, "bfloat16"},
    {ElementType::F8E5M2, "float8_e5m2"},
    {ElementType::F8E4M3FN, "float8_e4m3fn"}};

static llvm::Expected<ElementType> parseType(StringRef descr) {
  StringRef code = descr;
  if (code.consume_front(">"))
    return llvm::createStringError("expects little-endian elements, got '" +
                                   descr + "'");
  if (!code.consume_front("<") && !code.consume_front("|"))
    (void)code.consume_front("=");
  for (const TypeCode &entry : typeCodes)
    if (entry.code == code)
      return entry.type;
  return llvm::createStringError(
      "expects elements of a type that steps can have, got '" + descr + "'");
}

namespace {
/// Reads the dictionary in a header, a literal of Python.
class DictionaryParser {
public:
  explicit DictionaryParser(StringRef text) : text(text) {}

  llvm::Error parse(NpyHeader &header);

private:
  bool consume(StringRef token) {
    text = text.ltrim();
    return text.consume_front(token);
  }
  llvm::Error fail(const Twine &expected) {
    return llvm::createStringError("expects " + expected +
                                   " in the header of an array, got '" +
                                   text.take_front(20) + "'");
  }
  llvm::Expected<StringRef> parseString();
  llvm::Error parseShape(SmallVectorImpl<int64_t> &shape);
  llvm::Error parseEntry(StringRef key, NpyHeader &header);

  StringRef text;
  bool hasType = false, hasOrder = false, hasShape = false;
};
} // namespace

llvm::Expected<StringRef> DictionaryParser::parseString() {
  for (StringRef quote : {"'", "\""})
    if (consume(quote)) {
      size_t end = text.find(quote);
      if (end == StringRef::npos)
        return fail("a string that ends");
      StringRef value = text.take_front(end);
      text = text.drop_front(end + 1);
      return value;
    }
  return fail("a string");
}

llvm::Error DictionaryParser::parseShape(SmallVectorImpl<int64_t> &shape) {
  if (!consume("("))
    return fail("a shape");
  while (!consume(")")) {
    int64_t size;
    text = text.ltrim();
    if (text.consumeInteger(10, size) || size < 0)
      return fail("a size that is not negative");
    (void)text.consume_front("L"); // Python 2
    shape.push_back(size);
    if (!consume(",") && !text.ltrim().starts_with(")"))
      return fail("',' or ')'");
  }
  return llvm::Error::success();
}

llvm::Error DictionaryParser::parseEntry(StringRef key, NpyHeader &header) {
  if (key == "descr") {
    llvm::Expected<StringRef> descr = parseString();
    if (!descr)
      return descr.takeError();
    llvm::Expected<ElementType> type = parseType(*descr);
    if (!type)
      return type.takeError();
    header.type = *type;
    hasType = true;
    return llvm::Error::success();
  }
  if (key == "fortran_order") {
    header.isFortranOrder = consume("True");
    if (!header.isFortranOrder && !consume("False"))
      return fail("True or False");
    hasOrder = true;
    return llvm::Error::success();
  }
  if (key == "shape") {
    hasShape = true;
    header.shape.clear();
    return parseShape(header.shape);
  }
  return llvm::createStringError("expects descr, fortran_order and shape in "
                                 "the header of an array, got '" +
                                 key + "'");
}

llvm::Error DictionaryParser::parse(NpyHeader &header) {
  if (!consume("{"))
    return fail("a dictionary");
  while (!consume("}")) {
    llvm::Expected<StringRef> key = parseString();
    if (!key)
      return key.takeError();
    if (!consume(":"))
      return fail("':'");
    if (llvm::Error error = parseEntry(*key, header))
      return error;
    if (!consume(",") && !text.ltrim().starts_with("}"))
      return fail("',' or '}'");
  }
  if (!text.trim().empty())
    return fail("nothing more");
  if (!hasType || !hasOrder || !hasShape)
    return llvm::createStringError("expects descr, fortran_order and shape in "
                                   "the header of an array");
  return llvm::Error::success();
}

static constexpr StringRef npyMagic = "\x93NUMPY";

llvm::Expected<NpyHeader> run::parseNpyHeader(StringRef file) {
  StringRef rest = file;
  if (!rest.consume_front(npyMagic) || rest.size() < 6)
    return llvm::createStringError("expects an array in the format of NumPy");
  unsigned major = static_cast<uint8_t>(rest[0]);
  if (major < 1 || major > 3)
    return llvm::createStringError(
        "expects version 1, 2 or 3 of the format of NumPy, got " +
        Twine(major));
  // Version 1 has 16 bits for the length, later ones 32.
  const char *length = rest.data() + 2;
  size_t lengthBytes = major == 1 ? 2 : 4;
  size_t size = major == 1 ? llvm::support::endian::read16le(length)
                           : llvm::support::endian::read32le(length);
  rest = rest.drop_front(2 + lengthBytes);
  if (rest.size() < size)
    return llvm::createStringError("the header of the array is cut off");
  NpyHeader header;
  header.dataOffset = npyMagic.size() + 2 + lengthBytes + size;
  if (llvm::Error error = DictionaryParser(rest.take_front(size)).parse(header))
    return error;
  std::optional<int64_t> bytes = execution::getByteWidth(header.type);
  for (int64_t dimension : header.shape)
    if (bytes)
      bytes = llvm::checkedMul(*bytes, dimension);
  if (!bytes)
    return llvm::createStringError("the array has too many elements");
  return header;
}

std::string run::buildNpyHeader(ElementType type, ArrayRef<int64_t> shape) {
  StringRef code = llvm::find_if(typeCodes, [&](const TypeCode &entry) {
                     return entry.type == type;
                   })->code;
  bool hasOrder =
      code.back() != '1' || code.front() == 'V' || code.front() == 'f';
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "{'descr': '" << (hasOrder ? '<' : '|') << code
         << "', 'fortran_order': False, 'shape': (";
  llvm::interleave(shape, stream, ", ");
  stream << (shape.size() == 1 ? ",), }" : "), }");
  constexpr size_t prefix = 10, alignment = 64;
  size_t total = llvm::alignTo(prefix + text.size() + 1, alignment);
  text.append(total - prefix - text.size() - 1, ' ');
  text += '\n';
  std::string header = npyMagic.str();
  header += {'\1', '\0'};
  char length[2];
  llvm::support::endian::write16le(length, text.size());
  header.append(length, 2);
  return header + text;
}
