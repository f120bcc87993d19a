//===- Sort.cpp - Sorting along a dimension -------------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows are sorted one after another by merging: a pass merges neighbouring runs
// of 1, 2, 4, ... sorted elements, from the row into another one, and copies
// that back. It is stable.
//
//===----------------------------------------------------------------------===//

#include "PopulatePatterns.h"
#include "ScalarBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::lowering;

using Dims = SmallVector<int64_t>;
using arith::CmpIPredicate;

/// True if the elements `lhs`, one per operand, come before `rhs`.
using EmitBefore =
    function_ref<Value(ImplicitLocOpBuilder &, ValueRange lhs, ValueRange rhs)>;

namespace {
/// Sorts matrices along their rows.
class RowSorter {
public:
  RowSorter(Lowering &lowering, EmitBefore emitBefore)
      : lowering(lowering), b(lowering.getBuilder()), emitBefore(emitBefore) {}

  /// Sorts tensors of one shape RxN together.
  SmallVector<Value> sort(ValueRange matrices);

private:
  SmallVector<Value> sortRow(ValueRange row);
  /// Merges runs of `width` elements of `row`.
  SmallVector<Value> merge(ValueRange row, Value width);
  /// The next element of a merge: takes it from `first` in the left run, or
  /// from `second` in the right one. Returns whether from the left one.
  Value emitIsLeft(ValueRange row, Value first, Value second, Value middle,
                   Value end);

  Value index(int64_t value) { return lowering.getIndexConstant(value); }
  SmallVector<Value> read(ValueRange tensors, Value position) {
    return llvm::map_to_vector(tensors, [&](Value tensor) -> Value {
      return tensor::ExtractOp::create(b, tensor, position);
    });
  }

  Lowering &lowering;
  ImplicitLocOpBuilder &b;
  EmitBefore emitBefore;
  int64_t length = 0;
};
} // namespace

