//===- Convolutions.cpp - Kernels of convolutions -------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A convolution is, for every group, the product of a matrix of windows of lhs
// and one of rhs: rows are images and positions in the output, columns are
// output features, and sums run over input features and elements of the window.
// The first matrix is not in memory; offsets of its elements are computed as
// they are copied.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitters.h"
#include "StoreProduct.h"
#include "TiledProduct.h"
#include "act-c/StepRuntime.h"
#include "act/Conversion/KernelsToCPU/ConvolutionDescriptor.h"

using namespace mlir;
using namespace mlir::act;

namespace {
/// One spatial dimension.
struct SpatialDim {
  int64_t lhsSize, rhsSize, outSize;
  int64_t step, paddingLow, lhsDilation, rhsDilation;
  bool reversed;
  int64_t lhsStride, rhsStride, outStride;
};

/// The numbers of a convolution.
struct ConvolutionShape {
  int64_t groups;
  /// Of a group: images, input features, output features.
  int64_t images, inputs, outputs;
  /// From one group to the next.
  int64_t lhsGroup, rhsGroup, outGroup;
  int64_t lhsImage, lhsInput, rhsInput, rhsOutput, outImage, outOutput;
  SmallVector<SpatialDim> spatial;
};

/// A loop over images or inputs (`dim` is -1) or along a spatial dimension.
struct WindowLoop {
  int64_t dim;
  int64_t extent;
};

/// The windows of lhs.
class WindowFactor : public FactorAccess {
public:
  WindowFactor(const ConvolutionShape &shape, ArrayRef<WindowLoop> outer,
               ArrayRef<WindowLoop> sums, Value pointer, Type elementType,
               int64_t alignment);

  Value getOffset(GpuKernelBuilder &kernel, Value outer, Value sum) override;
  Value isPresent(GpuKernelBuilder &kernel, Value outer, Value sum) override;

private:
  /// The positions in the dilated lhs, and those of image and input at the end.
  SmallVector<Value> getPositions(GpuKernelBuilder &kernel, Value outer,
                                  Value sum);
  void setVector(int64_t alignment);

  const ConvolutionShape &shape;
  SmallVector<WindowLoop> outer, sums;
  bool wide;
};
} // namespace

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static SpatialDim getSpatialDim(ArrayRef<int64_t> entry) {
  return {entry[ACT_CPU_CONVOLUTION_SPATIAL_LHS_SIZE],
          entry[ACT_CPU_CONVOLUTION_SPATIAL_RHS_SIZE],
          entry[ACT_CPU_CONVOLUTION_SPATIAL_OUT_SIZE],
          entry[ACT_CPU_CONVOLUTION_SPATIAL_STRIDE],
          entry[ACT_CPU_CONVOLUTION_SPATIAL_PADDING_LOW],
          entry[ACT_CPU_CONVOLUTION_SPATIAL_LHS_DILATION],
          entry[ACT_CPU_CONVOLUTION_SPATIAL_RHS_DILATION],
          entry[ACT_CPU_CONVOLUTION_SPATIAL_REVERSAL] != 0,
          entry[ACT_CPU_CONVOLUTION_SPATIAL_LHS],
          entry[ACT_CPU_CONVOLUTION_SPATIAL_RHS],
          entry[ACT_CPU_CONVOLUTION_SPATIAL_OUT]};
}

static ConvolutionShape getShape(ArrayRef<int64_t> desc) {
  ConvolutionShape shape;
  int64_t featureGroups = desc[ACT_CPU_CONVOLUTION_DESC_FEATURE_GROUPS];
  int64_t batchGroups = desc[ACT_CPU_CONVOLUTION_DESC_BATCH_GROUPS];
  shape.groups = featureGroups * batchGroups;
  shape.images = desc[ACT_CPU_CONVOLUTION_DESC_BATCH] / batchGroups;
  shape.inputs = desc[ACT_CPU_CONVOLUTION_DESC_FEATURES] / featureGroups;
  shape.outputs = desc[ACT_CPU_CONVOLUTION_DESC_OUTPUT_FEATURES] / shape.groups;
  shape.lhsImage = desc[ACT_CPU_CONVOLUTION_DESC_LHS_BATCH];
  shape.lhsInput = desc[ACT_CPU_CONVOLUTION_DESC_LHS_FEATURE];
  shape.rhsInput = desc[ACT_CPU_CONVOLUTION_DESC_RHS_INPUT];
  shape.rhsOutput = desc[ACT_CPU_CONVOLUTION_DESC_RHS_OUTPUT];
  shape.outImage = desc[ACT_CPU_CONVOLUTION_DESC_OUT_BATCH];
  shape.outOutput = desc[ACT_CPU_CONVOLUTION_DESC_OUT_FEATURE];
  shape.lhsGroup = featureGroups > 1 ? shape.inputs * shape.lhsInput
                                     : shape.images * shape.lhsImage;
  shape.rhsGroup = shape.outputs * shape.rhsOutput;
  shape.outGroup = shape.outputs * shape.outOutput;
  for (int64_t dim = 0; dim < desc[ACT_CPU_CONVOLUTION_DESC_SPATIAL_RANK];
       ++dim)
    shape.spatial.push_back(getSpatialDim(
        desc.slice(ACT_CPU_CONVOLUTION_DESC_SPATIAL +
                       dim * ACT_CPU_CONVOLUTION_DESC_SPATIAL_SIZE,
                   ACT_CPU_CONVOLUTION_DESC_SPATIAL_SIZE)));
  return shape;
}

