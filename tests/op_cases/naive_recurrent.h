// The slow, obvious meaning of recurrent cells: one step of one sequence, on plain numbers.
#pragma once

#include <string>

#include "tests/op_cases/naive_layers.h"

namespace fovea::cases {

struct NaiveCell {
  enum Kind { tanh, relu, lstm, gru } kind;
  NaiveTensor weight_ih, weight_hh, bias_ih, bias_hh;

  struct State {
    Values1d h, c;
  };
  State start() const;
  void step(const Values1d& x, State& s) const;
};
NaiveCell take_cell(NaiveCell::Kind kind, Parameters& p, bool bias = true);
/// Of rnn, rnn_relu, lstm and gru.
NaiveCell::Kind naive_kind(const std::string& name);

/// W x + b
Values1d naive_affine(const NaiveTensor& w, const NaiveTensor& b, const Values1d& x);
/// One list behind the other.
Values1d joined(std::initializer_list<Values1d> parts);

}  // namespace fovea::cases
