// The layers of nn/ as functions of their inputs and their parameters.
#include <cmath>
#include <concepts>
#include <memory>

#include "fovea/nn/activation.h"
#include "fovea/nn/dropout.h"
#include "fovea/nn/embedding.h"
#include "fovea/nn/functional_call.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/nn/sequential.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

// A row of `layer`, whose first input is what it is called with and whose others are its
// parameters, in the order of visit().
template <class L>
OpCase layer_row(const char* name, L layer, InputSpec x) {
  OpCase row;
  row.name = name;
  row.inputs = {std::move(x)};
  auto shared = std::make_shared<L>(std::move(layer));
  if constexpr (std::derived_from<L, Module>) {
    std::vector<std::string> names;
    for (const auto& [parameter, tensor] : shared->named_parameters()) {
      names.push_back(parameter);
      row.inputs.push_back(floats(tensor.shape()));
    }
    row.f = [shared, names](const Tensors& in) {
      NamedTensors values;
      for (size_t i = 0; i < names.size(); ++i) values.emplace_back(names[i], in[i + 1]);
      return functional_call(*shared, values, [&] { return (*shared)(in[0]); });
    };
  } else {
    row.f = [shared](const Tensors& in) { return (*shared)(in[0]); };
  }
  return row;
}

NaiveTensor affine(const NaiveTensor& x, const NaiveTensor& weight, const NaiveTensor& bias) {
  return zip(matmul(x, permute(weight, {1, 0})), bias, [](double a, double b) { return a + b; });
}

template <class Activation>
void add_activation(std::vector<OpCase>& rows, const char* name, double (*naive)(double),
                    std::vector<double> kinks = {}) {
  OpCase row = layer_row(name, Activation{}, floats({2, 3}).away_from(std::move(kinks)));
  row.naive = [naive](const NaiveTensors& x) { return map(x[0], naive); };
  rows.push_back(std::move(row));
}

template <class Activation>
void add_lines(std::vector<OpCase>& rows, const char* name, bool log) {
  OpCase row = layer_row(name, Activation{}, floats({2, 3}));
  row.naive = [log](const NaiveTensors& x) {
    return along(x[0], -1, [log](const Values1d& v) {
      double sum = 0;
      for (double a : v) sum += std::exp(a);
      Values1d y;
      for (double a : v) y.push_back(log ? a - std::log(sum) : std::exp(a) / sum);
      return y;
    });
  };
  rows.push_back(std::move(row));
}

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }

}  // namespace

std::vector<OpCase> rows_layers() {
  std::vector<OpCase> rows;
  const auto add = [&](OpCase row) -> OpCase& { return rows.emplace_back(std::move(row)); };

  OpCase& linear = add(layer_row("Linear", Linear(4, 5), floats({2, 3, 4})));
  linear.naive = [](const NaiveTensors& x) { return affine(x[0], x[1], x[2]); };
  linear.zero = {{2, 0, 4}, {5, 4}, {5}};
  linear.bad = {{{floats({3}), floats({5, 4}), floats({5})}, ErrorKind::shape, "linear: "}};

  OpCase& table = add(layer_row("Embedding", Embedding({.count = 5, .dim = 3, .padding_idx = 2}),
                                integers({2, 4}, 0, 5)));
  table.inputs[0].holding({0, 1, 3, 4, 4, 1, 0, 3});  // the row of padding has no gradient
  table.naive = [](const NaiveTensors& x) {
    return build({2, 4, 3}, [&](const Shape& i) {
      return x[1].at({static_cast<int64_t>(x[0].at({i[0], i[1]})), i[2]});
    });
  };
  table.bad = {{{integers({2}, 5, 6), floats({5, 3})}, ErrorKind::index, "embedding: "}};

  OpCase& norm = add(layer_row("LayerNorm", LayerNorm(5), floats({2, 3, 5})));
  norm.naive = [](const NaiveTensors& x) {
    const NaiveTensor n = along(x[0], -1, [](const Values1d& v) {
      double mean = 0, var = 0;
      for (double a : v) mean += a / 5;
      for (double a : v) var += (a - mean) * (a - mean) / 5;
      Values1d y;
      for (double a : v) y.push_back((a - mean) / std::sqrt(var + 1e-5));
      return y;
    });
    const auto times = [](double a, double b) { return a * b; };
    return zip(zip(n, x[1], times), x[2], [](double a, double b) { return a + b; });
  };
  norm.zero = {{0, 3, 5}, {5}, {5}};

  OpCase& drop = add(layer_row("Dropout", Dropout(0.4), floats({4, 5}).range(1, 2)));
  drop.property = [](const NaiveTensors& x, const NaiveTensor& y) -> std::string {
    for (size_t i = 0; i < y.data.size(); ++i) {
      if (y.data[i] != 0 && std::fabs(y.data[i] - x[0].data[i] / 0.6) > 1e-6) return "not scaled";
    }
    return "";
  };

  OpCase& mlp =
      add(layer_row("Sequential", Sequential(Linear(4, 5), Tanh(), Linear(5, 2)), floats({3, 4})));
  mlp.naive = [](const NaiveTensors& x) {
    const NaiveTensor hidden = affine(x[0], x[1], x[2]);
    return affine(map(hidden, [](double a) { return std::tanh(a); }), x[3], x[4]);
  };
  mlp.zero = {{0, 4}, {5, 4}, {5}, {2, 5}, {2}};
  mlp.big = {{900, 4}, {5, 4}, {5}, {2, 5}, {2}};

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
  flat.naive = [](const NaiveTensors& x) { return reshape(x[0], {x[0].shape[0], 12}); };
  flat.zero = {{0, 3, 4}};
  return rows;
}

}  // namespace fovea::cases
