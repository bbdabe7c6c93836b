#include "tests/op_cases/naive_layers.h"

namespace fovea::cases {

NaiveTensor plus(const NaiveTensor& a, const NaiveTensor& b) {
  return zip(a, b, [](double x, double y) { return x + y; });
}
NaiveTensor times(const NaiveTensor& a, const NaiveTensor& b) {
  return zip(a, b, [](double x, double y) { return x * y; });
}

NaiveTensor affine(const NaiveTensor& x, const NaiveTensor& weight) {
  return matmul(x, permute(weight, {1, 0}));
}
NaiveTensor affine(const NaiveTensor& x, const NaiveTensor& weight, const NaiveTensor& bias) {
  return plus(affine(x, weight), bias);
}

NaiveTensor layer_norm(const NaiveTensor& x, const NaiveTensor& weight, const NaiveTensor& bias,
                       double eps) {
  const NaiveTensor n = along(x, -1, [eps](const Values1d& v) {
    const auto size = static_cast<double>(v.size());
    double mean = 0, var = 0;
    for (double a : v) mean += a / size;
    for (double a : v) var += (a - mean) * (a - mean) / size;
    Values1d y;
    for (double a : v) y.push_back((a - mean) / std::sqrt(var + eps));
    return y;
  });
  return plus(times(n, weight), bias);
}

NaiveTensor rms_norm(const NaiveTensor& x, const NaiveTensor& weight, double eps) {
  const NaiveTensor n = along(x, -1, [eps](const Values1d& v) {
    double square = 0;
    for (double a : v) square += a * a / static_cast<double>(v.size());
    Values1d y;
    for (double a : v) y.push_back(a / std::sqrt(square + eps));
    return y;
  });
  return times(n, weight);
}

NaiveTensor gelu(const NaiveTensor& x) {
  return map(x, [](double v) { return v * 0.5 * std::erfc(-v / std::sqrt(2.0)); });
}
NaiveTensor silu(const NaiveTensor& x) {
  return map(x, [](double v) { return v / (1 + std::exp(-v)); });
}

NaiveTensor look_up(const NaiveTensor& table, const NaiveTensor& ids) {
  Shape shape = ids.shape;
  shape.push_back(table.shape.back());
  return build(shape, [&](const Shape& i) {
    Shape at = i;
    at.erase(at.rank() - 1);
    return table.at({static_cast<int64_t>(ids.at(at)), i.back()});
  });
}

namespace {

// Pairs of x (B, T, H D) turned by t / 10000^(2i / D), each head alone.
NaiveTensor turned(const NaiveTensor& x, int64_t width, RopePairing pairing) {
  const int64_t pairs = width / 2;
  return build(x.shape, [&](const Shape& at) {
    const int64_t e = at[2] % width, first = at[2] - e;
    const bool near = pairing == RopePairing::interleaved;
    const int64_t i = near ? e / 2 : e % pairs;
    const bool second = near ? e % 2 == 1 : e >= pairs;
    const double angle =
        static_cast<double>(at[1]) *
        std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(width));
    const double a = x.at({at[0], at[1], first + (near ? 2 * i : i)});
    const double b = x.at({at[0], at[1], first + (near ? 2 * i + 1 : i + pairs)});
    return second ? a * std::sin(angle) + b * std::cos(angle)
                  : a * std::cos(angle) - b * std::sin(angle);
  });
}

}  // namespace

NaiveTensor heads_side_by_side(NaiveTensor q, NaiveTensor k, const NaiveTensor& v,
                               const NaiveHeads& o) {
  const int64_t width = q.shape.back() / o.heads, tk = k.shape[1];
  if (o.rotary) {
    q = turned(q, width, *o.rotary);
    k = turned(k, width, *o.rotary);
  }
  return build(q.shape, [&](const Shape& at) {
    const int64_t head = at[2] / width, group = head / (o.heads / o.kv_heads);
    double sum = 0, y = 0;
    for (int64_t j = 0; j < tk; ++j) {
      if (!o.sees(at[0], at[1], j)) continue;
      double score = 0;
      for (int64_t c = 0; c < width; ++c) {
        score += q.at({at[0], at[1], head * width + c}) * k.at({at[0], j, group * width + c});
      }
      const double w = std::exp(score / std::sqrt(static_cast<double>(width)));
      sum += w;
      y += w * v.at({at[0], j, group * width + at[2] % width});
    }
    return sum > 0 ? y / sum : 0;
  });
}

NaiveTensor multi_head(const NaiveTensor& q, const NaiveTensor& k, const NaiveTensor& v,
                       Parameters& p, const NaiveHeads& o, bool bias) {
  const auto project = [&](const NaiveTensor& x) {
    const NaiveTensor y = affine(x, p.next());
    return bias ? plus(y, p.next()) : y;
  };
  const NaiveTensor pq = project(q), pk = project(k), pv = project(v);
  return project(heads_side_by_side(pq, pk, pv, o));
}

}  // namespace fovea::cases
