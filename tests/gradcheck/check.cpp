#include "tests/gradcheck/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/core/random.h"
#include "fovea/ops/ops.h"

namespace fovea::gradchecks {
namespace {

using cases::OpCase;

std::string describe(const OpCase& row) {
  std::string text;
  for (const auto& s : row.inputs) {
    if (!text.empty()) text += ", ";
    if (s.dtype != f64) text += fmt::format("{} ", name(s.dtype));
    text += s.shape.str();
  }
  return text;
}

Shape index_of(const Shape& shape, int64_t n) {
  Shape index = shape;
  for (int d = shape.rank() - 1; d >= 0; --d) {
    index[d] = n % shape[d];
    n /= shape[d];
  }
  return index;
}

// The column of the Jacobian that belongs to the input element whose gradient was worst.
JacobianEntry worst_entry(const OpCase& row, const Tensors& inputs, const GradcheckReport& report) {
  const GradcheckOptions o;
  const auto call = [&] {
    manual_seed(o.seed);
    return row.f(inputs);
  };
  const Tensor& x = inputs[static_cast<size_t>(report.input)];
  double& element = x.data<double>()[report.element];
  const double before = element;
  const auto shifted = [&](double steps) {
    element = before + steps * o.step;
    auto y = call().to_vector<double>();
    element = before;
    return y;
  };
  const auto n1 = shifted(-1), p1 = shifted(1), n2 = shifted(-2), p2 = shifted(2);
  const Tensor y = call();
  std::vector<double> analytic(n1.size()), numeric(n1.size());
  double largest = 0;
  for (size_t i = 0; i < n1.size(); ++i) {
    const Tensor upstream = zeros(y.shape(), y.dtype());
    upstream.data<double>()[i] = 1;
    const Tensor g =
        grad(y, {x}, {.retain_graph = true, .allow_unused = true, .upstream = upstream})[0];
    analytic[i] = g.defined() ? contiguous(g).data<double>()[report.element] : 0;
    numeric[i] = (8 * (p1[i] - n1[i]) - (p2[i] - n2[i])) / (12 * o.step);
    largest = std::max({largest, std::fabs(analytic[i]), std::fabs(numeric[i])});
  }
  JacobianEntry worst;
  for (size_t i = 0; i < n1.size(); ++i) {
    const double scale =
        std::max({std::fabs(analytic[i]), std::fabs(numeric[i]), 0.1 * largest, 1e-3});
    const double error = std::fabs(analytic[i] - numeric[i]) / scale;
    if (i > 0 && error <= worst.error) continue;
    worst = {index_of(y.shape(), static_cast<int64_t>(i)),
             index_of(x.shape(), report.element),
             report.input,
             analytic[i],
             numeric[i],
             error};
  }
  return worst;
}

void check_value(const OpCase& row, const Tensors& inputs, RowReport& r) {
  manual_seed(7);
  const auto before = cases::to_naive(inputs);
  const Tensor y = row.f(inputs);
  if (row.naive) {
    r.value = cases::relative_error(cases::to_naive(y), row.naive(before));
    // Integers give results in float32.
    const double allowed = y.dtype() == f32 ? row.tolerance_f32 : kValueTolerance;
    if (!(*r.value <= allowed)) r.complaints.push_back("the result is not that of the naive loop");
  }
  if (!row.property) return;
  const std::string complaint = row.property(before, cases::to_naive(y));
  if (!complaint.empty()) r.complaints.push_back(complaint);
}

void check_gradients(const OpCase& row, const Tensors& inputs, bool find_worst, RowReport& r) {
  const auto first = gradcheck(row.f, inputs, {.tolerance = kFirstOrderTolerance});
  r.first = first.error;
  if (!first.ok) r.complaints.push_back(first.message);
  if (find_worst && first.input >= 0) r.worst = worst_entry(row, inputs, first);
  if (!row.second_order) return;
  const auto second = gradgradcheck(row.f, inputs, {.tolerance = kSecondOrderTolerance});
  r.second = second.error;
  if (!second.ok) r.complaints.push_back(second.message);
}

void check_golden(const OpCase& row, const cases::Golden& golden, RowReport& r) {
  const auto meet = [&](DType t, std::optional<double>& error, double tolerance) {
    const auto a = golden.compare(row, t);
    error = a.error;
    if (a.error <= tolerance) return;
    r.complaints.push_back(fmt::format("{} in {} differs from PyTorch's by {:.2g}, allowed {:.2g}",
                                       a.where, name(t), a.error, tolerance));
  };
  meet(f64, r.golden, kGoldenTolerance);
  meet(f32, r.golden32, kGoldenTolerance32);
}

}  // namespace

RowReport check_row(const OpCase& row, const cases::Golden& golden, uint64_t seed,
                    bool find_worst) {
  RowReport r;
  r.id = row.id();
  r.inputs = describe(row);
  try {
    const Tensors inputs = cases::make_inputs(row.inputs, f64, seed);
    if (row.name != "empty_like") check_value(row, inputs, r);
    if (row.has_gradient()) check_gradients(row, inputs, find_worst, r);
    if (golden.has(r.id)) check_golden(row, golden, r);
  } catch (const std::exception& e) {
    r.complaints.push_back(e.what());
  }
  return r;
}

}  // namespace fovea::gradchecks
