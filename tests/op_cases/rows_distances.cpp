// Positions that enter as the distance of two tokens.
#include <cmath>

#include "fovea/nn/position/alibi.h"
#include "fovea/nn/position/relative.h"
#include "fovea/nn/position/t5.h"
#include "tests/op_cases/layer_row.h"

namespace fovea::cases {
namespace {

void add_alibi(std::vector<OpCase>& rows) {
  const auto add = [](AlibiBias& l, const Tensors& in) {
    return in[0] + l(in[0].size(-2), in[0].size(-1), in[0].dtype());
  };
  OpCase& row = rows.emplace_back(
      module_row("AlibiBias", std::make_shared<AlibiBias>(3), {floats({2, 3, 2, 4})}, add));
  row.naive = [](const NaiveTensors& x) {
    return build(x[0].shape, [&](const Shape& at) {
      const int64_t position = at[2] + x[0].shape[3] - x[0].shape[2];
      return x[0].at(at) - std::pow(2.0, -8.0 * static_cast<double>(at[1] + 1) / 3) *
                               std::fabs(static_cast<double>(position - at[3]));
    });
  };
  row.one = {{1, 3, 1, 1}};
  row.zero = {{2, 3, 2, 0}};
  row.big = {{2, 3, 90, 110}};
  row.bad = {{{floats({1})},
              kValue,
              "AlibiBias: heads is 0",
              [](const Tensors& in) { return in[0] + AlibiBias(0)(1, 1); }},
             {{floats({1})}, kValue, "distances: tq is -1, tk is 2", [](const Tensors& in) {
                return in[0] + AlibiBias(1)(-1, 2);
              }}};
}

// The bucket by counting the borders that a distance has passed.
int64_t naive_bucket(int64_t distance, const T5BiasOptions& o) {
  const int64_t count = o.bidirectional ? o.buckets / 2 : o.buckets, exact = count / 2;
  if (!o.bidirectional && distance > 0) return 0;
  const auto n = static_cast<double>(std::abs(distance));
  const auto e = static_cast<double>(exact), m = static_cast<double>(o.max_distance);
  int64_t bucket = 0;
  for (int64_t b = 1; b < count; ++b) {
    const double border = b <= exact ? static_cast<double>(b)
                                     : e * std::pow(m / e, static_cast<double>(b - exact) /
                                                               static_cast<double>(count - exact));
    if (n >= border - 1e-9) bucket = b;
  }
  return bucket + (o.bidirectional && distance > 0 ? count : 0);
}

void add_t5(std::vector<OpCase>& rows) {
  for (const bool bidirectional : {true, false}) {
    const T5BiasOptions o{
        .heads = 2, .buckets = 8, .max_distance = 9, .bidirectional = bidirectional, .dtype = f32};
    OpCase& row = rows.emplace_back(module_row(
        "T5Bias", std::make_shared<T5Bias>(o), {floats({2, 2, 8, 11})},
        [](auto& l, const Tensors& in) { return in[0] + l(in[0].size(-2), in[0].size(-1)); }));
    if (!bidirectional) row.label = "causal";
    row.naive = [o](const NaiveTensors& x) {
      return build(x[0].shape, [&](const Shape& at) {
        const int64_t position = at[2] + x[0].shape[3] - x[0].shape[2];
        return x[0].at(at) + x[1].at({naive_bucket(at[3] - position, o), at[1]});
      });
    };
    row.one = {{1, 2, 1, 1}, {8, 2}};
    row.zero = {{2, 2, 0, 3}, {8, 2}};
    row.big = {{2, 2, 110, 90}, {8, 2}};
    const auto refuses = [&](const T5BiasOptions& bad, const std::string& message) {
      row.bad.push_back({{floats({1})}, kValue, "T5Bias: " + message, [bad](const Tensors& in) {
                           return in[0] + T5Bias(bad)(1, 1);
                         }});
    };
    refuses({.heads = 0, .bidirectional = bidirectional}, "heads is 0");
    refuses({.buckets = 7, .max_distance = 3, .bidirectional = bidirectional},
            "heads is 1, buckets is 7, max_distance is 3");
    refuses({.buckets = 1, .bidirectional = bidirectional}, "heads is 1, buckets is 1");
  }
}

// What a query attends to, by loops; keep says which keys it may see.
NaiveTensor shaw(const NaiveTensors& x, int64_t limit,
                 const std::function<bool(int64_t, int64_t, int64_t)>& keep) {
  const NaiveTensor &q = x[0], &k = x[1], &v = x[2], &a = x[3], &b = x[4];
  const int64_t tq = q.shape[2], tk = k.shape[2], d = q.shape[3];
  return build(q.shape, [&](const Shape& at) {
    const int64_t position = at[2] + tk - tq;
    double sum = 0, y = 0;
    for (int64_t j = 0; j < tk; ++j) {
      if (!keep(at[0], position, j)) continue;
      const int64_t row = std::max(-limit, std::min(limit, j - position)) + limit;
      double score = 0;
      for (int64_t c = 0; c < d; ++c) {
        score += q.at({at[0], at[1], at[2], c}) * (k.at({at[0], at[1], j, c}) + a.at({row, c}));
      }
      const double w = std::exp(score / std::sqrt(static_cast<double>(d)));
      sum += w;
      y += w * (v.at({at[0], at[1], j, at[3]}) + b.at({row, at[3]}));
    }
    return sum > 0 ? y / sum : 0;
  });
}

void add_shaw(std::vector<OpCase>& rows) {
  const auto row = [&](const char* label, int64_t tq, const AttendOptions& o,
                       std::function<bool(int64_t, int64_t, int64_t)> keep) {
    OpCase& r = rows.emplace_back(
        module_row("ShawRelative", std::make_shared<ShawRelative>(ShawRelativeOptions{3, 2}),
                   {floats({2, 2, tq, 3}), floats({2, 2, 5, 3}), floats({2, 2, 5, 3})},
                   [o](auto& l, const Tensors& in) { return l(in[0], in[1], in[2], o); }));
    r.label = label;
    for (InputSpec& s : r.inputs) s.range(-1, 1);
    r.tolerance_f32 = 1e-5;
    r.naive = [keep](const NaiveTensors& x) { return shaw(x, 2, keep); };
  };
  const auto all = [](int64_t, int64_t, int64_t) { return true; };
  row("", 4, {}, all);
  OpCase& first = rows.back();
  first.one = {{1, 1, 1, 3}, {1, 1, 1, 3}, {1, 1, 1, 3}, {5, 3}, {5, 3}};
  first.zero = {{2, 2, 3, 3}, {2, 2, 0, 3}, {2, 2, 0, 3}, {5, 3}, {5, 3}};
  first.big = {{2, 3, 50, 3}, {2, 3, 70, 3}, {2, 3, 70, 3}, {5, 3}, {5, 3}};
  const std::string op = "ShawRelative: ";
  const auto tables = [](const Shape& q, const Shape& k, const Shape& v) {
    return std::vector<InputSpec>{floats(q), floats(k), floats(v), floats({5, 3}), floats({5, 3})};
  };
  first.bad = {{tables({2, 2, 4, 4}, {2, 2, 5, 4}, {2, 2, 5, 4}), kShape, op + "q is [2, 2, 4, 4]"},
               {tables({2, 2, 4, 3}, {2, 2, 5, 3}, {2, 2, 6, 3}), kShape,
                op + "q is [2, 2, 4, 3], k is [2, 2, 5, 3], v is [2, 2, 6, 3]; need"},
               {tables({2, 2, 4, 3}, {2, 1, 5, 3}, {2, 1, 5, 3}), kShape, op + "q is [2, 2, 4, 3]"},
               {{floats({4, 2})},
                kShape,
                op + "q is [4, 2]; its last axis must have size 3",
                [](const Tensors& in) { return ShawRelative({.dim = 3}).score_term(in[0], 4); }},
               {{floats({4})},
                kShape,
                op + "weights is [4]",
                [](const Tensors& in) { return ShawRelative({.dim = 3}).value_term(in[0]); }},
               {{floats({1})}, kValue, op + "dim is 3, max_distance is -1", [](const Tensors& in) {
                  return ShawRelative({.dim = 3, .max_distance = -1}).score_term(in[0], 4);
                }}};
  row("causal", 3, {.keep_mask = {}, .causal = Causal::lower_right},
      [](int64_t, int64_t position, int64_t j) { return j <= position; });
  row("upper_left", 3, {.keep_mask = {}, .causal = Causal::upper_left},
      [](int64_t, int64_t position, int64_t j) { return j <= position - 2; });
  const Tensor padding = tensor({{1, 1, 1, 0, 0}, {0, 1, 1, 1, 0}}, boolean);
  row("padded", 4, {.keep_mask = padding, .causal = Causal::lower_right},
      [](int64_t b, int64_t position, int64_t j) {
        return j <= position && (b == 0 ? j < 3 : j > 0 && j < 4);
      });
}

}  // namespace

std::vector<OpCase> rows_distances() {
  std::vector<OpCase> rows;
  rows.reserve(64);  // rows are added by reference
  add_alibi(rows);
  add_t5(rows);
  add_shaw(rows);
  return rows;
}

}  // namespace fovea::cases
