// One step of a gated recurrent unit. Cho 2014, eq. 5 to 8, in PyTorch's arrangement.
#pragma once

#include "fovea/nn/module.h"

namespace fovea {

struct GRUCellOptions {
  int64_t in = 0;      ///< width I of x
  int64_t hidden = 0;  ///< width H of the state
  bool bias = true;
  DType dtype = f32;
};

/// x (B, I), h (B, H) -> h' (B, H):
///
///     r  = sigmoid(W_ir x + b_ir + W_hr h + b_hr)         how much of the past the news may use
///     z  = sigmoid(W_iz x + b_iz + W_hz h + b_hz)         how much of the past stays
///     n  = tanh(W_in x + b_in + r (W_hn h + b_hn))        the news
///     h' = (1 - z) n + z h
///
/// Parameters as torch.nn.GRUCell: weight_ih (3 H, I), weight_hh (3 H, H), bias_ih, bias_hh (3 H),
/// gates in the order r, z, n, all U(-1/sqrt(H), 1/sqrt(H)) at first. ShapeError when x or h has
/// another shape.
class GRUCell : public Module {
 public:
  Tensor weight_ih, weight_hh, bias_ih, bias_hh;

  explicit GRUCell(const GRUCellOptions& o);
  GRUCell(int64_t in, int64_t hidden) : GRUCell(GRUCellOptions{.in = in, .hidden = hidden}) {}

  Tensor forward(const Tensor& x, const Tensor& h) const;
  Tensor operator()(const Tensor& x, const Tensor& h) const { return forward(x, h); }
  int64_t in() const { return weight_ih.size(1); }
  int64_t hidden() const { return weight_hh.size(1); }
  void visit(Visitor& v) override;
};

}  // namespace fovea
