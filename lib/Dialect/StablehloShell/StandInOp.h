//===- StandInOp.h - Operations defined by a table -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_DIALECT_STABLEHLOSHELL_STANDINOP_H
#define ACT_LIB_DIALECT_STABLEHLOSHELL_STANDINOP_H

#include "act/Analysis/OpModel/LoopModel.h"
#include "act/Dialect/StablehloShell/AttributeText.h"
#include "act/Dialect/StablehloShell/StablehloShell.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::act::shell {

/// The definition of one operation, which is what an `Op` class is to the rest
/// of MLIR: its properties are a dictionary of all its inherent attributes, it
/// verifies nothing but that a terminator ends its block, and its custom syntax
/// is an error that tells how to print the generic form.
class StandInOp : public OperationName::Impl {
public:
  StandInOp(const OpRow &row, Dialect *dialect, TypeID typeID);

  /// Reports that generic form is expected.
  static ParseResult parseCustomForm(OpAsmParser &parser,
                                     OperationState &state);

private:
  LogicalResult foldHook(Operation *, ArrayRef<Attribute>,
                         SmallVectorImpl<OpFoldResult> &) final {
    return failure();
  }
  void getCanonicalizationPatterns(RewritePatternSet &, MLIRContext *) final {}
  bool hasTrait(TypeID id) final;
  OperationName::ParseAssemblyFn getParseAssemblyFn() final {
    return parseCustomForm;
  }
  void populateDefaultAttrs(const OperationName &, NamedAttrList &) final {}
  void printAssembly(Operation *op, OpAsmPrinter &printer, StringRef) final;
  LogicalResult verifyInvariants(Operation *op) final;
  LogicalResult verifyRegionInvariants(Operation *) final { return success(); }

  std::optional<Attribute> getInherentAttr(Operation *op, StringRef name) final;
  void setInherentAttr(Operation *op, StringAttr name, Attribute value) final;
  void populateInherentAttrs(Operation *op, NamedAttrList &attrs) final;
  LogicalResult verifyInherentAttrs(OperationName, NamedAttrList &,
                                    function_ref<InFlightDiagnostic()>) final {
    return success();
  }
  int getOpPropertyByteSize() final { return sizeof(DictionaryAttr); }
  void initProperties(OperationName, OpaqueProperties storage,
                      OpaqueProperties init) final;
  void deleteProperties(OpaqueProperties) final {}
  void populateDefaultProperties(OperationName, OpaqueProperties) final {}
  LogicalResult
  setPropertiesFromAttr(OperationName name, OpaqueProperties properties,
                        Attribute attribute,
                        function_ref<InFlightDiagnostic()> emitError) final;
  Attribute getPropertiesAsAttr(Operation *op) final;
  void copyProperties(OpaqueProperties to, OpaqueProperties from) final;
  bool compareProperties(OpaqueProperties lhs, OpaqueProperties rhs) final;
  llvm::hash_code hashProperties(OpaqueProperties properties) final;

  const OpRow &row;
};

/// No effect.
struct NoEffectsModel : MemoryEffectOpInterface::FallbackModel<NoEffectsModel> {
  void getEffects(Operation *,
                  SmallVectorImpl<MemoryEffects::EffectInstance> &) const {}
};

/// Effects that attributes deny: of a custom call that says it has none and of
/// a composite that is a pure function.
struct EffectsModel : MemoryEffectOpInterface::FallbackModel<EffectsModel> {
  void
  getEffects(Operation *op,
             SmallVectorImpl<MemoryEffects::EffectInstance> &effects) const;
};

/// Pure operations may be executed speculatively.
struct SpeculationModel
    : ConditionallySpeculatable::FallbackModel<SpeculationModel> {
  Speculation::Speculatability getSpeculatability(Operation *) const {
    return Speculation::Speculatable;
  }
};

/// Properties in bytecode, which is for act's own tools: the real dialect's
/// attributes have an encoding of their own there.
struct BytecodeModel : BytecodeOpInterface::FallbackModel<BytecodeModel> {
  static LogicalResult readProperties(DialectBytecodeReader &reader,
                                      OperationState &state);
  void writeProperties(Operation *op, DialectBytecodeWriter &writer) const;
};

/// What act knows about the operations of a row.
struct StandInOpModel : OpModelInterface::FallbackModel<StandInOpModel> {
  explicit StandInOpModel(const OpRow &row) : row(&row) {}

  OpKind getOpKind(Operation *op) const;
  bool isCheapToRecompute(Operation *op) const;
  bool isDiscontinuous(Operation *op) const;
  bool squashesRange(Operation *op) const;
  bool isExponential(Operation *op) const;
  SmallVector<Value> getSelectedValues(Operation *op) const;
  SmallVector<Value> getSingularOperands(Operation *op) const;
  bool keepsZero(Operation *op) const;
  Attribute getConstantElements(Operation *op) const;
  std::optional<uint64_t>
  getUpperBound(Operation *op,
                ArrayRef<std::optional<uint64_t>> operandBounds) const;
  std::optional<LinearForm>
  getLinearForm(Operation *op,
                ArrayRef<std::optional<LinearForm>> operandForms) const;
  Value getCopiedValue(Operation *op, Value first) const;
  bool isReshape(Operation *op) const;
  std::optional<RowAccess> getRowRead(Operation *op) const;
  std::optional<RowAccess> getRowWrite(Operation *op) const;
  SmallVector<IterationAxis> getIterationAxes(Operation *op) const;
  Operation *buildPart(Operation *op, OpBuilder &builder, ValueRange operands,
                       const IterationAxis &axis, int64_t length,
                       Value offset) const;
  std::optional<FeatureDims> getFeatureDims(Operation *op) const;
  double getFlops(Operation *op) const;

private:
  /// The row of the operation that `op` stands for: of the CHLO function for a
  /// composite that names one.
  const OpRow &getRow(Operation *op) const;

  const OpRow *row;
};

/// Loops by `while`. The counter is a carried value: JAX makes scans so.
struct WhileModel : LoopModelInterface::FallbackModel<WhileModel> {
  Block *getLoopBody(Operation *op) const;
  Value getCounter(Operation *op) const;
  int64_t getTripCount(Operation *op) const;
  SmallVector<Value> getInitialValues(Operation *op) const;
  SmallVector<Value> getCarriedArguments(Operation *op) const;
  SmallVector<Value> getNextValues(Operation *op) const;
  Operation *createLike(Operation *op, OpBuilder &builder,
                        ValueRange initialValues,
                        ArrayRef<int64_t> origins) const;
  void finishBody(Operation *op, ValueRange nextValues) const;
  Value buildReversedCounter(Operation *op, OpBuilder &builder, Location loc,
                             Value counter) const;
};

/// The bound that `OpModelInterface::getUpperBound` promises.
std::optional<uint64_t>
computeUpperBound(const OpRow &row, Operation *op,
                  ArrayRef<std::optional<uint64_t>> operandBounds);

/// Floating-point operations of `op`, of kind `kind`.
double computeFlops(OpKind kind, Operation *op);

} // namespace mlir::act::shell

#endif // ACT_LIB_DIALECT_STABLEHLOSHELL_STANDINOP_H
