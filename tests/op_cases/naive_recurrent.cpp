#include "tests/op_cases/naive_recurrent.h"

#include <cmath>

#include "tests/op_cases/naive_attention.h"

namespace fovea::cases {

Values1d naive_affine(const NaiveTensor& w, const NaiveTensor& b, const Values1d& x) {
  Values1d y = naive_product(w, x);
  for (size_t i = 0; i < y.size(); ++i) y[i] += b.data[i];
  return y;
}

Values1d joined(std::initializer_list<Values1d> parts) {
  Values1d all;
  for (const Values1d& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

NaiveCell take_cell(NaiveCell::Kind kind, Parameters& p, bool bias) {
  const NaiveTensor &ih = p.next(), &hh = p.next();
  if (!bias) return {kind, ih, hh, filled({ih.shape[0]}, 0), filled({ih.shape[0]}, 0)};
  const NaiveTensor &bias_ih = p.next(), &bias_hh = p.next();
  return {kind, ih, hh, bias_ih, bias_hh};
}

NaiveCell::Kind naive_kind(const std::string& name) {
  if (name == "rnn") return NaiveCell::tanh;
  if (name == "rnn_relu") return NaiveCell::relu;
  return name == "lstm" ? NaiveCell::lstm : NaiveCell::gru;
}

NaiveCell::State NaiveCell::start() const {
  const Values1d none(static_cast<size_t>(weight_hh.shape[1]), 0.0);
  return {none, none};
}

void NaiveCell::step(const Values1d& x, State& s) const {
  const Values1d a = naive_affine(weight_ih, bias_ih, x), b = naive_affine(weight_hh, bias_hh, s.h);
  const size_t n = s.h.size();
  for (size_t j = 0; j < n; ++j) {
    const auto from_x = [&](size_t gate) { return a[gate * n + j]; };
    const auto from_h = [&](size_t gate) { return b[gate * n + j]; };
    const auto both = [&](size_t gate) { return from_x(gate) + from_h(gate); };
    double& h = s.h[j];
    if (kind == tanh) h = std::tanh(both(0));
    if (kind == relu) h = std::fmax(both(0), 0);
    if (kind == lstm) {
      s.c[j] = sigmoid_of(both(1)) * s.c[j] + sigmoid_of(both(0)) * std::tanh(both(2));
      h = sigmoid_of(both(3)) * std::tanh(s.c[j]);
    }
    if (kind == gru) {
      const double z = sigmoid_of(both(1));
      h = (1 - z) * std::tanh(from_x(2) + sigmoid_of(both(0)) * from_h(2)) + z * h;
    }
  }
}

}  // namespace fovea::cases
