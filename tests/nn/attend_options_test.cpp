// Options of attention and caches where a layer could drop or misread them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fovea/core/error.h"
#include "fovea/nn/attention/multi_head.h"
#include "fovea/nn/position/relative.h"
#include "fovea/ops/ops.h"
#include "tests/nn/measures.h"

namespace fovea {
namespace {

using ::testing::HasSubstr;
using testing::worst;

template <class F>
std::string refused(F f) {
  try {
    (void)f();
  } catch (const Error& e) {
    return e.what();
  }
  return "nothing";
}

// Shaw's vectors with each option by hand: the window as a mask, the bias of all scores alike
// (which changes nothing) and by key, and tokens one after the other behind a cache.
TEST(AttendOptions, ShawTakesAllOfThem) {
  manual_seed(1);
  const NoGrad scope;
  const ShawRelative shaw({.dim = 4, .max_distance = 2});
  const Tensor q = randn({2, 3, 6, 4}), k = randn({2, 3, 6, 4}), v = randn({2, 3, 6, 4});
  const Tensor near = abs(arange(6) - reshape(arange(6), {6, 1})) <= 1.0;
  EXPECT_LE(worst(shaw(q, k, v, {.window = 1}), shaw(q, k, v, {.keep_mask = near})), 1e-6);
  const Tensor only_near = where(near, zeros({}), full({}, -1e9));
  EXPECT_LE(worst(shaw(q, k, v, {.bias = only_near}), shaw(q, k, v, {.keep_mask = near})), 1e-6);

  const Tensor whole = shaw(q, k, v, {.causal = Causal::lower_right});
  LayerCache cache;
  for (int64_t t = 0; t < 6; t += 2) {
    const auto now = [t](const Tensor& x) { return x.narrow(2, t, 2); };
    const Tensor y = shaw(now(q), now(k), now(v), {.causal = Causal::lower_right, .cache = &cache});
    EXPECT_LE(worst(y, now(whole)), 1e-5) << t;
  }
  EXPECT_EQ(cache.length(), 6);
}

TEST(AttendOptions, ARefusedCallLeavesTheCacheAsItWas) {
  const NoGrad scope;
  const MultiHeadAttention attention({.d_model = 8, .heads = 2});
  const ShawRelative shaw({.dim = 4});
  const Tensor x = randn({2, 3, 8}), h = randn({2, 2, 3, 4});
  LayerCache cache;
  (void)attention(x, {.cache = &cache});
  for (const AttendOptions& o :
       {AttendOptions{.bias = zeros({7, 7}), .cache = &cache},
        AttendOptions{.bias = zeros({3, 6}, i64), .cache = &cache},
        AttendOptions{.window = -1, .cache = &cache},
        AttendOptions{.keep_mask = ones({5, 5}, boolean), .cache = &cache}}) {
    EXPECT_NE(refused([&] { return attention(x, o); }), "nothing");
    EXPECT_NE(refused([&] { return shaw(h, h, h, o); }), "nothing");
    EXPECT_EQ(cache.length(), 3);
  }
}

TEST(AttendOptions, ACacheKeepsToOneDtypeAndWidth) {
  LayerCache cache;
  cache.append(zeros({1, 2, 1, 4}), zeros({1, 2, 1, 4}));
  EXPECT_THAT(refused([&] {
                return cache.append(zeros({1, 2, 1, 4}, f64), zeros({1, 2, 1, 4}, f64)).k;
              }),
              HasSubstr("f64"));
  EXPECT_THAT(refused([&] {
                return cache.append(zeros({1, 2, 1, 4}), zeros({1, 2, 1, 1})).k;
              }),
              HasSubstr("LayerCache: "));
  EXPECT_EQ(cache.length(), 1);
}

TEST(AttendOptions, AttendToChecksItsSource) {
  const MultiHeadAttention plain({.d_model = 8, .heads = 2});
  const MultiHeadAttention turned({.d_model = 8, .heads = 2, .rotary = RotaryPositionsOptions{}});
  const Tensor q = randn({2, 3, 8}), heads = randn({2, 2, 5, 4});
  EXPECT_THAT(refused([&] { return plain.attend_to(q, {}); }), HasSubstr("undefined"));
  EXPECT_THAT(refused([&] {
                return plain.attend_to(q, {heads.narrow(0, 0, 1), heads});
              }),
              HasSubstr("[1, 2, 5, 4]"));
  EXPECT_THAT(refused([&] { return turned.attend_to(q, {heads, heads}); }), HasSubstr("rotary"));
  EXPECT_THAT(refused([&] { return turned(q, q.narrow(1, 0, 1), q.narrow(1, 0, 1)); }),
              HasSubstr("q is [2, 2, 3, 4]"));
}

}  // namespace
}  // namespace fovea
