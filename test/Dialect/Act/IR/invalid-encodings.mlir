// One case for each numbered constraint in ActAttributes.td and ActTypes.td.

// RUN: act-opt %s --split-input-file --verify-diagnostics

// group_quant C1
// expected-error @+1 {{expects bits to be 1, 2, 4 or 8, got 3}}
#encoding = #act.group_quant<bits = 3, group = 64>

// -----

// group_quant C2
// expected-error @+1 {{expects group to be at least 2, got 1}}
#encoding = #act.group_quant<bits = 4, group = 1>

// -----

// group_quant C3
// expected-error @+1 {{expects params to be f32 or bf16, got 'f16'}}
#encoding = #act.group_quant<bits = 4, group = 64, params = f16>

// -----

// group_quant C4: at least 1
// expected-error @+1 {{expects merge to be at least 1, got 0}}
#encoding = #act.group_quant<bits = 4, group = 64, merge = 0>

// -----

// group_quant C4: only along the last axis
// expected-error @+1 {{expects merge only with axis -1, got axis 1}}
#encoding = #act.group_quant<bits = 4, group = 64, axis = 1, merge = 2>

// -----

// group_quant C5
// expected-error @+1 {{expects axis to be at least -1, got -2}}
#encoding = #act.group_quant<bits = 4, group = 64, axis = -2>

// -----