/// A loop whose body is built at `b`; `emitBody` returns what it yields.
static SmallVector<Value>
createFor(ImplicitLocOpBuilder &b, Value limit, Value zero, Value one,
          ValueRange inits,
          function_ref<SmallVector<Value>(Value, ValueRange)> emitBody) {
  auto loop = scf::ForOp::create(b, zero, limit, one, inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(
      b, emitBody(loop.getInductionVar(), loop.getRegionIterArgs()));
  return llvm::to_vector_of<Value>(loop.getResults());
}

Value RowSorter::emitIsLeft(ValueRange row, Value first, Value second,
                            Value middle, Value end) {
  Value hasFirst = emitCompare(b, CmpIPredicate::ult, first, middle);
  Value hasSecond = emitCompare(b, CmpIPredicate::ult, second, end);
  auto choice = scf::IfOp::create(b, b.getI1Type(),
                                  emit<arith::AndIOp>(b, hasFirst, hasSecond),
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(choice.thenBlock());
  // Of equal elements the left one stays in front.
  Value isRight = emitBefore(b, read(row, second), read(row, first));
  scf::YieldOp::create(
      b, emit<arith::XOrIOp>(b, isRight, emitConstant(b, b.getI1Type(), 1)));
  b.setInsertionPointToEnd(choice.elseBlock());
  scf::YieldOp::create(b, hasFirst);
  return choice.getResult(0);
}

SmallVector<Value> RowSorter::merge(ValueRange row, Value width) {
  SmallVector<Value> inits{index(0), index(0)};
  for (Value tensor : row)
    inits.push_back(lowering.createEmpty(getTensorType(tensor)));
  Value both = emit<arith::MulIOp>(b, width, index(2));
  auto emitBody = [&](Value position, ValueRange carried) {
    Value offset = emit<arith::RemUIOp>(b, position, both);
    Value start = emit<arith::SubIOp>(b, position, offset);
    auto clamp = [&](Value value) {
      return emit<arith::MinUIOp>(b, value, index(length));
    };
    Value middle = clamp(emit<arith::AddIOp>(b, start, width));
    Value end = clamp(emit<arith::AddIOp>(b, start, both));
    Value isStart = emitCompare(b, CmpIPredicate::eq, offset, index(0));
    Value first = emitSelect(b, isStart, start, carried[0]);
    Value second = emitSelect(b, isStart, middle, carried[1]);
    Value isLeft = emitIsLeft(row, first, second, middle, end);
    SmallVector<Value> elements =
        read(row, emitSelect(b, isLeft, first, second));
    auto advance = [&](Value from, Value flag) {
      return emitSelect(b, flag, emit<arith::AddIOp>(b, from, index(1)), from);
    };
    Value isRight =
        emit<arith::XOrIOp>(b, isLeft, emitConstant(b, b.getI1Type(), 1));
    SmallVector<Value> next{advance(first, isLeft), advance(second, isRight)};
    for (auto [element, target] :
         llvm::zip_equal(elements, carried.drop_front(2)))
      next.push_back(tensor::InsertOp::create(b, element, target, position));
    return next;
  };
  SmallVector<Value> results =
      createFor(b, index(length), index(0), index(1), inits, emitBody);
  results.erase(results.begin(), results.begin() + 2);
  return results;
}

SmallVector<Value> RowSorter::sortRow(ValueRange row) {
  int64_t passes = llvm::Log2_64_Ceil(length);
  return createFor(
      b, index(passes), index(0), index(1), row,
      [&](Value pass, ValueRange carried) {
        Value width = emit<arith::ShLIOp>(b, index(1), pass);
        SmallVector<Value> copies;
        AffineMap identity = b.getMultiDimIdentityMap(1);
        for (auto [merged, target] :
             llvm::zip_equal(merge(carried, width), carried))
          copies.push_back(
              lowering
                  .createGeneric(merged, target, {identity, identity},
                                 utils::IteratorType::parallel,
                                 [](ImplicitLocOpBuilder &, ValueRange x) {
                                   return SmallVector<Value>{x.front()};
                                 })
                  .front());
        return copies;
      });
}

SmallVector<Value> RowSorter::sort(ValueRange matrices) {
  RankedTensorType type = getTensorType(matrices.front());
  length = type.getDimSize(1);
  SmallVector<Value> inits;
  for (Value matrix : matrices)
    inits.push_back(matrix);
  SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1)),
      sizes{b.getIndexAttr(1), b.getIndexAttr(length)};
  return createFor(
      b, index(type.getDimSize(0)), index(0), index(1), inits,
      [&](Value number, ValueRange carried) {
        SmallVector<OpFoldResult> offsets{number, b.getIndexAttr(0)};
        SmallVector<Value> row;
        for (Value matrix : carried)
          row.push_back(tensor::ExtractSliceOp::create(
              b, getTensorType(matrix).clone({length}), matrix, offsets, sizes,
              strides));
        SmallVector<Value> results = sortRow(row);
        for (auto [result, matrix] : llvm::zip_equal(results, carried))
          result = tensor::InsertSliceOp::create(b, result, matrix, offsets,
                                                 sizes, strides);
        return results;
      });
}

