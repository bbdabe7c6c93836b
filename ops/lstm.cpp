// LSTM.   x: (B, T, I), h0, c0: (B, H), W_ih: (4 H, I), W_hh: (4 H, H);  y, gy: (2, B, T, H) = h, c
// forward   a_t = W_ih x_t + b_ih + W_hh h_{t-1} + b_hh, in four parts of H:
//           i = sigmoid(a_i), f = sigmoid(a_f), g = tanh(a_g), o = sigmoid(a_o)
//           c_t = f c_{t-1} + i g,   h_t = o tanh(c_t)
// backward  through time, from the last step that was read to the first, with dh = dL/dh_t and
//           dc = dL/dc_t: what the steps after it left, and gy_t:
//             dc += dh o (1 - tanh^2(c_t))
//             da_i = dc g i (1 - i),              da_f = dc c_{t-1} f (1 - f)
//             da_g = dc i (1 - g^2),              da_o = dh tanh(c_t) o (1 - o)
//           and the step before is left  W_hh' da_t  for dh and  dc f  for dc. The rest waits for
//           all da_t: see rnn.cpp.
// saves     x, h0, c0, the weights, h, c, and the four gates: a tanh of c is made again
#include "fovea/ops/recurrent.h"

namespace fovea {
namespace {

// The rule, in ops: read this one.
detail::RecurrentGradients lstm_rule(const detail::RecurrentSaved& s, const Tensor& gy) {
  const Tensor c = detail::states_before(s.c0, select(s.y, 0, 1), s.reverse);
  const Tensors a = chunk(linear(s.x, s.w_ih, s.b_ih) + linear(s.before, s.w_hh, s.b_hh), 4, 2);
  const Tensor i = sigmoid(a[0]), f = sigmoid(a[1]), g = tanh(a[2]), o = sigmoid(a[3]);
  const Tensor tanh_c = tanh(f * c + i * g);
  const Tensor to_c = o * (1 - square(tanh_c));  // all (B, T, H)
  const Tensor by_c = cat({g * i * (1 - i), c * f * (1 - f), i * (1 - square(g))}, 2);
  const Tensor by_h = tanh_c * o * (1 - o);
  const Tensor both = cat({select(gy, 0, 0), select(gy, 0, 1)}, 2);
  const auto [da, left] = detail::walk_back(s, both, [&](int64_t t, const Tensor& dh_dc) {
    const Tensors parts = chunk(dh_dc, 2, 1);
    const Tensor& dh = parts[0];
    const Tensor dc = parts[1] + dh * select(to_c, 1, t);
    const Tensor d = cat({repeat(dc, {1, 3}) * select(by_c, 1, t), dh * select(by_h, 1, t)}, 1);
    return std::pair(cat({matmul(d, s.w_hh), dc * select(f, 1, t)}, 1), d);
  });
  const Tensors first = chunk(left, 2, 1);
  return {da, first[0], first[1]};
}

}  // namespace

Tensor lstm(const Tensor& x, const Tensor& h0, const Tensor& c0, const RecurrentWeights& w,
            const RecurrentOptions& o) {
  static constexpr detail::RecurrentKind kind{"lstm",
                                              4,
                                              4,
                                              true,
                                              {kernels::lstm_forward, kernels::lstm_forward},
                                              {kernels::lstm_backward, kernels::lstm_backward},
                                              lstm_rule};
  return detail::recurrent(kind, x, h0, &c0, w, o);
}

}  // namespace fovea
