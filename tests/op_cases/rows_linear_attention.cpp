// Attention by products of features.
#include <cmath>

#include "fovea/ops/ops.h"
#include "tests/op_cases/attend.h"

namespace fovea::cases {
namespace {

// Weights f(q, k) over their sum.
Weigh by_share(std::function<double(const Values1d&, const Values1d&)> f) {
  return [f = std::move(f)](const Shape&, const Values1d& q, const Vectors& k,
                            const std::vector<bool>& keep) {
    Values1d p(k.size(), 0.0);
    double sum = 0;
    for (size_t j = 0; j < k.size(); ++j) sum += p[j] = keep[j] ? f(q, k[j]) : 0;
    for (double& w : p) w = sum != 0 ? w / sum : 0;
    return p;
  };
}

LinearAttentionOptions options(const AttentionKind& kind, const Tensors& x) {
  return {.keep_mask = kind.mask ? x.back() : Tensor(), .causal = kind.causal};
}

void add_feature_attention(std::vector<OpCase>& rows) {
  for (const AttentionKind& kind : attention_kinds()) {
    OpCase row = attention_row("feature_attention", kind);
    row.inputs[0].range(0.1, 2);
    row.inputs[1].range(0.1, 2);
    row.f = [kind](const Tensors& x) {
      return feature_attention(x[0], x[1], x[2], options(kind, x));
    };
    row.naive = [kind](const NaiveTensors& x) {
      return attend(x[0], x[1], x[2], kind.sees(x), by_share(dot_of));
    };
    const std::string label = kind.label;
    if (label.empty()) {
      row.one = {{2, 1, 1, 4}, {2, 1, 5, 4}, {2, 1, 5, 1}};
      row.zero = {{2, 2, 3, 4}, {2, 2, 0, 4}, {2, 2, 0, 3}};
      row.big = {{2, 3, 150, 16}, {2, 3, 290, 16}, {2, 3, 290, 8}};
      row.bad = bad_attention("feature_attention", "fq", [](const Tensors& x, const Tensor& keep) {
        return feature_attention(x[0], x[1], x[2], {.keep_mask = keep});
      });
    }
    if (label == "causal") {
      row.one = {{1, 1, 3, 1}, {1, 1, 3, 1}, {1, 1, 3, 1}};
      row.zero = {{0, 2, 4, 3}, {0, 2, 4, 3}, {0, 2, 4, 3}};
      row.big = {{2, 3, 300, 16}, {2, 3, 300, 16}, {2, 3, 300, 8}};
    }
    if (label == "causal_longer_keys") {
      row.zero = {{1, 1, 0, 3}, {1, 1, 5, 3}, {1, 1, 5, 2}};
      row.big = {{1, 1, 200, 16}, {1, 1, 390, 16}, {1, 1, 390, 8}};
    }
    if (label == "causal_longer_queries") {
      row.zero = {{1, 1, 5, 3}, {1, 1, 0, 3}, {1, 1, 0, 2}};
      row.big = {{1, 1, 290, 16}, {1, 1, 150, 16}, {1, 1, 150, 8}};
    }
    if (label == "causal_padded") {
      row.big = {{2, 3, 200, 9}, {2, 3, 200, 9}, {2, 3, 200, 7}, {2, 3, 200}};
    }
    rows.push_back(std::move(row));
  }
}

double elu_plus_one(double x) { return x > 0 ? x + 1 : std::exp(x); }

void add_linear_attention(std::vector<OpCase>& rows) {
  const auto similarity = [](const Values1d& q, const Values1d& k) {
    double sum = 0;
    for (size_t c = 0; c < q.size(); ++c) sum += elu_plus_one(q[c]) * elu_plus_one(k[c]);
    return sum;
  };
  for (const AttentionKind& kind : attention_kinds()) {
    OpCase row = attention_row("linear_attention", kind);
    row.inputs[0].away_from({0});
    row.inputs[1].away_from({0});
    row.f = [kind](const Tensors& x) {
      return linear_attention(x[0], x[1], x[2], options(kind, x));
    };
    row.naive = [kind, similarity](const NaiveTensors& x) {
      return attend(x[0], x[1], x[2], kind.sees(x), by_share(similarity));
    };
    if (row.label.empty()) {
      row.one = {{2, 1, 1, 4}, {2, 1, 5, 4}, {2, 1, 5, 1}};
      row.zero = {{2, 2, 3, 4}, {2, 2, 0, 4}, {2, 2, 0, 3}};
      row.big = {{2, 3, 70, 16}, {2, 3, 90, 16}, {2, 3, 90, 8}};
      row.bad = bad_attention("linear_attention", "q", [](const Tensors& x, const Tensor& keep) {
        return linear_attention(x[0], x[1], x[2], {.keep_mask = keep});
      });
    }
    rows.push_back(std::move(row));
  }
}

void add_performer_attention(std::vector<OpCase>& rows) {
  for (const AttentionKind& kind : attention_kinds()) {
    OpCase row = attention_row("performer_attention", kind);
    const InputSpec w = floats({5, kind.q.back()}).range(-1.5, 1.5);
    row.inputs.insert(row.inputs.begin() + 3, w);
    row.f = [kind](const Tensors& x) {
      return performer_attention(x[0], x[1], x[2], x[3], options(kind, x));
    };
    row.naive = [kind](const NaiveTensors& x) {
      Vectors directions;
      for (int64_t i = 0; i < x[3].shape[0]; ++i) directions.push_back(row_of(x[3], {i}));
      const double root = std::pow(static_cast<double>(kind.q.back()), 0.25);
      return attend(x[0], x[1], x[2], kind.sees(x),
                    by_share([&](const Values1d& q, const Values1d& k) {
                      double sum = 0;
                      for (const Values1d& d : directions) {
                        const double a = dot_of(d, q) / root, b = dot_of(d, k) / root;
                        const double lengths = (dot_of(q, q) + dot_of(k, k)) / (root * root);
                        sum += std::exp(a + b - lengths / 2);
                      }
                      return sum;
                    }));
    };
    if (row.label.empty()) {
      row.one = {{2, 1, 1, 4}, {2, 1, 5, 4}, {2, 1, 5, 1}, {1, 4}};
      row.zero = {{2, 2, 3, 4}, {2, 2, 0, 4}, {2, 2, 0, 3}, {5, 4}};
      row.big = {{2, 3, 70, 4}, {2, 3, 90, 4}, {2, 3, 90, 8}, {16, 4}};
      row.bad = bad_attention("performer_attention", "q", [](const Tensors& x, const Tensor& keep) {
        return performer_attention(x[0], x[1], x[2], ones({6, 4}), {.keep_mask = keep});
      });
      row.bad.push_back({{floats({3, 4}), floats({5, 4}), floats({5, 4}), floats({6, 3})},
                         kShape,
                         "performer_attention: w is [6, 3], q is"});
    }
    rows.push_back(std::move(row));
  }
}

void add_orthogonal_features(std::vector<OpCase>& rows) {
  OpCase row;
  row.name = "orthogonal_features";
  row.f = [](const Tensors&) { return orthogonal_features(7, 3, f64); };
  row.result = f64;
  row.differentiable = false;
  row.property = [](const NaiveTensors&, const NaiveTensor& y) -> std::string {
    if (!(y.shape == Shape{7, 3})) return "shape " + y.shape.str();
    for (int64_t i = 0; i < 7; ++i) {
      const Values1d a = row_of(y, {i});
      if (!(dot_of(a, a) > 0)) return "a direction of length 0";
      for (int64_t j = i / 3 * 3; j < i; ++j) {
        if (!(std::fabs(dot_of(a, row_of(y, {j}))) <= 1e-14)) return "rows are not orthogonal";
      }
    }
    return "";
  };
  row.bad = {
      {{}, kShape, "m is -1, d is 3", [](const Tensors&) { return orthogonal_features(-1, 3); }},
      {{}, kDType, "dtype is i64", [](const Tensors&) { return orthogonal_features(2, 3, i64); }}};
  rows.push_back(std::move(row));
}

}  // namespace

std::vector<OpCase> rows_linear_attention() {
  std::vector<OpCase> rows;
  add_feature_attention(rows);
  add_linear_attention(rows);
  add_performer_attention(rows);
  add_orthogonal_features(rows);
  return rows;
}

}  // namespace fovea::cases
