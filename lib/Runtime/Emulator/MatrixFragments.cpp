//===- MatrixFragments.cpp - Matrices spread over a warp ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixFragments.h"
#include "Numbers.h"
#include "llvm/Support/ErrorHandling.h"
#include <cstring>

namespace act::emulator {

static constexpr unsigned numRows = 16;
static constexpr unsigned numColumns = 8;
static constexpr unsigned largestDepth = 32;

static unsigned getElementsPerRegister(MatrixElement element) {
  switch (element) {
  case MatrixElement::F16:
  case MatrixElement::BF16:
    return 2;
  case MatrixElement::S8:
  case MatrixElement::U8:
  case MatrixElement::E4M3:
  case MatrixElement::E5M2:
    return 4;
  case MatrixElement::TF32:
  case MatrixElement::F32:
  case MatrixElement::S32:
    return 1;
  }
  llvm_unreachable("covers all elements");
}

/// Element `index` of what `registers` hold.
static double getElement(const uint32_t *registers, MatrixElement element,
                         unsigned index) {
  auto half = [&] { return registers[index / 2] >> index % 2 * 16 & 0xffff; };
  auto byte = [&] { return registers[index / 4] >> index % 4 * 8 & 0xff; };
  switch (element) {
  case MatrixElement::F16:
    return halfToFloat(half());
  case MatrixElement::BF16:
    return bitsToFloat(half() << 16);
  case MatrixElement::TF32:
    // The tensor core ignores the low bits.
    return bitsToFloat(registers[index] & 0xffffe000u);
  case MatrixElement::S8:
    return int8_t(byte());
  case MatrixElement::U8:
    return byte();
  case MatrixElement::E4M3:
    return e4m3ToFloat(byte());
  case MatrixElement::E5M2:
    return halfToFloat(byte() << 8);
  case MatrixElement::F32:
    return bitsToFloat(registers[index]);
  case MatrixElement::S32:
    return int32_t(registers[index]);
  }
  llvm_unreachable("covers all elements");
}

static void setElement(uint32_t *registers, const MatrixShape &shape,
                       unsigned index, double value) {
  switch (shape.result) {
  case MatrixElement::F16: {
    uint32_t bits = doubleToHalf(value);
    unsigned shift = index % 2 * 16;
    registers[index / 2] =
        (registers[index / 2] & ~(0xffffu << shift)) | bits << shift;
    return;
  }
  case MatrixElement::S32:
    // Sums of 32 products and an s32 are exact in a double.
    if (shape.saturates)
      value = std::min(std::max(value, -2147483648.0), 2147483647.0);
    registers[index] = uint32_t(int64_t(value));
    return;
  default:
    registers[index] = floatToBits(float(value));
    return;
  }
}

void multiplyMatrices(const MatrixShape &shape, Thread **lanes) {
  double left[numRows][largestDepth];
  double right[largestDepth][numColumns];
  double sums[numRows][numColumns];
  unsigned perRegister = getElementsPerRegister(shape.a);
  unsigned numRight = shape.depth / (4 * perRegister);
  unsigned numLeft = numRight * 2;
  for (unsigned lane = 0; lane < 32; ++lane) {
    const uint32_t *inputs = lanes[lane]->inputs;
    unsigned group = lane / 4;
    unsigned member = lane % 4;
    for (unsigned i = 0; i < numLeft * perRegister; ++i) {
      unsigned number = i / perRegister;
      left[group + number % 2 * 8][member * perRegister + i % perRegister +
                                   number / 2 * 4 * perRegister] =
          getElement(inputs, shape.a, i);
    }
    for (unsigned i = 0; i < numRight * perRegister; ++i)
      right[member * perRegister + i % perRegister +
            i / perRegister * 4 * perRegister][group] =
          getElement(inputs + numLeft, shape.b, i);
    for (unsigned i = 0; i < 4; ++i)
      sums[group + i / 2 * 8][member * 2 + i % 2] =
          getElement(inputs + numLeft + numRight, shape.accumulator, i);
  }
  for (unsigned row = 0; row < numRows; ++row)
    for (unsigned k = 0; k < shape.depth; ++k)
      for (unsigned column = 0; column < numColumns; ++column)
        sums[row][column] += left[row][k] * right[k][column];
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      setElement(lanes[lane]->outputs, shape, i,
                 sums[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2]);
}

/// The address of element `column` of row `row` of a matrix.
static uint32_t getOffset(Thread **lanes, unsigned matrix, unsigned row,
                          unsigned column) {
  return lanes[matrix * 8 + row]->inputs[0] + column * 2;
}

void loadMatrices(unsigned numMatrices, bool isTransposed, const char *shared,
                  Thread **lanes) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned matrix = 0; matrix < numMatrices; ++matrix) {
      uint16_t pair[2];
      for (unsigned i = 0; i < 2; ++i) {
        unsigned row = lane / 4;
        unsigned column = lane % 4 * 2 + i;
        if (isTransposed)
          std::swap(row, column);
        std::memcpy(&pair[i], shared + getOffset(lanes, matrix, row, column),
                    2);
      }
      lanes[lane]->outputs[matrix] = pair[0] | uint32_t(pair[1]) << 16;
    }
  }
}

void storeMatrices(unsigned numMatrices, bool isTransposed, char *shared,
                   Thread **lanes) {
  for (unsigned lane = 0; lane < 32; ++lane) {
    for (unsigned matrix = 0; matrix < numMatrices; ++matrix) {
      uint32_t word = lanes[lane]->inputs[1 + matrix];
      for (unsigned i = 0; i < 2; ++i) {
        unsigned row = lane / 4;
        unsigned column = lane % 4 * 2 + i;
        if (isTransposed)
          std::swap(row, column);
        auto half = uint16_t(word >> i * 16);
        std::memcpy(shared + getOffset(lanes, matrix, row, column), &half, 2);
      }
    }
  }
}

} // namespace act::emulator