/// Sorts tensors along one of their dimensions together.
static SmallVector<Value> createSorted(Lowering &lowering, ValueRange values,
                                       int64_t dim, EmitBefore emitBefore) {
  RankedTensorType type = getTensorType(values.front());
  int64_t rank = type.getRank(), length = type.getDimSize(dim);
  if (length <= 1)
    return llvm::to_vector(values);
  // The dimension last, and back.
  Dims order = getOtherDims(rank, {{dim}}), back(rank), moved;
  order.push_back(dim);
  for (auto [i, from] : llvm::enumerate(order)) {
    back[from] = i;
    moved.push_back(type.getDimSize(from));
  }
  SmallVector<Value> matrices = llvm::map_to_vector(values, [&](Value value) {
    return lowering.createReshape(lowering.createTranspose(value, order),
                                  {type.getNumElements() / length, length});
  });
  SmallVector<Value> sorted = RowSorter(lowering, emitBefore).sort(matrices);
  for (Value &value : sorted)
    value =
        lowering.createTranspose(lowering.createReshape(value, moved), back);
  return sorted;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

static LogicalResult verifySort(Operation *op, Lowering &lowering) {
  unsigned count = op->getNumOperands();
  if (count == 0 || op->getResultTypes() != op->getOperandTypes() ||
      op->getNumRegions() != 1)
    return op->emitOpError(
        "expects operands, results of their types, and one region");
  ArrayRef<int64_t> shape = getTensorType(op->getOperand(0)).getShape();
  Region &region = op->getRegion(0);
  if (failed(lowering.verifyScalarRegion(op, region, 2 * count, 1)))
    return failure();
  for (unsigned i = 0; i < count; ++i) {
    auto type = RankedTensorType::get(
        {}, getTensorType(op->getOperand(i)).getElementType());
    if (failed(verifyShape(op, "operand #" + Twine(i), op->getOperand(i),
                           shape)) ||
        failed(verifyType(op, "argument of the region",
                          region.getArgument(2 * i).getType(), type)) ||
        failed(verifyType(op, "argument of the region",
                          region.getArgument(2 * i + 1).getType(), type)))
      return failure();
  }
  return verifyType(
      op, "result of the region", region.front().back().getOperand(0).getType(),
      RankedTensorType::get({}, IntegerType::get(op->getContext(), 1)));
}

static LogicalResult lowerSort(Operation *op, Lowering &lowering) {
  if (failed(verifySort(op, lowering)))
    return failure();
  int64_t rank = getTensorType(op->getOperand(0)).getRank();
  // Negative dimensions count from the last one, which is the default.
  auto attribute = op->getAttrOfType<IntegerAttr>("dimension");
  int64_t dim = attribute ? attribute.getInt() : -1;
  if (dim < -rank || dim >= rank)
    return op->emitOpError("expects a dimension of ")
           << rank << " as 'dimension', got " << dim;
  auto emitBefore = [&](ImplicitLocOpBuilder &b, ValueRange lhs,
                        ValueRange rhs) {
    SmallVector<Value> arguments;
    for (auto [left, right] : llvm::zip_equal(lhs, rhs)) {
      arguments.push_back(left);
      arguments.push_back(right);
    }
    return lowering.emitScalarRegion(b, op->getRegion(0), arguments).front();
  };
  SmallVector<Value> values = llvm::map_to_vector(
      op->getOperands(), [&](Value v) { return lowering.getWritable(v); });
  for (auto [from, to] : llvm::zip_equal(
           op->getResults(),
           createSorted(lowering, values, (dim + rank) % rank, emitBefore)))
    lowering.map(from, to);
  return success();
}

/// The greatest elements along the last dimension, in total order, and where
/// they are.
static LogicalResult lowerTopK(Operation *op, Lowering &lowering) {
  RankedTensorType type = getTensorType(op->getOperand(0));
  Dims shape(type.getShape());
  int64_t rank = type.getRank();
  if (rank == 0 || op->getNumResults() != 2)
    return op->emitOpError("expects an operand of rank 1 or more and two "
                           "results");
  FailureOr<int64_t> k = getInteger(op, "k", shape.back() + 1);
  if (failed(k))
    return failure();
  ImplicitLocOpBuilder &builder = lowering.getBuilder();
  shape.back() = *k;
  auto positionType = RankedTensorType::get(shape, builder.getI32Type());
  if (failed(verifyType(op, "result #0", op->getResult(0).getType(),
                        type.clone(shape))) ||
      failed(verifyType(op, "result #1", op->getResult(1).getType(),
                        positionType)))
    return failure();
  Value positions = lowering.createParallel(
      positionType.clone(type.getShape()), {}, {},
      [&](ImplicitLocOpBuilder &b, ValueRange) {
        Value number = linalg::IndexOp::create(b, rank - 1);
        return SmallVector<Value>{
            emit<arith::IndexCastOp>(b, b.getI32Type(), number)};
      });
  Type element = type.getElementType();
  auto emitBefore = [&](ImplicitLocOpBuilder &b, ValueRange lhs,
                        ValueRange rhs) {
    if (isa<FloatType>(element))
      return emitCompare(b, CmpIPredicate::sgt, emitOrdinal(b, lhs[0]),
                         emitOrdinal(b, rhs[0]));
    return emitCompare(
        b, isSigned(element) ? CmpIPredicate::sgt : CmpIPredicate::ugt, lhs[0],
        rhs[0]);
  };
  Value values[] = {lowering.getWritable(op->getOperand(0)), positions};
  SmallVector<Value> sorted =
      createSorted(lowering, values, rank - 1, emitBefore);
  Dims offsets(rank, 0), strides(rank, 1);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), sorted))
    lowering.map(from, lowering.createSlice(to, offsets, shape, strides));
  return success();
}

void mlir::act::lowering::populateSortPatterns(LoweringPatterns &patterns) {
  patterns.add("stablehlo.sort", -1, lowerSort);
  patterns.add("chlo.top_k", 1, lowerTopK);
}
