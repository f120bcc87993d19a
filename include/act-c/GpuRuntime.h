/*===-- act-c/GpuRuntime.h - What steps compiled for GPUs call ----*- C -*-===*\
|*                                                                            *|
|* Part of act, under the Apache License v2.0 with LLVM Exceptions.           *|
|* See LICENSE for license information.                                       *|
|* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                    *|
|*                                                                            *|
|*===----------------------------------------------------------------------===*|
|*                                                                            *|
|* The functions that a training step compiled for a GPU calls, and those     *|
|* that whoever executes it needs: contexts, memory, launches, graphs, times. *|
|* They live in libActGpuRuntime, which needs neither MLIR nor LLVM nor a     *|
|* CUDA toolkit. It opens the library with CUDA's driver API when a context   *|
|* is created: libcuda.so.1, or act's emulator, which exports the same        *|
|* functions.                                                                 *|
|*                                                                            *|
|* A compiled step is a function of type `act_gpu_step_function` that only    *|
|* launches kernels. Arguments, results and arena are addresses in the memory *|
|* of the device:                                                             *|
|*                                                                            *|
|*   void *context = act_gpu_context_create(NULL, 0);                         *|
|*   void *arena = act_gpu_allocate(context, step_info.arena_bytes);          *|
|*   if (step(arguments, results, arena, context) != 0 ||                     *|
|*       act_gpu_synchronize(context) != 0)                                   *|
|*     fprintf(stderr, "%s\n", act_gpu_context_error(context));               *|
|*   act_gpu_context_destroy(context);                                        *|
|*                                                                            *|
|* `act_gpu_step` does that for arguments and results in host memory.         *|
|*                                                                            *|
|* Functions that return int32_t return 0 on success, else 1. What failed is  *|
|* kept twice: as the error of the context, of which the first counts and     *|
|* after which launches and copies return at once, and as the last error of   *|
|* the calling thread, which is there even if there is no context.            *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ACT_C_GPURUNTIME_H
#define ACT_C_GPURUNTIME_H

#include "act-c/StepInfo.h"
#include <stdint.h>

#if defined(_WIN32)
#define ACT_GPU_RUNTIME_EXPORTED
#else
#define ACT_GPU_RUNTIME_EXPORTED __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** A step compiled for GPUs. `arguments` and `results` point to one device
 * address each, aligned to ACT_GPU_BUFFER_ALIGNMENT; `arena` is the device
 * address of as many bytes as the step promises, aligned to
 * ACT_GPU_ARENA_ALIGNMENT; `context` comes from act_gpu_context_create. Work is
 * queued on the stream of the context: arguments must not change, nor results
 * be read, before it is done. The type is that of act_cpu_step, so that
 * act_step_info describes both. */
typedef int32_t (*act_gpu_step_function)(const void *const *arguments,
                                         void *const *results, void *arena,
                                         void *context);

enum { ACT_GPU_ARENA_ALIGNMENT = 256, ACT_GPU_BUFFER_ALIGNMENT = 16 };

/*===----------------------------------------------------------------------===*\
|* Images: kernels as constants of a program
\*===----------------------------------------------------------------------===*/

/** A kernel with the only way in which it is launched. */
typedef struct {
  /** As in the PTX text; ends in 0. */
  const char *name;
  /** Numbers of blocks and threads in x, y, z. */
  uint32_t grid[3];
  uint32_t block[3];
  uint32_t dynamic_shared_bytes;
  uint32_t num_parameters;
  /** ACT_GPU_KERNEL flags. */
  uint32_t flags;
  uint32_t reserved;
} act_gpu_kernel;

enum {
  /** It adds floats atomically: the last bits of what it writes may depend on
   * the order in which its blocks run. */
  ACT_GPU_KERNEL_ORDER_DEPENDENT = 1
};

/** Machine code for one architecture. */
typedef struct {
  /** 10 * major + minor of the compute capability, such as 80 for sm_80. It
   * runs on devices of the same major and of at least the same minor number. */
  uint32_t architecture;
  uint32_t reserved;
  const void *data;
  int64_t bytes;
} act_gpu_cubin;

/** All kernels of a step. It must outlive the contexts that it was used with.
 */
typedef struct {
  /** ACT_GPU_IMAGE_VERSION of what wrote the image. */
  int32_t version;
  int32_t num_kernels;
  const act_gpu_kernel *kernels;
  /** Text, ending in 0, or null if there are binaries only. */
  const char *ptx;
  /** The oldest architecture that the text is for, such as 80. */
  int32_t ptx_architecture;
  int32_t num_cubins;
  const act_gpu_cubin *cubins;
  /** Null if there is none. */
  const void *fatbin;
  int64_t fatbin_bytes;
} act_gpu_image;

