// Attention and the softmax of what a mask keeps.
#include <cmath>
#include <cstdlib>

#include "fovea/ops/ops.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

// softmax of v where keep, all 0 where nothing is kept.
Values1d softmax_of_kept(const Values1d& v, const std::vector<bool>& keep) {
  double top = -INFINITY, sum = 0;
  for (size_t i = 0; i < v.size(); ++i) top = keep[i] ? std::fmax(top, v[i]) : top;
  Values1d y(v.size(), 0.0);
  for (size_t i = 0; i < v.size(); ++i) sum += y[i] = keep[i] ? std::exp(v[i] - top) : 0;
  for (double& p : y) p = sum > 0 ? p / sum : 0;
  return y;
}

void add_masked_softmax(std::vector<OpCase>& rows) {
  OpCase row;
  row.name = "masked_softmax";
  row.f = [](const Tensors& x) { return masked_softmax(x[0], x[1]); };
  row.inputs = {floats({2, 3, 4}), bools({3, 4}).holding({1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0})};
  row.naive = [](const NaiveTensors& x) {
    NaiveTensor y = x[0];
    const int64_t n = x[0].shape.back();
    for (int64_t at = 0; at < y.numel(); at += n) {
      Values1d line(x[0].data.begin() + at, x[0].data.begin() + at + n);
      std::vector<bool> keep;
      for (int64_t j = 0; j < n; ++j) {
        Shape i = x[0].shape;
        int64_t rest = at + j;
        for (int d = i.rank() - 1; d >= 0; --d)
          rest = (i[d] = rest % x[0].shape[d], rest / x[0].shape[d]);
        keep.push_back(x[1].at(i) != 0);
      }
      const Values1d p = softmax_of_kept(line, keep);
      std::copy(p.begin(), p.end(), y.data.begin() + at);
    }
    return y;
  };
  row.one = {{1, 1, 1}, {1, 1}};
  row.zero = {{0, 3, 4}, {3, 4}};
  row.big = {{40, 31, 65}, {31, 65}};
  row.bad = {{{floats({2, 3}), floats({3}).no_grad()}, kDType, "masked_softmax: keep"},
             {{floats({2, 3}), bools({2})}, kShape, "masked_softmax: "},
             {{floats({3}), bools({2, 3})}, kShape, "masked_softmax: x is [3], keep is [2, 3]"},
             {{integers({2, 3}, 0, 4), bools({3})}, kDType, "masked_softmax: x"}};
  rows.push_back(std::move(row));
}

struct Kind {
  const char* label;
  Shape q, k, v;
  Causal causal = Causal::none;
  std::optional<double> scale = {};
  std::optional<InputSpec> mask = {};
  std::optional<Shape> bias = {};  // comes behind v
  std::optional<int64_t> window = {};
};

// One (batch, head) after the other, one query after the other.
NaiveTensor attended(const NaiveTensors& x, const Kind& kind, bool weights) {
  const NaiveTensor &q = x[0], &k = x[1], &v = x[weights ? 1 : 2];
  const int r = q.shape.rank();
  const int64_t tq = q.shape[r - 2], tk = k.shape[r - 2], d = q.shape[r - 1];
  const double scale = kind.scale.value_or(1 / std::sqrt(static_cast<double>(d)));
  Shape out = q.shape;
  out[r - 1] = weights ? tk : v.shape[r - 1];
  Shape queries = q.shape;
  queries.erase(r - 1);
  NaiveTensor y = filled(out, 0);
  each_index(queries, [&](const Shape& at) {
    Shape kv = at;  // the head that this query's group shares
    if (r > 2) kv[r - 3] = at[r - 3] / (q.shape[r - 3] / k.shape[r - 3]);
    const auto with = [](Shape s, int64_t last) {
      s.push_back(last);
      return s;
    };
    Values1d scores;
    std::vector<bool> keep;
    for (int64_t j = 0; j < tk; ++j) {
      kv[r - 2] = j;
      double s = 0;
      for (int64_t c = 0; c < d; ++c) s += q.at(with(at, c)) * k.at(with(kv, c));
      scores.push_back(s * scale + (kind.bias ? x[weights ? 2 : 3].at(with(at, j)) : 0));
      const int64_t place = at[r - 2] + (kind.causal == Causal::upper_left ? 0 : tk - tq);
      bool kept = kind.causal == Causal::none || j <= place;
      if (kind.window) kept = kept && std::abs(place - j) <= *kind.window;
      if (kind.mask) kept = kept && x.back().at(with(at, j)) != 0;
      keep.push_back(kept);
    }
    const Values1d p = softmax_of_kept(scores, keep);
    for (int64_t j = 0; j < tk; ++j) {
      kv[r - 2] = j;
      if (weights) y.at(with(at, j)) = p[static_cast<size_t>(j)];
      for (int64_t c = 0; !weights && c < v.shape[r - 1]; ++c) {
        y.at(with(at, c)) += p[static_cast<size_t>(j)] * v.at(with(kv, c));
      }
    }
  });
  return y;
}

