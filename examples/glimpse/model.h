// The recurrent attention model: reads an image through a few small glimpses and chooses where to
// look next. Mnih, Heess, Graves, Kavukcuoglu 2014, "Recurrent Models of Visual Attention".
//
//     B batch, T glimpses, G 128 (half a glimpse), D 256 (hidden), K classes
#pragma once

#include <vector>

#include "examples/glimpse/sensor.h"
#include "fovea/core/random.h"
#include "fovea/nn/linear.h"

namespace fovea::glimpse {

/// Where the first glimpse goes.
enum class Start {
  uniform,  ///< anywhere in [-1, 1]
  centre    ///< to (0, 0)
};

struct ModelOptions {
  Retina retina = {};
  int64_t glimpses = 6;  ///< T
  int64_t hidden = 256;  ///< D
  int64_t classes = 10;  ///< K
  double std = 0.1;      ///< of the location around its mean, in units of half an image
  Start start = Start::uniform;
};

/// What was seen, and where:
///     g = relu(W3 relu(W1 (glimpse - mean) / std) + W4 relu(W2 location))
struct GlimpseNetwork : Module {
  Tensor pixel_mean, pixel_std;  // of the training images; 0 and 1 until they are set
  Linear what, where;            // W1: S P P -> G, W2: 2 -> G
  Linear what_to, where_to;      // W3, W4: G -> D

  explicit GlimpseNetwork(const ModelOptions& o);
  /// (B, S P P), (B, 2) -> (B, D)
  Tensor operator()(const Tensor& seen, const Tensor& location) const;
  void visit(Visitor& v) override;
};

/// What is remembered:   h' = relu(W5 h + W6 g). W5 starts as the identity, so that the first
/// glimpses reach the last h: Le, Jaitly, Hinton 2015, "A simple way to initialize recurrent
/// networks of rectified linear units".
struct Core : Module {
  Linear memory, input;

  explicit Core(const ModelOptions& o);
  /// (B, D), (B, D) -> (B, D). An undefined h stands for zeros.
  Tensor operator()(const Tensor& h, const Tensor& g) const;
  void visit(Visitor& v) override;
};

/// Where to look next:   mean = tanh(W8 relu(W7 h)), without a gradient to h.
struct LocationNetwork : Module {
  Linear hidden, mean;

  explicit LocationNetwork(const ModelOptions& o);
  /// (..., D) -> (..., 2)
  Tensor operator()(const Tensor& h) const;
  void visit(Visitor& v) override;
};

/// One way of looking at a batch.
struct Episode {
  Tensor log_probs;                    ///< (B, K) after the last glimpse
  std::vector<Tensor> locations = {};  ///< T of (B, 2), in [-1, 1]
  Tensor mean = {};      ///< (T-1, B, 2), of the locations chosen; undefined when T = 1
  Tensor sample = {};    ///< (T-1, B, 2), detached, before limiting to [-1, 1]
  Tensor baseline = {};  ///< (T-1, B): the reward expected at each choice
};

class RecurrentAttention : public Module {
 public:
  explicit RecurrentAttention(const ModelOptions& o);

  /// images (B, H, W). Locations after the first are drawn from N(mean, std^2) and limited to
  /// [-1, 1]; numbers come from `g`.
  Episode look(const Tensor& images, Generator& g) const;

  /// Takes mean and standard deviation of the pixels, to which glimpses are scaled.
  void measure(const Tensor& images);

  const ModelOptions& options() const { return o_; }
  void visit(Visitor& v) override;

 private:
  ModelOptions o_;
  GlimpseNetwork glimpse_;
  Core core_;
  LocationNetwork location_;
  Linear action_;    // D -> K, on the last h
  Linear baseline_;  // D -> 1, without a gradient to h
};

struct LossOptions {
  double std = 0.1;             ///< the model's
  double policy_weight = 0.01;  ///< w
};

/// The hybrid loss of section 3.2: what can be differentiated is, and what cannot is learned by
/// REINFORCE (Williams 1992) with reward R = 1 for a right answer and 0 for a wrong one.
struct HybridLoss {
  Tensor total;     ///< action + baseline + w policy
  Tensor action;    ///< -log p(label), mean over B: trains glimpse network, core and action
  Tensor baseline;  ///< (b - R)^2, mean over B and T-1: trains the baseline alone
  Tensor policy;    ///< -sum_t log pi_t (R - b_t), mean over B: trains the location network alone
  Tensor reward;    ///< R (B)
};
HybridLoss hybrid_loss(const Episode& e, const Tensor& labels, const LossOptions& o = {});

}  // namespace fovea::glimpse
