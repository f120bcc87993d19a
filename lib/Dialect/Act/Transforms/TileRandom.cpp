//===- TileRandom.cpp - Random bits tile by tile --------------------------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTiler.h"
#include "act/Analysis/OpModel/OpModel.h"
#include "act/Dialect/Act/Transforms/EncodingPolicy.h"
#include "act/Dialect/Act/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include <numeric>

namespace mlir::act {
#define GEN_PASS_DEF_ACTTILERANDOMPASS
#include "act/Dialect/Act/Transforms/Passes.h.inc"
} // namespace mlir::act

using namespace mlir;
using namespace mlir::act;

using OpSet = llvm::SetVector<Operation *>;

/// Elements are counted as random bits, of four bytes each.
static constexpr int64_t kBytesPerElement = 4;

/// Indices are i32, and counters may have several elements for each result.
static constexpr int64_t kMaxElements = 1 << 28;

/// A tile may be as many times larger than wanted if that keeps it contiguous.
static constexpr int64_t kMaxExcess = 4;

//===----------------------------------------------------------------------===//
// Which floats come out the same in another kernel
//===----------------------------------------------------------------------===//

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

static StringRef getStablehloName(Operation *op) {
  return op && op->getName().getDialectNamespace() == "stablehlo"
             ? op->getName().stripDialect()
             : StringRef();
}

/// The float that all elements of `value` are, if that is easy to see.
static std::optional<APFloat> getSplat(Value value, unsigned depth = 8) {
  Operation *op = value.getDefiningOp();
  StringRef name = getStablehloName(op);
  if (depth == 0 || name.empty() || !isFloat(value))
    return std::nullopt;
  if (auto elements =
          dyn_cast_or_null<SplatElementsAttr>(getConstantElements(op)))
    return elements.getSplatValue<APFloat>();
  if (op->getNumOperands() == 1) {
    bool isSame = name == "broadcast_in_dim" || name == "reshape" ||
                  (name == "convert" &&
                   getElementTypeOrSelf(value.getType()) ==
                       getElementTypeOrSelf(op->getOperand(0).getType()));
    return isSame ? getSplat(op->getOperand(0), depth - 1) : std::nullopt;
  }
  if (op->getNumOperands() != 2 || (name != "add" && name != "subtract"))
    return std::nullopt;
  std::optional<APFloat> lhs = getSplat(op->getOperand(0), depth - 1);
  std::optional<APFloat> rhs = getSplat(op->getOperand(1), depth - 1);
  if (!lhs || !rhs || &lhs->getSemantics() != &rhs->getSemantics())
    return std::nullopt;
  return name == "add" ? *lhs + *rhs : *lhs - *rhs;
}

static bool isZero(Value value) {
  std::optional<APFloat> splat = getSplat(value);
  return splat && splat->isZero();
}

static bool isPowerOfTwo(Value value) {
  std::optional<APFloat> splat = getSplat(value);
  return splat && splat->isFiniteNonZero() &&
         splat->getExactLog2Abs() != INT_MIN;
}

/// True for a product whose rounding an addition may skip: `a * b + c` can be
/// one instruction in one kernel and two in another.
static bool isRoundedProduct(Value value) {
  Operation *op = value.getDefiningOp();
  StringRef name = getStablehloName(op);
  while (op && op->getNumOperands() == 1 &&
         (name == "negate" || name == "reshape" || name == "slice" ||
          name == "broadcast_in_dim")) {
    op = op->getOperand(0).getDefiningOp();
    name = getStablehloName(op);
  }
  return name == "multiply" && llvm::none_of(op->getOperands(), isPowerOfTwo);
}

