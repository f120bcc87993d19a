// RUN: act-opt %s --convert-stablehlo-to-linalg --split-input-file --verify-diagnostics

func.func @regions(%x: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.while' op expects two regions and results of the types of the operands}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<i32>):
    "stablehlo.return"(%i) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @arguments(%x: tensor<i32>) {
  // expected-error @+1 {{expects regions of one block with arguments of the types of the operands}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<i32>, %j: tensor<i32>):
    "stablehlo.return"(%i) : (tensor<i32>) -> ()
  }, {
  ^bb0(%i: tensor<i32>):
    "stablehlo.return"(%i) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @condition(%x: tensor<i32>) {
  // expected-error @+1 {{expects a condition of tensor<i1>}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<i32>):
    "stablehlo.return"(%i) : (tensor<i32>) -> ()
  }, {
  ^bb0(%i: tensor<i32>):
    "stablehlo.return"(%i) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<i32>
  return
}

// -----

func.func @body(%x: tensor<i1>) {
  // expected-error @+1 {{expects a body that returns values of the types of the operands}}
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<i1>):
    "stablehlo.return"(%i) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i1>):
    "stablehlo.return"() : () -> ()
  }) : (tensor<i1>) -> tensor<i1>
  return
}

// -----

func.func @inside(%x: tensor<i1>) {
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%i: tensor<i1>):
    "stablehlo.return"(%i) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i1>):
    // expected-error @+1 {{'stablehlo.fft' op has no native lowering yet}}
    %1 = "stablehlo.fft"(%i) : (tensor<i1>) -> tensor<i1>
    "stablehlo.return"(%1) : (tensor<i1>) -> ()
  }) : (tensor<i1>) -> tensor<i1>
  return
}

// -----

func.func @branch_results(%i: tensor<i32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.case' op expects regions that return values of the types of the results}}
  %0 = "stablehlo.case"(%i) ({
    "stablehlo.return"(%i) : (tensor<i32>) -> ()
  }) : (tensor<i32>) -> tensor<4xf32>
  return
}

// -----

func.func @number(%i: tensor<i64>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.case' op expects a rank-0 tensor of i32, got 'tensor<i64>'}}
  %0 = "stablehlo.case"(%i) ({
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<i64>) -> tensor<4xf32>
  return
}

// -----

func.func @if_regions(%p: tensor<i1>, %x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.if' op expects two regions, got 1}}
  %0 = "stablehlo.if"(%p) ({
    "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
  }) : (tensor<i1>) -> tensor<4xf32>
  return
}

// -----

// expected-error @+1 {{'func.func' op expects one block, got 2}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}
