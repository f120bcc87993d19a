# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments and results of gpu_step.mlir."""

import sys
from pathlib import Path

import numpy as np

folder = Path(sys.argv[1])
folder.mkdir()
x = np.arange(64, dtype=np.float32) / 3
y = x.reshape(2, 32)[:, ::-1].reshape(64) + np.float32(1)
np.savez(folder / "x.npz", x)
np.savez(folder / "y.npz", y)
np.savez(folder / "wrong.npz", y + np.float32(1))
infinite = x.copy()
infinite[3] = np.inf
np.savez(folder / "infinite.npz", infinite)
np.save(folder / "x.npy", x)
np.save(folder / "out.npy", np.zeros_like(x))
np.save(folder / "sum.npy", x + np.float32(2.5))
