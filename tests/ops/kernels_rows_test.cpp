#include <gtest/gtest.h>
#include <hwy/aligned_allocator.h>

#include <cmath>
#include <limits>
#include <vector>

#include "fovea/ops/kernels/rows.h"
#include "ops/kernels_targets.h"

namespace {

namespace k = fovea::kernels;
using fovea::testing::normal_values;
using fovea::testing::odd_sizes;
using fovea::testing::on_every_target;
using fovea::testing::tolerance;

template <class T>
class KernelsRows : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsRows, Floats);

// |a - b| <= bound (1 + |b|) at each element; NaN fails.
template <class T, class U>
void expect_close(const std::vector<T>& a, const std::vector<U>& b, double bound,
                  const char* what) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    ASSERT_TRUE(x == y || std::fabs(x - y) <= bound * (1 + std::fabs(y)))
        << what << "[" << i << "] = " << x << ", want " << y << ", size " << a.size();
  }
}

constexpr int64_t kRows = 3;

// exp(x - max) / sum, in double, of row r.
template <class T>
std::vector<double> naive_softmax(const std::vector<T>& x, int64_t rows, int64_t n) {
  std::vector<double> p(x.size());
  for (int64_t r = 0; r < rows; ++r) {
    double top = -INFINITY, total = 0;
    for (int64_t i = r * n; i < (r + 1) * n; ++i) top = std::max(top, double(x[i]));
    for (int64_t i = r * n; i < (r + 1) * n; ++i) total += p[i] = std::exp(double(x[i]) - top);
    for (int64_t i = r * n; i < (r + 1) * n; ++i) p[i] /= total;
  }
  return p;
}

TYPED_TEST(KernelsRows, SoftmaxFamilyEqualsTheNaiveLoops) {
  using T = TypeParam;
  on_every_target([] {
    for (int64_t n : odd_sizes(1)) {
      const int64_t size = kRows * n;
      const auto x = normal_values<T>(size, 1, T(3)), gy = normal_values<T>(size, 2);
      const auto gout = normal_values<T>(kRows, 3);
      const auto p = naive_softmax(x, kRows, n);
      std::vector<double> gx(size), logp(size), glog(size), lse(kRows), glse(size);
      for (int64_t r = 0; r < kRows; ++r) {
        double inner = 0, total = 0, sum = 0;
        for (int64_t i = r * n; i < (r + 1) * n; ++i) {
          inner += p[i] * double(gy[i]), total += double(gy[i]), sum += std::exp(double(x[i]));
        }
        lse[r] = std::log(sum);
        for (int64_t i = r * n; i < (r + 1) * n; ++i) {
          gx[i] = p[i] * (double(gy[i]) - inner);
          logp[i] = double(x[i]) - lse[r];
          glog[i] = double(gy[i]) - p[i] * total;
          glse[i] = double(gout[r]) * p[i];
        }
      }
      std::vector<T> y(size), g(size), out(kRows), top(kRows), total(kRows);
      k::softmax_rows(x.data(), y.data(), kRows, n);
      expect_close(y, p, tolerance<T>(), "softmax");
      k::softmax_backward_rows(y.data(), gy.data(), g.data(), kRows, n);
      expect_close(g, gx, tolerance<T>(), "softmax gx");
      k::log_softmax_rows(x.data(), y.data(), kRows, n);
      expect_close(y, logp, tolerance<T>(), "log_softmax");
      k::log_softmax_backward_rows(y.data(), gy.data(), g.data(), kRows, n);
      expect_close(g, glog, 4 * tolerance<T>(), "log_softmax gx");
      k::logsumexp_rows(x.data(), out.data(), top.data(), total.data(), kRows, n);
      expect_close(out, lse, tolerance<T>(), "logsumexp");
      k::logsumexp_backward_rows(x.data(), top.data(), total.data(), gout.data(), g.data(), kRows,
                                 n);
      expect_close(g, glse, 4 * tolerance<T>(), "logsumexp gx");
      y = x;
      k::softmax_rows(y.data(), y.data(), kRows, n);
      expect_close(y, p, tolerance<T>(), "softmax in place");
    }
  });
}

