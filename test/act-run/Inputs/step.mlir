// A step that is lowered already: doubled = 2 * x lies in the arena,
// y = exp(doubled) + offset, loss = the sum of y[0, :].
module attributes {act.step = {
  name = "main", arena_bytes = 48 : i64, bound_bytes = 48 : i64,
  kernels = 2 : i64,
  arguments = [{name = "x", type = tensor<4x3xf32>},
               {name = "offset", type = tensor<f32>}],
  results = [{name = "loss", type = tensor<f32>},
             {name = "y", type = tensor<4x3xf32>}]}} {
  llvm.mlir.global private constant @double_name("double\00")
  llvm.mlir.global private constant @shift_name("shift\00")
  llvm.func @act_cpu_launch(!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64)
  llvm.func @expf(f32) -> f32

  // One unit is an element.
  llvm.func internal @double(%buffers: !llvm.ptr, %begin: i64, %end: i64) {
    %one = llvm.mlir.constant(1 : i64) : i64
    %x = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
    %1 = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %out = llvm.load %1 : !llvm.ptr -> !llvm.ptr
    llvm.br ^head(%begin : i64)
  ^head(%i: i64):
    %more = llvm.icmp "slt" %i, %end : i64
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %from = llvm.getelementptr %x[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %value = llvm.load %from : !llvm.ptr -> f32
    %sum = llvm.fadd %value, %value : f32
    %to = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %sum, %to : f32, !llvm.ptr
    %next = llvm.add %i, %one : i64
    llvm.br ^head(%next : i64)
  ^exit:
    llvm.return
  }

  llvm.func internal @exp_plus(%value: f32, %offset: f32) -> f32 {
    %exp = llvm.call @expf(%value) : (f32) -> f32
    %sum = llvm.fadd %exp, %offset : f32
    llvm.return %sum : f32
  }

  llvm.func internal @shift(%buffers: !llvm.ptr, %begin: i64, %end: i64) {
    %one = llvm.mlir.constant(1 : i64) : i64
    %in = llvm.load %buffers : !llvm.ptr -> !llvm.ptr
    %1 = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %offset = llvm.load %1 : !llvm.ptr -> !llvm.ptr
    %2 = llvm.getelementptr %buffers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %out = llvm.load %2 : !llvm.ptr -> !llvm.ptr
    %add = llvm.load %offset : !llvm.ptr -> f32
    llvm.br ^head(%begin : i64)
  ^head(%i: i64):
    %more = llvm.icmp "slt" %i, %end : i64
    llvm.cond_br %more, ^body, ^exit
  ^body:
    %from = llvm.getelementptr %in[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    %value = llvm.load %from : !llvm.ptr -> f32
    %sum = llvm.call @exp_plus(%value, %add) : (f32, f32) -> f32
    %to = llvm.getelementptr %out[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
    llvm.store %sum, %to : f32, !llvm.ptr
    %next = llvm.add %i, %one : i64
    llvm.br ^head(%next : i64)
  ^exit:
    llvm.return
  }

  llvm.func @main(%arguments: !llvm.ptr, %results: !llvm.ptr, %arena: !llvm.ptr,
                  %context: !llvm.ptr) -> i32 {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %count = llvm.mlir.constant(3 : i64) : i64
    %elements = llvm.mlir.constant(12 : i64) : i64
    %buffers = llvm.alloca %count x !llvm.ptr : (i64) -> !llvm.ptr
    %second = llvm.getelementptr %buffers[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %third = llvm.getelementptr %buffers[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %x = llvm.load %arguments : !llvm.ptr -> !llvm.ptr
    %1 = llvm.getelementptr %arguments[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %offset = llvm.load %1 : !llvm.ptr -> !llvm.ptr
    %loss = llvm.load %results : !llvm.ptr -> !llvm.ptr
    %2 = llvm.getelementptr %results[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %y = llvm.load %2 : !llvm.ptr -> !llvm.ptr

    llvm.store %x, %buffers : !llvm.ptr, !llvm.ptr
    llvm.store %arena, %second : !llvm.ptr, !llvm.ptr
    %double = llvm.mlir.addressof @double : !llvm.ptr
    %double_name = llvm.mlir.addressof @double_name : !llvm.ptr
    llvm.call @act_cpu_launch(%context, %double_name, %double, %buffers, %elements, %elements)
        : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()

    llvm.store %arena, %buffers : !llvm.ptr, !llvm.ptr
    llvm.store %offset, %second : !llvm.ptr, !llvm.ptr
    llvm.store %y, %third : !llvm.ptr, !llvm.ptr
    %shift = llvm.mlir.addressof @shift : !llvm.ptr
    %shift_name = llvm.mlir.addressof @shift_name : !llvm.ptr
    llvm.call @act_cpu_launch(%context, %shift_name, %shift, %buffers, %elements, %elements)
        : (!llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, i64, i64) -> ()

    %y1 = llvm.getelementptr %y[1] : (!llvm.ptr) -> !llvm.ptr, f32
    %y2 = llvm.getelementptr %y[2] : (!llvm.ptr) -> !llvm.ptr, f32
    %a = llvm.load %y : !llvm.ptr -> f32
    %b = llvm.load %y1 : !llvm.ptr -> f32
    %c = llvm.load %y2 : !llvm.ptr -> f32
    %ab = llvm.fadd %a, %b : f32
    %abc = llvm.fadd %ab, %c : f32
    llvm.store %abc, %loss : f32, !llvm.ptr
    llvm.return %zero : i32
  }
}
