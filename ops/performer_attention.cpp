// Softmax attention by random features.    q: (..., Tq, D), k: (..., Tk, D), w: (m, D)
// forward   exp(q'k / sqrt D) = E phi(q)' phi(k),  phi(x) = exp(w'x - |x|^2 / 2) / sqrt m,
//           x = q / D^(1/4), w ~ N(0, I);  y = feature_attention(phi(q), phi(k), v)
// backward  that of its parts                             (Choromanski 2021, eq. 5 and lemma 1)
//
// The exponents are lowered by their maximum, a query's own for q and one for all keys of a head:
// numerator and denominator of y carry the factor alike, so it cancels, and its gradient with it.
// What lies below the largest exponent by more than the dtype's range counts as 0: a query whose
// keys, as far as it sees them, all do gets 0.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "fovea/ops/internal.h"
#include "fovea/ops/linear_attention.h"

namespace fovea {
namespace {

// w'x - |x|^2 / 2 of x / D^(1/4): (..., T, D) -> (..., T, m). sqrt m is a factor that cancels too.
Tensor exponents(const Tensor& x, const Tensor& w) {
  const double root = std::sqrt(std::sqrt(static_cast<double>(std::max<int64_t>(1, x.size(-1)))));
  const Tensor s = x * (1 / root);
  return matmul(s, transpose(w, 0, 1)) - sum(square(s), -1, keepdim) * 0.5;
}

// The largest exponent, a constant: 0 where there is none to take, or none that is finite.
Tensor largest(const Tensor& h, const Axes& axes) {
  const NoGrad scope;
  const Tensor top = amax(h, axes, true);
  return where(isfinite(top), top, zeros({}, top.dtype()));
}

// One unit vector after the other, made orthogonal to those before it. Twice: once is not enough
// for digits when a vector lies close to the others.
void orthonormalise(double* q, int64_t d) {
  for (int64_t i = 0; i < d; ++i) {
    double* row = q + i * d;
    const auto dot = [&](const double* other) {
      double sum = 0;
      for (int64_t c = 0; c < d; ++c) sum += row[c] * other[c];
      return sum;
    };
    for (int64_t j = 0; j < 2 * i; ++j) {
      const double* other = q + j % i * d;
      const double share = dot(other);
      for (int64_t c = 0; c < d; ++c) row[c] -= share * other[c];
    }
    const double length = std::sqrt(dot(row));
    for (int64_t c = 0; c < d; ++c) row[c] /= length;
  }
}

}  // namespace

// Directions are the Gram-Schmidt basis of a Gaussian matrix, uniform on the sphere; each length is
// that of a Gaussian vector of its own, so that every row alone is N(0, I). Choromanski 2021,
// section 3.1.
Tensor orthogonal_features(int64_t m, int64_t d, DType dtype, Generator* g) {
  constexpr const char* op = "orthogonal_features";
  if (m < 0 || d < 0) {
    throw ShapeError(fmt::format("{}: m is {}, d is {}; sizes are not negative", op, m, d));
  }
  if (!is_floating(dtype)) {
    throw DTypeError(fmt::format("{}: dtype is {}; f32 or f64 is needed", op, name(dtype)));
  }
  const NoGrad scope;
  if (m == 0 || d == 0) return zeros({m, d}, dtype);
  const int64_t blocks = (m + d - 1) / d;
  const Tensor directions = randn({blocks, d, d}, f64, g);
  for (int64_t b = 0; b < blocks; ++b) orthonormalise(directions.data<double>() + b * d * d, d);
  const Tensor lengths = norm(randn({m, d}, f64, g), 2, -1, keepdim);
  return to(narrow(reshape(directions, {blocks * d, d}), 0, 0, m) * lengths, dtype);
}

Tensor performer_attention(const Tensor& q, const Tensor& k_in, const Tensor& v, const Tensor& w,
                           const LinearAttentionOptions& o) {
  constexpr const char* op = "performer_attention";
  detail::check_linear_attention(op, {"q", "k"}, q, k_in, v, o.keep_mask);
  detail::check_floating(op, "w", w);
  if (w.dim() != 2 || w.size(1) != q.size(-1)) {
    throw ShapeError(fmt::format("{}: w is {}, q is {}; need w (m, q.shape[-1])", op,
                                 w.shape().str(), q.shape().str()));
  }
  const Tensor k = detail::without_hidden(k_in, o.keep_mask);
  const Tensor hq = exponents(q, w), hk = exponents(k, w);
  if (hq.numel() == 0 || hk.numel() == 0) return feature_attention(hq, hk, v, o);
  Tensor taken = hk.detach();
  if (o.keep_mask.defined()) {
    const Tensor none = full({}, -std::numeric_limits<double>::infinity(), hk.dtype());
    taken = where(unsqueeze(o.keep_mask, -1), taken, none);
  }
  return feature_attention(exp(hq - largest(hq, -1)), exp(hk - largest(taken, {-2, -1})), v, o);
}

}  // namespace fovea