/// The loops of the rows, the last one along neighbours in the output.
static SmallVector<WindowLoop> getOuterLoops(const ConvolutionShape &shape) {
  SmallVector<WindowLoop> loops = {{-1, shape.images}};
  for (auto [dim, spatial] : llvm::enumerate(shape.spatial))
    loops.push_back({static_cast<int64_t>(dim), spatial.outSize});
  auto getStride = [&](const WindowLoop &loop) {
    return loop.dim < 0 ? shape.outImage : shape.spatial[loop.dim].outStride;
  };
  llvm::stable_sort(loops, [&](const WindowLoop &a, const WindowLoop &b) {
    return getStride(a) > getStride(b);
  });
  return loops;
}

/// The loops of the sums, the last one along neighbours in lhs.
static SmallVector<WindowLoop> getSumLoops(const ConvolutionShape &shape) {
  SmallVector<WindowLoop> loops = {{-1, shape.inputs}};
  for (auto [dim, spatial] : llvm::enumerate(shape.spatial))
    loops.push_back({static_cast<int64_t>(dim), spatial.rhsSize});
  auto getStride = [&](const WindowLoop &loop) {
    return loop.dim < 0 ? shape.lhsInput : shape.spatial[loop.dim].lhsStride;
  };
  llvm::stable_sort(loops, [&](const WindowLoop &a, const WindowLoop &b) {
    return getStride(a) > getStride(b);
  });
  return loops;
}

/// The axis of `loops` in rhs or the output.
static Axis getAxis(ArrayRef<WindowLoop> loops, int64_t outerStride,
                    function_ref<int64_t(int64_t dim)> getStride) {
  Axis axis;
  for (const WindowLoop &loop : loops)
    axis.loops.push_back(
        {loop.extent, loop.dim < 0 ? outerStride : getStride(loop.dim)});
  return axis;
}

static int64_t getExtent(ArrayRef<WindowLoop> loops) {
  int64_t extent = 1;
  for (const WindowLoop &loop : loops)
    extent *= loop.extent;
  return extent;
}

//===----------------------------------------------------------------------===//
// WindowFactor
//===----------------------------------------------------------------------===//

WindowFactor::WindowFactor(const ConvolutionShape &shape,
                           ArrayRef<WindowLoop> outer,
                           ArrayRef<WindowLoop> sums, Value pointer,
                           Type elementType, int64_t alignment)
    : shape(shape), outer(outer), sums(sums) {
  this->pointer = pointer;
  this->elementType = elementType;
  outerExtent = getExtent(outer);
  sumExtent = getExtent(sums);
  int64_t span = shape.images * shape.lhsImage + shape.inputs * shape.lhsInput;
  for (const SpatialDim &dim : shape.spatial)
    span += dim.lhsSize * dim.lhsStride;
  wide = span > INT32_MAX;
  sumsAreClose = sums.back().dim < 0 && shape.lhsInput == 1;
  setVector(alignment);
}

/// Inputs that are neighbours are copied together.
void WindowFactor::setVector(int64_t alignment) {
  if (sums.back().dim >= 0)
    return;
  Axis inputs{{{shape.inputs, shape.lhsInput}}};
  Axis others{{{shape.groups, shape.lhsGroup}, {shape.images, shape.lhsImage}}};
  for (const SpatialDim &dim : shape.spatial)
    others.loops.push_back({dim.lhsSize, dim.lhsStride});
  LinearFactor factor(pointer, elementType, /*outer=*/{}, inputs, alignment,
                      others);
  sumVector = factor.sumVector;
}

