// RUN: act-opt %s --act-plan-memory --split-input-file --verify-diagnostics

func.func @argument(%x: memref<8xf32>) -> memref<8xf32> {
  // expected-error@+1 {{'func.return' op expects operand 0 to be a buffer of its own}}
  return %x : memref<8xf32>
}

// -----

func.func @one(%x: memref<8xf32>) {
  return
}

// expected-error@+1 {{'func.func' op expects one public function in the module}}
func.func @two(%x: memref<8xf32>) {
  return
}

// -----

// expected-error@+1 {{expects a public function to plan}}
module {
  func.func private @inner(%x: memref<8xf32>) {
    return
  }
}

// -----

// expected-error@+1 {{'func.func' op expects a body of one block}}
func.func @blocks(%x: memref<8xf32>) {
  cf.br ^bb1
^bb1:
  return
}

// -----

// expected-error@+1 {{'func.func' op expects arguments that are buffers of known shape, got 'i1' as argument 1}}
func.func @scalar(%x: memref<8xf32>, %p: i1) {
  return
}