/// True if the tileable `op` computes the same bits wherever it stands.
static bool isExact(Operation *op) {
  StringRef name = getStablehloName(op);
  Value result = op->getResult(0);
  if (name == "iota") { // a tile's first index is an i32
    auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(result.getType()));
    return type && type.getWidth() >= 32;
  }
  auto isIntegerOrFloat = [](Value value) {
    return isa<IntegerType, FloatType>(getElementTypeOrSelf(value.getType()));
  };
  if (!isIntegerOrFloat(result) ||
      !llvm::all_of(op->getOperands(), isIntegerOrFloat))
    return false;
  if (!isFloat(result) && llvm::none_of(op->getOperands(), isFloat))
    return true;
  if (name == "add" || name == "subtract")
    return llvm::any_of(op->getOperands(), isZero) ||
           llvm::none_of(op->getOperands(), isRoundedProduct);
  static constexpr StringRef kExact[] = {
      "abs",       "bitcast_convert", "broadcast_in_dim", "clamp",
      "compare",   "concatenate",     "constant",         "convert",
      "is_finite", "maximum",         "minimum",          "multiply",
      "negate",    "reshape",         "select",           "slice"};
  return llvm::is_contained(kExact, name);
}

//===----------------------------------------------------------------------===//
// RandomChains
//===----------------------------------------------------------------------===//

namespace {
/// The operations of a block that compute random integers and predicates from
/// small values: loops like threefry's and what is made of their results.
class RandomChains {
public:
  /// Tensors of at most `smallElements` elements count as small.
  RandomChains(Block &block, int64_t smallElements)
      : block(block), smallElements(smallElements) {}

  /// Connected operations, each group in program order.
  SmallVector<OpSet> find();
  bool isSmall(Value value) const {
    std::optional<int64_t> elements = getNumElements(value.getType());
    return elements && *elements <= smallElements;
  }

private:
  /// Collects all operations that depend on a loop and could be tiled.
  void grow();
  /// Gives up those whose values, rather than what is made of them, others
  /// need. Returns false if there were none.
  bool prune();
  /// True if a tile of `value` can be computed, or is read by `user` as it is.
  bool isAvailable(Value value, Operation *user) const;
  bool isAvailable(Operation *op) const {
    return llvm::all_of(op->getOperands(), [&](Value operand) {
      return isAvailable(operand, op);
    });
  }
  bool isRandom(Value value) const {
    Operation *def = value.getDefiningOp();
    return def && random.contains(def);
  }
  bool hasOtherUsers(Operation *op) const;

  Block &block;
  int64_t smallElements;
  SmallVector<Operation *> order;
  DenseSet<Operation *> random; ///< those of `order` that were not given up
  DenseSet<Operation *> cheap;  ///< large, but made of small values
};
} // namespace

bool RandomChains::isAvailable(Value value, Operation *user) const {
  Operation *def = value.getDefiningOp();
  if (isSmall(value) || (def && (cheap.contains(def) || random.contains(def))))
    return true;
  // Probabilities that differ from element to element.
  return getStablehloName(user) == "compare" &&
         (!def || def->getBlock() != &block || !isTileable(def));
}

/// False for a mask that is repeated, which is best kept before that.
static bool keepsSize(Operation *op) {
  return getStablehloName(op) != "broadcast_in_dim" ||
         getNumElements(op->getOperand(0).getType()) ==
             getNumElements(op->getResult(0).getType());
}

void RandomChains::grow() {
  for (Operation &op : block) {
    if (llvm::all_of(op.getResults(), [&](Value v) { return isSmall(v); }) ||
        !isAvailable(&op))
      continue;
    bool isPart = isTileableLoop(&op);
    if (!isPart && (!isTileable(&op) || !isExact(&op)))
      continue;
    if (llvm::any_of(op.getOperands(), [&](Value v) { return isRandom(v); })) {
      if (!isPart && !keepsSize(&op))
        continue;
      isPart = true;
    }
    if (isPart) {
      order.push_back(&op);
      random.insert(&op);
    } else {
      cheap.insert(&op);
    }
  }
}

/// Users of `value` outside of `chain`, or the operations of its block that
/// hold them; its last operation stands for users in later blocks.
template <typename Set>
static SmallVector<Operation *> getOtherUsers(Value value, const Set &chain) {
  Block &block = *value.getParentBlock();
  SmallVector<Operation *> users;
  for (Operation *user : value.getUsers()) {
    user = block.findAncestorOpInBlock(*user);
    if (!user)
      user = &block.back();
    if (!chain.contains(user))
      users.push_back(user);
  }
  return users;
}

