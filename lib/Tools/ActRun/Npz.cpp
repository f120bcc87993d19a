//===- Npz.cpp - Arrays in NumPy's file format ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Tools/ActRun/Npz.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>
#include <zip.h>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::run;

namespace {
/// An archive that is closed without writing unless `close` is called.
class ZipArchive {
public:
  static llvm::Expected<ZipArchive> open(StringRef path, int flags);
  ZipArchive(ZipArchive &&other)
      : path(std::move(other.path)),
        handle(std::exchange(other.handle, nullptr)) {}
  ~ZipArchive() {
    if (handle)
      zip_discard(handle);
  }

  zip_t *get() const { return handle; }
  llvm::Error close() {
    if (zip_close(handle) != 0)
      return fail(zip_strerror(handle));
    handle = nullptr;
    return llvm::Error::success();
  }
  llvm::Error fail(const Twine &what) const {
    return llvm::createStringError(path + ": " + what);
  }

private:
  ZipArchive(StringRef path, zip_t *handle)
      : path(path.str()), handle(handle) {}

  std::string path;
  zip_t *handle;
};
} // namespace

llvm::Expected<ZipArchive> ZipArchive::open(StringRef path, int flags) {
  int code = 0;
  zip_t *handle = zip_open(path.str().c_str(), flags, &code);
  if (handle)
    return ZipArchive(path, handle);
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string message = zip_error_strerror(&error);
  zip_error_fini(&error);
  return llvm::createStringError(path +
                                 ": cannot be opened as an .npz: " + message);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Copies an array whose first index varies fastest into row-major order.
static Array reorder(const Array &source) {
  ArrayRef<int64_t> shape = source.getShape();
  Array result(source.getType(), shape);
  int64_t width = execution::getByteWidth(source.getType());
  SmallVector<int64_t> position(shape.size(), 0);
  for (int64_t to = 0, end = source.getNumElements(); to < end; ++to) {
    int64_t from = 0;
    for (size_t i = shape.size(); i-- > 0;)
      from = from * shape[i] + position[i];
    std::memcpy(result.data() + to * width, source.data() + from * width,
                width);
    for (size_t i = shape.size(); i-- > 0;) {
      if (++position[i] < shape[i])
        break;
      position[i] = 0;
    }
  }
  return result;
}

/// Reads `bytes` bytes, or fewer at the end of the file; nothing on errors.
static std::optional<size_t> readBytes(zip_file_t *file, void *to,
                                       size_t bytes) {
  size_t done = 0;
  while (done < bytes) {
    zip_int64_t count =
        zip_fread(file, static_cast<char *>(to) + done, bytes - done);
    if (count < 0)
      return std::nullopt;
    if (count == 0)
      break;
    done += count;
  }
  return done;
}

static llvm::Expected<Array> readArray(zip_file_t *file, uint64_t bytes) {
  auto failed = [&] {
    return llvm::createStringError(zip_file_strerror(file));
  };
  // The longest prefix is that of version 2 and 3.
  std::string start(std::min<uint64_t>(bytes, 12), 0);
  if (!readBytes(file, start.data(), start.size()))
    return failed();
  size_t size = start.size();
  if (size == 12)
    size = start[6] == 1 ? 10 + (uint8_t(start[8]) | uint8_t(start[9]) << 8)
                         : 12 + (uint64_t(uint8_t(start[8])) |
                                 uint64_t(uint8_t(start[9])) << 8 |
                                 uint64_t(uint8_t(start[10])) << 16 |
                                 uint64_t(uint8_t(start[11])) << 24);
  size = std::min<uint64_t>(size, bytes);
  if (size > start.size()) {
    size_t have = start.size();
    start.resize(size);
    if (!readBytes(file, start.data() + have, size - have))
      return failed();
  }
  llvm::Expected<NpyHeader> header = parseNpyHeader(start);
  if (!header)
    return header.takeError();
  int64_t expected = ShapedType::getNumElements(header->shape) *
                     execution::getByteWidth(header->type);
  if (bytes - header->dataOffset != static_cast<uint64_t>(expected))
    return llvm::createStringError(
        "expects " + Twine(expected) + " bytes for " +
        execution::formatType(header->type, header->shape) + ", got " +
        Twine(bytes - header->dataOffset));
  Array array(header->type, header->shape);
  if (!array.data())
    return llvm::createStringError("there is no memory for " + Twine(expected) +
                                   " bytes");
  size_t early = start.size() - header->dataOffset;
  std::memcpy(array.data(), start.data() + header->dataOffset, early);
  std::optional<size_t> rest =
      readBytes(file, array.data() + early, expected - early);
  // Reading on from the end compares the checksum.
  char more;
  if (!rest || zip_fread(file, &more, 1) < 0)
    return failed();
  if (*rest != expected - early)
    return llvm::createStringError("the array is cut off");
  if (header->type == ElementType::Bool)
    for (int64_t i = 0; i < expected; ++i)
      array.data()[i] = array.data()[i] != 0;
  return header->isFortranOrder && header->shape.size() > 1 ? reorder(array)
                                                            : std::move(array);
}

llvm::Expected<std::vector<NamedArray>> run::readNpz(StringRef path) {
  llvm::Expected<ZipArchive> archive = ZipArchive::open(path, ZIP_RDONLY);
  if (!archive)
    return archive.takeError();
  std::vector<NamedArray> arrays;
  for (zip_int64_t i = 0, end = zip_get_num_entries(archive->get(), 0); i < end;
       ++i) {
    zip_stat_t stat;
    if (zip_stat_index(archive->get(), i, 0, &stat) != 0)
      return archive->fail(zip_strerror(archive->get()));
    StringRef name(stat.name);
    std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> file(
        zip_fopen_index(archive->get(), i, 0), zip_fclose);
    if (!file)
      return archive->fail(name + ": " + zip_strerror(archive->get()));
    llvm::Expected<Array> array = readArray(file.get(), stat.size);
    if (!array)
      return archive->fail(name + ": " + llvm::toString(array.takeError()));
    (void)name.consume_back(".npy");
    arrays.push_back({name.str(), std::move(*array)});
  }
  return arrays;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

llvm::Error
run::writeNpz(StringRef path,
              ArrayRef<std::pair<std::string, const Array *>> arrays) {
  llvm::Expected<ZipArchive> archive =
      ZipArchive::open(path, ZIP_CREATE | ZIP_TRUNCATE);
  if (!archive)
    return archive.takeError();
  zip_t *handle = archive->get();
  // libzip reads what it writes when the archive is closed.
  std::vector<std::string> headers;
  for (auto [name, array] : arrays)
    headers.push_back(buildNpyHeader(array->getType(), array->getShape()));
  for (auto [entry, header] : llvm::zip_equal(arrays, headers)) {
    const auto &[name, array] = entry;
    zip_buffer_fragment_t fragments[] = {
        {reinterpret_cast<zip_uint8_t *>(header.data()), header.size()},
        {const_cast<zip_uint8_t *>(array->data()),
         static_cast<zip_uint64_t>(array->getNumBytes())}};
    zip_source_t *source =
        zip_source_buffer_fragment(handle, fragments, 2, /*freep=*/0);
    if (!source)
      return archive->fail(zip_strerror(handle));
    zip_int64_t index =
        zip_file_add(handle, (name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      return archive->fail("'" + name + "': " + zip_strerror(handle));
    }
    // The same results give the same file: no time, and not compressed.
    if (zip_set_file_compression(handle, index, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(handle, index, 0, /*1980-01-01*/ 0x21, 0) != 0)
      return archive->fail(zip_strerror(handle));
  }
  return archive->close();
}
