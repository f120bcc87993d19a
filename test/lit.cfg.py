# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configuration of lit for the tests of act's tools and passes."""

# ruff: noqa: F821 (lit defines `config`)

import os
import shutil
from pathlib import Path

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

build = Path(config.act_obj_root)
plugin = build / "lib" / "ActPlugin.so"

config.name = "act"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".ll", ".mlir", ".ptx", ".py", ".test"]
config.excludes = ["Inputs", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = str(Path(__file__).parent)
config.test_exec_root = str(build / "test")

# Undefined variables are errors; a failure shows the lines that matter.
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --dump-input-filter=error"
llvm_config.with_system_environment(["CUDA_HOME", "CUDA_ROOT", "CUDA_PATH"])

llvm_config.add_tool_substitutions(
    [
        "act-capi-test",
        "act-gpu-emulate",
        "act-lsp-server",
        "act-opt",
        "act-planner",
        "act-run",
    ],
    [str(build / "bin"), str(build / "test" / "CAPI")],
)
llvm_config.add_tool_substitutions(
    [
        "FileCheck",
        "count",
        "llvm-as",
        "llvm-nm",
        "llvm-objdump",
        "mlir-runner",
        "not",
        "split-file",
    ],
    [config.llvm_tools_dir],
)
mlir_opt = f"{config.llvm_tools_dir}/mlir-opt"
if config.sanitizer_runtime:
    config.available_features.add("sanitizers")
    # MLIR's arena allocator poisons what it has not handed out. A slab that act's
    # code allocated is poisoned, and what libMLIR.so, which is not instrumented,
    # hands out of it stays so.
    config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0"
    # mlir-opt is not instrumented, the plugin it loads is. What mlir-opt itself
    # leaks is not our concern.
    mlir_opt = (
        f"env LD_PRELOAD={config.sanitizer_runtime} "
        f"ASAN_OPTIONS=detect_leaks=0:allow_user_poisoning=0 {mlir_opt}"
    )
llvm_config.add_tool_substitutions([ToolSubst("mlir-opt", command=mlir_opt)])
config.substitutions += [
    # mlir-opt %act_plugin: with the dialect, the passes and the op models.
    ("%act_plugin", f"--load-dialect-plugin={plugin} --load-pass-plugin={plugin}"),
    ("%act_libs", str(build / "lib")),
    ("%act_src", config.act_src_root),
    ("%llvm_libs", str(Path(config.llvm_tools_dir).parent / "lib")),
    ("%act_version", config.act_version),
    ("%host_cc", config.host_cc),
    ("%python", config.python_executable),
]

# The training steps of real models that lie beside the checkout.
shared_inputs = Path(config.act_src_root).parent / "shared" / "inputs"
if shared_inputs.is_dir():
    config.available_features.add("shared-inputs")
    config.substitutions.append(("%shared_inputs", str(shared_inputs)))

# The emulator is built for x86-64 only.
if (build / "lib" / "libact_gpu_emu.so").exists():
    config.available_features.add("gpu-emulator")
toolkits = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_ROOT", "CUDA_PATH")]
if any(toolkit and Path(toolkit).is_dir() for toolkit in toolkits):
    config.available_features.add("cuda-toolkit")

if shutil.which("valgrind"):
    config.available_features.add("valgrind")

# Machine code of kernels for GPUs; their text needs no toolkit.
variables = ["CUDA_HOME", "CUDA_ROOT", "CUDA_PATH"]
toolkits = [Path(os.environ[name]) for name in variables if os.environ.get(name)]
packages = Path(config.act_src_root, ".venv").glob("lib/*/site-packages/nvidia/*")
if shutil.which("ptxas") or any(
    (folder / "bin" / "ptxas").is_file() for folder in [*toolkits, *packages]
):
    config.available_features.add("ptxas")


if config.act_assertions == "ON":
    config.available_features.add("asserts")
