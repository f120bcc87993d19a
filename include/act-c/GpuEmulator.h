/*===-- act-c/GpuEmulator.h - A GPU that the processor emulates ----*- C
-*-===*\
|*                                                                            *|
|* Part of act, under the Apache License v2.0 with LLVM Exceptions.           *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* What libact_gpu_emu.so offers besides the CUDA driver API (cu*) and the    *|
|* functions that MLIR's host code calls (mgpu*): options, messages, and what *|
|* a module contains. See docs/Emulator.md.                                   *|
|*                                                                            *|
|* Functions that return int return 0 or a CUresult.                          *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ACT_C_GPUEMULATOR_H
#define ACT_C_GPUEMULATOR_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define ACT_GPU_EMULATOR_EXPORTED
#else
#define ACT_GPU_EMULATOR_EXPORTED __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Changes options, as the environment variable ACT_GPU_EMULATOR sets them at
 * the start: "check=1,schedule=random:7,workers=2". Items that are not named
 * stay as they are. Kernels are compiled anew where checks or statistics
 * change. */
ACT_GPU_EMULATOR_EXPORTED int act_gpu_emulator_configure(const char *options);

/** The text of the last error of this thread: kernel, block, thread, and the
 * instruction with its line of PTX. Empty if there was none. Valid until the
 * next error. */
ACT_GPU_EMULATOR_EXPORTED const char *act_gpu_emulator_last_error(void);

/** Loads PTX text or LLVM bitcode for NVPTX of `bytes` bytes. The module is one
 * of the driver API: cuModuleGetFunction and cuModuleUnload take it. */
ACT_GPU_EMULATOR_EXPORTED int
act_gpu_emulator_load(void **module, const void *image, size_t bytes);

/** The kernels of a module, in the order of the text. They are functions of the
 * driver API: cuLaunchKernel takes them. */
ACT_GPU_EMULATOR_EXPORTED int64_t
act_gpu_emulator_num_kernels(const void *module);
ACT_GPU_EMULATOR_EXPORTED void *act_gpu_emulator_kernel(void *module,
                                                        int64_t number);
/** Valid until the thread asks for another name. */
ACT_GPU_EMULATOR_EXPORTED const char *
act_gpu_emulator_kernel_name(const void *kernel);
/** Compiles a kernel now instead of at its first launch. Fails if it contains
 * an instruction that the emulator does not know. */
ACT_GPU_EMULATOR_EXPORTED int act_gpu_emulator_compile(void *kernel);

/** Parameters of a kernel: their number, size in bytes, and whether PTX says
 * that they are pointers (.ptr). */
ACT_GPU_EMULATOR_EXPORTED int64_t
act_gpu_emulator_num_parameters(const void *kernel);
ACT_GPU_EMULATOR_EXPORTED int64_t
act_gpu_emulator_parameter_bytes(const void *kernel, int64_t number);
ACT_GPU_EMULATOR_EXPORTED int
act_gpu_emulator_parameter_is_pointer(const void *kernel, int64_t number);

/** The statistics of all launches since the last call of
 * act_gpu_emulator_clear_statistics, as JSON; needs the option statistics=1.
 * Valid until the thread asks again. */
ACT_GPU_EMULATOR_EXPORTED const char *act_gpu_emulator_statistics(void);
ACT_GPU_EMULATOR_EXPORTED void act_gpu_emulator_clear_statistics(void);

#ifdef __cplusplus
}
#endif

#endif /* ACT_C_GPUEMULATOR_H */
