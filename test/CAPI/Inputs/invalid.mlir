func.func private @mask_of_floats(!act.compressed<tensor<8xf32>, #act.mask>)
