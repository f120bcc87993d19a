// RUN: not act-opt %s --convert-linear-attention-to-vector=vector-bits=100 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not act-opt %s --convert-linear-attention-to-vector=vector-registers=4 2>&1 | FileCheck %s --check-prefix=REGISTERS

// BITS: error: expects vector-bits to be a power of two from 128 to 2048, got 100
// REGISTERS: error: expects vector-registers from 8 to 1024, got 4
module {}
