// What the recurrent cells share: one step, called by hand.
#pragma once

#include "fovea/nn/recurrent/layer.h"

namespace fovea {

struct RecurrentCellOptions {
  int64_t in = 0;      ///< width I of x
  int64_t hidden = 0;  ///< width H of the state
  bool bias = true;
  DType dtype = f32;
};

/// The base of RNNCell, LSTMCell and GRUCell: one step of the layer of that name, for loops that
/// must look at a state before they know the next input. Reading a whole sequence is faster with
/// the layer.
///
/// Parameters as in torch.nn.*Cell: weight_ih (G H, I), weight_hh (G H, H), bias_ih, bias_hh (G H),
/// all U(-1/sqrt(H), 1/sqrt(H)) at first; G is the number of gates. A state that is not given is 0;
/// ShapeError and DTypeError when x or a state does not fit.
class RecurrentCell : public Module, public RecurrentWeights {
 public:
  int64_t in() const { return weight_ih.size(1); }
  int64_t hidden() const { return weight_hh.size(1); }
  void visit(Visitor& v) override;

 protected:
  /// ValueError unless both widths are at least 1.
  RecurrentCell(const char* name, int64_t gates, const RecurrentCellOptions& o);

  /// The state to start from, zeros where it is undefined. ShapeError and DTypeError unless it and
  /// x fit.
  RecurrentState start(const Tensor& x, const RecurrentState& s, bool has_cell) const;

 private:
  const char* name_;
};

}  // namespace fovea
