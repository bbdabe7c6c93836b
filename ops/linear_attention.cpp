// Linear attention.      fq: (..., Tq, M), fk: (..., Tk, M), v: (..., Tk, Dv); y: (..., Tq, Dv)
// forward   A = what the mask keeps of fq fk',  n = row sums of A,  y = A v / n
// backward  u = gy / n,  dA = what the mask keeps of u v' - rowsum(u y),
//           dfq = dA fk,  dfk = dA' fq,  dv = A' u             (Katharopoulos 2020, eq. 4 to 15)
// saves     fq, fk, v, y and 1 / n
// A is a product of matrices without a softmax between them, so A v = fq (fk' v) needs no Tq x Tk
// numbers: see linear_attention_forward.cpp. The rule here does store them; it runs when someone
// differentiates again.
#include "fovea/ops/linear_attention.h"

#include <fmt/format.h>

#include "fovea/ops/attention_dense.h"
#include "fovea/ops/elementwise.h"
#include "fovea/ops/internal.h"
#include "fovea/ops/kernels/linear_attention.h"

namespace fovea {
namespace detail {

void check_linear_attention(const char* op, const FeatureNames& names, const Tensor& q,
                            const Tensor& k, const Tensor& v, const Tensor& keep_mask) {
  check_floating(op, names.q, q);
  check_floating(op, names.k, k);
  check_floating(op, "v", v);
  const auto fail = [&](const char* need) {
    throw ShapeError(fmt::format("{}: {} is {}, {} is {}, v is {}; need {}", op, names.q,
                                 q.shape().str(), names.k, k.shape().str(), v.shape().str(), need));
  };
  if (q.dim() < 2 || k.dim() != q.dim() || v.dim() != q.dim()) {
    fail("the same number of axes, at least (T, D)");
  }
  Shape keys = k.shape();
  keys.erase(keys.rank() - 1);
  for (int d = 0; d < q.dim() - 2; ++d) {
    if (k.shape()[d] != q.shape()[d] || v.shape()[d] != q.shape()[d]) fail("equal leading axes");
  }
  if (q.size(-1) != k.size(-1)) fail("equal widths of queries and keys");
  if (k.size(-2) != v.size(-2)) fail("a value for each key");
  if (!keep_mask.defined()) return;
  check_dtype(op, "keep_mask", keep_mask, boolean);
  if (!broadcasts_to(keep_mask.shape(), keys)) {
    throw ShapeError(fmt::format(
        "{}: keep_mask is {}, {} is {}, {} is {}; it must broadcast to the keys {}", op,
        keep_mask.shape().str(), names.q, q.shape().str(), names.k, k.shape().str(), keys.str()));
  }
}

Tensor without_hidden(const Tensor& x, const Tensor& keep_mask) {
  if (!keep_mask.defined()) return x;
  return where(unsqueeze(keep_mask, -1), x, zeros({}, x.dtype()));
}

}  // namespace detail

namespace {

// Which keys each query sees, (..., Tq, Tk); undefined: all.
Tensor seen(const Tensor& q, const Tensor& k, const LinearAttentionOptions& o) {
  Tensor keep = o.keep_mask;
  if (keep.defined() && keep.dim() > 0) keep = unsqueeze(keep, -2);
  if (!o.causal) return keep;
  const int64_t tq = q.size(-2), tk = k.size(-2);
  const Tensor past = to(tril(ones({tq, tk}), tk - tq), boolean);
  return keep.defined() ? logical_and(keep, past) : past;
}

// The rule, in ops. Runs when someone will differentiate again.
std::array<Tensor, 3> feature_attention_vjp(const Tensor& fq, const Tensor& fk_in,
                                            const Tensor& v_in, const Tensor& gy,
                                            const LinearAttentionOptions& o) {
  const Tensor fk = detail::without_hidden(fk_in, o.keep_mask);
  const Tensor v = detail::without_hidden(v_in, o.keep_mask);
  const Tensor keep = seen(fq, fk, o), zero = zeros({}, fq.dtype());
  const auto kept = [&](const Tensor& x) { return keep.defined() ? where(keep, x, zero) : x; };
  const Tensor a = kept(matmul(fq, transpose(fk, -2, -1)));
  const Tensor n = sum(a, -1, keepdim), none = n == 0;
  const Tensor inverse = where(none, zero, 1 / where(none, ones({}, fq.dtype()), n));
  const Tensor y = matmul(a, v) * inverse, u = gy * inverse;
  const Tensor ga = kept(matmul(u, transpose(v, -2, -1)) - sum(u * y, -1, keepdim));
  return {matmul(ga, fk), detail::without_hidden(matmul(transpose(ga, -2, -1), fq), o.keep_mask),
          detail::without_hidden(matmul(transpose(a, -2, -1), u), o.keep_mask)};
}

// elu(x) + 1 as one operation: 1 + (exp(x) - 1) would lose the digits of small features. Its slope
// is min(y, 1).
Tensor elu_plus_one(const Tensor& x) {
  static constexpr auto rule = [](const Tensor& y, const Tensor& gy) {
    return gy * where(y > 1, ones({}, y.dtype()), y);
  };
  return detail::unary({"elu_plus_one",
                        {kernels::elu_plus_one, kernels::elu_plus_one},
                        true,
                        rule,
                        {kernels::elu_plus_one_backward, kernels::elu_plus_one_backward}},
                       x);
}

}  // namespace

Tensor feature_attention(const Tensor& fq_in, const Tensor& fk_in, const Tensor& v_in,
                         const LinearAttentionOptions& o) {
  constexpr const char* op = "feature_attention";
  detail::check_linear_attention(op, {"fq", "fk"}, fq_in, fk_in, v_in, o.keep_mask);
  const DType t = promote(promote(fq_in.dtype(), fk_in.dtype()), v_in.dtype());
  const Tensor fq = to(fq_in, t), fk = to(fk_in, t), v = to(v_in, t);
  const detail::FusedFeatureAttention kept = detail::fused_feature_attention(fq, fk, v, o);
  const Tensor mask = o.keep_mask;  // saved, where changing it in place shows
  return record(
      op, kept.y, {fq, fk, v},
      {save_input("fq", fq), save_input("fk", fk), save_input("v", v), save_output(kept.y),
       save_extra("inverse", kept.inverse), save_if(mask.defined(), save_input("keep_mask", mask))},
      [causal = o.causal](const Saved& s, const Tensor& gy) {
        const LinearAttentionOptions again{.keep_mask = s[5], .causal = causal};
        return use_formula()
                   ? feature_attention_vjp(s[0], s[1], s[2], gy, again)
                   : detail::fused_feature_attention_vjp(s[0], s[1], s[2], {s[3], s[4]}, gy, again);
      });
}

// Hidden keys are emptied before the features are taken: the slope there may be infinite or NaN.
Tensor linear_attention(const Tensor& q, const Tensor& k, const Tensor& v,
                        const LinearAttentionOptions& o) {
  detail::check_linear_attention("linear_attention", {"q", "k"}, q, k, v, o.keep_mask);
  return feature_attention(elu_plus_one(q), elu_plus_one(detail::without_hidden(k, o.keep_mask)), v,
                           o);
}

}  // namespace fovea
