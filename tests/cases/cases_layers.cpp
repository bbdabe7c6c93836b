// Small inputs that broke other frameworks, with the right answer: losses, normalisation, dropout,
// long sums and nested loops.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>

#include "fovea/core/engine.h"
#include "fovea/core/error.h"
#include "fovea/core/parallel.h"
#include "fovea/io/metrics.h"
#include "fovea/ops/ops.h"
#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::List;
using testing::ThreadScope;

// Targets that do not count: a mean over nothing is 0, and a wrong target is an error even beside
// an ignored one.
TEST(Cases, IgnoredTargets) {
  const Tensor logits = tensor({{1.0, 2.0, 3.0}, {1.0, 2.0, 3.0}}, f64).requires_grad_();
  for (bool create : {false, true}) {
    for (double smoothing : {0.0, 0.1}) {
      const Tensor loss =
          cross_entropy(logits, tensor({-100, -100}), {.label_smoothing = smoothing});
      EXPECT_EQ(loss.item(), 0);
      const Tensor g = grad(loss, {logits}, {.create_graph = create})[0];
      EXPECT_EQ(g.to_vector(), List(6, 0));
    }
    const Tensor n = nll_loss(log_softmax(logits), tensor({-100, -100}));
    EXPECT_EQ(n.item(), 0);
    EXPECT_EQ(grad(n, {logits}, {.create_graph = create})[0].to_vector(), List(6, 0));
  }
  EXPECT_THROW((void)cross_entropy(logits, tensor({-4, -1}), {.ignore_index = -1}), IndexError);
  EXPECT_THROW((void)cross_entropy(logits, tensor({3, -1}), {.ignore_index = -1}), IndexError);
  EXPECT_THROW((void)nll_loss(logits, tensor({-4, 0}), {.ignore_index = -1}), IndexError);
  // A class number may be the ignored one.
  const Tensor one = cross_entropy(logits, tensor({2, 0}), {.ignore_index = 0});
  EXPECT_NEAR(one.item(), .4076059644443803, 1e-12);
}

TEST(Cases, LabelSmoothingCountsAllClasses) {
  for (DType t : {f32, f64}) {
    const CrossEntropyOptions o{.label_smoothing = .1};
    const Tensor alone = tensor({{1.0, 2.0, 3.0}}, t);
    EXPECT_NEAR(cross_entropy(alone, tensor({2}), o).item(), .507606, 1e-6);
    const Tensor beside = tensor({{1.0, 2.0, 3.0}, {9.0, -4.0, 0.0}}, t);
    EXPECT_NEAR(cross_entropy(beside, tensor({2, -100}), o).item(), .507606, 1e-6);
  }
}

TEST(Cases, LayerNormOfLargeAndOfConstantRows) {
  const Tensor x = tensor({40000.0, 40001.0, 40002.0, 40003.0});
  const auto y = layer_norm(x).to_vector();
  const double want[] = {-1.34164, -.44721, .44721, 1.34164};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(y[i], want[i], 1e-4) << i;
  const Tensor flat = full({256}, 1234).requires_grad_();
  const Tensor z = layer_norm(flat);
  EXPECT_EQ(z.to_vector(), List(256, 0));
  z.backward(randn({256}));
  EXPECT_TRUE(all(isfinite(flat.grad())));
  const auto s = layer_norm(tensor({1.0, 0.0, 0.0, 0.0})).to_vector();
  EXPECT_NEAR(s[0], 1.73200, 1e-5);
  EXPECT_NEAR(s[1], -.57733, 1e-5);
}

// Dropout at its ends, in both modes, and its mean.
TEST(Cases, Dropout) {
  for (DType t : {f32, f64}) {
    const Tensor x = full({1000}, 2, t).requires_grad_();
    EXPECT_EQ(dropout(x, 0).to_vector(), x.to_vector());
    EXPECT_EQ(dropout(x, .7, false).to_vector(), x.to_vector());
    const Tensor none = dropout(x, 1);
    EXPECT_EQ(none.to_vector(), List(1000, 0));
    sum(none).backward();
    EXPECT_EQ(x.grad().to_vector(), List(1000, 0));
    Generator g(5);
    EXPECT_NEAR(mean(dropout(ones({1000000}, t), .1, true, &g)).item(), 1, .002);
    EXPECT_NEAR(mean(dropout(ones({1000000}, t), .9, true, &g)).item(), 1, .02);
    // What is dropped has gradient 0 and what is kept 1 / (1 - p): the mask is replayed.
    const Tensor d = ones({1000}, t).requires_grad_();
    const Tensor y = dropout(d, .5, true, &g);
    (void)dropout(d, .5, true, &g);
    sum(y).backward();
    EXPECT_EQ(d.grad().to_vector(), y.to_vector());
    const Tensor inf = full({4}, INFINITY, t);
    EXPECT_EQ(dropout(inf, 1).to_vector(), List(4, 0)) << "0, not 0 * inf";
    for (double v : dropout(full({1000}, NAN, t), .5, true, &g).to_vector()) {
      EXPECT_TRUE(std::isnan(v) || v == 0);
    }
  }
}

std::vector<char> bits(const Tensor& t) {
  const Tensor c = t.contiguous();
  return {c.raw(), c.raw() + c.numel() * item_size(c.dtype())};
}

