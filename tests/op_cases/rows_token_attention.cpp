// The layers that sum tokens up instead of comparing them in pairs.
#include <cmath>

#include "fovea/nn/attention/efficient_additive.h"
#include "fovea/nn/attention/fastformer.h"
#include "fovea/ops/ops.h"
#include "tests/op_cases/layer_row.h"
#include "tests/op_cases/naive_layers.h"

namespace fovea::cases {
namespace {

bool is_token(const NaiveTensors& x, bool masked, int64_t b, int64_t t) {
  return !masked || x[1].at({b, t}) != 0;
}

// x[at], x[at + 1] ... are the parameters, behind x and, when masked, the mask.
NaiveTensor efficient_additive(const NaiveTensors& x, int64_t width, bool masked) {
  const size_t at = masked ? 2 : 1;
  const NaiveTensor& score = x[at + 8];
  const auto unit = [](const Values1d& v) {
    double squares = 0;
    for (double a : v) squares += a * a;
    Values1d y;
    for (double a : v) y.push_back(squares > 0 ? a / std::sqrt(squares) : 0);
    return y;
  };
  const NaiveTensor q = along(affine(x[0], x[at], x[at + 1]), -1, unit);
  const NaiveTensor k = along(affine(x[0], x[at + 2], x[at + 3]), -1, unit);
  const int64_t tokens = q.shape[1], wide = q.shape[2];
  NaiveTensor z = q;
  for (int64_t b = 0; b < q.shape[0]; ++b) {
    Values1d a, g(static_cast<size_t>(wide), 0.0);
    for (int64_t t = 0; t < tokens; ++t) {
      double s = 0;
      for (int64_t c = 0; c < wide; ++c) s += q.at({b, t, c}) * score.at({c});
      a.push_back(is_token(x, masked, b, t) ? s / std::sqrt(static_cast<double>(width)) : 0);
    }
    a = unit(a);
    for (int64_t t = 0; t < tokens; ++t) {
      for (int64_t c = 0; c < wide; ++c) g[c] += a[t] * q.at({b, t, c});
    }
    for (int64_t t = 0; t < tokens; ++t) {
      for (int64_t c = 0; c < wide; ++c) z.at({b, t, c}) = g[c] * k.at({b, t, c});
    }
  }
  z = zip(affine(z, x[at + 4], x[at + 5]), q, [](double a, double b) { return a + b; });
  NaiveTensor y = affine(z, x[at + 6], x[at + 7]);
  each_index(y.shape, [&](const Shape& i) {
    if (!is_token(x, masked, i[0], i[1])) y.at(i) = 0;
  });
  return y;
}

NaiveTensor fast_additive(const NaiveTensors& x, int64_t heads, bool masked) {
  const size_t at = masked ? 2 : 1;
  const NaiveTensor q = affine(x[0], x[at], x[at + 1]), k = affine(x[0], x[at + 2], x[at + 3]);
  const NaiveTensor v = affine(x[0], x[at + 4], x[at + 5]);
  const int64_t tokens = q.shape[1], width = q.shape[2] / heads;
  NaiveTensor u = filled(q.shape, 0);
  for (int64_t b = 0; b < q.shape[0]; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      // The mean of rows of z, weighted by a softmax of their products with the score.
      const auto pooled = [&](const NaiveTensor& z, const NaiveTensor& score) {
        double sum = 0;
        Values1d mean(static_cast<size_t>(width), 0.0);
        for (int64_t t = 0; t < tokens; ++t) {
          if (!is_token(x, masked, b, t)) continue;
          double s = 0;
          for (int64_t c = 0; c < width; ++c) s += z.at({b, t, h * width + c}) * score.at({h, c});
          const double w = std::exp(s / std::sqrt(static_cast<double>(width)));
          sum += w;
          for (int64_t c = 0; c < width; ++c) mean[c] += w * z.at({b, t, h * width + c});
        }
        for (double& m : mean) m = sum > 0 ? m / sum : 0;
        return mean;
      };
      const Values1d query = pooled(q, x[at + 8]);
      NaiveTensor p = k;
      for (int64_t t = 0; t < tokens; ++t) {
        for (int64_t c = 0; c < width; ++c) p.at({b, t, h * width + c}) *= query[c];
      }
      const Values1d key = pooled(p, x[at + 9]);
      for (int64_t t = 0; t < tokens; ++t) {
        for (int64_t c = 0; c < width; ++c) {
          u.at({b, t, h * width + c}) = key[c] * v.at({b, t, h * width + c});
        }
      }
    }
  }
  NaiveTensor y = zip(affine(u, x[at + 6], x[at + 7]), q, [](double a, double b) { return a + b; });
  each_index(y.shape, [&](const Shape& i) {
    if (!is_token(x, masked, i[0], i[1])) y.at(i) = 0;
  });
  return y;
}

// Of the second sentence nothing is a token.
InputSpec second_is_padding() { return bools({2, 4}).holding({1, 1, 0, 1, 0, 0, 0, 0}); }

template <class L, class Options, class Naive>
void add_layer(std::vector<OpCase>& rows, const char* name, const char* label, const Options& o,
               bool masked, const Naive& naive) {
  std::vector<InputSpec> inputs{floats({2, 4, o.d_model})};
  if (masked) inputs.push_back(second_is_padding());
  OpCase row = module_row(name, std::make_shared<L>(o), inputs, [masked](L& l, const Tensors& x) {
    return masked ? l(x[0], x[1]) : l(x[0]);
  });
  row.label = label;
  for (InputSpec& s : row.inputs) {
    if (s.dtype == f64) s.range(-1, 1);
  }
  row.tolerance_f32 = 1e-5;
  row.naive = naive;
  if (!masked) {
    for (const InputSpec& s : row.inputs) row.zero.push_back(s.shape);
    row.big = row.one = row.zero;
    row.one[0] = {1, 1, o.d_model};
    row.zero[0] = {0, 4, o.d_model};
    row.big[0] = {3, 300, o.d_model};
    std::vector<InputSpec> wrong = row.inputs;
    wrong[0].shape = {4, o.d_model};
    row.bad = {{wrong, ErrorKind::shape, std::string(name) + ": x is [4, "}};
    const auto with_mask = [o](const Tensor& keep) {
      return [o, keep](const Tensors& x) { return L(o)(x[0], keep); };
    };
    row.bad.push_back({row.inputs, ErrorKind::shape, std::string(name) + ": keep_mask is [4, 2]",
                       with_mask(ones({4, 2}, boolean))});
    row.bad.push_back({row.inputs, ErrorKind::dtype, std::string(name) + ": keep_mask is f32",
                       with_mask(ones({2, 4}))});
    row.bad.push_back({row.inputs, ErrorKind::value, std::string(name) + ": d_model is 0",
                       [](const Tensors&) { return L(Options{})(Tensor()); }});
  }
  rows.push_back(std::move(row));
}

}  // namespace