SmallVector<Value> WindowFactor::getPositions(GpuKernelBuilder &kernel,
                                              Value outerPosition, Value sum) {
  PositionMath math(kernel);
  size_t rank = shape.spatial.size();
  SmallVector<Value> positions(rank + 2);
  auto getExtents = [](ArrayRef<WindowLoop> loops) {
    return llvm::map_to_vector(
        loops, [](const WindowLoop &loop) { return loop.extent; });
  };
  for (auto [digit, loop] : llvm::zip_equal(
           getDigits(kernel, outerPosition, getExtents(outer)), outer))
    positions[loop.dim < 0 ? rank : loop.dim] = digit;
  for (auto [digit, loop] :
       llvm::zip_equal(getDigits(kernel, sum, getExtents(sums)), sums)) {
    if (loop.dim < 0) {
      positions[rank + 1] = digit;
      continue;
    }
    const SpatialDim &dim = shape.spatial[loop.dim];
    Value &position = positions[loop.dim];
    position = math.add(math.multiply(position, dim.step),
                        math.multiply(digit, dim.rhsDilation));
    position = math.add(position, -dim.paddingLow);
  }
  return positions;
}

Value WindowFactor::getOffset(GpuKernelBuilder &kernel, Value outerPosition,
                              Value sum) {
  PositionMath math(kernel);
  SmallVector<Value> positions = getPositions(kernel, outerPosition, sum);
  auto widen = [&](Value value) { return wide ? kernel.toI64(value) : value; };
  size_t rank = shape.spatial.size();
  Value offset =
      math.add(math.multiply(widen(positions[rank]), shape.lhsImage),
               math.multiply(widen(positions[rank + 1]), shape.lhsInput));
  for (auto [dim, position] : llvm::zip_first(shape.spatial, positions))
    offset = math.add(
        offset, math.multiply(widen(math.divide(position, dim.lhsDilation)),
                              dim.lhsStride));
  return offset;
}