enum { ACT_GPU_IMAGE_VERSION = 1 };

/*===----------------------------------------------------------------------===*\
|* Errors
\*===----------------------------------------------------------------------===*/

/** What the last call that failed on this thread says, or null. Valid until the
 * next one. */
ACT_GPU_RUNTIME_EXPORTED const char *act_gpu_last_error(void);

/** The first error since the context was made or cleared, or null. */
ACT_GPU_RUNTIME_EXPORTED const char *act_gpu_context_error(const void *context);
/** 0 without an error, else 1: what a step returns. It does not wait for the
 * device. */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_context_status(const void *context);
/** Errors that leave the device unusable, such as a bad address in a kernel,
 * come back with the next call. */
ACT_GPU_RUNTIME_EXPORTED void act_gpu_context_clear_error(void *context);
/** Records `message`, copied, if there is no error yet. */
ACT_GPU_RUNTIME_EXPORTED void act_gpu_report_error(void *context,
                                                   const char *message);

/*===----------------------------------------------------------------------===*\
|* Contexts
\*===----------------------------------------------------------------------===*/

/** A device with a stream, memory and the modules loaded for it. `driver` is
 * the library with the driver API; if it is null, what the environment variable
 * ACT_GPU_DRIVER names, else libcuda.so.1. The device's primary context is
 * used, the one of CUDA's runtime, of XLA and PyTorch. A context serves one
 * thread at a time. Null on failure; act_gpu_last_error says why. */
ACT_GPU_RUNTIME_EXPORTED void *act_gpu_context_create(const char *driver,
                                                      int32_t device);
/** Waits for the device, then frees everything. */
ACT_GPU_RUNTIME_EXPORTED void act_gpu_context_destroy(void *context);

/** What a device is. */
typedef struct {
  char name[128];
  /** 10 * major + minor of its compute capability. */
  int32_t architecture;
  int32_t num_multiprocessors;
  int64_t memory_bytes;
  /** The most shared memory that a block may use if it asks for it. */
  int64_t shared_bytes;
  /** 1000 * major + 10 * minor of the CUDA version of the driver. */
  int32_t driver_version;
} act_gpu_device_info;

ACT_GPU_RUNTIME_EXPORTED int32_t
act_gpu_get_device_info(void *context, act_gpu_device_info *info);

/** Queues work on `stream`, a CUstream of the caller (null is CUDA's default
 * stream), instead of the context's own stream. */
ACT_GPU_RUNTIME_EXPORTED void act_gpu_set_stream(void *context, void *stream);
/** Queues work on the context's own stream again. */
ACT_GPU_RUNTIME_EXPORTED void act_gpu_use_own_stream(void *context);
ACT_GPU_RUNTIME_EXPORTED void *act_gpu_get_stream(const void *context);
/** Waits until all that was queued is done. */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_synchronize(void *context);

/** With `enabled` not 0, an infinity or NaN that act_gpu_step returns is an
 * error. Off at first. */
ACT_GPU_RUNTIME_EXPORTED void act_gpu_set_check(void *context, int32_t enabled);

/*===----------------------------------------------------------------------===*\
|* Memory
\*===----------------------------------------------------------------------===*/

/** `bytes` bytes of the device, aligned to ACT_GPU_ARENA_ALIGNMENT, not
 * initialised. Memory that was released before is used again. Null on failure;
 * never null for 0 bytes. */
ACT_GPU_RUNTIME_EXPORTED void *act_gpu_allocate(void *context, int64_t bytes);
/** Gives memory back for later allocations, which may use it once the work that
 * is queued now is done: allocate and release while one stream is in use. */
ACT_GPU_RUNTIME_EXPORTED void act_gpu_release(void *context, void *memory);
/** Frees the memory that is not in use. */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_trim(void *context);
/** Bytes that the context holds, in use or not. */
ACT_GPU_RUNTIME_EXPORTED int64_t act_gpu_allocated_bytes(const void *context);

/** Queue copies. Host memory must stay as it is until they are done. */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_copy_in(void *context, void *device,
                                                 const void *host,
                                                 int64_t bytes);
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_copy_out(void *context, void *host,
                                                  const void *device,
                                                  int64_t bytes);
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_copy(void *context, void *to,
                                              const void *from, int64_t bytes);
