// GRU.        x: (B, T, I), h0: (B, H), W_ih: (3 H, I), W_hh: (3 H, H);  h, gy: (B, T, H)
// forward   a = W_ih x_t + b_ih and s = W_hh h_{t-1} + b_hh, each in three parts of H:
//           r = sigmoid(a_r + s_r),  z = sigmoid(a_z + s_z),  n = tanh(a_n + r s_n)
//           h_t = (1 - z) n + z h_{t-1}
// backward  through time, from the last step that was read to the first, with g = dL/dh_t: what
//           the steps after it left, and gy_t:
//             da_n = g (1 - z) (1 - n^2),                 ds_n = da_n r
//             da_r = da_n s_n r (1 - r) = ds_r,           da_z = g (h_{t-1} - n) z (1 - z) = ds_z
//           and the step before is left  g z + W_hh' ds. The rest waits for all da and ds: see
//           rnn.cpp, with ds where it says dW_hh and db_hh.
// saves     x, h0, the weights, h, and r, z, n and s_n
#include "fovea/ops/recurrent.h"

namespace fovea {
namespace {

// The rule, in ops: read this one.
detail::RecurrentGradients gru_rule(const detail::RecurrentSaved& saved, const Tensor& gy) {
  const Tensor& h = saved.before;
  const Tensors a = chunk(linear(saved.x, saved.w_ih, saved.b_ih), 3, 2);
  const Tensors s = chunk(linear(h, saved.w_hh, saved.b_hh), 3, 2);
  const Tensor r = sigmoid(a[0] + s[0]), z = sigmoid(a[1] + s[1]), n = tanh(a[2] + r * s[2]);
  const Tensor by_n = (1 - z) * (1 - square(n));  // all (B, T, H)
  const Tensor by_r = by_n * s[2] * r * (1 - r);
  const Tensor by_z = (h - n) * z * (1 - z);
  const auto [d, gh] = detail::walk_back(saved, gy, [&](int64_t t, const Tensor& g) {
    const auto at = [t](const Tensor& x) { return select(x, 1, t); };
    const Tensor dr = g * at(by_r), dz = g * at(by_z), dn = g * at(by_n), ds = dn * at(r);
    return std::pair(g * at(z) + matmul(cat({dr, dz, ds}, 1), saved.w_hh),
                     cat({dr, dz, dn, ds}, 1));
  });
  return {d, gh, {}};
}

}  // namespace

Tensor gru(const Tensor& x, const Tensor& h0, const RecurrentWeights& w,
           const RecurrentOptions& o) {
  static constexpr detail::RecurrentKind kind{"gru",
                                              3,
                                              4,
                                              true,
                                              {kernels::gru_forward, kernels::gru_forward},
                                              {kernels::gru_backward, kernels::gru_backward},
                                              gru_rule};
  return detail::recurrent(kind, x, h0, nullptr, w, o);
}

}  // namespace fovea
