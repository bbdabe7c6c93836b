#include "fovea/nn/position/relative.h"

#include <fmt/format.h>

#include <cmath>

#include "fovea/core/error.h"
#include "fovea/nn/init.h"
#include "fovea/nn/position/distance.h"

namespace fovea {
namespace {

constexpr const char* kName = "ShawRelative";

// The vector of each pair, (Tq, Tk, D).
Tensor of_pairs(const Tensor& table, int64_t tq, int64_t tk, int64_t k) {
  return embedding(table, clamp(distances(tq, tk), -k, k) + k);
}

// x (..., Tq, N) times a matrix of each query, (Tq, N, M) -> (..., Tq, M).
Tensor by_query(const Tensor& x, const Tensor& matrices) {
  const int64_t tq = x.size(-2), n = x.size(-1), m = matrices.size(-1);
  int64_t others = 1;
  for (int d = 0; d < x.dim() - 2; ++d) others *= x.shape()[d];
  Shape shape = x.shape();
  shape[x.dim() - 1] = m;
  const Tensor rows = transpose(reshape(x, {others, tq, n}), 0, 1);
  return reshape(transpose(matmul(rows, matrices), 0, 1), shape);
}

void check_rows(const char* arg, const Tensor& x) {
  if (x.defined() && x.dim() >= 2) return;
  throw ShapeError(fmt::format("{}: {} is {}; need at least two axes", kName, arg,
                               x.defined() ? x.shape().str() : "undefined"));
}

}  // namespace

ShawRelative::ShawRelative(const ShawRelativeOptions& o) : max_distance_(o.max_distance) {
  if (o.dim < 0 || o.max_distance < 0) {
    throw ValueError(fmt::format("{}: dim is {}, max_distance is {}; neither is negative", kName,
                                 o.dim, o.max_distance));
  }
  for (Tensor* table : {&keys, &values}) {
    *table = Tensor::empty({2 * o.max_distance + 1, o.dim}, o.dtype);
    init::xavier_uniform_(*table);
    table->requires_grad_();
  }
}

Tensor ShawRelative::score_term(const Tensor& q, int64_t tk) const {
  check_rows("q", q);
  if (q.size(-1) != keys.size(1)) {
    throw ShapeError(fmt::format("{}: q is {}; its last axis must have size {}", kName,
                                 q.shape().str(), keys.size(1)));
  }
  const Tensor a = of_pairs(keys, q.size(-2), tk, max_distance_);
  return by_query(q, transpose(a, 1, 2)) * (1 / std::sqrt(static_cast<double>(q.size(-1))));
}

Tensor ShawRelative::value_term(const Tensor& weights) const {
  check_rows("weights", weights);
  return by_query(weights, of_pairs(values, weights.size(-2), weights.size(-1), max_distance_));
}

Tensor ShawRelative::forward(const Tensor& q, const Tensor& k_in, const Tensor& v_in,
                             const AttendOptions& o) const {
  const auto fits = [&](const Tensor& x) {
    return x.defined() && x.dim() == 4 && x.size(3) == keys.size(1);
  };
  if (!fits(q) || !fits(k_in) || !fits(v_in) || !(k_in.shape() == v_in.shape()) ||
      q.size(0) != k_in.size(0) || q.size(1) != k_in.size(1)) {
    const auto shape = [](const Tensor& x) { return x.defined() ? x.shape().str() : "undefined"; };
    throw ShapeError(
        fmt::format("{}: q is {}, k is {}, v is {}; need (B, H, Tq, {}) and twice "
                    "(B, H, Tk, {})",
                    kName, shape(q), shape(k_in), shape(v_in), keys.size(1), keys.size(1)));
  }
  const int64_t tk = (o.cache ? o.cache->length() : 0) + k_in.size(2);
  AttentionOptions options = attention_options(kName, o, {q.size(0), q.size(1), q.size(2), tk});
  const Tensor term = score_term(q, tk);
  options.bias = o.bias.defined() ? o.bias + term : term;
  const auto [k, v] = o.cache ? o.cache->append(k_in, v_in) : KeysAndValues{k_in, v_in};
  return scaled_dot_product_attention(q, k, v, options) +
         value_term(attention_weights(q, k, options));
}

}  // namespace fovea
