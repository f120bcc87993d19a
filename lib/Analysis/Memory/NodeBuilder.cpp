//===- NodeBuilder.cpp - Simplified nodes ------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepGraphBuilder.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::memory;

RankedTensorType memory::getType(Ref ref) {
  return ref.node->types[ref.result];
}

static bool isEqual(const Node &node, NodeKind kind, StringRef name,
                    ArrayRef<RankedTensorType> types, ArrayRef<Ref> operands,
                    Attribute attributes, Attribute signature) {
  return node.kind == kind && node.name == name &&
         ArrayRef(node.types) == types && node.attributes == attributes &&
         node.signature == signature && ArrayRef(node.operands) == operands;
}

Node &NodeBuilder::node(NodeKind kind, StringRef name,
                        ArrayRef<RankedTensorType> types,
                        ArrayRef<Ref> operands, Attribute attributes,
                        Attribute signature) {
  llvm::hash_code hash =
      llvm::hash_combine(kind, name, attributes.getAsOpaquePointer(),
                         signature.getAsOpaquePointer());
  for (Ref operand : operands)
    hash = llvm::hash_combine(hash, operand.node, operand.result);
  for (RankedTensorType type : types)
    hash = llvm::hash_combine(hash, type.getAsOpaquePointer());
  SmallVector<Node *, 1> &equal =
      known[static_cast<unsigned>(static_cast<size_t>(hash))];
  for (Node *other : equal)
    if (isEqual(*other, kind, name, types, operands, attributes, signature))
      return *other;
  Node &created = computation.create(kind, name, types, operands, origin);
  created.attributes = attributes;
  created.signature = signature;
  equal.push_back(&created);
  return created;
}

Ref NodeBuilder::parameter(RankedTensorType type, Value value) {
  Node &node =
      computation.create(NodeKind::Parameter, "parameter", type, {}, value);
  computation.parameters.push_back(&node);
  return {&node, 0};
}

Ref NodeBuilder::constant(RankedTensorType type, Attribute elements) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(elements);
  if (splat && type.getRank() != 0) {
    auto scalar = RankedTensorType::get({}, type.getElementType());
    Ref value = constant(scalar, splat.resizeSplat(scalar));
    return broadcast(value, type, {});
  }
  return {&node(NodeKind::Constant, "constant", type, {}, elements), 0};
}

Ref NodeBuilder::bitcast(Ref operand, ArrayRef<int64_t> shape) {
  if (operand.node->kind == NodeKind::Bitcast)
    operand = operand.node->operands.front();
  RankedTensorType type = getType(operand).clone(shape);
  if (type == getType(operand))
    return operand;
  return {&node(NodeKind::Bitcast, "bitcast", type, operand), 0};
}

Ref NodeBuilder::broadcast(Ref operand, RankedTensorType type,
                           ArrayRef<int64_t> dims) {
  RankedTensorType from = getType(operand);
  if (getNumElements(from) == getNumElements(type) &&
      llvm::is_sorted(dims)) // only adds dimensions of one element
    return bitcast(operand, type.getShape());
  // Dimensions of one element are dropped first, as the target does.
  SmallVector<int64_t> shape, kept;
  for (auto [dim, size] : llvm::zip_equal(dims, from.getShape()))
    if (size != 1) {
      shape.push_back(size);
      kept.push_back(dim);
    }
  operand = bitcast(operand, shape);
  Builder attributes(type.getContext());
  return {&node(NodeKind::Broadcast, "broadcast", type, operand,
                attributes.getDenseI64ArrayAttr(kept)),
          0};
}

Ref NodeBuilder::transpose(Ref operand, ArrayRef<int64_t> permutation) {
  RankedTensorType from = getType(operand);
  SmallVector<int64_t> shape, moved;
  for (int64_t dim : permutation) {
    shape.push_back(from.getDimSize(dim));
    if (from.getDimSize(dim) != 1)
      moved.push_back(dim);
  }
  if (llvm::is_sorted(moved))
    return bitcast(operand, shape);
  Builder attributes(from.getContext());
  return {&node(NodeKind::Permuting, "transpose", from.clone(shape), operand,
                attributes.getDenseI64ArrayAttr(permutation)),
          0};
}

/// True if `ref` is one number, repeated.
static bool isConstantSplat(Ref ref) {
  if (ref.node->kind == NodeKind::Broadcast)
    ref = ref.node->operands.front();
  return ref.node->kind == NodeKind::Constant && isScalar(getType(ref));
}

/// The number one of the element type of `type`.
static TypedAttr getOne(RankedTensorType type) {
  auto scalar = RankedTensorType::get({}, type.getElementType());
  Builder builder(type.getContext());
  return DenseElementsAttr::get(
      scalar, builder.getFloatAttr(type.getElementType(), 1.0).getValue());
}

/// Operations that the target has for 16-bit floats of 8 exponent bits.
static bool isForBF16(StringRef name) {
  return name == "convert" || name == "select" || name == "bitcast_convert";
}

/// `type` with 32 bits per element where it has bf16.
static RankedTensorType widen(RankedTensorType type) {
  return type.getElementType().isBF16()
             ? type.clone(Float32Type::get(type.getContext()))
             : type;
}

SmallVector<Ref> NodeBuilder::widenOperands(ArrayRef<Ref> operands) {
  return llvm::map_to_vector(operands, [&](Ref operand) {
    RankedTensorType type = widen(getType(operand));
    return type == getType(operand) ? operand
                                    : elementwise("convert", type, operand);
  });
}

Ref NodeBuilder::elementwise(StringRef name, RankedTensorType type,
                             ArrayRef<Ref> operands, Attribute attributes) {
  // The target computes in 32 bits and rounds every result.
  auto isShort = [](Ref ref) { return getType(ref).getElementType().isBF16(); };
  if (!isForBF16(name) &&
      (type.getElementType().isBF16() || llvm::any_of(operands, isShort)))
    return elementwise(
        "convert", type,
        elementwise(name, widen(type), widenOperands(operands), attributes));
  // Division is slow: the target multiplies by a reciprocal where that is of
  // fewer elements.
  if (name == "divide" && isa<FloatType>(type.getElementType()) &&
      operands[1].node->kind == NodeKind::Broadcast &&
      !isConstantSplat(operands[0])) {
    Ref divisor = operands[1];
    if (isConstantSplat(divisor))
      return elementwise("multiply", type, operands, attributes);
    Ref small = divisor.node->operands.front();
    Ref one =
        broadcast(constant(RankedTensorType::get({}, type.getElementType()),
                           getOne(type)),
                  getType(small), {});
    Ref reciprocal = elementwise("divide", getType(small), {one, small});
    auto dims = cast<DenseI64ArrayAttr>(divisor.node->attributes);
    Ref repeated = broadcast(reciprocal, type, dims.asArrayRef());
    return elementwise("multiply", type, {operands[0], repeated});
  }
  if (name == "convert" && getType(operands[0]) == type)
    return operands[0];
  return {&node(NodeKind::Elementwise, name, type, operands, attributes), 0};
}