Value WindowFactor::isPresent(GpuKernelBuilder &kernel, Value outerPosition,
                              Value sum) {
  ImplicitLocOpBuilder &b = kernel.getBuilder();
  PositionMath math(kernel);
  Value present;
  SmallVector<Value> positions = getPositions(kernel, outerPosition, sum);
  for (auto [dim, position] : llvm::zip_first(shape.spatial, positions)) {
    int64_t dilated = (dim.lhsSize - 1) * dim.lhsDilation + 1;
    int64_t last = (dim.outSize - 1) * dim.step +
                   (dim.rhsSize - 1) * dim.rhsDilation - dim.paddingLow;
    if (dim.paddingLow > 0 || last >= dilated)
      present = math.both(present, math.isLess(position, dilated));
    if (dim.lhsDilation == 1)
      continue;
    Value isElement = arith::CmpIOp::create(
        b, arith::CmpIPredicate::eq, math.remainder(position, dim.lhsDilation),
        kernel.i32(0));
    present = math.both(present, isElement);
  }
  return present;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {
/// Emits one kernel.
class ConvolutionEmitter {
public:
  ConvolutionEmitter(const KernelRequest &request, ConvolutionOp op,
                     ConvolutionShape shape)
      : request(request), op(op), shape(std::move(shape)),
        outer(getOuterLoops(this->shape)), sums(getSumLoops(this->shape)) {}

  FailureOr<GpuKernel> emit();

private:
  Value getPointer(GpuKernelBuilder &kernel, Value buffer, Value group,
                   int64_t stride, int64_t first = 0);
  int64_t getAlignment(Value buffer);
  LinearFactor getWindows(GpuKernelBuilder &kernel, Value group);
  LinearFactor getOut(GpuKernelBuilder &kernel, Value group, bool transposed);

  const KernelRequest &request;
  ConvolutionOp op;
  ConvolutionShape shape;
  SmallVector<WindowLoop> outer, sums;
};
} // namespace

static unsigned getNumber(Value buffer) {
  return cast<BlockArgument>(buffer).getArgNumber();
}

int64_t ConvolutionEmitter::getAlignment(Value buffer) {
  return request.parameters[getNumber(buffer)].alignment;
}

/// The part of `buffer` of a group, `first` elements further.
Value ConvolutionEmitter::getPointer(GpuKernelBuilder &kernel, Value buffer,
                                     Value group, int64_t stride,
                                     int64_t first) {
  PositionMath math(kernel);
  Value pointer = kernel.getParameter(getNumber(buffer));
  Value offset = kernel.i64(first);
  if (shape.groups > 1)
    offset = math.add(math.multiply(kernel.toI64(group), stride), first);
  return kernel.getAddress(pointer, getElementTypeOrSelf(buffer), offset);
}

/// The matrix of rhs: output features, and what is summed over.
LinearFactor ConvolutionEmitter::getWindows(GpuKernelBuilder &kernel,
                                            Value group) {
  // Reversed dimensions run from their end.
  int64_t first = 0;
  for (const SpatialDim &dim : shape.spatial)
    if (dim.reversed)
      first += (dim.rhsSize - 1) * dim.rhsStride;
  Axis axis = getAxis(sums, shape.rhsInput, [&](int64_t dim) {
    const SpatialDim &spatial = shape.spatial[dim];
    return spatial.reversed ? -spatial.rhsStride : spatial.rhsStride;
  });
  Value rhs = op.getRhs();
  return LinearFactor(
      getPointer(kernel, rhs, group, shape.rhsGroup, first),
      getElementTypeOrSelf(rhs), Axis{{{shape.outputs, shape.rhsOutput}}}, axis,
      getAlignment(rhs), Axis{{{shape.groups, shape.rhsGroup}, {2, first}}});
}

/// The matrix of the output: positions and features, or `transposed`.
LinearFactor ConvolutionEmitter::getOut(GpuKernelBuilder &kernel, Value group,
                                        bool transposed) {
  Axis positions = getAxis(outer, shape.outImage, [&](int64_t dim) {
    return shape.spatial[dim].outStride;
  });
  Axis features{{{shape.outputs, shape.outOutput}}};
  if (transposed)
    std::swap(positions, features);
  Value out = op.getOut();
  return LinearFactor(getPointer(kernel, out, group, shape.outGroup),
                      getElementTypeOrSelf(out), positions, features,
                      getAlignment(out),
                      Axis{{{shape.groups, shape.outGroup}}});
}

FailureOr<GpuKernel> ConvolutionEmitter::emit() {
  Type type = getElementTypeOrSelf(op.getLhs());
  bool matrixUnits =
      hasMatrixUnit(type) && (!type.isF32() || request.allowTf32);
  int64_t rows = getExtent(outer), columns = shape.outputs;
  // Columns of the product are what is close in the output.
  bool transposed = shape.outOutput != 1;
  if (transposed)
    std::swap(rows, columns);
  TileShape tile =
      chooseTileShape(shape.groups, rows, columns, type, matrixUnits);
  int64_t rowTiles = llvm::divideCeil(rows, tile.rows);
  int64_t columnTiles = llvm::divideCeil(columns, tile.columns);
  int64_t blocks = shape.groups * rowTiles * columnTiles;
  if (blocks > INT32_MAX || getExtent(sums) > INT32_MAX / 2)
    return op.emitOpError("expects at most ")
           << INT32_MAX << " blocks and half as many terms of a sum, got "
           << blocks << " and " << getExtent(sums);
  GpuKernelBuilder kernel(request.module, op.getLoc(), request.name,
                          request.parameters, tile.getThreads());
  if (blocks == 0) // nothing to do
    return kernel.finish({1, 1, 1});
  PositionMath math(kernel);
  SmallVector<Value> position =
      getDigits(kernel, kernel.getBlock(), {blocks, rowTiles, columnTiles});
  WindowFactor left(
      shape, outer, sums,
      getPointer(kernel, op.getLhs(), position[0], shape.lhsGroup), type,
      getAlignment(op.getLhs()));
  LinearFactor right = getWindows(kernel, position[0]);
  LinearFactor out = getOut(kernel, position[0], transposed);
  std::array<FactorAccess *, 2> factors = {&left, &right};
  if (transposed)
    std::swap(factors[0], factors[1]);
  emitTiledProduct(kernel, tile, *factors[0], *factors[1],
                   math.multiply(position[1], tile.rows),
                   math.multiply(position[2], tile.columns),
                   getStoreEpilogue(kernel, out, /*adds=*/false));
  return kernel.finish({blocks, 1, 1});
}

FailureOr<GpuKernel>
mlir::act::emitConvolutionKernel(const KernelRequest &request) {
  KernelOp kernel = request.kernel;
  auto op = cast<ConvolutionOp>(kernel.getBody().front().back());
  FailureOr<SmallVector<int64_t>> descriptor = getConvolutionDescriptor(op);
  if (failed(descriptor))
    return failure();
  return ConvolutionEmitter(request, op, getShape(*descriptor)).emit();
}
