#include "fovea/nn/recurrent/lstm.h"

namespace fovea {

Tensor LSTM::run(const Tensor& x, const RecurrentState& initial, const RecurrentWeights& w,
                 const RecurrentOptions& o) const {
  return lstm(x, initial.h, initial.c, w, o);
}

RecurrentState LSTMCell::forward(const Tensor& x, const RecurrentState& s) const {
  const RecurrentState first = start(x, s, true);
  const Tensor both = squeeze(lstm(unsqueeze(x, 1), first.h, first.c, *this), 2);
  return {select(both, 0, 0), select(both, 0, 1)};
}

}  // namespace fovea
