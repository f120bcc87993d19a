# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gradient.py DIRECTORY: arguments and results of stablehlo.mlir."""

import sys
from pathlib import Path

import numpy as np

directory = Path(sys.argv[1])
generator = np.random.default_rng(0)
w0 = generator.standard_normal((64, 128)) / 8
w1 = generator.standard_normal((128, 128)) / 12
x = generator.standard_normal((512, 64))

h0 = np.tanh(x @ w0)
h1 = np.tanh(h0 @ w1)
gradient = 2 * h1 * (1 - h1**2) / h1.size
dw1 = h0.T @ gradient
dw0 = x.T @ (gradient @ w1.T * (1 - h0**2))

arrays = {"arguments": (w0, w1, x), "results": (np.mean(h1**2), dw0, dw1)}
for name, values in arrays.items():
    np.savez(directory / name, *(np.asarray(v, np.float32) for v in values))