bool RandomChains::hasOtherUsers(Operation *op) const {
  return llvm::any_of(op->getResults(), [&](Value result) {
    return !isSmall(result) && !getOtherUsers(result, random).empty();
  });
}

bool RandomChains::prune() {
  size_t size = random.size();
  // What leaves a chain must be integers.
  for (Operation *op : llvm::reverse(order))
    if (random.contains(op) && isFloat(op->getResult(0)) && hasOtherUsers(op))
      random.erase(op);
  // What reads a value that is there anyway needs no part in the loop.
  for (Operation *op : order) {
    if (!random.contains(op))
      continue;
    if (!isAvailable(op))
      random.erase(op);
    else if (hasOtherUsers(op))
      for (Operation *user : op->getUsers())
        random.erase(user);
  }
  return random.size() != size;
}

SmallVector<OpSet> RandomChains::find() {
  grow();
  while (prune())
    ;
  llvm::EquivalenceClasses<Operation *> classes;
  for (Operation *op : order) {
    if (!random.contains(op))
      continue;
    classes.insert(op);
    for (Value operand : op->getOperands())
      if (isRandom(operand))
        classes.unionSets(op, operand.getDefiningOp());
  }
  llvm::MapVector<Operation *, OpSet> chains;
  for (Operation *op : order)
    if (random.contains(op))
      chains[classes.getLeaderValue(op)].insert(op);
  return llvm::map_to_vector(chains, [](auto &chain) { return chain.second; });
}

//===----------------------------------------------------------------------===//
// Tiling
//===----------------------------------------------------------------------===//

namespace {
/// How to divide a tensor: into `parts` along a dimension, of which each
/// iteration computes one tile each. The parts are those that a concatenation
/// put together.
struct Division {
  int64_t dim;
  int64_t parts;
  int64_t partSize;
  int64_t length; ///< of a tile
  int64_t step;   ///< greatest that divides the starts of all tiles
  int64_t count;  ///< of iterations

  Tile getTile(int64_t part) const {
    return {dim, step, length, part * partSize, partSize};
  }
  int64_t getLastUnit() const { return (partSize - length) / step; }
};

/// Moves one chain into a loop.
class ChainTiler {
public:
  ChainTiler(Block &block, const OpSet &chain, int64_t tileElements)
      : block(block), chain(chain), tileElements(tileElements) {
    findResults();
  }

  /// True if there is something to gain.
  bool isLarge() const;
  Location getLoc() const { return results.back().getLoc(); }
  /// Returns the number of iterations, nothing if the chain cannot be tiled.
  std::optional<int64_t> tile();

private:
  void findResults();
  bool haveSameShape() const;
  ArrayRef<int64_t> getShape() const {
    return cast<ShapedType>(results.front().getType()).getShape();
  }
  std::optional<Division> getDivision(int64_t dim, int64_t parts) const;
  /// Those that are worth trying, best ones first.
  SmallVector<Division> getDivisions() const;
  LogicalResult plan(BlockTiler &tiler, const Division &division) const;
  Operation *buildLoop(BlockTiler &tiler, const Division &division) const;
  void buildBody(Operation *loop, BlockTiler &tiler,
                 const Division &division) const;
  void eraseDead() const;

  Block &block;
  const OpSet &chain;
  int64_t tileElements;
  SmallVector<Value> results;    ///< what others read
  Operation *position = nullptr; ///< the loop goes before it
};
} // namespace

void ChainTiler::findResults() {
  Operation *last = nullptr;
  for (Operation *op : chain)
    for (Value result : op->getResults()) {
      SmallVector<Operation *> users = getOtherUsers(result, chain);
      if (users.empty())
        continue;
      results.push_back(result);
      last = op;
      for (Operation *user : users)
        if (!position || user->isBeforeInBlock(position))
          position = user;
    }
  if (last && last->isBeforeInBlock(position))
    position = last;
}

