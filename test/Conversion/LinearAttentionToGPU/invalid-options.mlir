// RUN: not act-opt %s --convert-linear-attention-to-gpu=segments=-1 2>&1 | FileCheck %s

// CHECK: error: expects segments to be 0 or more, got -1
module {}
