#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "fovea/ops/kernels/index.h"
#include "fovea/ops/kernels/optim.h"
#include "ops/kernels_targets.h"

namespace {

namespace k = fovea::kernels;
using fovea::testing::normal_values;
using fovea::testing::odd_sizes;
using fovea::testing::on_every_target;

template <class T>
class KernelsOptim : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsOptim, Floats);

template <class T, class U>
void expect_close(const std::vector<T>& a, const std::vector<U>& b, const char* what) {
  ASSERT_EQ(a.size(), b.size());
  const double bound = sizeof(T) == 4 ? 2e-6 : 1e-13;
  for (size_t i = 0; i < a.size(); ++i) {
    const double x = double(a[i]), y = double(b[i]);
    ASSERT_TRUE(std::fabs(x - y) <= bound * (1 + std::fabs(y)))
        << what << "[" << i << "] = " << x << ", want " << y << ", size " << a.size();
  }
}

template <class T>
std::vector<double> wide(const std::vector<T>& v) {
  return {v.begin(), v.end()};
}

TYPED_TEST(KernelsOptim, AdamEqualsItsFormulaOverThreeSteps) {
  using T = TypeParam;
  on_every_target([] {
    for (int64_t n : odd_sizes()) {
      for (bool decoupled : {false, true}) {
        auto p = normal_values<T>(n, 1);
        std::vector<T> m(n, T(0)), v(n, T(0));
        auto pd = wide(p), md = wide(m), vd = wide(v);
        for (int t = 1; t <= 3; ++t) {
          const auto g = normal_values<T>(n, 10 + t);
          k::AdamStep step;
          step.lr = 0.01, step.weight_decay = 0.1, step.decoupled = decoupled;
          step.bias1 = 1 - std::pow(step.beta1, t), step.bias2 = 1 - std::pow(step.beta2, t);
          k::adam(p.data(), g.data(), m.data(), v.data(), n, step);
          for (int64_t i = 0; i < n; ++i) {
            double grad = double(g[i]);
            if (decoupled) {
              pd[i] *= 1 - 0.01 * 0.1;
            } else {
              grad += 0.1 * pd[i];
            }
            md[i] = 0.9 * md[i] + 0.1 * grad;
            vd[i] = 0.999 * vd[i] + 0.001 * grad * grad;
            pd[i] -=
                0.01 / step.bias1 * md[i] / (std::sqrt(vd[i]) / std::sqrt(step.bias2) + step.eps);
          }
        }
        expect_close(p, pd, "p");
        expect_close(m, md, "m");
        expect_close(v, vd, "v");
      }
    }
  });
}

TYPED_TEST(KernelsOptim, AdamKnownValues) {
  using T = TypeParam;
  on_every_target([] {
    k::AdamStep step;
    step.bias1 = 0.1, step.bias2 = 1 - 0.999;
    std::vector<T> p{0}, g{T(1e-8)}, m{0}, v{0};
    k::adam(p.data(), g.data(), m.data(), v.data(), 1, step);
    EXPECT_NEAR(double(p[0]), -5.0e-4, 1e-9);

    step.lr = 0.1, step.weight_decay = 0.1, step.decoupled = true;
    p = {1}, g = {1}, m = {0}, v = {0};
    k::adam(p.data(), g.data(), m.data(), v.data(), 1, step);
    EXPECT_NEAR(double(p[0]), 0.89, 1e-6);
  });
}

