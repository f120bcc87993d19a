// RUN: act-opt %s --act-emit-object=output=%t.o --split-input-file --verify-diagnostics
// RUN: not ls %t.o

// expected-error@+1 {{expects a module with the attribute 'act.step', which a step has once it is lowered to the LLVM dialect}}
module {
}

// -----

// expected-error@+1 {{expects an integer 'arena_bytes' in 'act.step', got <<NULL ATTRIBUTE>>}}
module attributes {act.step = {name = "main", bound_bytes = 0 : i64, kernels = 0 : i64,
    arguments = [], results = []}} {
}

// -----

// expected-error@+1 {{expects 'arena_bytes' of 'act.step' not to be negative, got -1}}
module attributes {act.step = {name = "main", arena_bytes = -1 : i64, bound_bytes = 0 : i64,
    kernels = 0 : i64, arguments = [], results = []}} {
}

// -----

// expected-error@+1 {{expects a string 'name' in 'act.step', got 3 : i64}}
module attributes {act.step = {name = 3 : i64}} {
}

// -----

// expected-error@+1 {{expects an array 'results' in 'act.step', got <<NULL ATTRIBUTE>>}}
module attributes {act.step = {name = "main", arena_bytes = 0 : i64, bound_bytes = 0 : i64,
    kernels = 0 : i64, arguments = []}} {
}

// -----

// expected-error@+1 {{expects a dictionary with a type for argument 1 in 'act.step', got {name = "x"}}}
module attributes {act.step = {name = "main", arena_bytes = 0 : i64, bound_bytes = 0 : i64,
    kernels = 0 : i64, arguments = [{type = tensor<f32>}, {name = "x"}], results = []}} {
}

// -----

// expected-error@+1 {{expects a tensor of static shape for result 0 in 'act.step', got {type = tensor<?xf32>}}}
module attributes {act.step = {name = "main", arena_bytes = 0 : i64, bound_bytes = 0 : i64,
    kernels = 0 : i64, arguments = [], results = [{type = tensor<?xf32>}]}} {
}

// -----

// expected-error@+1 {{expects an element type that steps can pass for result 0 in 'act.step', got {type = tensor<complex<f32>>}}}
module attributes {act.step = {name = "main", arena_bytes = 0 : i64, bound_bytes = 0 : i64,
    kernels = 0 : i64, arguments = [], results = [{type = tensor<complex<f32>>}]}} {
}

// -----

// expected-error@+1 {{expects a definition of llvm.func @main, the step that 'act.step' names}}
module attributes {act.step = {name = "main", arena_bytes = 0 : i64, bound_bytes = 0 : i64,
    kernels = 0 : i64, arguments = [], results = []}} {
  llvm.func @main(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32
}

// -----

module attributes {act.step = {name = "main", arena_bytes = 0 : i64, bound_bytes = 0 : i64,
    kernels = 0 : i64, arguments = [], results = []}} {
  // expected-error@+1 {{'llvm.func' op expects the type '!llvm.func<i32 (ptr, ptr, ptr, ptr)>', got '!llvm.func<void (ptr)>'}}
  llvm.func @main(%x: !llvm.ptr) {
    llvm.return
  }
}

// -----

module attributes {act.step = {name = "main", arena_bytes = 0 : i64, bound_bytes = 0 : i64,
    kernels = 0 : i64, arguments = [], results = []}} {
  llvm.func @main(%0: !llvm.ptr, %1: !llvm.ptr, %2: !llvm.ptr, %3: !llvm.ptr) -> i32 {
    %4 = llvm.mlir.constant(0 : i32) : i32
    llvm.return %4 : i32
  }
  // expected-error@+1 {{'func.func' op expects the module of a step to consist of operations of the LLVM dialect}}
  func.func private @kernel()
}
