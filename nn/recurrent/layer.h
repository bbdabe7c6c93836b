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
  Tensor output;         ///< (B, T, directions * H) of the last layer, 0 beyond a length; axes as x
  RecurrentState state;  ///< after the last step of each sequence; of one of length 0 the initial
};

/// The base of RNN, LSTM and GRU. A layer reads x_1 ... x_T and hands a state on,
///
///     h_t = cell(x_t, h_{t-1}).
///
/// Layer l + 1 reads the states of layer l. A bidirectional layer has a second set of weights that
/// runs from the last step to the first, and shows both states side by side,
/// output_t = [forward h_t; backward h_t]: what stands at t then depends on all of the sequence.
/// Schuster & Paliwal 1997.
///
/// Parameters have the names and the layout of torch.nn, with G the number of gates:
///
///     weight_ih_l0 (G H, I), weight_hh_l0 (G H, H), bias_ih_l0 (G H), bias_hh_l0 (G H)
///     weight_ih_l0_reverse ...                              the same, when bidirectional
///     weight_ih_l1 (G H, directions * H) ...                the same in each later layer
///
/// All start as U(-1/sqrt(H), 1/sqrt(H)). PyTorch's state_dict() loads by name: load_state(), or
/// load_torch() from a file.
class Recurrent : public Module {
 public:
  std::vector<RecurrentWeights> weights;  ///< in the order of RecurrentState

  /// x (B, T, I); lengths i64 (B), from 0 to T, undefined for all T. What lies beyond a length
  /// changes nothing, NaN included, and a backward direction starts at the last step within it.
  /// A state may be handed on: `layer(x, before.state)` reads x as what followed.
  ///
  /// ShapeError and DTypeError when x, a state or lengths do not fit; ValueError for a length
  /// outside [0, T], and for a state c where there is none.
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
  /// Both return the number of steps of the longest sequence.
  int64_t check(const Tensor& x, const RecurrentState& initial, const Tensor& lengths) const;
  int64_t check_lengths(const Tensor& lengths, const Tensor& x, int64_t b, int64_t t) const;

  const char* name_;
  RecurrentLayerOptions o_;
};

}  // namespace fovea
