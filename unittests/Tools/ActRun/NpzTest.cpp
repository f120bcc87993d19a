//===- NpzTest.cpp - Tests of arrays in files ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Tools/ActRun/Npz.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zip.h>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::run;
using testing::HasSubstr;

namespace {

std::string makePath() {
  SmallString<128> path;
  EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("act", "npz", path));
  return path.str().str();
}

/// A file in the format of NumPy: prefix of a version, header, elements.
std::string makeNpy(int version, StringRef dictionary, StringRef elements) {
  std::string file = "\x93NUMPY";
  file += {static_cast<char>(version), '\0'};
  size_t size = dictionary.size();
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    file += static_cast<char>(size >> (8 * i));
  return file + dictionary.str() + elements.str();
}

/// Writes the file `x.npy` with `content`, deflated, to an archive.
void writeZip(const std::string &path, StringRef content) {
  zip_t *zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, nullptr);
  ASSERT_NE(zip, nullptr);
  zip_source_t *source =
      zip_source_buffer(zip, content.data(), content.size(), 0);
  zip_int64_t index = zip_file_add(zip, "x.npy", source, 0);
  ASSERT_GE(index, 0);
  ASSERT_EQ(zip_set_file_compression(zip, index, ZIP_CM_DEFLATE, 9), 0);
  ASSERT_EQ(zip_close(zip), 0);
}

/// What reading `content` gives: the array, or the error.
llvm::Expected<Array> readContent(StringRef content) {
  std::string path = makePath();
  llvm::FileRemover remover(path);
  writeZip(path, content);
  auto arrays = readNpz(path);
  if (!arrays)
    return arrays.takeError();
  EXPECT_EQ(arrays->size(), 1u);
  EXPECT_EQ(arrays->front().name, "x");
  return std::move(arrays->front().array);
}

std::string getError(StringRef content) {
  auto array = readContent(content);
  return array ? "none" : llvm::toString(array.takeError());
}

const char floats[] = "\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40\0"
                      "\0\xa0\x40"; // 0 to 5
const StringRef sixFloats(floats, 24);

TEST(NpzTest, EveryTypeComesBack) {
  std::string path = makePath();
  llvm::FileRemover remover(path);
  std::vector<Array> arrays;
  for (int32_t type = 0; type < execution::numElementTypes; ++type) {
    arrays.emplace_back(static_cast<ElementType>(type),
                        SmallVector<int64_t>{3, type + 1});
    for (int64_t i = 0, end = arrays.back().getNumElements(); i < end; ++i)
      arrays.back().setNumber(i, i % 2);
  }
  std::vector<std::pair<std::string, const Array *>> named;
  for (const Array &array : arrays)
    named.emplace_back("a/" + std::to_string(named.size()), &array);
  ASSERT_FALSE(llvm::errorToBool(writeNpz(path, named)));
  auto read = readNpz(path);
  ASSERT_TRUE(static_cast<bool>(read)) << llvm::toString(read.takeError());
  ASSERT_EQ(read->size(), arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    EXPECT_EQ((*read)[i].name, named[i].first);
    EXPECT_EQ((*read)[i].array.getTypeText(), arrays[i].getTypeText());
    EXPECT_EQ((*read)[i].array.getBytes(), arrays[i].getBytes());
  }
}

TEST(NpzTest, EmptyArraysAndScalars) {
  std::string path = makePath();
  llvm::FileRemover remover(path);
  Array empty(ElementType::F32, {3, 0}), scalar(ElementType::S64, {});
  scalar.setNumber(0, -7);
  ASSERT_FALSE(llvm::errorToBool(
      writeNpz(path, {{"empty", &empty}, {"scalar", &scalar}})));
  auto read = readNpz(path);
  ASSERT_TRUE(static_cast<bool>(read)) << llvm::toString(read.takeError());
  EXPECT_EQ((*read)[0].array.getTypeText(), "3x0xf32");
  EXPECT_EQ((*read)[1].array.getTypeText(), "i64");
  EXPECT_EQ((*read)[1].array.getNumber(0), -7);
}

TEST(NpzTest, AllVersionsAndSpellings) {
  for (int version : {1, 2, 3})
    for (StringRef header :
         {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
          "{\"shape\":(2L,3L),\"fortran_order\":False,\"descr\":\"<f4\"}  "
          "\n"}) {
      auto array = readContent(makeNpy(version, header, sixFloats));
      ASSERT_TRUE(static_cast<bool>(array))
          << llvm::toString(array.takeError());
      EXPECT_EQ(array->getTypeText(), "2x3xf32");
      EXPECT_EQ(array->getNumber(5), 5);
    }
}

