//===- Table.cpp - Figures in columns ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Table.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::act::run;

void Table::printAligned(const Rows &rows, llvm::raw_ostream &os) {
  std::vector<size_t> widths;
  for (const std::vector<std::string> &row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  }
  for (const std::vector<std::string> &row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      line.append(widths[i] - row[i].size() + 2, ' ');
    }
    os << StringRef(line).rtrim() << "\n";
  }
}

void Table::print(llvm::raw_ostream &os) const {
  printAligned(figures, os);
  if (!rows.empty()) {
    os << "\n";
    printAligned(rows, os);
  }
}

std::string mlir::act::run::formatBytes(int64_t bytes) {
  std::string text = llvm::formatv("{0:N} bytes", bytes).str();
  constexpr double kibi = 1024, mebi = kibi * 1024, gibi = mebi * 1024;
  if (bytes >= gibi)
    return text + llvm::formatv(" ({0:f2} GiB)", bytes / gibi).str();
  if (bytes >= mebi)
    return text + llvm::formatv(" ({0:f2} MiB)", bytes / mebi).str();
  if (bytes >= kibi)
    return text + llvm::formatv(" ({0:f2} KiB)", bytes / kibi).str();
  return text;
}

std::string mlir::act::run::formatSeconds(double seconds) {
  if (seconds >= 1)
    return llvm::formatv("{0:f2} s", seconds).str();
  if (seconds >= 1e-3)
    return llvm::formatv("{0:f2} ms", seconds * 1e3).str();
  return llvm::formatv("{0:f1} us", seconds * 1e6).str();
}
