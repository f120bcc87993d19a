//===- Sweep.h - Sweeps over a sequence -*- C++ -*-===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ACT_LIB_CONVERSION_LINEARATTENTIONTOGPU_SWEEP_H
#define ACT_LIB_CONVERSION_LINEARATTENTIONTOGPU_SWEEP_H

#include "KernelMath.h"
#include "act/Dialect/Act/IR/ActAttributes.h"

namespace mlir::act {

/// What a sweep computes; see ConvertLinearAttentionToGPUPass. The last two sum
/// up states or their gradients without attending.
enum class SweepKind {
  Output,
  QueryGrad,
  KeyGrad,
  ValueGrad,
  State,
  StateGrad
};

/// The buffers that sweeps access, in the order of parameters.
enum class SweepBuffer : unsigned {
  Query,
  Key,
  Value,
  Gradient,
  /// d: of forward; written by Output.
  Denominator,
  /// dd, the gradient of d.
  DenominatorGrad,
  Decay,
  /// States that segments start from, and end with.
  Start,
  StartSums,
  Output,
  /// Sums over features of products of features and their gradients, one per
  /// token and tile of columns; with decay per channel, the products.
  Products,
  Final,
  FinalSums,
  /// What is left of the state before a segment at its end.
  Left
};
constexpr unsigned numSweepBuffers = 14;

/// Where the elements of a buffer are, in elements from its pointer. Without
/// heads, there is no such buffer.
struct AttentionTensor {
  Type type;
  int64_t heads = 0;
  int64_t sequenceStride = 0;
  int64_t headStride = 0;
  /// Of tokens, or of segments.
  int64_t tokenStride = 0;
  /// Of rows of a state; those of columns are 1.
  int64_t rowStride = 0;
  /// Of the pointer, in bytes.
  int64_t alignment = 1;

  explicit operator bool() const { return heads > 0; }
};

/// All that a sweep is specialised to.
struct SweepOptions {
  SweepKind kind = SweepKind::Output;
  FeatureMapAttrInterface featureMap;
  double scale = 1.0;
  double epsilon = 0.0;
  bool normalize = false;
  bool subtract = false;
  DecayKind decay = DecayKind::None;
  int64_t sequences = 1;
  /// B, T, H of `act.linear_attention`, or Hs; M and D.
  int64_t heads = 1;
  int64_t length = 1;
  int64_t features = 1;
  int64_t values = 1;
  int64_t segments = 1;
  int64_t segmentTokens = 1;
  /// Only the segment that comes first starts from `Start`, the others from 0,
  /// and of these only every n-th head.
  bool startsOnce = false;
  int64_t startHeads = 1;
  /// Factors are not rounded, hence no tensor cores.
  bool exact = false;
  std::array<AttentionTensor, numSweepBuffers> buffers;

  const AttentionTensor &operator[](SweepBuffer buffer) const {
    return buffers[static_cast<unsigned>(buffer)];
  }
  AttentionTensor &operator[](SweepBuffer buffer) {
    return buffers[static_cast<unsigned>(buffer)];
  }
  bool isReverse() const {
    return kind == SweepKind::KeyGrad || kind == SweepKind::ValueGrad ||
           kind == SweepKind::StateGrad;
  }
  bool hasOutput() const {
    return kind != SweepKind::State && kind != SweepKind::StateGrad;
  }
  /// Rows of the sweep's state are those of S, the features; else columns are.
  bool contractsFeatures() const {
    return kind == SweepKind::Output || kind == SweepKind::ValueGrad ||
           kind == SweepKind::State;
  }
  /// P, over which pairs are summed, and R, the columns of what is written.
  int64_t getDepth() const { return contractsFeatures() ? features : values; }
  int64_t getColumns() const { return contractsFeatures() ? values : features; }
};

/// How a sweep's kernel takes tokens and columns together.
struct SweepShape {
  int64_t threads = 0;
  /// Tokens of a chunk.
  int64_t tokens = 0;
  /// Columns that a block computes.
  int64_t columns = 0;
  /// Parts of them that are written by different warps.
  int64_t columnParts = 1;
  bool usesMatrixUnits = false;
};

SweepShape chooseSweepShape(const SweepOptions &options);
/// Blocks that share the columns of a sequence and head, and numbers that a
/// sweep writes per token as products.
int64_t getTiles(const SweepOptions &options);
int64_t getProductParts(const SweepOptions &options);

/// Emits a sweep. Notation: token t of the chunk attends to tokens s <= t, both
/// counted in the order of the sweep.
class SweepEmitter : protected KernelMath {
public:
  SweepEmitter(GpuKernelBuilder &kernel, const SweepOptions &options,
               const SweepShape &shape);
  virtual ~SweepEmitter() = default;

  void emit();

protected:
  /// One of the roles that rows have.
  struct Role {
    SweepBuffer buffer;
    /// Of the first number, for what is cut into tiles.
    Value firstColumn;
    /// How many the operand has, and how many are wanted at most.
    int64_t columns;
    int64_t wanted;
  };

  virtual void allocate() = 0;
  virtual void loadState() = 0;
  /// A chunk whose first token, in memory, is `start`; returns the values that
  /// go from chunk to chunk.
  virtual SmallVector<Value> emitChunk(Value start, ValueRange carried) = 0;
  virtual SmallVector<Value> getCarried() { return {}; }
  virtual void storeState(ValueRange carried) = 0;

  //===--------------------------------------------------------------------===//
  // Rows (SweepRows.cpp)
  //===--------------------------------------------------------------------===//

