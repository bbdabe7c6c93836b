// additive_scores, and the scores of nn/attention.
#include <cmath>
#include <memory>

#include "fovea/nn/attention/additive_scores.h"
#include "fovea/nn/attention/location_score.h"
#include "fovea/nn/attention/product_scores.h"
#include "fovea/ops/ops.h"
#include "tests/op_cases/layer_row.h"
#include "tests/op_cases/naive_attention.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

// ------------------------------------------------------------------ the operation

NaiveTensor additive(const NaiveTensors& x) {
  const int r = x[0].shape.rank();
  Shape scores = x[0].shape;
  scores[r - 1] = x[1].shape[r - 2];
  return build(scores, [&](const Shape& at) {
    Shape q = at, k = at;
    k[r - 2] = at[r - 1];
    double s = 0;
    for (int64_t c = 0; c < x[2].numel(); ++c) {
      q[r - 1] = k[r - 1] = c;
      s += x[2].at({c}) * std::tanh(x[0].at(q) + x[1].at(k));
    }
    return s;
  });
}

OpCase additive_row(const char* label, const Shape& q, const Shape& k) {
  OpCase row;
  row.name = "additive_scores";
  row.label = label;
  row.inputs = {floats(q), floats(k), floats({q.back()})};
  row.f = [](const Tensors& x) { return additive_scores(x[0], x[1], x[2]); };
  row.naive = additive;
  return row;
}

void add_operation(std::vector<OpCase>& rows) {
  OpCase row = additive_row("", {2, 3, 5}, {2, 4, 5});
  row.zero = {{2, 3, 5}, {2, 0, 5}, {5}};
  row.one = {{1, 1, 1}, {1, 1, 1}, {1}};
  row.big = {{3, 90, 33}, {3, 20, 33}, {33}};  // more queries than keys: these are cut
  row.bad = {{{floats({2, 3, 5}), floats({2, 4, 4}), floats({5})}, kShape, "k is [2, 4, 4]"},
             {{floats({2, 3, 5}), floats({2, 4, 5}), floats({4})}, kShape, "v is [4]"},
             {{floats({2, 3, 5}), floats({3, 4, 5}), floats({5})}, kShape, "equal leading axes"},
             {{floats({2, 3, 5}), floats({4, 5}), floats({5})}, kShape, "k is [4, 5]"},
             {{floats({5}), floats({5}), floats({5})}, kShape, "need q (..., Tq, h)"},
             {{floats({3, 5}), floats({4, 5}), floats({1, 5})}, kShape, "v is [1, 5]"},
             {{integers({3, 5}, 0, 2), floats({4, 5}), floats({5})}, kDType, "q is i64 [3, 5]"},
             {{floats({3, 5}), floats({4, 5}), bools({5})}, kDType, "v is bool [5]"}};
  rows.push_back(std::move(row));

  row = additive_row("more_keys", {1, 4, 5}, {1, 6, 5});
  row.zero = {{1, 0, 5}, {1, 6, 5}, {5}};
  row.big = {{1, 20, 48}, {1, 41, 48}, {48}};  // keys are cut, into blocks of unlike length
  rows.push_back(std::move(row));

  row = additive_row("no_batch", {3, 4}, {2, 4});
  row.zero = {{3, 0}, {2, 0}, {0}};
  row.one = {{1, 1}, {1, 1}, {1}};
  row.big = {{50, 60}, {21, 60}, {60}};
  rows.push_back(std::move(row));

  row = additive_row("leading_axes", {2, 1, 3, 3}, {2, 1, 2, 3});
  row.zero = {{2, 0, 3, 3}, {2, 0, 2, 3}, {3}};
  row.big = {{200, 2, 3, 17}, {200, 2, 5, 17}, {17}};  // many small products in one task
  rows.push_back(std::move(row));

  row = additive_row("one_query", {2, 1, 5}, {2, 6, 5});  // a step of a decoder
  row.big = {{24, 1, 130}, {24, 37, 130}, {130}};
  rows.push_back(std::move(row));

  rows.push_back(additive_row("one_token", {1, 1, 1}, {1, 1, 1}));
}