TYPED_TEST(KernelsRows, SoftmaxAtTheEdges) {
  using T = TypeParam;
  const T inf = std::numeric_limits<T>::infinity();
  on_every_target([inf] {
    for (int64_t n : {2, 3, 17, 33, 70}) {
      // One live logit, the others -inf: probability exactly 0, gradient exactly 0.
      std::vector<T> x(n, -inf), y(n), g(n), out(1), top(1), total(1), gy(n, T(2)), one(1, T(1));
      x[1] = T(0.3);
      k::softmax_rows(x.data(), y.data(), 1, n);
      for (int64_t i = 0; i < n; ++i) EXPECT_EQ(y[i], i == 1 ? T(1) : T(0));
      k::softmax_backward_rows(y.data(), gy.data(), g.data(), 1, n);
      for (int64_t i = 0; i < n; ++i) EXPECT_EQ(g[i], T(0));
      k::log_softmax_rows(x.data(), y.data(), 1, n);
      for (int64_t i = 0; i < n; ++i) EXPECT_EQ(y[i], i == 1 ? T(0) : -inf);
      k::log_softmax_backward_rows(y.data(), gy.data(), g.data(), 1, n);
      for (int64_t i = 0; i < n; ++i) {
        if (i != 1) {
          EXPECT_EQ(g[i], T(0));
        }
      }
      EXPECT_EQ(g[1], T(2) - T(2 * n));

      // Nothing but -inf.
      x[1] = -inf;
      k::logsumexp_rows(x.data(), out.data(), top.data(), total.data(), 1, n);
      EXPECT_EQ(out[0], -inf);
      k::logsumexp_backward_rows(x.data(), top.data(), total.data(), one.data(), g.data(), 1, n);
      for (int64_t i = 0; i < n; ++i) EXPECT_EQ(g[i], T(0));
      k::softmax_rows(x.data(), y.data(), 1, n);
      EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[n - 1]));

      // +inf and NaN.
      x[0] = inf;
      k::logsumexp_rows(x.data(), out.data(), top.data(), total.data(), 1, n);
      EXPECT_EQ(out[0], inf);
      k::softmax_rows(x.data(), y.data(), 1, n);
      EXPECT_TRUE(std::isnan(y[0]));
      for (int64_t at = 0; at < n; ++at) {
        auto bad = normal_values<T>(n, 9);
        bad[at] = std::numeric_limits<T>::quiet_NaN();
        k::softmax_rows(bad.data(), y.data(), 1, n);
        EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[n - 1])) << at;
        k::logsumexp_rows(bad.data(), out.data(), top.data(), total.data(), 1, n);
        EXPECT_TRUE(std::isnan(out[0])) << at;
        bad[(at + 1) % n] = inf;
        k::logsumexp_rows(bad.data(), out.data(), top.data(), total.data(), 1, n);
        EXPECT_TRUE(std::isnan(out[0])) << at;
      }
    }
    const std::vector<T> wide{1000, 0, -1000};
    std::vector<T> y(3);
    k::softmax_rows(wide.data(), y.data(), 1, 3);
    EXPECT_EQ(y, (std::vector<T>{1, 0, 0}));
  });
}

