#include "tests/op_cases/naive_attention.h"

#include <cmath>

namespace fovea::cases {

double naive_dot(const Values1d& a, const Values1d& b) {
  double s = 0;
  for (size_t i = 0; i < a.size(); ++i) s += a[i] * b[i];
  return s;
}

Values1d naive_product(const NaiveTensor& w, const Values1d& x) {
  Values1d y(static_cast<size_t>(w.shape[0]), 0.0);
  for (size_t r = 0; r < y.size(); ++r) {
    for (size_t c = 0; c < x.size(); ++c) y[r] += w.data[r * x.size() + c] * x[c];
  }
  return y;
}

Values1d naive_tanh(const Values1d& a, const Values1d& b) {
  Values1d y;
  for (size_t i = 0; i < a.size(); ++i) y.push_back(std::tanh(a[i] + b[i]));
  return y;
}

Values1d line_at(const NaiveTensor& x, int64_t b, int64_t t) {
  Values1d y;
  for (int64_t c = 0; c < x.shape[2]; ++c) y.push_back(x.at({b, t, c}));
  return y;
}

NaiveTensor pair_scores(const NaiveTensor& q, const NaiveTensor& keys,
                        const std::function<double(const Values1d&, const Values1d&)>& f) {
  return build({q.shape[0], q.shape[1], keys.shape[1]}, [&](const Shape& at) {
    return f(line_at(q, at[0], at[1]), line_at(keys, at[0], at[2]));
  });
}

NaiveTensor kept_softmax(const NaiveTensor& scores,
                         const std::function<bool(int64_t, int64_t, int64_t)>& keep) {
  return build(scores.shape, [&](const Shape& at) {
    double sum = 0, top = -INFINITY;
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t j = 0; j < scores.shape[2]; ++j) {
        if (!keep(at[0], at[1], j)) continue;
        const double s = scores.at({at[0], at[1], j});
        if (pass == 0) top = std::fmax(top, s);
        if (pass == 1) sum += std::exp(s - top);
      }
    }
    return keep(at[0], at[1], at[2]) ? std::exp(scores.at(at) - top) / sum : 0;
  });
}

NaiveTensor context_and_weights(const NaiveTensor& weights, const NaiveTensor& values) {
  const NaiveTensor context = matmul(weights, values);
  const int64_t width = values.shape[2];
  return build({weights.shape[0], weights.shape[1], width + weights.shape[2]},
               [&](const Shape& at) {
                 return at[2] < width ? context.at(at) : weights.at({at[0], at[1], at[2] - width});
               });
}

}  // namespace fovea::cases