// A training step has the same bits on any number of threads.
TEST(Cases, ATrainingStepIsBitEqualOnAnyNumberOfThreads) {
  const ThreadScope restore;
  for (DType t : {f32, f64}) {
    std::vector<std::vector<char>> first;
    for (int n : {1, 2, 8}) {
      set_threads(n);
      Generator g(7);
      const Tensor x = randn({300, 257}, t, &g), target = randint(0, 100, {300}, &g);
      const Tensor w1 = (randn({129, 257}, t, &g) * .06).detach().requires_grad_();
      const Tensor b1 = zeros({129}, t).requires_grad_();
      const Tensor w2 = (randn({100, 129}, t, &g) * .09).detach().requires_grad_();
      std::vector<std::vector<char>> all;
      for (int step = 0; step < 3; ++step) {
        const Tensor h = dropout(gelu(layer_norm(linear(x, w1, b1))), .2, true, &g);
        const Tensor loss = cross_entropy(linear(h, w2), target) + std(h) + h.var(0).max();
        loss.backward();
        all.push_back(bits(h.detach()));
        all.push_back(bits(loss.detach()));
        const NoGrad scope;
        for (const Tensor& w : {w1, b1, w2}) {
          all.push_back(bits(w.grad()));
          w.sub_(w.grad() * .1);
          w.zero_grad();
          all.push_back(bits(w));
        }
      }
      if (n == 1) first = all;
      for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i], first[i]) << name(t) << " item " << i << " on " << n << " threads";
      }
    }
  }
}

// Long sums keep their digits.
TEST(Cases, LongSums) {
  const Tensor x = full({1000000}, 1.0 / 255);
  EXPECT_NEAR(sum(x).item(), 3921.57, .01);
  EXPECT_NEAR(sum(x).item() / (1e6 * static_cast<double>(1.0f / 255)), 1, 1e-6);
  for (const Tensor& y : {x.reshape({1000, 1000}), x.reshape({1000, 1000}).t()}) {
    EXPECT_NEAR(sum(y).item(), 3921.57, .01);
    EXPECT_NEAR(sum(y, 0).at({999}), 3.92157, 1e-5);
    EXPECT_NEAR(sum(y, 1).at({999}), 3.92157, 1e-5);
  }
  const Tensor ten = full({10000000}, .1f);
  EXPECT_NEAR(sum(ten).item() / (1e7 * static_cast<double>(.1f)), 1, 1e-6);
  EXPECT_NEAR(sum(ten.reshape({10000000, 1}), 0).item() / (1e7 * static_cast<double>(.1f)), 1,
              1e-6);
  EXPECT_NEAR(mean(ten).item(), .1, 1e-7);
  EXPECT_NEAR(dot(ten, ones({10000000})).item() / (1e7 * static_cast<double>(.1f)), 1, 1e-6);
  EXPECT_NEAR(var(ten + 100).item(), 0, 1e-8);
}

// Heads outside, products and rows inside, scratch of each task its own.
TEST(Cases, NestedLoopsEqualTheSerialRun) {
  const ThreadScope restore;
  for (int64_t heads : {1, 4, 64}) {
    const int64_t n = 64;
    const auto run = [&] {
      std::vector<double> out(static_cast<size_t>(heads), 0.0);
      parallel_chunks(heads, [&](int64_t h) {
        std::vector<double> scores(static_cast<size_t>(n * n));
        parallel_for(n, 8, [&](int64_t b, int64_t e) {
          for (int64_t i = b; i < e; ++i) {
            for (int64_t j = 0; j < n; ++j) scores[i * n + j] = std::sin(0.1 * (h + i * j));
          }
        });
        parallel_for(n, 4, [&](int64_t b, int64_t e) {
          for (int64_t i = b; i < e; ++i) {
            double sum = 0;
            for (int64_t j = 0; j < n; ++j) sum += std::exp(scores[i * n + j]);
            for (int64_t j = 0; j < n; ++j) scores[i * n + j] /= sum;
          }
        });
        for (double s : scores) out[static_cast<size_t>(h)] += s;
      });
      return out;
    };
    set_threads(1);
    const auto start = std::chrono::steady_clock::now();
    const auto serial = run();
    const auto once = std::chrono::steady_clock::now() - start;
    for (int t : {2, 8}) {
      set_threads(t);
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_EQ(run(), serial) << heads << " heads on " << t << " threads";
      const auto took = std::chrono::steady_clock::now() - begin;
      EXPECT_LE(took, 50 * once + std::chrono::seconds(2)) << "time explodes";
    }
  }
}

// The mean over samples, not over batches: the last batch is short, micro-batches differ in tokens.
TEST(Cases, MeansCountSamples) {
  Mean loss;
  for (const auto& batch : {tensor({1.0, 1.0}), tensor({1.0, 1.0}), tensor({4.0})}) {
    loss.add(sum(batch).item(), batch.numel());
  }
  EXPECT_DOUBLE_EQ(loss.value(), 1.6);
  EXPECT_EQ(loss.count(), 5);
  Mean tokens;
  tokens.add(2, 2);
  tokens.add(9, 3);
  EXPECT_DOUBLE_EQ(tokens.value(), 2.2);
  EXPECT_TRUE(std::isnan(Mean().value()));

  // Gradients of micro-batches: sums, divided by what they counted together, are the whole batch's.
  const Tensor logits = randn({5, 4}, f64).requires_grad_();
  const Tensor target = tensor({0, 1, 2, 3, 0});
  const Tensor whole = grad(cross_entropy(logits, target), {logits})[0];
  for (const auto& [first, n] : {std::pair<int64_t, int64_t>{0, 2}, {2, 3}}) {
    const Tensor part = cross_entropy(narrow(logits, 0, first, n), narrow(target, 0, first, n),
                                      {.reduction = Reduction::sum});
    (part / 5).backward();
  }
  EXPECT_TRUE(allclose(logits.grad(), whole, 1e-12, 1e-15));
}

}  // namespace
}  // namespace fovea
