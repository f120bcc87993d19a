//===- OneDnn.cpp - Products computed by oneDNN ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "Libraries.h"
#include "OneDnnHandles.h"
#include "Primitives.h"

using namespace act::step;

// Declared here because the header omp.h belongs to the compiler, and oneDNN's
// OpenMP is not the compiler's.
extern "C" void omp_set_num_threads(int);
extern "C" int omp_get_max_threads();

SingleThreaded::SingleThreaded() : before(omp_get_max_threads()) {
  if (before != 1)
    omp_set_num_threads(1);
}

SingleThreaded::~SingleThreaded() {
  if (before != 1)
    omp_set_num_threads(before);
}

dnnl_engine_t act::step::getEngine() {
  // Never destroyed: threads may still use it when the process ends.
  static dnnl_engine_t engine = [] {
    dnnl_engine_t created = nullptr;
    return dnnl_engine_create(&created, dnnl_cpu, 0) == dnnl_success ? created
                                                                     : nullptr;
  }();
  return engine;
}

dnnl_stream_t act::step::getStream() {
  struct Owner {
    dnnl_stream_t stream = nullptr;
    Owner() {
      if (getEngine() &&
          dnnl_stream_create(&stream, getEngine(), dnnl_stream_default_flags) !=
              dnnl_success)
        stream = nullptr;
    }
    ~Owner() {
      if (stream)
        dnnl_stream_destroy(stream);
    }
  };
  thread_local Owner owner;
  return owner.stream;
}

AttributesHandle act::step::createAttributes(bool accumulate) {
  dnnl_primitive_attr_t attributes = nullptr;
  if (dnnl_primitive_attr_create(&attributes) != dnnl_success)
    return nullptr;
  AttributesHandle owner(attributes);
  dnnl_primitive_attr_set_scratchpad_mode(attributes,
                                          dnnl_scratchpad_mode_user);
  if (!accumulate)
    return owner;
  dnnl_post_ops_t postOps = nullptr;
  if (dnnl_post_ops_create(&postOps) != dnnl_success)
    return nullptr;
  PostOpsHandle postOpsOwner(postOps);
  if (dnnl_post_ops_append_sum(postOps, 1) != dnnl_success ||
      dnnl_primitive_attr_set_post_ops(attributes, postOps) != dnnl_success)
    return nullptr;
  return owner;
}

MemoryHandle act::step::createMemory(const dnnl_memory_desc_t &description,
                                     const void *data) {
  dnnl_memory_t memory = nullptr;
  if (dnnl_memory_create(&memory, &description, getEngine(),
                         const_cast<void *>(data)) != dnnl_success)
    return nullptr;
  return MemoryHandle(memory);
}

const dnnl_memory_desc_t *
act::step::getDescription(const_dnnl_primitive_desc_t primitive,
                          dnnl_query_t what, int index) {
  return dnnl_primitive_desc_query_md(primitive, what, index);
}

bool act::step::hasOneDnn() { return getEngine() != nullptr; }

bool act::step::hasFastBFloat16() {
  constexpr int needed = dnnl_cpu_isa_avx512_core_bf16;
  static bool has =
      hasOneDnn() && (int(dnnl_get_effective_cpu_isa()) & needed) == needed;
  return has;
}

bool act::step::hasAvx512() {
  constexpr int needed = dnnl_cpu_isa_avx512_core;
  static bool has =
      hasOneDnn() && (int(dnnl_get_effective_cpu_isa()) & needed) == needed;
  return has;
}

bool act::step::computeOneDnn(const GemmBlock &block) {
  SingleThreaded guard;
  bool transposesA = block.aK != 1, transposesB = block.bN != 1;
  return dnnl_sgemm(transposesA ? 'T' : 'N', transposesB ? 'T' : 'N', block.m,
                    block.n, block.k, 1.0f, static_cast<const float *>(block.a),
                    transposesA ? block.aK : block.aM,
                    static_cast<const float *>(block.b),
                    transposesB ? block.bN : block.bK,
                    block.accumulate ? 1.0f : 0.0f,
                    static_cast<float *>(block.c), block.cM) == dnnl_success;
}

namespace {
/// A product of bf16 matrices of fixed shapes.
struct ShortProduct : Primitive {
  dnnl_memory_desc_t a, b, c;
  DescriptionHandle description;
  PrimitiveHandle primitive;
  int64_t scratchBytes = 0;

  bool initialize(const GemmBlock &block);
  bool execute(const GemmBlock &block, void *scratch) const;
};
} // namespace

static bool describeMatrix(dnnl_memory_desc_t &description, int64_t rows,
                           int64_t columns, int64_t rowStride,
                           int64_t columnStride, dnnl_data_type_t type) {
  dnnl_dims_t extents = {rows, columns}, strides = {rowStride, columnStride};
  return dnnl_memory_desc_init_by_strides(&description, 2, extents, type,
                                          strides) == dnnl_success;
}

bool ShortProduct::initialize(const GemmBlock &block) {
  SingleThreaded guard;
  dnnl_matmul_desc_t operation;
  AttributesHandle attributes = createAttributes(block.accumulate);
  if (!attributes ||
      !describeMatrix(a, block.m, block.k, block.aM, block.aK, dnnl_bf16) ||
      !describeMatrix(b, block.k, block.n, block.bK, block.bN, dnnl_bf16) ||
      !describeMatrix(c, block.m, block.n, block.cM, block.cN, dnnl_f32) ||
      dnnl_matmul_desc_init(&operation, &a, &b, nullptr, &c) != dnnl_success)
    return false;
  dnnl_primitive_desc_t newDescription = nullptr;
  if (dnnl_primitive_desc_create(&newDescription, &operation, attributes.get(),
                                 getEngine(), nullptr) != dnnl_success)
    return false;
  description.reset(newDescription);
  dnnl_primitive_t newPrimitive = nullptr;
  if (dnnl_primitive_create(&newPrimitive, newDescription) != dnnl_success)
    return false;
  primitive.reset(newPrimitive);
  scratchBytes = int64_t(dnnl_memory_desc_get_size(
      getDescription(newDescription, dnnl_query_scratchpad_md)));
  return true;
}

bool ShortProduct::execute(const GemmBlock &block, void *scratch) const {
  SingleThreaded guard;
  MemoryHandle memories[] = {
      createMemory(a, block.a), createMemory(b, block.b),
      createMemory(c, block.c),
      createMemory(*getDescription(description.get(), dnnl_query_scratchpad_md),
                   scratch)};
  for (const MemoryHandle &memory : memories)
    if (!memory)
      return false;
  dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, memories[0].get()},
                                 {DNNL_ARG_WEIGHTS, memories[1].get()},
                                 {DNNL_ARG_DST, memories[2].get()},
                                 {DNNL_ARG_SCRATCHPAD, memories[3].get()}};
  return getStream() && dnnl_primitive_execute(primitive.get(), getStream(), 4,
                                               arguments) == dnnl_success;
}

bool act::step::computeOneDnnShort(Context &context, const GemmBlock &block,
                                   int64_t thread) {
  PrimitiveCache::Key key = {block.m,  block.n,  block.k,
                             block.aM, block.aK, block.bK,
                             block.bN, block.cM, block.accumulate};
  auto *product = static_cast<ShortProduct *>(
      context.getPrimitives().get(key, [&]() -> std::unique_ptr<Primitive> {
        auto created = std::make_unique<ShortProduct>();
        return created->initialize(block) ? std::move(created) : nullptr;
      }));
  if (!product)
    return false;
  void *scratch = context.getWorkspace(thread).get(product->scratchBytes);
  return scratch && product->execute(block, scratch);
}
