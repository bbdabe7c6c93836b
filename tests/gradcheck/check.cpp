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

// The inputs; of a layer with many parameters the first.
std::string describe(const OpCase& row) {
  constexpr size_t kShown = 5;
  std::string text;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const auto& s = row.inputs[i];
    if (i == kShown && row.inputs.size() > kShown + 1) {
      return text + fmt::format(" and {} more", row.inputs.size() - kShown);
    }
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

// What the Jacobian is made of: the function, one of its inputs, and the gradient of each output.
struct Jacobian {
  const OpCase& row;
  const Tensors& inputs;
  int64_t input;
  Shape output;
  std::vector<std::vector<double>> analytic;  // [output][element of the input]

  Jacobian(const OpCase& r, const Tensors& in, int64_t i) : row(r), inputs(in), input(i) {
    const Tensor y = call();
    output = y.shape();
    const GradOptions o{.retain_graph = true, .allow_unused = true};
    for (int64_t k = 0; k < y.numel(); ++k) {
      GradOptions one = o;
      one.upstream = zeros(y.shape(), y.dtype());
      one.upstream.data<double>()[k] = 1;
      const Tensor g = grad(y, {x()}, one)[0];
      analytic.push_back(g.defined() ? g.to_vector<double>()
                                     : std::vector<double>(static_cast<size_t>(x().numel()), 0.0));
    }
  }

  const Tensor& x() const { return inputs[static_cast<size_t>(input)]; }
  Tensor call() const {
    manual_seed(GradcheckOptions().seed);
    return row.f(inputs);
  }

  // d outputs / d x[element] by the four-point difference.
  std::vector<double> column(int64_t element) const {
    const double h = GradcheckOptions().step;
    double& moved = x().data<double>()[element];
    const double before = moved;
    const auto shifted = [&](double steps) {
      moved = before + steps * h;
      auto y = call().to_vector<double>();
      moved = before;
      return y;
    };
    const auto n1 = shifted(-1), p1 = shifted(1), n2 = shifted(-2), p2 = shifted(2);
    std::vector<double> d(n1.size());
    for (size_t i = 0; i < d.size(); ++i) {
      d[i] = (8 * (p1[i] - n1[i]) - (p2[i] - n2[i])) / (12 * h);
    }
    return d;
  }
};

std::optional<JacobianEntry> worst_entry(const OpCase& row, const Tensors& inputs) {
  std::optional<JacobianEntry> worst;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].requires_grad()) continue;
    const Jacobian j(row, inputs, static_cast<int64_t>(i));
    for (int64_t element = 0; element < inputs[i].numel(); ++element) {
      const std::vector<double> numeric = j.column(element);
      double largest = 1e-3;
      for (double v : numeric) largest = std::max(largest, std::fabs(v));
      for (size_t k = 0; k < numeric.size(); ++k) {
        const double a = j.analytic[k][static_cast<size_t>(element)], n = numeric[k];
        const double error =
            std::fabs(a - n) / std::max({std::fabs(a), std::fabs(n), 0.1 * largest, 1e-3});
        if (worst && error <= worst->error) continue;
        worst = {index_of(j.output, static_cast<int64_t>(k)),
                 index_of(j.x().shape(), element),
                 j.input,
                 a,
                 n,
                 error};
      }
    }
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
  if (find_worst) r.worst = worst_entry(row, inputs);
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
