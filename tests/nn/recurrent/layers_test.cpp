// What recurrent layers promise beyond their numbers: the rows of the case table hold those.
#include "fovea/nn/serialize.h"
#include "tests/cases/near.h"
#include "tests/io/temp_dir.h"
#include "tests/nn/measures.h"
#include "tests/nn/recurrent/runs.h"

namespace fovea {
namespace {

using ::testing::AllOf;
using testing::everything;
using testing::expect_close;
using testing::expect_same_bits;
using ::testing::HasSubstr;
using testing::kKinds;
using testing::made;
using testing::message_of;
using testing::TempDir;
using testing::Upstream;

std::vector<std::string> names(const Module& m) {
  std::vector<std::string> list;
  for (const auto& [name, t] : m.named_parameters()) list.push_back(name);
  return list;
}

TEST(Recurrent, NamesParametersAsPyTorch) {
  const GRU m({.in = 3, .hidden = 4, .layers = 2, .bidirectional = true});
  const std::vector<std::string> want{
      "weight_ih_l0",         "weight_hh_l0",         "bias_ih_l0",         "bias_hh_l0",
      "weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse", "bias_hh_l0_reverse",
      "weight_ih_l1",         "weight_hh_l1",         "bias_ih_l1",         "bias_hh_l1",
      "weight_ih_l1_reverse", "weight_hh_l1_reverse", "bias_ih_l1_reverse", "bias_hh_l1_reverse"};
  EXPECT_EQ(names(m), want);
  EXPECT_EQ(m.weights[3].weight_ih.shape(), (Shape{12, 8}));
  const LSTM plain({.in = 3, .hidden = 4, .bias = false});
  EXPECT_EQ(names(plain), (std::vector<std::string>{"weight_ih_l0", "weight_hh_l0"}));
  EXPECT_EQ(plain.weights[0].weight_hh.shape(), (Shape{16, 4}));
  EXPECT_EQ(names(RNNCell(3, 4)),
            (std::vector<std::string>{"weight_ih", "weight_hh", "bias_ih", "bias_hh"}));
}

TEST(Recurrent, StartsWithinOneOverTheRootOfTheWidth) {
  manual_seed(1);
  const auto expect_uniform = [](const Tensor& t) {
    EXPECT_TRUE(t.requires_grad());
    EXPECT_LE(max(abs(t)).item(), 0.125);
    EXPECT_NEAR(testing::deviation(t), 0.125 / std::sqrt(3), 4e-3);
  };
  for (const Tensor& t : LSTM({.in = 50, .hidden = 64, .layers = 2}).parameters()) {
    expect_uniform(t);
  }
  for (const Tensor& t : LSTMCell(50, 64).parameters()) expect_uniform(t);
}

TEST(Recurrent, IsMadeByName) {
  const RecurrentLayerOptions o{.in = 3, .hidden = 4};
  EXPECT_TRUE(dynamic_cast<const RNN*>(make_recurrent("rnn", o).get()));
  EXPECT_TRUE(make_recurrent("lstm", o)->has_cell());
  EXPECT_TRUE(dynamic_cast<const GRU*>(make_recurrent("gru", o).get()));
  EXPECT_THAT(message_of<ValueError>([&] { make_recurrent("LSTM", o); }),
              HasSubstr("make_recurrent: kind is \"LSTM\"; it is rnn, lstm or gru"));
}

TEST(Recurrent, RefusesOptionsWithoutAMeaning) {
  const auto says = [](const RecurrentLayerOptions& o) {
    return message_of<ValueError>([&] { LSTM{o}; });
  };
  EXPECT_THAT(says({.hidden = 2}), HasSubstr("LSTM: in is 0, hidden is 2"));
  EXPECT_THAT(says({.in = 2, .hidden = -1}), HasSubstr("LSTM: in is 2, hidden is -1"));
  EXPECT_THAT(says({.in = 2, .hidden = 2, .layers = 0}), HasSubstr("LSTM: layers = 0"));
  EXPECT_THAT(says({.in = 2, .hidden = 2, .dropout = 1.5}), HasSubstr("LSTM: dropout is 1.5"));
  EXPECT_THROW(GRU({.in = 2, .hidden = 2, .dropout = -0.1}), ValueError);
  EXPECT_THROW(RNN({.in = 2, .hidden = 2, .dropout = std::nan("")}), ValueError);
  EXPECT_THAT(message_of<ValueError>([] { GRUCell(2, 0); }),
              HasSubstr("GRUCell: in is 2, hidden is 0; widths are at least 1"));
}

TEST(Recurrent, SaysWhichAxisIsWhichWhenTimeComesFirst) {
  const GRU m({.in = 3, .hidden = 4, .batch_first = false});
  EXPECT_THAT(message_of<ShapeError>([&] {
                m(zeros({5, 2, 4}));
              }),
              HasSubstr("GRU: x is [5, 2, 4]; need (T, B, 3)"));
  EXPECT_THROW(m(zeros({5, 2, 3}), {zeros({1, 5, 4})}), ShapeError);
  EXPECT_THROW(m(zeros({5, 2, 3}), {}, tensor({6, 1}, i64)), ValueError);
}

TEST(Recurrent, TimeFirstIsTheTransposed) {
  for (const char* kind : kKinds) {
    RecurrentLayerOptions o{.in = 3, .hidden = 4, .layers = 2, .bidirectional = true};
    const auto a = made(kind, o);
    o.batch_first = false;
    const auto b = made(kind, o);
    const Tensor x = randn({3, 5, 3}), lengths = tensor({5, 2, 4}, i64);
    const RecurrentOutput want = (*a)(x, {}, lengths), got = (*b)(transpose(x, 0, 1), {}, lengths);
    EXPECT_TRUE(equal(got.output, transpose(want.output, 0, 1))) << kind;
    EXPECT_TRUE(equal(got.state.h, want.state.h)) << kind;
  }
}

TEST(Recurrent, NoStepsLeaveTheState) {
  for (const char* kind : kKinds) {
    const auto m = made(kind, {.in = 3, .hidden = 4, .layers = 2, .bidirectional = true});
    const Tensor h = randn({4, 2, 4}).requires_grad_();
    const auto expect_unread = [&](const RecurrentOutput& r, int64_t time) {
      EXPECT_EQ(r.output.shape(), (Shape{2, time, 8})) << kind;
      EXPECT_TRUE(equal(r.output, zeros({2, time, 8}))) << kind;
      EXPECT_TRUE(equal(r.state.h, h)) << kind;
      EXPECT_EQ(r.state.c.defined(), m->has_cell());
      EXPECT_TRUE(!m->has_cell() || equal(r.state.c, zeros({4, 2, 4}))) << kind;
      h.set_grad({});
      sum(square(r.state.h)).backward();
      EXPECT_TRUE(equal(h.grad(), 2 * h.detach())) << kind;
    };
    expect_unread((*m)(zeros({2, 0, 3}), {h}), 0);
    expect_unread((*m)(zeros({2, 0, 3}), {h}, zeros({2}, i64)), 0);
    expect_unread((*m)(full({2, 3, 3}, std::nan("")), {h}, zeros({2}, i64)), 3);
    // A graph is there all the same, and says that no weight mattered.
    for (const int64_t t : {0, 3}) {
      m->zero_grad();
      sum((*m)(zeros({2, t, 3}), {}, zeros({2}, i64)).output).backward();
      for (const Tensor& p : m->parameters()) EXPECT_EQ(max(abs(p.grad())).item(), 0) << kind;
    }
    EXPECT_EQ((*m)(zeros({0, 3, 3})).output.shape(), (Shape{0, 3, 8}));
    EXPECT_EQ((*m)(zeros({0, 3, 3}), {}, zeros({0}, i64)).output.shape(), (Shape{0, 3, 8}));
  }
}

TEST(Recurrent, ASecondCallContinuesTheFirst) {
  for (const char* kind : kKinds) {
    const auto m = made(kind, {.in = 3, .hidden = 4, .layers = 2, .dtype = f64});
    const Tensor x = randn({3, 7, 3}, f64);
    const Upstream up{randn({3, 7, 4}, f64), randn({2, 3, 4}, f64), randn({2, 3, 4}, f64)};
    const auto gradients_of = [&](const RecurrentOutput& r) {
      m->zero_grad();
      loss(r, up).backward();
      Tensors g;
      for (const Tensor& p : m->parameters()) g.push_back(clone(p.grad()));
      return g;
    };
    const auto expect_whole = [&](const Tensor& all, const Tensor& first, const Tensor& second) {
      const RecurrentOutput whole = (*m)(x, {}, all);
      const RecurrentOutput a = (*m)(narrow(x, 1, 0, 3), {}, first);
      const RecurrentOutput b = (*m)(narrow(x, 1, 3, 4), a.state, second);
      const RecurrentOutput both{cat({a.output, b.output}, 1), b.state};
      expect_close(both.output, whole.output, 1e-12, kind);
      expect_close(both.state.h, whole.state.h, 1e-12, kind);
      if (m->has_cell()) expect_close(both.state.c, whole.state.c, 1e-12, kind);
      const Tensors want = gradients_of(whole), got = gradients_of(both);
      for (size_t i = 0; i < want.size(); ++i) expect_close(got[i], want[i], 1e-12, kind);
    };
    expect_whole({}, {}, {});
    expect_whole(tensor({7, 2, 4}, i64), tensor({3, 2, 3}, i64), tensor({4, 0, 1}, i64));
  }
}

// With dropout 1 a later layer reads zeros, and what it makes of them is shown whole.
TEST(Recurrent, DropsBetweenLayersWhileTraining) {
  for (const char* kind : kKinds) {
    RecurrentLayerOptions o{.in = 4, .hidden = 4, .layers = 2, .dropout = 1};
    const auto m = made(kind, o);
    o.dropout = 0;
    const auto without = made(kind, o);
    o.layers = 1;
    const auto second = made(kind, o);
    second->weights[0] = m->weights[1];
    const Tensor x = randn({2, 5, 4});
    const RecurrentOutput r = (*m)(x), plain = (*without)(x);
    EXPECT_TRUE(equal(r.output, (*second)(zeros({2, 5, 4})).output)) << kind;
    EXPECT_TRUE(equal(select(r.state.h, 0, 0), select(plain.state.h, 0, 0))) << kind;
    m->eval();
    EXPECT_TRUE(equal((*m)(x).output, plain.output)) << kind;

    o.dropout = 0.5;
    const auto single = made(kind, o);
    EXPECT_TRUE(equal((*single)(x).output, (*single)(x).output)) << kind;
    o.layers = 2;
    const auto half = made(kind, o);
    EXPECT_FALSE(equal((*half)(x).output, (*half)(x).output)) << kind;
  }
}

TEST(Recurrent, BothWaysAreTwoLayersByHand) {
  for (const char* kind : kKinds) {
    const auto m = made(kind, {.in = 3, .hidden = 4, .layers = 2, .bidirectional = true});
    const Tensor x = randn({2, 5, 3}), h = randn({4, 2, 4}), c = randn({4, 2, 4});
    const RecurrentOutput got = (*m)(x, {h, m->has_cell() ? c : Tensor()});
    Tensor y = x;
    for (int64_t i = 0; i < 4; i += 2) {
      const auto run = [&](const Tensor& read, int64_t at) {
        const auto one = made(kind, {.in = read.size(2), .hidden = 4});
        one->weights[0] = m->weights[static_cast<size_t>(at)];
        const RecurrentOutput r =
            (*one)(read, {narrow(h, 0, at, 1), m->has_cell() ? narrow(c, 0, at, 1) : Tensor()});
        expect_close(narrow(got.state.h, 0, at, 1), r.state.h, 1e-6, kind);
        if (m->has_cell()) expect_close(narrow(got.state.c, 0, at, 1), r.state.c, 1e-6, kind);
        return r.output;
      };
      y = cat({run(y, i), flip(run(flip(y, {1}), i + 1), {1})}, 2);
    }
    expect_close(got.output, y, 1e-6, kind);
  }
}

TEST(Recurrent, HasTheSameBitsOnAnyNumberOfThreads) {
  const testing::ThreadScope restore;
  for (const char* kind : kKinds) {
    const auto m = made(kind, {.in = 20, .hidden = 48, .layers = 2, .bidirectional = true});
    const Tensor x = randn({64, 9, 20}), lengths = randint(0, 10, {64});
    const Upstream up{randn({64, 9, 96}), randn({4, 64, 48}), randn({4, 64, 48})};
    set_threads(1);
    const Tensors want = everything(*m, x, {}, lengths, up);
    for (const int n : {2, 8}) {
      set_threads(n);
      expect_same_bits(everything(*m, x, {}, lengths, up), want, kind);
    }
  }
}

TEST(Recurrent, ThereAndBackThroughAFile) {
  const TempDir dir;
  const RecurrentLayerOptions o{.in = 3, .hidden = 4, .layers = 2, .bidirectional = true};
  const LSTM a(o);
  LSTM b(o);
  const Tensor x = randn({2, 5, 3});
  EXPECT_FALSE(equal(a(x).output, b(x).output));
  save(a, dir / "lstm.safetensors");
  load(b, dir / "lstm.safetensors");
  EXPECT_TRUE(equal(a(x).output, b(x).output));

  GRU other({.in = 3, .hidden = 4, .bias = false});
  const NamedTensors before = other.state();
  EXPECT_THAT(message_of<IoError>([&] { load(other, dir / "lstm.safetensors"); }),
              AllOf(HasSubstr("lstm.safetensors"), HasSubstr("bias_hh_l1_reverse"),
                    HasSubstr("weight_ih_l0: is [16, 3] f32, need [12, 3] f32")));
}

TEST(RecurrentCells, StepAsTheirLayersDo) {
  const Tensor x = randn({2, 5, 3});
  const auto expect_steps = [&](auto cell, const Recurrent& layer, auto next) {
    cell.load_state({{"weight_ih", layer.weights[0].weight_ih},
                     {"weight_hh", layer.weights[0].weight_hh},
                     {"bias_ih", layer.weights[0].bias_ih},
                     {"bias_hh", layer.weights[0].bias_hh}});
    RecurrentState s;  // zeros
    const Tensor y = layer(x).output;
    for (int64_t t = 0; t < 5; ++t) {
      s = next(cell, select(x, 1, t), s);
      expect_close(s.h, select(y, 1, t), 1e-6, "step " + std::to_string(t));
    }
  };
  const RecurrentLayerOptions o{.in = 3, .hidden = 4};
  const auto of_h = [](const auto& m, const Tensor& now, const RecurrentState& s) {
    return RecurrentState{.h = m(now, s.h)};
  };
  const auto relu = Nonlinearity::relu;
  expect_steps(RNNCell(3, 4), RNN(o), of_h);
  expect_steps(RNNCell({.in = 3, .hidden = 4}, relu), RNN(o, relu), of_h);
  expect_steps(GRUCell(3, 4), GRU(o), of_h);
  expect_steps(LSTMCell(3, 4), LSTM(o),
               [](const auto& m, const Tensor& now, const RecurrentState& s) { return m(now, s); });
}

// How much of the first step is left in the last state, over 60 steps: what recurrent.h tells.
TEST(LSTM, PassesGradientsThatAnRNNLoses) {
  manual_seed(3);
  const int64_t steps = 60, width = 16;
  const Tensor x = randn({1, steps, 4}, f64);
  const auto reaches = [&](const Recurrent& m, const RecurrentState& s, const Tensor& from,
                           auto to) {
    sum(to(m(x, s).state)).backward();
    return sqrt(sum(square(from.grad()))).item();
  };
  const RecurrentLayerOptions o{.in = 4, .hidden = width, .dtype = f64};
  const Tensor h = zeros({1, 1, width}, f64).requires_grad_();
  EXPECT_LT(reaches(RNN(o), {h}, h, [](const RecurrentState& s) { return s.h; }), 1e-6);

  LSTM m(o);
  {
    const NoGrad scope;
    narrow(m.weights[0].bias_ih, 0, width, width).fill_(10);  // of the forget gates: open
  }
  const Tensor c = zeros({1, 1, width}, f64).requires_grad_();
  EXPECT_GT(reaches(m, {.c = c}, c, [](const RecurrentState& s) { return s.c; }), 1);
}

}  // namespace
}  // namespace fovea
