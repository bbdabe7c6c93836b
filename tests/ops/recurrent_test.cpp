// rnn, lstm and gru where the case table has no room: padding, time-first views, long walks, what a
// node is made of.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "fovea/core/allocator.h"
#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/core/node.h"
#include "fovea/core/random.h"
#include "fovea/ops/ops.h"
#include "tests/cases/near.h"

namespace fovea {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const std::vector<std::string> kNames{"rnn", "rnn_relu", "lstm", "gru"};

struct Problem {
  std::string name;
  Tensors in;  // x, h0, weights, biases, c0
  RecurrentOptions o = {};

  Tensor result() const {
    const RecurrentWeights w{in[2], in[3], in[4], in[5]};
    if (name == "rnn") return rnn(in[0], in[1], w, o);
    if (name == "rnn_relu") return rnn_relu(in[0], in[1], w, o);
    if (name == "gru") return gru(in[0], in[1], w, o);
    return lstm(in[0], in[1], in[6], w, o);
  }
  // The result, and the gradients of all inputs.
  Tensors all() const {
    const Tensor y = result();
    Generator g(5);
    Tensors out = grad(y, in, {.allow_unused = true, .upstream = randn(y.shape(), y.dtype(), &g)});
    if (name != "lstm") out.pop_back();
    out.push_back(y.detach());
    return out;
  }
  Problem with(size_t i, const Tensor& x) const {
    Problem p = *this;
    p.in[i] = x.detach().requires_grad_();
    return p;
  }
};

Problem problem(const std::string& name, int64_t batch, int64_t time, int64_t input, int64_t hidden,
                DType t = f64) {
  Generator g(3);
  const int64_t rows = hidden * (name == "lstm" ? 4 : name == "gru" ? 3 : 1);
  const auto random = [&](const Shape& shape, double scale) {
    return (randn(shape, t, &g) * scale).detach().requires_grad_();
  };
  const double scale = 0.7 / std::sqrt(static_cast<double>(hidden));
  return {name,
          {random({batch, time, input}, 1), random({batch, hidden}, 1),
           random({rows, input}, scale), random({rows, hidden}, scale), random({rows}, scale),
           random({rows}, scale), random({batch, hidden}, 1)}};
}

void expect_close(const Tensors& a, const Tensors& b, const std::string& what,
                  double tolerance = 1e-12) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(allclose(a[i], b[i], tolerance, tolerance)) << what << ", tensor " << i;
  }
}

Tensor steps(const std::vector<int64_t>& lengths) {
  return from_vector(lengths, {static_cast<int64_t>(lengths.size())});
}

// What stands beyond a length must not be met: neither NaN in x, nor a state that is NaN itself in
// a sequence of no steps.
TEST(Recurrent, PaddingReachesNothing) {
  for (const std::string& name : kNames) {
    for (const bool reverse : {false, true}) {
      for (const bool formula : {false, true}) {
        Problem p = problem(name, 3, 5, 2, 4);
        p.o = {.lengths = steps({3, 5, 0}), .reverse = reverse};
        const Tensor beyond = unsqueeze(arange(5), 0) >= unsqueeze(p.o.lengths, 1);
        const Problem dirty = p.with(0, masked_fill(p.in[0].detach(), unsqueeze(beyond, 2), kNaN));
        std::optional<FormulaRules> scope;
        if (formula) scope.emplace();
        const Tensors want = p.all(), got = dirty.all();
        const Tensor h0 = clone(p.in[1].detach());
        h0.select(0, 2).fill_(kNaN);
        const Tensors ill = p.with(1, h0).all();
        expect_close(got, want, name);
        for (const Tensor& t : got) EXPECT_EQ(sum(logical_not(isfinite(t))).item(), 0) << name;
        EXPECT_EQ(max(abs(masked_fill(got[0], logical_not(unsqueeze(beyond, 2)), 0))).item(), 0);
        for (size_t i = 0; i < 6; ++i) {
          EXPECT_TRUE(allclose(ill[i], want[i], 1e-12, 1e-12)) << name << ", gradient " << i;
        }
      }
    }
  }
}

