// What the recurrent layers RNN, LSTM and GRU share: steps, layers, directions, lengths.
#pragma once

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

/// Of a layer (layers * directions, B, H) each, layer by layer, forward before backward; of a cell
/// (B, H). Undefined: zeros.
struct RecurrentState {
  Tensor h = {};
  Tensor c = {};  ///< of LSTM alone
};

struct RecurrentOutput {
  Tensor output;         ///< (B, T, directions * H) of the last layer, 0 beyond a length
  RecurrentState state;  ///< after the last step of each sequence, h0 of one of length 0
};

/// The base of RNN, LSTM and GRU. A layer reads x_1 ... x_T and hands on a state,
///
///     h_t = cell(x_t, h_{t-1})
///
/// layer l + 1 reads the states of layer l, and a bidirectional layer (Schuster & Paliwal 1997)
/// runs a second set of weights from the last step to the first and sets both states side by side:
/// output_t = [h_t forward; h_t backward], which is what the next layer reads.
///
/// Parameters are named and laid out as in torch.nn: weight_ih_l0 (G H, I), in later layers
/// (G H, directions * H), weight_hh_l0 (G H, H), bias_ih_l0, bias_hh_l0 (G H), then the same with
/// _reverse behind, then _l1 ...; G is the number of gates. All start as U(-1/sqrt(H), 1/sqrt(H)).
/// The state of a PyTorch layer loads by name, with load_state or from a file with load_torch.
class Recurrent : public Module {
 public:
  std::vector<RecurrentWeights> weights;  ///< in the order of RecurrentState

  /// x (B, T, I), initial as RecurrentState, lengths i64 (B) from 0 to T, undefined for all T.
  /// What lies beyond a length changes nothing, NaN included: backward directions start at the
  /// last step within it. T = 0 gives the initial state back. Where one call ended, the next may
  /// go on: `layer(x, before.state)`.
  ///
  /// ShapeError, DTypeError; ValueError for a length outside [0, T] and for a c where there is no
  /// cell.
  RecurrentOutput operator()(const Tensor& x, const RecurrentState& initial = {},
                             const Tensor& lengths = {}) const;
  const RecurrentLayerOptions& options() const { return o_; }
  int64_t directions() const { return o_.bidirectional ? 2 : 1; }
  virtual bool has_cell() const { return false; }
  void visit(Visitor& v) override;

 protected:
  /// ValueError unless in, hidden and layers are at least 1 and dropout lies in [0, 1].
  Recurrent(const char* name, int64_t gates, const RecurrentLayerOptions& o);

 private:
  /// All steps of one direction of one layer: states (B, T, H), or (2, B, T, H) with a cell.
  virtual Tensor run(const Tensor& x, const RecurrentState& initial, const RecurrentWeights& w,
                     const RecurrentOptions& o) const = 0;
  RecurrentOutput run_one(const Tensor& x, const RecurrentState& initial, size_t index,
                          const Tensor& lengths) const;
  void check(const Tensor& x, const RecurrentState& initial, const Tensor& lengths) const;

  const char* name_;
  RecurrentLayerOptions o_;
};

}  // namespace fovea