OpCase attention(const Kind& kind, bool weights) {
  OpCase row;
  row.name = weights ? "attention_weights" : "scaled_dot_product_attention";
  row.label = kind.label;
  row.inputs = {floats(kind.q), floats(kind.k)};
  if (!weights) row.inputs.push_back(floats(kind.v));
  if (kind.bias) row.inputs.push_back(floats(*kind.bias));
  if (kind.mask) row.inputs.push_back(*kind.mask);
  row.one = all_one(row.inputs);
  row.tolerance_f32 = 1e-5;
  row.f = [kind, weights](const Tensors& x) {
    AttentionOptions o{.causal = kind.causal, .window = kind.window, .scale = kind.scale};
    if (kind.mask) o.keep_mask = x.back();
    if (kind.bias) o.bias = x[weights ? 2 : 3];
    return weights ? attention_weights(x[0], x[1], o)
                   : scaled_dot_product_attention(x[0], x[1], x[2], o);
  };
  row.naive = [kind, weights](const NaiveTensors& x) { return attended(x, kind, weights); };
  return row;
}

std::vector<BadCase> refused_attention() {
  const std::string op = "scaled_dot_product_attention: ";
  return {
      {{floats({2, 3, 4}), floats({2, 5, 3}), floats({2, 5, 3})}, kShape, op + "q is [2, 3, 4]"},
      {{floats({2, 3, 4}), floats({2, 5, 4}), floats({2, 6, 3})}, kShape, "v is [2, 6, 3]"},
      {{floats({2, 3, 4}), floats({3, 5, 4}), floats({3, 5, 4})}, kShape, "leading axes"},
      {{floats({1, 4, 3, 4}), floats({1, 3, 5, 4}), floats({1, 3, 5, 4})}, kShape, "multiple"},
      {{floats({4}), floats({4}), floats({4})}, kShape, "at least (T, D)"},
      {{integers({3, 4}, 0, 3), floats({5, 4}), floats({5, 4})}, kDType, op + "q"},
      {{floats({3, 4}), floats({5, 4}), floats({5, 4})},
       kShape,
       op + "keep_mask is [2, 3, 5]",
       [](const Tensors& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2],
                                             {.keep_mask = ones({2, 3, 5}, boolean)});
       }},
      {{floats({3, 4}), floats({5, 4}), floats({5, 4})},
       kDType,
       op + "keep_mask",
       [](const Tensors& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], {.keep_mask = ones({3, 5})});
       }},
      {{floats({3, 4}), floats({5, 4}), floats({5, 4})},
       kValue,
       op + "dropout is 2",
       [](const Tensors& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], {.dropout = 2});
       }},
      {{floats({3, 4}), floats({5, 4}), floats({5, 4})},
       kShape,
       op + "bias is [2, 5]",
       [](const Tensors& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], {.bias = ones({2, 5})});
       }},
      {{floats({3, 4}), floats({5, 4}), floats({5, 4})},
       kValue,
       op + "window is -1",
       [](const Tensors& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], {.window = -1});
       }},
      {{floats({3, 4}), floats({5, 4}), floats({5, 4})},
       kValue,
       op + "scale is nan",
       [](const Tensors& x) {
         return scaled_dot_product_attention(x[0], x[1], x[2], {.scale = std::nan("")});
       }}};
}

}  // namespace

