#include "fovea/optim/clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <vector>

#include "fovea/core/error.h"
#include "fovea/core/parallel.h"
#include "fovea/ops/kernels/reduce.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

constexpr int64_t kPiece = 16384;

// The gradients as contiguous arrays, cut into pieces of at most kPiece elements.
struct Gradients {
  struct Piece {
    size_t tensor;
    int64_t begin, n;
  };
  Tensors original, flat;
  std::vector<Piece> pieces;

  explicit Gradients(const Tensors& params) {
    std::unordered_set<const detail::TensorImpl*> seen;
    for (const Tensor& p : params) {
      if (!p.defined() || !p.requires_grad()) continue;
      Tensor g = p.grad();
      if (!g.defined() || !seen.insert(g.impl()).second) continue;
      g = g.detach();
      for (int64_t begin = 0; begin < g.numel(); begin += kPiece) {
        pieces.push_back({flat.size(), begin, std::min(kPiece, g.numel() - begin)});
      }
      flat.push_back(contiguous(g));
      original.push_back(std::move(g));
    }
  }

  /// The partial results in the order of the pieces; f(const T*, n) -> double.
  template <class F>
  std::vector<double> map(F f) const {
    std::vector<double> part(pieces.size());
    parallel_chunks(static_cast<int64_t>(pieces.size()), [&](int64_t i) {
      const Piece& p = pieces[static_cast<size_t>(i)];
      part[static_cast<size_t>(i)] = visit_floating(flat[p.tensor].dtype(), [&](auto zero) {
        return f(flat[p.tensor].template data<decltype(zero)>() + p.begin, p.n);
      });
    });
    return part;
  }
  template <class F>
  double total(F f) const {
    double s = 0;
    for (double x : map(f)) s += x;
    return s;
  }

  double largest() const {
    double m = 0;
    for (double x : map([](const auto*x, int64_t n) {
           return std::max<double>(kernels::max(x, n), -static_cast<double>(kernels::min(x, n)));
         })) {
      m = std::isnan(x) || x > m ? x : m;
      if (std::isnan(m)) break;
    }
    return m;
  }

  void scale(double factor) const {
    parallel_chunks(static_cast<int64_t>(pieces.size()), [&](int64_t i) {
      const Piece& p = pieces[static_cast<size_t>(i)];
      visit_floating(flat[p.tensor].dtype(), [&](auto zero) {
        using T = decltype(zero);
        T* x = flat[p.tensor].template data<T>() + p.begin;
        // In double: 1e-39, which takes [1e39, ...] to 1, is no normal float.
        for (int64_t k = 0; k < p.n; ++k) x[k] = static_cast<T>(x[k] * factor);
      });
    });
    for (size_t i = 0; i < flat.size(); ++i) {
      if (original[i].is_contiguous()) {
        original[i].bump_version();
      } else {
        original[i].copy_(flat[i]);
      }
    }
  }
};

// m (sum |x / m|^p)^(1/p), m the largest magnitude: neither overflows nor underflows.
double scaled_norm(const Gradients& g, double p) {
  const double m = g.largest();
  if (!(m > 0) || !std::isfinite(m)) return m;
  const double s = g.total([=](const auto* x, int64_t n) {
    double sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::pow(std::fabs(static_cast<double>(x[i])) / m, p);
    return sum;
  });
  return m * std::pow(s, 1 / p);
}

double norm(const Gradients& g, double p) {
  if (std::isinf(p)) return g.largest();
  if (p == 1) return g.total([](const auto* x, int64_t n) { return kernels::sum_abs(x, n); });
  if (p == 2) {
    const double s = g.total([](const auto* x, int64_t n) { return kernels::sum_squares(x, n); });
    if (s > 1e-280 && s < 1e280) return std::sqrt(s);
  }
  return scaled_norm(g, p);
}

}  // namespace

double clip_grad_norm(const Tensors& params, double max_norm, const ClipOptions& o) {
  if (!(max_norm >= 0) || !(o.norm_type > 0)) {
    throw ValueError(
        fmt::format("clip_grad_norm: max_norm = {}, norm_type = {}; need max_norm >= 0 and "
                    "norm_type > 0",
                    max_norm, o.norm_type));
  }
  const NoGrad scope;
  const Gradients g(params);
  const double total = norm(g, o.norm_type);
  if (!std::isfinite(total)) {
    if (o.error_if_nonfinite) {
      throw ValueError(fmt::format(
          "clip_grad_norm: the norm of the gradients is {}; find the operation with AnomalyMode",
          total));
    }
    return total;
  }
  if (total > max_norm) g.scale(max_norm / total);
  return total;
}

void clip_grad_value(const Tensors& params, double value) {
  if (!(value >= 0)) {
    throw ValueError(fmt::format("clip_grad_value: value = {}; need >= 0", value));
  }
  const NoGrad scope;
  for (const Tensor& g : Gradients(params).original) g.copy_(clamp(g, -value, value));
}

}  // namespace fovea
