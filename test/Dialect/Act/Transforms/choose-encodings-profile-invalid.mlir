// RUN: split-file %s %t

// RUN: not act-opt %t/step.mlir --act-choose-encodings="average-bits=4.5 profile=%t/missing.json" 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: error: cannot read profile '{{.*}}missing.json': No such file or directory
// RUN: not act-opt %t/step.mlir --act-choose-encodings="average-bits=4.5 profile=%t/text.json" 2>&1 | FileCheck %s --check-prefix=TEXT
// A file that is wrong is an error even where nothing depends on it.
// RUN: not act-opt %t/step.mlir --act-choose-encodings="bits=4 profile=%t/text.json" 2>&1 | FileCheck %s --check-prefix=TEXT
// TEXT: error: profile '{{.*}}text.json' is not JSON: [1:2, byte=2]: Invalid JSON value
// RUN: not act-opt %t/step.mlir --act-choose-encodings="average-bits=4.5 profile=%t/array.json" 2>&1 | FileCheck %s --check-prefix=ARRAY
// ARRAY: error: profile '{{.*}}array.json' expects a JSON object
// RUN: not act-opt %t/step.mlir --act-choose-encodings="average-bits=4.5 profile=%t/unversioned.json" 2>&1 | FileCheck %s --check-prefix=UNVERSIONED
// UNVERSIONED: error: profile '{{.*}}unversioned.json' expects 'act_profile', the version of the format
// RUN: not act-opt %t/step.mlir --act-choose-encodings="average-bits=4.5 profile=%t/version.json" 2>&1 | FileCheck %s --check-prefix=VERSION
// VERSION: error: profile '{{.*}}version.json' expects version 1, got 2
// RUN: not act-opt %t/step.mlir --act-choose-encodings="average-bits=4.5 profile=%t/noise.json" 2>&1 | FileCheck %s --check-prefix=NOISE
// NOISE: error: profile '{{.*}}noise.json' expects 'noise' with a positive 'variance'
// RUN: not act-opt %t/step.mlir --act-choose-encodings="average-bits=4.5 profile=%t/none.json" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: profile '{{.*}}none.json' expects an array 'survivors'
// RUN: not act-opt %t/step.mlir --act-choose-encodings="average-bits=4.5 profile=%t/key.json" 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: error: profile '{{.*}}key.json' expects a 'key' of survivor 1
// RUN: not act-opt %t/step.mlir --act-choose-encodings="average-bits=4.5 profile=%t/negative.json" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: profile '{{.*}}negative.json' expects a finite 'contribution' of 'a#1' that is not negative
// RUN: not act-opt %t/step.mlir --act-choose-encodings="average-bits=4.5 profile=%t/huge.json" 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: error: profile '{{.*}}huge.json' expects a finite 'contribution' of 'a#1' that is not negative
// RUN: not act-opt %t/step.mlir --act-choose-encodings="average-bits=4.5 profile=%t/nan.json" 2>&1 | FileCheck %s --check-prefix=NAN
// NAN: error: profile '{{.*}}nan.json' is not JSON:
// RUN: not act-opt %t/step.mlir --act-choose-encodings="average-bits=4.5 profile=%t/twice.json" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: profile '{{.*}}twice.json' expects keys that differ, got 'a#1' twice

//--- step.mlir
func.func @step(%x: tensor<128x128xf32>) {
  %c = act.compressed_save %x : tensor<128x128xf32> to !act.compressed<tensor<128x128xf32>, #act.raw>
  return
}
//--- text.json
no JSON
//--- array.json
[]
//--- unversioned.json
{"survivors": []}
//--- version.json
{"act_profile": 2}
//--- noise.json
{"act_profile": 1, "noise": {"variance": 0}, "survivors": []}
//--- none.json
{"act_profile": 1, "noise": {"variance": 1}}
//--- key.json
{"act_profile": 1, "noise": {"variance": 1}, "survivors": [{"key": "a#1", "contribution": 1}, {"contribution": 1}]}
//--- negative.json
{"act_profile": 1, "noise": {"variance": 1}, "survivors": [{"key": "a#1", "contribution": -1}]}
//--- huge.json
{"act_profile": 1, "noise": {"variance": 1}, "survivors": [{"key": "a#1", "contribution": 1e999}]}
//--- nan.json
{"act_profile": 1, "noise": {"variance": 1}, "survivors": [{"key": "a#1", "contribution": NaN}]}
//--- twice.json
{"act_profile": 1, "noise": {"variance": 1}, "survivors": [{"key": "a#1", "contribution": 1}, {"key": "a#1", "contribution": 2}]}
