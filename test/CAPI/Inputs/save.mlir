func.func @twice(%m: tensor<8xi1>, %x: tensor<8xf32>) -> (!act.compressed<tensor<8xi1>, #act.mask>, !act.compressed<tensor<8xi1>, #act.mask>, tensor<8xf32>) {
  %c = act.compressed_save %m : tensor<8xi1> to !act.compressed<tensor<8xi1>, #act.mask>
  %d = act.compressed_save %m : tensor<8xi1> to !act.compressed<tensor<8xi1>, #act.mask>
  %y = "stablehlo.tanh"(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %z = "tf.Unknown"(%y) : (tensor<8xf32>) -> tensor<8xf32>
  return %c, %d, %z : !act.compressed<tensor<8xi1>, #act.mask>, !act.compressed<tensor<8xi1>, #act.mask>, tensor<8xf32>
}