bool ChainTiler::isLarge() const {
  return llvm::any_of(results, [&](Value result) {
    return *getNumElements(result.getType()) / tileElements >= 2;
  });
}

bool ChainTiler::haveSameShape() const {
  return llvm::all_of(results, [&](Value result) {
    return cast<ShapedType>(result.getType()).getShape() == getShape();
  });
}

std::optional<Division> ChainTiler::getDivision(int64_t dim,
                                                int64_t parts) const {
  int64_t size = getShape()[dim];
  int64_t partSize = size / parts;
  int64_t wanted =
      llvm::divideCeil(llvm::product_of(getShape()), tileElements * parts);
  wanted = std::min(std::max<int64_t>(wanted, 2), partSize);
  if (size % parts != 0 || wanted < 2)
    return std::nullopt;
  int64_t count = wanted;
  while (count < 2 * wanted && partSize % count != 0)
    ++count;
  if (count < 2 * wanted) {
    int64_t length = partSize / count;
    return Division{dim, parts, partSize, length, length, count};
  }
  // The last tile begins early enough to be as long as the others.
  int64_t length = llvm::divideCeil(partSize, wanted);
  return Division{dim,
                  parts,
                  partSize,
                  length,
                  std::gcd(length, partSize - length),
                  static_cast<int64_t>(llvm::divideCeil(partSize, length))};
}

SmallVector<Division> ChainTiler::getDivisions() const {
  SmallVector<Division> divisions;
  for (int64_t parts : {1, 2})
    for (int64_t dim = 0, rank = getShape().size(); dim < rank; ++dim)
      if (std::optional<Division> division = getDivision(dim, parts))
        divisions.push_back(*division);
  // Outer dimensions first, unless their tiles are much larger than wanted.
  int64_t elements = llvm::product_of(getShape());
  auto getRank = [&](const Division &division) {
    int64_t size =
        elements / getShape()[division.dim] * division.length * division.parts;
    return std::make_tuple(std::max(size, kMaxExcess * tileElements),
                           division.parts, division.dim);
  };
  llvm::sort(divisions, [&](const Division &a, const Division &b) {
    return getRank(a) < getRank(b);
  });
  return divisions;
}

LogicalResult ChainTiler::plan(BlockTiler &tiler,
                               const Division &division) const {
  for (Value result : results)
    for (int64_t part = 0; part < division.parts; ++part)
      tiler.request(result, division.getTile(part));
  if (failed(tiler.plan()))
    return failure();
  return success(llvm::all_of(tiler.getLeaves(), [&](Value leaf) {
    Operation *def = leaf.getDefiningOp();
    return !def || def->getBlock() != &block || def->isBeforeInBlock(position);
  }));
}

void ChainTiler::buildBody(Operation *loop, BlockTiler &tiler,
                           const Division &division) const {
  OpBuilder builder(loop->getContext());
  SmallVector<Location> locs(loop->getNumResults(), getLoc());
  Block *body = builder.createBlock(&loop->getRegion(1), {},
                                    loop->getResultTypes(), locs);
  StablehloBuilder b(builder, getLoc());
  Type i32 = builder.getI32Type();
  Value index = body->getArgument(0);
  Value unit = index;
  if (division.length != division.step)
    unit = b.multiply(unit, b.scalar(i32, division.length / division.step));
  if (division.partSize % division.length != 0)
    unit = b.minimum(unit, b.scalar(i32, division.getLastUnit()));
  tiler.build(builder, unit);

  SmallVector<Value> returned{b.add(index, b.scalar(i32, 1))};
  Value zero = b.scalar(i32, 0);
  for (auto [result, argument] :
       llvm::zip_equal(results, body->getArguments().drop_front())) {
    Value whole = argument;
    for (int64_t part = 0; part < division.parts; ++part) {
      Tile tile = division.getTile(part);
      SmallVector<Value> starts(getShape().size(), zero);
      starts[tile.dim] = tiler.getStart(b, tile);
      whole = b.dynamicUpdateSlice(whole, tiler.get(result, tile), starts);
    }
    returned.push_back(whole);
  }
  b.create("return", {}, returned);
}