TEST(NpzTest, FortranOrderIsTransposed) {
  auto array = readContent(
      makeNpy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n",
              sixFloats));
  ASSERT_TRUE(static_cast<bool>(array)) << llvm::toString(array.takeError());
  std::vector<double> numbers;
  for (int i = 0; i < 6; ++i)
    numbers.push_back(array->getNumber(i));
  EXPECT_THAT(numbers, testing::ElementsAre(0, 2, 4, 1, 3, 5));
}

TEST(NpzTest, BoolsAreOneOrZero) {
  auto array = readContent(
      makeNpy(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }\n",
              StringRef("\0\1\7", 3)));
  ASSERT_TRUE(static_cast<bool>(array)) << llvm::toString(array.takeError());
  EXPECT_EQ(array->getBytes(), StringRef("\0\1\1", 3));
}

TEST(NpzTest, DamagedFilesAreErrors) {
  const std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
  auto withShape = [&](StringRef shape) {
    return makeNpy(
        1,
        ("{'descr': '<f4', 'fortran_order': False, 'shape': " + shape + "}\n")
            .str(),
        sixFloats);
  };
  EXPECT_THAT(getError(""), HasSubstr("expects an array in the format"));
  EXPECT_THAT(getError("\x93NUMP"),
              HasSubstr("expects an array in the format"));
  EXPECT_THAT(getError(makeNpy(4, header, sixFloats)),
              HasSubstr("expects version 1, 2 or 3"));
  EXPECT_THAT(getError(makeNpy(1, header, sixFloats).substr(0, 40)),
              HasSubstr("cut off"));
  EXPECT_THAT(getError(makeNpy(1, header, sixFloats.drop_back())),
              HasSubstr("expects 24 bytes for 2x3xf32, got 23"));
  EXPECT_THAT(getError(makeNpy(1, header, sixFloats) + "?"),
              HasSubstr("expects 24 bytes for 2x3xf32, got 25"));
  EXPECT_THAT(getError(makeNpy(1, "{'descr': [('a', '<f4')], ", sixFloats)),
              HasSubstr("expects a string"));
  EXPECT_THAT(getError(makeNpy(1, "{'descr': '<f4'}\n", sixFloats)),
              HasSubstr("expects descr, fortran_order and shape"));
  EXPECT_THAT(getError(makeNpy(1, "{'color': '<f4'}\n", sixFloats)),
              HasSubstr("got 'color'"));
  EXPECT_THAT(getError(makeNpy(1, header + "and more", sixFloats)),
              HasSubstr("expects nothing more"));
  EXPECT_THAT(getError(withShape("(-2, -3)")), HasSubstr("not negative"));
  EXPECT_THAT(getError(withShape("(2 3)")), HasSubstr("expects ',' or ')'"));
  EXPECT_THAT(getError(withShape("(4294967296, 4294967296)")),
              HasSubstr("too many elements"));
  EXPECT_THAT(getError(withShape("(1000000, 1000000)")),
              HasSubstr("expects 4000000000000 bytes"));
}

TEST(NpzTest, ChecksumsAreCompared) {
  std::string path = makePath();
  llvm::FileRemover remover(path);
  Array array(ElementType::U8, {100});
  std::memset(array.data(), 7, 100);
  ASSERT_FALSE(llvm::errorToBool(writeNpz(path, {{"x", &array}})));
  {
    auto file = llvm::MemoryBuffer::getFile(path);
    std::string text = (*file)->getBuffer().str();
    text[text.find(std::string(100, 7)) + 50] = 8;
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << text;
  }
  auto read = readNpz(path);
  ASSERT_FALSE(static_cast<bool>(read));
  EXPECT_THAT(llvm::toString(read.takeError()), HasSubstr("CRC"));
}

TEST(NpzTest, NothingIsLeftOfWhatCannotBeWritten) {
  Array array(ElementType::F32, {2});
  EXPECT_TRUE(
      llvm::errorToBool(writeNpz("/nonexistent/out.npz", {{"x", &array}})));
  std::string path = makePath();
  llvm::FileRemover remover(path);
  // The same name twice.
  EXPECT_TRUE(
      llvm::errorToBool(writeNpz(path, {{"x", &array}, {"x", &array}})));
  uint64_t size;
  ASSERT_FALSE(llvm::sys::fs::file_size(path, size));
  EXPECT_EQ(size, 0u);
}

} // namespace
