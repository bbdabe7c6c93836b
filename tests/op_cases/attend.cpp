#include "tests/op_cases/attend.h"

#include <numeric>

#include "fovea/ops/ops.h"

namespace fovea::cases {
namespace {

// Of two sentences of five the first has three tokens; the other kind of hole starts a sentence.
InputSpec padded() { return bools({2, 1, 5}).holding({1, 1, 1, 0, 0, 0, 0, 1, 1, 0}); }

}  // namespace

Values1d row_of(const NaiveTensor& x, Shape at) {
  Values1d v;
  at.push_back(0);
  for (int64_t c = 0; c < x.shape.back(); ++c) {
    at[at.rank() - 1] = c;
    v.push_back(x.at(at));
  }
  return v;
}

double dot_of(const Values1d& a, const Values1d& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

NaiveTensor attend(const NaiveTensor& q, const NaiveTensor& k, const NaiveTensor& v,
                   const Sees& sees, const Weigh& weigh) {
  const int r = q.shape.rank();
  Shape out = q.shape, queries = q.shape;
  out[r - 1] = v.shape.back();
  queries.erase(r - 1);
  NaiveTensor y = filled(out, 0);
  each_index(queries, [&](const Shape& at) {
    Shape kv = at;  // the head that this query's group shares
    if (r > 2) kv[r - 3] = at[r - 3] / (q.shape[r - 3] / k.shape[r - 3]);
    Vectors keys, values;
    std::vector<bool> keep;
    for (int64_t j = 0; j < k.shape[r - 2]; ++j) {
      kv[r - 2] = j;
      keys.push_back(row_of(k, kv));
      values.push_back(row_of(v, kv));
      keep.push_back(sees(at, j));
    }
    const Values1d p = weigh(at, row_of(q, at), keys, keep);
    for (int64_t c = 0; c < out[r - 1]; ++c) {
      Shape to = at;
      to.push_back(c);
      for (size_t j = 0; j < keys.size(); ++j) y.at(to) += p[j] * values[j][c];
    }
  });
  return y;
}

// By position the last query sees the last key.
Sees AttentionKind::sees(const NaiveTensors& x) const {
  const int64_t ahead = x[1].shape[k.rank() - 2] - x[0].shape[q.rank() - 2];
  const NaiveTensor m = mask ? x.back() : scalar(1);
  return [ahead, m, c = causal](const Shape& at, int64_t j) {
    Shape key = at;
    key[key.rank() - 1] = j;
    return (!c || j <= at[at.rank() - 1] + ahead) && m.at(key) != 0;
  };
}

std::vector<AttentionKind> attention_kinds() {
  return {{"", {2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}},
          {"causal", {1, 2, 4, 3}, {1, 2, 4, 3}, {1, 2, 4, 3}, true},
          {"causal_longer_keys", {1, 1, 2, 3}, {1, 1, 5, 3}, {1, 1, 5, 2}, true},
          {"causal_longer_queries", {1, 1, 5, 3}, {1, 1, 2, 3}, {1, 1, 2, 2}, true},
          {"padded", {2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}, false, padded()},
          {"causal_padded", {2, 2, 5, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}, true, padded()},
          {"hidden", {2, 3}, {4, 3}, {4, 2}, false, bools({4}).holding({0, 0, 0, 0})},
          {"no_heads", {3, 4}, {5, 4}, {5, 2}},
          {"one_token", {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, true}};
}

OpCase attention_row(const char* name, const AttentionKind& kind) {
  OpCase row;
  row.name = name;
  row.label = kind.label;
  row.inputs = {floats(kind.q), floats(kind.k), floats(kind.v)};
  if (kind.mask) row.inputs.push_back(*kind.mask);
  row.tolerance_f32 = 1e-5;
  return row;
}

std::vector<BadCase> bad_attention(
    const std::string& op, const std::string& q,
    const std::function<Tensor(const Tensors&, const Tensor& keep)>& f) {
  const auto three = [](const Shape& a, const Shape& b, const Shape& c) {
    return std::vector<InputSpec>{floats(a), floats(b), floats(c)};
  };
  const auto with = [f](const Tensor& keep) {
    return [f, keep](const Tensors& x) { return f(x, keep); };
  };
  return {
      {three({2, 3, 4}, {2, 5, 3}, {2, 5, 3}), kShape, op + ": " + q + " is [2, 3, 4]", with({})},
      {three({2, 3, 4}, {2, 5, 4}, {2, 6, 3}), kShape, "v is [2, 6, 3]", with({})},
      {three({2, 3, 4}, {3, 5, 4}, {3, 5, 4}), kShape, "equal leading axes", with({})},
      {three({4}, {4}, {4}), kShape, "at least (T, D)", with({})},
      {{integers({3, 4}, 0, 3), floats({5, 4}), floats({5, 4})}, kDType, op + ": " + q, with({})},
      {three({3, 4}, {5, 4}, {5, 4}), kShape, op + ": keep_mask is [3, 5]",
       with(ones({3, 5}, boolean))},
      {three({3, 4}, {5, 4}, {5, 4}), kDType, op + ": keep_mask", with(ones({5}))}};
}

}  // namespace fovea::cases
