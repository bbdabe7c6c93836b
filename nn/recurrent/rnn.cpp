#include "fovea/nn/recurrent/rnn.h"

namespace fovea {

Tensor RNN::run(const Tensor& x, const RecurrentState& initial, const RecurrentWeights& w,
                const RecurrentOptions& o) const {
  return f_ == Nonlinearity::tanh ? rnn(x, initial.h, w, o) : rnn_relu(x, initial.h, w, o);
}

Tensor RNNCell::forward(const Tensor& x, const Tensor& h) const {
  const Tensor h0 = start(x, {.h = h}, false).h, step = unsqueeze(x, 1);
  return squeeze(f_ == Nonlinearity::tanh ? rnn(step, h0, *this) : rnn_relu(step, h0, *this), 1);
}

}  // namespace fovea