Operation *ChainTiler::buildLoop(BlockTiler &tiler,
                                 const Division &division) const {
  OpBuilder builder(position);
  StablehloBuilder b(builder, getLoc());
  Type i32 = builder.getI32Type();
  SmallVector<Value> operands{b.scalar(i32, 0)};
  for (Value result : results)
    operands.push_back(b.splatLike(result, 0));
  Operation *loop = b.create("while", ValueRange(operands).getTypes(), operands,
                             {}, /*numRegions=*/2);
  loop->setDiscardableAttr(kTiledRandomAttr, builder.getUnitAttr());

  SmallVector<Location> locs(operands.size(), getLoc());
  Block *condition = builder.createBlock(&loop->getRegion(0), {},
                                         loop->getResultTypes(), locs);
  b.create("return", {},
           b.compare(StablehloBuilder::Comparison::LT,
                     condition->getArgument(0), b.scalar(i32, division.count)));
  buildBody(loop, tiler, division);
  return loop;
}

void ChainTiler::eraseDead() const {
  llvm::SmallSetVector<Operation *, 16> unused(chain.begin(), chain.end());
  while (!unused.empty()) {
    Operation *op = unused.pop_back_val();
    if (op->getBlock() != &block || !isOpTriviallyDead(op))
      continue;
    for (Value operand : getAllOperands(op))
      if (Operation *def = operand.getDefiningOp())
        unused.insert(def);
    op->erase();
  }
}

std::optional<int64_t> ChainTiler::tile() {
  if (!haveSameShape() || llvm::product_of(getShape()) > kMaxElements)
    return std::nullopt;
  for (const Division &division : getDivisions()) {
    BlockTiler tiler(block, tileElements, chain);
    if (failed(plan(tiler, division)))
      continue;
    Operation *loop = buildLoop(tiler, division);
    for (auto [result, tiled] :
         llvm::zip_equal(results, loop->getResults().drop_front()))
      result.replaceUsesWithIf(tiled, [&](OpOperand &use) {
        Operation *user = block.findAncestorOpInBlock(*use.getOwner());
        return user != loop && !chain.contains(user);
      });
    eraseDead();
    return division.count;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct TileRandomPass : act::impl::ActTileRandomPassBase<TileRandomPass> {
  using ActTileRandomPassBase::ActTileRandomPassBase;

  void runOnOperation() override {
    FunctionOpInterface function = getOperation();
    if (function->hasAttr(SymbolTable::getVisibilityAttrName()) &&
        SymbolTable::getSymbolVisibility(function) !=
            SymbolTable::Visibility::Public)
      return;
    // Inner blocks first: the loop around them may go.
    SmallVector<Block *> blocks;
    function->walk<WalkOrder::PostOrder>(
        [&](Block *block) { blocks.push_back(block); });
    for (Block *block : blocks)
      runOnBlock(*block);
  }

  void runOnBlock(Block &block) {
    int64_t tileElements = std::max<int64_t>(tileBytes / kBytesPerElement, 1);
    RandomChains chains(block, tileElements);
    auto options = remark::RemarkOpts::name("TileRandom").category("act");
    for (const OpSet &chain : chains.find()) {
      ChainTiler tiler(block, chain, tileElements);
      if (!tiler.isLarge())
        continue;
      Location loc = tiler.getLoc();
      if (EncodingPolicy::get(getOperation()).isPartitioned())
        remark::missed(loc, options)
            << "random values are not tiled: the step is partitioned";
      else if (std::optional<int64_t> count = tiler.tile())
        remark::passed(loc, options)
            << "random values computed in " + std::to_string(*count) + " tiles";
      else
        remark::missed(loc, options)
            << "random values are not tiled: no dimension can be divided";
    }
  }
};
} // namespace
