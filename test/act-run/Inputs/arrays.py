# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""arrays.py DIRECTORY: arguments and results of step.mlir, right and wrong."""

import sys
from pathlib import Path

import numpy as np

directory = Path(sys.argv[1])
directory.mkdir(parents=True, exist_ok=True)


def save(name: str, *arrays: np.ndarray, **named: np.ndarray) -> None:
    """Writes NAME.npz."""
    np.savez(directory / f"{name}.npz", *arrays, **named)


x = np.arange(12, dtype=np.float32).reshape(4, 3) / 10
offset = np.float32(0.5)
y = np.exp(2 * x.astype(np.float64)) + 0.5

save("named", offset=offset, x=x)
save("positions", x, offset)
save("arguments", arg_1=offset, arg_0=x)
np.savez_compressed(directory / "compressed.npz", x=x, offset=offset)
save("fortran", x=np.asfortranarray(x), offset=offset)

save("shape", x=x.T, offset=offset)
save("type", x=x.astype(np.float16), offset=offset)
save("missing", x=x)
save("extra", x=x, offset=offset, momentum=x)
save("twice", x=x, offset=offset, arr_0=x)
save("strings", x=np.array(["a"]), offset=offset)
save("big_endian", x=x.astype(">f4"), offset=offset)
save("infinite", x=50 * x, offset=offset)

results = (y[0].sum().astype(np.float32), y.astype(np.float32))
save("results", *results)
save("results_by_name", y=results[1], loss=results[0])
save("other_results", results[0], results[1] * np.float32(1.001))
save("missing_result", results[0])
save("last_bit", results[0], np.nextafter(results[1], np.float32(0)))
