// The plain recurrent network: its state is one layer of neurons that sees itself.
#pragma once

#include "fovea/nn/recurrent/cell.h"
#include "fovea/nn/recurrent/layer.h"

namespace fovea {

enum class Nonlinearity { tanh, relu };

/// h_t = tanh(W_ih x_t + b_ih + W_hh h_{t-1} + b_hh), or relu. Elman 1990.
class RNN : public Recurrent {
 public:
  explicit RNN(const RecurrentLayerOptions& o, Nonlinearity f = Nonlinearity::tanh)
      : Recurrent("RNN", 1, o), f_(f) {}

 private:
  Tensor run(const Tensor& x, const RecurrentState& initial, const RecurrentWeights& w,
             const RecurrentOptions& o) const override;

  Nonlinearity f_;
};

/// One step: x (B, I), h (B, H) -> h' (B, H).
class RNNCell : public RecurrentCell {
 public:
  explicit RNNCell(const RecurrentCellOptions& o, Nonlinearity f = Nonlinearity::tanh)
      : RecurrentCell("RNNCell", 1, o), f_(f) {}
  RNNCell(int64_t in, int64_t hidden) : RNNCell(RecurrentCellOptions{.in = in, .hidden = hidden}) {}

  Tensor forward(const Tensor& x, const Tensor& h = {}) const;
  Tensor operator()(const Tensor& x, const Tensor& h = {}) const { return forward(x, h); }

 private:
  Nonlinearity f_;
};

}  // namespace fovea