TYPED_TEST(KernelsRows, LayerNormEqualsTheNaiveLoops) {
  using T = TypeParam;
  const double eps = 1e-5;
  on_every_target([eps] {
    for (int64_t n : odd_sizes(1)) {
      const int64_t size = kRows * n;
      const auto x = normal_values<T>(size, 1, T(2)), gy = normal_values<T>(size, 2);
      const auto gamma = normal_values<T>(n, 3), beta = normal_values<T>(n, 4);
      for (bool affine : {false, true}) {
        std::vector<double> y(size), mean(kRows), rstd(kRows), gx(size), ggamma(n, 1), gbeta(n, 2);
        for (int64_t r = 0; r < kRows; ++r) {
          double m = 0, v = 0, g_mean = 0, gh_mean = 0;
          for (int64_t i = 0; i < n; ++i) m += double(x[r * n + i]) / double(n);
          for (int64_t i = 0; i < n; ++i) v += std::pow(double(x[r * n + i]) - m, 2) / double(n);
          const double s = 1 / std::sqrt(v + eps);
          mean[r] = m, rstd[r] = s;
          for (int64_t i = 0; i < n; ++i) {
            const double h = (double(x[r * n + i]) - m) * s;
            const double g = double(gy[r * n + i]) * (affine ? double(gamma[i]) : 1);
            y[r * n + i] = affine ? h * double(gamma[i]) + double(beta[i]) : h;
            g_mean += g / double(n), gh_mean += g * h / double(n);
            ggamma[i] += double(gy[r * n + i]) * h, gbeta[i] += double(gy[r * n + i]);
          }
          for (int64_t i = 0; i < n; ++i) {
            const double h = (double(x[r * n + i]) - m) * s;
            const double g = double(gy[r * n + i]) * (affine ? double(gamma[i]) : 1);
            gx[r * n + i] = s * (g - g_mean - h * gh_mean);
          }
        }
        const T* scale = affine ? gamma.data() : nullptr;
        std::vector<T> y_(size), mean_(kRows), rstd_(kRows), gx_(size), ggamma_(n, 1), gbeta_(n, 2);
        k::layer_norm_rows(x.data(), scale, affine ? beta.data() : nullptr, eps, y_.data(),
                           {mean_.data(), rstd_.data()}, kRows, n);
        // Two values close together have a large rstd, which multiplies rounding errors of x.
        const double bound = 3 * tolerance<T>() * (n < 8 ? 20 : 1);
        expect_close(y_, y, bound, "layer_norm");
        expect_close(mean_, mean, bound, "mean");
        expect_close(rstd_, rstd, bound, "rstd");
        k::layer_norm_backward_rows({x.data(), scale, eps, mean_.data(), rstd_.data()}, gy.data(),
                                    gx_.data(), ggamma_.data(), gbeta_.data(), kRows, n);
        if (n > 2) expect_close(gx_, gx, bound, "layer_norm gx");
        expect_close(ggamma_, ggamma, bound, "ggamma");
        expect_close(gbeta_, gbeta, bound, "gbeta");
        std::vector<T> alone(size), ggamma2(n, 1), gbeta2(n, 2);
        k::layer_norm_backward_rows({x.data(), scale, eps, mean_.data(), rstd_.data()}, gy.data(),
                                    alone.data(), static_cast<T*>(nullptr),
                                    static_cast<T*>(nullptr), kRows, n);
        if (n > 2) expect_close(alone, gx_, bound, "gx alone");
        k::layer_norm_backward_rows({x.data(), scale, eps, mean_.data(), rstd_.data()}, gy.data(),
                                    static_cast<T*>(nullptr), ggamma2.data(), gbeta2.data(), kRows,
                                    n);
        expect_close(ggamma2, ggamma_, bound, "ggamma alone");
        expect_close(gbeta2, gbeta_, bound, "gbeta alone");
      }
    }
  });
}

