// The layers of nn/ as functions of their inputs and their parameters.
#include <algorithm>
#include <cmath>
#include <concepts>
#include <memory>

#include "fovea/nn/activation.h"
#include "fovea/nn/attention/multi_head.h"
#include "fovea/nn/dropout.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/functional_call.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/sequential.h"
#include "tests/op_cases/layer_row.h"
#include "tests/op_cases/naive_layers.h"

namespace fovea::cases {
namespace {

template <class L, class Call>
OpCase layer_row(const char* name, L layer, std::vector<InputSpec> inputs, Call call) {
  auto shared = std::make_shared<L>(std::move(layer));
  if constexpr (std::derived_from<L, Module>) {
    return module_row(name, std::move(shared), std::move(inputs), call);
  } else {
    OpCase row;
    row.name = name;
    row.inputs = std::move(inputs);
    row.f = [shared, call](const Tensors& in) { return call(*shared, in); };
    return row;
  }
}

template <class L>
OpCase layer_row(const char* name, L layer, InputSpec x) {
  return layer_row(name, std::move(layer), {std::move(x)},
                   [](L& l, const Tensors& in) { return l(in[0]); });
}

template <class Activation>
void add_activation(std::vector<OpCase>& rows, const char* name, double (*naive)(double),
                    std::vector<double> kinks = {}) {
  OpCase row = layer_row(name, Activation{}, floats({2, 3}).away_from(std::move(kinks)));
  row.naive = [naive](const NaiveTensors& x) { return map(x[0], naive); };
  row.one = {{1, 1}};
  row.zero = {{0, 3}};
  row.big = {{300, 257}};
  rows.push_back(std::move(row));
}

template <class Activation>
void add_lines(std::vector<OpCase>& rows, const char* name, bool log) {
  OpCase row = layer_row(name, Activation{}, floats({2, 3}));
  row.naive = [log](const NaiveTensors& x) {
    return along(x[0], -1, [log](const Values1d& v) {
      const double top = v.empty() ? 0 : *std::max_element(v.begin(), v.end());
      double sum = 0;
      for (double a : v) sum += std::exp(a - top);
      Values1d y;
      for (double a : v) y.push_back(log ? a - top - std::log(sum) : std::exp(a - top) / sum);
      return y;
    });
  };
  row.one = {{1, 1}};
  row.zero = {{0, 3}};
  row.big = {{600, 130}};
  rows.push_back(std::move(row));
}

void add_multi_head_attention(std::vector<OpCase>& rows) {
  const auto row = [&](const char* label, const MultiHeadAttentionOptions& o) {
    OpCase r =
        layer_row("MultiHeadAttention", MultiHeadAttention(o),
                  {floats({2, 3, o.d_model}), floats({2, 5, o.kdim ? o.kdim : o.d_model}),
                   floats({2, 5, o.vdim ? o.vdim : o.d_model})},
                  [](MultiHeadAttention& l, const Tensors& in) { return l(in[0], in[1], in[2]); });
    r.label = label;
    // Scores of a usual size: those in the tens would turn the rounding of scores into weights.
    for (InputSpec& s : r.inputs) s.range(-1, 1);
    r.tolerance_f32 = 1e-5;
    r.naive = [o](const NaiveTensors& x) {
      Parameters p{x, 3};
      NaiveHeads heads{.heads = o.heads, .kv_heads = o.kv_heads ? o.kv_heads : o.heads};
      if (o.rotary) heads.rotary = o.rotary->pairing;
      return multi_head(x[0], x[1], x[2], p, heads);
    };
    const auto sizes = [&](int64_t b, int64_t tq, int64_t tk) {
      std::vector<Shape> shapes{{b, tq}, {b, tk}, {b, tk}};
      for (size_t i = 0; i < 3; ++i) shapes[i].push_back(r.inputs[i].shape.back());
      return with_arguments(r, std::move(shapes));
    };
    r.one = sizes(1, 1, 1);
    r.zero = sizes(0, 3, 5);
    if (r.label.empty()) r.big = sizes(6, 70, 90);
    rows.push_back(std::move(r));
  };
  row("", {.d_model = 4, .heads = 2});
  row("widths", {.d_model = 4, .heads = 2, .kdim = 3, .vdim = 2});
  row("grouped", {.d_model = 8, .heads = 4, .kv_heads = 2});
  row("multi_query", {.d_model = 4, .heads = 2, .kv_heads = 1});
  row("single", {.d_model = 1, .heads = 1});
  // Of self-attention: as many queries as keys stand where the keys do.
  OpCase turned = layer_row(
      "MultiHeadAttention",
      MultiHeadAttention({.d_model = 8,
                          .heads = 2,
                          .rotary = RotaryPositionsOptions{.pairing = RopePairing::half}}),
      {floats({2, 4, 8})}, [](MultiHeadAttention& l, const Tensors& in) { return l(in[0]); });
  turned = small(std::move(turned));
  turned.label = "rotary";
  turned.naive = [](const NaiveTensors& x) {
    Parameters p{x, 1};
    return multi_head(x[0], x[0], x[0], p,
                      {.heads = 2, .kv_heads = 2, .rotary = RopePairing::half});
  };
  rows.push_back(std::move(turned));
}

}  // namespace

std::vector<OpCase> rows_layers() {
  std::vector<OpCase> rows;
  const auto add = [&](OpCase row) -> OpCase& { return rows.emplace_back(std::move(row)); };

  OpCase& linear = add(layer_row("Linear", Linear(4, 5), floats({2, 3, 4})));
  linear.naive = [](const NaiveTensors& x) { return affine(x[0], x[1], x[2]); };
  linear.one = with_arguments(linear, {{1, 1, 4}});
  linear.zero = with_arguments(linear, {{2, 0, 4}});
  linear.big = with_arguments(linear, {{500, 101, 4}});
  linear.bad = {{{floats({3}), floats({5, 4}), floats({5})}, ErrorKind::shape, "linear: "}};

  OpCase& table = add(layer_row("Embedding", Embedding({.count = 5, .dim = 3, .padding_idx = 2}),
                                integers({2, 4}, 3, 5)));
  table.inputs[0].holding({0, 1, 3, 4, 4, 1, 0, 3});  // the row of padding has no gradient
  table.naive = [](const NaiveTensors& x) {
    return build({x[0].shape[0], x[0].shape[1], 3}, [&](const Shape& i) {
      return x[1].at({static_cast<int64_t>(x[0].at({i[0], i[1]})), i[2]});
    });
  };
  table.one = with_arguments(table, {{1, 1}});
  table.zero = with_arguments(table, {{0, 4}});
  table.big = with_arguments(table, {{40, 700}});
  table.bad = {{{integers({2}, 5, 6), floats({5, 3})}, ErrorKind::index, "embedding: "}};

  OpCase& norm = add(layer_row("LayerNorm", LayerNorm(5), floats({2, 3, 5})));
  norm.naive = [](const NaiveTensors& x) { return layer_norm(x[0], x[1], x[2]); };
  norm.one = with_arguments(norm, {{1, 1, 5}});
  norm.zero = with_arguments(norm, {{0, 3, 5}});
  norm.big = with_arguments(norm, {{40, 90, 5}});

  add_multi_head_attention(rows);

  OpCase& drop = add(layer_row("Dropout", Dropout(0.4), floats({4, 5}).range(1, 2)));
  drop.property = [](const NaiveTensors& x, const NaiveTensor& y) -> std::string {
    for (size_t i = 0; i < y.data.size(); ++i) {
      if (y.data[i] != 0 && std::fabs(y.data[i] - x[0].data[i] / 0.6) > 1e-6) return "not scaled";
    }
    return "";
  };
  drop.one = {{1, 1}};
  drop.zero = {{0, 5}};
  drop.big = {{300, 257}};

  OpCase& mlp =
      add(layer_row("Sequential", Sequential(Linear(4, 5), Tanh(), Linear(5, 2)), floats({3, 4})));
  mlp.naive = [](const NaiveTensors& x) {
    const NaiveTensor hidden = affine(x[0], x[1], x[2]);
    return affine(map(hidden, [](double a) { return std::tanh(a); }), x[3], x[4]);
  };
  mlp.one = with_arguments(mlp, {{1, 4}});
  mlp.zero = with_arguments(mlp, {{0, 4}});
  mlp.big = with_arguments(mlp, {{9000, 4}});

  add_activation<ReLU>(rows, "ReLU", [](double x) { return std::fmax(x, 0); }, {0});
  add_activation<Tanh>(rows, "Tanh", [](double x) { return std::tanh(x); });
  add_activation<Sigmoid>(rows, "Sigmoid", sigmoid_of);
  add_activation<GELU>(rows, "GELU",
                       [](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); });
  add_activation<SiLU>(rows, "SiLU", [](double x) { return x * sigmoid_of(x); });
  add_activation<Softplus>(rows, "Softplus", [](double x) { return std::log1p(std::exp(x)); });
  add_lines<Softmax>(rows, "Softmax", false);
  add_lines<LogSoftmax>(rows, "LogSoftmax", true);

  OpCase& flat = add(layer_row("Flatten", Flatten{}, floats({2, 3, 4})));
  flat.naive = [](const NaiveTensors& x) {
    return reshape(x[0], {x[0].shape[0], x[0].shape[1] * x[0].shape[2]});
  };
  flat.one = {{1, 1, 1}};
  flat.zero = {{0, 3, 4}};
  flat.big = {{300, 31, 9}};
  return rows;
}

}  // namespace fovea::cases
