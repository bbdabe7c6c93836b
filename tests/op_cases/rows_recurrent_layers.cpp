// Recurrent layers and cells, as functions of inputs, initial states and parameters.
#include <memory>

#include "fovea/nn/recurrent/recurrent.h"
#include "tests/op_cases/layer_row.h"
#include "tests/op_cases/naive_attention.h"
#include "tests/op_cases/naive_recurrent.h"

namespace fovea::cases {
namespace {

// The slow, obvious meaning: each sequence alone, as long as it is, step after step.
struct RecurrentLoop {
  NaiveCell::Kind kind;
  int64_t hidden;
  int64_t layers = 1, directions = 1;
  bool bias = true;

  // Outputs and states one behind the other. x: the inputs of a row.
  NaiveTensor layer(const NaiveTensors& x, bool lengths) const {
    const bool cell = kind == NaiveCell::lstm;
    const size_t arguments = 2 + size_t{cell} + size_t{lengths};
    const int64_t batch = x[0].shape[0], time = x[0].shape[1], states = layers * directions;
    Parameters p{x, arguments};
    std::vector<NaiveCell> cells;
    for (int64_t s = 0; s < states; ++s) cells.push_back(take_cell(kind, p, bias));

    NaiveTensor y = filled({batch, time, directions * hidden}, 0);
    NaiveTensor h = filled({states, batch, hidden}, 0), c = h;
    for (int64_t b = 0; b < batch; ++b) {
      const auto n = lengths ? static_cast<int64_t>(x[arguments - 1].at({b})) : time;
      std::vector<Values1d> seen;
      for (int64_t t = 0; t < n; ++t) seen.push_back(line_at(x[0], b, t));
      for (int64_t s = 0; s < states; s += directions) {
        std::vector<Values1d> next(seen.size());
        for (int64_t d = 0; d < directions; ++d) {
          NaiveCell::State state{line_at(x[1], s + d, b), line_at(x[cell ? 2 : 1], s + d, b)};
          for (int64_t k = 0; k < n; ++k) {
            const auto t = static_cast<size_t>(d == 0 ? k : n - 1 - k);
            cells[static_cast<size_t>(s + d)].step(seen[t], state);
            next[t].insert(next[t].end(), state.h.begin(), state.h.end());
          }
          for (int64_t j = 0; j < hidden; ++j) {
            h.at({s + d, b, j}) = state.h[static_cast<size_t>(j)];
            c.at({s + d, b, j}) = state.c[static_cast<size_t>(j)];
          }
        }
        seen = next;
      }
      for (int64_t t = 0; t < n; ++t) {
        for (int64_t j = 0; j < directions * hidden; ++j) {
          y.at({b, t, j}) = seen[static_cast<size_t>(t)][static_cast<size_t>(j)];
        }
      }
    }
    NaiveTensor all = y;
    all.data.insert(all.data.end(), h.data.begin(), h.data.end());
    if (cell) all.data.insert(all.data.end(), c.data.begin(), c.data.end());
    all.shape = {static_cast<int64_t>(all.data.size())};
    return all;
  }

