//===- PeakKernel.cpp - Arithmetic at its fastest ----------===//
//
// Part of act, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "act/Runtime/CPU/PeakKernel.h"
#include "act/Runtime/CPU/KernelArguments.h"
#include "act/Runtime/CPU/KernelCompiler.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <chrono>

using namespace mlir;
using namespace mlir::act;
using namespace mlir::act::runtime;

/// Steps of the loop that is measured: long enough that the clock costs
/// nothing.
static constexpr int64_t steps = 20000;

/// Adds a function that updates `count` independent vectors of `lanes` elements
/// in each of `steps` steps, and adds them to the buffer that it is given.
static void buildPeakKernel(ModuleOp module, StringRef name, int64_t lanes,
                            int64_t count) {
  ImplicitLocOpBuilder b(module.getLoc(), module.getContext());
  b.setInsertionPointToEnd(module.getBody());
  auto layout =
      StridedLayoutAttr::get(module.getContext(), ShapedType::kDynamic, {1});
  auto bufferType =
      MemRefType::get({ShapedType::kDynamic}, b.getF32Type(), layout);
  auto function =
      func::FuncOp::create(b, name, b.getFunctionType({bufferType}, {}));
  b.setInsertionPointToStart(function.addEntryBlock());
  Value buffer = function.getArgument(0);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, value);
  };
  auto type = VectorType::get({lanes}, b.getF32Type());
  // Read, so that nothing is computed when code is made.
  Value factor = vector::LoadOp::create(b, type, buffer, index(0));
  SmallVector<Value> sums;
  for (int64_t i = 0; i < count; ++i)
    sums.push_back(vector::LoadOp::create(b, type, buffer, index(i)));
  auto loop = scf::ForOp::create(b, index(0), index(steps), index(1), sums);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> next;
    for (Value sum : loop.getRegionIterArgs())
      next.push_back(vector::FMAOp::create(b, sum, factor, factor));
    scf::YieldOp::create(b, next);
  }
  Value total = loop.getResult(0);
  for (Value sum : loop.getResults().drop_front())
    total = arith::AddFOp::create(b, total, sum);
  vector::StoreOp::create(b, total, buffer, index(0));
  func::ReturnOp::create(b);
}

llvm::Expected<double> runtime::measurePeak(int64_t milliseconds) {
  VectorTarget target = getHostVectorTarget();
  int64_t lanes = target.vectorBits / 32;
  int64_t count = target.vectorRegisters * 3 / 4;
  std::unique_ptr<MLIRContext> context = createKernelContext();
  OwningOpRef<ModuleOp> module =
      ModuleOp::create(UnknownLoc::get(context.get()));
  buildPeakKernel(*module, "act_peak", lanes, count);
  auto kernel = compileKernel(*module, "act_peak");
  if (!kernel)
    return kernel.takeError();

  using Clock = std::chrono::steady_clock;
  Clock::time_point end =
      Clock::now() + std::chrono::milliseconds(milliseconds);
  double best = 0;
  do {
    std::array<float, 64> buffer = {};
    KernelArguments arguments;
    arguments.addNumbers({buffer.data(), 64, 1});
    Clock::time_point start = Clock::now();
    (*kernel)->call(arguments.get());
    std::chrono::duration<double> seconds = Clock::now() - start;
    best = std::max(best, 2.0 * lanes * count * steps / seconds.count());
  } while (Clock::now() < end);
  return best;
}
