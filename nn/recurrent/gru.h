// The gated recurrent unit: the state itself is a running average whose pace is learned.
#pragma once

#include "fovea/nn/recurrent/cell.h"
#include "fovea/nn/recurrent/layer.h"

namespace fovea {

/// Cho 2014, eq. 5 to 8, in PyTorch's arrangement, with the bias of the state inside the product
/// with r:
///
///     r = sigmoid(W_ir x_t + b_ir + W_hr h_{t-1} + b_hr)       how much of the past the news sees
///     z = sigmoid(W_iz x_t + b_iz + W_hz h_{t-1} + b_hz)       how much of the past stays
///     n = tanh(W_in x_t + b_in + r (W_hn h_{t-1} + b_hn))      the news
///     h_t = (1 - z) n + z h_{t-1}
///
/// The gates are stacked in this order in the weights.
class GRU : public Recurrent {
 public:
  explicit GRU(const RecurrentLayerOptions& o) : Recurrent("GRU", 3, o) {}

 private:
  Tensor run(const Tensor& x, const RecurrentState& initial, const RecurrentWeights& w,
             const RecurrentOptions& o) const override;
};

/// One step: x (B, I), h (B, H) -> h' (B, H).
class GRUCell : public RecurrentCell {
 public:
  explicit GRUCell(const RecurrentCellOptions& o) : RecurrentCell("GRUCell", 3, o) {}
  GRUCell(int64_t in, int64_t hidden) : GRUCell(RecurrentCellOptions{.in = in, .hidden = hidden}) {}

  Tensor forward(const Tensor& x, const Tensor& h = {}) const;
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const { return forward(x, h); }
};

}  // namespace fovea