  // The states h and c side by side.
  NaiveTensor cell(const NaiveTensors& x) const {
    const size_t states = kind == NaiveCell::lstm ? 2 : 1;
    Parameters p{x, 1 + states};
    const NaiveCell cell = take_cell(kind, p, bias);
    const auto one = [](const NaiveTensor& t) { return reshape(t, {1, t.shape[0], t.shape[1]}); };
    const NaiveTensor steps = one(x[0]), h = one(x[1]), c = one(x[states]);
    NaiveTensor y = filled({x[0].shape[0], static_cast<int64_t>(states) * hidden}, 0);
    for (int64_t b = 0; b < y.shape[0]; ++b) {
      NaiveCell::State s{line_at(h, 0, b), line_at(c, 0, b)};
      cell.step(line_at(steps, 0, b), s);
      for (int64_t j = 0; j < y.shape[1]; ++j) {
        y.at({b, j}) = (j < hidden ? s.h : s.c)[static_cast<size_t>(j % hidden)];
      }
    }
    return y;
  }
};

// ------------------------------------------------------------------ layers

constexpr int64_t kIn = 3, kHidden = 2;

Tensor outputs_and_states(const RecurrentOutput& r) {
  Tensors parts{reshape(r.output, {-1}), reshape(r.state.h, {-1})};
  if (r.state.c.defined()) parts.push_back(reshape(r.state.c, {-1}));
  return cat(parts, 0);
}

// x, h and, of LSTM, c.
std::vector<Shape> layer_shapes(const Recurrent& l, int64_t b, int64_t t) {
  const Shape state{static_cast<int64_t>(l.weights.size()), b, kHidden};
  std::vector<Shape> shapes{{b, t, kIn}, state};
  if (l.has_cell()) shapes.push_back(state);
  return shapes;
}

template <class L>
OpCase recurrent_layer(const char* name, const char* label, RecurrentLoop loop, L layer,
                       bool lengths) {
  const auto shared = std::make_shared<L>(std::move(layer));
  std::vector<InputSpec> inputs;
  for (const Shape& s : layer_shapes(*shared, 3, 4)) inputs.push_back(floats(s));
  if (lengths) inputs.push_back(integers({3}, 0, 5).holding({3, 0, 2}));
  const size_t arguments = inputs.size();
  OpCase row = small(module_row(name, shared, inputs, [=](const L& l, const Tensors& in) {
    return outputs_and_states(
        l(in[0], {in[1], l.has_cell() ? in[2] : Tensor()}, lengths ? in[arguments - 1] : Tensor()));
  }));
  row.label = label;
  row.naive = [loop, lengths](const NaiveTensors& x) { return loop.layer(x, lengths); };
  if (lengths) return row;
  row.one = with_arguments(row, layer_shapes(*shared, 1, 1));
  row.zero = with_arguments(row, layer_shapes(*shared, 0, 4));
  row.big = with_arguments(row, layer_shapes(*shared, 800, 5));

  const auto refuses = [&](std::vector<InputSpec> given, ErrorKind kind, const std::string& says,
                           Function f) {
    row.bad.push_back({std::move(given), kind, std::string(name) + ": " + says, std::move(f)});
  };
  const Function of_x = [shared](const Tensors& in) { return (*shared)(in[0]).output; };
  const Function of_h = [shared](const Tensors& in) { return (*shared)(in[0], {in[1]}).output; };
  const Function of_lengths = [shared](const Tensors& in) {
    return (*shared)(in[0], {}, in[1]).output;
  };
  const InputSpec x = floats({3, 4, kIn});
  refuses({floats({3, 4, 2})}, kShape, "x is [3, 4, 2]; need (B, T, 3)", of_x);
  refuses({floats({4, 3})}, kShape, "x is [4, 3]; need (B, T, 3)", of_x);
  refuses({integers({3, 4, 3}, 0, 2)}, kDType, "x is i64, the weights are f32", of_x);
  refuses({x, floats({3, 2})}, kShape, "h is [3, 2], x is [3, 4, 3]; need h [1, 3, 2]", of_h);
  refuses({x, floats({1, 4, 2})}, kShape, "h is [1, 4, 2]", of_h);
  refuses({x, integers({1, 3, 2}, 0, 2)}, kDType, "h is i64, the weights are f32", of_h);
  refuses({x, integers({2}, 0, 5)}, kShape, "lengths are [2], x is [3, 4, 3]", of_lengths);
  refuses({x, floats({3})}, kDType, "lengths are f32; need i64", of_lengths);
  refuses({x, integers({3}, 0, 5).holding({1, 5, 2})}, kValue,
          "a length is 5; x [3, 4, 3] has 4 steps, need 0 to 4", of_lengths);
  refuses({x, integers({3}, 0, 5).holding({-1, 0, 2})}, kValue, "a length is -1", of_lengths);
  const Function of_c = [shared](const Tensors& in) {
    return (*shared)(in[0], {.c = in[1]}).output;
  };
  if (shared->has_cell()) {
    refuses({x, floats({1, 3, 3})}, kShape, "c is [1, 3, 3]", of_c);
  } else {
    refuses({x, floats({1, 3, 2})}, kValue, "a state c [1, 3, 2] was given", of_c);
  }
  return row;
}

// One layer; and two, both ways, of sequences that end.
template <class Make>
void add_layers(std::vector<OpCase>& rows, const char* name, const std::string& label,
                NaiveCell::Kind kind, Make make) {
  RecurrentLoop loop{.kind = kind, .hidden = kHidden};
  RecurrentLayerOptions o{.in = kIn, .hidden = kHidden};
  rows.push_back(recurrent_layer(name, label.c_str(), loop, make(o), false));
  loop.layers = o.layers = 2;
  loop.directions = 2;
  o.bidirectional = true;
  const std::string deep = label.empty() ? "lengths" : label + "_lengths";
  rows.push_back(recurrent_layer(name, deep.c_str(), loop, make(o), true));
  loop.bias = o.bias = false;
  loop.layers = o.layers = 1;
  const std::string no_bias = label.empty() ? "no_bias" : label + "_no_bias";
  rows.push_back(recurrent_layer(name, no_bias.c_str(), loop, make(o), true));
}

// ------------------------------------------------------------------ cells

template <class C>
OpCase recurrent_cell(const char* name, const char* label, NaiveCell::Kind kind, C cell) {
  constexpr bool has_cell = std::is_same_v<C, LSTMCell>;
  const int64_t in = cell.in(), hidden = cell.hidden();
  const auto shapes = [=](int64_t b) {
    std::vector<Shape> list{{b, in}, {b, hidden}};
    if (has_cell) list.push_back({b, hidden});
    return list;
  };
  std::vector<InputSpec> inputs;
  for (const Shape& s : shapes(4)) inputs.push_back(floats(s));
  const auto call = [](const C& l, const Tensors& x) {
    if constexpr (has_cell) {
      const RecurrentState s = l(x[0], {x[1], x[2]});
      return cat({s.h, s.c}, 1);
    } else {
      return l(x[0], x[1]);
    }
  };
  OpCase row = module_row(name, std::make_shared<C>(std::move(cell)), inputs, call);
  row.label = label;
  row.naive = [loop = RecurrentLoop{.kind = kind, .hidden = hidden}](const NaiveTensors& x) {
    return loop.cell(x);
  };
  row.one = with_arguments(row, shapes(1));
  if (in == 1) return row;
  row.zero = with_arguments(row, shapes(0));
  row.big = with_arguments(row, shapes(9000));
  const std::string c = has_cell ? ", c is [4, 2]" : "";
  const auto refuses = [&](size_t i, const InputSpec& given, ErrorKind error,
                           const std::string& says) {
    row.bad.push_back({row.inputs, error, std::string(name) + ": " + says});
    row.bad.back().inputs[i] = given;
  };
  refuses(0, floats({4, 2}), kShape, "x is [4, 2], h is [4, 2]" + c + "; need (B, 3) and (B, 2)");
  refuses(0, floats({3}), kShape, "x is [3], h is [4, 2]");
  refuses(1, floats({3, 2}), kShape, "x is [4, 3], h is [3, 2]");
  refuses(1, floats({4, 3}), kShape, "x is [4, 3], h is [4, 3]");
  refuses(1, integers({4, 2}, 0, 2), kDType, "h is i64, the weights are f32");
  if (has_cell) refuses(2, floats({4, 1}), kShape, "x is [4, 3], h is [4, 2], c is [4, 1]");
  return row;
}

template <class C>
void add_cells(std::vector<OpCase>& rows, const char* name, NaiveCell::Kind kind) {
  rows.push_back(recurrent_cell(name, "", kind, C(kIn, kHidden)));
  rows.push_back(recurrent_cell(name, "single", kind, C(1, 1)));
}

}  // namespace

std::vector<OpCase> rows_recurrent_layers() {
  std::vector<OpCase> rows;
  using O = RecurrentLayerOptions;
  using Loop = NaiveCell;
  const auto relu = Nonlinearity::relu;
  add_layers(rows, "RNN", "", Loop::tanh, [](const O& o) { return RNN(o); });
  add_layers(rows, "RNN", "relu", Loop::relu, [](const O& o) { return RNN(o, relu); });
  add_layers(rows, "LSTM", "", Loop::lstm, [](const O& o) { return LSTM(o); });
  add_layers(rows, "GRU", "", Loop::gru, [](const O& o) { return GRU(o); });
  add_cells<RNNCell>(rows, "RNNCell", Loop::tanh);
  rows.push_back(
      recurrent_cell("RNNCell", "relu", Loop::relu, RNNCell({.in = kIn, .hidden = kHidden}, relu)));
  add_cells<LSTMCell>(rows, "LSTMCell", Loop::lstm);
  add_cells<GRUCell>(rows, "GRUCell", Loop::gru);
  return rows;
}

}  // namespace fovea::cases
