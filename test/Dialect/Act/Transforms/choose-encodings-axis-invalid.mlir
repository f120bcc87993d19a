// Rules that name an axis, and what they must not say.

// RUN: split-file %s %t

// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/both.json 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: rules file '{{.*}}both.json', rule 0 expects 'encoding' or 'axis', not both
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/range.json 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: error: rules file '{{.*}}range.json', rule 1 expects 'bits' and 'range' only beside 'axis'
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/word.json 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: error: rules file '{{.*}}word.json', rule 0 expects 'batch' or 'running' for 'range', got 'epoch'
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/axis.json 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: rules file '{{.*}}axis.json', rule 0 expects 'head', 'channel', 'last' or an integer for 'axis', got 'heads'
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/negative.json 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: rules file '{{.*}}negative.json', rule 0 expects an 'axis' that is not negative, got -1
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/bits.json 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: error: rules file '{{.*}}bits.json', rule 0 expects 'bits' of 1, 2, 4 or 8 beside 'axis', got 3
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/none.json 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: rules file '{{.*}}none.json', rule 0 expects 'bits' of 1, 2, 4 or 8 beside 'axis', got none

//--- step.mlir
func.func @step(%x: tensor<128x128xf32>) {
  %c = act.compressed_save %x : tensor<128x128xf32> to !act.compressed<tensor<128x128xf32>, #act.raw>
  return
}
//--- both.json
[{"axis": 0, "bits": 4, "encoding": "raw"}]
//--- range.json
[{"encoding": "raw"}, {"encoding": "raw", "range": "running"}]
//--- word.json
[{"axis": 0, "bits": 4, "range": "epoch"}]
//--- axis.json
[{"axis": "heads", "bits": 4}]
//--- negative.json
[{"axis": -1, "bits": 4}]
//--- bits.json
[{"axis": 0, "bits": 3}]
//--- none.json
[{"axis": 0}]
