// Rules that must not take a square, a sum or a log-sum-exp out of the range or the precision of
// their dtype before the result leaves it.
#include <fmt/format.h>

#include <functional>

#include "tests/cases/near.h"

namespace fovea {
namespace {

using testing::expect_near;
using testing::gradients;
using testing::kInf;
using testing::kNan;
using testing::kWays;
using testing::leaf;
using testing::leaf_of;
using testing::List;
using testing::name;
using testing::Way;
using OfOne = std::function<Tensor(const Tensor&)>;

// Relative to the largest element of want.
void expect_close_to_top(const Tensor& x, const Tensor& want, double tolerance,
                         const std::string& what) {
  const auto w = want.to_vector();
  double top = 0;
  for (double v : w) top = std::max(top, std::fabs(v));
  ASSERT_GT(top, 0) << what;
  expect_near(x, w, tolerance * top, what);
}

struct NamedRow {
  const char* name;
  OfOne f;
};

const std::vector<NamedRow>& log_sum_exps() {
  static const std::vector<NamedRow> all{
      {"cross_entropy",
       [](const Tensor& x) {
         return cross_entropy(x, tensor({1, 0, 2}));
       }},
      {"cross_entropy, smoothed",
       [](const Tensor& x) {
         return cross_entropy(x, tensor({1, 0, 2}), {.label_smoothing = .1});
       }},
      {"log_softmax", [](const Tensor& x) { return log_softmax(x, -1); }},
      {"softmax", [](const Tensor& x) { return softmax(x, -1); }},
      {"logsumexp", [](const Tensor& x) { return logsumexp(x, -1) - amax(x.detach(), -1); }},
      {"logcumsumexp", [](const Tensor& x) { return logcumsumexp(x, -1); }},
      {"attention",
       [](const Tensor& x) {  // scores are x times 1, with the values of each key apart
         const Tensor q = reshape(ones({3}, x.dtype()), {3, 1, 1});
         return scaled_dot_product_attention(
             q, unsqueeze(x, -1), reshape(arange(15).to(x.dtype()), {3, 5, 1}), {.scale = 1});
       }},
  };
  return all;
}

}  // namespace

// Its saved value would be rounded to the spacing of its dtype at the largest logit: 8 at 1e8.
TEST(Cases, LogSumExpFarFromZero) {
  for (const Way way : kWays) {
    const Tensor x = leaf(tensor({{1e8, 1e8}}));
    const Tensor loss = cross_entropy(x, tensor({0}));
    EXPECT_NEAR(loss.item(), std::log(2), 1e-6) << name(way);
    expect_near(gradients(loss, {x}, way)[0], {-.5, .5}, 1e-6, name(way));
  }
  Generator g(3);
  const Tensor noise = randn({3, 5}, f64, &g);
  for (double offset : {-1e8, -30000.0, 0.0, 30000.0, 1e8}) {
    for (double spacing : {1.0, 8.0, 64.0}) {
      const Tensor x32 = to(noise * spacing + offset, f32);
      for (const NamedRow& op : log_sum_exps()) {
        for (const Way way : kWays) {
          const auto what =
              fmt::format("{} at {}, spacing {}, {}", op.name, offset, spacing, name(way));
          const Tensor near = leaf(x32), far = leaf(to(x32, f64));
          const Tensor y = op.f(near), truth = op.f(far);
          Generator u(7);
          const Tensor up = randn(truth.shape(), f64, &u);
          expect_near(gradients(y, {near}, way, to(up, f32))[0],
                      gradients(truth, {far}, way, up)[0].to_vector(), 2e-6, what);
        }
      }
    }
  }
}

// Of every row the shares add up to 1, also where scores are 1e8 and more.
TEST(Cases, WeightsOfLargeScoresAddUpToOne) {
  for (double score : {1e4, 1e8, 1e15, 1e30}) {
    for (int64_t tk : {3, 70}) {
      for (const Way way : kWays) {
        const auto what = fmt::format("{}, {} keys, {}", score, tk, name(way));
        const Tensor q = full({4, 1}, 1).requires_grad_(),
                     k = full({tk, 1}, score).requires_grad_();
        const Tensor v = to(arange(tk), f32).reshape({tk, 1}).detach().requires_grad_();
        const Tensor y = scaled_dot_product_attention(q, k, v, {.scale = 1});
        expect_near(y, List(4, (static_cast<double>(tk) - 1) / 2), 1e-5 * tk, what);
        const Tensor gv = gradients(y, {v}, way, ones({4, 1}))[0];
        expect_near(gv, List(static_cast<size_t>(tk), 4. / static_cast<double>(tk)), 4e-6, what);
      }
    }
  }
}

// Values, gradients and second gradients of x * c are those of x, divided by c and c^2.
TEST(Cases, NormsOfAnyMagnitude) {
  struct Norm {
    const char* name;
    int degree;  // f(c x) = c^degree f(x)
    OfOne f;
  };
  const std::vector<Norm> norms{
      {"layer_norm", 0, [](const Tensor& x) { return layer_norm(x, {}, {}, 0); }},
      {"rms_norm", 0, [](const Tensor& x) { return rms_norm(x, {}, 0); }},
      {"batch_norm", 0,
       [](const Tensor& x) { return batch_norm(transpose(x, 0, 1), {}, {}, {}, {}, {.eps = 0}); }},
      {"group_norm", 0, [](const Tensor& x) { return group_norm(x, 1, {}, {}, 0); }},
      {"std", 1, [](const Tensor& x) { return std(x, -1); }},
      {"norm", 1, [](const Tensor& x) { return norm(x, 2, {-1}); }},
  };
  const Tensor base = tensor({{1.0, 2.0, 4.0, -1.0}, {.5, -3.0, .25, 1.0}}, f64);
  for (DType t : {f32, f64}) {
    const List scales = t == f32 ? List{1e-36, 1e-30, 1e-19, 1, 1e12, 1e19, 1e30, 1e34}
                                 : List{1e-300, 1e-200, 1e-160, 1, 1e100, 1e160, 1e200, 1e300};
    for (const Norm& n : norms) {
      for (double c : scales) {
        for (const Way way : kWays) {
          const auto what = fmt::format("{} of x * {}, {}, {}", n.name, c, name(way), name(t));
          const Tensor near = leaf(base), x = leaf(to(base * c, t));
          const Tensor truth = n.f(near), y = n.f(x);
          const double tolerance = t == f32 ? 2e-5 : 1e-12;
          expect_close_to_top(to(y, f64) / (n.degree == 1 ? c : 1), truth, tolerance, what);
          Generator u(7);
          const Tensor up = randn(truth.shape(), f64, &u);
          const Tensor want = gradients(truth, {near}, Way::fused, up)[0];
          const Tensor got = gradients(y, {x}, way, to(up, t))[0];
          expect_close_to_top(to(got, f64) * (n.degree == 0 ? c : 1), want, tolerance,
                              what + " gradient");
        }
      }
    }
  }
  const Tensor x = leaf_of({1e20, 1.2e20, .8e20, 1.1e20}, f32);
  const Tensor y = std(x);
  EXPECT_NEAR(y.item(), 1.70783e19, 1e14);
  expect_near(grad(y, {x})[0], {-.0488, .3416, -.4392, .1464}, 1e-4);
  const Tensor one = leaf_of({1e19, 2e19, 4e19, -1e19}, f32);
  expect_near(layer_norm(one), {-.27735, .27735, 1.38675, -1.38675}, 1e-5);
}

// A row has the bits it has alone, whatever the others hold.
TEST(Cases, RowsDoNotChooseEachOthersPath) {
  const std::vector<NamedRow> ops{
      {"layer_norm", [](const Tensor& x) { return layer_norm(x); }},
      {"rms_norm", [](const Tensor& x) { return rms_norm(x); }},
      {"group_norm", [](const Tensor& x) { return group_norm(x, 2); }},
      {"std", [](const Tensor& x) { return std(x, -1); }},
      {"norm", [](const Tensor& x) { return norm(x, 2, {-1}); }},
      {"logsumexp", [](const Tensor& x) { return logsumexp(x, -1); }},
      {"log_softmax", [](const Tensor& x) { return log_softmax(x, -1); }},
  };
  Generator g(11);
  const Tensor quiet = randn({1, 12}, f32, &g);
  for (const NamedRow& op : ops) {
    for (double loud : {0.0, 1e-30, 1e19, 1e30, 3e38, kInf, kNan}) {
      for (const Way way : kWays) {
        const Tensor alone = leaf(quiet), both = leaf(cat({quiet, full({1, 12}, loud)}, 0));
        const Tensor y = op.f(alone), z = op.f(both);
        const auto what = fmt::format("{} beside {}, {}", op.name, loud, name(way));
        EXPECT_EQ(narrow(z, 0, 0, 1).to_vector(), y.to_vector()) << what;
        Generator u(7);
        const Tensor up = randn(y.shape(), f32, &u);
        const Tensor beside = gradients(z, {both}, way, cat({up, ones_like(up)}, 0))[0];
        EXPECT_EQ(narrow(beside, 0, 0, 1).to_vector(),
                  gradients(y, {alone}, way, up)[0].to_vector())
            << what;
      }
    }
  }
}

}  // namespace fovea