// ------------------------------------------------------------------ the layers

// Queries (2, 3, Dq) and keys (2, 5, Dk) through a score.
OpCase score_row(const char* name, std::shared_ptr<Score> score, int64_t query_dim,
                 int64_t key_dim) {
  return module_row(name, std::move(score), {floats({2, 3, query_dim}), floats({2, 5, key_dim})},
                    [](Score& s, const Tensors& in) { return s(in[0], in[1]); });
}

void add_products(std::vector<OpCase>& rows) {
  OpCase dot = score_row("DotScore", std::make_shared<DotScore>(), 4, 4);
  dot.naive = [](const NaiveTensors& x) { return pair_scores(x[0], x[1], naive_dot); };
  dot.zero = {{2, 3, 4}, {2, 0, 4}};
  dot.one = all_one(dot.inputs);
  dot.big = {{3, 70, 40}, {3, 90, 40}};
  dot.bad = {{{floats({2, 3, 4}), floats({2, 5, 3})}, kShape, "DotScore: q is [2, 3, 4], keys is"},
             {{floats({2, 3, 4}), floats({1, 5, 4})}, kShape, "DotScore: q is"},
             {{floats({3, 4}), floats({2, 5, 4})}, kShape, "DotScore: q is [3, 4]"},
             {{integers({2, 3, 4}, 0, 2), floats({2, 5, 4})}, kDType, "DotScore: q is i64"}};
  rows.push_back(dot);

  OpCase scaled = score_row("ScaledDotScore", std::make_shared<ScaledDotScore>(), 4, 4);
  scaled.naive = [](const NaiveTensors& x) {
    return pair_scores(x[0], x[1], [](const Values1d& q, const Values1d& k) {
      return naive_dot(q, k) / std::sqrt(static_cast<double>(q.size()));
    });
  };
  scaled.zero = {{0, 3, 4}, {0, 5, 4}};
  scaled.one = all_one(scaled.inputs);
  scaled.big = {{3, 70, 40}, {3, 90, 40}};
  rows.push_back(scaled);

  const auto cosine = [](const NaiveTensors& x) {
    return pair_scores(x[0], x[1], [&](const Values1d& q, const Values1d& k) {
      const double beta = x.size() > 2 ? x[2].data[0] : 0.5;
      return beta * naive_dot(q, k) / std::sqrt(naive_dot(q, q) * naive_dot(k, k));
    });
  };
  OpCase learned = score_row("CosineScore", std::make_shared<CosineScore>(), 4, 4);
  learned.naive = cosine;
  learned.zero = {{2, 0, 4}, {2, 5, 4}, Shape{}};
  learned.one = {{1, 1, 2}, {1, 1, 2}, Shape{}};
  learned.big = {{3, 70, 40}, {3, 90, 40}, Shape{}};
  rows.push_back(learned);
  OpCase fixed;
  fixed.name = "CosineScore";
  fixed.label = "fixed";
  fixed.inputs = {floats({2, 3, 4}), floats({2, 5, 4})};
  fixed.f = [](const Tensors& in) {
    const CosineScoreOptions o{.beta = 0.5, .learned = false, .dtype = in[0].dtype()};
    return CosineScore(o)(in[0], in[1]);
  };
  fixed.naive = cosine;
  rows.push_back(fixed);

  OpCase general = score_row(
      "GeneralScore",
      std::make_shared<GeneralScore>(GeneralScoreOptions{.query_dim = 4, .key_dim = 3}), 4, 3);
  general.naive = [](const NaiveTensors& x) {
    return pair_scores(x[0], x[1], [&](const Values1d& q, const Values1d& k) {
      return naive_dot(q, naive_product(x[2], k));
    });
  };
  general.zero = {{2, 0, 4}, {2, 5, 3}, {4, 3}};
  general.one = {{1, 1, 4}, {1, 1, 3}, {4, 3}};
  general.big = {{3, 700, 4}, {3, 90, 3}, {4, 3}};
  general.bad = {{{floats({2, 3, 3}), floats({2, 5, 3}), floats({4, 3})},
                  kShape,
                  "GeneralScore: q is [2, 3, 3]; need (B, Tq, 4)"}};
  rows.push_back(general);
}

