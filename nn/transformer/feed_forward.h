// What a Transformer does to each token alone, between two looks at the others.
#pragma once

#include "fovea/nn/dropout.h"
#include "fovea/nn/linear.h"

namespace fovea {

enum class Activation { relu, gelu, gelu_tanh, silu };
Tensor activate(Activation a, const Tensor& x);

struct MLPOptions {
  int64_t d_model = 0;
  int64_t d_ff = 0;  ///< width between; 0: 4 d_model
  Activation activation = Activation::gelu;
  double dropout = 0;  ///< behind the activation, while training
  bool bias = true;
  DType dtype = f32;
};
/// down(activation(up(x))), x (..., d_model). Vaswani 2017, eq. 2, there with relu; with gelu as in
/// BERT and GPT. Parameters "up" and "down", each a Linear. The gradient reaches row i of `up` as
/// far as unit i was on: activation'(h_i).
class MLP : public Module {
 public:
  Linear up, down;
  Dropout dropout;
  Activation activation;

  explicit MLP(const MLPOptions& o);

  Tensor forward(const Tensor& x) const;
  Tensor operator()(const Tensor& x) const { return forward(x); }
  void visit(Visitor& v) override;
};

struct SwiGLUOptions {
  int64_t d_model = 0;
  int64_t d_ff = 0;  ///< width between; 0: 8/3 d_model, so that three matrices cost what two did
  bool bias = false;
  DType dtype = f32;
};
/// down(silu(gate(x)) * up(x)), x (..., d_model). Shazeer 2020, eq. 6; the feed-forward layer of
/// LLaMA. Each unit decides how much of another's value passes, and each factor's gradient is
/// scaled by the other. Parameters "gate", "up" and "down", each a Linear.
class SwiGLU : public Module {
 public:
  Linear gate, up, down;

  explicit SwiGLU(const SwiGLUOptions& o);

  Tensor forward(const Tensor& x) const;
  Tensor operator()(const Tensor& x) const { return forward(x); }
  void visit(Visitor& v) override;
};

}  // namespace fovea