  bool has(SweepBuffer buffer) const {
    return static_cast<bool>(options[buffer]);
  }
  Value getParameter(SweepBuffer buffer) {
    return parameters[static_cast<unsigned>(buffer)];
  }
  /// The address of the block's sequence and head.
  Value getBase(SweepBuffer buffer, Value headNumber = Value());
  /// The same in a buffer of states, with segments.
  Value getStateBase(SweepBuffer buffer, Value headNumber = Value());
  /// The token of row `row` of the chunk, in memory.
  Value getToken(Value start, Value row);
  /// Whether there is such a token; null if there always is.
  Value isToken(Value token);
  /// One number per token, in f32; `otherwise` where there is none.
  Value loadToken(Value base, SweepBuffer buffer, Value token,
                  double otherwise);
  /// Numbers that are one access of `role`, given strides and alignment.
  int64_t getVectorLength(const Role &role) const;
  /// `count` numbers from `column` on as the sweep wants them, with the feature
  /// map, the scale and the denominator applied, 0 where there is no token.
  SmallVector<Value> loadRow(const Role &role, Value base, Value token,
                             Value column, int64_t count);
  /// The numbers as they are in memory.
  SmallVector<Value> loadRaw(SweepBuffer buffer, Value base, Value token,
                             Value column, int64_t count);
  /// Whether numbers are wanted as they are in memory. On tensor cores, those
  /// of the gradient are: they are divided by d after products, in f32, since
  /// the gradient of d cancels what is left of them to a large part.
  bool isPlain(SweepBuffer buffer) const;
  Value mapNumber(SweepBuffer buffer, Value number, Value inverse);
  /// Calls `store` for all rows of a chunk: with the row, the column in the
  /// tile and the numbers.
  void forRows(const Role &role, Value start,
               function_ref<void(Value, Value, ArrayRef<Value>)> store);
  /// Writes what the sums at `token` from `column` of the operand on give,
  /// where there are such. Returns what they add to the gradient of decay, or
  /// null.
  Value writeRow(ArrayRef<Value> sums, Value token, Value column);
  void writeDenominator(Value base, Value sum, Value token);
  /// Writes the sum of a token's products, of a part of the columns.
  void writeProducts(Value sum, Value token, Value part);

  //===--------------------------------------------------------------------===//
  // Decay (SweepDecay.cpp)
  //===--------------------------------------------------------------------===//

  bool hasDecay() const { return options.decay != DecayKind::None; }
  bool isChannel() const { return options.decay == DecayKind::Channel; }
  void allocateDecay();
  /// Computes what rows of the chunk have left of each other; everyone waits at
  /// the end.
  void computeDecay(Value start);
  int64_t getBetweenStride() const { return C + 4; }
  /// What is left at `row` of the state before the chunk, at the chunk's end of
  /// what was written at `row`, and at the end of the state; of feature
  /// `column` of the tile with decay per channel.
  Value loadSinceStart(Value row, Value column = Value());
  Value loadUntilEnd(Value row, Value column = Value());
  Value loadTotal(Value column = Value());
  /// Stores the product of a segment's decays.
  void storeLeft();

  //===--------------------------------------------------------------------===//
  // States (SweepDecay.cpp)
  //===--------------------------------------------------------------------===//

  Value loadShared(Value pointer, Value offset);
  void storeShared(Value value, Value pointer, Value offset);
  std::pair<Value, Value> locateState(SweepBuffer which, Value p, Value r);
  Value loadStart(SweepBuffer which, Value offset, Value valid);
  void storeFinal(SweepBuffer which, Value value, Value offset, Value valid);
  /// Sums of keys, or of their gradients: one number per feature.
  bool hasSums() const;
  int64_t getSumColumns() const;
  void loadSums();
  void storeSums();
  /// Reads dd of the chunk's rows to `tokenGrads`.
  void loadDenominatorGrads(Value start);

  Value allocateFloats(int64_t count) {
    return kernel.allocateShared(count * 4);
  }

  const SweepOptions &options;
  SweepShape shape;
  int64_t C, P, R;
  /// Columns of the block's tile, and the first of them.
  int64_t tileColumns;
  Value tileStart;
  Role roleA, roleB, roleC;
  Value sequence, head, segment, tile;
  Value baseA, baseB, baseC;
  SmallVector<Value> parameters;
  // Shared memory, f32. Steps from a row to the next are logarithms, or factors
  // with decay per channel.
  Value steps, between, sinceStart, untilEnd, leftOfSegment;
  int64_t decayColumns = 1;
  Value sums, tokenGrads;

private:
  SmallVector<Value> finishGradients(MutableArrayRef<Value> numbers,
                                     SweepBuffer rows, Value token,
                                     Value column);
  void storeOutput(SweepBuffer which, ArrayRef<Value> numbers, Value token,
                   Value column);
  Value loadStep(Value start, Value step, Value column);
  void computePairDecay();
  void computeChannelDecay();
  Value startsFromState();
  void takeParameters();
  void splitBlock();
  void chooseRoles();
};

/// Adds the kernel of a sweep to `module`.
GpuKernel buildSweep(gpu::GPUModuleOp module, Location loc, StringRef name,
                     const SweepOptions &options);

std::unique_ptr<SweepEmitter> createScalarSweep(GpuKernelBuilder &kernel,
                                                const SweepOptions &options,
                                                const SweepShape &shape);
std::unique_ptr<SweepEmitter> createMatrixSweep(GpuKernelBuilder &kernel,
                                                const SweepOptions &options,
                                                const SweepShape &shape);

} // namespace mlir::act

#endif // ACT_LIB_CONVERSION_LINEARATTENTIONTOGPU_SWEEP_H
