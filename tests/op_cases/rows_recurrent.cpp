// rnn, rnn_relu, lstm and gru.
#include <string>
#include <vector>

#include "fovea/ops/ops.h"
#include "tests/op_cases/naive_attention.h"
#include "tests/op_cases/naive_recurrent.h"
#include "tests/op_cases/op_case.h"

namespace fovea::cases {
namespace {

// Inputs of a row: x, h0, c0 in lstm, weight_ih, weight_hh, the biases there are, lengths if any.
struct Kind {
  const char* name;
  int64_t gates;
  bool cell = false, bias_ih = true, bias_hh = true, lengths = false, reverse = false;
  size_t weights() const { return cell ? 3 : 2; }
  size_t biases() const { return weights() + 2; }
  size_t end() const { return biases() + (bias_ih ? 1 : 0) + (bias_hh ? 1 : 0); }
};

NaiveCell cell_of(const Kind& kind, const NaiveTensors& in) {
  const size_t w = kind.weights();
  size_t next = kind.biases();
  const auto bias = [&](bool there) { return there ? in[next++] : filled({in[w].shape[0]}, 0); };
  const NaiveTensor ih = bias(kind.bias_ih), hh = bias(kind.bias_hh);
  return {naive_kind(kind.name), in[w], in[w + 1], ih, hh};
}

NaiveTensor naive(const Kind& kind, const NaiveTensors& in) {
  const int64_t batch = in[0].shape[0], time = in[0].shape[1], n = in[1].shape[1];
  NaiveTensor h = filled({batch, time, n}, 0), c = h;
  const NaiveCell cell = cell_of(kind, in);
  for (int64_t b = 0; b < batch; ++b) {
    NaiveCell::State state;
    for (int64_t j = 0; j < n; ++j) {
      state.h.push_back(in[1].at({b, j}));
      if (kind.cell) state.c.push_back(in[2].at({b, j}));
    }
    const int64_t length = kind.lengths ? static_cast<int64_t>(in[kind.end()].at({b})) : time;
    for (int64_t i = 0; i < time; ++i) {
      const int64_t t = kind.reverse ? time - 1 - i : i;
      if (t < length) cell.step(line_at(in[0], b, t), state);
      for (int64_t j = 0; j < n; ++j) {
        h.at({b, t, j}) = state.h[static_cast<size_t>(j)];
        if (kind.cell) c.at({b, t, j}) = state.c[static_cast<size_t>(j)];
      }
    }
  }
  if (!kind.cell) return h;
  h.shape = {2, batch, time, n};
  h.data.insert(h.data.end(), c.data.begin(), c.data.end());
  return h;
}

Tensor call(const Kind& kind, const Tensors& in) {
  const size_t w = kind.weights();
  RecurrentWeights weights{.weight_ih = in[w], .weight_hh = in[w + 1]};
  size_t next = kind.biases();
  if (kind.bias_ih) weights.bias_ih = in[next++];
  if (kind.bias_hh) weights.bias_hh = in[next];
  RecurrentOptions o{.reverse = kind.reverse};
  if (kind.lengths) o.lengths = in[kind.end()];
  const std::string name = kind.name;
  if (name == "rnn") return rnn(in[0], in[1], weights, o);
  if (name == "rnn_relu") return rnn_relu(in[0], in[1], weights, o);
  if (name == "lstm") return lstm(in[0], in[1], in[2], weights, o);
  return gru(in[0], in[1], weights, o);
}

std::vector<Shape> shapes(const Kind& kind, int64_t batch, int64_t time, int64_t input,
                          int64_t hidden) {
  const int64_t rows = kind.gates * hidden;
  std::vector<Shape> all{{batch, time, input}, {batch, hidden}};
  if (kind.cell) all.push_back({batch, hidden});
  all.insert(all.end(), {Shape{rows, input}, Shape{rows, hidden}});
  all.insert(all.end(), kind.end() - kind.biases(), Shape{rows});
  if (kind.lengths) all.push_back({batch});
  return all;
}

std::vector<InputSpec> specs(const Kind& kind, const std::vector<Shape>& shapes) {
  std::vector<InputSpec> all;
  for (const Shape& s : shapes) all.push_back(floats(s).range(-1, 1));
  // Larger ones make a long walk chaotic: a rounding at its start would grow with every step.
  for (size_t w = kind.weights(); w < kind.weights() + 2; ++w) all[w].range(-0.5, 0.5);
  if (kind.lengths) all.back() = integers(shapes.back(), 0, 5).holding({3, 0, 2});
  return all;
}

OpCase recurrent_row(const char* label, const Kind& kind) {
  OpCase row;
  row.name = kind.name;
  row.label = label;
  row.inputs = specs(kind, shapes(kind, 3, 4, 2, 3));
  row.f = [kind](const Tensors& in) { return call(kind, in); };
  row.naive = [kind](const NaiveTensors& in) { return naive(kind, in); };
  row.tolerance_f32 = 1e-5;
  // More slices of the batch than one, the last one shorter, and rows that fill no vector.
  row.big = shapes(kind, 37, 9, 11, 33);
  return row;
}

std::vector<BadCase> refusals(const Kind& kind) {
  const auto with = [&kind](size_t i, const InputSpec& s) {
    std::vector<InputSpec> in = specs(kind, shapes(kind, 3, 4, 2, 3));
    in[i] = s;
    return in;
  };
  const size_t w = kind.weights();
  const int64_t rows = kind.gates * 3;
  Kind padded = kind;
  padded.lengths = true;
  const auto lengths = [&](const InputSpec& s) {
    std::vector<InputSpec> in = specs(padded, shapes(padded, 3, 4, 2, 3));
    in.back() = s;
    return in;
  };
  const Function f = [padded](const Tensors& in) { return call(padded, in); };
  std::vector<BadCase> bad{
      {with(0, floats({4, 2})), kShape, "x is [4, 2], h0 is [3, 3]"},
      {with(0, floats({3, 4, 1})), kShape, "need x (B, T, I), h0"},
      {with(0, integers({3, 4, 2}, 0, 2)), kDType, "x is i64 [3, 4, 2]"},
      {with(1, floats({2, 3})), kShape, "h0 is [2, 3]"},
      {with(1, floats({3})), kShape, "h0 is [3]"},
      {with(1, bools({3, 3})), kDType, "h0 is bool [3, 3]"},
      {with(w, floats({rows + 1, 2})), kShape, "weight_ih is"},
      {with(w + 1, floats({rows, 2})), kShape, "weight_hh is"},
      {with(w + 2, floats({rows + 1})), kShape, "bias_ih is"},
      {with(w + 3, floats({1, rows})), kShape, "bias_hh is"},
      {lengths(integers({2}, 0, 2)), kShape, "lengths is [2], x is", f},
      {lengths(floats({3})), kDType, "lengths is f32 [3]", f},
      {lengths(integers({3}, 0, 2).holding({1, 5, 0})), kValue, "lengths[1] is 5", f},
      {lengths(integers({3}, 0, 2).holding({1, 4, -1})), kValue, "lengths[2] is -1", f}};
  if (kind.cell) bad.push_back({with(2, floats({3, 2})), kShape, "c0 is [3, 2]"});
  return bad;
}

void add(std::vector<OpCase>& rows, const Kind& plain) {
  OpCase row = recurrent_row("", plain);
  row.one = shapes(plain, 1, 1, 1, 1);
  row.zero = shapes(plain, 0, 4, 2, 3);
  row.bad = refusals(plain);
  rows.push_back(row);

  Kind kind = plain;
  kind.reverse = true;
  row = recurrent_row("reverse", kind);
  row.zero = shapes(kind, 3, 0, 2, 3);
  rows.push_back(row);
  kind.lengths = true;
  rows.push_back(recurrent_row("reverse_lengths", kind));
  kind.reverse = false;
  rows.push_back(recurrent_row("lengths", kind));

  kind = plain;
  kind.bias_ih = kind.bias_hh = false;
  row = recurrent_row("no_bias", kind);
  row.one = shapes(kind, 1, 3, 1, 1);
  row.zero = shapes(kind, 3, 4, 2, 0);
  rows.push_back(row);

  kind.bias_ih = true;
  rows.push_back(recurrent_row("bias_ih", kind));
  kind.bias_ih = false;
  kind.bias_hh = true;
  rows.push_back(recurrent_row("bias_hh", kind));

  row = recurrent_row("step", plain);  // of a decoder
  const std::vector<Shape> one = shapes(plain, 3, 1, 2, 3);
  row.inputs = specs(plain, one);
  row.zero = shapes(plain, 9, 1, 0, 3);
  row.big = shapes(plain, 40, 1, 60, 70);
  rows.push_back(row);
}

}  // namespace

std::vector<OpCase> rows_recurrent() {
  std::vector<OpCase> rows;
  for (const Kind& kind :
       {Kind{.name = "rnn", .gates = 1}, Kind{.name = "rnn_relu", .gates = 1},
        Kind{.name = "lstm", .gates = 4, .cell = true}, Kind{.name = "gru", .gates = 3}}) {
    add(rows, kind);
  }
  return rows;
}

}  // namespace fovea::cases