void add_networks(std::vector<OpCase>& rows) {
  const AdditiveScoreOptions o{.query_dim = 3, .key_dim = 2, .hidden = 4};
  OpCase split = score_row("AdditiveScore", std::make_shared<AdditiveScore>(o), 3, 2);
  // parameters v', W_q, W_k, in the order of visit(): w_q.weight, w_k.weight, v
  split.naive = [](const NaiveTensors& x) {
    return pair_scores(x[0], x[1], [&](const Values1d& q, const Values1d& k) {
      return naive_dot(x[4].data, naive_tanh(naive_product(x[2], q), naive_product(x[3], k)));
    });
  };
  split.zero = {{2, 3, 3}, {2, 0, 2}, {4, 3}, {4, 2}, {4}};
  split.one = {{1, 1, 3}, {1, 1, 2}, {4, 3}, {4, 2}, {4}};
  split.big = {{3, 70, 3}, {3, 90, 2}, {4, 3}, {4, 2}, {4}};
  split.bad = {{{floats({2, 3, 2}), floats({2, 5, 2}), floats({4, 3}), floats({4, 2}), floats({4})},
                kShape,
                "AdditiveScore: q is [2, 3, 2]; need (B, Tq, 3)"}};
  rows.push_back(split);

  OpCase concat = score_row("ConcatScore", std::make_shared<ConcatScore>(o), 3, 2);
  concat.naive = [](const NaiveTensors& x) {  // W, b, v; [q ; k] is written down
    return pair_scores(x[0], x[1], [&](Values1d q, const Values1d& k) {
      q.insert(q.end(), k.begin(), k.end());
      return naive_dot(x[4].data, naive_tanh(naive_product(x[2], q), x[3].data));
    });
  };
  concat.zero = {{0, 3, 3}, {0, 5, 2}, {4, 5}, {4}, {4}};
  concat.one = {{1, 1, 3}, {1, 1, 2}, {4, 5}, {4}, {4}};
  concat.big = {{3, 70, 3}, {3, 90, 2}, {4, 5}, {4}, {4}};
  rows.push_back(concat);

  OpCase place = score_row(
      "LocationScore",
      std::make_shared<LocationScore>(LocationScoreOptions{.query_dim = 3, .max_length = 7}), 3, 2);
  place.inputs[1].no_grad();
  place.naive = [](const NaiveTensors& x) {
    return build({x[0].shape[0], x[0].shape[1], x[1].shape[1]}, [&](const Shape& at) {
      double s = 0;
      for (int64_t c = 0; c < 3; ++c) s += x[2].at({at[2], c}) * x[0].at({at[0], at[1], c});
      return s;
    });
  };
  place.zero = {{2, 3, 3}, {2, 0, 2}, {7, 3}};
  place.one = {{1, 1, 3}, {1, 1, 2}, {7, 3}};
  place.big = {{30, 700, 3}, {30, 6, 2}, {7, 3}};
  place.bad = {{{floats({2, 3, 2}), floats({2, 5, 2}), floats({7, 3})},
                kShape,
                "LocationScore: q is [2, 3, 2]; need (B, Tq, 3)"}};
  rows.push_back(place);

  // By its name, and through the base class.
  OpCase named =
      score_row("Score", make_score("additive", {.query_dim = 3, .key_dim = 2, .hidden = 4}), 3, 2);
  named.label = "by_name";
  named.naive = split.naive;
  named.zero = split.zero;
  named.one = split.one;
  named.big = split.big;
  rows.push_back(named);
}

}  // namespace

std::vector<OpCase> rows_scores() {
  std::vector<OpCase> rows;
  add_operation(rows);
  add_products(rows);
  add_networks(rows);
  return rows;
}

}  // namespace fovea::cases
