//===- StandInOp.cpp - Operations defined by a table ----------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StandInOp.h"
#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::act::shell;

static mlir::detail::InterfaceMap getInterfaces(const OpRow &row) {
  mlir::detail::InterfaceMap interfaces;
  interfaces.insertModels<BytecodeModel>();
  if (row.effects == OpEffects::Pure)
    interfaces.insertModels<NoEffectsModel, SpeculationModel>();
  else if (row.effects == OpEffects::Attributes)
    interfaces.insertModels<EffectsModel>();
  if (row.name == "while")
    interfaces.insertModels<WhileModel>();
  return interfaces;
}

StandInOp::StandInOp(const OpRow &row, Dialect *dialect, TypeID typeID)
    : Impl((dialect->getNamespace() + "." + row.name).str(), dialect, typeID,
           getInterfaces(row)),
      row(row) {}

bool StandInOp::hasTrait(TypeID id) {
  if (id == TypeID::get<OpTrait::IsTerminator>())
    return row.has(OpFlags::Terminator);
  if (id == TypeID::get<OpTrait::HasRecursiveMemoryEffects>())
    return row.effects == OpEffects::Regions;
  return false;
}

ParseResult StandInOp::parseCustomForm(OpAsmParser &parser,
                                       OperationState &state) {
  // The parser puts "custom op '<name>'" in front.
  return parser.emitError(parser.getNameLoc())
         << "expects StableHLO in generic form; print it with "
            "`module.operation.get_asm(print_generic_op_form=True, "
            "enable_debug_info=True)` in Python or with `stablehlo-opt "
            "--mlir-print-op-generic`";
}

void StandInOp::printAssembly(Operation *op, OpAsmPrinter &printer, StringRef) {
  printer.printGenericOp(op);
}

LogicalResult StandInOp::verifyInvariants(Operation *op) {
  if (!row.has(OpFlags::Terminator))
    return success();
  return OpTrait::impl::verifyIsTerminator(op);
}

//===----------------------------------------------------------------------===//
// Inherent attributes
//===----------------------------------------------------------------------===//

static DictionaryAttr &attributesOf(OpaqueProperties properties) {
  return *properties.as<DictionaryAttr *>();
}

static DictionaryAttr &attributesOf(Operation *op) {
  return attributesOf(op->getPropertiesStorage());
}

std::optional<Attribute> StandInOp::getInherentAttr(Operation *op,
                                                    StringRef name) {
  if (DictionaryAttr attributes = attributesOf(op))
    if (Attribute attribute = attributes.get(name))
      return attribute;
  return std::nullopt;
}

void StandInOp::setInherentAttr(Operation *op, StringAttr name,
                                Attribute value) {
  NamedAttrList attributes(attributesOf(op));
  if (value)
    attributes.set(name, value);
  else
    attributes.erase(name);
  attributesOf(op) = attributes.getDictionary(op->getContext());
}

void StandInOp::populateInherentAttrs(Operation *op, NamedAttrList &attrs) {
  if (DictionaryAttr attributes = attributesOf(op))
    attrs.append(attributes.getValue());
}

void StandInOp::initProperties(OperationName, OpaqueProperties storage,
                               OpaqueProperties init) {
  new (storage.as<DictionaryAttr *>())
      DictionaryAttr(init ? attributesOf(init) : DictionaryAttr());
}

LogicalResult StandInOp::setPropertiesFromAttr(
    OperationName name, OpaqueProperties properties, Attribute attribute,
    function_ref<InFlightDiagnostic()> emitError) {
  auto attributes = dyn_cast_or_null<DictionaryAttr>(attribute);
  if (!attributes)
    return emitError() << "expects a dictionary of inherent attributes of '"
                       << name << "', got " << attribute;
  attributesOf(properties) = attributes;
  return success();
}

Attribute StandInOp::getPropertiesAsAttr(Operation *op) {
  DictionaryAttr attributes = attributesOf(op);
  return attributes && !attributes.empty() ? attributes : Attribute();
}

void StandInOp::copyProperties(OpaqueProperties to, OpaqueProperties from) {
  attributesOf(to) = attributesOf(from);
}

bool StandInOp::compareProperties(OpaqueProperties lhs, OpaqueProperties rhs) {
  return attributesOf(lhs) == attributesOf(rhs);
}

llvm::hash_code StandInOp::hashProperties(OpaqueProperties properties) {
  return hash_value(attributesOf(properties));
}

LogicalResult BytecodeModel::readProperties(DialectBytecodeReader &reader,
                                            OperationState &state) {
  DictionaryAttr attributes;
  if (failed(reader.readAttribute(attributes)))
    return failure();
  state.propertiesAttr = attributes;
  return success();
}

void BytecodeModel::writeProperties(Operation *op,
                                    DialectBytecodeWriter &writer) const {
  DictionaryAttr attributes = attributesOf(op);
  writer.writeAttribute(attributes ? attributes
                                   : DictionaryAttr::get(op->getContext()));
}
