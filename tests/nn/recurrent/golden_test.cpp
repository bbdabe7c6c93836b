// PyTorch's recurrent layers and cells: the same outputs, states and gradients.
#include "fovea/nn/recurrent/recurrent.h"
#include "nn/interchange_golden.h"

namespace fovea {
namespace {

using testing::expect_agreement;
using testing::stored;

template <class Input>
RecurrentState initial(Input in) {
  return {in("h0"), in("c0")};
}

NamedTensors named(const RecurrentState& s) {
  NamedTensors list{{"h", s.h}};
  if (s.c.defined()) list.emplace_back("c", s.c);
  return list;
}

// make(options) gives a layer; the cases of a kind are those of make_recurrent.py.
template <class Make>
void expect_layers(const std::string& kind, Make make) {
  const auto run = [](const auto& m, auto in) {
    const RecurrentOutput r = m(in("x"), initial(in), in("lengths"));
    NamedTensors list = named(r.state);
    list.emplace_back("y", r.output);
    return list;
  };
  const auto with = [make](RecurrentLayerOptions o) {
    return [make, o](DType t) {
      RecurrentLayerOptions all = o;
      all.in = 3;
      all.hidden = 2;
      all.dtype = t;
      return make(all);
    };
  };
  expect_agreement(kind, with({.batch_first = false}), run);
  expect_agreement(kind + "_state", with({}), run);
  expect_agreement(kind + "_no_bias", with({.bias = false}), run);
  const auto deep = with({.layers = 2, .bidirectional = true, .dropout = 0.5});  // of no effect
  expect_agreement(kind + "_deep", deep, run);
  expect_agreement(kind + "_lengths", deep, run);
}

template <class Make, class Call>
void expect_cells(const std::string& kind, Make make, Call call) {
  const auto with = [make](bool bias) {
    return [make, bias](DType t) {
      return make(RecurrentCellOptions{.in = 3, .hidden = 2, .bias = bias, .dtype = t});
    };
  };
  expect_agreement(kind + "_cell", with(true), call);
  expect_agreement(kind + "_cell_zeros", with(false), call);
}

const auto of_h = [](const auto& m, auto in) { return named({.h = m(in("x"), in("h0"))}); };

TEST(RecurrentGolden, RNN) {
  expect_layers("rnn", [](const RecurrentLayerOptions& o) { return RNN(o); });
  expect_cells(
      "rnn", [](const RecurrentCellOptions& o) { return RNNCell(o); }, of_h);
}

TEST(RecurrentGolden, RNNWithRelu) {
  const auto relu = Nonlinearity::relu;
  expect_layers("rnn_relu", [](const RecurrentLayerOptions& o) { return RNN(o, relu); });
  expect_cells(
      "rnn_relu", [](const RecurrentCellOptions& o) { return RNNCell(o, relu); }, of_h);
}

TEST(RecurrentGolden, LSTM) {
  expect_layers("lstm", [](const RecurrentLayerOptions& o) { return LSTM(o); });
  expect_cells(
      "lstm", [](const RecurrentCellOptions& o) { return LSTMCell(o); },
      [](const auto& m, auto in) { return named(m(in("x"), initial(in))); });
}

TEST(RecurrentGolden, GRU) {
  expect_layers("gru", [](const RecurrentLayerOptions& o) { return GRU(o); });
  expect_cells(
      "gru", [](const RecurrentCellOptions& o) { return GRUCell(o); }, of_h);
}

// The names agree, so that the strict load of any layer takes PyTorch's state.
TEST(RecurrentGolden, StateLoadsByName) {
  LSTM m({.in = 3, .hidden = 2, .layers = 2, .bidirectional = true});
  m.load_state(stored("lstm_deep", "state", f32));
  EXPECT_TRUE(testing::identical(m.state(), stored("lstm_deep", "state", f32)));
}

}  // namespace
}  // namespace fovea
