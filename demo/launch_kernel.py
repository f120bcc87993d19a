#!/usr/bin/env python3
# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Launches one of act's kernels without act: from its PTX text and the manifest.

    act-run step.mlir --emit=ptx -o kernels.ptx
    act-run step.mlir --emit=manifest -o kernels.json
    demo/launch_kernel.py kernels.ptx kernels.json                 lists the kernels
    demo/launch_kernel.py kernels.ptx kernels.json NAME x.npy y.npy 3.5

An argument is a file with a NumPy array for a pointer, else a number. Arrays that
the kernel may write to are written back to their files. --driver names another
library than libcuda.so.1 with CUDA's driver API, such as lib/libact_gpu_emu.so of
act's build folder, which needs no GPU.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "utils"))

from cuda_driver import Driver, DriverError, Module


def describe(entry: dict) -> str:
    """Returns a line about a kernel."""
    kinds = ", ".join(
        ("const pointer" if parameter["read_only"] else "pointer")
        if parameter["kind"] == "pointer"
        else parameter["kind"]
        for parameter in entry["parameters"]
    )
    return f"{entry['name']}({kinds}) grid {entry['grid']} block {entry['block']}"


def launch(driver: Driver, code: bytes, entry: dict, arguments: list[str]) -> None:
    """Executes a kernel on arrays in files.

    Args:
        driver: of the device.
        code: PTX text.
        entry: of the kernel in the manifest.
        arguments: names of files for pointers, numbers else.
    """
    parameters = entry["parameters"]
    if len(arguments) != len(parameters):
        raise ValueError(
            f"expects {len(parameters)} arguments, got {len(arguments)}: "
            + describe(entry)
        )
    kernel = Module(driver, code).kernel(entry)
    arrays, values = {}, []
    for text, parameter in zip(arguments, parameters, strict=True):
        if parameter["kind"] != "pointer":
            is_float = parameter["kind"].startswith("f")
            values.append(float(text) if is_float else int(text, 0))
            continue
        array = np.ascontiguousarray(np.load(text))
        pointer = driver.allocate(array.nbytes)
        driver.write(pointer, array.tobytes())
        values.append(pointer)
        arrays[text] = (pointer, array, parameter["read_only"])
    kernel.launch(values)
    driver.synchronize()
    for path, (pointer, array, read_only) in arrays.items():
        if not read_only:
            data = np.frombuffer(driver.read(pointer, array.nbytes), array.dtype)
            np.save(path, data.reshape(array.shape))
        driver.free(pointer)


def main() -> None:
    """Reads the command line and executes it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ptx", type=Path)
    parser.add_argument("manifest", type=Path)
    parser.add_argument("kernel", nargs="?")
    parser.add_argument("arguments", nargs="*")
    parser.add_argument("--driver", default="libcuda.so.1")
    options = parser.parse_args()
    entries = {
        entry["name"]: entry
        for entry in json.loads(options.manifest.read_text())["kernels"]
    }
    if options.kernel is None:
        print("\n".join(describe(entry) for entry in entries.values()))
        return
    if options.kernel not in entries:
        sys.exit(f"error: no kernel '{options.kernel}' in {options.manifest}")
    try:
        launch(
            Driver(options.driver),
            options.ptx.read_bytes(),
            entries[options.kernel],
            options.arguments,
        )
    except (DriverError, ValueError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
