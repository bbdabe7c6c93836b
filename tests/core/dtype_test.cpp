#include <gtest/gtest.h>

#include "fovea/core/error.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

constexpr DType kAll[] = {boolean, i64, f32, f64};

TEST(DTypes, SizesAndNames) {
  EXPECT_EQ(item_size(boolean), 1);
  EXPECT_EQ(item_size(i64), 8);
  EXPECT_EQ(item_size(f32), 4);
  EXPECT_EQ(item_size(f64), 8);
  EXPECT_EQ(name(boolean), "bool");
  EXPECT_EQ(name(f32), "f32");
  EXPECT_TRUE(is_floating(f32) && is_floating(f64));
  EXPECT_FALSE(is_floating(i64) || is_floating(boolean));
  EXPECT_EQ(dtype_of<uint8_t>(), boolean);
  EXPECT_EQ(dtype_of<int64_t>(), i64);
}

TEST(DTypes, EveryPairPromotesToTheLaterOne) {
  for (DType a : kAll) {
    for (DType b : kAll) {
      const DType want = a > b ? a : b;
      EXPECT_EQ(promote(a, b), want);
      const Tensor x = ones({2}, a), y = ones({2}, b);
      const DType counted = want == boolean ? i64 : want;  // in arithmetic a bool is 0 or 1
      EXPECT_EQ(maximum(x, y).dtype(), counted) << name(a) << " " << name(b);
      EXPECT_EQ((x * y).dtype(), counted) << name(a) << " " << name(b);
      EXPECT_EQ((x == y).dtype(), boolean);
      EXPECT_EQ((x / y).dtype(), is_floating(want) ? want : f32) << name(a) << " " << name(b);
      EXPECT_EQ(where(ones({2}, boolean), x, y).dtype(), want);
      EXPECT_EQ(cat({x, y}).dtype(), want);
    }
  }
}

TEST(DTypes, ANumberNeverWidensAFloatTensor) {
  for (DType t : kAll) {
    const Tensor x = ones({2}, t);
    EXPECT_EQ((x * 2.5).dtype(), is_floating(t) ? t : f32) << name(t);
    EXPECT_EQ((2.5 - x).dtype(), is_floating(t) ? t : f32) << name(t);
    EXPECT_EQ((x + 2).dtype(), is_floating(t) ? t : i64) << name(t);
    EXPECT_EQ((x / 2).dtype(), is_floating(t) ? t : f32) << name(t);
  }
  EXPECT_EQ(Scalar(true).promoted(boolean), boolean);
  EXPECT_EQ(Scalar(1).promoted(boolean), i64);
  EXPECT_EQ(Scalar(1.0f).promoted(f64), f64);
}

TEST(DTypes, LargeWholeNumbersStayExact) {
  const int64_t big = (int64_t{1} << 60) + 1;
  EXPECT_EQ(full({}, big, i64).item<int64_t>(), big);
  EXPECT_EQ((full({}, big, i64) + 1).item<int64_t>(), big + 1);
  EXPECT_EQ(sum(full({1}, big, i64)).item<int64_t>(), big);
}

TEST(DTypes, WhatReductionsGive) {
  EXPECT_EQ(sum(ones({3}, boolean)).dtype(), i64);
  EXPECT_EQ(sum(ones({3}, i64)).dtype(), i64);
  EXPECT_EQ(sum(ones({3}, f64)).dtype(), f64);
  EXPECT_THROW((void)mean(ones({3}, i64)), DTypeError);
  EXPECT_EQ(argmax(ones({3})).dtype(), i64);
}

TEST(DTypes, OnlyFloatsRequireAGradient) {
  EXPECT_THROW((void)ones({3}, i64).requires_grad_(), DTypeError);
  EXPECT_THROW((void)ones({3}, boolean).requires_grad_(), DTypeError);
}

// A wider operand widens the result; the gradient comes back in the leaf's own type.
TEST(DTypes, GradientsComeBackInTheInputsType) {
  const Tensor x = full({2}, 3).requires_grad_();
  const Tensor y = full({2}, 2, f64).requires_grad_();
  sum(x * y).backward();
  EXPECT_EQ(x.grad().dtype(), f32);
  EXPECT_EQ(y.grad().dtype(), f64);
  EXPECT_EQ(x.grad().at({1}), 2);
  EXPECT_EQ(y.grad().at({1}), 3);
}

}  // namespace
}  // namespace fovea
