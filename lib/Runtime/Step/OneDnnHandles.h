//===- OneDnnHandles.h - oneDNN's objects with owners ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_RUNTIME_STEP_ONEDNNHANDLES_H
#define ACT_RUNTIME_STEP_ONEDNNHANDLES_H

// The C interface, because the C++ one throws.
#include <cstdint>
#include <dnnl.h>
#include <memory>

namespace act::step {

template <typename Handle, dnnl_status_t (*destroy)(Handle)>
struct OneDnnDeleter {
  using pointer = Handle;
  void operator()(Handle handle) const { destroy(handle); }
};
template <typename Handle, dnnl_status_t (*destroy)(Handle)>
using OneDnnOwner = std::unique_ptr<Handle, OneDnnDeleter<Handle, destroy>>;

using PrimitiveHandle = OneDnnOwner<dnnl_primitive_t, dnnl_primitive_destroy>;
using DescriptionHandle =
    OneDnnOwner<dnnl_primitive_desc_t, dnnl_primitive_desc_destroy>;
using AttributesHandle =
    OneDnnOwner<dnnl_primitive_attr_t, dnnl_primitive_attr_destroy>;
using PostOpsHandle = OneDnnOwner<dnnl_post_ops_t, dnnl_post_ops_destroy>;
using MemoryHandle = OneDnnOwner<dnnl_memory_t, dnnl_memory_destroy>;

/// The engine of the process and a stream of the calling thread; null if oneDNN
/// refuses.
dnnl_engine_t getEngine();
dnnl_stream_t getStream();

/// Attributes with the scratchpad passed by the caller, and with the result
/// added to what is there if `accumulate`.
AttributesHandle createAttributes(bool accumulate);

/// Memory described by `description` at `data`.
MemoryHandle createMemory(const dnnl_memory_desc_t &description,
                          const void *data);

/// What `what` of a primitive looks like; null if it has none.
const dnnl_memory_desc_t *getDescription(const_dnnl_primitive_desc_t primitive,
                                         dnnl_query_t what, int index = 0);

} // namespace act::step

#endif // ACT_RUNTIME_STEP_ONEDNNHANDLES_H