// A sequence in a batch is what it is alone, without its padding.
TEST(Recurrent, PaddedSequencesAreThoseAlone) {
  for (const std::string& name : kNames) {
    for (const bool reverse : {false, true}) {
      Problem p = problem(name, 3, 6, 2, 4);
      p.o = {.lengths = steps({4, 6, 1}), .reverse = reverse};
      const Tensor y = p.result();
      for (int64_t b = 0; b < 3; ++b) {
        const int64_t n = static_cast<int64_t>(p.o.lengths.at({b}));
        Problem one = p;
        one.o.lengths = Tensor();
        for (const size_t i : {size_t{0}, size_t{1}, size_t{6}}) {
          one.in[i] = p.in[i].detach().narrow(0, b, 1);
        }
        one.in[0] = one.in[0].narrow(1, 0, n);
        const Tensor row = y.detach().narrow(-3, b, 1);
        EXPECT_TRUE(allclose(row.narrow(-2, 0, n), one.result().detach(), 1e-12, 1e-12)) << name;
        if (n == 6 || reverse) continue;
        const Tensor held = row.narrow(-2, n - 1, 1);
        EXPECT_TRUE(allclose(row.narrow(-2, n, 6 - n),
                             expand(held, row.narrow(-2, n, 6 - n).shape()), 0, 0))
            << name;
      }
    }
  }
}

// x as (T, B, I) in memory, and rows with gaps.
TEST(Recurrent, TimeFirstViewsAreReadAsTheyLie) {
  const testing::ThreadScope restore;
  for (const std::string& name : kNames) {
    for (const DType t : {f32, f64}) {
      Problem p = problem(name, 19, 5, 12, 40, t);
      for (const bool padded : {false, true}) {
        if (padded) {
          Generator g(9);
          p.o = {.lengths = randint(0, 6, {19}, &g), .reverse = true};
        }
        const Tensors want = p.all();
        const Tensor x = p.in[0].detach();
        const Problem first = p.with(0, x.transpose(0, 1).contiguous().transpose(0, 1));
        const Tensor wide = cat({x, x}, 2);
        const double tolerance = t == f64 ? 1e-12 : 1e-5;
        expect_close(first.all(), want, name + " time first", tolerance);
        expect_close(p.with(0, wide.narrow(2, 0, 12)).all(), want, name + " window", tolerance);
        std::vector<Tensors> runs;
        for (const int n : {1, 2, 8}) {
          set_threads(n);
          runs.push_back(first.all());
        }
        for (const Tensors& run : runs) {
          for (size_t i = 0; i < run.size(); ++i) {
            const Tensor a = run[i].contiguous(), b = runs[0][i].contiguous();
            EXPECT_EQ(std::memcmp(a.raw(), b.raw(),
                                  static_cast<size_t>(a.numel() * item_size(a.dtype()))),
                      0)
                << name << ", tensor " << i;
          }
        }
      }
    }
  }
}

// Denormals, 60 to 170 times slower, are 0 in few rows as in many.
TEST(Recurrent, NoDenormalsInFewRows) {
  for (const int64_t batch : {1, 9}) {
    const Tensor x = zeros({batch, 1, 2}).requires_grad_();
    const RecurrentWeights w{full({3, 2}, 1e-20), zeros({3, 3}), {}, {}};
    const Tensor y = rnn(x, zeros({batch, 3}), w, {});
    const Tensor gx = grad(y, {x}, {.upstream = full(y.shape(), 1e-20)})[0];
    // Not by an operation: those take a denormal that they read for 0.
    for (const float g : gx.to_vector<float>()) EXPECT_EQ(g, 0.0F) << batch << " sequences";
  }
}

TEST(Recurrent, LongWalksFollowTheFormula) {
  for (const std::string& name : kNames) {
    Problem p = problem(name, 33, 120, 7, 35);
    Generator g(4);
    p.o.lengths = randint(0, 121, {33}, &g);
    const Tensors fused = p.all();
    const FormulaRules scope;
    expect_close(fused, p.all(), name, 1e-10);
  }
}

