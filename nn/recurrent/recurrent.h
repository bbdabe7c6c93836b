// Recurrent layers: a state that is read, changed and handed on at every step.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "fovea/nn/module.h"
#include "fovea/ops/ops.h"

namespace fovea {

struct RecurrentLayerOptions {
  int64_t in = 0;      ///< width I of x
  int64_t hidden = 0;  ///< width H of the state
  int64_t layers = 1;
  bool bidirectional = false;  ///< a second state in each layer, from the last step to the first
  double dropout = 0;          ///< between layers, while training
  bool bias = true;
  bool batch_first = true;  ///< x (B, T, I); false: (T, B, I), which is PyTorch's default
  DType dtype = f32;
};

/// (layers * directions, B, H) each, layer by layer, forward before backward. Undefined: zeros.
struct RecurrentState {
  Tensor h = {};
  Tensor c = {};  ///< of LSTM alone
};

struct RecurrentOutput {
  Tensor output;         ///< (B, T, directions * H) of the last layer, 0 beyond a length
  RecurrentState state;  ///< after the last step of each sequence, h0 of one of length 0
};

/// What RNN, LSTM and GRU share.
class Recurrent : public Module {
 public:
  std::vector<RecurrentWeights> weights;  ///< in the order of RecurrentState

  /// lengths i64 (B), from 0 to T: what lies beyond changes nothing.
  RecurrentOutput operator()(const Tensor& x, const RecurrentState& initial = {},
                             const Tensor& lengths = {}) const;
  const RecurrentLayerOptions& options() const { return o_; }
  virtual bool has_cell() const { return false; }
  void visit(Visitor& v) override;

 protected:
  Recurrent(const char* name, int64_t gates, const RecurrentLayerOptions& o);

 private:
  RecurrentLayerOptions o_;
};

enum class Nonlinearity { tanh, relu };

class RNN : public Recurrent {
 public:
  explicit RNN(const RecurrentLayerOptions& o, Nonlinearity f = Nonlinearity::tanh);
};
class LSTM : public Recurrent {
 public:
  explicit LSTM(const RecurrentLayerOptions& o);
  bool has_cell() const override { return true; }
};
class GRU : public Recurrent {
 public:
  explicit GRU(const RecurrentLayerOptions& o);
};

/// "rnn", "lstm" or "gru". ValueError for another name.
std::unique_ptr<Recurrent> make_recurrent(std::string_view kind, const RecurrentLayerOptions& o);

}  // namespace fovea