// group_quant C6: integers
// expected-error @+1 {{group_quant expects a floating-point element type of 16, 32 or 64 bits, got 'i32'}}
func.func private @f(!act.compressed<tensor<8x64xi32>, #act.group_quant<bits = 4, group = 64>>)

// -----

// group_quant C6: 8 bits
// expected-error @+1 {{group_quant expects a floating-point element type of 16, 32 or 64 bits, got 'f8E5M2'}}
func.func private @f(!act.compressed<tensor<8x64xf8E5M2>, #act.group_quant<bits = 4, group = 64>>)

// -----

// group_quant C6: complex numbers
// expected-error @+1 {{group_quant expects a floating-point element type of 16, 32 or 64 bits, got 'complex<f32>'}}
func.func private @f(!act.compressed<tensor<8x64xcomplex<f32>>, #act.group_quant<bits = 4, group = 64>>)

// -----

// group_quant C6: static shape
// expected-error @+1 {{group_quant expects a static shape, got 'tensor<8x?xf32>'}}
func.func private @f(!act.compressed<tensor<8x?xf32>, #act.group_quant<bits = 4, group = 64>>)

// -----

// group_quant C6: at least one element
// expected-error @+1 {{group_quant expects at least one element, got 'tensor<0x64xf32>'}}
func.func private @f(!act.compressed<tensor<0x64xf32>, #act.group_quant<bits = 4, group = 64>>)

// -----

// group_quant C6: more axes than axis
// expected-error @+1 {{group_quant expects a tensor of rank 3 or more, got 'tensor<8x64xf32>'}}
func.func private @f(!act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64, axis = 2>>)

// -----

// group_quant C6: axis -1 needs an axis
// expected-error @+1 {{group_quant expects a tensor of rank 1 or more, got 'tensor<f32>'}}
func.func private @f(!act.compressed<tensor<f32>, #act.group_quant<bits = 4, group = 64>>)

// -----

// group_quant C6: at least merge axes
// expected-error @+1 {{group_quant expects a tensor of rank 3 or more, got 'tensor<8x64xf32>'}}
func.func private @f(!act.compressed<tensor<8x64xf32>, #act.group_quant<bits = 4, group = 64, merge = 3>>)

// -----

// axis_quant C1
// expected-error @+1 {{expects bits to be 1, 2, 4 or 8, got 16}}
#encoding = #act.axis_quant<bits = 16, axis = 0>

// -----

// axis_quant C2
// expected-error @+1 {{expects an axis that is not negative, got -1}}
#encoding = #act.axis_quant<bits = 4, axis = -1>

// -----

// axis_quant C3: element type
// expected-error @+1 {{axis_quant expects a floating-point element type of 16, 32 or 64 bits, got 'i8'}}
func.func private @f(!act.compressed<tensor<8x64xi8>, #act.axis_quant<bits = 4, axis = 0>>)

// -----

// axis_quant C3: static shape
// expected-error @+1 {{axis_quant expects a static shape, got 'tensor<?x64xf32>'}}
func.func private @f(!act.compressed<tensor<?x64xf32>, #act.axis_quant<bits = 4, axis = 0>>)

// -----

// axis_quant C3: at least one element
// expected-error @+1 {{axis_quant expects at least one element, got 'tensor<8x0xf32>'}}
func.func private @f(!act.compressed<tensor<8x0xf32>, #act.axis_quant<bits = 4, axis = 0>>)

// -----

// axis_quant C3: more axes than axis
// expected-error @+1 {{axis_quant expects a tensor of rank 3 or more, got 'tensor<8x64xf32>'}}
func.func private @f(!act.compressed<tensor<8x64xf32>, #act.axis_quant<bits = 4, axis = 2>>)

// -----

// float C1
// expected-error @+1 {{expects type to be f8E4M3FN, f8E5M2, bf16 or f16, got 'f32'}}
#encoding = #act.float<type = f32>

// -----

// float C2: 1
// expected-error @+1 {{expects group to be 0 or at least 2, got 1}}
#encoding = #act.float<type = bf16, group = 1>

// -----

// float C2: negative
// expected-error @+1 {{expects group to be 0 or at least 2, got -4}}
#encoding = #act.float<type = bf16, group = -4>

// -----

// float C3: element type
// expected-error @+1 {{float expects a floating-point element type of 16, 32 or 64 bits, got 'i32'}}
func.func private @f(!act.compressed<tensor<8x64xi32>, #act.float<type = bf16>>)

// -----

// float C3: wider
// expected-error @+1 {{float expects an element type wider than 'bf16', got 'f16'}}
func.func private @f(!act.compressed<tensor<8x64xf16>, #act.float<type = bf16>>)

// -----

// float C3: static shape
// expected-error @+1 {{float expects a static shape, got 'tensor<8x?xf32>'}}
func.func private @f(!act.compressed<tensor<8x?xf32>, #act.float<type = bf16>>)

// -----

// float C3: at least one element
// expected-error @+1 {{float expects at least one element, got 'tensor<8x0xf32>'}}
func.func private @f(!act.compressed<tensor<8x0xf32>, #act.float<type = bf16>>)

// -----

// float C3: at least one axis
// expected-error @+1 {{float expects a tensor of rank 1 or more, got 'tensor<f32>'}}
func.func private @f(!act.compressed<tensor<f32>, #act.float<type = bf16>>)

// -----

// mask C1
// expected-error @+1 {{expects merge to be at least 1, got 0}}
#encoding = #act.mask<merge = 0>

// -----

// mask C2: element type
// expected-error @+1 {{mask expects element type i1, got 'i8'}}
func.func private @f(!act.compressed<tensor<8x64xi8>, #act.mask>)

// -----

// mask C2: static shape
// expected-error @+1 {{mask expects a static shape, got 'tensor<8x?xi1>'}}
func.func private @f(!act.compressed<tensor<8x?xi1>, #act.mask>)

// -----

// mask C2: at least one element
// expected-error @+1 {{mask expects at least one element, got 'tensor<8x0xi1>'}}
func.func private @f(!act.compressed<tensor<8x0xi1>, #act.mask>)

// -----

// mask C2: at least merge axes
// expected-error @+1 {{mask expects a tensor of rank 3 or more, got 'tensor<8x64xi1>'}}
func.func private @f(!act.compressed<tensor<8x64xi1>, #act.mask<merge = 3>>)

// -----

// mask C3
// expected-error @+1 {{expects group to be 0 or a positive multiple of 8, got 12}}
#encoding = #act.mask<group = 12>

// -----

// narrow C1
// expected-error @+1 {{expects bits to be 1, 2, 4, 8 or 16, got 3}}
#encoding = #act.narrow<bits = 3>

// -----

// narrow C2
// expected-error @+1 {{expects merge to be at least 1, got -1}}
#encoding = #act.narrow<bits = 4, merge = -1>

// -----

// narrow C3: integers
// expected-error @+1 {{narrow expects an integer element type of more than 4 bits, got 'f32'}}
func.func private @f(!act.compressed<tensor<8x64xf32>, #act.narrow<bits = 4>>)

// -----

// narrow C3: wider
// expected-error @+1 {{narrow expects an integer element type of more than 8 bits, got 'i8'}}
func.func private @f(!act.compressed<tensor<8x64xi8>, #act.narrow<bits = 8>>)

// -----

// narrow C3: index has no width
// expected-error @+1 {{narrow expects an integer element type of more than 8 bits, got 'index'}}
func.func private @f(!act.compressed<tensor<8x64xindex>, #act.narrow<bits = 8>>)

// -----

// narrow C3: static shape
// expected-error @+1 {{narrow expects a static shape, got 'tensor<?xi32>'}}
func.func private @f(!act.compressed<tensor<?xi32>, #act.narrow<bits = 4>>)

// -----

// narrow C3: at least one element
// expected-error @+1 {{narrow expects at least one element, got 'tensor<0xi32>'}}
func.func private @f(!act.compressed<tensor<0xi32>, #act.narrow<bits = 4>>)

// -----

// narrow C3: at least merge axes
// expected-error @+1 {{narrow expects a tensor of rank 2 or more, got 'tensor<8xi32>'}}
func.func private @f(!act.compressed<tensor<8xi32>, #act.narrow<bits = 4, merge = 2>>)

// -----

// compressed C1
// expected-error @+2 {{invalid kind of attribute specified}}
// expected-error @+1 {{failed to parse Act_CompressedType parameter 'encoding'}}
func.func private @f(!act.compressed<tensor<8x64xf32>, 3 : i32>)

// -----

// compressed C2
// expected-error @+1 {{mask expects element type i1, got 'f32'}}
func.func private @f(!act.compressed<tensor<8x64xf32>, #act.mask>)

// -----

// compressed: a tensor that is not ranked
// expected-error @+2 {{invalid kind of type specified: expected builtin.tensor, but found 'tensor<*xf32>'}}
// expected-error @+1 {{failed to parse Act_CompressedType parameter 'tensorType'}}
func.func private @f(!act.compressed<tensor<*xf32>, #act.raw>)

// -----

// required parameters
// expected-error @+1 {{struct is missing required parameter: group}}
#encoding = #act.group_quant<bits = 4>

// -----

// names of parameters
// expected-error @+1 {{duplicate or unknown struct parameter name: size}}
#encoding = #act.group_quant<bits = 4, group = 64, size = 4>

// -----

// rounding is an enumeration
// expected-error @+2 {{expected one of [nearest, stochastic] for How a value between two codes is rounded, got: up}}
// expected-error @+1 {{failed to parse}}
#encoding = #act.group_quant<bits = 4, group = 64, rounding = up>

// -----

// range is an enumeration
// expected-error @+2 {{expected one of [batch, running] for Where the range of an `axis_quant` encoding comes from, got: epoch}}
// expected-error @+1 {{failed to parse}}
#encoding = #act.axis_quant<bits = 4, axis = 0, range = epoch>

// -----

// narrow C4
// expected-error @+1 {{expects group to be 0 or a positive multiple of 8, got -8}}
#encoding = #act.narrow<bits = 4, group = -8>
