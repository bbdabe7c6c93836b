// Elman's network.      x: (B, T, I), h0: (B, H), W_ih: (H, I), W_hh: (H, H);  h, gy: (B, T, H)
// forward   h_t = f(a_t),  a_t = W_ih x_t + b_ih + W_hh h_{t-1} + b_hh,   f = tanh or relu
// backward  through time, from the last step that was read to the first, with g = dL/dh_t: what
//           the steps after it left, and gy_t:
//             da_t = g f'(a_t),   and the step before is left  W_hh' da_t;
//           f' = 1 - h^2, or h > 0. The rest waits for all da_t and is done by few large products:
//             dx = W_ih' da,  dW_ih = sum da_t x_t',  dW_hh = sum da_t h_{t-1}',  db = sum da_t
//           A step beyond its sequence's length is h_t = h_{t-1}: g passes, da_t = 0.
// saves     x, h0, the weights, and h
#include "fovea/ops/recurrent.h"

namespace fovea {
namespace {

// The rule, in ops: read this one. slope = f'(a), (B, T, H).
detail::RecurrentGradients elman_rule(const detail::RecurrentSaved& s, const Tensor& gy,
                                      const Tensor& slope) {
  const auto [da, gh] = detail::walk_back(s, gy, [&](int64_t t, const Tensor& g) {
    const Tensor d = g * select(slope, 1, t);
    return std::pair(matmul(d, s.w_hh), d);
  });
  return {da, gh, {}};
}

detail::RecurrentGradients tanh_rule(const detail::RecurrentSaved& s, const Tensor& gy) {
  return elman_rule(s, gy, 1 - square(s.y));
}
detail::RecurrentGradients relu_rule(const detail::RecurrentSaved& s, const Tensor& gy) {
  return elman_rule(s, gy, to(s.y > 0, s.y.dtype()));
}

}  // namespace

Tensor rnn(const Tensor& x, const Tensor& h0, const RecurrentWeights& w,
           const RecurrentOptions& o) {
  static constexpr detail::RecurrentKind kind{"rnn",
                                              1,
                                              1,
                                              false,
                                              {kernels::rnn_forward, kernels::rnn_forward},
                                              {kernels::rnn_backward, kernels::rnn_backward},
                                              tanh_rule};
  return detail::recurrent(kind, x, h0, nullptr, w, o);
}

Tensor rnn_relu(const Tensor& x, const Tensor& h0, const RecurrentWeights& w,
                const RecurrentOptions& o) {
  static constexpr detail::RecurrentKind kind{
      "rnn_relu",
      1,
      1,
      false,
      {kernels::rnn_relu_forward, kernels::rnn_relu_forward},
      {kernels::rnn_relu_backward, kernels::rnn_relu_backward},
      relu_rule};
  return detail::recurrent(kind, x, h0, nullptr, w, o);
}

}  // namespace fovea
