// RUN: act-opt %s --split-input-file --act-memory --verify-diagnostics -o /dev/null > /dev/null
// RUN: echo "module {}" | not act-opt --act-memory 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: echo "func.func @f() { return }" | not act-opt --act-memory=output=%t.dir/none/memory.json -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNWRITABLE

// EMPTY: error: act-memory expects a public function
// UNWRITABLE: error: act-memory cannot write '{{.*}}memory.json': {{.*}}No such file or directory

func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> { // expected-error {{expects tensors of static shape for a model of memory, got 'tensor<?x4xf32>'}}
  return %x : tensor<?x4xf32>
}

// -----

func.func @dynamic_inside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expects tensors of static shape for a model of memory, got 'tensor<?xf32>'}}
  %0 = "stablehlo.custom_call"(%x) <{call_target_name = "f"}> : (tensor<4xf32>) -> tensor<?xf32>
  return %x : tensor<4xf32>
}

// -----

func.func @recursive(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @again(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expects a function of one block that does not call itself for a model of memory}}
  %0 = call @again(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @external(tensor<4xf32>) -> tensor<4xf32>
func.func @calls_external(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{expects a function of one block that does not call itself for a model of memory}}
  %0 = call @external(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{expects a body of one block for a model of memory}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}
