#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

std::vector<double> random_values(const InputSpec& s, size_t n, std::mt19937_64& bits) {
  std::vector<double> v(n);
  if (s.dtype != f64) {
    std::uniform_int_distribution<int64_t> whole(static_cast<int64_t>(s.low),
                                                 static_cast<int64_t>(s.high) - 1);
    for (double& x : v) x = static_cast<double>(whole(bits));
  } else if (s.distinct) {
    for (size_t i = 0; i < n; ++i) v[i] = s.low + (s.high - s.low) * (i + 0.5) / n;
    std::shuffle(v.begin(), v.end(), bits);
  } else {
    std::uniform_real_distribution<double> real(s.low, s.high);
    const auto near_kink = [&](double x) {
      return std::any_of(s.kinks.begin(), s.kinks.end(),
                         [x](double k) { return std::fabs(x - k) < kMargin; });
    };
    for (double& x : v) {
      do x = real(bits);
      while (near_kink(x));
    }
  }
  return v;
}

}  // namespace

const std::vector<OpCase>& table() {
  static const std::vector<OpCase> all = [] {
    std::vector<OpCase> t;
    for (const auto& rows : {
             rows_creation,
             rows_random,
             rows_unary,
             rows_binary,
             rows_compare,
             rows_reduce,
             rows_matmul,
             rows_view,
             rows_join,
             rows_index,
             rows_softmax,
             rows_loss,
             rows_sort,
             rows_norm,
             rows_arrange,
             rows_conv,
             rows_sparse,
             rows_recurrent,
             rows_attention,
             rows_positions,
             rows_distances,
             rows_layers,
             rows_recurrent_layers,
             rows_transformer,
             rows_models,
             rows_scores,
             rows_attention_layers,
             rows_linear_attention,
             rows_sparse_attention,
             rows_token_attention,
             rows_seq2seq,
         }) {
      for (OpCase& row : rows()) t.push_back(std::move(row));
    }
    return t;
  }();
  return all;
}

bool OpCase::has_gradient() const {
  return differentiable && std::any_of(inputs.begin(), inputs.end(),
                                       [](const InputSpec& s) { return s.dtype == f64 && s.grad; });
}

std::vector<Shape> all_one(const std::vector<InputSpec>& specs) {
  std::vector<Shape> shapes;
  for (const InputSpec& s : specs) shapes.push_back(Shape::filled(s.shape.rank(), 1));
  return shapes;
}

Tensors make_inputs(const std::vector<InputSpec>& specs, DType floating, uint64_t seed,
                    const std::vector<Shape>& shapes) {
  std::mt19937_64 bits(seed);
  Tensors inputs;
  for (size_t k = 0; k < specs.size(); ++k) {
    const InputSpec& s = specs[k];
    const Shape& shape = shapes.empty() ? s.shape : shapes[k];
    const Tensor x = Tensor::empty(shape, s.dtype == f64 ? floating : s.dtype);
    const bool own = !s.values.empty() && shape == s.shape;
    const auto v = own ? s.values : random_values(s, static_cast<size_t>(x.numel()), bits);
    visit(x.dtype(), [&](auto zero) {
      auto* p = x.data<decltype(zero)>();
      for (size_t i = 0; i < v.size(); ++i) p[i] = static_cast<decltype(zero)>(v[i]);
    });
    if (x.is_floating() && s.grad) x.requires_grad_();
    inputs.push_back(x);
  }
  return inputs;
}

NaiveTensor to_naive(const Tensor& x) { return {x.shape(), x.to_vector<double>()}; }

NaiveTensors to_naive(const Tensors& xs) {
  NaiveTensors out;
  for (const Tensor& x : xs) out.push_back(to_naive(x));
  return out;
}

double relative_error(const NaiveTensor& a, const NaiveTensor& b, double share, double floor) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  if (!(a.shape == b.shape)) return kNever;
  double largest = 0, worst = 0;
  for (double v : b.data) {
    if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
  }
  for (size_t i = 0; i < b.data.size(); ++i) {
    const double x = a.data[i], y = b.data[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double error = std::fabs(x - y) / (std::fabs(y) + share * largest + floor);
    worst = std::max(worst, std::isfinite(error) ? error : kNever);
  }
  return worst;
}

std::string compare(const NaiveTensor& a, const NaiveTensor& b, double tolerance, double share) {
  if (!(a.shape == b.shape)) {
    return fmt::format("shape {} instead of {}", a.shape.str(), b.shape.str());
  }
  double largest = 0;
  for (double v : b.data) {
    if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
  }
  double worst = 0;
  std::string complaint;
  for (size_t i = 0; i < b.data.size(); ++i) {
    const double x = a.data[i], y = b.data[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    const double error = std::fabs(x - y) / (std::fabs(y) + share * largest);
    if (error <= tolerance || error <= worst) continue;
    worst = std::isnan(error) ? worst : error;
    complaint = fmt::format("element {} of {}: {:.17g} instead of {:.17g}, relative error {:.3g}",
                            i, b.shape.str(), x, y, error);
  }
  return complaint;
}

}  // namespace fovea::cases
