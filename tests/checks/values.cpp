// Results against naive loops and PyTorch-sized tolerances; gradients against differences; fused
// rules against formulas; float32 against float64.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fovea/core/engine.h"
#include "fovea/core/gradcheck.h"
#include "fovea/ops/ops.h"
#include "tests/checks/checks.h"

namespace fovea::cases {

namespace {

void check_result(const OpCase& row, const NaiveTensors& inputs, const Tensor& y) {
  if (row.naive) {
    const double tolerance = y.dtype() == f32 ? row.tolerance_f32 : 1e-12;
    EXPECT_EQ(compare(to_naive(y), row.naive(inputs), tolerance), "") << row.id();
  }
  if (row.property) {
    EXPECT_EQ(row.property(inputs, to_naive(y)), "") << row.id();
  }
}

// Each on the row's own shapes, or on those given instead.
using Shapes = std::vector<Shape>;

void check_forward(const OpCase& row, DType floating, const Shapes& shapes = {}) {
  const Tensors inputs = make_inputs(row.inputs, floating, kSeed, shapes);
  const NaiveTensors before = to_naive(inputs);
  const Tensor y = call(row.f, inputs);
  EXPECT_EQ(y.dtype(), row.result.value_or(floating));
  check_result(row, before, y);
  EXPECT_EQ(y.requires_grad(), row.differentiable && !wanted(inputs).empty());
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(compare(to_naive(inputs[i]), before[i], 0), "") << "input " << i << " was changed";
  }
  const NoGrad scope;
  const Tensor quiet = call(row.f, inputs);
  EXPECT_FALSE(quiet.requires_grad() && !quiet.same_as(inputs[0])) << "recorded inside NoGrad";
  // What holds of an uninitialised tensor is not repeatable.
  if (row.name != "empty_like") expect_equal(quiet, y, 0, "inside NoGrad");
}
void check_order(const OpCase& row, int order, const Shapes& shapes = {}) {
  GradcheckOptions o;
  o.tolerance = order == 1 ? 1e-7 : 1e-6;
  const Tensors inputs = make_inputs(row.inputs, f64, kSeed, shapes);
  const auto report = order == 1 ? gradcheck(row.f, inputs, o) : gradgradcheck(row.f, inputs, o);
  EXPECT_TRUE(report.ok) << "order " << order << ": " << report.message;
}

// The rule written in ops, which runs when someone differentiates again, against the fast one.
void check_fused(const OpCase& row, DType t, const Shapes& shapes = {}) {
  const Tensors inputs = make_inputs(row.inputs, t, kSeed, shapes);
  const Tensor y = call(row.f, inputs);
  const Tensor up = upstream_for(y);
  const Tensors fast = gradients(row, inputs, y, up, false);
  for (const Tensor& g : fast) {
    EXPECT_FALSE(g.requires_grad());
    if (y.numel() == 0) {
      EXPECT_EQ(compare(to_naive(g), filled(g.shape(), 0), 0), "") << "gradient of nothing";
    }
  }
  const Tensors formula = gradients(row, inputs, y, up, true);
  expect_equal(fast, formula, epsilon(t), std::string(fovea::name(t)));
}

}  // namespace

void forward_f64(const OpCase& row) { check_forward(row, f64); }
void forward_f32(const OpCase& row) { check_forward(row, f32); }
void first_order(const OpCase& row) { check_order(row, 1); }
void second_order(const OpCase& row) { check_order(row, 2); }
void fused(const OpCase& row) {
  for (DType t : {f64, f32}) check_fused(row, t);
}

void size_one(const OpCase& row) {
  for (DType t : {f64, f32}) {
    check_forward(row, t, row.one);
    if (row.has_gradient()) check_fused(row, t, row.one);
  }
  if (!row.has_gradient()) return;
  for (int order : {1, 2}) check_order(row, order, row.one);
}

void zero_size(const OpCase& row) {
  for (DType t : {f64, f32}) {
    check_forward(row, t, row.zero);
    if (row.differentiable) check_fused(row, t, row.zero);
  }
}

// The same numbers in both types: what float32 loses, forward and backward, is rounding.
void float32(const OpCase& row) {
  if (row.name == "empty_like") return;
  const Tensors narrow = make_inputs(row.inputs, f32, kSeed);
  Tensors wide;
  for (const Tensor& x : narrow) {
    wide.push_back(x.is_floating() ? clone(to(x.detach(), f64)) : x);
    if (x.requires_grad()) wide.back().requires_grad_();
  }
  const bool random = static_cast<bool>(row.property);  // draws differ between the types
  const Tensor y32 = call(row.f, narrow), y64 = call(row.f, wide);
  if (random || y64.dtype() != f64) return;
  EXPECT_EQ(compare(to_naive(y32), to_naive(y64), 2 * row.tolerance_f32, 1), "");
  const Tensor up = upstream_for(y32);
  const auto g32 = gradients(row, narrow, y32, up, false);
  const auto g64 = gradients(row, wide, y64, to(up, f64), false);
  // The largest of all: one of several may be 0 but for rounding. And some may be too small for
  // f32.
  double largest = 1e-30;
  for (const Tensor& g : g64) {
    if (g.numel() > 0) largest = std::max(largest, max(abs(g)).item());
  }
  for (size_t i = 0; i < g64.size(); ++i) {
    EXPECT_LE(relative_error(to_naive(g32[i]), to_naive(g64[i]), 1, largest), 5e-6)
        << "gradient " << i;
  }
}

}  // namespace fovea::cases
