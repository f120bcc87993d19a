//===- Table.h - Figures in columns -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_ACT_TOOLS_ACTRUN_TABLE_H
#define LIB_ACT_TOOLS_ACTRUN_TABLE_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::act::run {

/// Lines of a name and a figure, then lines of several columns.
class Table {
public:
  void add(StringRef name, StringRef figure) {
    figures.push_back({name.str(), figure.str()});
  }
  /// Starts the second part with the heads of its columns.
  void startColumns(std::vector<std::string> heads) {
    rows = {std::move(heads)};
  }
  void addRow(std::vector<std::string> row) { rows.push_back(std::move(row)); }

  void print(llvm::raw_ostream &os) const;

private:
  using Rows = std::vector<std::vector<std::string>>;
  static void printAligned(const Rows &rows, llvm::raw_ostream &os);

  Rows figures;
  Rows rows;
};

/// Such as "12,345,678 bytes (11.8 MiB)".
std::string formatBytes(int64_t bytes);
/// Such as "1.23 s" or "456 us".
std::string formatSeconds(double seconds);

} // namespace mlir::act::run

#endif // LIB_ACT_TOOLS_ACTRUN_TABLE_H
