#include <fmt/format.h>

#include "fovea/ops/internal.h"

namespace fovea {
namespace {

// Runs `step` over time; what the steps beyond a length make is not taken.
template <class Step>
Tensor run(const Tensor& x, Tensor h, const RecurrentOptions& o, Step step) {
  const int64_t t = x.size(1);
  Tensors all(static_cast<size_t>(t));
  for (int64_t n = 0; n < t; ++n) {
    const int64_t i = o.reverse ? t - 1 - n : n;
    Tensor next = step(select(x, 1, i), h);
    if (o.lengths.defined()) next = where(unsqueeze(o.lengths > i, 1), next, h);
    all[static_cast<size_t>(i)] = h = next;
  }
  return stack(all, 1);
}

Tensor steps(const Tensor& x, const RecurrentOptions& o) {
  if (!o.lengths.defined()) return x;
  const Tensor keep = unsqueeze(arange(x.size(1)), 0) < unsqueeze(o.lengths, 1);
  return where(unsqueeze(keep, 2), x, zeros({}, x.dtype()));
}

}  // namespace

Tensor rnn(const Tensor& x, const Tensor& h0, const RecurrentWeights& w,
           const RecurrentOptions& o) {
  return run(linear(steps(x, o), w.weight_ih, w.bias_ih), h0, o,
             [&](const Tensor& g, const Tensor& h) {
               return tanh(g + linear(h, w.weight_hh, w.bias_hh));
             });
}

Tensor rnn_relu(const Tensor& x, const Tensor& h0, const RecurrentWeights& w,
                const RecurrentOptions& o) {
  return run(linear(steps(x, o), w.weight_ih, w.bias_ih), h0, o,
             [&](const Tensor& g, const Tensor& h) {
               return relu(g + linear(h, w.weight_hh, w.bias_hh));
             });
}

Tensor lstm(const Tensor& x, const Tensor& h0, const Tensor& c0, const RecurrentWeights& w,
            const RecurrentOptions& o) {
  const Tensor both = run(linear(steps(x, o), w.weight_ih, w.bias_ih), cat({h0, c0}, 1), o,
                          [&](const Tensor& g, const Tensor& s) {
                            const Tensors hc = chunk(s, 2, 1);
                            const Tensors a =
                                chunk(g + linear(hc[0], w.weight_hh, w.bias_hh), 4, 1);
                            const Tensor c = sigmoid(a[1]) * hc[1] + sigmoid(a[0]) * tanh(a[2]);
                            return cat({sigmoid(a[3]) * tanh(c), c}, 1);
                          });
  return stack(chunk(both, 2, 2), 0);
}

Tensor gru(const Tensor& x, const Tensor& h0, const RecurrentWeights& w,
           const RecurrentOptions& o) {
  return run(linear(steps(x, o), w.weight_ih, w.bias_ih), h0, o,
             [&](const Tensor& g, const Tensor& h) {
               const Tensors a = chunk(g, 3, 1), b = chunk(linear(h, w.weight_hh, w.bias_hh), 3, 1);
               const Tensor r = sigmoid(a[0] + b[0]), z = sigmoid(a[1] + b[1]);
               const Tensor n = tanh(a[2] + r * b[2]);
               return n + z * (h - n);
             });
}

}  // namespace fovea
