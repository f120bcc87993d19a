//===- Annotations.cpp - Barriers, shardings, calls -----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PopulatePatterns.h"
#include "act/Dialect/Act/IR/ActOps.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

static LogicalResult verifySameTypes(Operation *op) {
  if (op->getOperandTypes() == op->getResultTypes())
    return success();
  return op->emitOpError("expects results of the types of the operands");
}

static LogicalResult lowerBarrier(Operation *op, Lowering &lowering) {
  if (failed(verifySameTypes(op)))
    return failure();
  if (op->getNumOperands() == 0)
    return success();
  auto barrier =
      BarrierOp::create(lowering.getBuilder(), lowering.get(op->getOperands()));
  for (auto [from, to] :
       llvm::zip_equal(op->getResults(), barrier.getResults()))
    lowering.map(from, to);
  return success();
}

/// The results are the operands.
static LogicalResult lowerIdentity(Operation *op, Lowering &lowering) {
  if (failed(verifySameTypes(op)))
    return failure();
  for (auto [from, to] : llvm::zip_equal(op->getResults(), op->getOperands()))
    lowering.map(from, lowering.get(to));
  return success();
}

static LogicalResult lowerCustomCall(Operation *op, Lowering &lowering) {
  auto target = op->getAttrOfType<StringAttr>("call_target_name");
  if (!target)
    return op->emitOpError("expects a name as 'call_target_name'");
  static constexpr StringLiteral identities[] = {
      "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
      "xla.sdy.FuncResultSharding", "annotate_device_placement"};
  if (llvm::is_contained(identities, target.getValue()))
    return lowerIdentity(op, lowering);
  return op->emitOpError("calls '")
         << target.getValue() << "', which has no native lowering yet";
}

/// A function of CHLO that is spelled as a composite has a decomposition, which
/// is called.
static LogicalResult lowerComposite(Operation *op, Lowering &lowering) {
  auto callee = op->getAttrOfType<FlatSymbolRefAttr>("decomposition");
  if (!callee)
    return op->emitOpError("expects a function as 'decomposition'");
  auto call = func::CallOp::create(
      lowering.getBuilder(),
      llvm::map_to_vector(op->getResultTypes(),
                          [](Type type) { return convertType(type); }),
      callee, lowering.get(op->getOperands()));
  for (auto [from, to] : llvm::zip_equal(op->getResults(), call.getResults()))
    lowering.map(from, to);
  return success();
}

void mlir::act::lowering::populateAnnotationPatterns(
    LoweringPatterns &patterns) {
  patterns.add("stablehlo.composite", -1, lowerComposite);
  patterns.add("stablehlo.custom_call", -1, lowerCustomCall);
  patterns.add("stablehlo.optimization_barrier", -1, lowerBarrier);
  patterns.add("sdy.propagation_barrier", 1, lowerIdentity);
  patterns.add("sdy.reshard", 1, lowerIdentity);
  patterns.add("sdy.sharding_constraint", 1, lowerIdentity);
}