TYPED_TEST(KernelsRows, LayerNormFarFromZero) {
  using T = TypeParam;
  on_every_target([] {
    const std::vector<T> x{40000, 40001, 40002, 40003};
    std::vector<T> y(4), mean(1), rstd(1), gx(4);
    const T* none = nullptr;
    k::layer_norm_rows(x.data(), none, none, 1e-5, y.data(), {mean.data(), rstd.data()}, 1, 4);
    expect_close(y, std::vector<double>{-1.3416354, -0.4472118, 0.4472118, 1.3416354}, 1e-6, "y");
    EXPECT_EQ(mean[0], T(40001.5));

    // The mean is no float: backward still sees deviations that sum to 0.
    const std::vector<T> z{40000, 40001, 40003};
    const std::vector<T> gy{1, 0, 0};
    k::layer_norm_rows(z.data(), none, none, 1e-5, y.data(), {mean.data(), rstd.data()}, 1, 3);
    k::layer_norm_backward_rows({z.data(), none, 1e-5, mean.data(), rstd.data()}, gy.data(),
                                gx.data(), static_cast<T*>(nullptr), static_cast<T*>(nullptr), 1,
                                3);
    const std::vector<T> near{0, 1, 3};
    std::vector<T> gx_near(4);
    k::layer_norm_rows(near.data(), none, none, 1e-5, y.data(), {mean.data(), rstd.data()}, 1, 3);
    k::layer_norm_backward_rows({near.data(), none, 1e-5, mean.data(), rstd.data()}, gy.data(),
                                gx_near.data(), static_cast<T*>(nullptr), static_cast<T*>(nullptr),
                                1, 3);
    expect_close(gx, gx_near, 1e-6, "gx");

    for (double value : {1234.0, 0.1, 1e6 / 3, -7e-9}) {
      const std::vector<T> flat(256, T(value));
      std::vector<T> out(256, T(5));
      k::layer_norm_rows(flat.data(), none, none, 1e-5, out.data(), {mean.data(), rstd.data()}, 1,
                         256);
      for (T v : out) EXPECT_EQ(v, T(0));
    }
  });
}

// One case against the definition, in double.
template <class T>
void check_cross_entropy(int64_t n, double smoothing, bool weighted) {
  const auto x = normal_values<T>(kRows * n, 1, T(3));
  auto weight = normal_values<T>(n, 2);
  for (T& w : weight) w = std::fabs(w) + T(0.1);
  const std::vector<int64_t> target{n - 1, -100, n / 2};
  const auto scale = normal_values<T>(kRows, 3);
  const auto p = naive_softmax(x, kRows, n);
  const auto w = [&](int64_t c) { return weighted ? double(weight[c]) : 1.0; };
  std::vector<double> loss(kRows), gx(kRows * n);
  for (int64_t r = 0; r < kRows; ++r) {
    const int64_t t = target[r];
    if (t == -100) continue;
    loss[r] = -(1 - smoothing) * w(t) * std::log(p[r * n + t]);
    double total = 0;
    for (int64_t c = 0; c < n; ++c) {
      loss[r] -= smoothing / double(n) * w(c) * std::log(p[r * n + c]);
      total += w(c);
    }
    for (int64_t c = 0; c < n; ++c) {
      const double pc = p[r * n + c];
      gx[r * n + c] = double(scale[r]) * ((1 - smoothing) * w(t) * (pc - (c == t)) +
                                          smoothing / double(n) * (pc * total - w(c)));
    }
  }
  const T* class_weight = weighted ? weight.data() : nullptr;
  std::vector<T> loss_(kRows, T(9)), top(kRows, T(9)), total_(kRows, T(9)), gx_(kRows * n, T(9));
  k::cross_entropy_rows(x.data(), target.data(), -100, smoothing, class_weight, loss_.data(),
                        top.data(), total_.data(), kRows, n);
  expect_close(loss_, loss, tolerance<T>(), "loss");
  k::cross_entropy_backward_rows(x.data(), top.data(), total_.data(), target.data(), -100,
                                 smoothing, class_weight, scale.data(), gx_.data(), kRows, n);
  expect_close(gx_, gx, 4 * tolerance<T>(), "cross_entropy gx");
}

TYPED_TEST(KernelsRows, CrossEntropyEqualsTheDefinition) {
  on_every_target([] {
    for (int64_t n : odd_sizes(1)) {
      for (double smoothing : {0.0, 0.1}) {
        check_cross_entropy<TypeParam>(n, smoothing, false);
        check_cross_entropy<TypeParam>(n, smoothing, true);
      }
    }
  });
}

