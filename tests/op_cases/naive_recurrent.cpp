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

NaiveCell take_cell(const std::string& kind, Parameters& p) {
  const NaiveTensor &ih = p.next(), &hh = p.next(), &bias_ih = p.next(), &bias_hh = p.next();
  return {kind, ih, hh, bias_ih, bias_hh};
}

NaiveCell::State NaiveCell::start() const {
  const Values1d none(static_cast<size_t>(weight_hh.shape[1]), 0.0);
  return {none, none};
}

void NaiveCell::step(const Values1d& x, State& s) const {
  const Values1d a = naive_affine(weight_ih, bias_ih, x), b = naive_affine(weight_hh, bias_hh, s.h);
  const size_t n = s.h.size();
  for (size_t j = 0; j < n; ++j) {
    const auto gate = [&](size_t g) { return sigmoid_of(a[g * n + j] + b[g * n + j]); };
    if (kind == "rnn") {
      s.h[j] = std::tanh(a[j] + b[j]);
    } else if (kind == "lstm") {
      const double news = std::tanh(a[2 * n + j] + b[2 * n + j]);
      s.c[j] = gate(1) * s.c[j] + gate(0) * news;
      s.h[j] = gate(3) * std::tanh(s.c[j]);
    } else {
      const double news = std::tanh(a[2 * n + j] + gate(0) * b[2 * n + j]);
      s.h[j] = (1 - gate(1)) * news + gate(1) * s.h[j];
    }
  }
}

}  // namespace fovea::cases
