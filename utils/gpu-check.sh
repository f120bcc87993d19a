#!/usr/bin/env bash
# Checks on a GPU what was computed on act's emulator, and measures the GPU.
#
#   utils/gpu-check.sh --prepare STEP.mlir...   records steps, plain and compressed,
#                                               in build/recordings (no GPU needed)
#   utils/gpu-check.sh [FOLDER] [--json FILE] [--driver LIBRARY] [--seconds N]
#
# The second form builds nothing and needs only Python and a driver. FOLDER has what
# act-run --record wrote, build/recordings if it is not given. Without a GPU it says
# that it is skipped. ACT_GPU_DRIVER or --driver names the library with CUDA's driver
# API, libcuda.so.1 else; build/lib/libact_gpu_emu.so tests the check itself. After
# N seconds (280) it starts nothing more. docs/Gpu.md describes what it writes.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
readonly root

if [[ "${1:-}" == --prepare ]]; then
  shift
  if [[ $# -eq 0 ]]; then
    echo "error: --prepare expects files of steps" >&2
    exit 2
  fi
  for step in "$@"; do
    name="$(basename "${step%.*}")"
    folder="${root}/build/recordings/${name}"
    mkdir -p "${folder}"
    "${root}/build/bin/act-run" "${step}" --target=emulator --random-args \
      --record="${folder}/plain" | tail -1
    "${root}/build/bin/act-run" "${step}" --target=emulator --random-args \
      --compress=bits=4 --record="${folder}/compressed" | tail -1
  done
  exit
fi
exec "${PYTHON:-python3}" "${root}/utils/gpu_check.py" "$@"
