// Long short-term memory: beside its state h it keeps a cell c that is added to, not rewritten.
#pragma once

#include "fovea/nn/recurrent/cell.h"
#include "fovea/nn/recurrent/layer.h"

namespace fovea {

/// Hochreiter & Schmidhuber 1997, with the forget gate of Gers 2000:
///
///     i = sigmoid(W_ii x_t + b_ii + W_hi h_{t-1} + b_hi)     how much of the news is written
///     f = sigmoid(W_if x_t + b_if + W_hf h_{t-1} + b_hf)     how much of the cell stays
///     g = tanh   (W_ig x_t + b_ig + W_hg h_{t-1} + b_hg)     the news
///     o = sigmoid(W_io x_t + b_io + W_ho h_{t-1} + b_ho)     how much of the cell is shown
///     c_t = f c_{t-1} + i g
///     h_t = o tanh(c_t)
///
/// The gates are stacked in this order in the weights.
class LSTM : public Recurrent {
 public:
  explicit LSTM(const RecurrentLayerOptions& o) : Recurrent("LSTM", 4, o) {}
  bool has_cell() const override { return true; }

 private:
  Tensor run(const Tensor& x, const RecurrentState& initial, const RecurrentWeights& w,
             const RecurrentOptions& o) const override;
};

/// One step: x (B, I), {h, c} (B, H) each -> {h', c'}.
class LSTMCell : public RecurrentCell {
 public:
  explicit LSTMCell(const RecurrentCellOptions& o) : RecurrentCell("LSTMCell", 4, o) {}
  LSTMCell(int64_t in, int64_t hidden)
      : LSTMCell(RecurrentCellOptions{.in = in, .hidden = hidden}) {}

  RecurrentState forward(const Tensor& x, const RecurrentState& s = {}) const;
  RecurrentState operator()(const Tensor& x, const RecurrentState& s = {}) const {
    return forward(x, s);
  }
};

}  // namespace fovea