TEST(Recurrent, OneNodeTakesAllSteps) {
  for (const std::string& name : kNames) {
    const Problem p = problem(name, 2, 9, 3, 4);
    const Tensor y = p.result();
    ASSERT_TRUE(y.requires_grad());
    EXPECT_EQ(std::string(y.node()->op), name);
    for (uint32_t i = 0; i < y.node()->edge_count; ++i) {
      const Node* to = y.node()->edges[i];
      EXPECT_TRUE(!to || to->is_leaf) << name;
    }
  }
}

TEST(Recurrent, MixedFloatsPromote) {
  const Problem p = problem("gru", 2, 3, 2, 3, f32);
  const Problem wide = p.with(3, to(p.in[3].detach(), f64));
  const Tensors got = wide.all();
  EXPECT_EQ(wide.result().dtype(), f64);
  EXPECT_EQ(got[0].dtype(), f32);
  EXPECT_EQ(got[3].dtype(), f64);
  EXPECT_TRUE(allclose(to(got.back(), f32), p.result().detach(), 1e-5, 1e-6));
}

// The gradients of biases alone ask for neither x without its padding nor the states before.
TEST(Recurrent, MakesNoCopiesForWeightsThatAreFrozen) {
  for (const std::string& name : kNames) {
    Problem p = problem(name, 8, 64, 256, 32);
    p.o.lengths = full({8}, 60, i64);
    const auto peak_of = [&](const Tensors& wanted) {
      const Tensor loss = sum(p.result());
      const int64_t before = memory_stats().live_bytes;
      reset_peak_memory();
      const Tensors g = grad(loss, wanted);
      return memory_stats().peak_bytes - before;
    };
    for (const size_t i : {size_t{2}, size_t{3}}) p.in[i].requires_grad_(false);
    p.in[0].requires_grad_(false);
    const int64_t frozen = peak_of({p.in[4], p.in[5]});
    p.in[2].requires_grad_();
    const int64_t learned = peak_of({p.in[2], p.in[4], p.in[5]});
    const int64_t x_bytes = p.in[0].numel() * 8;
    EXPECT_GT(learned - frozen, x_bytes / 2) << name;
    EXPECT_LT(frozen, x_bytes) << name;
  }
}

// Either bias without the other, by either rule, and each gradient on its own.
TEST(Recurrent, TakesOneBiasAlone) {
  for (const std::string& name : kNames) {
    const Problem p = problem(name, 3, 4, 2, 5);
    for (const size_t bias : {size_t{4}, size_t{5}}) {
      Problem one = p, zeroed = p;
      one.in[9 - bias] = Tensor();
      zeroed.in[9 - bias] = zeros_like(p.in[9 - bias].detach());
      const Tensor want = zeroed.result();
      EXPECT_TRUE(allclose(one.result().detach(), want.detach(), 1e-14, 1e-14)) << name;
      for (const bool formula : {false, true}) {
        std::optional<FormulaRules> scope;
        if (formula) scope.emplace();
        const auto of_bias = [&](const Problem& q) {
          return grad(sum(square(q.result())), {p.in[bias], p.in[3]});
        };
        const Tensors g = of_bias(one), expected = of_bias(zeroed);
        expect_close(g, expected, name);
        EXPECT_GT(max(abs(g[0])).item(), 1e-3) << name;
      }
    }
  }
}

TEST(Recurrent, ChangedLengthsAreNoticed) {
  Problem p = problem("lstm", 2, 3, 2, 3);
  p.o.lengths = steps({1, 3});
  const Tensor y = p.result();
  p.o.lengths.fill_(2);
  try {
    sum(y).backward();
    FAIL() << "read lengths that were changed";
  } catch (const GraphError& e) {
    EXPECT_NE(std::string(e.what()).find("lengths"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace fovea
