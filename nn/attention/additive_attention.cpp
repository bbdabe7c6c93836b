#include "fovea/nn/attention/additive_attention.h"

#include <fmt/format.h>

#include <string>

#include "fovea/core/error.h"
#include "fovea/nn/detail/widths.h"
#include "fovea/ops/ops.h"

namespace fovea {
namespace {

constexpr const char* kAdditiveAttention = "AdditiveAttention";

AdditiveAttentionOptions checked(const AdditiveAttentionOptions& o) {
  detail::check_widths(
      kAdditiveAttention,
      {{"query_dim", o.query_dim}, {"key_dim", o.key_dim}, {"hidden_dim", o.hidden_dim}});
  return o;
}

}  // namespace

AdditiveAttention::AdditiveAttention(const AdditiveAttentionOptions& o)
    : w_q({.in = checked(o).query_dim, .out = o.hidden_dim, .bias = false, .dtype = o.dtype}),
      w_k({.in = o.key_dim, .out = o.hidden_dim, .bias = false, .dtype = o.dtype}),
      v({.in = o.hidden_dim, .out = 1, .bias = false, .dtype = o.dtype}) {}

Tensor AdditiveAttention::operator()(const Tensor& query, const Tensor& keys) const {
  if (!query.defined() || !keys.defined() || query.dim() != 2 || keys.dim() != 3 ||
      query.size(1) != w_q.in() || keys.size(2) != w_k.in() || query.size(0) != keys.size(0)) {
    throw ShapeError(fmt::format(
        "{}: query is {}, keys is {}; need (B, {}) and (B, T, {})", kAdditiveAttention,
        query.defined() ? query.shape().str() : std::string("undefined"),
        keys.defined() ? keys.shape().str() : std::string("undefined"), w_q.in(), w_k.in()));
  }
  return squeeze(additive_scores(unsqueeze(w_q(query), 1), w_k(keys), squeeze(v.weight, 0)), 1);
}

void AdditiveAttention::visit(Visitor& visitor) {
  visitor("w_q", w_q);
  visitor("w_k", w_k);
  visitor("v", v);
}

}  // namespace fovea
