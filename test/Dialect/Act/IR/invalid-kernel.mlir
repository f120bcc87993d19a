// RUN: act-opt %s --split-input-file --verify-diagnostics

// C1
func.func @arguments(%x: memref<8xf32>) {
  // expected-error@+1 {{'act.kernel' op expects arguments of the body with the types of the operands}}
  act.kernel elementwise [] (%x : memref<8xf32>) {
  ^bb0(%a: memref<4xf32>):
  }
  return
}

// -----

// C2
func.func @rows(%x: memref<8xf32>) {
  // expected-error@+1 {{'act.kernel' op expects positive rows, got 0}}
  act.kernel row_program [8, 0] (%x : memref<8xf32>) {
  ^bb0(%a: memref<8xf32>):
  }
  return
}

// -----

// C3
func.func @few_loops(%x: memref<8xf32>, %s: f32) {
  act.kernel row_program [8, 4] (%x, %s : memref<8xf32>, f32) {
  ^bb0(%a: memref<8xf32>, %b: f32):
    // expected-error@+1 {{expects at least 2 loops in a kernel with as many rows, got 1}}
    linalg.fill ins(%b : f32) outs(%a : memref<8xf32>)
  }
  return
}

// -----

// C3
func.func @other_extent(%x: memref<8xf32>, %s: f32) {
  act.kernel row_program [4] (%x, %s : memref<8xf32>, f32) {
  ^bb0(%a: memref<8xf32>, %b: f32):
    // expected-error@+1 {{expects loop 0 to be parallel over 4 elements, as the rows of its kernel are, got 8}}
    linalg.fill ins(%b : f32) outs(%a : memref<8xf32>)
  }
  return
}

// -----

func.func @captured(%x: memref<8xf32>, %s: f32) {
  // expected-note@+1 {{required by region isolation constraints}}
  act.kernel elementwise [] (%x : memref<8xf32>) {
  ^bb0(%a: memref<8xf32>):
    // expected-error@+1 {{using value defined outside the region}}
    linalg.fill ins(%s : f32) outs(%a : memref<8xf32>)
  }
  return
}