std::vector<OpCase> rows_attention() {
  std::vector<OpCase> rows;
  add_masked_softmax(rows);
  const auto padded = bools({2, 1, 1, 5}).holding({1, 1, 1, 0, 0, 0, 1, 1, 1, 1});
  const auto holes = bools({3, 5}).holding({1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1});
  const std::vector<Kind> kinds{
      {"", {2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}},
      {"causal", {1, 2, 4, 3}, {1, 2, 4, 3}, {1, 2, 4, 3}, Causal::lower_right},
      {"causal_longer_keys", {1, 1, 2, 3}, {1, 1, 5, 3}, {1, 1, 5, 2}, Causal::lower_right},
      {"causal_longer_queries", {1, 1, 5, 3}, {1, 1, 2, 3}, {1, 1, 2, 2}, Causal::lower_right},
      {"upper_left", {1, 1, 2, 3}, {1, 1, 5, 3}, {1, 1, 5, 2}, Causal::upper_left},
      {"padded", {2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}, Causal::none, {}, padded},
      {"holes", {2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}, Causal::none, {}, holes},
      {"causal_padded", {2, 1, 3, 4}, {2, 1, 5, 4}, {2, 1, 5, 3}, Causal::lower_right, {}, padded},
      {"grouped", {2, 4, 2, 3}, {2, 2, 3, 3}, {2, 2, 3, 3}},
      {"one_key_head", {1, 3, 2, 3}, {1, 1, 3, 3}, {1, 1, 3, 2}, Causal::lower_right},
      {"no_heads", {3, 4}, {5, 4}, {5, 2}},
      {"scaled", {2, 3, 4}, {2, 5, 4}, {2, 5, 2}, Causal::none, 0.3},
      {"one_token", {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}},
      {"biased",
       {2, 2, 3, 4},
       {2, 2, 5, 4},
       {2, 2, 5, 3},
       Causal::none,
       {},
       padded,
       Shape{2, 1, 5}},
      {"biased_groups",
       {1, 4, 3, 2},
       {1, 2, 3, 2},
       {1, 2, 3, 2},
       Causal::lower_right,
       {},
       {},
       Shape{4, 3, 3}},
      {"window", {1, 2, 6, 3}, {1, 2, 6, 3}, {1, 2, 6, 2}, Causal::none, {}, {}, {}, 1},
      {"window_causal",
       {1, 1, 4, 3},
       {1, 1, 6, 3},
       {1, 1, 6, 2},
       Causal::lower_right,
       {},
       {},
       {},
       2},
      {"window_upper_left", {3, 2}, {5, 2}, {5, 2}, Causal::upper_left, {}, {}, {}, 0},
      {"window_padded", {2, 2, 5, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}, Causal::none, {}, padded, {}, 1},
      {"window_no_keys", {7, 2}, {3, 2}, {3, 2}, Causal::none, {}, {}, {}, 1},
  };
  for (const Kind& kind : kinds) {
    OpCase row = attention(kind, false);
    if (row.label.empty()) {
      row.zero = {{2, 2, 3, 4}, {2, 2, 0, 4}, {2, 2, 0, 3}};
      row.big = {{2, 3, 70, 16}, {2, 3, 90, 16}, {2, 3, 90, 8}};
      OpCase nobody = row;
      nobody.label = "nobody";
      nobody.zero = {{0, 2, 3, 4}, {0, 2, 5, 4}, {0, 2, 5, 3}};
      nobody.big = {};
      rows.push_back(std::move(nobody));
      row.bad = refused_attention();
    } else if (row.label == "grouped") {
      row.one = {{1, 2, 1, 3}, {1, 1, 1, 3}, {1, 1, 1, 3}};
    } else if (row.label == "causal_longer_queries") {
      row.one = {{1, 1, 2, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}};  // the first sees no key
    } else if (row.label == "window") {
      row.big = {{2, 2, 300, 8}, {2, 2, 300, 8}, {2, 2, 300, 8}};
    }
    rows.push_back(std::move(row));
  }
  for (size_t i : {0, 3, 6, 8, 13, 15}) {
    rows.push_back(attention(kinds[i], true));
    if (i > 0) continue;
    rows.back().zero = {{2, 2, 3, 4}, {2, 2, 0, 4}};
    rows.back().big = {{2, 3, 70, 16}, {2, 3, 90, 16}};
  }
  OpCase dropped = attention({"dropout", {1, 2, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 3}}, false);
  dropped.f = [](const Tensors& x) {
    return scaled_dot_product_attention(x[0], x[1], x[2], {.dropout = 0.4});
  };
  dropped.naive = {};
  // A mean of some of the values, of which each counts 1 / (1 - p) as much: no larger than that,
  // and not what it would be without dropping any.
  const auto whole = attention({"", {1, 2, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 3}}, false).naive;
  dropped.property = [whole](const NaiveTensors& x, const NaiveTensor& y) -> std::string {
    double largest = 0;
    for (double v : x[2].data) largest = std::fmax(largest, std::fabs(v));
    for (double v : y.data) {
      if (!(std::fabs(v) <= largest / 0.6 * (1 + 1e-5))) return "larger than its values allow";
    }
    return compare(y, whole(x), 1e-3).empty() ? "nothing was dropped" : "";
  };
  rows.push_back(std::move(dropped));
  return rows;
}

}  // namespace fovea::cases