std::vector<OpCase> rows_token_attention() {
  std::vector<OpCase> rows;
  for (const bool masked : {false, true}) {
    const char* label = masked ? "padded" : "";
    const EfficientAdditiveAttentionOptions e{.d_model = 4, .heads = masked ? 2 : 1};
    add_layer<EfficientAdditiveAttention>(
        rows, "EfficientAdditiveAttention", label, e, masked, [e, masked](const NaiveTensors& x) {
          return efficient_additive(x, e.d_model / e.heads, masked);
        });
    const FastAdditiveAttentionOptions f{.d_model = 4, .heads = 2};
    add_layer<FastAdditiveAttention>(
        rows, "FastAdditiveAttention", label, f, masked,
        [f, masked](const NaiveTensors& x) { return fast_additive(x, f.heads, masked); });
  }
  const EfficientAdditiveAttentionOptions odd{.d_model = 3, .width = 5};
  add_layer<EfficientAdditiveAttention>(
      rows, "EfficientAdditiveAttention", "width", odd, true,
      [odd](const NaiveTensors& x) { return efficient_additive(x, odd.width, true); });
  const FastAdditiveAttentionOptions wide{.d_model = 3, .width = 2, .heads = 3};
  add_layer<FastAdditiveAttention>(
      rows, "FastAdditiveAttention", "width", wide, true,
      [wide](const NaiveTensors& x) { return fast_additive(x, wide.heads, true); });
  return rows;
}

}  // namespace fovea::cases
