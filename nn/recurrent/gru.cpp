#include "fovea/nn/recurrent/gru.h"

namespace fovea {

Tensor GRU::run(const Tensor& x, const RecurrentState& initial, const RecurrentWeights& w,
                const RecurrentOptions& o) const {
  return gru(x, initial.h, w, o);
}

Tensor GRUCell::forward(const Tensor& x, const Tensor& h) const {
  return squeeze(gru(unsqueeze(x, 1), start(x, {.h = h}, false).h, *this), 1);
}

}  // namespace fovea