TYPED_TEST(KernelsOptim, SgdEqualsItsFormula) {
  using T = TypeParam;
  on_every_target([] {
    for (int64_t n : odd_sizes()) {
      for (int kind = 0; kind < 4; ++kind) {  // plain, momentum, dampened, Nesterov
        k::SgdStep step;
        step.lr = 0.1, step.weight_decay = 0.01;
        step.momentum = kind == 0 ? 0 : 0.9, step.dampening = kind == 2 ? 0.4 : 0;
        step.nesterov = kind == 3;
        auto p = normal_values<T>(n, 1);
        std::vector<T> buffer(n, std::numeric_limits<T>::quiet_NaN());  // not read at first
        auto pd = wide(p);
        std::vector<double> bd(n);
        for (int t = 0; t < 3; ++t) {
          const auto g = normal_values<T>(n, 20 + t);
          step.first_step = t == 0;
          k::sgd(p.data(), g.data(), kind == 0 ? nullptr : buffer.data(), n, step);
          for (int64_t i = 0; i < n; ++i) {
            double grad = double(g[i]) + 0.01 * pd[i];
            if (kind != 0) {
              bd[i] = t == 0 ? grad : 0.9 * bd[i] + (1 - step.dampening) * grad;
              grad = step.nesterov ? grad + 0.9 * bd[i] : bd[i];
            }
            pd[i] -= 0.1 * grad;
          }
        }
        expect_close(p, pd, "p");
      }
    }
  });
}

TYPED_TEST(KernelsOptim, RootStepAndScaleAdd) {
  using T = TypeParam;
  on_every_target([] {
    for (int64_t n : odd_sizes()) {
      auto p = normal_values<T>(n, 1), v = normal_values<T>(n, 2);
      const auto g = normal_values<T>(n, 3);
      for (T& x : v) x = std::fabs(x);
      auto pd = wide(p), vd = wide(v);
      k::root_step(p.data(), g.data(), v.data(), n,
                   {.lr = 0.01, .keep = 0.9, .add = 0.3, .eps = 1e-2, .weight_decay = 0.1});
      for (int64_t i = 0; i < n; ++i) {
        const double grad = double(g[i]) + 0.1 * pd[i];
        vd[i] = 0.9 * vd[i] + 0.3 * grad * grad;
        pd[i] -= 0.01 * grad / (std::sqrt(vd[i]) + 1e-2);
      }
      expect_close(p, pd, "p");
      expect_close(v, vd, "v");
      k::scale_add(p.data(), g.data(), n, 0.25, -2);
      for (int64_t i = 0; i < n; ++i) pd[i] = 0.25 * pd[i] - 2 * double(g[i]);
      expect_close(p, pd, "scale_add");
    }
  });
}

template <class T>
void check_rows(int64_t row_len) {
  const int64_t table_rows = 7, n = 40;
  std::vector<T> table(table_rows * row_len), out(n * row_len, T(9));
  std::vector<int64_t> idx(n);
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<T>(i % 101);
  for (int64_t i = 0; i < n; ++i) idx[i] = i * i % table_rows;
  k::gather_rows(table.data(), row_len, idx.data(), n, out.data());
  auto right = table;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < row_len; ++c) {
      ASSERT_EQ(out[i * row_len + c], table[idx[i] * row_len + c]);
      T& sum = right[idx[i] * row_len + c];
      const T term = out[i * row_len + c];
      if (idx[i] == 2) continue;  // padding
      sum = sizeof(T) == 1 ? static_cast<T>(int(sum) | int(term)) : static_cast<T>(sum + term);
    }
  }
  // In two calls, as two threads would.
  k::scatter_add_rows(out.data(), row_len, idx.data(), n, table.data(), {0, 3, 2});
  k::scatter_add_rows(out.data(), row_len, idx.data(), n, table.data(), {3, 7, 2});
  EXPECT_TRUE(table == right) << row_len;
}

TEST(KernelsIndex, GatherAndScatterRows) {
  on_every_target([] {
    for (int64_t row_len : odd_sizes()) {
      check_rows<float>(row_len);
      check_rows<double>(row_len);
      check_rows<int64_t>(row_len);
      check_rows<uint8_t>(row_len);
    }
  });
  std::vector<double> x{0}, g{.2, .3};
  const std::vector<int64_t> twice{0, 0};
  k::scatter_add_rows(g.data(), 1, twice.data(), 2, x.data());
  EXPECT_EQ(x[0], .5);
}

}  // namespace
