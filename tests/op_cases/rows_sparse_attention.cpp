// Attention by landmarks, and by projections on the simplex.
#include <cmath>
#include <utility>

#include "fovea/ops/ops.h"
#include "tests/op_cases/attend.h"

namespace fovea::cases {
namespace {

double squared_distance(const Values1d& a, const Values1d& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

// Solves a x = b, with pivots.
Values1d solved(Vectors a, Values1d b) {
  const size_t n = b.size();
  for (size_t i = 0; i < n; ++i) {
    size_t p = i;
    for (size_t r = i; r < n; ++r) p = std::fabs(a[r][i]) > std::fabs(a[p][i]) ? r : p;
    std::swap(a[i], a[p]);
    std::swap(b[i], b[p]);
    for (size_t r = 0; r < n; ++r) {
      const double f = a[r][i] / a[i][i];
      for (size_t c = i; c < n && r != i; ++c) a[r][c] -= f * a[i][c];
      if (r != i) b[r] -= f * b[i];
    }
  }
  for (size_t i = 0; i < n; ++i) b[i] /= a[i][i];
  return b;
}

// g(q, u) g(u, u)^-1 g(u, k)
Weigh by_landmarks(int64_t landmarks) {
  return [landmarks](const Shape&, const Values1d& q, const Vectors& k,
                     const std::vector<bool>& keep) {
    const auto g = [&](const Values1d& a, const Values1d& b) {
      return std::exp(-squared_distance(a, b) / (2 * std::sqrt(static_cast<double>(q.size()))));
    };
    Vectors kept, u;
    for (size_t j = 0; j < k.size(); ++j) {
      if (keep[j]) kept.push_back(k[j]);
    }
    const size_t n = kept.size(), segments = std::min<size_t>(landmarks, k.size());
    for (size_t l = 0; l < segments; ++l) {
      Values1d mean(q.size(), 0.0);
      double count = 0;
      for (size_t r = 0; r < n; ++r) {
        if (r * segments / n != l) continue;
        ++count;
        for (size_t c = 0; c < q.size(); ++c) mean[c] += kept[r][c];
      }
      for (double& m : mean) m /= count;
      if (count > 0) u.push_back(mean);
    }
    Vectors a;
    Values1d across;
    for (const Values1d& x : u) {
      across.push_back(g(q, x));
      a.emplace_back();
      for (const Values1d& z : u) a.back().push_back(g(x, z));
    }
    const Values1d c = solved(a, across);  // a is symmetric
    Values1d p(k.size(), 0.0);
    for (size_t j = 0; j < k.size(); ++j) {
      for (size_t l = 0; keep[j] && l < u.size(); ++l) p[j] += c[l] * g(u[l], k[j]);
    }
    return p;
  };
}

void add_nystrom(std::vector<OpCase>& rows) {
  struct Landmarks {
    AttentionKind kind;
    int64_t count;
  };
  const auto all = attention_kinds();
  std::vector<Landmarks> list{{all[0], 3}, {all[0], 5}, {all[4], 2}, {all[4], 4},
                              {all[6], 2}, {all[7], 2}, {all[8], 16}};
  list.push_back({{"grouped", {1, 4, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 3}}, 2});
  list[1].kind.label = "every_token";
  list[3].kind.label = "padded_more_landmarks";
  for (const Landmarks& l : list) {
    AttentionKind kind = l.kind;
    kind.causal = false;
    OpCase row = attention_row("soft_attention_nystrom", kind);
    row.f = [kind, n = l.count](const Tensors& x) {
      return soft_attention_nystrom(x[0], x[1], x[2],
                                    {.keep_mask = kind.mask ? x.back() : Tensor(), .landmarks = n});
    };
    row.naive = [kind, n = l.count](const NaiveTensors& x) {
      return attend(x[0], x[1], x[2], kind.sees(x), by_landmarks(n));
    };
    if (row.label.empty()) {
      row.one = {{2, 1, 3, 1}, {2, 1, 1, 1}, {2, 1, 1, 3}};
      row.zero = {{2, 2, 3, 4}, {2, 2, 0, 4}, {2, 2, 0, 3}};
      row.big = {{2, 3, 70, 16}, {2, 3, 90, 16}, {2, 3, 90, 8}};
      row.bad =
          bad_attention("soft_attention_nystrom", "q", [](const Tensors& x, const Tensor& keep) {
            return soft_attention_nystrom(x[0], x[1], x[2], {.keep_mask = keep});
          });
      const std::vector<InputSpec> good{floats({3, 4}), floats({5, 4}), floats({5, 4})};
      row.bad.push_back({good, kValue, "landmarks is 0", [](const Tensors& x) {
                           return soft_attention_nystrom(x[0], x[1], x[2], {.landmarks = 0});
                         }});
      row.bad.push_back({good, kValue, "iterations is 0", [](const Tensors& x) {
                           return soft_attention_nystrom(x[0], x[1], x[2], {.iterations = 0});
                         }});
    }
    rows.push_back(std::move(row));
  }
}

// max(s / degree - t, 0)^degree with t such that the sum is 1, by halving: degree 1 is sparsemax, 2
// entmax15.
Values1d projected(const Values1d& s, const std::vector<bool>& keep, int degree) {
  const auto value = [&](size_t j, double t) {
    const double x = keep[j] ? std::fmax(s[j] / degree - t, 0) : 0;
    return degree == 1 ? x : x * x;
  };
  Values1d p(s.size(), 0.0);
  double top = -INFINITY;
  for (size_t j = 0; j < s.size(); ++j) top = keep[j] ? std::fmax(top, s[j] / degree) : top;
  if (!std::isfinite(top)) return p;
  double low = top - 1, high = top;
  for (int i = 0; i < 100; ++i) {
    const double t = (low + high) / 2;
    double sum = 0;
    for (size_t j = 0; j < s.size(); ++j) sum += value(j, t);
    (sum > 1 ? low : high) = t;
  }
  for (size_t j = 0; j < s.size(); ++j) p[j] = value(j, high);
  return p;
}

struct SparseKind {
  const char* label;
  Shape q, k, v;
  AttentionOptions o = {};
  std::optional<InputSpec> mask = {}, bias = {};
};

void add_sparse(std::vector<OpCase>& rows, const char* name, int degree,
                Tensor (*f)(const Tensor&, const Tensor&, const Tensor&, const AttentionOptions&)) {
  const Shape q{2, 2, 3, 4}, k{2, 2, 5, 4}, v{2, 2, 5, 3};
  const auto holes = bools({3, 5}).holding({1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 1});
  const auto of_keys = bools({2, 1, 1, 5}).holding({1, 1, 1, 0, 0, 0, 1, 1, 1, 1});
  const std::vector<SparseKind> list{
      {"", q, k, v},
      {"causal", q, k, v, {.causal = Causal::lower_right}},
      {"upper_left", q, k, v, {.causal = Causal::upper_left}},
      {"window", q, k, v, {.window = 1}},
      {"causal_window", {4, 3}, {4, 3}, {4, 2}, {.causal = Causal::lower_right, .window = 2}},
      {"bias", q, k, v, {}, {}, floats({2, 1, 5})},
      {"holes", q, k, v, {}, holes},
      {"causal_padded", q, k, v, {.causal = Causal::lower_right}, of_keys},
      {"grouped", {1, 4, 2, 3}, {1, 2, 3, 3}, {1, 2, 3, 2}, {.scale = 0.4}},
      {"one_token", {1, 1}, {1, 1}, {1, 1}}};
  for (const SparseKind& kind : list) {
    OpCase row;
    row.name = name;
    row.label = kind.label;
    row.inputs = {floats(kind.q), floats(kind.k), floats(kind.v)};
    if (kind.mask) row.inputs.push_back(*kind.mask);
    if (kind.bias) row.inputs.push_back(*kind.bias);
    row.tolerance_f32 = 1e-5;
    row.f = [kind, f](const Tensors& x) {
      AttentionOptions o = kind.o;
      if (kind.mask) o.keep_mask = x[3];
      if (kind.bias) o.bias = x.back();
      return f(x[0], x[1], x[2], o);
    };
    row.naive = [kind, degree](const NaiveTensors& x) {
      const int r = x[0].shape.rank();
      const int64_t tq = x[0].shape[r - 2], tk = x[1].shape[r - 2];
      const int64_t ahead = kind.o.causal == Causal::upper_left ? 0 : tk - tq;
      const auto with = [](Shape at, int64_t j) {
        at.push_back(j);
        return at;
      };
      const auto sees = [&](const Shape& at, int64_t j) {
        const int64_t p = at[at.rank() - 1] + ahead;
        return (kind.o.causal == Causal::none || j <= p) &&
               (!kind.o.window || std::abs(p - j) <= *kind.o.window) &&
               (!kind.mask || x[3].at(with(at, j)) != 0);
      };
      const double scale =
          kind.o.scale.value_or(1 / std::sqrt(static_cast<double>(x[0].shape.back())));
      return attend(x[0], x[1], x[2], sees,
                    [&](const Shape& at, const Values1d& query, const Vectors& keys,
                        const std::vector<bool>& keep) {
                      Values1d s;
                      for (size_t j = 0; j < keys.size(); ++j) {
                        s.push_back(scale * dot_of(query, keys[j]));
                        if (kind.bias) s.back() += x.back().at(with(at, static_cast<int64_t>(j)));
                      }
                      return projected(s, keep, degree);
                    });
    };
    if (row.label.empty()) {
      row.one = {{1, 2, 1, 4}, {1, 1, 5, 4}, {1, 1, 5, 1}};
      row.zero = {{2, 2, 3, 4}, {2, 2, 0, 4}, {2, 2, 0, 3}};
      row.big = {{2, 3, 70, 16}, {2, 3, 90, 16}, {2, 3, 90, 8}};
      row.bad = bad_attention(name, "q", [f](const Tensors& x, const Tensor& keep) {
        return f(
            x[0], x[1], x[2],
            {.keep_mask = keep.defined() && keep.dim() == 2 ? ones({2, 3, 5}, boolean) : keep});
      });
      row.bad[5].message = std::string(name) + ": keep_mask is [2, 3, 5]";
      const std::vector<InputSpec> good{floats({3, 4}), floats({5, 4}), floats({5, 4})};
      const auto refuses = [&](ErrorKind error, const char* message, const AttentionOptions& o) {
        row.bad.push_back({good, error, std::string(name) + ": " + message,
                           [f, o](const Tensors& x) { return f(x[0], x[1], x[2], o); }});
      };
      refuses(kShape, "bias is [2, 5]", {.bias = ones({2, 5})});
      refuses(kDType, "bias", {.bias = ones({5}, i64)});
      refuses(kValue, "window is -1", {.window = -1});
      refuses(kValue, "dropout is 2", {.dropout = 2});
      refuses(kValue, "scale is nan", {.scale = std::nan("")});
    }
    rows.push_back(std::move(row));
  }
}

}  // namespace

std::vector<OpCase> rows_sparse_attention() {
  std::vector<OpCase> rows;
  add_nystrom(rows);
  add_sparse(rows, "sparsemax_attention", 1, sparsemax_attention);
  add_sparse(rows, "entmax15_attention", 2, entmax15_attention);
  return rows;
}

}  // namespace fovea::cases
