// RUN: split-file %s %t

// RUN: not act-opt %t/step.mlir --act-choose-encodings=bits=3 2>&1 | FileCheck %s --check-prefix=BITS
// BITS: error: act-choose-encodings expects bits to be 0, 1, 2, 4 or 8, got 3
// RUN: not act-opt %t/step.mlir --act-choose-encodings=average-bits=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not act-opt %t/step.mlir --act-choose-encodings=error-budget=-1 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: act-choose-encodings expects budgets that are not negative
// RUN: not act-opt %t/step.mlir --act-choose-encodings="average-bits=4 error-budget=0.1" 2>&1 | FileCheck %s --check-prefix=BOTH
// BOTH: error: act-choose-encodings expects average-bits or error-budget, not both
// RUN: not act-opt %t/step.mlir --act-choose-encodings=average-bits=1.25 2>&1 | FileCheck %s --check-prefix=AVERAGE
// AVERAGE: error: average-bits 1.25{{.*}} is below the least that can be reached, 1.5
// RUN: not act-opt %t/step.mlir --act-choose-encodings=error-budget=0.005 2>&1 | FileCheck %s --check-prefix=ERROR
// ERROR: error: error budget 5.0{{.*}}e-03 is below the predicted error at 8 bits, 7.2{{.*}}e-03

// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/missing.json 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: cannot read rules file '{{.*}}missing.json': No such file or directory
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/text.json 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: rules file '{{.*}}text.json' is not JSON: [1:2, byte=2]: Invalid JSON value
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/object.json 2>&1 | FileCheck %s --check-prefix=OBJECT
// OBJECT: error: rules file '{{.*}}object.json' expects a JSON array
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/number.json 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: error: rules file '{{.*}}number.json', rule 1 expects a JSON object
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/key.json 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: error: rules file '{{.*}}key.json', rule 0 expects 'op', 'name', 'encoding', 'range' (strings), 'min-elements', 'max-elements', 'bits' (integers) or 'axis' (either), got 'size'
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/value.json 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: error: rules file '{{.*}}value.json', rule 0 expects 'op', 'name', 'encoding', 'range' (strings), 'min-elements', 'max-elements', 'bits' (integers) or 'axis' (either), got 'min-elements'
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/regex.json 2>&1 | FileCheck %s --check-prefix=REGEX
// REGEX: error: rules file '{{.*}}regex.json', rule 0 expects a regular expression for 'name', got '(': parentheses not balanced
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/encoding.json 2>&1 | FileCheck %s --check-prefix=ENCODING
// ENCODING: error: rules file '{{.*}}encoding.json', rule 0 expects an encoding attribute for 'encoding', got '#act.exactness<small>'
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/bits.json 2>&1 | FileCheck %s --check-prefix=PARAMETER
// PARAMETER: error: expects bits to be 1, 2, 4 or 8, got 3
// PARAMETER: error: rules file '{{.*}}bits.json', rule 0 expects an encoding attribute for 'encoding', got 'group_quant<bits = 3, group = 64>'
// RUN: not act-opt %t/step.mlir --act-choose-encodings=rules=%t/none.json 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: rules file '{{.*}}none.json', rule 0 expects 'encoding', or 'axis' and 'bits'{{$}}

//--- step.mlir
func.func @step(%x: tensor<128x128xf32>) {
  %c = act.compressed_save %x : tensor<128x128xf32> to !act.compressed<tensor<128x128xf32>, #act.raw>
  return
}
//--- text.json
no JSON
//--- object.json
{"encoding": "raw"}
//--- number.json
[{"encoding": "raw"}, 3]
//--- key.json
[{"size": 3, "encoding": "raw"}]
//--- value.json
[{"min-elements": "many", "encoding": "raw"}]
//--- regex.json
[{"name": "(", "encoding": "raw"}]
//--- encoding.json
[{"encoding": "#act.exactness<small>"}]
//--- bits.json
[{"encoding": "group_quant<bits = 3, group = 64>"}]
//--- none.json
[{"op": "stablehlo.sine"}]
