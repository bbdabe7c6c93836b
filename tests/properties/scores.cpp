// Additive scores of random lengths, widths and leading axes.
#include <cmath>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"
#include "tests/properties/property.h"

namespace fovea::properties {
namespace {

int64_t any_length() {
  if (chance(12)) return 0;
  return chance(10) ? draw(15, 40) : draw(1, 5);
}

Shape joined(Shape s, int64_t a, int64_t b) {
  s.push_back(a);
  s.push_back(b);
  return s;
}

// Calls use(score, q, k, v): where a hidden unit lies in the result and in each input.
void each_unit(
    const NaiveTensors& x,
    const std::function<void(const Shape&, const Shape&, const Shape&, const Shape&)>& use) {
  const int r = x[0].shape.rank();
  Shape scores = x[0].shape;
  scores[r - 1] = x[1].shape[r - 2];
  cases::each_index(scores, [&](const Shape& score) {
    for (int64_t c = 0; c < x[2].numel(); ++c) {
      Shape q = score, k = score;
      k[r - 2] = score[r - 1];
      q[r - 1] = k[r - 1] = c;
      use(score, q, k, {c});
    }
  });
}

Trial additive_scores_trial() {
  const Shape lead = any_shape(0, 2);
  const int64_t tq = any_length(), tk = any_length(), h = any_length();
  Trial t{
      .inputs = {any_floats(joined(lead, tq, h)), any_floats(joined(lead, tk, h)), any_floats({h})},
      .f = [](const Tensors& x) { return Tensors{additive_scores(x[0], x[1], x[2])}; }};
  const NaiveTensors x = cases::to_naive(t.inputs);
  const auto unit = [x](const Shape& q, const Shape& k) {
    return std::tanh(x[0].at(q) + x[1].at(k));
  };
  NaiveTensor s = cases::filled(joined(lead, tq, tk), 0);
  each_unit(x, [&](const Shape& at, const Shape& q, const Shape& k, const Shape& v) {
    s.at(at) += x[2].at(v) * unit(q, k);
  });
  t.values = {s};
  t.gradients = [x, unit](const NaiveTensors& w) {
    NaiveTensors g;
    for (const NaiveTensor& i : x) g.push_back(cases::filled(i.shape, 0));
    each_unit(x, [&](const Shape& at, const Shape& q, const Shape& k, const Shape& v) {
      const double u = unit(q, k), d = w[0].at(at) * x[2].at(v) * (1 - u * u);
      g[0].at(q) += d;
      g[1].at(k) += d;
      g[2].at(v) += w[0].at(at) * u;
    });
    return g;
  };
  return t;
}

}  // namespace

Properties score_properties() { return {{"additive_scores", additive_scores_trial}}; }

}  // namespace fovea::properties