TYPED_TEST(KernelsRows, CrossEntropyKnownValues) {
  using T = TypeParam;
  on_every_target([] {
    const T* none = nullptr;
    const std::vector<T> far{-431, 279, 427}, one{1};
    const std::vector<int64_t> first{0}, last{2};
    std::vector<T> loss(1), top(1), total(1), gx(3);
    k::cross_entropy_rows(far.data(), first.data(), -100, 0, none, loss.data(), top.data(),
                          total.data(), 1, 3);
    EXPECT_EQ(loss[0], T(858));
    k::cross_entropy_backward_rows(far.data(), top.data(), total.data(), first.data(), -100, 0,
                                   none, one.data(), gx.data(), 1, 3);
    expect_close(gx, std::vector<double>{-1, 0, 1}, 1e-60, "gx");

    const std::vector<T> near{1, 2, 3};
    k::cross_entropy_rows(near.data(), last.data(), -100, 0.1, none, loss.data(), top.data(),
                          total.data(), 1, 3);
    EXPECT_NEAR(static_cast<double>(loss[0]), 0.507606, 1e-6);

    // A class that cannot be: no probability, no gradient.
    const std::vector<T> masked{0, -std::numeric_limits<T>::infinity(), 0};
    k::cross_entropy_rows(masked.data(), last.data(), -100, 0, none, loss.data(), top.data(),
                          total.data(), 1, 3);
    EXPECT_NEAR(static_cast<double>(loss[0]), std::log(2.0), 1e-6);
    k::cross_entropy_backward_rows(masked.data(), top.data(), total.data(), last.data(), -100, 0,
                                   none, one.data(), gx.data(), 1, 3);
    EXPECT_EQ(gx[1], T(0));
  });
}

// Outputs that bypass the cache hold the same bits; n = 65 has rows that cannot.
TYPED_TEST(KernelsRows, StreamingChangesNoBit) {
  using T = TypeParam;
  on_every_target([] {
    for (int64_t n : {64, 65, 512}) {
      const int64_t rows = 6, size = rows * n;
      const auto x = normal_values<T>(size, 1), gy = normal_values<T>(size, 2);
      const auto gamma = normal_values<T>(n, 3), beta = normal_values<T>(n, 4);
      const auto scale = normal_values<T>(rows, 5);
      const std::vector<int64_t> target{0, n - 1, -100, 7, 8, n / 2};
      std::vector<T> loss(rows), top(rows), total(rows), mean(rows), rstd(rows);
      k::cross_entropy_rows(x.data(), target.data(), -100, 0.1, gamma.data(), loss.data(),
                            top.data(), total.data(), rows, n);
      std::vector<T> results[2];
      for (bool stream : {false, true}) {
        const auto out = hwy::AllocateAligned<T>(7 * size);
        std::vector<T> ggamma(n), gbeta(n);
        k::softmax_backward_rows(x.data(), gy.data(), out.get(), rows, n, stream);
        k::layer_norm_rows(x.data(), gamma.data(), beta.data(), 1e-5, out.get() + size,
                           {mean.data(), rstd.data()}, rows, n, true, stream);
        k::layer_norm_backward_rows({x.data(), gamma.data(), 1e-5, mean.data(), rstd.data()},
                                    gy.data(), out.get() + 2 * size, ggamma.data(), gbeta.data(),
                                    rows, n, stream);
        k::cross_entropy_backward_rows(x.data(), top.data(), total.data(), target.data(), -100, 0.1,
                                       gamma.data(), scale.data(), out.get() + 3 * size, rows, n,
                                       stream);
        k::softmax_rows(x.data(), out.get() + 4 * size, rows, n, stream);
        k::log_softmax_rows(x.data(), out.get() + 5 * size, rows, n, stream);
        k::log_softmax_backward_rows(x.data(), gy.data(), out.get() + 6 * size, rows, n, stream);
        results[stream].assign(out.get(), out.get() + 7 * size);
      }
      EXPECT_TRUE(results[0] == results[1]) << n;
    }
  });
}

}  // namespace