/** Queues a fill with copies of one byte. */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_fill(void *context, void *device,
                                              uint8_t value, int64_t bytes);
/** Waits for what is queued, then copies: for control flow that depends on
 * data. An error while a graph is captured. On failure `host` is filled with 0.
 */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_read(void *context, void *host,
                                              const void *device,
                                              int64_t bytes);

/*===----------------------------------------------------------------------===*\
|* Work
\*===----------------------------------------------------------------------===*/

/** Loads the code of `image` that suits the device best: a cubin of the same
 * architecture, else of the highest that runs on it, else the fatbin, else the
 * text, which the driver compiles. act_gpu_launch does it when it is first
 * called; before a graph is captured it is best done. */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_load(void *context,
                                              const act_gpu_image *image);

/** Queues kernel number `index` of `image`. `parameters` points to as many
 * values as the kernel has parameters, as cuLaunchKernel takes them. More than
 * 48 KiB of dynamic shared memory are asked for; what a device cannot do is an
 * error that names the kernel and the limit. */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_launch(void *context,
                                                const act_gpu_image *image,
                                                int32_t index,
                                                void *const *parameters);

/** Is called after each launch that act_gpu_launch queues, with its arguments.
 * It may use the context, but not launch. */
typedef void (*act_gpu_launch_hook)(void *user, const act_gpu_image *image,
                                    int32_t index, void *const *parameters);
/** Sets the hook, or none if `hook` is null. */
ACT_GPU_RUNTIME_EXPORTED void
act_gpu_set_launch_hook(void *context, act_gpu_launch_hook hook, void *user);

/** What a context launched since it was made. */
typedef struct {
  int64_t launches;
  /** Launches of kernels with ACT_GPU_KERNEL_ORDER_DEPENDENT. */
  int64_t order_dependent_launches;
} act_gpu_counts;

ACT_GPU_RUNTIME_EXPORTED void act_gpu_get_counts(const void *context,
                                                 act_gpu_counts *counts);

/** Properties of a kernel as the driver loaded it. */
typedef struct {
  int32_t registers;
  /** Bytes per thread in local memory: what did not fit into registers. */
  int32_t local_bytes;
  int32_t static_shared_bytes;
  int32_t max_threads;
} act_gpu_kernel_info;

ACT_GPU_RUNTIME_EXPORTED int32_t
act_gpu_get_kernel_info(void *context, const act_gpu_image *image,
                        int32_t index, act_gpu_kernel_info *info);

/*===----------------------------------------------------------------------===*\
|* Graphs, times, traces
\*===----------------------------------------------------------------------===*/

/** Records launches, copies and fills on the context's stream instead of
 * executing them, until act_gpu_graph_end. Execute the step once before, so
 * that everything is loaded. */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_graph_begin(void *context);
/** What was recorded, or null with an error. */
ACT_GPU_RUNTIME_EXPORTED void *act_gpu_graph_end(void *context);
/** Queues everything in the graph, with the addresses it was recorded with. */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_graph_launch(void *context,
                                                      void *graph);
ACT_GPU_RUNTIME_EXPORTED void act_gpu_graph_destroy(void *context, void *graph);

/** Starts the clock of the device, once what is queued before is done. */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_timer_start(void *context);
/** Waits for what is queued; seconds of the device since act_gpu_timer_start.
 */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_timer_stop(void *context,
                                                    double *seconds);

/** Starts to record, dropping what was recorded before. */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_trace_begin(void *context);
/** Stops to record and writes a Chrome trace (JSON): one complete event of
 * category "launch" per kernel, with start and duration on the device in
 * microseconds. */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_trace_write(void *context,
                                                     const char *path);

/*===----------------------------------------------------------------------===*\
|* Whole steps
\*===----------------------------------------------------------------------===*/

/** Executes a step: copies the arguments in, launches, copies the results out,
 * and waits. `arguments` and `results` point to host buffers as the tables of
 * `info` say. Device memory is kept for the next call. */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_step(void *context,
                                              const act_step_info *info,
                                              const void *const *arguments,
                                              void *const *results);

/** Executes the step twice, in an arena that is filled with one pattern and
 * with its complement before, and writes to `bytes` how many bytes of it,
 * counted from its start, were written to. Writing behind the arena is an
 * error. */
ACT_GPU_RUNTIME_EXPORTED int32_t act_gpu_measure_peak(
    void *context, const act_step_info *info, const void *const *arguments,
    void *const *results, int64_t *bytes);

#ifdef __cplusplus
}
#endif

#endif /* ACT_C_GPURUNTIME_H */
