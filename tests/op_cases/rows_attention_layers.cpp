// The layers of nn/attention that read values: soft and local attention over scores, and those of
// tutorials. A row of soft attention gives context and weights side by side.
#include <cmath>
#include <memory>

#include "fovea/nn/attention/additive_attention.h"
#include "fovea/nn/attention/dot_product_attention.h"
#include "fovea/nn/attention/local.h"
#include "fovea/nn/attention/self_attention.h"
#include "fovea/nn/attention/soft_attention.h"
#include "fovea/ops/ops.h"
#include "tests/op_cases/layer_row.h"
#include "tests/op_cases/naive_attention.h"

namespace fovea::cases {
namespace {

using Keep = std::function<bool(int64_t, int64_t, int64_t)>;
const Keep kAll = [](int64_t, int64_t, int64_t) { return true; };

Tensor side_by_side(const SoftAttended& a) { return cat({a.context, a.weights}, -1); }

// Words of two sentences of 5, of which the second has 3; and nothing for the second query.
InputSpec padding() { return bools({2, 5}).holding({1, 1, 1, 1, 1, 1, 1, 1, 0, 0}); }
InputSpec holes() { return bools({3, 5}).holding({1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1}); }

NaiveTensor naive_additive(const NaiveTensor& q, const NaiveTensor& keys, const NaiveTensor& w_q,
                           const NaiveTensor& w_k, const NaiveTensor& v) {
  return pair_scores(q, keys, [&](const Values1d& a, const Values1d& b) {
    return naive_dot(v.data, naive_tanh(naive_product(w_q, a), naive_product(w_k, b)));
  });
}

// ------------------------------------------------------------------ over a score

void add_scored(std::vector<OpCase>& rows) {
  const auto layer = [] {
    return std::make_shared<ScoredAttention>(
        make_score("additive", {.query_dim = 3, .key_dim = 2, .hidden = 4}));
  };
  const std::vector<InputSpec> inputs{floats({2, 3, 3}), floats({2, 5, 2}), floats({2, 5, 2})};
  OpCase row = module_row(
      "ScoredAttention", layer(), inputs,
      [](ScoredAttention& l, const Tensors& in) { return side_by_side(l(in[0], in[1], in[2])); });
  row.tolerance_f32 = 1e-5;
  row.naive = [](const NaiveTensors& x) {
    return context_and_weights(kept_softmax(naive_additive(x[0], x[1], x[3], x[4], x[5]), kAll),
                               x[2]);
  };
  row.zero = {{2, 0, 3}, {2, 5, 2}, {2, 5, 2}, {4, 3}, {4, 2}, {4}};
  row.one = {{1, 1, 3}, {1, 1, 2}, {1, 1, 2}, {4, 3}, {4, 2}, {4}};
  row.big = {{3, 70, 3}, {3, 90, 2}, {3, 90, 2}, {4, 3}, {4, 2}, {4}};
  row.bad = {{{floats({2, 3, 3}), floats({2, 5, 2}), floats({2, 4, 2}), floats({4, 3}),
               floats({4, 2}), floats({4})},
              kShape,
              "ScoredAttention: q is [2, 3, 3], keys is [2, 5, 2], values is [2, 4, 2]"}};
  rows.push_back(row);

  const auto masked = [&](const char* label, const InputSpec& mask, bool by_query) {
    std::vector<InputSpec> with = inputs;
    with.push_back(mask);
    OpCase m =
        module_row("ScoredAttention", layer(), with, [](ScoredAttention& l, const Tensors& in) {
          return side_by_side(l(in[0], in[1], in[2], in[3]));
        });
    m.label = label;
    m.tolerance_f32 = 1e-5;
    m.naive = [by_query](const NaiveTensors& x) {
      const Keep keep = [&](int64_t b, int64_t i, int64_t j) {
        return x[3].at({by_query ? i : b, j}) != 0;
      };
      return context_and_weights(kept_softmax(naive_additive(x[0], x[1], x[4], x[5], x[6]), keep),
                                 x[2]);
    };
    rows.push_back(std::move(m));
  };
  masked("padded", padding(), false);
  masked("masked", holes(), true);
}

// ------------------------------------------------------------------ local

// Inputs q, keys, values, [words], [w, v of the centre]; the score is q . k.
NaiveTensor naive_local(const NaiveTensors& x, int64_t window, bool padded, bool predicted) {
  const auto words = [&](int64_t b, int64_t j) { return !padded || x[3].at({b, j}) != 0; };
  const auto centre = [&](int64_t b, int64_t i) {
    if (!predicted) return static_cast<double>(i);
    double length = 0;
    for (int64_t j = 0; j < x[1].shape[1]; ++j) length += words(b, j) ? 1 : 0;
    const size_t w = padded ? 4 : 3;
    Values1d hidden = naive_product(x[w], line_at(x[0], b, i));
    for (double& a : hidden) a = std::tanh(a);
    return length / (1 + std::exp(-naive_dot(x[w + 1].data, hidden)));
  };
  NaiveTensor a =
      kept_softmax(pair_scores(x[0], x[1], naive_dot), [&](int64_t b, int64_t i, int64_t j) {
        return words(b, j) &&
               std::fabs(static_cast<double>(j) - centre(b, i)) <= static_cast<double>(window);
      });
  const double sigma = static_cast<double>(window) / 2;
  if (predicted) {
    a = build(a.shape, [&](const Shape& at) {
      const double away = static_cast<double>(at[2]) - centre(at[0], at[1]);
      return a.at(at) * std::exp(-away * away / (2 * sigma * sigma));
    });
  }
  return context_and_weights(a, x[2]);
}

void add_local(std::vector<OpCase>& rows) {
  const auto add = [&](const char* label, const LocalAttentionOptions& o, bool padded) {
    std::vector<InputSpec> inputs{floats({2, 3, 3}), floats({2, 5, 3}), floats({2, 5, 2})};
    if (padded) inputs.push_back(padding());
    for (InputSpec& s : inputs) {
      if (s.dtype == f64) s.range(-1, 1);
    }
    OpCase row =
        module_row("LocalAttention", std::make_shared<LocalAttention>(make_score("dot", {}), o),
                   inputs, [padded](LocalAttention& l, const Tensors& in) {
                     return side_by_side(l(in[0], in[1], in[2], padded ? in[3] : Tensor()));
                   });
    row.label = label;
    row.tolerance_f32 = 1e-5;
    const bool predicted = o.centre == LocalCentre::predicted;
    row.naive = [padded, predicted, window = o.window](const NaiveTensors& x) {
      return naive_local(x, window, padded, predicted);
    };
    if (!padded) {
      row.zero = with_arguments(row, {{2, 0, 3}, {2, 5, 3}, {2, 5, 2}});
      row.one = with_arguments(row, {{1, 1, 3}, {1, 1, 3}, {1, 1, 2}});
      row.big = with_arguments(row, {{3, 60, 3}, {3, 90, 3}, {3, 90, 2}});
    }
    rows.push_back(std::move(row));
  };
  const LocalAttentionOptions predicted{.window = 2, .query_dim = 3, .hidden = 4};
  const LocalAttentionOptions monotonic{.centre = LocalCentre::monotonic, .window = 1};
  add("predicted", predicted, false);
  add("predicted_padded", predicted, true);
  add("monotonic", monotonic, false);
  add("monotonic_padded", monotonic, true);
}

// ------------------------------------------------------------------ of tutorials

// One query a sentence: (B, Dq) as (B, 1, Dq).
NaiveTensor one_query(const NaiveTensor& q) { return reshape(q, {q.shape[0], 1, q.shape[1]}); }
NaiveTensor without_queries(const NaiveTensor& x) { return reshape(x, {x.shape[0], x.shape[2]}); }

void add_soft_attention(std::vector<OpCase>& rows) {
  const auto scores = [](const NaiveTensors& x, size_t w) {  // W, b and v from w on
    return pair_scores(one_query(x[0]), x[1], [&](Values1d q, const Values1d& k) {
      q.insert(q.end(), k.begin(), k.end());
      return naive_dot(x[w + 2].data, naive_tanh(naive_product(x[w], q), x[w + 1].data));
    });
  };
  std::vector<InputSpec> inputs{floats({2, 3}), floats({2, 5, 4}), floats({2, 5, 2})};
  OpCase row = module_row(
      "SoftAttention", std::make_shared<SoftAttention>(3, 4, 2), inputs,
      [](SoftAttention& l, const Tensors& in) { return side_by_side(l(in[0], in[1], in[2])); });
  row.tolerance_f32 = 1e-5;
  row.naive = [scores](const NaiveTensors& x) {
    return without_queries(context_and_weights(kept_softmax(scores(x, 3), kAll), x[2]));
  };
  row.zero = {{0, 3}, {0, 5, 4}, {0, 5, 2}, {4, 7}, {4}, {4}};
  row.one = {{1, 3}, {1, 1, 4}, {1, 1, 2}, {4, 7}, {4}, {4}};
  row.big = {{40, 3}, {40, 300, 4}, {40, 300, 2}, {4, 7}, {4}, {4}};
  row.bad = {{{floats({2, 3}), floats({2, 5, 3}), floats({2, 5, 2}), floats({4, 7}), floats({4}),
               floats({4})},
              kShape,
              "SoftAttention: query is [2, 3], keys is [2, 5, 3]"}};
  rows.push_back(row);

  inputs.push_back(bools({2, 5}).holding({1, 0, 1, 1, 0, 0, 0, 0, 0, 0}));
  OpCase masked = module_row("SoftAttention", std::make_shared<SoftAttention>(3, 4, 2), inputs,
                             [](SoftAttention& l, const Tensors& in) {
                               return side_by_side(l(in[0], in[1], in[2], in[3]));
                             });
  masked.label = "masked";
  masked.tolerance_f32 = 1e-5;
  masked.naive = [scores](const NaiveTensors& x) {
    const Keep keep = [&](int64_t b, int64_t, int64_t j) { return x[3].at({b, j}) != 0; };
    return without_queries(context_and_weights(kept_softmax(scores(x, 4), keep), x[2]));
  };
  rows.push_back(masked);
}

void add_additive_attention(std::vector<OpCase>& rows) {
  OpCase row = module_row("AdditiveAttention", std::make_shared<AdditiveAttention>(3, 2, 4),
                          {floats({2, 3}), floats({2, 5, 2})},
                          [](AdditiveAttention& l, const Tensors& in) { return l(in[0], in[1]); });
  row.naive = [](const NaiveTensors& x) {
    return without_queries(naive_additive(one_query(x[0]), x[1], x[2], x[3], x[4]));
  };
  row.zero = {{2, 3}, {2, 0, 2}, {4, 3}, {4, 2}, {1, 4}};
  row.one = {{1, 3}, {1, 1, 2}, {4, 3}, {4, 2}, {1, 4}};
  row.big = {{40, 3}, {40, 300, 2}, {4, 3}, {4, 2}, {1, 4}};
  row.bad = {{{floats({2, 2}), floats({2, 5, 2}), floats({4, 3}), floats({4, 2}), floats({1, 4})},
              kShape,
              "AdditiveAttention: query is [2, 2], keys is [2, 5, 2]; need (B, 3)"}};
  rows.push_back(row);
}

void add_dot_product_attention(std::vector<OpCase>& rows) {
  const auto add = [&](const char* label, const std::optional<InputSpec>& mask, bool by_query) {
    std::vector<InputSpec> inputs{floats({2, 3, 4}), floats({2, 5, 4}), floats({2, 5, 2})};
    if (mask) inputs.push_back(*mask);
    auto layer = std::make_shared<DotProductAttention>(0.1);
    layer->eval();
    OpCase row = module_row(
        "DotProductAttention", layer, inputs, [](DotProductAttention& l, const Tensors& in) {
          return side_by_side(l(in[0], in[1], in[2], in.size() > 3 ? in[3] : Tensor()));
        });
    row.label = label;
    row.tolerance_f32 = 1e-5;
    row.naive = [by_query](const NaiveTensors& x) {
      const Keep keep = [&](int64_t b, int64_t i, int64_t j) {
        return x.size() < 4 || x[3].at({by_query ? i : b, j}) != 0;
      };
      const NaiveTensor s = map(pair_scores(x[0], x[1], naive_dot), [](double a) { return a / 2; });
      return context_and_weights(kept_softmax(s, keep), x[2]);
    };
    if (!mask) {
      row.zero = {{2, 3, 4}, {2, 0, 4}, {2, 0, 2}};
      row.one = {{1, 1, 4}, {1, 1, 4}, {1, 1, 1}};
      row.big = {{3, 70, 4}, {3, 90, 4}, {3, 90, 40}};
      row.bad = {{{floats({2, 3, 4}), floats({2, 5, 3}), floats({2, 5, 2})},
                  kShape,
                  "DotProductAttention: q is [2, 3, 4], k is [2, 5, 3]; need equal widths"}};
    }
    rows.push_back(std::move(row));
  };
  add("", {}, false);
  add("padded", padding(), false);
  add("masked", holes(), true);

  OpCase dropped = module_row("DotProductAttention", std::make_shared<DotProductAttention>(0.4),
                              {floats({2, 3, 4}), floats({2, 5, 4}), floats({2, 5, 2})},
                              [](DotProductAttention& l, const Tensors& in) {
                                return side_by_side(l(in[0], in[1], in[2]));
                              });
  dropped.label = "dropout";
  dropped.property = [](const NaiveTensors& x, const NaiveTensor& y) -> std::string {
    const NaiveTensor weights = build({2, 3, 5}, [&](const Shape& at) {
      return y.at({at[0], at[1], 2 + at[2]});
    });
    for (double sum : fold(weights, {2}, false, [](const Values1d& a) {
                        return naive_dot(a, Values1d(a.size(), 1.0));
                      }).data) {
      if (!(std::fabs(sum - 1) < 1e-6)) return "the weights are not those before dropout";
    }
    return compare(y, context_and_weights(weights, x[2]), 1e-3).empty() ? "nothing was dropped"
                                                                        : "";
  };
  rows.push_back(dropped);
}

// Inputs v, k, q, then the weights of values, keys and queries, W_o and b_o. (B, T, H D).
NaiveTensor naive_self(const NaiveTensors& x, const SelfAttentionOptions& o, size_t w) {
  const int64_t d = o.embed_size / o.heads;
  const auto head = [&](const NaiveTensor& t, size_t weight, int64_t b, int64_t at, int64_t h) {
    const Values1d all = line_at(t, b, at);
    const Values1d own(all.begin() + h * d, all.begin() + (h + 1) * d);
    return o.project ? naive_product(x[weight], own) : own;
  };
  const double scale =
      std::sqrt(static_cast<double>(o.scale == AttentionScale::head ? d : o.embed_size));
  const int64_t tk = x[1].shape[1];
  const NaiveTensor heads = build(x[2].shape, [&](const Shape& at) {
    const int64_t h = at[2] / d;
    double sum = 0, y = 0;
    for (int64_t j = 0; j < tk; ++j) {
      if (w == 4 && x[3].at({at[0], j}) == 0) continue;
      const double e = std::exp(
          naive_dot(head(x[2], w + 2, at[0], at[1], h), head(x[1], w + 1, at[0], j, h)) / scale);
      sum += e;
      y += e * head(x[0], w, at[0], j, h)[static_cast<size_t>(at[2] % d)];
    }
    return y / sum;
  });
  return zip(matmul(heads, permute(x[w + 3], {1, 0})), x[w + 4],
             [](double a, double b) { return a + b; });
}

void add_self_attention(std::vector<OpCase>& rows) {
  const auto add = [&](const char* label, const SelfAttentionOptions& o, bool padded) {
    std::vector<InputSpec> inputs{floats({2, 5, 4}), floats({2, 5, 4}), floats({2, 3, 4})};
    if (padded) inputs.push_back(padding());
    for (InputSpec& s : inputs) {
      if (s.dtype == f64) s.range(-1, 1);
    }
    OpCase row = module_row("SelfAttention", std::make_shared<SelfAttention>(o), inputs,
                            [padded](SelfAttention& l, const Tensors& in) {
                              return l(in[0], in[1], in[2], padded ? in[3] : Tensor());
                            });
    row.label = label;
    row.tolerance_f32 = 1e-5;
    row.naive = [o, padded](const NaiveTensors& x) { return naive_self(x, o, padded ? 4 : 3); };
    if (row.label.empty()) {
      row.zero = {{2, 5, 4}, {2, 5, 4}, {2, 0, 4}, {2, 2}, {2, 2}, {2, 2}, {4, 4}, {4}};
      row.one = with_arguments(row, {{1, 1, 4}, {1, 1, 4}, {1, 1, 4}});
      row.big = with_arguments(row, {{2, 60, 4}, {2, 60, 4}, {2, 50, 4}});
      row.bad = {{{floats({2, 5, 3}), floats({2, 5, 4}), floats({2, 3, 4}), floats({2, 2}),
                   floats({2, 2}), floats({2, 2}), floats({4, 4}), floats({4})},
                  kShape,
                  "SelfAttention: v is [2, 5, 3]; need (B, T, 4)"}};
    }
    rows.push_back(std::move(row));
  };
  const SelfAttentionOptions o{.embed_size = 4, .heads = 2};
  add("", o, false);
  add("padded", o, true);
  SelfAttentionOptions embed = o;
  embed.scale = AttentionScale::embed;
  add("scale_embed", embed, false);
  SelfAttentionOptions raw = o;
  raw.project = false;
  add("not_projected", raw, false);
}

}  // namespace

std::vector<OpCase> rows_attention_layers() {
  std::vector<OpCase> rows;
  add_scored(rows);
  add_local(rows);
  add_soft_attention(rows);
  add_additive_attention(rows);
  add_dot_product_attention(rows);
  add_self_attention(rows);
  return rows;
}

}  // namespace fovea::cases
